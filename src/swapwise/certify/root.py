"""The root of branch and bound, and the start by rounding its relaxation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swapwise.certify.nodes import Node, Observer, SetNode
from swapwise.certify.problem import PRODUCTS_UP_TO, RestrictedProblem
from swapwise.certify.relaxed import RelaxedNode
from swapwise.certify.summand_lists import summand_node
from swapwise.checks import IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.base import Constraint
from swapwise.constraints.region import Region
from swapwise.objectives.base import SetFunction, SparseObjective


def root_node(
    objective: SetFunction,
    region: Region,
    support: IndexArray,
    clock: Clock,
    observe: Observer = lambda kind, bound: None,
) -> Node:
    """Return the node of all independent sets; prices of summands first agree on ``support``, a good set."""
    if not isinstance(objective, SparseObjective):
        return SetNode(objective, region)
    relaxed = None if objective.bounds is None else relaxed_root(objective, region)
    if relaxed is not None:  # bounds by summands are for coefficients without bounds
        return relaxed
    if objective.groups is None and region.constraint.hereditary:
        by_summands = summand_node(objective, region, support, clock, observe)
        if by_summands is not None:
            return by_summands
    return relaxed_root(objective, region) or SetNode(objective, region)


def relaxed_root(objective: SparseObjective, region: Region) -> RelaxedNode | None:
    """Return the node of the relaxation over all independent sets, if u is strongly concave.

    If columns are known to be combinations of others, it may be so in the elements of a basis only.
    """
    kept = np.flatnonzero(~region.outside)
    problem = RestrictedProblem(objective).among(kept, region.clock)
    node = RelaxedNode(problem, region.among(kept))
    return node if problem.diagonal.any() or node.has_basis else None


def relaxation_start(objective: SetFunction, constraint: Constraint, clock: Clock) -> IndexArray:
    region = replace(Region.of(constraint), clock=clock)
    root = relaxed_root(objective, region) if isinstance(objective, SparseObjective) else None
    if root is None:
        raise ValueError(
            "start='relaxation' needs an objective with a strong-concavity bound (a ridge; or fewer features "
            f"than samples, no duplicates, and no more than {PRODUCTS_UP_TO} features); {objective!r} has "
            "none. start='greedy' works here"
        )
    root.tighten(0.0, clock)
    start = _near_fractional(objective, region, root)
    # Fractional sets are as precise as the target is close, and closer to the better sets.
    try:
        root.tighten(objective._value(start), clock)
    except OutOfTime:
        return start
    return max(start, _near_fractional(objective, region, root), key=objective._value)


def _near_fractional(objective: SetFunction, region: Region, root: RelaxedNode) -> IndexArray:
    fractional = root.fractional
    assert fractional is not None
    suggested = [region.greedy_set(fractional), root.whole(root.candidate())]
    by_weight = np.argsort(-fractional, kind="stable")
    starts = [region.constraint.extend(support, by_weight) for support in suggested]
    return max(starts, key=objective._value)
