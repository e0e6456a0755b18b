"""The contracts of objectives, with slow and obviously correct defaults.

To add a plain set function, write :meth:`SetFunction._value`; to add a sparse objective, write
``_fit``, ``value_at`` and ``gradient_at``. Everything else has a default that refits; override
``start`` with a state of your own where that pays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_elements
from swapwise.clock import Budget, Clock
from swapwise.constraints.base import Constraint
from swapwise.constraints.larger_moves import LargerMoves
from swapwise.moves import Found, Move, MoveBatch, MoveList, Run, Step, SwapGrid
from swapwise.numerics import EQUAL, ROUNDING, TIE
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.override import override

if TYPE_CHECKING:
    from swapwise.objectives.suprema import Margins

Scoring = Literal["closed form", "refit", "pass"]


class SetFunction(ABC):
    """A monotone set function ``f`` on ``0 .. n-1`` with ``f(∅) = 0``, to be maximised.

    See Also
    --------
    SparseObjective : functions of coefficients.
    CustomSetFunction : from a callable.
    State : a support during a search.

    Examples
    --------
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
    #: The cost of scoring moves: next to nothing, so that ``method="auto"`` scores all of them; a refit per
    #: move; or a pass over the data for all of them together.
    scoring: Scoring = "refit"
    #: Whether f is known never to fall when an element is added.
    monotone: bool = True
    #: Whether f is known to be submodular: what an element adds never grows with the set.
    submodular: bool = False
    #: Size of the values, if known beforehand: far smaller differences are rounding.
    scale: float = 0.0

    @property
    def n_passes(self) -> float | None:
        """How many times all of the data were read so far; None if that is not counted."""
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={getattr(self, 'n', '?')})"

    @abstractmethod
    def _value(self, support: IndexArray) -> float:
        """Return ``f`` of a sorted integer array."""

    def __call__(self, support: Iterable[int]) -> float:
        return float(self._value(as_elements(support, self.n, "the set")))

    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        """Return an upper bound on f(support), for certificates; without a set, one on all sets.

        By default that is the value itself, and infinity. For a sparse objective it is the value of the fit
        plus the largest further gain that its gradient allows. A value that takes long to compute is bounded,
        as well as that can be done before the clock runs out.
        """
        if support is None:
            return np.inf
        if isinstance(self, SparseObjective):
            from swapwise.objectives.fit_bounds import fit_bound

            return fit_bound(self, support, clock)
        return self._value(support)

    def resolution(self, value: float) -> float:
        """Return the least difference to this value that proofs can tell from rounding."""
        return EQUAL * abs(value) + ROUNDING * self.scale

    def layered(self, layers: FloatArray) -> SetFunction | None:
        """Return the potential of Filmus and Ward in closed form, or None if there is none.

        With ``layers[i] = ∫ D(p) (1 − p)^i dp`` for a density D on [0, 1], it is the set function ``Φ(S) = ∫
        D(p) E f(S(p)) / p dp``, where S(p) holds each element of S with probability p. An item that is
        covered c times counts ``layers[0] + … + layers[c − 1]`` times; see :mod:`swapwise.search.methods`.
        """
        return None

    def start(self, support: Iterable[int] = ()) -> State:
        """Return a state at ``support``, from which moves can be scored and taken."""
        return State(self, as_elements(support, self.n, "the start"))


