"""Gaussian graphs: the pseudo-likelihood of a precision matrix, and maximum likelihood on a given graph."""

from swapwise.graphs.gaussian.objective import GaussianPseudoLikelihood

__all__ = ["GaussianPseudoLikelihood"]
