"""Pairwise Frank–Wolfe over the convex hull of sparse vectors of limited length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_real
from swapwise.clock import Budget
from swapwise.moves import Step
from swapwise.numerics import EQUAL
from swapwise.objectives.base import SparseState, State, element_norms2, rows_of
from swapwise.override import override
from swapwise.search.methods.base import SparseMethod, keep_set, moved_to
from swapwise.search.methods.projection import Projection
from swapwise.search.result import Status

# Rounds end after this many, or when the gap is below this share of the value. Atoms that weigh less than
# this are dropped; a line search ends after this many halvings.
MOST_ROUNDS, SMALL_GAP, LIGHTEST, MOST_HALVINGS = 500, 1e-2, 1e-12, 50

# The first radius, as a share of the length of the first coefficients, and by how much it grows: in a small
# ball few atoms are in use, and the mean of few is nearer to a sparse vector.
FIRST_SHARE, GROWTH = 0.25, 1.5


class FrankWolfe(SparseMethod):
    r"""Maximise u over the convex hull of ``{ w : supp(w) independent, ‖w‖₂ ≤ radius }``, and project.

    The atom in which a gradient g is largest is ``radius · g_S / ‖g_S‖`` on the max-weight set S of the
    squares g². A round takes weight from the worst atom that is in use and gives it to the best one there
    is, as much as the value rises (pairwise steps). The mean w̄ of the atoms is projected onto the
    constraint whenever it has changed, and the answer is the best of the sets that this leads to.

    As u is concave, every w with independent support and ``‖w‖₂ ≤ radius`` has

    .. math:: u(w) ≤ u(\bar w) + ⟨g, w - \bar w⟩ ≤ u(\bar w) + \text{gap}, \quad g = ∇u(\bar w),

    .. math:: \text{gap} = r \cdot \sqrt{\max_{S\,\text{independent}} \sum_{i∈S} g_i^2} - ⟨g, \bar w⟩

    with the ``radius`` r, so the least right-hand side of all rounds is on the record:
    ``details["upper_bound"]``. It is a bound within the ball only, and is about the hull, which holds far
    more than the sparse vectors; a certificate (``swapwise.certify``) has no ball and is tighter as a rule.

    Parameters
    ----------
    radius : float, optional
        The length that coefficients may have. By default it begins as a quarter of the length of the best
        coefficients on the max-weight set of the squared gradient at 0. Whenever the gap is below 1 % of the
        value and the coefficients of the best set so far are longer, it grows by half, and the rounds go on.

    See Also
    --------
    Clash : an l1 ball.
    swapwise.certify : a tighter bound as a rule.

    Notes
    -----
    On the record: ``details["gap"]``, that of the last round, ``["upper_bound"]``, ``["radius"]``,
    ``["rounds"]``, and how exact the projections were.

    References
    ----------
    - Lacoste-Julien and Jaggi (2015), On the global linear convergence of Frank–Wolfe optimization variants.
    - Jaggi (2013), Revisiting Frank–Wolfe: projection-free sparse convex optimization.

    Examples
    --------
    >>> from swapwise import LeastSquares, Partition, maximize
    >>> f = LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0])
    >>> result = maximize(f, Partition(["a", "a", "b", "b"], 1), "frank-wolfe")
    >>> result.support
    array([1, 2])
    >>> bool(result.value <= result.strategies[-1].details["upper_bound"])
    True
    """

    name = "frank-wolfe"

    def __init__(self, radius: float | None = None) -> None:
        self.radius = None if radius is None else as_real(radius, "radius", positive=True)

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        assert isinstance(state, SparseState)
        project, seen = Projection(self._objective, self._constraint), {state.support.tobytes()}
        mean = Mean(np.zeros_like(state.coef))
        radius, bound = self._first_radius(project, state, budget), np.inf
        for n_rounds in range(1, MOST_ROUNDS + 1):
            budget.check()
            value, gradient = self._objective.value_and_gradient_at(mean.point)
            best, top = self._best_atom(gradient, radius, budget)
            gap = max(0.0, top - float((gradient * mean.point).sum()))
            bound = min(bound, value + gap + self._objective.doubt_at(mean.point))
            self.details = {"rounds": n_rounds, "radius": radius, "gap": gap, "upper_bound": bound}
            self.details |= {"head": project.head, "tail": project.tail}
            if gap <= SMALL_GAP * abs(value) or not self._step(mean, best, value, gradient, top):
                if self.radius is not None or float(np.linalg.norm(state.coef)) <= radius:
                    return
                radius, bound = GROWTH * radius, np.inf
                continue
            target = project.support(mean.point, budget.clock)
            if target.tobytes() not in seen:
                seen.add(target.tobytes())
                yield moved_to(target, state, budget, self._tol)
        self.finished = Status.ITERATION_LIMIT

    def _first_radius(self, project: Projection, state: SparseState, budget: Budget) -> float:
        if self.radius is not None:
            return self.radius
        first = project.support(self._objective.gradient_at(np.zeros_like(state.coef)), budget.clock)
        keep_set(first, state.support, budget)
        state.n_evaluations += 1
        return FIRST_SHARE * float(np.linalg.norm(self._objective._fit(first)[1])) or 1.0

    def _best_atom(self, gradient: FloatArray, radius: float, budget: Budget) -> tuple[Atom, float]:
        squares = element_norms2(self._objective, gradient)
        scale = float(squares.max(initial=0.0)) or 1.0
        found = self._constraint._max_weight_holding(self._constraint.forced, squares / scale, budget.clock)
        rows = rows_of(self._objective, found.support)
        length = float(np.linalg.norm(gradient[rows]))
        values = gradient[rows] * (radius / length if length > 0 else 0.0)
        return Atom(rows, values), radius * float(np.sqrt(scale * found.upper_bound))

    def _step(self, mean: Mean, best: Atom, value: float, gradient: FloatArray, top: float) -> bool:
        worst = mean.worst(gradient, top)
        direction = -mean.atoms[worst].on(mean.point)
        direction[best.rows] += best.values
        slope, most = float((gradient * direction).sum()), mean.weights[worst]
        if slope <= 0:
            return False
        # The parabola through value, slope and the value at the far end is u itself if that is quadratic.
        missing = value + most * slope - self._objective.value_at(mean.point + most * direction)
        length = min(most, most**2 * slope / (2 * missing)) if missing > 0 else most
        for _ in range(MOST_HALVINGS):
            if self._objective.value_at(mean.point + length * direction) > value:
                mean.shift(worst, best, length, direction)
                return True
            length /= 2
        return False


class Atom(NamedTuple):
    """A sparse vector: its rows, and the values there."""

    rows: IndexArray
    values: FloatArray

    def on(self, like: FloatArray) -> FloatArray:
        whole = np.zeros_like(like)
        whole[self.rows] = self.values
        return whole


class Mean:
    """A convex combination of atoms; at first of the zero vector alone."""

    def __init__(self, zero: FloatArray) -> None:
        self.point = zero
        self.atoms, self.weights = [Atom(np.empty(0, dtype=np.intp), zero[:0])], [1.0]

    def worst(self, gradient: FloatArray, scale: float) -> int:
        """Return the index of the atom that is smallest in the gradient; ties go to the first.

        Both ends of an exact line search are ties; ``scale`` sets the tolerance.
        """
        sizes = np.array([float((gradient[atom.rows] * atom.values).sum()) for atom in self.atoms])
        return int(np.argmax(sizes <= sizes.min() + EQUAL * scale))

    def shift(self, worst: int, best: Atom, weight: float, direction: FloatArray) -> None:
        self.point = self.point + weight * direction
        self.weights[worst] -= weight
        if self.weights[worst] <= LIGHTEST:
            del self.weights[worst], self.atoms[worst]
        self.atoms.append(best)
        self.weights.append(weight)
