"""Pivot rules score moves (Algorithms 3 and 4 of the paper), and acceptance rules choose the move to make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import partial
from itertools import chain, groupby, takewhile

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_real
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid
from swapwise.moves import Found, MoveBatch, MoveList, Step, SwapGrid, additions
from swapwise.numerics import TIE
from swapwise.objectives.base import (
    SetFunction,
    SparseObjective,
    SparseState,
    State,
    best_of_batches,
    by_element,
    coef_norms2,
    costs_little,
    gradient_norms2,
    knows_smoothness,
    single_groups,
)
from swapwise.objectives.least_squares.state import LeastSquaresState
from swapwise.override import override
from swapwise.search.result import Status


class Pivot(ABC):
    """Scores batches of moves. Write :meth:`batches`, and :meth:`scores` if they are not the exact gains."""

    name: str
    #: Why the search stops when no move is good enough.
    finished: Status = Status.LOCAL_OPTIMUM
    #: What a chosen move that does not raise the value means.
    failure_hint: str = "the objective gave two values for the same set (is it random? then fix its seed)"

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def missing(self, objective: SetFunction) -> str | None:
        """Return what the rule needs and the objective lacks, or None."""
        return None

    @abstractmethod
    def batches(self, state: State, constraint: Constraint, q: int) -> Iterator[MoveBatch]:
        """Yield the moves worth scoring."""

    def scores(self, state: State, moves: MoveBatch) -> FloatArray:
        """Return a score for every move: here its exact gain."""
        return state.gains(moves)

    def find_best(
        self, state: State, constraint: Constraint, q: int, incumbent: float, budget: Budget
    ) -> Found | None:
        """Return the move with the best score above ``incumbent``, or None; ties go to the first."""
        return self._best_of(self.batches(state, constraint, q), state, incumbent, budget)

    def find_smallest(
        self, state: State, constraint: Constraint, q: int, incumbent: float, budget: Budget
    ) -> Found | None:
        """Return the best of the smallest moves with a score above ``incumbent``, or None.

        Moves that add more elements are scored only if no smaller move has such a score.
        """
        batches = self.batches(state, constraint, q)
        for size, of_one_size in groupby(batches, key=lambda batch: batch.effort):
            larger = self._larger(state, constraint, q, incumbent, budget) if size > 1 else None
            if larger is not None:
                return self._best_of(larger, state, incumbent, budget)
            found = self._best_of(of_one_size, state, incumbent, budget)
            if found is not None:
                return found
        return None

    def _larger(
        self, state: State, constraint: Constraint, q: int, incumbent: float, budget: Budget
    ) -> Iterator[MoveBatch] | None:
        """Return the moves that add several elements and may score enough; None if any of them may."""
        return None

    def _best_of(
        self, batches: Iterator[MoveBatch], state: State, incumbent: float, budget: Budget
    ) -> Found | None:
        if type(self).scores is Pivot.scores:
            return state.find_best(batches, incumbent, budget)  # which may leave out what cannot be the best
        scores, are_cheap = partial(self.scores, state), partial(self.are_cheap, state)
        return best_of_batches(state, batches, incumbent, budget, scores=scores, are_cheap=are_cheap)

    def are_cheap(self, state: State, moves: MoveBatch) -> bool:
        """Return whether moves are scored in one go; else a search can stop between pieces of them."""
        return costs_little(state, moves)


class Oblivious(Pivot):
    """Score every feasible move by its exact gain.

    The paper's Algorithms 1 and 2. It costs a refit per pair of elements in general, and one pass over a
    small matrix where gains are in closed form.

    See Also
    --------
    SemiOblivious, NonOblivious : the cheaper rules.
    maximize : what it is given to.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> from swapwise import Coverage, Oblivious, Uniform, maximize
    >>> maximize(Coverage([{1, 2}, {2, 3}, {4}]), Uniform(3, 2), Oblivious()).support
    array([0, 1])
    """

    name = "oblivious"

    @override
    def batches(self, state: State, constraint: Constraint, q: int) -> Iterator[MoveBatch]:
        return constraint.moves(state.support, q)


class Additions(Pivot):
    """Score additions only, by their exact gain: the greedy algorithm."""

    name = "greedy"
    finished = Status.COMPLETE

    @override
    def batches(self, state: State, constraint: Constraint, q: int) -> Iterator[MoveBatch]:
        yield additions(constraint.addable(state.support))


class OneAtATime(Oblivious):
    @override
    def batches(self, state: State, constraint: Constraint, q: int) -> Iterator[MoveBatch]:
        return takewhile(_adds_one, constraint.moves(state.support, q))


class _OnCoefficients(Pivot):
    @override
    def missing(self, objective: SetFunction) -> str | None:
        if isinstance(objective, SparseObjective):
            return None
        return "coefficients and gradients (it is a plain set function, not a SparseObjective)"

    @override
    def _larger(
        self, state: State, constraint: Constraint, q: int, incumbent: float, budget: Budget
    ) -> Iterator[MoveBatch] | None:
        # No score of a move is above its gain; least squares find moves of large gain without a list of all.
        assert isinstance(state, SparseState)
        if not isinstance(state, LeastSquaresState):
            return None
        elements = state.elements_of_larger(constraint.moves(state.support, q), incumbent, budget)
        if elements is None:
            return None
        batches = (moves for moves in constraint.moves(state.support, q, elements) if moves.n_added > 1)
        return self._worth_scoring(batches, state)

    def _worth_scoring(self, batches: Iterator[MoveBatch], state: SparseState) -> Iterator[MoveBatch]:
        """Yield the moves to score: here those with the cheapest drops."""
        return (moves.cheapest(coef_norms2(state)) for moves in batches)


class SemiOblivious(_OnCoefficients):
    """For each element to add, drop the smallest squared coefficients that make room for it.

    Only those moves are scored by their exact gain: n of them, not n times the size of the set. It is the
    rule by that name in the paper's Algorithms 3, 4 and 5.

    See Also
    --------
    Oblivious : scores all swaps.
    NonOblivious : scores none by its value.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import LeastSquares, SemiOblivious, Uniform, maximize
    >>> maximize(LeastSquares(np.eye(3), [1.0, 3.0, 2.0]), Uniform(3, 2), SemiOblivious()).support
    array([1, 2])
    """

    name = "semi-oblivious"

    @override
    def batches(self, state: State, constraint: Constraint, q: int) -> Iterator[MoveBatch]:
        assert isinstance(state, SparseState)
        yield from constraint.cheapest_drops(state.support, coef_norms2(state), q)


class NonOblivious(_OnCoefficients):
    r"""Score moves by a lower bound of their gain.

    .. math:: \frac{1}{2M} \sum_{j\,\text{added}} (∇u)_j^2 - \frac{M}{2} \sum_{i\,\text{dropped}} w_i^2

    No value of f is needed to choose a move, only the gradient. With bounds on coefficients, the bound is
    ``Σ_added (g_j t_j − M t_j²/2) − Σ_dropped (g_i w_i + M w_i²/2)`` with the step ``t_j = g_j/M`` cut to the
    bounds: a dropped coefficient may have a slope that its bound held back.

    Parameters
    ----------
    smoothness : "move", "global" or a positive number
        The M of the formula. ``"move"`` takes the tightest valid one for each move, ``"global"`` one
        for all, ``objective.smoothness(t)`` (a bound on M_{s,t}, and often above it), a number exactly that:
        the smoothness of ``u`` as the objective scales it (for :class:`LeastSquares`, R²). The rule of the
        paper's Algorithms 3, 4 and 5 has one M; that with M_{s,t} itself, where this is known, is
        ``NonOblivious(float(restricted_constants(objective, s, t).M_st))``. With one M for all moves and
        q > 1, the best move comes from a small integer program where the constraint has one; with
        ``"move"``, from going through them all.

    See Also
    --------
    Oblivious : scores all swaps by their values.
    SemiOblivious : in between.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import LeastSquares, NonOblivious, Uniform, maximize
    >>> f = LeastSquares(np.eye(3), [1.0, 3.0, 2.0])
    >>> maximize(f, Uniform(3, 2), NonOblivious(smoothness="global")).support
    array([1, 2])
    """

    name = "non-oblivious"
    failure_hint = "the smoothness constant is too small or the gradient is wrong"

    def __init__(self, smoothness: str | float = "move") -> None:
        if isinstance(smoothness, str):
            if smoothness not in ("move", "global"):
                raise ValueError(
                    f"smoothness must be 'move', 'global' or a positive number, got {smoothness!r}"
                )
            self.smoothness: str | float = smoothness
        else:
            self.smoothness = as_real(smoothness, "smoothness", positive=True)

    @override
    def __repr__(self) -> str:
        return f"NonOblivious(smoothness={self.smoothness!r})"

    @override
    def missing(self, objective: SetFunction) -> str | None:
        lacks = super().missing(objective)
        if lacks is None and isinstance(self.smoothness, str) and not knows_smoothness(objective):
            return "a smoothness constant (give one yourself: NonOblivious(smoothness=...))"
        return lacks

    @override
    def batches(self, state: State, constraint: Constraint, q: int) -> Iterator[MoveBatch]:
        assert isinstance(state, SparseState)
        if self.smoothness == "move":
            yield from constraint.moves(state.support, q)
        elif q == 1:
            yield from constraint.cheapest_drops(state.support, self._drop_costs(state, constraint, q), q)
        else:
            yield self._best_exchange(state, constraint, q, Budget())

    @override
    def find_best(
        self, state: State, constraint: Constraint, q: int, incumbent: float, budget: Budget
    ) -> Found | None:
        assert isinstance(state, SparseState)
        if self.smoothness != "move" and q > 1:
            batches: Iterator[MoveBatch] = iter([self._best_exchange(state, constraint, q, budget)])
        elif self.smoothness == "move" and q == 1 and not isinstance(constraint, Matroid):
            # Under a matroid all swaps are one grid, and cheap; elsewhere they are long lists.
            cheapest = MoveList.joined(constraint.cheapest_drops(state.support, coef_norms2(state)))
            batches = constraint.moves(state.support, q, self._unpruned(state, cheapest))
        else:
            batches = self.batches(state, constraint, q)
        return self._best_of(batches, state, incumbent, budget)

    @override
    def find_smallest(
        self, state: State, constraint: Constraint, q: int, incumbent: float, budget: Budget
    ) -> Found | None:
        assert isinstance(state, SparseState)
        if q > 1 or self.smoothness != "move" or adds_one(constraint, q):
            find = self.find_best if q > 1 or self.smoothness == "move" else super().find_smallest
            return find(state, constraint, q, incumbent, budget)
        cheapest = constraint.cheapest_drops(state.support, coef_norms2(state), q)
        candidates = self._unpruned(state, MoveList.joined(takewhile(_adds_one, cheapest)))
        singles = takewhile(_adds_one, constraint.moves(state.support, q, candidates))
        found = self._best_of(singles, state, incumbent, budget)
        if found is not None:
            return found
        larger = self._larger(state, constraint, q, incumbent, budget)
        if larger is not None:
            return self._best_of(larger, state, incumbent, budget)
        return self.find_best(state, constraint, q, incumbent, budget)

    @override
    def _larger(
        self, state: State, constraint: Constraint, q: int, incumbent: float, budget: Budget
    ) -> Iterator[MoveBatch] | None:
        is_bound = isinstance(self.smoothness, str)
        return super()._larger(state, constraint, q, incumbent, budget) if is_bound else None

    @override
    def _worth_scoring(self, batches: Iterator[MoveBatch], state: SparseState) -> Iterator[MoveBatch]:
        return batches if self.smoothness == "move" else super()._worth_scoring(batches, state)

    @override
    def are_cheap(self, state: State, moves: MoveBatch) -> bool:
        return True

    def _best_exchange(self, state: SparseState, constraint: Constraint, q: int, budget: Budget) -> MoveList:
        """Return the best move with one M for all: a linear maximisation over the neighbourhood."""
        M = self._one_constant(state, constraint.exchange_size(q))
        gain = _gains(state, np.arange(state.objective.n), np.array(M))
        return constraint.best_exchange(state.support, gain, self._costs(state, M), q, budget.clock)

    def _drop_costs(self, state: SparseState, constraint: Constraint, q: int) -> FloatArray:
        if state.objective.bounds is None:
            return coef_norms2(state)
        return self._costs(state, self._one_constant(state, constraint.exchange_size(q)))

    def _costs(self, state: SparseState, M: float) -> FloatArray:
        return M / 2 * coef_norms2(state) + _held_back(state)

    def _unpruned(self, state: SparseState, cheapest: MoveList) -> IndexArray:
        """Return the elements that the best move can add, from the scores of the cheapest drops alone.

        A score falls with M, and M only grows with what a move drops. So no move that adds j scores more than
        j would with its own M, the cheapest drop and no bounds; and the best scores no less than the best of
        the cheapest drops does.
        """
        reached = self.scores(state, cheapest)
        alone = MoveList(cheapest.added, cheapest.dropped[:, :0])
        M = np.maximum(state.move_smoothness(alone), np.finfo(float).tiny)
        gained = _sum_of_gains(state, cheapest.added, M)
        bound = gained - M * cheapest.sums(cheapest.dropped, coef_norms2(state)) / 2
        best = float(reached.max(initial=0.0))
        unpruned = cheapest.added[bound >= best - TIE * (best + state.magnitude)]
        return np.unique(unpruned[unpruned >= 0])

    @override
    def scores(self, state: State, moves: MoveBatch) -> FloatArray:
        assert isinstance(state, SparseState)
        coef, held_back = coef_norms2(state), _held_back(state)
        M = np.maximum(self._constants(state, moves), 0.0)  # there is none where a grid has no move
        if isinstance(moves, SwapGrid):
            loss = M * np.append(coef[moves.drops], 0.0) / 2 + np.append(held_back[moves.drops], 0.0)
            gained = _gains(state, np.arange(state.objective.n)[:, None], M)
            return np.where(moves.useful, gained - loss, -np.inf)
        listed = moves.to_list()
        lost = M * listed.sums(listed.dropped, coef) / 2 + listed.sums(listed.dropped, held_back)
        return _sum_of_gains(state, listed.added, M) - lost

    def _constants(self, state: SparseState, moves: MoveBatch) -> FloatArray | float:
        if self.smoothness == "move":
            return state.move_smoothness(moves)
        listed = moves.to_list()
        return self._one_constant(state, listed.added.shape[1] + listed.dropped.shape[1])

    def _one_constant(self, state: SparseState, t: int) -> float:
        return state.objective.smoothness(t) if self.smoothness == "global" else float(self.smoothness)


class Acceptance(ABC):
    def __init__(self, tol: float) -> None:
        self.tol = tol

    @abstractmethod
    def pick(self, rule: Pivot, state: State, constraint: Constraint, q: int, budget: Budget) -> Found | None:
        """Return the move to make, or None."""


class BestImprovement(Acceptance):
    """Make the best move if it improves at all: Algorithms 1 to 4 of the paper."""

    @override
    def pick(self, rule: Pivot, state: State, constraint: Constraint, q: int, budget: Budget) -> Found | None:
        return rule.find_best(state, constraint, q, state.resolution(self.tol), budget)


class SmallestImprovement(BestImprovement):
    @override
    def pick(self, rule: Pivot, state: State, constraint: Constraint, q: int, budget: Budget) -> Found | None:
        find = rule.find_best if adds_one(constraint, q) else rule.find_smallest
        return find(state, constraint, q, state.resolution(self.tol), budget)


class GeometricImprovement(Acceptance):
    """Make the first move whose score is at least ``delta · f(X)``: Algorithm 5 of the paper."""

    def __init__(self, delta: float, tol: float) -> None:
        super().__init__(tol)
        self.delta = delta

    @override
    def pick(self, rule: Pivot, state: State, constraint: Constraint, q: int, budget: Budget) -> Found | None:
        least = state.resolution(self.tol)
        for batch in chain.from_iterable(whole.parts() for whole in rule.batches(state, constraint, q)):
            for moves in budget.pieces([batch], rule.are_cheap(state, batch)):
                scores = rule.scores(state, moves)
                good = (scores >= self.delta * state.value) & (scores > least)
                if good.any():
                    index = int(np.argmax(good))
                    return Found(moves.move(index), float(scores.flat[index]))
        return None


def adds_one(constraint: Constraint, q: int) -> bool:
    return isinstance(constraint, Matroid) or (q == 1 and constraint.group_limits() is not None)


def _quotient(gradient: FloatArray, curvature: FloatArray) -> FloatArray:
    """Divide, with 0 where nothing curves: columns of zeros have no gradient but rounding."""
    shape = np.broadcast_shapes(gradient.shape, curvature.shape)
    return np.divide(gradient, curvature, out=np.zeros(shape), where=curvature > 0)


def _gains(state: SparseState, elements: IndexArray, M: FloatArray) -> FloatArray:
    """Return lower bounds on the gains of elements where u curves by at most M, each with its own M.

    That is ``max over t of ⟨g_j, t⟩ − M ‖t‖²/2``, or ``‖g_j‖²/2M`` without bounds.
    """
    objective = state.objective
    if objective.bounds is None:
        return _quotient(gradient_norms2(state)[elements], 2 * M)
    shape = np.broadcast_shapes(elements.shape, np.shape(M))
    every, curved = np.broadcast_to(elements, shape).ravel(), np.broadcast_to(M, shape).ravel()
    groups = single_groups(objective.n) if objective.groups is None else objective.groups
    sizes, rows = groups.begin[every + 1] - groups.begin[every], groups.members(every)
    curved = np.repeat(curved, sizes)[:, None]
    slope = state.gradient.reshape(len(state.gradient), -1)[rows]
    step = np.clip(_quotient(slope, curved), *(end[rows][:, None] for end in objective.bounds.ends))
    by_row = (step * (slope - curved * step / 2)).sum(axis=1)
    gains: FloatArray = np.add.reduceat(by_row, np.append(0, np.cumsum(sizes))[:-1]) if len(rows) else by_row
    return gains.reshape(shape)


def _sum_of_gains(state: SparseState, added: IndexArray, M: FloatArray) -> FloatArray:
    """Return lower bounds on the gains of the elements of each row together; −1 stands for none."""
    if state.objective.bounds is None:
        return _quotient(MoveList.sums(added, gradient_norms2(state)), 2 * M)
    curved = np.broadcast_to(np.reshape(M, (-1, 1)), added.shape)
    return np.where(added >= 0, _gains(state, np.maximum(added, 0), curved), 0.0).sum(axis=1)


def _held_back(state: SparseState) -> FloatArray:
    """Return ``⟨g_i, w_i⟩`` for each element: the slope that its bounds hold back, 0 unless it is at one."""
    objective, coef = state.objective, state.coef
    nothing = np.zeros(objective.n)
    if objective.bounds is None:
        return nothing
    by_row = (coef.T, *objective.bounds.ends)  # coefficients of one row have the same bounds
    at_bound = ((by_row[0] <= by_row[1]) | (by_row[0] >= by_row[2])).T & (coef != 0)
    if not at_bound.any():
        return nothing
    held = np.where(at_bound, objective.gradient_at(coef) * coef, 0.0)
    return np.maximum(by_element(objective, held), 0.0)


def _adds_one(moves: MoveBatch) -> bool:
    return moves.effort <= 1


def gains_of_additions(state: State, addable: BoolArray, budget: Budget) -> FloatArray:
    """Return the gain of adding each element, minus infinity where that is not feasible.

    Until all are computed, the best so far is kept in the budget.
    """
    gains = np.full(len(addable), -np.inf)
    batch = additions(addable)
    for piece in budget.pieces([batch], costs_little(state, batch)):
        scores, listed = state.gains(piece), piece.to_list()
        gains[listed.added[:, 0]] = scores[np.isfinite(scores)]
        index, top = piece.best(scores)
        if index >= 0 and top > 0:
            budget.keep([Step(piece.move(index), state.value + top)], top)
    return gains
