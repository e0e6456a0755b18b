"""The contracts of objectives, with slow and obviously correct defaults.

To add a plain set function, write :meth:`SetFunction._value`; to add a sparse objective, write
``_fit``, ``value_at`` and ``gradient_at``. Everything else has a default that refits; override
``start`` with a state of your own where that pays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

import numpy as np

from swapwise.budget import Budget
from swapwise.checks import FloatArray, IndexArray, as_elements
from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import Found, Move, MoveBatch, Step, SwapGrid
from swapwise.numerics import TIE

# A fit from which a Newton step gains less than this, relative to its value, has come to its end.
CONVERGED = 1e-9

# Eigenvalues of second derivatives, at a unit diagonal, that are below this may be nothing but rounding: some
# are computed by differences of slopes.
FLAT = 1e-8

# Seconds. Fits that take longer keep the clock and Ctrl-C waiting, and are not made where a bound will do.
QUICK_FIT = 0.3


class SetFunction(ABC):
    """A monotone set function ``f`` on ``0 .. n-1`` with ``f(∅) = 0``, to be maximised.

    >>> class Size(SetFunction):
    ...     n = 3
    ...     def _value(self, support):
    ...         return float(len(support))
    >>> f = Size()
    >>> f([0, 2])
    2.0
    >>> state = f.start([0])
    >>> state.apply(Move(added=(1,)))
    >>> state.support, state.value
    (array([0, 1]), 2.0)
    """

    n: int
    #: Whether gains of moves cost next to nothing; then ``method="auto"`` scores all of them.
    closed_form_gains: bool = False
    #: Whether f is known never to fall when an element is added.
    monotone: bool = True
    #: Whether f is known to be submodular: what an element adds never grows with the set.
    submodular: bool = False
    #: Whether f is known to be a sum of weights.
    linear: bool = False
    #: Size of the values where it is known beforehand: far smaller differences are rounding.
    scale: float = 0.0
    #: Why a value may only be known within bounds, where :meth:`upper_bound` exceeds it
    doubt: str = "it could not be computed any closer"
    #: What no set exceeds, known beforehand: the value of a perfect fit.
    ceiling: float = np.inf
    #: Whether the data are read block by block, in few passes, wherever they are
    streamed: bool = False

    @property
    def n_passes(self) -> float | None:
        """How many times all of the data were read so far; None if nobody counts."""
        return None

    def __repr__(self) -> str:
        """Return a short description."""
        return f"{type(self).__name__}(n={getattr(self, 'n', '?')})"

    @abstractmethod
    def _value(self, support: IndexArray) -> float:
        """Return ``f`` of a sorted integer array."""

    def __call__(self, support: Iterable[int]) -> float:
        """Return ``f(support)``."""
        return float(self._value(as_elements(support, self.n, "the set")))

    def upper_bound(self, support: IndexArray, clock: Clock | None = None) -> float:
        """Return what f(support) does not exceed, for certificates: here the value itself.

        A value that takes long is bounded, as well as that can be done before the clock runs out.
        """
        return self._value(support)

    def start(self, support: Iterable[int] = ()) -> State:
        """Return a state at ``support``, from which moves can be scored and taken."""
        return State(self, as_elements(support, self.n, "the start"))


class State:
    """A set on its way: its value, the gains of moves from it, and the taking of a move.

    >>> from swapwise import Linear, Uniform
    >>> state = Linear([1, 3, 2]).start([0])
    >>> (grid,) = Uniform(3, 1).moves(state.support)
    >>> state.gains(grid)  # rows: what is added; columns: 0 is dropped, nothing is
    array([[-inf, -inf],
           [  2., -inf],
           [  1., -inf]])
    >>> from swapwise.budget import Budget
    >>> move, gain = state.find_best([grid], 0.0, Budget())
    >>> state.apply(move)
    >>> state.support, state.value
    (array([1]), 3.0)
    """

    support: IndexArray
    value: float
    #: How many values of f were computed so far, in closed form or by refitting.
    n_evaluations: int

    def __init__(self, objective: SetFunction, support: IndexArray) -> None:
        self.objective = objective
        self.n_evaluations = 0
        self._settle(support)

    def gains(self, moves: MoveBatch) -> FloatArray:
        """Return f after minus f before for every move; minus infinity where a grid has none."""
        listed = moves.to_list()
        self.n_evaluations += len(listed)
        values = [self.objective._value(move.result(self.support)) for move in listed.moves()]
        return moves.spread(np.array(values, dtype=np.float64) - self.value)

    def find_best(self, batches: Iterable[MoveBatch], incumbent: float, budget: Budget) -> Found | None:
        """Return the best move that gains more than ``incumbent``, or None; ties go to the first.

        Here every move is scored. An override may leave out moves that cannot be the best.
        """
        return best_of_batches(self, batches, incumbent, budget)

    def best_run(self, constraint: IndependenceSystem, tol: float, budget: Budget) -> list[Step]:
        """Make many best moves in one compiled call and return them; here none.

        They are those that :meth:`find_best` would find one by one, each gaining more than ``tol`` times the
        value. The run may end before a local optimum.
        """
        return []

    def resolution(self, tol: float) -> float:
        """Return what a gain must exceed to count as one: ``tol`` times the value, and more than rounding."""
        return tol * magnitude(self)

    def apply(self, move: Move) -> None:
        """Make a move."""
        self._settle(move.result(self.support))

    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value = float(self.objective._value(support))
        self.n_evaluations += 1


def magnitude(state: State) -> float:
    """Return the size of the values that gains are differences of: far smaller gains are rounding."""
    return max(abs(state.value), state.objective.scale)


#: Returns the moves of a batch without some that gain less than a given amount
Prune = Callable[[MoveBatch, float], MoveBatch]


def best_of_batches(
    state: State,
    batches: Iterable[MoveBatch],
    incumbent: float,
    budget: Budget,
    *,
    scores: Callable[[MoveBatch], FloatArray] | None = None,
    prune: Prune | None = None,
    are_cheap: Callable[[MoveBatch], bool] | None = None,
) -> Found | None:
    """Return the best move that gains more than ``incumbent``; ties go to the first in order.

    ``scores`` are the gains, unless a rule has its own. ``prune`` gets every batch and the best score so far.
    What is scored does not depend on where the clock cuts the batches into pieces.
    """
    found = None
    for batch in batches:
        reached = incumbent if found is None else found.score
        kept = batch if prune is None else prune(batch, reached)
        cheap = costs_little(state, kept) if are_cheap is None else are_cheap(kept)
        for piece in budget.pieces([kept], cheap):
            scored = state.gains(piece) if scores is None else scores(piece)
            index, score = piece.best(scored, magnitude(state))
            if index >= 0 and is_better(score, found, incumbent, magnitude(state)):
                found = Found(piece.move(index), score)
                budget.keep([Step(found.move, state.value + score)], score)
    return found


def is_better(score: float, found: Found | None, incumbent: float, scale: float) -> bool:
    """Tell whether a score beats the best so far by more than a tie."""
    if found is None:
        return score > incumbent
    return score > found.score + TIE * (abs(found.score) + scale)


def costs_little(state: State, moves: MoveBatch) -> bool:
    """Tell whether a batch is better scored as a whole: its gains are in closed form, or take a pass each."""
    if state.objective.streamed:
        return True
    return state.objective.closed_form_gains and (isinstance(moves, SwapGrid) or moves.to_list().are_swaps())


class SparseObjective(SetFunction):
    """``f(X) = max { u(w) : supp(w) ⊆ X } − u(0)`` for a concave differentiable ``u``.

    ``value_at`` is ``u(w) − u(0)``, so that the value of a set is that of its best coefficients.

    The nearest point to a target, with few non-zeros, from three short methods:

    >>> from swapwise import Uniform, maximize
    >>> class Nearest(SparseObjective):
    ...     def __init__(self, target):
    ...         self.target, self.n = target, len(target)
    ...     def _fit(self, support):
    ...         return float(self.target[support] @ self.target[support]) / 2, self.target[support]
    ...     def value_at(self, coef):
    ...         return float(self.target @ coef - coef @ coef / 2)
    ...     def gradient_at(self, coef):
    ...         return self.target - coef
    ...     def smoothness(self, t):
    ...         return 1.0
    >>> result = maximize(Nearest(np.array([1.0, -3.0, 2.0])), Uniform(3, 2), "non-oblivious")
    >>> result.support, result.coef
    (array([1, 2]), array([ 0., -3.,  2.]))
    """

    @abstractmethod
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        """Return f(support) and the maximising coefficients, one for each element of it."""

    @abstractmethod
    def value_at(self, coef: FloatArray) -> float:
        """Return ``u(w) − u(0)`` for a vector of length n."""

    @abstractmethod
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        """Return the gradient of ``u`` at a vector of length n."""

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return ``u(w) − u(0)`` and the gradient together, which may take one look at the data."""
        return self.value_at(coef), self.gradient_at(coef)

    def _value(self, support: IndexArray) -> float:
        return self._fit(support)[0]

    doubt = "the fit did not come to its end, or does not know how near that is"

    def upper_bound(self, support: IndexArray, clock: Clock | None = None) -> float:
        """Return what f(support) does not exceed: the value of a fit, and what its slope says it missed.

        A fit that would take long is made by steps that cost little, until the clock runs out; these prove
        nothing without curvature, so then it takes the time, or there is no more than the ceiling.
        """
        if not len(support):
            return 0.0
        seconds, clock = self.fit_seconds(support), clock or Clock()
        if seconds > QUICK_FIT and self.strong_concavity(self.n) > 0:
            from swapwise.objectives.climbed_bound import climbed_bound

            return climbed_bound(self, support, clock)
        if seconds > max(QUICK_FIT, clock.left()):
            return self.ceiling
        value, coef = self._fit(support)
        slope, curvature = self._slope_and_curvature(support, self._embed(support, coef))
        missed = self._missed(slope)
        if curvature is not None:
            missed = min(missed, self._model_gain(support, slope, curvature, value))
        return min(value + missed, self.ceiling)

    def _missed(self, slope: FloatArray) -> float:
        """Return how far from the best a point can be, by its slope in the coefficients that are free."""
        m = self.strong_concavity(self.n)
        return float(slope @ slope) / (2 * m) if m > 0 else np.inf

    def _slope_and_curvature(
        self, support: IndexArray, coef: FloatArray
    ) -> tuple[FloatArray, FloatArray | None]:
        """Return the slope in the coefficients of a set, and minus second derivatives if they are known."""
        slope = self.gradient_at(coef)[self.members(support)].ravel()
        return slope, self.hessian_at(coef, support) if self.single else None

    def _model_gain(
        self, support: IndexArray, slope: FloatArray, curvature: FloatArray, value: float
    ) -> float:
        """Return twice what a step to the top of the second-order model gains, if that is next to nothing.

        Then the fit has come to its end, and the model is a good one around it. Infinity if it has not, or if
        a direction is flat but for rounding, and not for certain: it may lead anywhere.
        """
        lengths = np.sqrt(np.maximum(np.diag(curvature), 0.0))
        lengths[lengths == 0] = 1.0
        sizes, directions = np.linalg.eigh(curvature / np.outer(lengths, lengths))
        flat = sizes <= FLAT
        if flat.any() and flat.sum() != self.dependencies(support, FLAT):
            return np.inf
        along = directions.T[~flat] @ (slope / lengths)
        gain = float((along**2 / sizes[~flat]).sum())
        return gain if gain <= CONVERGED * max(abs(value), self.scale) else np.inf

    def fit_seconds(self, support: IndexArray) -> float:
        """Return about how many seconds a fit takes in which no signal is heard; by default none."""
        return 0.0

    def coef(self, support: Iterable[int]) -> FloatArray:
        """Return the best coefficients on ``support``, as a vector of length n."""
        elements = as_elements(support, self.n, "the support")
        return self._embed(elements, self._fit(elements)[1])

    def _embed(self, support: IndexArray, values: FloatArray) -> FloatArray:
        coef = np.zeros(self.n)
        coef[support] = values
        return coef

    def start(self, support: Iterable[int] = ()) -> SparseState:
        """Return a state at ``support``, with coefficients and gradient."""
        return SparseState(self, as_elements(support, self.n, "the start"))

    def smoothness(self, t: int) -> float:
        """Return a valid M: ``u`` curves by at most M along directions with t non-zeros."""
        raise NotImplementedError(f"{type(self).__name__} does not know how smooth it is")

    def strong_concavity(self, t: int) -> float:
        """Return a valid m ≥ 0: ``u`` curves by at least m along directions with t non-zeros."""
        return 0.0

    #: Whether every element has one coefficient; else ``coef`` is longer than n, see :meth:`members`.
    single: bool = True

    def members(self, elements: IndexArray) -> IndexArray:
        """Return the rows of ``coef`` that belong to elements: one each, unless ``single`` is False."""
        return elements

    def sums_by_element(self, values: FloatArray) -> FloatArray:
        """Return for every element the sum of a value, in the shape of ``coef``, over its coefficients."""
        return values

    #: Whether ``u`` is a quadratic function: :meth:`curvature` is then minus its Hessian everywhere.
    quadratic: bool = False
    #: Whether minus the Hessian equals :meth:`curvature` at some point, if not everywhere.
    curvature_attained: bool = False

    def curvature(self, columns: IndexArray) -> FloatArray | None:
        """Return columns of a symmetric matrix C ⪰ −∇²u(w) for every w, or None if there is none known.

        One row an element of the ground set, one column an element asked for.
        """
        return None

    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        """Return minus the Hessian of ``u`` at a vector, for some elements; here by differences."""
        known = self.curvature(elements) if self.quadratic else None
        if known is not None:
            return known[elements]
        block = np.empty((len(elements), len(elements)))
        for column, element in enumerate(elements):
            step = 1e-5 * max(1.0, abs(coef[element]))
            ahead, behind = coef.copy(), coef.copy()
            ahead[element] += step
            behind[element] -= step
            slopes = self.gradient_at(behind)[elements] - self.gradient_at(ahead)[elements]
            block[:, column] = slopes / (2 * step)
        return (block + block.T) / 2

    def copies(self) -> IndexArray:
        """Return a number per element, the same for copies of each other, of which one is as good as all."""
        return np.arange(self.n)

    def dependencies(self, elements: IndexArray, least: float) -> int | None:
        """Return how many linear dependencies there are among elements, or None if that is not certain.

        Computed from the Hessian, at a unit diagonal, an eigenvalue of 1e-15 may as well be zero; but a
        direction in which a function is that flat may lead far, and be worth a lot. It is certain if
        eigenvalues below ``least`` are known to be zero.
        """
        return None

    def quadratic_model(self, state: SparseState, elements: IndexArray) -> SparseObjective | None:
        """Return the second-order model of ``u`` around a state, on some elements; None if it has none.

        Its elements are numbered by their places in ``elements``.
        """
        return None

    def promises(self, state: SparseState) -> FloatArray:
        """Return roughly what each element alone would add, to tell which are worth a closer look."""
        return state.pull

    def blocks(self, coef: FloatArray) -> list[Block]:
        """Return parts whose sum is ``u(w) − u(0)``, or none if ``u`` does not fall apart.

        They are to be such that few of them would leave ``coef``, if each had coefficients of its own.
        """
        return []

    def hessian_diagonal_bound(self) -> FloatArray:
        """Return a diagonal D ≥ 0 such that ``u(w) + wᵀDw/2`` is still concave."""
        return np.full(self.n, self.strong_concavity(self.n))


