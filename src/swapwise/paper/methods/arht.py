"""Adaptively regularised hard thresholding: exchanges on an objective with a ridge that is given up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_real
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.moves import Move, MoveList, Step
from swapwise.objectives.base import (
    SetFunction,
    SparseObjective,
    SparseState,
    State,
    element_norms2,
    embed,
    knows_smoothness,
    rows_of,
)
from swapwise.override import override
from swapwise.search.methods.base import SparseMethod, moved_to
from swapwise.search.result import Status

# Rounds end after this many per element. A fit ends after this many Newton steps, or when one predicts a
# gain of less than this share of the value; steps are halved at most this many times.
MOST_ROUNDS, MOST_STEPS, LEAST_GAIN, MOST_HALVINGS = 20, 100, 1e-13, 40


class ARHT(SparseMethod):
    """Exchange the smallest coefficient for the largest gradient, with a ridge on most of the elements.

    The rounds are exchanges on ``g_R(w) = u(w) − (ρ/2) Σ_{i∈R} w_i²``, where R is at first all elements. At
    the best w on the set S, the element outside with the largest gradient comes in for the one with the
    smallest coefficient, if that raises g_R enough. Otherwise S stays, and one of its elements, drawn with
    probability proportional to its squared coefficient among those in R, leaves R for good.

    Under a size limit this is the algorithm of Axiotis and Sviridenko, who prove that with O(κ) times as many
    elements it reaches the value of the best set, where κ is the restricted condition number; no factor is
    known for a set of the same size, or under other constraints. It departs from the paper in this:

    - Enough is, as in the paper, ``(v − g_R(w)) / s`` for sets of s elements, but v is the value of the best
      set so far, where the paper searches for the value of the optimum by bisection.
    - It begins with the forced elements, to which the first exchanges add without a drop.
    - Once no element of S is in R, any exchange that raises the value is made. So it ends where none does.
    - Under a constraint other than a size limit, what makes room for an element depends on the element. The
      exchange is the one with the largest lower bound ``‖∇u_added‖² / 2M − M ‖w_dropped‖² / 2`` of its gain,
      with M = 2ρ for the smoothness of g_R; under a size limit that is the paper's.

    The answer is the best of all sets by their true values.

    Parameters
    ----------
    smoothness : "global" or a positive number
        The ρ. ``"global"`` is M_2, by which u curves at most along two elements; the paper's choice.

    See Also
    --------
    HardThresholdingPursuit : whole sets in place of exchanges.
    swapwise.NonOblivious : the rule whose bound it uses.

    References
    ----------
    - Axiotis and Sviridenko (2021), Sparse convex optimization via adaptively regularized hard thresholding.

    Examples
    --------
    >>> from swapwise import LeastSquares, Partition, maximize
    >>> f = LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0])
    >>> maximize(f, Partition(["a", "a", "b", "b"], 1), "arht").support
    array([1, 2])
    """

    name = "arht"
    draws = True

    def __init__(self, smoothness: str | float = "global") -> None:
        if isinstance(smoothness, str):
            if smoothness != "global":
                raise ValueError(f"smoothness must be 'global' or a positive number, got {smoothness!r}")
            self.smoothness: str | float = smoothness
        else:
            self.smoothness = as_real(smoothness, "smoothness", positive=True)

    @override
    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        lacks = super().missing(objective, constraint)
        if lacks is None and self.smoothness == "global" and not knows_smoothness(objective):
            return "a smoothness constant (give one yourself: ARHT(smoothness=...))"
        return lacks

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        assert isinstance(state, SparseState)
        assert self._rng is not None
        objective, size = self._objective, max(1, self._constraint.max_size())
        ridge = np.full(objective.n, self._rho())
        support = state.support
        value, coef = fit_with_ridge(objective, support, ridge, state.coef, budget)
        for n_rounds in range(1, MOST_ROUNDS * (objective.n + 1)):
            budget.check()
            self.details = {"rounds": n_rounds, "regularised": float((ridge[support] > 0).sum())}
            target, there, fitted = support, -np.inf, coef
            move = self._exchange(support, coef)
            if move is not None:
                target = move.result(support)
                there, fitted = fit_with_ridge(objective, target, ridge, coef, budget)
            shares = element_norms2(objective, coef)[support] * (ridge[support] > 0)
            wanted = (state.value - value) / size if shares.any() else 0.0
            if there - value >= wanted and there - value > state.resolution(self._tol):
                support, value, coef = target, there, fitted
                yield moved_to(support, state, budget, self._tol)
            elif shares.any():
                ridge[self._rng.choice(support, p=shares / shares.sum())] = 0.0
                value, coef = fit_with_ridge(objective, support, ridge, coef, budget)
            else:
                return
        self.finished = Status.ITERATION_LIMIT

    def _rho(self) -> float:
        if self.smoothness == "global":
            return self._objective.smoothness(min(2, max(1, self._objective.n)))
        return float(self.smoothness)

    def _exchange(self, support: IndexArray, coef: FloatArray) -> Move | None:
        """Return the exchange with the largest lower bound, if one adds an element with any gradient.

        Under a size limit all that comes in makes the same go, and it is the one with the largest gradient.
        """
        gradient, costs = self._objective.gradient_at(coef), element_norms2(self._objective, coef)
        slopes2, M = element_norms2(self._objective, gradient), 2 * self._rho()
        moves = MoveList.joined(self._constraint.cheapest_drops(support, costs))
        gained, lost = moves.sums(moves.added, slopes2), moves.sums(moves.dropped, costs)
        # The lower bounds times 2M, since M is 0 where all columns are.
        index, _ = moves.best(np.where(gained > 0, gained - lost * M**2, -np.inf))
        return None if index < 0 else moves.move(index)


def fit_with_ridge(
    objective: SparseObjective, support: IndexArray, ridge: FloatArray, begin: FloatArray, budget: Budget
) -> tuple[float, FloatArray]:
    """Return ``max u(w) − u(0) − ½ Σ ridge_i ‖w_i‖²`` on a set, and the maximising coefficients.

    By Newton's method from ``begin``, whose first step is exact for quadratic objectives. Without a ridge it
    is the refit of the objective itself.
    """
    if not ridge[support].any():
        value, free = objective._fit(support)
        return value, embed(objective, support, free)
    rows = rows_of(objective, support)
    by_row = ridge[support]
    if objective.groups is not None:
        by_row = np.repeat(by_row, np.diff(objective.groups.begin)[support])
    value, few = _newton(objective.restricted(support), begin[rows], by_row, budget)
    return value, embed(objective, support, few)


def _newton(
    objective: SparseObjective, point: FloatArray, ridge: FloatArray, budget: Budget
) -> tuple[float, FloatArray]:
    """Maximise with one number of the ridge per row of the coefficients."""
    by_number = ridge.reshape(-1, *(1,) * (point.ndim - 1))

    def penalty(there: FloatArray) -> float:
        return float((by_number * there**2).sum()) / 2

    for _ in range(MOST_STEPS):
        budget.check()
        value, gradient = objective.value_and_gradient_at(point)
        value, gradient = value - penalty(point), gradient - by_number * point
        hessian = objective.hessian_at(point, np.arange(objective.n))
        # Several columns may share what holds for each of them.
        slopes = gradient.reshape(len(hessian), -1)
        hessian = hessian + np.diag(np.repeat(ridge, len(hessian) // len(ridge)))
        step = np.linalg.lstsq(hessian, slopes, rcond=None)[0].reshape(point.shape)
        slope, length = float((gradient * step).sum()), 1.0
        if slope <= LEAST_GAIN * abs(value):
            break
        for _ in range(MOST_HALVINGS):
            ahead = point + length * step
            if objective.value_at(ahead) - penalty(ahead) >= value + 1e-4 * length * slope:
                break
            length /= 2
        else:
            break
        point = ahead
    return value, point
