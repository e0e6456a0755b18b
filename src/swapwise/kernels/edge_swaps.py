"""Random walks over the subgraphs of a graph in which no vertex has more edges than its capacity.

A subgraph is three arrays: ``degree[v]``, the chosen edges ``slots[v, :degree[v]]`` at every vertex,
and ``holes``, in which every vertex stands once for each edge it has room for; ``n_holes`` of its
entries count. The edges at vertex v of the graph around it are ``around[begin[v] : begin[v + 1]]``.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def _below(count, rng):
    """Return a random index; ``rng.integers`` would do, but takes numba seconds longer to compile."""
    return int(rng.random() * count)


@njit(cache=True)
def _drop_from(slots, degree, vertex, edge):
    last = degree[vertex] - 1
    place = 0
    while slots[vertex, place] != edge:
        place += 1
    slots[vertex, place] = slots[vertex, last]
    degree[vertex] = last


@njit(cache=True)
def _add_to(slots, degree, vertex, edge):
    slots[vertex, degree[vertex]] = edge
    degree[vertex] += 1


@njit(cache=True)
def _holds(slots, degree, vertex, edge):
    for place in range(degree[vertex]):  # noqa: SIM110  (numba compiles this loop, not a generator)
        if slots[vertex, place] == edge:
            return True
    return False


@njit(cache=True)
def move_hole(tail, head, begin, around, capacity, slots, degree, holes, n_holes, most_steps, rng):
    """Let holes wander until two of them meet in an edge; return the steps it took, 0 if they did not.

    A step picks a hole, at u, and an edge (u, v) of the graph. If v has a hole, the edge is added and
    the walk ends. If not, the edge takes the place of an edge (v, x) of the subgraph: the hole is now
    at x. Steps are accepted so that each is as likely as its reverse, and the last one equally likely
    wherever it happens.
    """
    widest = 0
    for vertex in range(len(capacity)):
        widest = max(widest, begin[vertex + 1] - begin[vertex])
    for step in range(most_steps):
        hole = _below(n_holes, rng)
        u = holes[hole]
        place = begin[u] + _below(widest, rng)  # the same odds for an edge from both of its ends
        if place >= begin[u + 1]:
            continue
        edge = around[place]
        if _holds(slots, degree, u, edge):
            continue
        v = tail[edge] + head[edge] - u
        room = capacity[u] - degree[u]
        if degree[v] < capacity[v]:
            if rng.random() * (room + capacity[v] - degree[v]) >= 2.0:
                continue
            _add_to(slots, degree, u, edge)
            _add_to(slots, degree, v, edge)
            holes[hole] = holes[n_holes - 1]
            other = 0
            while holes[other] != v:
                other += 1
            holes[other] = holes[n_holes - 2]
            return step + 1
        out = slots[v, _below(degree[v], rng)]
        x = tail[out] + head[out] - v
        if rng.random() * room >= capacity[x] - degree[x] + 1:
            continue
        _drop_from(slots, degree, v, out)
        _drop_from(slots, degree, x, out)
        _add_to(slots, degree, u, edge)
        _add_to(slots, degree, v, edge)
        holes[hole] = x
    return 0


@njit(cache=True)
def grow(tail, head, begin, around, capacity, slots, degree, holes, n_holes, most_steps, rng):
    """Add edges by walks of the holes until at most one hole is left or a walk fails; return the holes."""
    while n_holes > 1:
        if not move_hole(tail, head, begin, around, capacity, slots, degree, holes, n_holes, most_steps, rng):
            break
        n_holes -= 2
    return n_holes


@njit(cache=True)
def _some_edge(tail, slots, degree, rng):
    """Return a random edge of the subgraph: each is met from both ends and counts from its tail."""
    while True:
        vertex = _below(len(degree), rng)
        place = _below(slots.shape[1], rng)
        if place < degree[vertex] and tail[slots[vertex, place]] == vertex:
            return slots[vertex, place]


@njit(cache=True)
def shuffle(tail, head, begin, around, capacity, slots, degree, holes, n_holes, most_steps, n_walks, rng):
    """Drop a random edge and let the holes wander until an edge is added, ``n_walks`` times.

    There must be an edge to drop. A walk that takes too long is undone. Return the steps in all.
    """
    total = 0
    for _ in range(n_walks):
        before_slots, before_degree, before_holes = slots.copy(), degree.copy(), holes.copy()
        edge = _some_edge(tail, slots, degree, rng)
        for vertex, place in ((tail[edge], n_holes), (head[edge], n_holes + 1)):
            _drop_from(slots, degree, vertex, edge)
            holes[place] = vertex
        steps = move_hole(
            tail, head, begin, around, capacity, slots, degree, holes, n_holes + 2, most_steps, rng
        )
        if not steps:
            slots[:], degree[:], holes[:] = before_slots, before_degree, before_holes
        total += steps
    return total
