"""One pass over the elements: each is looked at once, and what was passed over never comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid
from swapwise.moves import Move, MoveList, Step
from swapwise.objectives.base import State
from swapwise.override import override
from swapwise.search.methods.base import Method, moved_to


class Stream(Method):
    def __init__(self, order: str = "index") -> None:
        if order not in ("index", "random"):
            raise ValueError(f"order must be 'index' or 'random', got {order!r}")
        self.order = order

    @property
    @override
    def draws(self) -> bool:  # type: ignore[override]
        return self.order == "random"

    def _stream(self, state: State, budget: Budget) -> Iterator[int]:
        """Yield all elements that are not chosen from the start, with a look at the clock before each."""
        n = self._constraint.n
        elements = np.arange(n) if self._rng is None else self._rng.permutation(n)
        for element in elements[~np.isin(elements, state.support)].tolist():
            budget.check()
            yield element


class StreamingSwaps(Stream):
    """Exchange a new element for those in its way, if it weighs at least twice as much as they do.

    The weight of an element is what it added when it came. The elements in its way are those of least weight
    whose drop makes it fit. It is for set functions of any kind and any constraint.

    For a monotone submodular f the answer I has ``f(I) ≥ max f / 4`` under a matroid and
    ``f(I) ≥ max f / (4p + 2)`` in an intersection of p matroids, or where each element has a place in at most
    p groups, as in b-matchings; it would be ``1/(4p)`` if the elements in the way were the lightest of each
    circuit, as Chakrabarti and Kale drop them. Proof: Let A be all that was ever chosen and D what was
    dropped, so that I = A \\ D, and w the weights.

    - ``f(I) ≥ w(I)``, since an element adds no less to the part of I that came before it than it did to the
      set of that time; for the same reason ``f(A) ≤ w(A)``.
    - What an element displaced weighs at most half of it, so ``w(D) ≤ w(A)/2``, which is ``w(D) ≤ w(I)``.
    - An element o of the best set that was never chosen had ``w(o) < 2 w(J)`` for those in its way, which
      weigh no more than the lightest ones of its circuits in the p matroids do. In each matroid, o lies in
      the span of its circuit. So, by Hall's theorem, all such o can be matched with elements of A, each with
      one that is no lighter than the lightest of its circuit. Under a single matroid, these can be
      elements of I, since a dropped one lies in the span of elements that are no lighter.
    - ``max f ≤ f(A) + Σ_o w(o) ≤ 2 w(I) + 2p · 2 w(I)``; under a matroid, it is at most ``2 w(I) + 2 w(I)``.

    Parameters
    ----------
    order : "index" or "random"
        The order in which the elements come.

    See Also
    --------
    SieveStreaming : better under a size limit.

    References
    ----------
    - Chakrabarti and Kale (2014), Submodular maximization meets streaming: matchings, matroids, and more.

    Examples
    --------
    >>> from swapwise import Linear, Partition, maximize
    >>> maximize(Linear([2, 3, 4, 1]), Partition(["a", "a", "a", "b"], 1), "streaming").support
    array([2, 3])
    """

    name = "streaming"

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        weights, chosen = np.zeros(self._constraint.n), self._objective.start(state.support)
        for element in self._stream(state, budget):
            dropped = in_the_way(self._constraint, chosen.support, element, weights)
            if dropped is None:
                continue
            before = chosen.n_evaluations
            gain = gain_of(chosen, element)
            if gain > chosen.resolution(self._tol) and gain >= 2 * weights[list(dropped)].sum():
                weights[element] = gain
                chosen.apply(Move(added=(element,), dropped=dropped))
            state.n_evaluations += chosen.n_evaluations - before
            if chosen.value > state.value:
                yield moved_to(chosen.support, state, budget, self._tol)


def gain_of(state: State, element: int) -> float:
    return float(state.gains(MoveList(np.array([[element]]), np.array([[-1]])))[0])


def in_the_way(
    constraint: Constraint, support: IndexArray, element: int, weights: FloatArray
) -> tuple[int, ...] | None:
    """Return the elements of least weight whose drop makes a new one fit; None if it can never be chosen.

    >>> from swapwise import Uniform
    >>> in_the_way(Uniform(3, 2), np.array([0, 1]), 2, np.array([5.0, 4.0, 0.0]))
    (1,)
    """
    larger = np.sort(np.append(support, element))
    if constraint._is_independent(larger):
        return ()
    if isinstance(constraint, Matroid):
        free = np.setdiff1d(support, constraint.forced)
        for other in free[np.argsort(weights[free], kind="stable")].tolist():
            if constraint._is_independent(larger[larger != other]):
                return (other,)
        return None
    # The first moves are those that add one element.
    first = next(iter(constraint.moves(support, 1, np.array([element], dtype=np.intp))), MoveList.empty())
    cheapest = first.cheapest(weights)
    return cheapest.move(0).dropped if len(cheapest) else None
