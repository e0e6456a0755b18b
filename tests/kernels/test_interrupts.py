"""Ctrl-C in the middle of every kernel that can take long.

Left out are those that cannot: one pass over arrays that have to be in memory (``derivatives``,
``of_stored``, ``first_base``, ...), and ``swaps.best_moves``, which takes at most tens of milliseconds:
callers give it no more than WORK_PER_CALL at a time (see objectives/least_squares/gram_search.py).
"""

import signal
import threading
from functools import partial
from time import perf_counter

import numpy as np
import pytest

from swapwise.kernels import (
    blocks,
    completions,
    edge_swaps,
    exploration,
    families,
    gibbs,
    glm,
    ising,
    ising_tables,
    moments,
    perturbations,
    swaps,
)

# Each call would take from five seconds to many minutes, on memory that is next to nothing: rows that repeat
# are stored once. A second is far more than an interrupt needs, but others may use the machine too.
DELAY, PATIENCE = 0.1, 3.0

EMPTY = np.empty(0)
ONE = np.ones((1, 1))
RANDOM = np.random.PCG64(0)


def repeated(values, times):
    return np.broadcast_to(values, (times, len(values)))


def signs(size):
    return np.random.default_rng(0).choice([-1.0, 1.0], size)


def refit(m, samples):
    zeros = np.zeros((1, samples))
    target, weight = (signs(samples) + 1) / 2, np.full(samples, 1 / samples)
    columns = repeated(np.linspace(-1, 1, samples), m)
    arrays = columns, zeros, target, weight, ONE, np.full(m, 1.0), np.zeros((m, 1)), np.zeros(1)
    return partial(glm.refit, (families.LOGISTIC, 0.0), *arrays, -np.inf, 1e-14, 100)


def likelihoods_after_moves():
    samples, m = 5000, 20
    columns = np.random.default_rng(0).standard_normal((m, samples))
    data = columns, np.arange(m + 1), np.arange(m), np.full(m, 0.01)
    sample = np.zeros((1, samples)), (signs(samples) + 1) / 2, np.full(samples, 1 / samples), ONE
    added, support = np.full((50_000, 1), m - 1), np.arange(m - 1)
    return partial(
        glm.values_after,
        (families.LOGISTIC, 0.0), data, sample, False, support, np.zeros((m - 1, 1)), np.zeros(1), -np.inf,
        added, -np.ones_like(added), 1e-14, 100, -np.inf,
    )  # fmt: skip


def graph_of(vertices):
    tail, head = np.triu_indices(vertices, 1)
    return tail, head, np.full(len(tail), 2.0)


def samples_of(spins):
    return spins, spins, EMPTY, np.empty(0, dtype=np.intp), EMPTY


def refit_graph(vertices, samples):
    tail, head, lengths = graph_of(vertices)
    spins = samples_of(repeated(signs(samples), vertices))
    return partial(ising.refit, spins, tail, head, 0 * lengths, 0.1, lengths, 0.0, 1000)


def graphs_after_moves(n_threads):
    tail, head, lengths = graph_of(40)
    problem = samples_of(repeated(signs(20_000), 40)), tail, head, 0.1, lengths, np.full(40, 2.0)
    chosen, added = np.arange(200), np.arange(200, 700)[:, None]
    return partial(
        ising.values_after,
        problem, chosen, np.zeros(200), added, -np.ones_like(added), 1e-13, 100, n_threads
    )  # fmt: skip


def refit_counts():
    tail, head, lengths = graph_of(40)
    each = 5000
    own = np.ones(40 * each)
    tables = np.arange(0, 40 * each + 1, each), own, own / each, repeated(own, 39)
    graph = ising.incidence(tail, head, 40)
    return partial(ising_tables.refit, tables, graph, len(tail), 0 * lengths, 0.1, lengths, 0.0, 1000)


def find_sets():
    return partial(completions.find, np.eye(60), np.full(60, 0.1), np.arange(60), 10, 0.9, 10, 1e-13)


def sums_by_rows():
    n, samples = 100_000, 500_000
    row, weight = np.ones(n), np.ones(samples)
    return partial(moments.by_rows, repeated(row, samples), weight, row, 0, n, np.empty(n), np.empty(n))


