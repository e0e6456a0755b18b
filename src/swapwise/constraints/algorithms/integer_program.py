"""Max-weight sets by linear programs, for families that inequalities describe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.algorithms.programs import OBJECTIVE_SIZE, STOPPED, power_of_two, solve_within
from swapwise.constraints.algorithms.spans import span, violated_spans
from swapwise.constraints.base import MaxWeight, Prices
from swapwise.constraints.kinds import Inequalities
from swapwise.constraints.matroid import Matroid
from swapwise.numerics import ROUNDING

if TYPE_CHECKING:
    from swapwise.constraints.base import Constraint

# SciPy's status of a program without a solution.
INFEASIBLE = 2

# Rounds of inequalities that are added to a linear program because its answer violates a matroid.
MOST_ROUNDS = 20

# Values of a linear program closer than the first to 0 or 1 are 0 or 1 up to rounding. Those within the
# second are, too, if their set weighs as much as the bound, up to the third (relative to the weight), the
# error of solvers.
ROUNDED, WHOLE, EQUAL = 1e-9, 1e-6, 1e-8


@dataclass(frozen=True, eq=False)
class _Node:
    """A node of branch and bound: bounds on the variables, the optimum of its linear program, and prices."""

    lower: FloatArray
    upper: FloatArray
    values: FloatArray
    prices: Prices
    bound: float


class IntegerProgram:
    """Max-weight sets of a family that inequalities describe, or describe in part, by branch and bound.

    The linear program comes first: its prices bound all sets, and often its optimum is a set. Else the
    program branches on fractional variables. (Solvers of integer programs have tolerances that are too wide
    for small gaps between large weights.) ``others`` are further constraints that have no inequalities: sets
    that violate them are ruled out, by inequalities that are kept for later.
    """

    def __init__(self, constraint: Constraint, rows: Inequalities, others: Sequence[Constraint] = ()) -> None:
        self._constraint, self._others = constraint, tuple(others)
        self._given = self._rows = Inequalities(scipy.sparse.csr_array(rows.matrix), rows.limit)
        self._n_columns = self._given.matrix.shape[1]

    def heaviest(
        self,
        held: IndexArray,
        weights: FloatArray,
        clock: Clock,
        most_nodes: int | None = None,
        *,
        with_negative: bool = False,
    ) -> MaxWeight:
        """Return a max-weight set with all of ``held``; nothing of negative weight unless ``with_negative``.

        Out of time or nodes, it is the best so far, with a bound. Without any set, the bound is minus
        infinity. Inequalities that are found are kept for bounds. Without a limit on nodes they are not, so
        that the same weights lead to the same set, whatever was computed before.
        """
        if not self._n_columns:
            return MaxWeight(held, 0.0)
        if most_nodes is None and self._rows is not self._given:
            afresh = IntegerProgram(self._constraint, self._given, self._others)
            return afresh.heaviest(held, weights, clock, with_negative=with_negative)
        try:
            return self._heaviest(held, weights, clock, most_nodes, with_negative)
        finally:
            if most_nodes is None:
                self._rows = self._given

    def _heaviest(
        self,
        held: IndexArray,
        weights: FloatArray,
        clock: Clock,
        most_nodes: int | None,
        with_negative: bool,
    ) -> MaxWeight:
        lower, upper, gains = np.zeros(self._n_columns), np.ones(self._n_columns), np.zeros(self._n_columns)
        lower[held], gains[: len(weights)] = 1.0, weights
        if not with_negative:
            upper[gains < 0] = gains[gains < 0] = 0.0
        best, bound, prices, finished = None, float(gains.sum(where=gains > 0)), None, False
        try:
            root = self._relax(gains, lower, upper, clock)
            if root is None:
                return MaxWeight(held, 0.0, bound=-np.inf)
            bound, prices = min(bound, root.bound), root.prices
            for reached in self._improved(gains, root, clock, most_nodes):
                best, bound = reached
            weight = self._weight(best, gains)
            finished = best is not None and bound <= weight + EQUAL * abs(weight)
            if best is None and bound == -np.inf:
                return MaxWeight(held, 0.0, bound=-np.inf)
        except OutOfTime:
            pass  # the best set and the bound so far are valid
        if best is None:
            best = self._constraint.extend(held, np.argsort(-weights, kind="stable")[: (weights >= 0).sum()])
            if not self._constraint._is_answer(best):  # its weight proves nothing
                return MaxWeight(best, float(weights[best].sum()), 0.0, bound, prices)
        found = MaxWeight.below(bound, best, weights)
        return replace(found, factor=1.0 if finished else found.factor, prices=prices)

    @staticmethod
    def _weight(support: IndexArray | None, gains: FloatArray) -> float:
        return -np.inf if support is None else float(gains[support].sum())

    # -- the linear program -------------------------------------------------------------------------

    def _relax(self, gains: FloatArray, lower: FloatArray, upper: FloatArray, clock: Clock) -> _Node | None:
        """Solve the linear program, with inequalities for matroids that its optimum violates."""
        scale = _scale_of(gains)
        for _ in range(MOST_ROUNDS):
            clock.check()
            rows = self._rows
            answer = solve_within(clock, partial(self._solved, rows, gains, lower, upper))
            if answer.status == INFEASIBLE:
                return None
            if answer.status == STOPPED and clock.is_over:
                raise OutOfTime
            if answer.status != 0:
                raise RuntimeError(f"the linear program of a max-weight set was not solved: {answer.message}")
            if not self._cut_spans(answer.x, np.flatnonzero(lower[: self._constraint.n])):
                break
        price = np.maximum(-answer.ineqlin.marginals / scale, 0.0)
        reduced = gains - price @ rows.matrix
        n, beside = self._constraint.n, np.maximum(reduced, 0.0) * (upper - lower)
        # Variables beside the elements have no weight.
        base = float(price @ rows.limit + reduced @ lower + beside[n:].sum())
        of_elements = np.where(upper[:n] > 0, reduced[:n], -np.inf)  # some are never chosen
        prices = Prices(price, base, np.where(lower[:n] > 0, 0.0, of_elements))
        return _Node(lower, upper, answer.x, prices, base + float(beside[:n].sum()))

    @staticmethod
    def _solved(
        rows: Inequalities, gains: FloatArray, lower: FloatArray, upper: FloatArray, seconds: float
    ) -> Any:
        return scipy.optimize.linprog(
            -_scale_of(gains) * gains,
            A_ub=rows.matrix,
            b_ub=rows.limit,
            bounds=np.column_stack([lower, upper]),
            method="highs-ds",  # the simplex method: a vertex, with few fractions
            options={"time_limit": seconds},
        )

    def _rounded(self, node: _Node, gains: FloatArray) -> IndexArray | None:
        """Return a set near the optimum of the linear program, if there is one: the largest come first."""
        n, whole = self._constraint.n, np.flatnonzero(node.values[: self._constraint.n] > 0.5)
        if _fractions(node).max(initial=0.0) <= WHOLE and self._constraint._is_answer(whole):
            return whole
        is_wanted = (node.upper[:n] > 0) & ((gains[:n] >= 0) | (node.values[:n] > ROUNDED))
        held, allowed = np.flatnonzero(node.lower[:n]), np.flatnonzero(is_wanted)
        order = allowed[np.lexsort((-gains[:n][allowed], -node.values[:n][allowed].round(6)))]
        found = self._constraint.extend(held, order)
        return found if self._constraint._is_answer(found) else None

    # -- branch and bound ---------------------------------------------------------------------------

    def _improved(
        self, gains: FloatArray, root: _Node, clock: Clock, most_nodes: int | None
    ) -> Iterator[tuple[IndexArray | None, float]]:
        """Yield the best set so far and a bound on all sets, until both agree, or after some nodes."""
        best, numbers, open_ = self._rounded(root, gains), count(), [(-root.bound, -1, root)]
        reached, closed, nodes = self._weight(best, gains), -np.inf, 0
        yield best, root.bound
        while open_ and (most_nodes is None or nodes < most_nodes):
            nodes += 1
            if -open_[0][0] <= _no_heavier(reached):
                break
            node = heappop(open_)[-1]
            if self._is_settled(node, gains):
                closed = max(closed, node.bound)
                continue
            for part in self._split(gains, node, reached, clock):
                found = self._rounded(part, gains)
                if self._weight(found, gains) > reached:
                    best, reached = found, self._weight(found, gains)
                heappush(open_, (-part.bound, next(numbers), part))
            yield best, max(reached, closed, -open_[0][0] if open_ else -np.inf)
        yield best, max(reached, closed, -open_[0][0] if open_ else -np.inf)

    def _is_settled(self, node: _Node, gains: FloatArray) -> bool:
        fractional = _fractions(node).max(initial=0.0)
        chosen = np.flatnonzero(node.values[: self._constraint.n] > 0.5)
        if fractional > WHOLE or not self._constraint._is_answer(chosen):
            return False
        weight = self._weight(chosen, gains)
        return fractional <= ROUNDED or node.bound <= weight + EQUAL * abs(weight)

    def _split(self, gains: FloatArray, node: _Node, reached: float, clock: Clock) -> Iterator[_Node]:
        """Yield the parts of a node in which a variable is 0 and 1, if there may be heavier sets there."""
        n, lower, upper = self._constraint.n, node.lower.copy(), node.upper.copy()
        gap = node.bound - reached + ROUNDING * abs(node.bound)
        if np.isfinite(gap):  # fixing by reduced cost
            lower[:n][node.prices.reduced > gap] = 1.0
            upper[:n][(node.prices.reduced < -gap) & (lower[:n] == 0)] = 0.0
        fractional = _fractions(node)
        variable = int(np.argmax(fractional))
        chosen = np.flatnonzero(node.values[:n] > 0.5)
        if fractional[variable] <= WHOLE and not self._constraint._is_answer(chosen):
            self._rule_out(chosen)
            halves = [(lower, upper)]
        else:
            zero, one = upper.copy(), lower.copy()
            zero[variable], one[variable] = 0.0, 1.0
            halves = [(one, upper), (lower, zero)]
        for low, high in halves:
            part = self._relax(gains, low, high, clock)
            if part is not None and part.bound > _no_heavier(reached):
                yield part

    # -- inequalities that are found on the way -----------------------------------------------------

    def _cut_spans(self, values: FloatArray, held: IndexArray) -> bool:
        """Add rank inequalities of matroids that a fractional set violates; return whether there is any."""
        point, added = values[: self._constraint.n], False
        for part in self._others:
            if isinstance(part, Matroid):
                for members, rank in violated_spans(part, held, point, point):
                    self._require(members, rank)
                    added = True
        return added

    def _rule_out(self, found: IndexArray) -> None:
        """Add an inequality that a set violates and all independent sets meet."""
        part = next((each for each in self._others if not each._is_independent(found)), self._constraint)
        if isinstance(part, Matroid):
            self._require(*span(part, found))
            return
        if not part.hereditary:  # this very set, and no other
            self._require(found, len(found) - 1, np.setdiff1d(np.arange(self._constraint.n), found))
            return
        # Not all of a smallest part of it that is not independent, be it by the last digits of a limit.
        for element in found:
            rest = found[found != element]
            if not part._is_independent(rest):
                found = rest
        self._require(found, len(found) - 1)

    def _require(self, members: IndexArray, limit: int, less: IndexArray | None = None) -> None:
        """Add an inequality: the number of members, less that of others, is at most the limit."""
        row = np.zeros((1, self._n_columns))
        row[0, members] = 1.0
        if less is not None:
            row[0, less] = -1.0
        matrix = scipy.sparse.vstack([self._rows.matrix, scipy.sparse.csr_array(row)], format="csr")
        self._rows = Inequalities(matrix, np.append(self._rows.limit, float(limit)))


def _fractions(node: _Node) -> FloatArray:
    return np.minimum(node.values, 1.0 - node.values)


def _scale_of(gains: FloatArray) -> float:
    return OBJECTIVE_SIZE * power_of_two(np.abs(gains).max(initial=0.0))


def _no_heavier(reached: float) -> float:
    """Return the bound up to which a part has no heavier set than one that was found; -inf without one."""
    return reached + ROUNDING * abs(reached) if np.isfinite(reached) else reached
