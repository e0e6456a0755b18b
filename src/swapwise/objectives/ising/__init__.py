"""The structure of an Ising model: one objective, whatever its samples are stored in."""

from swapwise.objectives.ising.objective import IsingPseudoLikelihood

__all__ = ["IsingPseudoLikelihood"]
