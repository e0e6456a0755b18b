"""Samples of an Ising model as counts: how often each vertex was seen with which neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from threading import RLock
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ArrayChunks
from swapwise.data.reductions import Reduction
from swapwise.events import notify
from swapwise.graphs.ising.model import IsingModel, Neighbourhood
from swapwise.graphs.ising.reductions import FirstOther, Hessian, Patterns, Tally, VertexGradients
from swapwise.graphs.ising.samples import Samples
from swapwise.graphs.ising.spin_data import (
    LONGEST_STEP,
    MAX_STEPS,
    REFIT_TOLERANCE,
    SURE,
    SpinData,
    best_biases,
    counts_of,
    if_unequal,
    sigmoid,
    without_fields,
)
from swapwise.kernels import ising, ising_tables
from swapwise.moves import MoveList
from swapwise.override import override

# The patterns of a neighbourhood are numbers of 63 bits.
MOST_NEIGHBOURS = 62

# In memory, vertices of more neighbours are fitted from the samples: they have about as many patterns.
MOST_COUNTED = 6

# Neighbourhoods in the cache, unless more are needed at once: some hundred megabytes.
MOST_REMEMBERED = 100_000

# At most this many sums of columns are kept: some hundred megabytes.
MOST_SUMS = 1 << 24

# A pass also counts the neighbourhoods that this many of the steepest edges would make: it costs far more
# than a few counts, and these edges are likely to come next.
READ_AHEAD = 8

# One pass scores this many moves: their neighbourhoods, two per move, fit in the cache.
MOVES_PER_PASS = 10_000

EXPECTED = "must hold 0 and 1, booleans, or -1 and +1, the same for all columns"


def _one_at_a_time(method: Callable[..., Any]) -> Callable[..., Any]:
    """Hold the object's lock while the method runs, so that what it has counted stays in memory."""

    @wraps(method)
    def held(self: PatternCounts, *arguments: Any) -> Any:
        with self._lock:
            return method(self, *arguments)

    return held