class Block(ABC):
    """A part of a sparse objective that sees only some of the elements.

    Where ``u(w) = Σ_b u_b(w)``, parts that may choose coefficients of their own only do better, so bounds of
    the parts add up to a bound of the whole.
    """

    #: The elements whose coefficients matter to the part
    elements: IndexArray
    #: How many numbers a bound is computed from
    cost: int

    @abstractmethod
    def bounds(self, subsets: IndexArray) -> FloatArray:
        """Return what the part does not exceed on sets of equal size, rows of positions in ``elements``."""


class SparseState(State):
    """A state that also has the coefficients and the gradient of ``u`` at them, both of length n.

    >>> from swapwise import LeastSquares
    >>> state = LeastSquares(np.eye(2), [1.0, 1.0]).start([0])
    >>> state.coef, state.gradient
    (array([1., 0.]), array([0., 1.]))
    """

    objective: SparseObjective
    _coef: FloatArray
    _gradient: FloatArray | None

    @property
    def coef(self) -> FloatArray:
        """The best coefficients on the support."""
        return self._coef

    @property
    def gradient(self) -> FloatArray:
        """The gradient of ``u`` at the coefficients; zero on the support."""
        if self._gradient is None:
            self._gradient = self.objective.gradient_at(self._coef)
            self._gradient[self.objective.members(self.support)] = 0.0
        return self._gradient

    @property
    def strength(self) -> FloatArray:
        """The squared length of every element's coefficients, of length n."""
        return self.objective.sums_by_element(self.coef**2)

    @property
    def pull(self) -> FloatArray:
        """The squared length of the gradient in every element's coefficients, of length n."""
        return self.objective.sums_by_element(self.gradient**2)

    def move_smoothness(self, moves: MoveBatch) -> FloatArray:
        """Return, for every move, a valid M in the directions that it touches."""
        listed = moves.to_list()
        sizes = (listed.added >= 0).sum(axis=1) + (listed.dropped >= 0).sum(axis=1)
        table = {int(t): self.objective.smoothness(int(t)) for t in np.unique(sizes)}
        return moves.spread(np.array([table[int(t)] for t in sizes], dtype=np.float64))

    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value, values = self.objective._fit(support)
        self._coef = self.objective._embed(support, values)
        self._gradient = None
        self.n_evaluations += 1
