"""Gaussian graphs: the pseudo-likelihood of a precision matrix, and maximum likelihood on a given graph."""

from swapwise.objectives.gaussian.objective import GaussianPseudoLikelihood

__all__ = ["GaussianPseudoLikelihood"]
