"""The baselines by name, and each as something that runs on the paper's instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_matrix, as_vector
from swapwise.constraints.bmatching import BMatching
from swapwise.override import override
from swapwise.paper.graph_baselines.bresler import bresler
from swapwise.paper.graph_baselines.interaction_screening import log_rise, rise
from swapwise.paper.graph_baselines.nodewise import l1_constrained_logistic, l1_logistic
from swapwise.paper.graph_baselines.sparsitron import sparsitron
from swapwise.paper.instances import IsingInstance, pairs
from swapwise.paper.procedures import Procedure
from swapwise.paper.settings import Setting
from swapwise.search.result import Status

#: How two weights of a pair become one.
RULES = ("and", "or", "mean")


def edge_weights(weights: ArrayLike, rule: str) -> FloatArray:
    """Return one weight per pair u < v, in the order of :func:`swapwise.paper.instances.pairs`.

    Of entries (u, v) and (v, u), "and" takes the one of smaller size (zero if either is), "or" the one of
    larger size, "mean" their mean.
    """
    matrix = as_matrix(weights, "weights", "one row and one column per vertex")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"weights must have as many columns as rows, got shape {matrix.shape}")
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}, got {rule!r}")
    tail, head = pairs(len(matrix))
    of_tail, of_head = matrix[tail, head], matrix[head, tail]
    if rule == "mean":
        return (of_tail + of_head) / 2
    tail_is_smaller = np.abs(of_tail) <= np.abs(of_head)
    return np.where(tail_is_smaller == (rule == "and"), of_tail, of_head)


def cut_to_degrees(weights: ArrayLike, constraint: BMatching) -> IndexArray:
    """Return the edges of largest total ``|weight|`` within the degrees, none of which has weight zero."""
    return constraint.max_weight(np.abs(as_vector(weights, constraint.n, "weights"))).support


@dataclass(frozen=True)
class Baseline:
    """A structure learner.

    Attributes
    ----------
    weigh : from spins, and the parameters it needs, to a weight per ordered pair
    rule : how the two weights of a pair become one
    needs : ``width`` of the true model, ``max_neighbours``
    """

    weigh: Callable[..., FloatArray]
    rule: str
    needs: tuple[str, ...] = ()

    def edges(self, spins: FloatArray, constraint: BMatching, width: float) -> IndexArray:
        known = {"width": width, "max_neighbours": max(constraint.b.values(), default=0)}
        weights = self.weigh(spins, **{name: known[name] for name in self.needs})
        return cut_to_degrees(edge_weights(weights, self.rule), constraint)


#: The structure learners that the paper names, and their common rivals.
GRAPH_BASELINES: dict[str, Baseline] = {
    "l1-logistic-and": Baseline(l1_logistic, "and"),
    "l1-logistic-or": Baseline(l1_logistic, "or"),
    "rise": Baseline(rise, "mean"),
    "logrise": Baseline(log_rise, "mean"),
    "sparsitron": Baseline(sparsitron, "mean", ("width",)),
    "bresler": Baseline(bresler, "or", ("max_neighbours",)),
    "l1-constrained-logistic": Baseline(l1_constrained_logistic, "mean", ("width",)),
}


@dataclass(frozen=True)
class GraphBaseline(Procedure):
    """A structure learner on an Ising instance, cut to the degrees and refitted by pseudo-likelihood."""

    baseline: str

    def __post_init__(self) -> None:
        if self.baseline not in GRAPH_BASELINES:
            known = ", ".join(map(repr, GRAPH_BASELINES))
            raise ValueError(f"baseline must be one of {known}, got {self.baseline!r}")

    @property
    @override
    def name(self) -> str:
        return self.baseline

    @property
    @override
    def part(self) -> str:
        return "neighbours"

    @override
    def run(self, setting: Setting, instance: Any, size: int, flavour: str, seed: int) -> dict[str, Any]:
        if not isinstance(instance, IsingInstance):
            raise TypeError(f"{self.name} learns graphs from Ising samples, got {type(instance).__name__}")
        objective, constraint = setting.problem(instance, size)
        assert isinstance(constraint, BMatching)
        edges = GRAPH_BASELINES[self.baseline].edges(instance.spins, constraint, true_width(instance))
        return {"value": float(objective(edges)), "status": str(Status.COMPLETE)}


def true_width(instance: IsingInstance) -> float:
    """Return the largest ``Σ_v |w_uv|`` of the true couplings."""
    tail, head = pairs(instance.spins.shape[1])
    sizes = np.tile(np.abs(instance.couplings), 2)
    return float(np.bincount(np.concatenate([tail, head]), sizes).max())
