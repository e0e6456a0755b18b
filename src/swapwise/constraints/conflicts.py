"""Pairs of elements of which at most one may be chosen."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_count, as_matrix, as_real, some_of, warn
from swapwise.constraints.graphic import is_graph
from swapwise.constraints.packing import PackingSystem
from swapwise.override import override

# Correlations that are computed at a time.
LARGEST_BLOCK = 4_000_000

# Larger tables of cliques, in numbers, would not fit into memory beside the data.
LARGEST_TABLE = 100_000_000


class Conflicts(PackingSystem):
    """Not both of a pair: correlated columns, versions of one measurement, drugs that must not be combined.

    The independent sets are those of a graph whose edges are the pairs. Pairs are gathered into cliques, sets
    of which any two exclude each other, so that an element takes the one place of each of its cliques. With
    at most p cliques per element it is a p-exchange system.

    Parameters
    ----------
    n : int, or iterable of str
        Size of the ground set, or the names of its elements. Names are remembered, so that estimators can
        match them with the columns of their data.
    pairs : iterable of pairs, or a networkx graph
        Which elements exclude each other: by position, or by name if there are names.

    Attributes
    ----------
    pairs : list of (int, int)
        The pairs by position, each once.
    cliques : list of integer arrays
    names : list of str, or None

    See Also
    --------
    SetPacking : elements that use things up which no two can share.

    References
    ----------
    - Feldman, Naor, Schwartz and Ward (2011), Improved approximations for k-exchange systems.

    Examples
    --------
    >>> from swapwise import Conflicts
    >>> apart = Conflicts(4, [(0, 1), (1, 2)])
    >>> apart.is_independent([0, 2, 3]), apart.is_independent([0, 1])
    (True, False)
    >>> Conflicts(["aspirin", "warfarin", "zinc"], [("aspirin", "warfarin")]).names
    ['aspirin', 'warfarin', 'zinc']

    Columns that say nearly the same:

    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> X[:, 2] = X[:, 0] + 0.1 * X[:, 1]
    >>> Conflicts.from_correlation(X, above=0.9).pairs
    [(0, 2)]
    """

    def __init__(self, n: int | Iterable[str], pairs: Iterable[tuple[Any, Any]] | Any) -> None:
        self.names = None if isinstance(n, (int, np.integer)) else read_names(n)
        size = as_count(n, "n") if self.names is None else len(self.names)
        given: Any = pairs
        if is_graph(given):
            given = given.edges()
        self._set_pairs(size, _read_pairs(given, size, self.names))

    def _set_pairs(self, n: int, pairs: list[tuple[int, int]]) -> None:
        self.pairs = pairs
        self.cliques = clique_cover(n, pairs)
        of: list[list[int]] = [[] for _ in range(n)]
        for number, clique in enumerate(self.cliques):
            for element in clique.tolist():
                of[element].append(number)
        width = max([1, *map(len, of)])
        if n * width > LARGEST_TABLE:
            worst = max(range(n), key=lambda e: len(of[e]))
            raise ValueError(
                f"element {worst} conflicts with {width} elements that do not conflict with each other, too "
                f"many for {n} elements; leave it out, or all that conflict with it"
            )
        groups = np.full((n, width), -1, dtype=np.intp)
        for element, own in enumerate(of):
            groups[element, : len(own)] = own
        super().__init__(groups, np.ones(len(self.cliques), dtype=np.intp))

    @classmethod
    def from_correlation(cls, X: ArrayLike, above: float = 0.9) -> Conflicts:
        """Return the conflicts of columns whose correlation exceeds a limit, be it positive or negative.

        X is an array or a frame, whose column names are remembered. A constant column has no correlation.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [-1.0, -2.0, -4.0], "c": [1.0, 0.0, 1.0]})
        >>> Conflicts.from_correlation(frame, above=0.95).pairs
        [(0, 1)]
        """
        above = as_real(above, "above")
        if above >= 1:
            raise ValueError(f"above must be at least 0 and below 1, as correlations are, got {above:g}")
        names = getattr(X, "columns", None)
        columns = as_matrix(X, "X")
        pairs = _correlated_pairs(columns, above)
        found = object.__new__(cls)
        found.names = None if names is None else list(map(str, names))
        found._set_pairs(columns.shape[1], pairs)
        return found

    @override
    def __repr__(self) -> str:
        return f"Conflicts(n={self.n}, {len(self.pairs)} pairs)"


def clique_cover(n: int, pairs: list[tuple[int, int]]) -> list[IndexArray]:
    """Return few cliques of a graph that hold all of its edges.

    Each is grown from an edge that is not covered yet, by vertices that bring other such edges.
    """
    near: list[set[int]] = [set() for _ in range(n)]
    for one, other in pairs:
        near[one].add(other)
        near[other].add(one)
    open_ = [set(others) for others in near]
    cliques = []
    for vertex in range(n):
        while open_[vertex]:
            clique = [vertex]
            candidates, fresh = set(near[vertex]), open_[vertex]
            while candidates:
                wanted = candidates & fresh or candidates
                best = max(wanted, key=lambda v: (len(near[v] & candidates), -v))
                clique.append(best)
                candidates &= near[best]
            for member in clique:
                open_[member].difference_update(clique)
            cliques.append(np.array(sorted(clique), dtype=np.intp))
    return cliques


def _correlated_pairs(X: FloatArray, above: float) -> list[tuple[int, int]]:
    centred = X - X.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    units = np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > 0)
    pairs: list[tuple[int, int]] = []
    n = X.shape[1]
    step = max(1, LARGEST_BLOCK // max(1, n))
    for begin in range(0, n, step):
        block = np.abs(units[:, begin : begin + step].T @ units)
        first, second = np.nonzero(block > above)
        later = second > first + begin
        pairs += zip((first[later] + begin).tolist(), second[later].tolist(), strict=True)
    return pairs


def read_names(names: Any) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"n must be the number of elements, or their names, got {names!r}")
    found = list(names)
    for position, name in enumerate(found):
        if not isinstance(name, str):
            raise TypeError(f"names must be strings, got {name!r} at position {position}")
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise ValueError(f"names must differ, got {twice!r} twice")
    return found


def _read_pairs(pairs: Any, n: int, names: list[str] | None) -> list[tuple[int, int]]:
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise TypeError(f"pairs must be pairs of elements that exclude each other, got {pairs!r}")
    place: dict[Hashable, int] = {} if names is None else {name: at for at, name in enumerate(names)}
    found: dict[tuple[int, int], None] = {}
    for number, pair in enumerate(pairs):
        if isinstance(pair, str) or not isinstance(pair, Iterable) or len(ends := tuple(pair)) != 2:
            raise TypeError(f"pairs must be pairs of elements, got {pair!r} as number {number}")
        one, other = (_position(end, n, place, number) for end in ends)
        if one == other:
            raise ValueError(f"an element cannot exclude itself, got {tuple(pair)!r} as number {number}")
        found[min(one, other), max(one, other)] = None
    if not found and n:
        warn("there is no pair, so that every set is allowed")
    return list(found)


def _position(end: Any, n: int, place: dict[Hashable, int], number: int) -> int:
    if isinstance(end, str):
        if end not in place:
            known = "; the elements are " + some_of([repr(name) for name in place])
            known = known if place else "; give the names in place of n"
            raise ValueError(f"pair number {number} names {end!r}, which is not an element{known}")
        return place[end]
    if isinstance(end, (bool, np.bool_)) or not isinstance(end, (int, np.integer)):
        raise TypeError(f"elements of pairs must be positions or names, got {end!r} in number {number}")
    if not 0 <= end < n:
        raise ValueError(f"pairs must hold positions from 0 to {n - 1}, got {end} in number {number}")
    return int(end)
