"""The structure of a mixed graph: vertices that are binary, Gaussian or counts."""

from swapwise.graphs.mixed.objective import MixedPseudoLikelihood

__all__ = ["MixedPseudoLikelihood"]
