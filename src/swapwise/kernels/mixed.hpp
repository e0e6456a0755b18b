// Limits of several kinds at once: places in groups, elements of few labels, budgets.
#pragma once

#include <algorithm>
#include <tuple>

#include "arrays.hpp"

namespace swapwise::mixed {

struct Limits {
    Mat<const Index> groups;  // of each element, padded with -1
    Indices capacity;         // of each group
    Indices label;            // of each element
    Indices room;             // of each label, how many of it may be chosen
    Indices most;             // how many labels may be chosen from, and how many elements in all
    Table shares;             // what each element takes of the budgets, one row each
    Numbers budget;
};
using LimitArrays = std::tuple<Mat<const Index>, Indices, Indices, Indices, Indices, Table, Numbers>;

// What a set takes of everything that is limited.
class Taken {
  public:
    Taken(const Limits &limits, Indices chosen)
        : _limits(limits),
          _chosen(chosen),
          _places(Vector<Index>::filled(0, limits.capacity.size)),
          _of_label(Vector<Index>::filled(0, limits.room.size)),
          _left(limits.budget.size) {
        std::copy_n(limits.budget.data, limits.budget.size, _left.data);
        for (Index element : chosen) {
            for (Index group : limits.groups[element]) {
                if (group >= 0) ++_places[group];
            }
            _labels += _of_label[limits.label[element]]++ == 0;
            for (Index b = 0; b < _left.size; ++b) _left[b] -= limits.shares(b, element);
        }
    }

    // Whether an element can be added.
    bool fits(Index j) const {
        for (Index group : _limits.groups[j]) {
            if (is_full(group)) return false;
        }
        for (Index b = 0; b < _left.size; ++b) {
            if (_limits.shares(b, j) > _left[b]) return false;
        }
        const Index own = _limits.label[j];
        return _chosen.size < _limits.most[1] && _of_label[own] < _limits.room[own] &&
               _labels + (_of_label[own] == 0) <= _limits.most[0];
    }

    // Whether an element can come for a chosen one.
    bool fits_for(Index j, Index out) const {
        for (Index group : _limits.groups[j]) {
            if (is_full(group) && !(_limits.capacity[group] > 0 && is_in(out, group))) return false;
        }
        for (Index b = 0; b < _left.size; ++b) {
            if (_limits.shares(b, j) > _left[b] + _limits.shares(b, out)) return false;
        }
        const Index own = _limits.label[j], other = _limits.label[out], others = _of_label[own] - (own == other);
        const Index labels = _labels - (_of_label[other] == 1) + (others == 0);
        return others < _limits.room[own] && labels <= _limits.most[0];
    }

  private:
    bool is_full(Index group) const { return group >= 0 && _places[group] >= _limits.capacity[group]; }

    bool is_in(Index element, Index group) const {
        const Indices own = _limits.groups[element];
        return std::find(own.begin(), own.end(), group) != own.end();
    }

    const Limits &_limits;
    Indices _chosen;
    Vector<Index> _places, _of_label;
    Vector<double> _left;
    Index _labels = 0;
};

// The mask of all additions (last column) and swaps; swaps are left out where there is room. An element has a
// `place` if it is chosen; what is `fixed` is never dropped, what is `barred` is not added. Without `swaps` there
// are additions only.
inline Matrix<bool> feasible_moves(const Limits &limits, Flags fixed, Flags barred, bool swaps, Indices place,
                                   Indices chosen) {
    const Index n = place.size, size = chosen.size;
    const Taken taken(limits, chosen);
    auto feasible = Matrix<bool>::filled(false, n, size + 1);
    for (Index j = 0; j < n; ++j) {
        if (place[j] >= 0 || barred[j]) continue;
        feasible(j, size) = taken.fits(j);
        if (feasible(j, size) || !swaps) continue;
        for (Index i = 0; i < size; ++i) feasible(j, i) = !fixed[chosen[i]] && taken.fits_for(j, chosen[i]);
    }
    return feasible;
}

}  // namespace swapwise::mixed