def sums_by_columns():
    n, samples = 40_000, 500_000
    column, origin = np.ones(samples), np.ones(n)
    return partial(moments.by_columns, repeated(column, n), column, origin, 0, n, np.empty(n), np.empty(n))


def sample_spins():
    n = 1000
    neighbours, couplings = repeated(np.arange(50), n), repeated(np.zeros(50), n)
    return partial(gibbs.sweep, np.ones(n), neighbours, couplings, repeated(np.full(n, 0.5), 10**8))


class Ring:
    """A graph in which every vertex may have one edge."""

    n = 600

    def arguments(self, slots, degree, holes):
        tail = np.arange(self.n)
        ends = np.append(tail, (tail + 1) % self.n)
        around = np.argsort(ends, kind="stable") % self.n
        begin, capacity = np.arange(0, 2 * self.n + 1, 2), np.ones(self.n, dtype=int)
        return tail, ends[self.n :], begin, around, capacity, slots[:, None], degree, holes


def shuffle_edges():
    ring = Ring()
    slots, holes = np.arange(ring.n) // 2 * 2, np.zeros(ring.n, dtype=int)
    arrays = ring.arguments(slots, np.ones(ring.n, dtype=int), holes)
    return partial(edge_swaps.shuffle, *arrays, 0, 10**6, 10**10, RANDOM.capsule)


def grow_edges():
    ring = Ring()  # it is full, and the two holes at a vertex never meet
    slots, holes = np.arange(ring.n) // 2 * 2, np.zeros(ring.n, dtype=int)
    arrays = list(ring.arguments(slots, np.ones(ring.n, dtype=int), holes))
    arrays[2], arrays[3] = 0 * arrays[2], arrays[3][:0]  # no edge to wander along
    return partial(edge_swaps.grow, *arrays, 2, 10**12, RANDOM.capsule)


def distances_of_classes():
    classes, samples = 2000, 1000
    outcomes = repeated(np.full(samples, 1 / classes), classes)
    steps = np.full((5000, 1, samples), 0.01)
    return partial(families.class_divergences, outcomes, np.ones(samples), np.ones((classes, 1)), steps)


def distances():
    eta = np.zeros(2000)
    return partial(
        families.divergences, (families.LOGISTIC, 0.0), eta, eta, eta + 1, repeated(eta + 0.1, 2_000_000)
    )


def shortened_steps():
    classes, samples, n = 2000, 1000, 5000
    outcomes = repeated(np.full(samples, 1 / classes), classes)
    return partial(
        families.shorten_steps,
        outcomes, np.ones((classes, 1)), np.ones((1, 1, samples)), np.empty((0, samples)),
        np.empty((0, samples)), np.zeros(n + 1, dtype=int), np.arange(n), np.full((n, 1, samples), 0.01), 1.0,
        1.0,
    )  # fmt: skip


def solve():
    return partial(glm.definite_solution, np.eye(5000), np.ones(5000))


def grid(n=2_000_000, k=4000):
    """Return a grid of which only swaps are feasible, all of them the same."""
    feasible = repeated(np.append(np.ones(k, dtype=bool), False), n)
    coupling = repeated(np.full(k, 0.1), n)
    quantities = coupling, np.ones(k), np.ones(k), np.ones(n), np.ones(n), np.zeros(n)
    return feasible, np.arange(k), *quantities


def few_columns():
    columns = np.random.default_rng(0).standard_normal((50, 60))
    columns /= np.linalg.norm(columns, axis=0)
    whole = np.zeros(60, dtype=int), np.array([1]), np.array([0]), np.array([10]), np.array([0])
    with_y = (columns[:, ::3].sum(axis=1) / 5 @ columns).astype(np.float32)
    return columns, with_y, whole, np.zeros(60, dtype=bool)


def explore():
    columns, *problem = few_columns()
    source = exploration.unit_columns(columns, False, np.zeros(60), np.ones(60), EMPTY)
    search = exploration.begin(source, *problem, 10)
    exploration.join_best(search, 4)
    start = np.arange(10)
    return partial(exploration.better, search, start, 2.0, 10**9, np.inf)