class State:
    """A support during a search: its value, the gains of moves from it, and ``apply`` to make a move.

    See Also
    --------
    swapwise.SetFunction.start : returns one.
    SparseState : with coefficients.

    Examples
    --------
    >>> from swapwise import Linear, Uniform
    >>> state = Linear([1, 3, 2]).start([0])
    >>> (grid,) = Uniform(3, 1).moves(state.support)
    >>> state.gains(grid)  # a row per element added; columns: element 0 is dropped, nothing is dropped
    array([[-inf, -inf],
           [  2., -inf],
           [  1., -inf]])
    >>> from swapwise.clock import Budget
    >>> move, gain = state.find_best([grid], 0.0, Budget())
    >>> state.apply(move)
    >>> state.support, state.value
    (array([1]), 3.0)
    """

    support: IndexArray
    value: float
    #: Number of values of f computed so far, in closed form or by refitting.
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

        By default every move is scored. An override may skip moves that cannot be the best.
        """
        return best_of_batches(self, batches, incumbent, budget)

    def best_run(self, constraint: Constraint, tol: float, budget: Budget) -> Run:
        """Make many best moves in one compiled call and return them; by default none.

        They are the moves that :meth:`find_best` would find one by one, each gaining more than ``tol`` times
        the value. The run may end before a local optimum, unless it is marked as ending in one.
        """
        return Run()

    @property
    def magnitude(self) -> float:
        """The scale of the values that gains are differences of: far smaller gains are rounding."""
        return max(abs(self.value), self.objective.scale)

    @property
    def level(self) -> float:
        """A quantity that every move raises: the value, or a function of it that keeps more digits."""
        return self.value

    def resolution(self, tol: float) -> float:
        """Return the least gain that counts: ``tol`` times the value, and more than rounding."""
        return tol * self.magnitude

    def apply(self, move: Move) -> None:
        """Make a move."""
        self._settle(move.result(self.support))

    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value = float(self.objective._value(support))
        self.n_evaluations += 1


#: Drops moves of a batch that gain less than a given amount
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
    Scores do not depend on where the clock cuts the batches into pieces.
    """
    found = None
    for batch in chain.from_iterable(whole.parts() for whole in batches):
        reached = incumbent if found is None else found.score
        if isinstance(batch, LargerMoves):
            found = _best_larger(state, batch, reached, budget, scores or state.gains, are_cheap) or found
            continue
        kept = batch if prune is None else prune(batch, reached)
        cheap = costs_little(state, kept) if are_cheap is None else are_cheap(kept)
        for piece in budget.pieces([kept], cheap):
            scored = state.gains(piece) if scores is None else scores(piece)
            index, score = piece.best(scored, state.magnitude)
            if index >= 0 and is_better(score, found, incumbent, state.magnitude):
                found = Found(piece.move(index), score)
                budget.keep([Step(found.move, state.value + score)], score)
    return found


def _best_larger(
    state: State,
    moves: LargerMoves,
    incumbent: float,
    budget: Budget,
    scores: Callable[[MoveBatch], FloatArray],
    are_cheap: Callable[[MoveBatch], bool] | None,
) -> Found | None:
    """Return the best of moves that are composed part by part; parts that score too little are not extended.

    No drop gains anything, so the score of a part bounds the scores of all moves that contain it.
    """
    found, least = None, np.array(incumbent)

    def checked(listed: MoveList) -> FloatArray:
        cheap = costs_little(state, listed) if are_cheap is None else are_cheap(listed)
        pieces = budget.pieces([listed], cheap) if len(listed) else ()
        return np.concatenate([np.empty(0), *(scores(piece) for piece in pieces)])

    for listed, scored in moves.search(checked, least):
        index, score = listed.best(scored, state.magnitude)
        if is_better(score, found, incumbent, state.magnitude):
            found = Found(listed.move(index), score)
            least[()] = score
            budget.keep([Step(found.move, state.value + score)], score)
    return found


def best_by_element(state: State, moves: MoveBatch) -> FloatArray:
    """Return, for each element, the gain of the best of the given moves that adds it; 0 if none improves."""
    gains, listed = np.zeros(state.objective.n), moves.to_list()
    scores = state.gains(listed)
    for added in listed.added.T:
        there = added >= 0
        np.maximum.at(gains, added[there], scores[there])
    return gains


def is_better(score: float, found: Found | None, incumbent: float, scale: float) -> bool:
    if found is None:
        return score > incumbent
    return score > found.score + TIE * (abs(found.score) + scale)


def costs_little(state: State, moves: MoveBatch) -> bool:
    if state.objective.scoring != "closed form":
        return state.objective.scoring == "pass"
    return isinstance(moves, SwapGrid) or moves.to_list().are_swaps()


