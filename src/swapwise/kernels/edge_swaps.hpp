// Random walks over the subgraphs of a graph in which no vertex has more edges than its capacity.
//
// A subgraph is three arrays: degree[v], the chosen edges slots[v, :degree[v]] at every vertex, and `holes`,
// in which every vertex stands once for each edge it has room for; n_holes of its entries count. The edges at
// vertex v of the graph around it are around[begin[v] : begin[v + 1]]. Interrupted in the middle of a walk, a
// subgraph lacks an edge.
#pragma once

#include "arrays.hpp"
#include "listening.hpp"
#include "random_numbers.hpp"

namespace swapwise::edge_swaps {

// Asking for signals takes as long as some steps.
inline constexpr Index STEPS_UNHEARD = 256;

inline void drop_from(Mat<Index> slots, Vec<Index> degree, Index vertex, Index edge) {
    const Index last = degree[vertex] - 1;
    Index place = 0;
    while (slots(vertex, place) != edge) ++place;
    slots(vertex, place) = slots(vertex, last);
    degree[vertex] = last;
}

inline void add_to(Mat<Index> slots, Vec<Index> degree, Index vertex, Index edge) {
    slots(vertex, degree[vertex]) = edge;
    ++degree[vertex];
}

inline bool holds(Mat<Index> slots, Vec<Index> degree, Index vertex, Index edge) {
    for (Index place = 0; place < degree[vertex]; ++place) {
        if (slots(vertex, place) == edge) return true;
    }
    return false;
}

// Let holes wander until two of them meet in an edge; return the steps it took, 0 if they did not.
//
// A step picks a hole, at u, and an edge (u, v) of the graph. If v has a hole, the edge is added and the walk
// ends. If not, the edge takes the place of an edge (v, x) of the subgraph: the hole is now at x. Steps are
// accepted so that each is as likely as its reverse, and the last one equally likely wherever it happens.
inline Index move_hole(Indices tail, Indices head, Indices begin, Indices around, Indices capacity,
                       Mat<Index> slots, Vec<Index> degree, Vec<Index> holes, Index n_holes, Index most_steps,
                       RandomNumbers random) {
    Index widest = 0;
    for (Index v = 0; v < capacity.size; ++v) widest = std::max(widest, begin[v + 1] - begin[v]);
    for (Index step = 0; step < most_steps; ++step) {
        if (step % STEPS_UNHEARD == 0) raise_if_interrupted();
        const Index hole = random.below(n_holes), u = holes[hole];
        const Index place = begin[u] + random.below(widest);  // the same odds for an edge from both ends
        if (place >= begin[u + 1]) continue;
        const Index edge = around[place];
        if (holds(slots, degree, u, edge)) continue;
        const Index v = tail[edge] + head[edge] - u, room = capacity[u] - degree[u];
        if (degree[v] < capacity[v]) {
            if (random.uniform() * static_cast<double>(room + capacity[v] - degree[v]) >= 2.0) continue;
            add_to(slots, degree, u, edge);
            add_to(slots, degree, v, edge);
            holes[hole] = holes[n_holes - 1];
            Index other = 0;
            while (holes[other] != v) ++other;
            holes[other] = holes[n_holes - 2];
            return step + 1;
        }
        const Index out = slots(v, random.below(degree[v])), x = tail[out] + head[out] - v;
        const Index room_there = capacity[x] - degree[x] + 1;
        if (random.uniform() * static_cast<double>(room) >= static_cast<double>(room_there)) continue;
        drop_from(slots, degree, v, out);
        drop_from(slots, degree, x, out);
        add_to(slots, degree, u, edge);
        add_to(slots, degree, v, edge);
        holes[hole] = x;
    }
    return 0;
}

// Add edges by walks of the holes until at most one hole is left or a walk fails; return the holes.
inline Index grow(Indices tail, Indices head, Indices begin, Indices around, Indices capacity,
                  Mat<Index> slots, Vec<Index> degree, Vec<Index> holes, Index n_holes, Index most_steps,
                  RandomNumbers random) {
    for (; n_holes > 1; n_holes -= 2) {
        const Index steps = move_hole(tail, head, begin, around, capacity, slots, degree, holes, n_holes,
                                      most_steps, random);
        if (steps == 0) break;
    }
    return n_holes;
}

// Return a random edge of the subgraph: each is met from both ends and counts from its tail.
inline Index some_edge(Indices tail, Mat<Index> slots, Vec<Index> degree, RandomNumbers random) {
    for (Listener listener;; listener.after(STEPS_UNHEARD)) {
        const Index vertex = random.below(degree.size), place = random.below(slots.columns);
        if (place < degree[vertex] && tail[slots(vertex, place)] == vertex) return slots(vertex, place);
    }
}

// Drop a random edge and let the holes wander until an edge is added, `n_walks` times.
//
// There must be an edge to drop. A walk that takes too long is undone. Return the steps in all.
inline Index shuffle(Indices tail, Indices head, Indices begin, Indices around, Indices capacity,
                     Mat<Index> slots, Vec<Index> degree, Vec<Index> holes, Index n_holes, Index most_steps,
                     Index n_walks, RandomNumbers random) {
    Matrix<Index> slots_before(slots.rows, slots.columns);
    Vector<Index> degree_before(degree.size), holes_before(holes.size);
    Index total = 0;
    for (Index walk = 0; walk < n_walks; ++walk) {
        for (Index v = 0; v < slots.rows; ++v) slots_before[v].copy(slots[v]);
        degree_before.copy(degree);
        holes_before.copy(holes);
        const Index edge = some_edge(tail, slots, degree, random);
        drop_from(slots, degree, tail[edge], edge);
        drop_from(slots, degree, head[edge], edge);
        holes[n_holes] = tail[edge];
        holes[n_holes + 1] = head[edge];
        const Index steps = move_hole(tail, head, begin, around, capacity, slots, degree, holes, n_holes + 2,
                                      most_steps, random);
        if (steps == 0) {
            for (Index v = 0; v < slots.rows; ++v) slots[v].copy(slots_before[v]);
            degree.copy(degree_before);
            holes.copy(holes_before);
        }
        total += steps;
    }
    return total;
}

}  // namespace swapwise::edge_swaps