class PatternCounts(SpinData):
    """Data of two values in chunks, read in few passes.

    The term of a vertex depends on its own spin and on those of its neighbours: with three neighbours, on how
    often each of 16 patterns was seen. One pass counts the patterns of all neighbourhoods that a batch of
    moves would make, and refits need nothing else. The gradient over all pairs needs the sums of all columns
    over the samples of each pattern, which come from the same pass if they fit in memory. A pass also counts
    the neighbourhoods that the steepest few edges would make, so that it serves several rounds.
    """

    scoring = "pass"

    def __init__(self, model: IsingModel, matrix: ChunkedMatrix, weight: FloatArray | None) -> None:
        self.model = model
        self.n_samples = matrix.n_samples
        self.n_counted = int(counts_of(weight, self.n_samples).sum())
        weight = if_unequal(weight)
        # Weights of any size have a sum, once they are relative to the largest.
        self._matrix, self._passes = matrix, 0
        self._weight = None if weight is None else weight / weight.max()
        self._total = float(self.n_samples if self._weight is None else self._weight.sum())
        self._lock = RLock()  # searches of one objective may run side by side
        tally, up, products = self._reduce(Tally())
        #: The value that stands for the spin -1
        self.low: int = self._low_value(tally)
        #: The share of the samples in which each vertex is at +1
        self.share_up: FloatArray = up / self._total
        self.imputed = 2.0 * self.share_up - 1.0 if model.fields else np.zeros(model.n_vertices)
        self._counted: dict[Neighbourhood, tuple[FloatArray, FloatArray]] = {}
        self._sums: dict[Neighbourhood, FloatArray] = {}
        self._steepest = np.empty(0, dtype=np.intp)
        self._know_vertices(products / self._total)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()

    @property
    @override
    def n_passes(self) -> float:  # type: ignore[override]
        return float(self._passes)

    def _reduce(self, reduction: Reduction) -> Any:
        answer = self._matrix.reduce(reduction, *(() if self._weight is None else (self._weight,)))
        self._passes += 1
        notify(passes=self._passes)
        return answer

    def _low_value(self, tally: IndexArray) -> int:
        """Return the value beside 1, which is 0 or -1, or refuse the data."""
        n_samples = self.n_samples if self._weight is None else np.count_nonzero(self._weight)
        for low, others in ((0, tally[0]), (-1, tally[1])):
            if not others.any() and (tally.sum(axis=0) == n_samples).all():
                return low
        refuse_others(self._matrix, -1 if tally[0].any() else 0, EXPECTED, self._weight)
        raise AssertionError("there is an entry to refuse")

    def _know_vertices(self, products: FloatArray) -> None:
        """Keep what the first pass has: moments of pairs, and counts of vertices without neighbours."""
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
        """Count the neighbourhoods of graphs, in one pass if one is new; with sums if they fit in memory."""
        wanted = dict.fromkeys(place for support in supports for place in self.model.neighbourhoods(support))
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
        return sum(min(1 << len(place), self.n_samples) for place in places) * self.model.n_vertices

    def _likely(self, supports: Iterable[IndexArray]) -> list[Neighbourhood]:
        """Return the neighbourhoods that the steepest edges would make, which are likely to come next."""
        tail, head = self.model.tail, self.model.head
        ahead = []
        for support in supports:
            places = self.model.neighbourhoods(support)
            for edge in np.setdiff1d(self._steepest, support):
                for end, other in ((tail[edge], head[edge]), (head[edge], tail[edge])):
                    vertex, *others = places[end]
                    ahead.append((vertex, *sorted([*others, int(other)])))
        return [place for place in ahead if len(place) <= MOST_NEIGHBOURS]

    def _read(self, unknown: list[Neighbourhood], with_sums: bool) -> None:
        most = max(unknown, key=len)
        if len(most) - 1 > MOST_NEIGHBOURS:
            raise ValueError(
                f"data in chunks must have at most {MOST_NEIGHBOURS} neighbours per vertex, got "
                f"{len(most) - 1} at vertex {most[0]}"
            )
        found = self._reduce(Patterns(unknown, with_sums))
        for place, (patterns, counts, sums) in zip(unknown, found, strict=True):
            is_up = patterns >> np.arange(len(place))[:, None] & 1
            self._counted[place] = (np.where(is_up, 1.0, -1.0), counts / self._total)
            if with_sums:
                spins = 2.0 * sums - counts[:, None] if self.low == 0 else sums
                self._sums[place] = spins / self._total

    def _tables(self, support: IndexArray) -> tuple[Any, Any]:
        """Return a graph whose neighbourhoods are counted as the kernels take it."""
        model = self.model
        graph = ising.incidence(model.tail[support], model.head[support], model.n_vertices)
        begin, _, others = graph
        seen = [self._counted[place] for place in model.neighbourhoods(support)]
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
        """Return value, gradient and minus the Hessian (its lower triangle) on a graph."""
        self._count([support])
        gradient, hessian = np.empty(len(parameters)), np.empty((len(parameters), len(parameters)))
        value = ising_tables.evaluate(
            *self._tables(support), parameters, len(support), self.model.ridge, gradient, hessian
        )
        return value, gradient, hessian

    # -- fits ---------------------------------------------------------------------------------------

    @_one_at_a_time
    @override
    def refit(self, support: IndexArray, parameters: FloatArray) -> tuple[float, bool]:
        self._count([support], with_sums=True)
        return self._refit(support, parameters)

    def _refit(self, support: IndexArray, parameters: FloatArray) -> tuple[float, bool]:
        """Refit on a graph whose neighbourhoods are counted."""
        lengths = np.full(len(parameters), LONGEST_STEP)
        return ising_tables.refit(
            *self._tables(support),
            len(support),
            parameters,
            self.model.ridge,
            lengths,
            REFIT_TOLERANCE,
            MAX_STEPS,
        )

    @_one_at_a_time
    @override
    def values_after(
        self, support: IndexArray, parameters: FloatArray, moves: MoveList
    ) -> tuple[FloatArray, BoolArray]:
        coef, fields = np.zeros(self.model.n), parameters[len(support) :]
        coef[support] = parameters[: len(support)]
        values, converged = np.empty(len(moves)), np.empty(len(moves), dtype=bool)
        graphs = [move.result(support) for move in moves.moves()]
        for row, graph in enumerate(graphs):
            if row % MOVES_PER_PASS == 0:
                self._count(graphs[row : row + MOVES_PER_PASS])
            values[row], converged[row] = self._refit(graph, np.append(coef[graph], fields))
        return values, converged

    # -- at any couplings ---------------------------------------------------------------------------

    @_one_at_a_time
    @override
    def value(self, coef: FloatArray, fields: FloatArray | None) -> float:
        support = np.flatnonzero(coef)
        biases = self._fields_at(coef, fields) if self.model.fields else np.empty(0)
        return self._derivatives(support, np.append(coef[support], biases))[0]

    def _fields_at(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        return self.best_fields(coef) if fields is None or not self.model.fields else fields

    @_one_at_a_time
    @override
    def best_fields(self, coef: FloatArray) -> FloatArray:
        if not self.model.fields:
            return np.zeros(self.model.n_vertices)
        support = np.flatnonzero(coef)
        n_edges = len(support)

        def slopes(bias: FloatArray) -> tuple[FloatArray, FloatArray]:
            _, gradient, hessian = self._derivatives(support, np.append(coef[support], bias))
            return gradient[n_edges:], np.diag(hessian)[n_edges:]

        strength = np.abs(self.model.coupling_matrix(coef)).sum(axis=1)
        return best_biases(slopes, SURE + 2.0 * strength)

    @_one_at_a_time
    @override
    def vertex_gradients(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        couplings, biases = self.model.coupling_matrix(coef), self._fields_at(coef, fields)
        places = self.model.neighbourhoods(np.flatnonzero(coef))
        if any(place not in self._sums for place in places):
            total: FloatArray = self._reduce(VertexGradients(couplings, biases))[0]
            return total / self._total
        rows = []
        for place in places:
            vertex, *others = place
            spins, _ = self._counted[place]
            local = couplings[vertex, others] @ spins[1:] + biases[vertex]
            rows.append(2.0 * spins[0] * sigmoid(-2.0 * spins[0] * local) @ self._sums[place])
        return np.array(rows)

    @override
    def gradient(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        gradient = super().gradient(coef, fields)
        self._steepest = np.argsort(-np.abs(gradient) * (coef == 0), kind="stable")[:READ_AHEAD]
        return gradient

    @_one_at_a_time
    @override
    def hessian(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        model = self.model
        couplings, biases = model.coupling_matrix(coef), self.best_fields(coef)
        reduction = Hessian(couplings, biases, model.tail[elements], model.head[elements], model.fields)
        return without_fields(self._reduce(reduction)[0] / self._total, len(elements))

    @_one_at_a_time
    @override
    def patterns(self, support: IndexArray) -> list[tuple[FloatArray, FloatArray]]:
        self._count([support])
        return [self._counted[place] for place in self.model.neighbourhoods(support)]

    @override
    def mean_products(self, shared: int, other: int, thirds: IndexArray) -> FloatArray:
        return self._agreement[other, thirds]


class CountedSamples(SpinData):
    """Many samples of -1 and +1 in memory, from whose counts graphs of small degree are fitted."""

    def __init__(self, model: IsingModel, samples: FloatArray, weight: FloatArray | None) -> None:
        self.model = model
        self.n_samples = len(samples)
        self.samples: Samples = Samples(model, samples, weight)
        self.n_counted, self.imputed = self.samples.n_counted, self.samples.imputed
        self._counts = PatternCounts(model, ChunkedMatrix(ArrayChunks(samples, len(samples))), weight)

    def _for(self, support: IndexArray, more: int = 0) -> SpinData:
        """Return the counts if the degrees of a support, and ``more``, are small enough, else the samples."""
        degree = int(self.model.degrees(support).max()) + more
        return self._counts if degree <= MOST_COUNTED else self.samples

    @override
    def refit(self, support: IndexArray, parameters: FloatArray) -> tuple[float, bool]:
        return self._for(support).refit(support, parameters)

    @override
    def values_after(
        self, support: IndexArray, parameters: FloatArray, moves: MoveList
    ) -> tuple[FloatArray, BoolArray]:
        return self._for(support, moves.added.shape[1]).values_after(support, parameters, moves)

    # Counting takes longer than one pass over the samples, unless there are no couplings.

    @override
    def value(self, coef: FloatArray, fields: FloatArray | None) -> float:
        return (self.samples if coef.any() else self._counts).value(coef, fields)

    @override
    def best_fields(self, coef: FloatArray) -> FloatArray:
        return (self.samples if coef.any() else self._counts).best_fields(coef)

    @override
    def vertex_gradients(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        data = self.samples if fields is None else self._for(np.flatnonzero(coef))
        return data.vertex_gradients(coef, fields)

    @override
    def hessian(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        return self.samples.hessian(coef, elements)

    @override
    def patterns(self, support: IndexArray) -> list[tuple[FloatArray, FloatArray]]:
        return self._for(support).patterns(support)

    @override
    def mean_products(self, shared: int, other: int, thirds: IndexArray) -> FloatArray:
        return self._counts.mean_products(shared, other, thirds)


def refuse_others(matrix: ChunkedMatrix, low: int, expected: str, weight: FloatArray | None = None) -> None:
    """Refuse the first entry that is neither ``low`` nor 1: one pass over the data."""
    counts = np.ones(matrix.n_samples) if weight is None else weight
    found = matrix.reduce(FirstOther(low), counts, np.arange(matrix.n_samples))
    if found is not None:
        row, column, value = found
        place = f"{value:g} at position {(row, column)}{matrix.place_of(row)}"
        advice = "; missing values need data in memory" if np.isnan(value) else ""
        raise ValueError(f"X {expected if np.isfinite(value) else 'must be finite'}, got {place}{advice}")
