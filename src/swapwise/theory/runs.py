"""The guarantee of a run: the theorem on its method, or the bound along the run, whichever is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isinf
from typing import Any

import numpy as np

from swapwise.checks import IndexArray, unwarned
from swapwise.constraints.base import Constraint
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.objectives.linear import Linear
from swapwise.search.result import Status
from swapwise.search.rules import NonOblivious, Oblivious, Pivot
from swapwise.theory.along_the_run import guarantee_at, head_of
from swapwise.theory.bounds import Tangent, tangent_at
from swapwise.theory.constants import RestrictedConstants, restricted_constants
from swapwise.theory.guarantees import of_local_search, of_method
from swapwise.theory.localizable import known_localizability
from swapwise.theory.methods import THEOREMS
from swapwise.theory.ratios import SubmodularityRatios
from swapwise.theory.statement import NO_THEOREM, ONLY_EMPTY, Guarantee, nothing

# Gains that ``tol`` leaves out count from this share of the value on; below, they are rounding.
NOTEWORTHY = 1e-6


def guarantee_of(
    objective: SetFunction,
    constraint: Constraint,
    method: str | Pivot,
    *,
    status: Status,
    n_iter: int,
    value: float,
    support: IndexArray | None = None,
    details: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    q: int = 1,
    epsilon: float | None = None,
    tol: float = 0.0,
) -> Guarantee | None:
    """Return the best guarantee of a search, or None if no theorem and no bound is known.

    Without the ``support`` that it ended at, only theorems on the method count. ``options`` are those of the
    method, and ``details`` are on the record of its run.
    """
    if constraint.max_size() == 0:
        return ONLY_EMPTY
    known = {**(options or {}), **(details or {})}
    if options and isinstance(options.get("phi"), tuple):  # the details have only the last φ
        known["phis"] = options["phi"]
    finished = FinishedSearch(objective, constraint, method, support, value, known, q, epsilon, tol)
    guarantees = finished.by_theorems(_full_rounds(status, n_iter), n_iter)
    if not any(each.ratio == 1 for each in guarantees):
        guarantees += finished.along_the_run()
    best = best_of(guarantees)
    return best if best is None or epsilon is not None else replace(best, max_iterations=None)


def best_of(guarantees: Sequence[Guarantee]) -> Guarantee | None:
    in_order = sorted(guarantees, key=lambda each: (-each.ratio, each.in_expectation))
    return replace(in_order[0], others=tuple(in_order[1:])) if in_order else None


@dataclass(frozen=True)
class FinishedSearch:
    objective: SetFunction
    constraint: Constraint
    method: str | Pivot
    support: IndexArray | None
    value: float
    details: dict[str, Any]
    q: int
    epsilon: float | None
    tol: float

    @cached_property
    def constants(self) -> RestrictedConstants | None:
        if not isinstance(self.objective, SparseObjective):
            return None
        s, t = self.constraint.max_size(), self.constraint.exchange_size(self.q)
        return restricted_constants(self.objective, s, min(t, self.constraint.n))

    @cached_property
    def tangent(self) -> Tangent | None:
        if self.support is None or not isinstance(self.objective, SparseObjective):
            return None
        with unwarned():  # the search has warned already
            return tangent_at(self.objective, self.support)

    def along_the_run(self) -> list[Guarantee]:
        if self.support is None:
            return []
        return guarantee_at(
            self.objective, self.constraint, self.support, self.value, self.constants, self.tangent
        )

    def by_theorems(self, T: int | None, n_iter: int) -> list[Guarantee]:
        needs_no_p = self.method in THEOREMS and THEOREMS[str(self.method)].any_constraint
        if self.constraint.p is None and not needs_no_p:
            return [nothing(NO_THEOREM)]
        epsilon = self.epsilon
        # A search that stops at tol leaves s gains of up to tol, as with the geometric rule.
        left = self.constraint.max_size() * self.tol * max(abs(self.value), self.objective.scale)
        if T is None and left > NOTEWORTHY * abs(self.value):
            if isinstance(self.method, Pivot) and self.value > 0:
                epsilon = max(epsilon or 0.0, left / self.value)
            elif self.method not in ("modular", "exhaustive", "random", "random-residual-greedy"):
                T = n_iter
        if isinstance(self.method, Pivot):
            return self._of_local_search(self.method, T, epsilon)
        return self._of_method(self.method, T)

    def _of_local_search(self, rule: Pivot, T: int | None, epsilon: float | None) -> list[Guarantee]:
        if isinstance(rule, NonOblivious) and rule.smoothness == "global":
            assert isinstance(self.objective, SparseObjective)
            rule = NonOblivious(self.objective.smoothness(self.constraint.exchange_size(self.q)))
        known = known_localizability(self.objective) if isinstance(rule, Oblivious) else None
        guarantees = []
        if known is not None:
            guarantees.append(of_local_search(rule, self.constraint, known, T, self.q, epsilon))
        if self.constants is not None and not isinf(self.constants.M_1):
            guarantees.append(of_local_search(rule, self.constraint, self.constants, T, self.q, epsilon))
        return guarantees

    def _of_method(self, name: str, T: int | None) -> list[Guarantee]:
        guarantees = []
        if name == "exhaustive" or known_localizability(self.objective) is not None:
            known = SubmodularityRatios.of_submodular(isinstance(self.objective, Linear))
            guarantees.append(of_method(name, self.constraint, known, T, self.details))
        if self.constants is not None and not isinf(self.constants.M_1) and name != "exhaustive":
            guarantees.append(of_method(name, self.constraint, self.constants, T, self._checked_details()))
        return guarantees

    def _checked_details(self) -> dict[str, Any]:
        """Return the details, with the share for which the answer is indeed fixed for the step on record."""
        step = self.details.get("step") if self.method in ("htp", "iht") else None
        if not isinstance(step, float) or not 0 < step < np.inf or self.tangent is None:
            return self.details
        assert self.support is not None
        assert isinstance(self.objective, SparseObjective)
        head = head_of(self.objective, self.constraint, self.support, self.tangent, step)
        return {**self.details, "head": head}


def _full_rounds(status: Status, n_iter: int) -> int | None:
    """Return the number of rounds that scored all moves; None if the search came to its own end."""
    if status in (Status.LOCAL_OPTIMUM, Status.COMPLETE):
        return None
    # A round that was cut short may have made the best of the moves scored so far.
    return n_iter if status == Status.ITERATION_LIMIT else max(0, n_iter - 1)
