"""CLASH: fits within an l1 ball, between an expansion of the set and a projection onto the constraint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_real
from swapwise.clock import Budget
from swapwise.moves import Step
from swapwise.numerics import SUM
from swapwise.objectives.base import SparseObjective, SparseState, State, embed, rows_of
from swapwise.override import override
from swapwise.search.methods.base import SparseMethod, keep_set, moved_to
from swapwise.search.methods.projection import Projection
from swapwise.search.result import Status

# Rounds end after this many. A fit within the ball ends after this many steps, or when a step moves the
# coefficients by less than this share of the radius; a step is halved this many times at most.
MOST_ROUNDS, MOST_STEPS, SHORTEST, MOST_HALVINGS = 100, 2000, 1e-10, 50


class Clash(SparseMethod):
    """Combinatorial selection and least absolute shrinkage: ``max u(w)``, supp(w) independent, ‖w‖₁ ≤ radius.

    With P for the projection onto the constraint, a round from coefficients w on the set S

    1. expands the set: ``A = S ∪ P(∇u(w) outside of S)``,
    2. fits within the ball: ``v = argmax { u(v) : supp(v) ⊆ A, ‖v‖₁ ≤ radius }``,
    3. selects ``S = supp P(v)``,
    4. fits within the ball on S,

    until it is back at a set that it has seen. The value of a set is that of its best coefficients, in the
    ball or not, as everywhere: the ball only steers the search, and the answer is the best of the sets that
    the rounds lead through. In the ball coefficients may become zero, so that a set need not be maximal.

    Parameters
    ----------
    radius : float, optional
        The l1 norm that the coefficients may have, infinity for any. By default that of the best
        coefficients on ``supp P(∇u(0))``, which each run works out for itself.

    See Also
    --------
    CoSaMP, HardThresholdingPursuit : without the l1 ball.

    Notes
    -----
    On the record: ``details["radius"]``, ``details["rounds"]``, and how exact the projections were.

    References
    ----------
    - Kyrillidis and Cevher (2012), Combinatorial selection and least absolute shrinkage via the CLASH
      algorithm.
    - Duchi, Shalev-Shwartz, Singer and Chandra (2008), Efficient projections onto the l1-ball.

    Examples
    --------
    >>> from swapwise import LeastSquares, Partition, maximize
    >>> f = LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0])
    >>> maximize(f, Partition(["a", "a", "b", "b"], 1), "clash").support
    array([1, 2])
    """

    name = "clash"

    def __init__(self, radius: float | None = None) -> None:
        self.radius = radius
        if radius is not None and not (isinstance(radius, float) and radius == np.inf):
            self.radius = as_real(radius, "radius", positive=True)

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        assert isinstance(state, SparseState)
        objective, project = self._objective, Projection(self._objective, self._constraint)
        support, coef = state.support, np.zeros_like(state.coef)
        first = project.support(objective.gradient_at(coef), budget.clock)
        keep_set(first, support, budget)
        state.n_evaluations += 1
        radius = float(np.abs(objective._fit(first)[1]).sum()) if self.radius is None else self.radius
        seen = set[bytes]()
        for n_rounds in range(1, MOST_ROUNDS + 1):
            gradient = objective.gradient_at(coef)
            gradient[rows_of(objective, support)] = 0.0
            wider = np.union1d(support, project.support(gradient, budget.clock))
            shrunk = fit_in_ball(objective, wider, radius, coef, state, budget)
            support = project.support(shrunk, budget.clock)
            self.details = {"rounds": n_rounds, "radius": radius, "head": project.head, "tail": project.tail}
            if support.tobytes() in seen:
                return
            seen.add(support.tobytes())
            yield moved_to(support, state, budget, self._tol)
            coef = fit_in_ball(objective, support, radius, project.restrict(shrunk, support), state, budget)
        self.finished = Status.ITERATION_LIMIT


def fit_in_ball(
    objective: SparseObjective,
    support: IndexArray,
    radius: float,
    begin: FloatArray,
    state: State,
    budget: Budget,
) -> FloatArray:
    """Return the best coefficients on a set within an l1 ball; ``begin`` are some on the set to start from.

    If the best ones of all are in the ball, it is those. Else it takes projected gradient steps with
    momentum, which is given up whenever it leads downhill.
    """
    state.n_evaluations += 1
    free = objective._fit(support)[1]
    if np.abs(free).sum() <= radius:
        return embed(objective, support, free)
    if radius == 0:
        return embed(objective, support, np.zeros_like(free))
    few, rows = objective.restricted(support), rows_of(objective, support)
    point = ahead = onto_l1_ball(begin[rows], radius)
    value, momentum, step = few.value_at(point), 1.0, np.inf
    for _ in range(MOST_STEPS):
        budget.check()
        there, gradient = few.value_and_gradient_at(ahead)
        if np.isinf(step):
            slope = float(np.linalg.norm(gradient))
            step = radius / slope if slope > 0 else 1.0
        for _ in range(MOST_HALVINGS):
            target = onto_l1_ball(ahead + step * gradient, radius)
            moved, reached = target - ahead, few.value_at(target)
            model = there + float((gradient * moved).sum()) - float((moved**2).sum()) / (2 * step)
            if reached >= model - SUM * max(abs(there), objective.scale):
                break
            step /= 2
        if reached < value and ahead is not point:
            ahead, momentum = point, 1.0
            continue
        length, had_momentum = float(np.linalg.norm(target - point)), momentum > 1
        larger = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = target + (momentum - 1) / larger * (target - point)
        point, value, momentum, step = target, reached, larger, 1.1 * step
        if length <= SHORTEST * radius:
            if not had_momentum:
                break
            ahead, momentum = point, 1.0  # a step without it tells whether this is the end
    return embed(objective, support, point)


def onto_l1_ball(values: FloatArray, radius: float, axis: int | None = None) -> FloatArray:
    """Return the point of the l1 ball that is nearest: all sizes are reduced by one number, and end at 0.

    With ``axis=1``, every row of a matrix is a point of its own.

    >>> onto_l1_ball(np.array([3.0, -1.0, 0.5]), 3.0)
    array([ 2.5, -0.5,  0. ])
    """
    falling = -np.sort(-np.abs(values), axis=axis)
    # The reductions with which the k largest, and no others, stay above 0: the true k has the largest one.
    reductions = (np.cumsum(falling, axis=-1) - radius) / np.arange(1, falling.shape[-1] + 1)
    reduced = reductions.max(axis=-1, keepdims=True, initial=0.0)  # by nothing within the ball
    return values - np.clip(values, -reduced, reduced)
