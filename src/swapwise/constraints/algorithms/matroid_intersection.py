"""Max-weight sets that are independent in several matroids: exact for two, by local search for more."""

from __future__ import annotations

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.base import Constraint, MaxWeight, greedy_weight
from swapwise.constraints.matroid import Matroid
from swapwise.numerics import ROUNDING, TIE

UNREACHED = np.iinfo(np.int64).max // 2


def common_set_within(first: Matroid, second: Matroid, weights: FloatArray, clock: Clock) -> MaxWeight:
    """Return a set of largest weight among those that are independent in both matroids.

    Sets X of falling gain are grown one element at a time, each a max-weight set of its size. In the
    exchange graph at X, elements are vertices; with x in X and y not,

        x → y  if X − x + y is independent in the first,    y → x  if it is in the second,

    paths lead from the y that can be added in the first with nothing dropped to those that can in the second,
    and their length is the weight of their elements in X less that of the others. Among the shortest
    paths take one with the fewest arcs, and exchange X with the elements on it: this is a max-weight
    common set with one element more (Lawler 1975, Frank 1981; Schrijver, *Combinatorial Optimization*,
    section 41.3). The gains fall from set to set, so that the first without a gain is the end.

    Elements without positive weight are never chosen. The graph has no negative circuit, on which the
    search for shortest paths relies, and ties among paths matter. So lengths are not left to rounding:
    weights are first rounded to multiples of 2⁻⁶⁰ (n + 1) of the largest, or finer, and from then on
    all sums are exact.

    Out of time, it is a set of the last size that was reached; the last gain bounds all later ones.
    """
    size = _whole(weights)
    candidates = np.flatnonzero(size > 0)
    support = np.empty(0, dtype=np.intp)
    gain = np.inf
    try:
        while len(support) < len(candidates):
            outside = np.setdiff1d(candidates, support)
            path = _best_path(
                size[outside],
                size[support],
                first._swap_mask(support)[outside],
                second._swap_mask(support)[outside],
                clock,
            )
            if path is None:
                break
            added, dropped = path
            before = float(weights[support].sum())
            support = np.sort(np.append(np.delete(support, dropped), outside[added]))
            gain = float(weights[support].sum()) - before
    except OutOfTime:
        return _unfinished(first, second, weights, support, gain)
    return MaxWeight(support, float(weights[support].sum()))


