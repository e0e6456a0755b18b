"""An Ising model of samples that are read block by block: counts are all that it needs of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.data.open import by_rows
from swapwise.data.reductions import Reduction, Tally
from swapwise.data.two_values import low_value, refuse_others
from swapwise.events import notify
from swapwise.kernels import ising, ising_tables
from swapwise.moves import MoveList
from swapwise.objectives.base import Scoring, SparseObjective, Summand, embed
from swapwise.objectives.ising import LONGEST_STEP, REFIT_TOLERANCE, SURE, IsingPseudoLikelihood
from swapwise.objectives.ising_parts import MAX_STEPS, best_biases, sigmoid
from swapwise.objectives.ising_works import Neighbourhood, Patterns, Pulls

# The patterns of a neighbourhood are numbers of 63 bits.
MOST_NEIGHBOURS = 62

# At most this many neighbourhoods are remembered, unless more are asked for at once.
MOST_REMEMBERED = 100_000

# At most this many sums of columns are kept: some hundred megabytes.
MOST_SUMS = 1 << 24

# What this many edges would make of the graph is counted along with what is asked for.
READ_AHEAD = 8

# One pass scores this many moves.
MOVES_A_PASS = 10_000

EXPECTED = "must hold 0 and 1, booleans, or -1 and +1, the same for all columns"


class StreamedIsing(IsingPseudoLikelihood):
    """An :class:`IsingPseudoLikelihood` of data in chunks, which is what that returns for them.

    What a vertex adds to the likelihood depends on its own spin and on those of its neighbours: with three
    neighbours, on how often each of 16 patterns was seen. Counting them takes one pass over the data, for all
    vertices, or for all neighbourhoods that a batch of moves would make. Refits need nothing else, and what
    was counted is remembered. The gradient over all pairs needs the sums of all columns over the samples of
    each pattern. They come from the same pass, or from another if vertices have so many neighbours that these
    sums are too many to keep. A pass also counts what the steepest few edges would make of the graph, so it
    serves several rounds; and no more than some blocks of the data are ever in memory.

    Parameters
    ----------
    spins : memory-mapped array, name of a ``.npy`` file, Dask array or Dask frame
        0 and 1, booleans, or -1 and +1, of shape (n_samples, n_vertices).
    ridge, fields, edges :
        As of :class:`IsingPseudoLikelihood`.

    >>> import dask.array as da
    >>> spins = da.from_array(np.array([[0, 0, 1], [1, 1, 1], [1, 1, 0], [0, 1, 0]]), chunks=(2, 3))
    >>> f = IsingPseudoLikelihood(spins, ridge=0.1)
    >>> f.coef([0]).round(3), f.n_passes
    (array([0.516, 0.   , 0.   ]), 2.0)
    """

    scoring: Scoring = "pass"

    def __init__(
        self,
        spins: Any,
        ridge: float = 0.0,
        fields: bool = False,
        edges: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        self._matrix, self._passes = by_rows(spins), 0
        self._settle_on(self._matrix.shape, ridge, fields, edges)
        tally, products = self._fold(Tally())
        low = low_value(tally, self.n_samples)
        if low is None:
            refuse_others(self._matrix, -1 if tally[0].any() else 0, EXPECTED)
        assert low is not None  # else there is an entry to refuse
        #: The value that stands for the spin -1
        self.low: int = low
        #: The share of the samples in which each vertex is at +1
        self.share_up: FloatArray = tally[2] / self.n_samples
        self._counted: dict[Neighbourhood, tuple[FloatArray, FloatArray]] = {}
        self._sums: dict[Neighbourhood, FloatArray] = {}
        self._steepest = np.empty(0, dtype=np.intp)
        self._know_vertices(products / self.n_samples)
        alone = np.empty(0, dtype=np.intp)
        self._fields_alone = self._best_biases(alone, np.empty(0))
        self._at_zero = self._derivatives(alone, self.no_couplings(0))[0]

    @property
    def n_passes(self) -> float:
        """How many times all of the data were read so far."""
        return float(self._passes)

    def _fold(self, work: Reduction) -> Any:
        answer = self._matrix.reduce(work)
        self._passes += 1
        notify(passes=self._passes)
        return answer

    def _know_vertices(self, products: FloatArray) -> None:
        """Keep what the first look at the data tells of pairs, and of vertices without neighbours."""
        mean = 2.0 * self.share_up - 1.0
        if self.low == 0:
            products = 4.0 * products - mean[:, None] - mean - 1.0
        #: The mean of ``x_u x_v``
        self._agreement = products
        for vertex, up in enumerate(self.share_up):
            self._counted[(vertex,)] = (np.array([[-1.0, 1.0]]), np.array([1.0 - up, up]))
            self._sums[(vertex,)] = np.stack([mean - products[vertex], mean + products[vertex]]) / 2.0

    # -- counts -------------------------------------------------------------------------------------

    def _count(self, supports: Iterable[IndexArray], with_sums: bool = False) -> None:
        """See to it that all neighbourhoods of some graphs are counted: one pass if one is not.

        Sums come along with it if they are asked for and fit in memory.
        """
        wanted = dict.fromkeys(place for support in supports for place in self._neighbourhoods(support))
        known = self._sums if with_sums and self._n_sums(wanted) <= MOST_SUMS else self._counted
        unknown = [place for place in wanted if place not in known]
        if not unknown or (known is self._sums and all(place in self._counted for place in unknown)):
            return
        if known is self._sums:
            if self._n_sums(self._sums) > MOST_SUMS:
                self._sums = {
                    place: sums for place, sums in self._sums.items() if place in wanted or len(place) == 1
                }
            unknown += [place for place in self._likely(supports) if place not in known]
        self._read(list(dict.fromkeys(unknown)), with_sums=known is self._sums)
        if len(self._counted) > MOST_REMEMBERED:
            self._counted = {
                place: self._counted[place] for place in self._counted if place in wanted or len(place) == 1
            }

    def _n_sums(self, places: Iterable[Neighbourhood]) -> int:
        """Return an upper bound on the number of sums of columns."""
        return sum(min(1 << len(place), self.n_samples) for place in places) * self.n_vertices

    def _likely(self, supports: Iterable[IndexArray]) -> list[Neighbourhood]:
        """Return the neighbourhoods that the steepest edges would make: those may well be next."""
        ahead = []
        for support in supports:
            places = self._neighbourhoods(support)
            for edge in np.setdiff1d(self._steepest, support):
                for end, other in ((self.tail[edge], self.head[edge]), (self.head[edge], self.tail[edge])):
                    vertex, *others = places[end]
                    ahead.append((vertex, *sorted([*others, int(other)])))
        return [place for place in ahead if len(place) <= MOST_NEIGHBOURS]

    def _read(self, unknown: list[Neighbourhood], with_sums: bool) -> None:
        """Count neighbourhoods: one pass over the data."""
        most = max(unknown, key=len)
        if len(most) - 1 > MOST_NEIGHBOURS:
            raise ValueError(
                f"data in chunks must have at most {MOST_NEIGHBOURS} neighbours a vertex, got "
                f"{len(most) - 1} at vertex {most[0]}"
            )
        found = self._fold(Patterns(unknown, with_sums))
        for place, (patterns, counts, sums) in zip(unknown, found, strict=True):
            is_up = patterns >> np.arange(len(place))[:, None] & 1
            self._counted[place] = (np.where(is_up, 1.0, -1.0), counts / self.n_samples)
            if with_sums:
                spins = 2.0 * sums - counts[:, None] if self.low == 0 else sums
                self._sums[place] = spins / self.n_samples

    def _neighbourhoods(self, support: IndexArray) -> list[Neighbourhood]:
        neighbours: list[list[int]] = [[] for _ in range(self.n_vertices)]
        for u, v in zip(self.tail[support].tolist(), self.head[support].tolist(), strict=True):
            neighbours[u].append(v)
            neighbours[v].append(u)
        return [(vertex, *sorted(others)) for vertex, others in enumerate(neighbours)]

    def _tables(self, support: IndexArray) -> tuple[Any, Any]:
        """Return what the kernels need to know of a graph whose neighbourhoods are counted."""
        graph = ising.incidence(self.tail[support], self.head[support], self.n_vertices)
        begin, _, others = graph
        seen = [self._counted[place] for place in self._neighbourhoods(support)]
        first = np.append(0, np.cumsum([len(share) for _, share in seen]))
        signs = np.zeros((int(np.diff(begin).max()), first[-1]))
        for v, (spins, _) in enumerate(seen):
            place = np.argsort(np.argsort(others[begin[v] : begin[v + 1]]))
            signs[: len(place), first[v] : first[v + 1]] = spins[1 + place]
        own = np.concatenate([spins[0] for spins, _ in seen])
        return (first, own, np.concatenate([share for _, share in seen]), signs), graph

    def _derivatives(
        self, support: IndexArray, parameters: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return log-likelihood, gradient and minus the Hessian (its lower triangle) on a graph."""
        self._count([support])
        gradient, hessian = np.empty(len(parameters)), np.empty((len(parameters), len(parameters)))
        value = ising_tables.evaluate(
            *self._tables(support), parameters, len(support), self.ridge, gradient, hessian
        )
        return value, gradient, hessian

    # -- fits ---------------------------------------------------------------------------------------

    def _refit(self, support: IndexArray, fitted: FloatArray) -> tuple[float, bool]:
        self._count([support], with_sums=True)
        return self._climb(support, fitted)

    def _climb(self, support: IndexArray, fitted: FloatArray) -> tuple[float, bool]:
        lengths = np.full(len(fitted), LONGEST_STEP)
        return ising_tables.refit(
            *self._tables(support), len(support), fitted, self.ridge, lengths, REFIT_TOLERANCE, MAX_STEPS
        )

    def values_after(
        self, support: IndexArray, parameters: FloatArray, moves: MoveList
    ) -> tuple[FloatArray, BoolArray]:
        """Return the value after each move from a fit, and whether its refit came to its end."""
        coef, fields = embed(self, support, parameters[: len(support)]), parameters[len(support) :]
        values, converged = np.empty(len(moves)), np.empty(len(moves), dtype=bool)
        graphs = [move.result(support) for move in moves.moves()]
        for row, graph in enumerate(graphs):
            if row % MOVES_A_PASS == 0:
                self._count(graphs[row : row + MOVES_A_PASS])
            values[row], converged[row] = self._climb(graph, np.append(coef[graph], fields))
        return values - self._at_zero, converged

    def _best_biases(self, support: IndexArray, couplings: FloatArray) -> FloatArray:
        """Return the best bias a vertex with given couplings; zeros without fields."""
        if not self.fields:
            return np.zeros(self.n_vertices)
        n_edges = len(support)

        def slopes(bias: FloatArray) -> tuple[FloatArray, FloatArray]:
            _, gradient, hessian = self._derivatives(support, np.append(couplings, bias))
            return gradient[n_edges:], np.diag(hessian)[n_edges:]

        strength = np.abs(self._coupling_matrix(embed(self, support, couplings))).sum(axis=1)
        return best_biases(slopes, SURE + 2.0 * strength)

    # -- u at any couplings -------------------------------------------------------------------------

    def value_at(self, coef: FloatArray) -> float:
        """Return the pseudo-log-likelihood at couplings ``w`` (with the best fields), relative to none."""
        support = np.flatnonzero(coef)
        biases = self._best_biases(support, coef[support]) if self.fields else np.empty(0)
        return self._derivatives(support, np.append(coef[support], biases))[0] - self._at_zero

    def _pulls(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        support, couplings = np.flatnonzero(coef), self._coupling_matrix(coef)
        given = fields if self.fields else None
        biases = self._best_biases(support, coef[support]) if given is None else given
        places = self._neighbourhoods(support)
        if any(place not in self._sums for place in places):
            pulls: FloatArray = self._fold(Pulls(couplings, biases))[0]
            return pulls / self.n_samples
        rows = []
        for (vertex, *others), place in zip(places, places, strict=True):
            spins, _ = self._counted[place]
            local = couplings[vertex, others] @ spins[1:] + biases[vertex]
            rows.append(2.0 * spins[0] * sigmoid(-2.0 * spins[0] * local) @ self._sums[place])
        return np.array(rows)

    def gradient_with(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        """Return the gradient, and remember where it is steepest."""
        gradient = super().gradient_with(coef, fields)
        self._steepest = np.argsort(-np.abs(gradient) * (coef == 0), kind="stable")[:READ_AHEAD]
        return gradient

    def _fit_seconds(self, support: IndexArray) -> float:
        """Return none: graphs of small degree are all that can be fitted from counts, and that is quick."""
        return 0.0

    def summands(self, coef: FloatArray) -> list[Summand]:
        """Return none: they would hold all samples."""
        return []

    @cached_property
    def edge_curvature(self) -> FloatArray:
        """The mean of ``x_u² x_v²`` for every edge: 1."""
        return np.ones(self.n)

    @cached_property
    def _vertex_sizes(self) -> FloatArray:
        return np.ones(self.n_vertices)

    def _mean_products(self, shared: int, other: int, thirds: IndexArray) -> FloatArray:
        return self._agreement[other, thirds]

    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        """Return minus the Hessian at couplings ``w``, for some edges, by differences."""
        return SparseObjective.hessian_at(self, coef, elements)