class SparseObjective(SetFunction):
    """``f(X) = max { u(w) : supp(w) ⊆ X } − u(0)`` for a concave differentiable ``u``.

    With ``bounds``, the maximum is over the coefficients within them. ``value_at`` is ``u(w) − u(0)``, so
    that the value of a set is that of its best coefficients.

    See Also
    --------
    CustomObjective : from a callable.
    SparseState : a support during a search, with coefficients.
    check_objective : whether a new one is right.

    Examples
    --------
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

    def value_and_gradient_at(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return :meth:`value_at` and :meth:`gradient_at`; overrides save what both would compute."""
        return self.value_at(coef), self.gradient_at(coef)

    @override
    def _value(self, support: IndexArray) -> float:
        return self._fit(support)[0]

    def coef(self, support: Iterable[int]) -> FloatArray:
        """Return the best coefficients on ``support``, as a vector of length n."""
        elements = as_elements(support, self.n, "the support")
        return embed(self, elements, self._fit(elements)[1])

    @override
    def start(self, support: Iterable[int] = ()) -> SparseState:
        return SparseState(self, as_elements(support, self.n, "the start"))

    def smoothness(self, t: int) -> float:
        """Return a valid M: ``u`` curves by at most M along directions with t non-zeros."""
        raise NotImplementedError(f"{type(self).__name__} does not know how smooth it is")

    def strong_concavity(self, t: int) -> float:
        """Return a valid m ≥ 0: ``u`` curves by at least m along directions with t non-zeros."""
        return 0.0

    def dependencies(self, elements: IndexArray, least: float) -> int | None:
        """Return the number of linear dependencies among the coefficients of elements; None if not certain.

        It is certain if eigenvalues of minus the Hessian, at a unit diagonal, that are below ``least`` are
        known to be zero: one of 1e-15 may as well be rounding, but a direction in which ``u`` is that flat
        may lead far.
        """
        return None

    #: Which coefficients belong to each element; None if every element has one.
    groups: Groups | None = None
    #: Bounds on coefficients; None if there are none. Maxima are those within the bounds.
    bounds: CoefficientBounds | None = None
    #: Whether states have a second-order model (:meth:`swapwise.extending.SparseState.model`), as
    #: ``start="model"`` needs.
    second_order: bool = False
    #: Whether gradients rank the moves of large problems well: the non-oblivious rule is then the default.
    ranks_by_gradient: bool = False
    #: What :meth:`curvature` is: a bound on minus the Hessian, a bound that is attained at some point, or
    #: minus the Hessian everywhere, where ``u`` is a quadratic function.
    curvature_is: Literal["bound", "attained", "hessian"] = "bound"

    def curvature(self, columns: IndexArray) -> FloatArray | None:
        """Return columns of a symmetric matrix C ⪰ −∇²u(w) for every w, or None if none is known.

        One row per element of the ground set, one column per element of ``columns``.
        """
        return None

    def doubt_at(self, coef: FloatArray) -> float:
        """Return by how much the tangent of ``u`` at coefficients may be too low, infinity if it is unknown.

        It is 0 unless ``u`` is a maximum over other parameters, such as an intercept, that are fitted along.
        """
        return 0.0

    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        """Return minus the Hessian of ``u`` at coefficients, for those of some elements; here by differences.

        Rows and columns are in the order of ``coef[rows_of(self, elements)].ravel()``: all numbers of the
        first row of ``coef``, then those of the next. Where ``u`` is a sum over the columns of ``coef`` that
        all curve alike (several responses), it may be what holds for each column instead, with one row per
        row of ``coef``.
        """
        known = self.curvature(elements) if self.curvature_is == "hessian" else None
        if known is not None:
            return known[elements]
        rows = rows_of(self, elements)
        at = coef[rows].ravel()
        block = np.empty((len(at), len(at)))
        for column, value in enumerate(at):
            step = 1e-5 * max(1.0, abs(value))
            slopes = []
            for moved in (value - step, value + step):
                point, there = coef.copy(), at.copy()
                there[column] = moved
                point[rows] = there.reshape(point[rows].shape)
                slopes.append(self.gradient_at(point)[rows].ravel())
            block[:, column] = (slopes[0] - slopes[1]) / (2 * step)
        return (block + block.T) / 2

    def restricted(self, elements: IndexArray) -> SparseObjective:
        """Return the objective on some elements, in increasing order, numbered by their positions.

        Rows of its ``coef`` are those of ``coef[rows_of(self, elements)]``. By default it calls this
        objective for everything; overrides copy the data of these elements, and read nothing else.
        """
        from swapwise.objectives.restricted import RestrictedObjective

        return RestrictedObjective(self, elements)

    def sample_curvature(self, coef: FloatArray) -> SampleCurvature | None:
        """Return minus the Hessian at coefficients as inner products of columns, None if it has no such
        form.
        """
        return None

    def margins(self, support: IndexArray) -> Margins | None:
        """Return ``u`` on a set as a function of the margins of classes; None if it has no such form.

        For bounds on values of sets on which classes are separable, so that ``u`` has no maximum.
        """
        return None

    def summands(self, coef: FloatArray) -> list[Summand]:
        """Return parts whose sum is ``u(w) − u(0)``, or none if ``u`` is not a sum of such parts.

        They should be such that, with coefficients of their own, few of them would leave ``coef``.
        """
        return []


