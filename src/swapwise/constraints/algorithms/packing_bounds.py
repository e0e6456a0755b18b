"""Lower bounds on the loss of packings that hold an element, or do without it, by the prices of groups.

With prices y ≥ 0 of groups and reduced weights r_j = w_j − Σ_{g ∋ j} y_g, let L be the cost of all places
plus all r_j > 0. Then for every packing S, and not just as a bound,

    w(S)  =  L − Σ_{j∈S} max(0, −r_j) − Σ_{j∉S} max(0, r_j) − Σ_g y_g · (places of g that S leaves empty).

All terms are losses: the loss of an element by itself is the first bound. The others add the losses that it
implies.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy

from swapwise.checks import BoolArray, FloatArray, IndexArray

# Groups for which all shortest paths between them are computed: it takes some 0.1 s.
MOST_GROUPS = 400

Losses = tuple[FloatArray, FloatArray]


def losses_with_and_without(
    groups: IndexArray,
    room: IndexArray,
    price: FloatArray,
    reduced: FloatArray,
    allowed: BoolArray,
    support: IndexArray,
) -> Losses:
    """Return for each element the least loss from L of packings with it, and of those without it.

    Packings are of ``allowed`` elements, for all of which there is ``room``, and ``support`` is one: bounds
    are valid for any, and best for one of largest weight. Reduced weights may be less by further prices, such
    as those of inequalities that all packings meet.

    >>> groups, price = np.array([[0, 2], [0, 3], [1, 2], [1, 3]]), np.array([3.0, 1.0, 2.0, 0.0])
    >>> reduced = np.array([4.0, 3.0, 3.0, 1.0]) - price[groups].sum(axis=1)
    >>> places, anything = np.ones(4, dtype=int), np.ones(4, dtype=bool)
    >>> losses_with_and_without(groups, places, price, reduced, anything, np.array([1, 2]))
    (array([1., 0., 0., 1.]), array([0., 1., 1., 0.]))
    """
    losses = [(np.maximum(-reduced, 0.0), np.where(allowed, np.maximum(reduced, 0.0), 0.0))]
    losses.append(_in_each_group(groups, room, price, reduced, allowed))
    shared = _in_several_columns(groups, len(room))
    if len(room) <= MOST_GROUPS:
        for pair in combinations(range(groups.shape[1]), 2):
            two = groups[:, pair]
            # With members by other columns, how full a group is is unknown here.
            if groups.shape[1] == 2 or not shared[two[two >= 0]].any():
                losses.append(_on_cycles(two, room, price, reduced, allowed, support))
    with_it, without = zip(*losses, strict=True)
    return np.maximum.reduce(with_it), np.maximum.reduce(without)


def _in_several_columns(groups: IndexArray, n_groups: int) -> BoolArray:
    columns = [np.unique(column[column >= 0]) for column in groups.T]
    return np.bincount(np.concatenate(columns), minlength=n_groups) > 1


def _in_each_group(
    groups: IndexArray, room: IndexArray, price: FloatArray, reduced: FloatArray, allowed: BoolArray
) -> Losses:
    """Replace the price of one group, each in turn, by its best members; all other groups keep their prices.

    This is at least as good as any other price for that group.
    """
    row, column = np.nonzero((groups >= 0) & allowed[:, None])
    group = groups[row, column]
    order = np.lexsort((-(reduced[row] + price[group]), group))
    element, group = row[order], group[order]
    worth = reduced[element] + price[group]
    size = np.bincount(group, minlength=len(room))
    begin = np.cumsum(size) - size
    chosen = (np.arange(len(group)) - begin[group] < room[group]) & (worth > 0)
    n_chosen = np.bincount(group[chosen], minlength=len(room))
    # A place may stay empty: for want of members, or of any that is worth more than nothing.
    worths = np.append(np.maximum(worth, 0.0), 0.0)
    last = np.where((n_chosen == room) & (room > 0), worths[begin + n_chosen - 1], 0.0)
    following = np.where(n_chosen < size, worths[begin + n_chosen], 0.0)
    by_price = price * room + np.bincount(group, np.maximum(reduced[element], 0.0), len(room))
    saved = by_price - np.bincount(group[chosen], worth[chosen], len(room))
    with_it, without = np.zeros((2, len(groups)))
    np.maximum.at(with_it, element, saved[group] + np.where(chosen, 0.0, last[group] - worth))
    np.maximum.at(without, element, saved[group] + np.where(chosen, worth - following[group], 0.0))
    return with_it, without


def _on_cycles(
    groups: IndexArray,
    room: IndexArray,
    price: FloatArray,
    reduced: FloatArray,
    allowed: BoolArray,
    support: IndexArray,
) -> Losses:
    """Bound by shortest cycles, where elements have two groups, one or none.

    The symmetric difference of two packings X and S forms walks, on which elements of S and of X alternate:
    at each group, one of S takes the place of one of X, as long as there are both. In a network, each group g
    is two vertices, g⁺ and g⁻. An element of S − X with the groups g and h is an arc from g⁺ to h⁻ or from h⁺
    to g⁻; one of X − S is such an arc backwards. One more vertex stands for no group, and for empty places:
    arcs lead there and back at groups of which S fills fewer places, or more. So walks are cycles. The length
    of an arc is its loss, and S loses at least the length of each cycle. If no group is among both the first
    and the second ones of elements, half of the arcs suffice, as under two partitions, where the bounds are
    exact.
    """
    first, second = groups.T
    two_sided = bool(np.isin(first[first >= 0], second).any())
    n_groups, nowhere = len(room), 2 * len(room)
    arcs = [(first, second), (second, first)] if two_sided else [(first, second)]
    ends = [(np.where(g >= 0, g, nowhere), np.where(h >= 0, h + n_groups, nowhere)) for g, h in arcs]
    chosen = np.zeros(len(groups), dtype=bool)
    chosen[support] = True
    other = allowed & ~chosen
    length = np.full((nowhere + 1, nowhere + 1), np.inf)
    for tail, head in ends:
        np.minimum.at(length, (tail[other], head[other]), np.maximum(-reduced[other], 0.0))
        np.minimum.at(length, (head[chosen], tail[chosen]), np.maximum(reduced[chosen], 0.0))
    plus, minus = np.arange(n_groups), np.arange(n_groups) + n_groups
    length[plus, nowhere] = np.minimum(length[plus, nowhere], price)
    length[nowhere, minus] = np.minimum(length[nowhere, minus], price)
    filled = np.bincount(groups[support][groups[support] >= 0], minlength=n_groups)
    length[nowhere, plus[filled < room]] = 0.0
    length[minus[filled < room], nowhere] = 0.0
    met = np.unique(np.append([end[allowed] for pair in ends for end in pair], nowhere))
    distance = np.zeros_like(length)
    distance[np.ix_(met, met)] = _distances(length[np.ix_(met, met)])
    (tail, head), *_ = ends
    with_it = np.maximum(-reduced, 0.0) + distance[head, tail]
    without = np.maximum(reduced, 0.0) + distance[tail, head]
    return np.where(other, with_it, 0.0), np.where(chosen, without, 0.0)


def _distances(length: FloatArray) -> FloatArray:
    network = scipy.sparse.csgraph.csgraph_from_dense(length, null_value=np.inf)
    return scipy.sparse.csgraph.floyd_warshall(network)
