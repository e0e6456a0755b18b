"""Facility location: every client is served by the most similar element that was chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import scipy
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_elements, as_matrix
from swapwise.moves import NOTHING, Move
from swapwise.objectives.base import SetFunction
from swapwise.objectives.swap_state import SwapState
from swapwise.override import override

# Similarities are processed in blocks of about this many entries, which stay in the cache and keep temporary
# arrays small however large the matrix is.
BLOCK = 1 << 18


class FacilityLocation(SetFunction):
    r"""How well the chosen elements serve the clients, each client by the best of them.

    .. math:: f(S) = \sum_c \max_{j∈S} s_{cj}

    Rows of ``similarity`` are clients (samples), columns are the elements that can be chosen; no entry
    is negative, and a client that nothing serves counts 0.

    See Also
    --------
    Coverage : what is covered is covered in full.

    References
    ----------
    - Krause and Golovin (2014), Submodular function maximization.

    Examples
    --------
    >>> from swapwise.moves import MoveList
    >>> f = FacilityLocation([[3.0, 1.0, 0.0], [0.0, 2.0, 4.0]])
    >>> f([0, 1])
    5.0
    >>> f.start([0, 1]).gains(MoveList(added=np.array([[2]]), dropped=np.array([[1]])))
    array([2.])
    """

    submodular = True
    scoring = "closed form"

    def __init__(self, similarity: ArrayLike) -> None:
        matrix = as_matrix(similarity, "similarity", "rows are clients, columns are elements")
        if (matrix < 0).any():
            client, element = (int(i) for i in np.argwhere(matrix < 0)[0])
            raise ValueError(
                "similarity must be non-negative, for f must be monotone; "
                f"got {matrix[client, element]} at position ({client}, {element})"
            )
        self.n_clients, self.n = matrix.shape
        # One row per element, as similarities are always read for a few elements and all clients.
        self._by_element = np.array(matrix.T, order="C")

    @property
    def similarity(self) -> FloatArray:
        """The similarities, one row per client."""
        return self._by_element.T

    @override
    def _value(self, support: IndexArray) -> float:
        return float(self._by_element[support].max(axis=0, initial=0.0).sum())

    @override
    def layered(self, layers: FloatArray) -> LayeredFacilityLocation:
        return LayeredFacilityLocation(self, layers)

    @override
    def start(self, support: Iterable[int] = ()) -> FacilityLocationState:
        return FacilityLocationState(self, as_elements(support, self.n, "the start"))


class FacilityLocationState(SwapState):
    """A state of :class:`FacilityLocation` with the best and the second-best element of each client.

    When its best element leaves, a client falls to its second best, or to the added element if that is
    better. Clients are split among their best elements, so that the gains of all swaps cost one pass over the
    similarities.
    """

    objective: FacilityLocation

    def __init__(self, objective: FacilityLocation, support: IndexArray) -> None:
        clients = objective.n_clients
        self._best, self._second = np.zeros(clients), np.zeros(clients)
        self._server = np.full(clients, NOTHING, dtype=np.intp)
        self._deputy = np.full(clients, NOTHING, dtype=np.intp)
        self._similarity = objective._by_element
        self._update_best(support, np.arange(clients))
        super().__init__(objective, support)

    @override
    def apply(self, move: Move) -> None:
        if move.dropped:
            left = np.isin(self._server, move.dropped) | np.isin(self._deputy, move.dropped)
            clients = np.flatnonzero(left)
            self._best[clients] = self._second[clients] = 0.0
            self._server[clients] = self._deputy[clients] = NOTHING
            self._update_best(np.setdiff1d(self.support, move.dropped), clients)
        self._update_best(np.asarray(move.added, dtype=np.intp), np.arange(self.objective.n_clients))
        super().apply(move)

    @override
    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value = float(self._best.sum())
        self.n_evaluations += 1

    def _update_best(self, elements: IndexArray, clients: IndexArray) -> None:
        best, second = self._best[clients], self._second[clients]
        server, deputy = self._server[clients], self._deputy[clients]
        for element in elements:
            offered = self._similarity[element, clients]
            wins, places = offered > best, offered > second
            deputy = np.where(wins, server, np.where(places, element, deputy))
            second = np.where(wins, best, np.maximum(second, offered))
            server = np.where(wins, element, server)
            best = np.maximum(best, offered)
        self._best[clients], self._second[clients] = best, second
        self._server[clients], self._deputy[clients] = server, deputy

    @override
    def _additions(self, added: IndexArray) -> FloatArray:
        additions = np.empty(len(added))
        for block in self._blocks(len(added)):
            better = self._similarity[added[block]] - self._best
            additions[block] = np.maximum(better, 0.0, out=better).sum(axis=1)
        return additions

    @override
    def _losses(self, drops: IndexArray) -> FloatArray:
        return (self._best - self._second) @ self._served_by(drops)

    @override
    def _overlaps(self, added: IndexArray, drops: IndexArray) -> FloatArray:
        served = self._served_by(drops)
        overlaps = np.empty((len(added), len(drops)))
        for block in self._blocks(len(added)):
            caught = np.clip(self._similarity[added[block]], self._second, self._best)
            caught -= self._second
            overlaps[block] = caught @ served
        return overlaps

    def _served_by(self, drops: IndexArray) -> scipy.sparse.csr_array:
        column = np.full(self.objective.n + 1, NOTHING)  # the last is for clients that nothing serves
        column[drops] = np.arange(len(drops))
        position = column[self._server]
        clients = np.flatnonzero(position != NOTHING)
        shape = (self.objective.n_clients, len(drops))
        return scipy.sparse.csr_array((np.ones(len(clients)), (clients, position[clients])), shape=shape)

    def _blocks(self, count: int) -> Iterator[slice]:
        return _blocks(count, self.objective.n_clients)


class LayeredFacilityLocation(SetFunction):
    """Every chosen element serves every client a little: ``Φ(S) = Σ_c Σ_k layers[k − 1] s_(k)``.

    The similarities of a client to S are ``s_(1) ≥ s_(2) ≥ …``. Facility location is the coverage of levels:
    an element covers, for each client, the levels up to its similarity. The level θ is covered
    ``N(θ) = #{j ∈ S : s_j ≥ θ}`` times, and counts like an item that is covered as often. Layers are
    positive and convexly decreasing.
    """

    submodular = True
    scoring = "closed form"

    def __init__(self, plain: FacilityLocation, layers: FloatArray) -> None:
        self.plain, self.layers, self.n = plain, layers, plain.n

    @override
    def _value(self, support: IndexArray) -> float:
        return self._worth(self._sorted(support))

    def _sorted(self, support: IndexArray) -> FloatArray:
        return -np.sort(-self.plain._by_element[support], axis=0)

    def _worth(self, ranked: FloatArray) -> float:
        return float(self._padded(len(ranked))[:-1] @ ranked.sum(axis=1))

    def _padded(self, size: int) -> FloatArray:
        padded = np.zeros(size + 1)
        padded[: len(self.layers)] = self.layers[: size + 1]
        return padded

    @override
    def start(self, support: Iterable[int] = ()) -> LayeredFacilityLocationState:
        return LayeredFacilityLocationState(self, as_elements(support, self.n, "the start"))


class LayeredFacilityLocationState(SwapState):
    """A state of :class:`LayeredFacilityLocation` with the similarities of each client in order.

    With b the layers and N(θ) the number of elements at the level θ or above, an addition of similarity x
    gains ``∫_0^x b[N] dθ``, a drop of similarity y loses ``∫_0^y b[N − 1] dθ``, and the one makes up for
    ``K(min(x, y))`` of the other, where ``K(z) = ∫_0^z (b[N − 1] − b[N]) dθ``. K rises, so that this is
    ``min(K(x), K(y))``. All three are sums of ``min(·, s_(t))`` over the ranks t.
    """

    objective: LayeredFacilityLocation

    @override
    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self._ranked = self.objective._sorted(support)
        self.value = self.objective._worth(self._ranked)
        self.n_evaluations += 1

    @override
    def _additions(self, added: IndexArray) -> FloatArray:
        layers = self.objective._padded(len(self.support))
        return self._integrals(added, layers[0], np.diff(layers))

    @override
    def _losses(self, drops: IndexArray) -> FloatArray:
        layers = self.objective._padded(len(self.support))[:-1]
        return self._integrals(drops, 0.0, np.diff(layers, prepend=0.0))

    @override
    def _overlaps(self, added: IndexArray, drops: IndexArray) -> FloatArray:
        saved = -np.diff(self.objective._padded(len(self.support)))
        steps = np.diff(saved, prepend=0.0)
        similarity, overlaps = self.objective.plain._by_element, np.empty((len(added), len(drops)))
        of_drops = self._integrate(similarity[drops], 0.0, steps)
        for block in self._blocks(len(added)):
            of_added = self._integrate(similarity[added[block]], 0.0, steps)
            for column, of_drop in enumerate(of_drops):
                overlaps[block, column] = np.minimum(of_added, of_drop).sum(axis=1)
        return overlaps

    def _integrals(self, elements: IndexArray, top: float, steps: FloatArray) -> FloatArray:
        integrals = np.empty(len(elements))
        for block in self._blocks(len(elements)):
            similarity = self.objective.plain._by_element[elements[block]]
            integrals[block] = self._integrate(similarity, top, steps).sum(axis=1)
        return integrals

    def _integrate(self, upto: FloatArray, top: float, steps: FloatArray) -> FloatArray:
        """Integrate from 0 a function of levels: ``top`` above all similarities, and a step at each."""
        integral = top * upto
        for step, level in zip(steps, self._ranked, strict=True):
            integral += step * np.minimum(upto, level)
        return integral

    def _blocks(self, count: int) -> Iterator[slice]:
        return _blocks(count, self.objective.plain.n_clients)


def _blocks(count: int, n_clients: int) -> Iterator[slice]:
    size = max(1, BLOCK // max(1, n_clients))
    return (slice(begin, begin + size) for begin in range(0, count, size))