def losses_with_and_without(
    first: Matroid, second: Matroid, held: IndexArray, weights: FloatArray, support: IndexArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least loss, from a max-weight set, of common sets with each element and without it.

    All sets hold ``held`` and nothing of negative weight, and ``support`` is one of largest weight.

    Weights split into one part for each matroid, such that the set is of largest weight in both (Frank 1981).
    In a single matroid, the heaviest sets with and without an element are one swap away. The loss of a set is
    the sum of its losses in both. Two of all splits are used: that with the largest part for the first
    matroid, and that with the largest for the second.

    >>> from swapwise import Partition
    >>> rows, columns = Partition([0, 0, 1, 1], 1), Partition([0, 1, 0, 1], 1)
    >>> none, weights = np.empty(0, dtype=np.intp), np.array([4.0, 3.0, 3.0, 1.0])
    >>> with_it, without = losses_with_and_without(rows, columns, none, weights, np.array([1, 2]))
    >>> np.abs(with_it).round(6).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    size = _whole(weights)
    droppable = ~np.isin(support, held)
    inside = support[droppable]
    others = weights >= 0
    others[support] = False
    columns = np.append(droppable, True)
    masks = [matroid._swap_mask(support)[:, columns] for matroid in (first, second)]
    with_it, without = np.zeros((2, len(weights)))
    with_it[others & ~np.logical_and.reduce([mask.any(axis=1) for mask in masks])] = np.inf
    outside = np.flatnonzero(others & (with_it == 0))
    by_first, by_second = (mask[outside] for mask in masks)
    for these, those in ((by_first, by_second), (by_second, by_first)):
        on_outside, on_inside = _largest_share(size[outside], size[inside], these, those)
        loss_with, loss_without = np.zeros(len(outside)), np.zeros(len(inside))
        for mask, new, old in (
            (these, on_outside, on_inside),
            (those, size[outside] - on_outside, size[inside] - on_inside),
        ):
            cheapest = np.where(mask, np.append(old, 0), UNREACHED).min(axis=1)
            loss_with += cheapest - new
            best = np.where(mask[:, :-1], new[:, None], 0).max(axis=0, initial=0)
            loss_without += old - best
        with_it[outside] = np.maximum(with_it[outside], loss_with)
        without[inside] = np.maximum(without[inside], loss_without)
    # Whole weights are off by half a unit each, on the set and on any other.
    unit, off = _unit(weights), len(support)
    return (with_it - off) * unit, (without - off) * unit


def _largest_share(
    outside: IndexArray, inside: IndexArray, by_first: BoolArray, by_second: BoolArray
) -> tuple[IndexArray, IndexArray]:
    """Return the largest part of the weights that the first matroid may have, outside and inside.

    A max-weight set X is of largest weight in both matroids if with x in X and y not, first shares u satisfy

        0 ≤ u(x) ≤ w(x),   u(y) ≤ u(x)                 if X − x + y is independent in the first,
                           w(y) − u(y) ≤ w(x) − u(x)   if it is in the second,

    u(y) ≤ 0 if y can be added in the first with nothing dropped, and w(y) ≤ u(y) if it can in the second. The
    largest u are shortest distances.
    """
    on_outside, on_inside = np.where(by_first[:, -1], 0, UNREACHED), inside.copy()
    for _ in range(len(inside) + 2):
        least = np.where(by_first[:, :-1], on_inside, UNREACHED).min(axis=1, initial=UNREACHED)
        np.minimum(on_outside, least, out=on_outside)
        left = np.where(by_second[:, :-1], (on_outside - outside)[:, None], 0).min(axis=0, initial=0)
        if (on_inside <= inside + left).all():
            return on_outside, on_inside
        np.minimum(on_inside, inside + left, out=on_inside)
    raise RuntimeError("weights do not split: one of the constraints is not a matroid")


def _unfinished(
    first: Matroid, second: Matroid, weights: FloatArray, support: IndexArray, gain: float
) -> MaxWeight:
    """Return a set whose last element gained ``gain``, with a bound on the weight of all others."""
    alone = [greedy_weight(matroid, weights) for matroid in (first, second)]
    room = min(len(found.support) for found in alone) - len(support)
    bound = min(found.weight for found in alone)
    if len(support):
        bound = min(bound, float(weights[support].sum()) + gain * room)
    return MaxWeight.below(bound * (1 + ROUNDING), support, weights)


def _whole(weights: FloatArray) -> IndexArray:
    """Return the weights as whole numbers whose sums over any elements fit in 62 bits."""
    return np.rint(np.maximum(weights, 0.0) / _unit(weights)).astype(np.int64)


def _unit(weights: FloatArray) -> float:
    _, exponent = np.frexp(weights.max(initial=0.0))
    return float(np.ldexp(1.0, int(exponent) + int(len(weights) + 1).bit_length() - 62))


def _best_path(
    outside: IndexArray, inside: IndexArray, by_first: BoolArray, by_second: BoolArray, clock: Clock
) -> tuple[list[int], list[int]] | None:
    """Return the places, outside and inside, of the elements on a best path that gains; None if none does.

    ``outside`` and ``inside`` are the weights of the elements, the masks are those of the exchanges.
    This is the method of Bellman and Ford, one sweep for two arcs: a distance only changes if it falls,
    so the sweep in which it last changed is half the number of arcs of the shortest path with the
    fewest, and following the changes back finds that path.
    """
    to_outside = np.where(by_first[:, -1], -outside, UNREACHED)
    to_inside = np.full(len(inside), UNREACHED)
    from_inside = np.full(len(outside), -1)  # -1: the path starts here
    from_outside = np.full(len(inside), -1)
    arcs = np.zeros(len(outside), dtype=np.intp)
    for sweep in range(1, len(inside) + 2):
        clock.check()
        if not _relax(to_outside, by_second[:, :-1], inside, to_inside, from_outside).any():
            break
        changed = _relax(to_inside, by_first[:, :-1].T, -outside, to_outside, from_inside)
        arcs[changed] = sweep
    else:
        raise RuntimeError(
            "the exchange graph has a negative circuit: one of the constraints is not a matroid"
        )
    ends = np.flatnonzero(by_second[:, -1] & (to_outside < 0))
    if not len(ends):
        return None
    place = int(ends[np.lexsort((arcs[ends], to_outside[ends]))[0]])
    added, dropped = [place], []
    while from_inside[place] >= 0:
        dropped.append(int(from_inside[place]))
        place = int(from_outside[dropped[-1]])
        added.append(place)
    return added, dropped


def _relax(
    source: IndexArray, arc: BoolArray, length: IndexArray, target: IndexArray, parent: IndexArray
) -> BoolArray:
    """Shorten the distances of the targets by arcs from the sources; return which ones fell."""
    if not len(source) or not len(target):
        return np.zeros(len(target), dtype=bool)
    distance = np.where(arc, source[:, None], UNREACHED)
    best = distance.argmin(axis=0)
    reached = distance[best, np.arange(len(target))]
    shorter = (reached < UNREACHED) & (reached + length < target)
    target[shorter] = reached[shorter] + length[shorter]
    parent[shorter] = best[shorter]
    return shorter


def local_search_weight(
    constraint: Constraint, weights: FloatArray, q: int = 1, clock: Clock | None = None
) -> IndexArray:
    """Return a set whose weight no move of ``constraint.moves(support, q)`` raises.

    Its weight is at least 1 / (p − 1 + 1/q) times that of any independent set, for intersections of p ≥ 2
    matroids (Lee, Sviridenko and Vondrák 2010) as for p-exchange systems (Feldman, Naor, Schwartz and
    Ward 2011): linear functions are (1, 1, 0)-localizable, for which the guarantee of local search
    comes to this. Under one matroid, p = 1, it is a max-weight set.

    The search starts at the greedy set and takes the best move each time, as long as the weight rises
    by more than rounding. Elements without positive weight are never chosen. Out of time, the best set so far
    is returned: never lighter than the greedy set, which has at least 1/p of the largest weight itself.
    """
    value, clock = np.maximum(weights, 0.0), clock or Clock()
    support = greedy_weight(constraint, weights).support
    while True:
        try:
            best = constraint.best_exchange(support, value, value, q, clock)
        except OutOfTime:
            return support
        gain = best.sums(best.added, value) - best.sums(best.dropped, value)
        if not (gain > TIE * value[support].sum()).any():
            return support
        support = best.move(0).result(support)
        # A move may add what weighs nothing; every subset of an independent set is independent.
        support = support[value[support] > 0]