def perturb():
    columns, *problem = few_columns()
    gram = (columns.T @ columns).astype(np.float32)
    return partial(perturbations.local_optima, gram, *problem, np.arange(10)[None, :], 10**6, RANDOM.capsule)


def best_of_rows():
    return partial(swaps.best_of_rows, *grid())


def best_of_grid():
    return partial(swaps.best_of_grid, *grid(), 1e-9, 1.0)


def gains_of_large_moves():
    k, rows = 30, 10**7
    moves = repeated(np.arange(k), rows)
    eye, ones = np.eye(k), np.ones(k)
    return partial(swaps.move_gains, moves, moves, moves, moves, eye, eye, eye, ones, ones, 0 * ones, 0.0)


def gains_of_blocks():
    k, moves = 60, np.zeros(3_000_000, dtype=int)
    eye, ones, begin = np.eye(k), np.ones(k), np.array([0, k])
    elements = begin, np.zeros(1, dtype=int), eye, ones, eye.ravel(), 0 * ones
    drops = begin, np.arange(k), *blocks.drop_factors(begin, np.arange(k), eye, ones)
    return partial(blocks.pair_gains, moves, moves, elements, drops, False)


def moves_of_blocks():
    size, n, most = 300, 10, 5  # each move is a swap of 300 columns for 300 others
    rows, room = size * n, size * most
    eye, begin, zero = np.eye(rows), np.arange(0, rows + 1, size), np.zeros(1, dtype=int)
    with_y = np.repeat(np.arange(1.0, n + 1), size)
    tableau = (
        np.empty(most, dtype=int), np.full(n, -1), np.zeros((rows, room)), np.zeros((room, room)),
        np.zeros(room), with_y, np.ones(rows), np.tile(np.eye(size).ravel(), n), np.empty(room, dtype=int),
        np.full(rows, -1), np.zeros(3, dtype=int), np.zeros(1),
    )  # fmt: skip
    limits = np.zeros(n, dtype=int), zero + 1, zero, zero + most, zero
    at, fixed = begin[:-1] * size, np.zeros(n, dtype=bool)
    problem = eye, np.full(rows, 1e-6), begin, at, limits, fixed, tableau, np.arange(most)
    return partial(blocks.best_moves, *problem, float(with_y @ with_y), 1e-9, 1e-9, False, 1000)


CALLS = {
    "glm.refit": lambda: refit(250, 2_000_000),
    "glm.refit of many columns": lambda: refit(600, 300_000),
    "glm.values_after": likelihoods_after_moves,
    "glm.definite_solution": solve,
    "ising.refit": lambda: refit_graph(40, 200_000),
    "ising.refit of many edges": lambda: refit_graph(80, 1),
    "ising.values_after": lambda: graphs_after_moves(1),
    "ising.values_after in threads": lambda: graphs_after_moves(3),
    "ising_tables.refit": refit_counts,
    "completions.find": find_sets,
    "moments.by_rows": sums_by_rows,
    "moments.by_columns": sums_by_columns,
    "gibbs.sweep": sample_spins,
    "edge_swaps.shuffle": shuffle_edges,
    "edge_swaps.grow": grow_edges,
    "exploration.better": explore,
    "perturbations.local_optima": perturb,
    "families.divergences": distances,
    "families.class_divergences": distances_of_classes,
    "families.shorten_steps": shortened_steps,
    "swaps.best_of_grid": best_of_grid,
    "swaps.best_of_rows": best_of_rows,
    "swaps.move_gains": gains_of_large_moves,
    "blocks.pair_gains": gains_of_blocks,
    "blocks.best_moves": moves_of_blocks,
}


@pytest.fixture
def interruptible():
    """Shells have jobs in the background ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("name", CALLS)
def test_long_kernels_hear_an_interrupt(name):
    call, sent = CALLS[name](), []

    def interrupt():  # in a thread that needs the interpreter: what takes long must release it
        sent.append(perf_counter())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(DELAY, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        assert perf_counter() - sent[0] < PATIENCE
    finally:
        timer.cancel()
        timer.join()
