// Limits on nested sets: a tree of sets, numbered so that parents come before their children.
//
// `leaf` is the smallest set of each element, `parent` and `capacity` are by set; the root, number 0, is the
// whole ground set.
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace swapwise::nested {

// A laminar family with its sets in preorder: those within set v are v .. end[v] - 1.
struct Limits {
    Indices leaf, end, parent, capacity;
};
using LimitArrays = std::tuple<Indices, Indices, Indices, Indices>;

inline void count(Index node, Indices parent, Vec<Index> counts) {
    for (; node > 0; node = parent[node]) ++counts[node];
    ++counts[0];
}

// Add to a mask of chosen elements each of an order in turn that the limits allow.
inline void first_base(Vec<bool> chosen, Indices order, Indices leaf, Indices parent, Indices capacity) {
    auto counts = Vector<Index>::filled(0, parent.size);
    for (Index element = 0; element < chosen.size; ++element) {
        if (chosen[element]) count(leaf[element], parent, counts);
    }
    for (Index element : order) {
        if (chosen[element]) continue;
        Index node = leaf[element];
        while (node > 0 && counts[node] < capacity[node]) node = parent[node];
        if (node == 0 && counts[0] < capacity[0]) {
            chosen[element] = true;
            count(leaf[element], parent, counts);
            if (counts[0] == capacity[0]) break;
        }
    }
}

// The elements of disjoint bases, each of the largest positive weights that the ones before have left. A base
// has `rank` elements, if enough weights are positive.
template <class Number>
std::vector<Index> heaviest_bases(Vec<const Number> weights, const Limits &limits, Index rank, Index bases) {
    std::vector<Index> heap, found;
    for (Index element = 0; element < weights.size; ++element) {
        if (weights[element] > 0) heap.push_back(element);
    }
    const auto comes_later = [&](Index a, Index b) {
        return weights[a] < weights[b] || (weights[a] == weights[b] && a > b);
    };
    std::make_heap(heap.begin(), heap.end(), comes_later);
    auto counts = Matrix<Index>::filled(0, bases, limits.parent.size);
    while (!heap.empty() && static_cast<Index>(found.size()) < bases * rank) {
        const Index element = heap.front();
        std::pop_heap(heap.begin(), heap.end(), comes_later);
        heap.pop_back();
        for (Index base = 0; base < bases; ++base) {
            const Vec<Index> held = counts[base];
            Index node = limits.leaf[element];
            while (node > 0 && held[node] < limits.capacity[node]) node = limits.parent[node];
            if (node > 0 || held[0] >= limits.capacity[0]) continue;
            count(limits.leaf[element], limits.parent, held);
            found.push_back(element);
            break;
        }
    }
    return found;
}

// The smallest full set around each set, or -1.
inline Vector<Index> full_sets(const Limits &limits, Indices chosen) {
    const Index sets = limits.end.size;
    auto counts = Vector<Index>::filled(0, sets);
    auto full = Vector<Index>::filled(-1, sets);
    for (Index element : chosen) ++counts[limits.leaf[element]];
    for (Index set = sets - 1; set > 0; --set) counts[limits.parent[set]] += counts[set];
    for (Index set = 0; set < sets; ++set) {
        if (counts[set] >= limits.capacity[set]) {
            full[set] = set;
        } else if (set > 0) {
            full[set] = full[limits.parent[set]];
        }
    }
    return full;
}

// The mask of all additions (last column) and swaps. An element has a `place` if it is chosen; what is
// `fixed` is never dropped.
inline Matrix<bool> feasible_moves(const Limits &limits, Flags fixed, Indices place, Indices drops) {
    const Index n = limits.leaf.size, size = drops.size;
    const Vector<Index> full_set = full_sets(limits, drops);
    auto feasible = Matrix<bool>::filled(false, n, size + 1);
    for (Index j = 0; j < n; ++j) {
        if (place[j] >= 0) continue;
        const Index full = full_set[limits.leaf[j]];
        feasible(j, size) = full < 0;
        if (full < 0) continue;
        for (Index i = 0; i < size; ++i) {
            const Index leaf = limits.leaf[drops[i]];
            feasible(j, i) = full <= leaf && leaf < limits.end[full] && !fixed[drops[i]];
        }
    }
    return feasible;
}

// What a run of moves adds and drops (-1 for nothing), and the gain of each.
class MoveRecord {
  public:
    explicit MoveRecord(Index most) : _moves(most, 2), _gains(most) {}

    void add(Index added, Index dropped, double gain) {
        _moves(_size, 0) = added;
        _moves(_size, 1) = dropped;
        _gains[_size++] = gain;
    }

    std::pair<Matrix<Index>, Vector<double>> finish() const {
        Matrix<Index> moves(_size, 2);
        Vector<double> gains(_size);
        std::copy_n(_moves.data, 2 * _size, moves.data);
        std::copy_n(_gains.data, _size, gains.data);
        return {std::move(moves), std::move(gains)};
    }

  private:
    Matrix<Index> _moves;
    Vector<double> _gains;
    Index _size = 0;
};

}  // namespace swapwise::nested
