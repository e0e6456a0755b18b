"""The structure of an Ising model: one objective, whatever its samples are stored in."""

from swapwise.graphs.ising.objective import IsingPseudoLikelihood, PairwisePseudoLikelihood

__all__ = ["IsingPseudoLikelihood", "PairwisePseudoLikelihood"]
