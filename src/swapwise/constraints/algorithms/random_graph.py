"""Random subgraphs whose vertices have as many edges as their capacities allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from swapwise.checks import IndexArray
from swapwise.constraints.algorithms.max_weight_packing import max_weight_packing
from swapwise.kernels import edge_swaps

# How long the chain runs: see "How long" below.
FIRST_WALKS, WALKS_PER_EDGE, STEPS_PER_EDGE = 100, 10, 50
# A walk that needs more steps than this, times the edges at a vertex and in the subgraph, is given up.
PATIENCE = 20


def random_subgraph(
    tail: IndexArray, head: IndexArray, capacity: IndexArray, rng: np.random.Generator
) -> IndexArray:
    """Return a random set of edges, as many as possible, with at most ``capacity[v]`` at each vertex v.

    Edge e of the simple graph joins ``tail[e]`` and ``head[e]``, vertices from 0 to V − 1.

    **Which distribution.** The set is the state of a Markov chain after a fixed number of walks. The
    chain lives on all sets of the largest possible size m, and its stationary distribution is uniform
    on them; so in the complete graph with b edges at each of V vertices, b V even, it is uniform on all
    simple b-regular graphs with labelled vertices. A walk drops a random edge, which leaves a hole at
    both ends. Holes then move along alternating paths: a hole at u picks an edge (u, v) of the graph;
    if v is full, that edge takes the place of a random chosen edge (v, x), and the hole is at x. The
    walk ends when two holes meet in an edge, which is added. Walked backwards, each walk is as likely
    (walks that take too long are undone, in either direction), hence the uniform distribution. And all
    sets can be reached: two largest sets differ in alternating paths and circuits, each of which is a
    walk. The idea is the one of Jerrum and Sinclair (1989) for perfect matchings.

    **How long.** A hundred walks show how many steps one takes; then as many more as make 50 steps for
    each edge of the set, or ten walks for each edge if that is less. So every edge is exchanged dozens
    of times, where a few times its logarithm would do if all exchanges were independent. In the
    complete graph a walk has about as many steps as there are vertices. Nothing is proven about the
    speed of convergence; in sparse graphs with long narrow parts it may be slow.
    """
    room = np.asarray(capacity, dtype=np.intp)
    usable = np.flatnonzero((room[tail] > 0) & (room[head] > 0))
    if not len(usable):
        return usable
    tail, head = np.asarray(tail, dtype=np.intp)[usable], np.asarray(head, dtype=np.intp)[usable]
    subgraph = _Subgraph.empty(tail, head, room)
    subgraph.complete(rng)
    subgraph.shuffle(rng)
    return usable[subgraph.edges()]


@dataclass
class _Subgraph:
    """The arrays that the kernels walk on (see kernels/edge_swaps.hpp)."""

    tail: IndexArray
    head: IndexArray
    begin: IndexArray
    around: IndexArray
    capacity: IndexArray
    slots: IndexArray
    degree: IndexArray
    holes: IndexArray
    n_holes: int

    @classmethod
    def empty(cls, tail: IndexArray, head: IndexArray, capacity: IndexArray) -> _Subgraph:
        ends = np.concatenate([tail, head])
        by_vertex = np.argsort(ends, kind="stable")
        available = np.bincount(ends, minlength=len(capacity))
        capacity = np.minimum(capacity, available)  # room that no edge can fill would only stray about
        return cls(
            tail=tail,
            head=head,
            begin=np.append(0, np.cumsum(available)),
            around=by_vertex % len(tail),
            capacity=capacity,
            slots=np.zeros((len(capacity), capacity.max()), dtype=np.intp),
            degree=np.zeros(len(capacity), dtype=np.intp),
            holes=np.repeat(np.arange(len(capacity)), capacity),
            n_holes=int(capacity.sum()),
        )

    @property
    def most_steps(self) -> int:
        """Limit on the length of a walk: the longest that is ever needed, and a margin for chance."""
        return PATIENCE * int(np.diff(self.begin).max() + self.capacity.sum())

    def edges(self) -> IndexArray:
        used = np.arange(self.slots.shape[1]) < self.degree[:, None]
        return np.unique(self.slots[used])

    def complete(self, rng: np.random.Generator) -> None:
        self.n_holes = self._walk(edge_swaps.grow, rng)
        if self.n_holes > 1:  # perhaps no more edges fit, perhaps the walk was unlucky
            ends = np.stack([self.tail, self.head], axis=1)
            largest, _ = max_weight_packing(np.ones(len(ends)), ends, self.capacity)
            if len(largest) > self.degree.sum() // 2:
                self._take(largest)

    def _take(self, edges: IndexArray) -> None:
        self.degree[:] = 0
        for edge in edges:
            for vertex in (self.tail[edge], self.head[edge]):
                self.slots[vertex, self.degree[vertex]] = edge
                self.degree[vertex] += 1
        holes = np.repeat(np.arange(len(self.capacity)), self.capacity - self.degree)
        self.n_holes = len(holes)
        self.holes[: self.n_holes] = holes

    def shuffle(self, rng: np.random.Generator) -> None:
        size = int(self.degree.sum() // 2)
        steps = self._run(FIRST_WALKS, rng)
        self._run(min(WALKS_PER_EDGE * size, STEPS_PER_EDGE * size * FIRST_WALKS // max(steps, 1) + 1), rng)

    def _run(self, n_walks: int, rng: np.random.Generator) -> int:
        return self._walk(edge_swaps.shuffle, rng, n_walks)

    def _walk(self, kernel: Callable[..., int], rng: np.random.Generator, *options: int) -> int:
        """Call a kernel that draws from a generator, which is locked meanwhile."""
        source = rng.bit_generator
        with source.lock:
            return kernel(*self._walk_arguments(), self.n_holes, self.most_steps, *options, source.capsule)

    def _walk_arguments(self) -> tuple[IndexArray, ...]:
        return (
            self.tail,
            self.head,
            self.begin,
            self.around,
            self.capacity,
            self.slots,
            self.degree,
            self.holes,
        )
