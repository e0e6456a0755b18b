"""Where bounding begins: the node of all independent sets, and the start that its relaxation suggests."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from swapwise.certify.diagonal import proportional_diagonal
from swapwise.certify.nodes import Node, PerspectiveNode, SetNode
from swapwise.certify.region import Region
from swapwise.certify.summands import SummandNode, summand_tables
from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.objectives.group_least_squares import GroupLeastSquares
from swapwise.objectives.least_squares.objective import LeastSquares

# Up to this many elements the curvature is looked at as a whole.
WHOLE_CURVATURE_UP_TO = 1000


def root_node(objective: SetFunction, region: Region, support: IndexArray, clock: Clock) -> Node:
    """Return the node of all independent sets: by summands, else by relaxation if u is strongly concave.

    ``support`` is a good set, at which summands are to agree.
    """
    if isinstance(objective, SparseObjective) and objective.groups is None:
        summands = objective.summands(objective.coef(support))
        tables = summand_tables(summands, region, clock) if summands else None
        if tables is not None:
            return SummandNode(tables, region)
        return relaxed_root(objective, region) or SetNode(objective, region)
    return SetNode(objective, region)


def relaxed_root(objective: SparseObjective, region: Region) -> PerspectiveNode | None:
    """Return the node of the relaxation over all independent sets, if u is strongly concave."""
    diagonal = diagonal_shift(objective, region)
    return PerspectiveNode(objective, region, diagonal) if diagonal.any() else None


def diagonal_shift(objective: SparseObjective, region: Region) -> FloatArray:
    """Return a D such that ``u(w) + wᵀDw/2`` is concave in the elements that may be chosen."""
    if objective.curvature_is != "hessian" or objective.n > WHOLE_CURVATURE_UP_TO:
        return np.full(objective.n, objective.strong_concavity(objective.n))
    kept = np.flatnonzero(~region.outside)
    diagonal = np.zeros(objective.n)
    region.clock.check()
    H = objective.hessian_at(np.zeros(objective.n), kept)
    diagonal[kept] = proportional_diagonal(H, partial(_dependencies, objective, kept), region.clock)
    return diagonal


def _dependencies(objective: SparseObjective, elements: IndexArray, least: float) -> int | None:
    """Return how many linear dependencies there are among elements; None if that is not certain."""
    if isinstance(objective, (LeastSquares, GroupLeastSquares)):
        return objective.dependencies(elements, least)
    return None


def relaxation_start(objective: SetFunction, constraint: IndependenceSystem, clock: Clock) -> IndexArray:
    """Return a maximal independent set near the best fractional one.

    >>> from swapwise import LeastSquares, Uniform
    >>> relaxation_start(LeastSquares(np.eye(3), [1.0, 3.0, 2.0]), Uniform(3, 2), Clock())
    array([1, 2])
    """
    region = replace(Region.of(constraint), clock=clock)
    root = None
    if isinstance(objective, SparseObjective) and objective.groups is None:
        root = relaxed_root(objective, region)
    if root is None:
        raise ValueError(
            "start='relaxation' needs an objective with a strong-concavity bound (a ridge, or fewer features "
            f"than samples and no duplicates); {objective!r} has none. start='greedy' works here"
        )
    root.tighten(0.0, clock)
    fractional = root.fractional
    suggested = [region.greedy_set(fractional), root.candidate()]
    by_weight = np.argsort(-fractional, kind="stable")
    starts = [constraint.extend(support, by_weight) for support in suggested]
    return max(starts, key=objective._value)
