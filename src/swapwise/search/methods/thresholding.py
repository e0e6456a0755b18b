"""Hard thresholding: a gradient step, then the projection onto the constraint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_real
from swapwise.clock import Budget, Clock
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid
from swapwise.moves import MoveList, Step
from swapwise.numerics import TIE
from swapwise.objectives.base import (
    SetFunction,
    SparseState,
    State,
    coef_norms2,
    gradient_norms2,
    knows_smoothness,
)
from swapwise.override import override
from swapwise.search.methods.base import Incumbent, SparseMethod, keep_set
from swapwise.search.methods.projection import Projection
from swapwise.search.result import Status

# The limit on rounds. Steps are halved down to SHORTEST times the first one, and doubled up to LONGEST times
# it where they lead back to the same set.
MOST_ROUNDS, SHORTEST, LONGEST = 1000, 1e-12, 1e3

# Iterates have converged when they move by no more than this share of their length.
STILL = 1e-8

# With too long a step iterates diverge: rounds end at values below minus this many times the scale.
DIVERGED = 1e12


class Thresholding(SparseMethod):
    """The step η of hard thresholding, and what its length proves.

    A set S is *fixed* for η if a step and its projection lead back to it: with w the best coefficients on S
    and g the gradient there, no independent set has a larger sum of ``‖w_i + η g_i‖²``. Under any constraint,
    with s the largest size and m_t the restricted strong concavity of u,

        f(S) ≥ f(T) / (1 + (1/(m_2s η²) − m_2s) / m_s) ≥ m_2s² η² f(T)     for every independent set T

    if ``η ≤ 1/m_2s``, and S is optimal for longer steps. Proof: concavity gives ``f(T) ≤ f(S) + ‖g_{T∖S}‖²/2m
    − m ‖w_{S∖T}‖²/2`` with m = m_2s, as g vanishes on S; S is fixed, so ``η² ‖g_{T∖S}‖² ≤ ‖w_{S∖T}‖²``; and
    ``‖w_S‖² ≤ 2 f(S) / m_s``. The second form is the first with ``m_s ≥ m_2s``.

    So the longest step for which the answer is fixed is on the record, as
    ``result.strategies[-1].details["step"]``: 0 if there is none, or if the search was cut short. Where
    ``details["head"]`` is below 1, projections were not exact, and the proof does not hold.
    """

    def __init__(self, step: str | float = "adaptive") -> None:
        if isinstance(step, str) and step not in ("adaptive", "global"):
            raise ValueError(f"step must be 'adaptive', 'global' or a positive number, got {step!r}")
        words = "step (a number, if it is not 'adaptive' or 'global')"
        self.step: str | float = step if isinstance(step, str) else as_real(step, words, positive=True)

    @override
    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        lacks = super().missing(objective, constraint)
        if lacks is None and self.step == "global" and not knows_smoothness(objective):
            return "a smoothness constant for step='global' (give a number, or step='adaptive')"
        return lacks

    def _first_step(self, state: SparseState, project: Projection, budget: Budget) -> float:
        if self.step == "adaptive":
            first = project.support(state.gradient, budget.clock)
            keep_set(first, state.support, budget)
            return newton_step(state, project.restrict(state.gradient, first))
        if self.step == "global":
            size = min(self._objective.n, 2 * self._constraint.max_size())
            smoothness = self._objective.smoothness(max(1, size))
            return 1.0 / smoothness if smoothness > 0 else 1.0
        return float(self.step)

    def _begin(self) -> Projection:
        self.details = {"rounds": 0, "step": 0.0, "head": 1.0, "tail": 1.0}
        return Projection(self._objective, self._constraint)

    def _end(self, state: SparseState, project: Projection, clock: Clock) -> None:
        if self.details["rounds"] == MOST_ROUNDS:
            self.finished = Status.ITERATION_LIMIT
        self.details["step"] = longest_step(state, self._constraint, project, clock)
        self.details |= {"head": project.head, "tail": project.tail}


class HardThresholdingPursuit(Thresholding):
    """Hard thresholding pursuit: step, project, and refit on the set that this leads to.

    ``S ← supp P(w + η ∇u(w))``, ``w ← argmax u on S``, until S stays. P is the projection onto the
    constraint, so that this is model-based in the sense of Baraniuk et al. under any constraint. The answer
    is fixed for the step on the record, see :class:`Thresholding` for what that proves.

    Parameters
    ----------
    step : "adaptive", "global" or a positive number
        The η, which turns a gradient into coefficients: about 1/M for an objective that curves by M, so that
        it depends on the scale of columns and values. ``"adaptive"`` doubles it as long as rounds raise the
        value or lead nowhere, and halves it
        after one that did neither: it ends at a fixed set from which twice the step leads to no better one.
        ``"global"`` is 1/M_2s, for which no round lowers the value. A number is taken as it is: rounds may
        lower the value then, and end where a set comes back; the answer is the best of them.

    See Also
    --------
    IterativeHardThresholding : without refits.
    CoSaMP : merges and prunes.

    References
    ----------
    - Foucart (2011), Hard thresholding pursuit: an algorithm for compressive sensing.
    - Baraniuk, Cevher, Duarte and Hegde (2010), Model-based compressive sensing.
    - Yuan, Li and Zhang (2018), Gradient hard thresholding pursuit.

    Examples
    --------
    >>> from swapwise import LeastSquares, Partition, maximize
    >>> f = LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0])
    >>> maximize(f, Partition(["a", "a", "b", "b"], 1), "htp").support
    array([1, 2])
    """

    name = "htp"

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        assert isinstance(state, SparseState)
        project, adapts = self._begin(), self.step == "adaptive"
        best, seen = Incumbent(state, budget, self._tol), {state.support.tobytes()}
        step, failed = self._first_step(state, project, budget), False
        shortest, longest = SHORTEST * step, LONGEST * step
        while self.details["rounds"] < MOST_ROUNDS and step > shortest:
            budget.check()
            self.details["rounds"] += 1
            target = project.support(state.coef + step * state.gradient, budget.clock)
            is_fixed = np.array_equal(target, state.support)
            if is_fixed and adapts and not failed and step < longest:
                step *= 2
                continue
            is_known = target.tobytes() in seen  # and then no better
            if is_fixed or (is_known and not adapts):
                break
            seen.add(target.tobytes())
            steps = [] if is_known else best.go(target)
            if steps or not adapts:
                yield steps
            else:
                best.restore()
            if adapts:
                failed = not steps
                step *= 0.5 if failed else 2
        best.restore()
        self._end(state, project, budget.clock)


class Iterate(NamedTuple):
    coef: FloatArray
    support: IndexArray
    value: float
    gradient: FloatArray


class IterativeHardThresholding(Thresholding):
    """Iterative hard thresholding: gradient steps, each projected onto the constraint.

    ``w ← P(w + η ∇u(w))``. P is the projection onto the constraint, so that this is model-based in the sense
    of Baraniuk et al. under any constraint.

    Parameters
    ----------
    step : "adaptive", "global" or a positive number
        The η. ``"adaptive"`` halves it until ``u(w⁺) ≥ u(w) + ⟨∇u(w), w⁺ − w⟩ − ‖w⁺ − w‖²/2η``, which holds
        for all η ≤ 1/M and keeps u from falling, and doubles it after each round. ``"global"`` is 1/M_2s. A
        number is taken as it is.
    debias : bool
        Whether to refit when a round leaves the set as it is, and to go on from there. The search then ends
        when the refit leads back to the same set, which is fixed for the step on the record (see
        :class:`Thresholding`). Otherwise it ends when the iterates stop moving, which may take many rounds.

    See Also
    --------
    HardThresholdingPursuit : refits in every round.

    References
    ----------
    - Blumensath and Davies (2009), Iterative hard thresholding for compressed sensing.
    - Baraniuk, Cevher, Duarte and Hegde (2010), Model-based compressive sensing.
    - Jain, Tewari and Kar (2014), On iterative hard thresholding methods for high-dimensional M-estimation.

    Examples
    --------
    >>> from swapwise import LeastSquares, Partition, maximize
    >>> f = LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0])
    >>> maximize(f, Partition(["a", "a", "b", "b"], 1), "iht").support
    array([1, 2])
    """

    name = "iht"

    def __init__(self, step: str | float = "adaptive", debias: bool = True) -> None:
        super().__init__(step)
        self.debias = debias
        if not isinstance(debias, bool):
            raise TypeError(f"debias must be True or False, got {debias!r}")

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        assert isinstance(state, SparseState)
        project = self._begin()
        best, seen = Incumbent(state, budget, self._tol), {state.support.tobytes()}
        steps = _Steps(self._first_step(state, project, budget), self.step == "adaptive", project)
        iterate = _fit_of(state)
        while self.details["rounds"] < MOST_ROUNDS and steps.are_long_enough:
            budget.check()
            self.details["rounds"] += 1
            support, coef = steps.ahead(iterate, budget.clock)
            if np.array_equal(support, iterate.support):
                if support.tobytes() in seen and self.debias:
                    break
                if self.debias:
                    seen.add(support.tobytes())
                    yield best.go(support)
                    iterate = _fit_of(state)
                    continue
                if np.linalg.norm(coef - iterate.coef) <= STILL * np.linalg.norm(coef):
                    break
            iterate = self._taken(iterate, support, coef, steps)
            if not iterate.value > -DIVERGED * state.magnitude:
                break
            keep_set(iterate.support, best.support, budget)
        if not self.debias:
            yield best.go(iterate.support)
        best.restore()
        self._end(state, project, budget.clock)

    def _taken(self, iterate: Iterate, support: IndexArray, coef: FloatArray, steps: _Steps) -> Iterate:
        with np.errstate(over="ignore", invalid="ignore"):  # too long a step may lead anywhere
            value, gradient = self._objective.value_and_gradient_at(coef)
        return Iterate(coef, support, value, gradient) if steps.accept(iterate, coef, value) else iterate


class _Steps:
    def __init__(self, length: float, adapts: bool, project: Projection) -> None:
        self._length, self._adapts, self._project = length, adapts, project
        self._shortest = SHORTEST * length

    @property
    def are_long_enough(self) -> bool:
        return self._length > self._shortest

    def ahead(self, iterate: Iterate, clock: Clock) -> tuple[IndexArray, FloatArray]:
        ahead = iterate.coef + self._length * iterate.gradient
        support = self._project.support(ahead, clock)
        return support, self._project.restrict(ahead, support)

    def accept(self, iterate: Iterate, coef: FloatArray, value: float) -> bool:
        if not self._adapts:
            return True
        way = coef - iterate.coef
        slope, square = float((iterate.gradient * way).sum()), float((way**2).sum())
        bend, rounding = square / (2 * self._length), TIE * max(abs(value), abs(iterate.value))
        accepted = value >= iterate.value + slope - bend - rounding
        if not accepted:
            self._length /= 2
        elif bend > rounding:  # else any step would be accepted
            self._length *= 2
        return accepted


def _fit_of(state: SparseState) -> Iterate:
    return Iterate(state.coef, state.support, state.value, state.gradient)


def newton_step(state: SparseState, way: FloatArray) -> float:
    """Return the best step along ``way``, for the mean curvature of u there.

    ``way`` is the gradient with some coordinates set to 0.

    >>> from swapwise import LeastSquares
    >>> state = LeastSquares(np.eye(3), [1.0, 3.0, 2.0]).start()
    >>> round(newton_step(state, state.gradient * [0.0, 1.0, 1.0]), 6)
    7.0
    """
    square, share = float((way**2).sum()), 1.0
    while square * share > 0:
        with np.errstate(over="ignore", invalid="ignore"):
            rise = state.objective.value_at(state.coef + share * way) - state.value
        if np.isfinite(rise):
            curvature = 2 * (share * square - rise) / share**2
            return square / curvature if curvature > 0 else 1.0
        share /= 2
    return 1.0


def longest_step(state: SparseState, constraint: Constraint, project: Projection, clock: Clock) -> float:
    """Return the longest step for which a set is fixed; infinity if it is for all, 0 if for none.

    A set T is better unless ``η² ‖g_{T∖S}‖² ≤ ‖w_{S∖T}‖²``. Under a matroid exchanges of one element suffice.
    Elsewhere they give a step that may be too long; the set that its projection leads to bounds the step, and
    so on (Dinkelbach's method, which takes a few projections).
    """
    coef2, gradient2 = coef_norms2(state), gradient_norms2(state)
    moves = MoveList.joined(constraint.cheapest_drops(state.support, coef2))
    gained, lost = moves.sums(moves.added, gradient2), moves.sums(moves.dropped, coef2)
    longest = float((lost[gained > 0] / gained[gained > 0]).min(initial=np.inf))
    is_known = isinstance(constraint, Matroid)
    for _ in range(MOST_ROUNDS):
        if is_known or longest == 0:
            return float(np.sqrt(longest * (1 - TIE)))
        weights = coef2 + longest * gradient2 if np.isfinite(longest) else gradient2
        ahead = project.heaviest(weights, clock)
        more = float(gradient2[np.setdiff1d(ahead, state.support)].sum())
        less = float(coef2[np.setdiff1d(state.support, ahead)].sum())
        is_known = more == 0 or less >= longest * more * (1 - TIE)
        longest = longest if is_known else less / more
    return 0.0
