"""What is promised of one run, by how it ended and by what is known of its objective."""

from __future__ import annotations

from dataclasses import replace
from math import isinf

import numpy as np

from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.uniform import Uniform
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.search.result import Status
from swapwise.search.rules import NonOblivious, Oblivious, Pivot
from swapwise.theory.constants import restricted_constants
from swapwise.theory.guarantees import (
    NO_ROUND,
    NO_THEOREM,
    ONLY_EMPTY,
    Guarantee,
    guarantee,
    on_trust,
    without_constants,
)
from swapwise.theory.localizability import known_localizability

# What ``tol`` leaves behind is counted from here on, relative to the value; below, it is rounding.
NOTEWORTHY = 1e-6


def submodular_guarantee(
    name: str, constraint: IndependenceSystem, T: int | None = None, linear: bool = False
) -> Guarantee:
    """Return what is known of a method other than local search for monotone submodular functions.

    It takes more than localizability, which sees exchanges only.

    >>> from swapwise import BMatching, Uniform
    >>> submodular_guarantee("greedy", Uniform(10, 2))
    at least 0.75 of the optimum (Nemhauser, Wolsey and Fisher 1978: 1 − (1 − 1/s)^T)
    >>> submodular_guarantee("greedy", BMatching.complete(4, 1))
    at least 0.3333 of the optimum (Fisher, Nemhauser and Wolsey 1978: 1/(p + 1))
    """
    s, p = constraint.max_size(), constraint.p
    early = without_constants(name, constraint, s, T)
    if early is not None:
        return early
    assert p is not None
    if name == "modular":
        factor = constraint.max_weight(np.zeros(constraint.n)).factor
        if linear:
            return Guarantee(factor, "the largest weight", "factor of max_weight", {"factor": factor})
        return Guarantee(factor / s, "the best of s elements", "factor/s", {"factor": factor, "s": s})
    if linear and (T is None or s <= T):
        if name == "greedy" and p > 1:
            return Guarantee(1 / p, "Jenkyns 1976", "1/p", {"p": p})
        return Guarantee(1.0, "Edmonds 1971", "greedy is exact on matroids")
    if name == "random-residual-greedy":
        return Guarantee(0.25, "Chen, Feldman and Karbasi 2018", "1/4", in_expectation=True)
    if isinstance(constraint, Uniform):
        T = s if T is None else T
        ratio, numbers = 1 - (1 - 1 / s) ** T, {"s": float(s), "T": float(T)}
        return Guarantee(
            ratio, "Nemhauser, Wolsey and Fisher 1978", "1 − (1 − 1/s)^T", numbers, reason=NO_ROUND
        )
    return Guarantee(1 / (p + 1), "Fisher, Nemhauser and Wolsey 1978", "1/(p + 1)", {"p": p})


def guarantee_of(
    objective: SetFunction,
    constraint: IndependenceSystem,
    method: str | Pivot,
    *,
    status: Status,
    n_iter: int,
    value: float,
    q: int = 1,
    epsilon: float | None = None,
    tol: float = 0.0,
) -> Guarantee | None:
    """Return what is promised of a search that ended like this, or None if nothing is known of the objective.

    >>> from swapwise import Linear, Uniform
    >>> guarantee_of(Linear([1, 3]), Uniform(2, 1), "greedy", status=Status.COMPLETE, n_iter=1, value=3.0)
    the optimum (Edmonds 1971: greedy is exact on matroids)
    """
    s, t = constraint.max_size(), constraint.exchange_size(q)
    if s == 0:
        return ONLY_EMPTY
    if constraint.p is None and method != "exhaustive":
        return Guarantee(0.0, "no theorem", "0", reason=NO_THEOREM)
    T, geometric = _full_rounds(status, n_iter), epsilon is not None
    # A search that stops at tol has gains of up to that left, s times: as if by the geometric rule.
    left = s * tol * max(abs(value), objective.scale)
    if T is None and left > NOTEWORTHY * abs(value):
        if isinstance(method, Pivot) and value > 0:
            epsilon = max(epsilon or 0.0, left / value)
        elif isinstance(method, Pivot) or method == "greedy":
            T = n_iter
    if isinstance(method, NonOblivious) and method.smoothness == "global":
        assert isinstance(objective, SparseObjective)
        method = NonOblivious(objective.smoothness(t))
    promises = []
    known = known_localizability(objective)
    if method == "exhaustive" or (known is not None and isinstance(method, str)):
        of_values = submodular_guarantee(str(method), constraint, T, objective.linear)
        promises.append(on_trust(of_values, constraint))
    elif known is not None and isinstance(method, Oblivious):
        promises.append(guarantee(method, constraint, known, T, q, epsilon))
    if isinstance(objective, SparseObjective):
        constants = restricted_constants(objective, s, min(t, constraint.n))
        if not isinf(constants.M_1):
            promises.append(guarantee(method, constraint, constants, T, q, epsilon))
    best = max(promises, key=lambda promise: promise.ratio, default=None)
    return best if best is None or geometric else replace(best, max_iterations=None)


def _full_rounds(status: Status, n_iter: int) -> int | None:
    """Return how many rounds looked at all moves; None if the search came to its own end."""
    if status in (Status.LOCAL_OPTIMUM, Status.COMPLETE):
        return None
    # A round that was cut short may have taken the best move that it had seen.
    return n_iter if status == Status.ITERATION_LIMIT else max(0, n_iter - 1)