class SampleCurvature(NamedTuple):
    """Minus a Hessian as ``Σ_s weight_s x_s x_sᵀ + diag(penalty)``."""

    #: Returns the columns of some coefficients, one per row
    columns: Callable[[IndexArray], FloatArray]
    weight: FloatArray
    #: One number per coefficient
    penalty: FloatArray
    #: Whether columns are centred at their weighted means, as they are where an intercept is fitted along
    centred: bool = False


class Summand(ABC):
    """A part of a sparse objective that depends on only some of the elements.

    Where ``u(w) = Σ_b u_b(w)``, parts that may choose coefficients of their own only do better, so bounds of
    the parts add up to a bound of the whole.
    """

    #: The elements whose coefficients the part depends on
    elements: IndexArray
    #: Number of entries that a bound is computed from
    cost: int

    @abstractmethod
    def bounds(self, subsets: IndexArray) -> FloatArray:
        """Return upper bounds of the part on sets of equal size, rows of positions in ``elements``."""

    def bound_among(
        self,
        held: IndexArray,
        candidates: IndexArray,
        sizes: tuple[int, int],
        prices: FloatArray,
        target: float = -np.inf,
    ) -> tuple[float, FloatArray]:
        """Return an upper bound of the part on sets of all of ``held`` and some of the candidates.

        The number of candidates chosen lies between the two ``sizes``, and each adds its price to the bound.
        The second answer is roughly how much lower the bound would be without each candidate. Both guide a
        search for the sets that matter; with no bound, as by default, the search goes through all sets. A
        bound below ``target`` need not be any better.
        """
        return np.inf, np.zeros(len(candidates))


class SparseState(State):
    """A state with the coefficients and the gradient of ``u`` at them, both of length n.

    See Also
    --------
    State : without coefficients.
    SparseObjective : what makes one.

    Examples
    --------
    >>> from swapwise import LeastSquares
    >>> state = LeastSquares(np.eye(2), [1.0, 1.0]).start([0])
    >>> state.coef, state.gradient
    (array([1., 0.]), array([0., 1.]))
    """

    def __init__(self, objective: SparseObjective, support: IndexArray) -> None:
        self.objective: SparseObjective
        self._coef: FloatArray
        self._gradient: FloatArray | None  # computed on first use
        super().__init__(objective, support)

    @property
    def coef(self) -> FloatArray:
        """The best coefficients on the support."""
        return self._coef

    @property
    def gradient(self) -> FloatArray:
        """The gradient of ``u`` at the coefficients; zero on the support, and where a bound blocks it."""
        if self._gradient is None:
            self._gradient = self.objective.gradient_at(self._coef)
            self._gradient[rows_of(self.objective, self.support)] = 0.0
            if self.objective.bounds is not None:
                self._gradient = self.objective.bounds.projected(self._gradient, self._coef)
        return self._gradient

    def screening_scores(self) -> FloatArray:
        """Return cheap estimates of what each element alone would add."""
        return gradient_norms2(self)

    def exchange_scores(self) -> FloatArray:
        """Return cheap estimates of what each element would add in place of a chosen one."""
        return self.screening_scores()

    def model(self, elements: IndexArray, damping: float = 0.0) -> SparseObjective | None:
        """Return the second-order model of ``u`` around the fit, on some elements; None if there is none.

        Its elements are numbered by their positions in ``elements``. See ``SparseObjective.second_order``.
        The curvature is that at the fit or, with ``damping``, its mean over the last part of the segment from
        zero to the fit: a worse model near the fit, and a better one of sets that share less with it.
        """
        return None

    def move_smoothness(self, moves: MoveBatch) -> FloatArray:
        """Return, for every move, a valid M in the directions of the elements that it adds or drops."""
        listed = moves.to_list()
        sizes = (listed.added >= 0).sum(axis=1) + (listed.dropped >= 0).sum(axis=1)
        table = {int(t): self.objective.smoothness(int(t)) for t in np.unique(sizes)}
        return moves.spread(np.array([table[int(t)] for t in sizes], dtype=np.float64))

    @override
    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value, values = self.objective._fit(support)
        self._coef = embed(self.objective, support, values)
        self._gradient = None
        self.n_evaluations += 1


