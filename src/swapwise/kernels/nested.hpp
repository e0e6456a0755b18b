// Limits on nested sets: a tree of sets, numbered so that parents come before their children.
//
// `leaf` is the smallest set of each element; `parent`, `capacity` and `at_least` are by set; the root, number 0,
// is the whole ground set. A set that has fewer elements than its lower limit asks for takes up the places of
// those to come: its demand is the larger of the limit and what its own elements and the sets within it demand.
// No demand may exceed the capacity.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace swapwise::nested {

// A laminar family with its sets in preorder: those within set v are v .. end[v] - 1.
struct Limits {
    Indices leaf, end, parent, capacity, at_least;

    bool holds(Index set, Index node) const { return set <= node && node < end[set]; }
};
using LimitArrays = std::tuple<Indices, Indices, Indices, Indices, Indices>;

// What the elements of each set and the sets within it demand, for a set that grows.
class Demands {
  public:
    Demands(Indices parent, Indices capacity, Indices at_least)
        : _parent(parent), _capacity(capacity), _at_least(at_least), _sums(Vector<Index>::filled(0, parent.size)) {
        for (Index set = parent.size - 1; set > 0; --set) _sums[parent[set]] += std::max(_sums[set], at_least[set]);
        for (Index set = 0; set < parent.size; ++set) _missing += std::max<Index>(at_least[set] - _sums[set], 0);
    }

    // Whether there is room for one more element: in places kept for it, or in all sets around.
    bool fits(Index leaf) const {
        for (Index set = leaf;; set = _parent[set]) {
            if (_sums[set] < _at_least[set]) return true;
            if (_sums[set] >= _capacity[set]) return false;
            if (set == 0) return true;
        }
    }

    void add(Index leaf) {
        for (Index set = leaf;; set = _parent[set]) {
            if (_sums[set]++ < _at_least[set]) {  // its place was kept, so that the sets around see no change
                --_missing;
                return;
            }
            if (set == 0) return;
        }
    }

    // Whether nothing more fits, whatever it is.
    bool is_full() const { return _missing == 0 && _sums[0] >= _capacity[0]; }

  private:
    Indices _parent, _capacity, _at_least;
    Vector<Index> _sums;
    Index _missing = 0;
};

// Add to a mask of chosen elements each of an order in turn that the limits allow.
inline void first_base(Vec<bool> chosen, Indices order, Indices leaf, Indices parent, Indices capacity,
                       Indices at_least) {
    Demands demands(parent, capacity, at_least);
    for (Index element = 0; element < chosen.size; ++element) {
        if (chosen[element]) demands.add(leaf[element]);
    }
    for (Index element : order) {
        if (chosen[element] || !demands.fits(leaf[element])) continue;
        chosen[element] = true;
        demands.add(leaf[element]);
        if (demands.is_full()) break;
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
    std::vector<Demands> demands;
    for (Index base = 0; base < bases; ++base) demands.emplace_back(limits.parent, limits.capacity, limits.at_least);
    while (!heap.empty() && static_cast<Index>(found.size()) < bases * rank) {
        const Index element = heap.front();
        std::pop_heap(heap.begin(), heap.end(), comes_later);
        heap.pop_back();
        for (Demands &base : demands) {
            if (!base.fits(limits.leaf[element])) continue;
            base.add(limits.leaf[element]);
            found.push_back(element);
            break;
        }
    }
    return found;
}

// Of each set, the smallest full set that keeps newcomers out, and the smallest set around whose demand stays the
// same when one of the elements goes, by its lower limit; -1 if there is none.
struct Blockers {
    Vector<Index> full, keeper;

    // Whether an element of one set makes room in another, which a full set keeps newcomers out of: if it is in
    // the full set, and that, or a set with the newcomer in it, has a place more when it goes.
    bool makes_room(const Limits &limits, Index leaving, Index coming) const {
        const Index blocker = full[coming], keeps = keeper[leaving];
        return limits.holds(blocker, leaving) && (keeps <= blocker || limits.holds(keeps, coming));
    }
};

inline Blockers blockers_at(const Limits &limits, Indices chosen) {
    const Index sets = limits.end.size;
    auto sums = Vector<Index>::filled(0, sets);
    for (Index element : chosen) ++sums[limits.leaf[element]];
    for (Index set = sets - 1; set > 0; --set) {
        sums[limits.parent[set]] += std::max(sums[set], limits.at_least[set]);
    }
    Blockers at{Vector<Index>(sets), Vector<Index>(sets)};
    for (Index set = 0; set < sets; ++set) {
        const Index full = set > 0 ? at.full[limits.parent[set]] : -1;
        const Index keeper = set > 0 ? at.keeper[limits.parent[set]] : -1;
        const bool has_places = sums[set] < limits.at_least[set];
        at.full[set] = has_places ? -1 : sums[set] >= limits.capacity[set] ? set : full;
        at.keeper[set] = limits.at_least[set] > 0 && sums[set] <= limits.at_least[set] ? set : keeper;
    }
    return at;
}

// The mask of all additions (last column) and swaps. An element has a `place` if it is chosen; what is
// `fixed` is never dropped.
inline Matrix<bool> feasible_moves(const Limits &limits, Flags fixed, Indices place, Indices drops) {
    const Index n = limits.leaf.size, size = drops.size;
    const Blockers at = blockers_at(limits, drops);
    auto feasible = Matrix<bool>::filled(false, n, size + 1);
    for (Index j = 0; j < n; ++j) {
        if (place[j] >= 0) continue;
        const Index coming = limits.leaf[j];
        feasible(j, size) = at.full[coming] < 0;
        if (at.full[coming] < 0) continue;
        for (Index i = 0; i < size; ++i) {
            feasible(j, i) = at.makes_room(limits, limits.leaf[drops[i]], coming) && !fixed[drops[i]];
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
