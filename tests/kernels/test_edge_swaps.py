"""Walks over subgraphs: the same seed gives the same as in plain Python, and what is kept stays kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise import kernels
from swapwise.kernels import _baseline


class Plain:
    """A subgraph and its walks, step by step as the kernels take them."""

    def __init__(self, tail, head, capacity):
        self.tail, self.head = tail.tolist(), head.tolist()
        self.capacity = capacity.tolist()
        self.around = [
            [e for ends in (tail, head) for e in np.flatnonzero(ends == v)] for v in range(len(capacity))
        ]
        self.slots = [[] for _ in self.capacity]
        self.holes = [v for v, room in enumerate(self.capacity) for _ in range(room)]

    def room(self, v):
        return self.capacity[v] - len(self.slots[v])

    def other(self, edge, v):
        return self.tail[edge] + self.head[edge] - v

    def drop(self, edge):
        for v in (self.tail[edge], self.head[edge]):
            self._drop_at(v, edge)

    def _drop_at(self, v, edge):
        last = self.slots[v].pop()
        if last != edge:
            self.slots[v][self.slots[v].index(edge)] = last

    def move_hole(self, most_steps, rng):
        widest = max(map(len, self.around))
        for step in range(most_steps):
            hole = int(rng.random() * len(self.holes))
            u = self.holes[hole]
            place = int(rng.random() * widest)
            if place >= len(self.around[u]) or self.around[u][place] in self.slots[u]:
                continue
            edge = self.around[u][place]
            v = self.other(edge, u)
            if self.room(v):
                if rng.random() * (self.room(u) + self.room(v)) < 2:
                    self.slots[u].append(edge)
                    self.slots[v].append(edge)
                    self.holes[hole] = self.holes[-1]
                    self.holes[self.holes.index(v)] = self.holes[-2]
                    del self.holes[-2:]
                    return step + 1
                continue
            out = self.slots[v][int(rng.random() * len(self.slots[v]))]
            x = self.other(out, v)
            if rng.random() * self.room(u) < self.room(x) + 1:
                self._drop_at(v, out)
                self._drop_at(x, out)
                self.slots[u].append(edge)
                self.slots[v].append(edge)
                self.holes[hole] = x
        return 0

    def grow(self, most_steps, rng):
        while len(self.holes) > 1 and self.move_hole(most_steps, rng):
            pass

    def shuffle(self, most_steps, n_walks, rng):
        total = 0
        for _ in range(n_walks):
            before = [list(at) for at in self.slots], list(self.holes)
            edge = self._some_edge(rng)
            self.drop(edge)
            self.holes += [self.tail[edge], self.head[edge]]
            steps = self.move_hole(most_steps, rng)
            if not steps:
                self.slots, self.holes = before
            total += steps
        return total

    def _some_edge(self, rng):
        while True:
            v, place = int(rng.random() * len(self.slots)), int(rng.random() * max(self.capacity))
            if place < len(self.slots[v]) and self.tail[self.slots[v][place]] == v:
                return self.slots[v][place]


@st.composite
def graphs(draw):
    """Edges whose ends both have room, and how much room vertices have: no more than they have edges."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_vertices = draw(st.integers(2, 8))
    tail, head = np.triu_indices(n_vertices, 1)
    capacity = rng.integers(0, draw(st.integers(2, 4)), n_vertices)
    capacity[:2] += 1
    usable = (rng.random(len(tail)) < draw(st.sampled_from([0.5, 1.0]))) & (capacity[tail] > 0)
    usable = (usable & (capacity[head] > 0)) | (np.arange(len(tail)) == 0)
    tail, head = tail[usable], head[usable]
    return tail, head, np.minimum(capacity, np.bincount(np.append(tail, head), minlength=n_vertices))


@pytest.mark.parametrize("level", [kernels._compiled, _baseline])
@given(graphs(), st.integers(0, 10**6), st.sampled_from([1, 5, 300]), st.integers(0, 8))
def test_walks_are_those_of_plain_python(level, graph, seed, most_steps, n_walks):
    tail, head, capacity = graph
    ends = np.append(tail, head)
    begin = np.append(0, np.cumsum(np.bincount(ends, minlength=len(capacity))))
    around = np.argsort(ends, kind="stable") % len(tail)
    slots, degree = np.zeros((len(capacity), capacity.max()), int), np.zeros(len(capacity), int)
    holes = np.repeat(np.arange(len(capacity)), capacity)
    subgraph = tail, head, begin, around, capacity, slots, degree, holes
    rng, plain_rng = np.random.default_rng(seed), np.random.default_rng(seed)
    plain = Plain(tail, head, capacity)

    def same():
        assert degree.tolist() == list(map(len, plain.slots))
        assert [slots[v, : degree[v]].tolist() for v in range(len(degree))] == plain.slots
        assert holes[:n_holes].tolist() == plain.holes
        assert rng.bit_generator.state == plain_rng.bit_generator.state

    source = rng.bit_generator.capsule
    n_holes = level.edge_swaps.grow(*subgraph, int(capacity.sum()), most_steps, source)
    plain.grow(most_steps, plain_rng)
    same()
    if degree.any():
        steps = level.edge_swaps.shuffle(*subgraph, n_holes, most_steps, n_walks, source)
        assert steps == plain.shuffle(most_steps, n_walks, plain_rng)
        same()


@pytest.mark.parametrize("source", [None, 0, np.random.default_rng(0)])
def test_random_numbers_come_from_a_bit_generator(source):
    one = np.zeros(1, dtype=int)
    with pytest.raises(TypeError):
        kernels.edge_swaps.grow(one, one, one, one, one, one[None], one, one, 0, 1, source)