class Groups:
    """Which coefficients belong to each element, where elements have several: groups of columns, classes.

    The rows of ``coef`` that belong to element e are ``rows[begin[e] : begin[e + 1]]``.

    >>> groups = Groups(np.array([0, 2, 3]), np.array([0, 2, 1]))  # element 0 has rows 0 and 2
    >>> groups.members(np.array([0]))
    array([0, 2])
    >>> groups.sums(np.array([1.0, 5.0, 2.0]))
    array([3., 5.])
    """

    def __init__(self, begin: IndexArray, rows: IndexArray) -> None:
        self.begin, self.rows = begin, rows
        self._are_single = len(begin) == len(rows) + 1 and bool((rows == np.arange(len(rows))).all())

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def largest(self) -> int:
        return int(np.diff(self.begin).max(initial=0))

    def members(self, elements: IndexArray) -> IndexArray:
        if self._are_single:
            return elements
        parts = [self.rows[self.begin[e] : self.begin[e + 1]] for e in elements]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)

    def restricted(self, elements: IndexArray) -> Groups:
        if self._are_single:
            return single_groups(len(elements))
        sizes = self.begin[elements + 1] - self.begin[elements]
        return Groups(np.append(0, np.cumsum(sizes)).astype(np.intp), np.arange(int(sizes.sum())))

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum over each element's coefficients of values in the shape of ``coef``."""
        by_row = values.reshape(self.n_rows, -1).sum(axis=1)
        sums: FloatArray = np.add.reduceat(by_row[self.rows], self.begin[:-1])
        return sums


@lru_cache(maxsize=64)
def single_groups(n: int) -> Groups:
    return Groups(np.arange(n + 1), np.arange(n))


def read_groups(groups: Iterable[Hashable] | None, n_features: int) -> tuple[Groups, list[Hashable] | None]:
    """Return which columns belong to each group, and the labels in order of appearance."""
    if groups is None:
        return single_groups(n_features), None
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise TypeError(f"groups must hold one label for each column, got {groups!r}")
    number: dict[Hashable, int] = {}
    codes = np.array([number.setdefault(label, len(number)) for label in groups], dtype=np.intp)
    if len(codes) != n_features:
        raise ValueError(f"groups must hold one label for each of the {n_features} columns, got {len(codes)}")
    sizes = np.bincount(codes, minlength=len(number))
    begin = np.append(0, np.cumsum(sizes)).astype(np.intp)
    return Groups(begin, np.argsort(codes, kind="stable")), list(number)


def rows_of(objective: SparseObjective, elements: IndexArray) -> IndexArray:
    return elements if objective.groups is None else objective.groups.members(elements)


def by_element(objective: SparseObjective, values: FloatArray) -> FloatArray:
    """Return sums over the coefficients of each element, of values in the shape of ``coef``."""
    return values if objective.groups is None else objective.groups.sums(values)


def known_smoothness(objective: SparseObjective, t: int) -> float:
    """Return the M of directions with t non-zeros, infinity if the objective knows none."""
    try:
        return float(objective.smoothness(t))
    except NotImplementedError:
        return np.inf


def knows_smoothness(objective: SetFunction) -> bool:
    return isinstance(objective, SparseObjective) and known_smoothness(objective, 1) < np.inf


def embed(objective: SparseObjective, support: IndexArray, values: FloatArray) -> FloatArray:
    """Return the coefficients of a set as those of all elements, zero outside."""
    rows = objective.n if objective.groups is None else objective.groups.n_rows
    coef = np.zeros((rows, *np.shape(values)[1:]))
    coef[rows_of(objective, support)] = values
    return coef


def elements_at_bound(objective: SparseObjective, support: IndexArray, coef: FloatArray) -> IndexArray:
    """Return the elements of a set with a coefficient at one of its bounds.

    >>> from swapwise import LeastSquares
    >>> f = LeastSquares(np.eye(2), [3.0, 1.0], bounds=(0, 2))
    >>> elements_at_bound(f, np.array([0, 1]), f.coef([0, 1]))
    array([0])
    """
    if objective.bounds is None:
        return support[:0]
    count = by_element(objective, objective.bounds.at_bound(coef).astype(np.float64))
    return support[count[support] > 0]


def element_norms2(objective: SparseObjective, values: FloatArray) -> FloatArray:
    return by_element(objective, values**2)


def coef_norms2(state: SparseState) -> FloatArray:
    return element_norms2(state.objective, state.coef)


def gradient_norms2(state: SparseState) -> FloatArray:
    return element_norms2(state.objective, state.gradient)
