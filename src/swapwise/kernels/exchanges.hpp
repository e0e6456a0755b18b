// Moves that add one element and drop the least that must go for it, beyond one matroid.
//
// An element that cannot simply be added closes a circuit with the chosen ones, one at most in each of p matroids
// (in a packing: one for each of its groups that is full), and a member of each circuit has to go. Sets that hit
// all circuits, and of which no part does, are the drops of its moves.
//
// Gains are those of swaps.hpp, with D for all that is dropped: adding j lowers the residual sum of squares by
//
//     (c_j + B_Djᵀ K w_D)² / (σ_j + B_Djᵀ K B_Dj)  −  w_Dᵀ K w_D ,   K = (C_DD)⁻¹ .
//
// To drop one more never gains: a branch that has fallen behind the best is left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "listening.hpp"
#include "swaps.hpp"

namespace swapwise::exchanges {

using Links = Mat<const Index>;

// The circuits of a set. Its elements are columns, in rising order.
struct Circuits {
    Links of;                // the circuits that each element closes, -1 for none
    Indices begin, members;  // the columns on circuit c are members[begin[c]] to members[begin[c + 1] - 1]
    Flags open;              // which elements can be looked at: chosen ones are not

    Indices on(Index circuit) const { return members.slice(begin[circuit], begin[circuit + 1]); }
};
using CircuitArrays = std::tuple<Links, Indices, Indices, Flags>;

// Goes through the drops of one element after the other.
class Drops {
  public:
    Drops(const Circuits &circuits, Index columns)
        : _circuits(circuits),
          _hits(Vector<std::uint64_t>::filled(0, columns)),
          _chosen(circuits.of.columns),
          _branched(circuits.of.columns) {}

    // Visit all drops of an element, each once. The visitor is told of a column that goes, and says whether it
    // wants to see what else goes with it, if anything has to; of a drop that is complete; and when it has to
    // forget a column.
    template <class Visitor>
    void visit(Index element, Visitor &visitor) {
        std::uint64_t open = 0;
        for (Index m = 0; m < _circuits.of.columns; ++m) {
            if (_circuits.of(element, m) < 0) continue;
            open |= std::uint64_t{1} << m;
            for (Index column : _circuits.on(_circuits.of(element, m))) _hits[column] |= std::uint64_t{1} << m;
        }
        _size = 0;
        descend(element, open, visitor);
        for (Index m = 0; m < _circuits.of.columns; ++m) {
            if (_circuits.of(element, m) < 0) continue;
            for (Index column : _circuits.on(_circuits.of(element, m))) _hits[column] = 0;
        }
    }

    // What goes at the moment.
    Indices chosen() const { return _chosen.slice(0, _size); }

  private:
    template <class Visitor>
    void descend(Index element, std::uint64_t open, Visitor &visitor) {
        if (open == 0) {
            visitor.complete(chosen());
            return;
        }
        Index m = 0;
        while (!(open >> m & 1)) ++m;
        for (Index column : _circuits.on(_circuits.of(element, m))) {
            if (!is_first(column) || !all_are_needed(column)) continue;
            _chosen[_size] = column;
            _branched[_size++] = m;
            if (visitor.enter(column)) descend(element, open & ~_hits[column], visitor);
            visitor.leave();
            --_size;
        }
    }

    // Of the members of a circuit that go, the first is the one that was chosen for it: no drop comes twice.
    bool is_first(Index column) const {
        for (Index d = 0; d < _size; ++d) {
            if (_hits[column] >> _branched[d] & 1 && column < _chosen[d]) return false;
        }
        return true;
    }

    // Whether each of those that go, with one more, is the only one on some circuit.
    bool all_are_needed(Index more) const {
        for (Index d = 0; d < _size; ++d) {
            std::uint64_t others = _hits[more];
            for (Index e = 0; e < _size; ++e) others |= e == d ? 0 : _hits[_chosen[e]];
            if ((_hits[_chosen[d]] & ~others) == 0) return false;
        }
        return true;
    }

    const Circuits &_circuits;
    Vector<std::uint64_t> _hits;  // by column: which circuits of the element it is on
    Vector<Index> _chosen, _branched;
    Index _size = 0;
};

// The gain of a move that is put together one drop after the other.
class Gain {
  public:
    Gain(const swaps::Quantities &quantities, Table inverse, Indices slots, Index most)
        : _all(quantities),
          _inverse(inverse),
          _slots(slots),
          _factor(most, most),
          _out(most),
          _lost(most),
          _freed(most),
          _heights(most + 1),
          _widths(most + 1),
          _losses(most + 1) {}

    // Begin with an element and no drop.
    void begin(Index element) {
        _element = element;
        _size = 0;
        _heights[0] = _all.corr[element];
        _widths[0] = _all.sigma[element];
        _losses[0] = 0.0;
    }

    // Drop one more.
    void push(Index column) {
        const Index slot = _slots[column], d = _size++;
        const Vec<double> row = _factor[d];
        double pivot = _inverse(slot, slot), lost = _all.coef[slot], freed = _all.coupling(_element, slot);
        for (Index i = 0; i < d; ++i) {
            double entry = _inverse(slot, _out[i]);
            for (Index k = 0; k < i; ++k) entry -= row[k] * _factor(i, k);
            row[i] = entry / _factor(i, i);
            pivot -= row[i] * row[i];
            lost -= row[i] * _lost[i];
            freed -= row[i] * _freed[i];
        }
        row[d] = std::sqrt(std::max(pivot, TINY));
        _out[d] = slot;
        _lost[d] = lost / row[d];
        _freed[d] = freed / row[d];
        _heights[d + 1] = _heights[d] + _freed[d] * _lost[d];
        _widths[d + 1] = _widths[d] + _freed[d] * _freed[d];
        _losses[d + 1] = _losses[d] + _lost[d] * _lost[d];
    }

    void pop() { --_size; }

    double value() const {
        const double height = _heights[_size], width = _widths[_size];
        return (is_known() ? height * height / width : 0.0) - _losses[_size];
    }

    // What no move gains that drops more, too. Of an element of which next to nothing is left, more drops may
    // leave more.
    double bound() const { return is_known() ? value() : INFINITE; }

  private:
    static constexpr double TINY = 1e-300;

    bool is_known() const { return _widths[_size] > _all.floor[_element]; }

    const swaps::Quantities &_all;
    Table _inverse;
    Indices _slots;
    Matrix<double> _factor;  // of C_DD
    Vector<Index> _out;
    Vector<double> _lost, _freed, _heights, _widths, _losses;
    Index _element = -1, _size = 0;
};

// Keeps the best gain of the drops of an element, if it reaches a target.
struct Highest {
    Gain &gain;
    double target, best = -INFINITE;
    Index evaluated = 0;

    bool enter(Index column) {
        gain.push(column);
        ++evaluated;
        return gain.bound() >= target;
    }
    void leave() { gain.pop(); }
    void complete(Indices) {
        const double found = gain.value();
        if (found < target || found <= best) return;
        best = target = found;
    }
};

// Keeps the first drop of an element, in the order of its columns, whose gain reaches a target.
struct First {
    Gain &gain;
    double target, found = -INFINITE;
    std::vector<Index> drop = {};

    bool enter(Index column) {
        gain.push(column);
        return gain.bound() >= target;
    }
    void leave() { gain.pop(); }
    void complete(Indices chosen) {
        if (gain.value() < target) return;
        std::vector<Index> ordered(chosen.begin(), chosen.end());
        std::sort(ordered.begin(), ordered.end());
        if (found > -INFINITE && drop <= ordered) return;
        drop = std::move(ordered);
        found = gain.value();
    }
};

// A move, its gain, and how many gains were computed to find it; no element if there is none.
struct Best {
    Index element = -1;
    std::vector<Index> drop = {};
    double gain = -INFINITE;
    Index evaluated = 0;
};

// Scores the moves from a set: what `best_of_grid` and `best_of_rows` of swaps.hpp are for swaps.
class Scorer {
  public:
    Scorer(const Circuits &circuits, const swaps::Quantities &quantities, Table inverse, Indices slots)
        : _circuits(circuits),
          _all(quantities),
          _drops(circuits, slots.size),
          _gain(quantities, inverse, slots, circuits.of.columns) {}

    // The best gain of all moves that add an element; minus infinity if none reaches the target.
    double highest(Index element, double target) {
        _gain.begin(element);
        Highest visitor{_gain, target};
        _drops.visit(element, visitor);
        _evaluated += visitor.evaluated + (visitor.evaluated == 0);
        _listener.after(4 * visitor.evaluated + 4);
        return visitor.best;
    }

    // The best move; of those that tie, the one that comes first. Lazy, as that of swaps.
    Best best(double tie, double scale) {
        const Index n = _circuits.of.rows;
        Vector<double> bounds(n);
        auto gains = Vector<double>::filled(-INFINITE, n);
        Index leader = -1;
        for (Index j = 0; j < n; ++j) {
            bounds[j] = bound(j);
            if (bounds[j] > -INFINITE && (leader < 0 || bounds[j] > bounds[leader])) leader = j;
        }
        if (leader < 0) return {};
        double best = gains[leader] = highest(leader, -INFINITE);
        for (Index j = 0; j < n; ++j) {
            const double target = swaps::least_tie(best, tie, scale);
            if (j == leader || bounds[j] == -INFINITE || bounds[j] < target) continue;
            gains[j] = highest(j, target);
            best = std::max(best, gains[j]);
        }
        if (best == -INFINITE) return {-1, {}, best, _evaluated};
        const double target = swaps::least_tie(best, tie, scale);
        Index j = 0;
        while (gains[j] < target) ++j;
        _gain.begin(j);
        First visitor{_gain, target};
        _drops.visit(j, visitor);
        return {j, std::move(visitor.drop), visitor.found, _evaluated};
    }

    // What the best move that adds each element gains, 0 if none improves.
    Vector<double> by_element() {
        auto gains = Vector<double>::filled(0.0, _circuits.of.rows);
        for (Index j = 0; j < gains.size; ++j) {
            if (_circuits.open[j] && bound(j) > 0.0) gains[j] = std::max(highest(j, 0.0), 0.0);
        }
        return gains;
    }

    Index evaluated() const { return _evaluated; }

  private:
    // What no move gains that adds an element: what it would with nothing dropped.
    double bound(Index j) const {
        if (!_circuits.open[j]) return -INFINITE;
        bool is_free = true;
        for (Index circuit : _circuits.of[j]) is_free = is_free && circuit < 0;
        return is_free || _all.sigma[j] > _all.floor[j] ? _all.added(j) : INFINITE;
    }

    const Circuits &_circuits;
    const swaps::Quantities &_all;
    Drops _drops;
    Gain _gain;
    Index _evaluated = 0;
    Listener _listener;
};

// The best move: what it adds (-1: there is none), the columns that it drops, its gain, and how many gains were
// computed.
inline std::tuple<Index, Vector<Index>, double, Index> best_of(CircuitArrays arrays, Indices slots,
                                                               Table inverse, Table coupling, Numbers coef,
                                                               Numbers corr, Numbers sigma, Numbers floor,
                                                               double tie, double scale) {
    const auto circuits = record_of<Circuits>(arrays);
    const swaps::Quantities quantities{coupling, coef, {}, corr, sigma, floor};
    const Best best = Scorer(circuits, quantities, inverse, slots).best(tie, scale);
    Vector<Index> drop(best.drop.size());
    std::copy(best.drop.begin(), best.drop.end(), drop.begin());
    return {best.element, std::move(drop), best.gain, best.evaluated};
}

// What the best move that adds each element gains, 0 if none improves; and how many gains were computed.
inline std::tuple<Vector<double>, Index> best_of_each(CircuitArrays arrays, Indices slots, Table inverse,
                                                      Table coupling, Numbers coef, Numbers corr,
                                                      Numbers sigma, Numbers floor) {
    const auto circuits = record_of<Circuits>(arrays);
    const swaps::Quantities quantities{coupling, coef, {}, corr, sigma, floor};
    Scorer scorer(circuits, quantities, inverse, slots);
    Vector<double> gains = scorer.by_element();
    return {std::move(gains), scorer.evaluated()};
}

// Writes all drops down.
struct Written {
    std::vector<std::vector<Index>> drops = {};

    bool enter(Index) { return true; }
    void leave() {}
    void complete(Indices chosen) {
        drops.emplace_back(chosen.begin(), chosen.end());
        std::sort(drops.back().begin(), drops.back().end());
    }
};

// All moves in order: the element that each adds, and the columns that it drops, padded with -1.
inline std::tuple<Vector<Index>, Matrix<Index>> spelled_out(CircuitArrays arrays, Index columns) {
    const auto circuits = record_of<Circuits>(arrays);
    Drops drops(circuits, columns);
    std::vector<Index> elements, dropped;
    const Index p = circuits.of.columns;
    Listener listener;
    for (Index j = 0; j < circuits.of.rows; ++j) {
        if (!circuits.open[j]) continue;
        Written visitor;
        drops.visit(j, visitor);
        std::sort(visitor.drops.begin(), visitor.drops.end());
        for (const auto &drop : visitor.drops) {
            elements.push_back(j);
            dropped.insert(dropped.end(), drop.begin(), drop.end());
            dropped.insert(dropped.end(), static_cast<std::size_t>(p) - drop.size(), -1);
        }
        listener.after(p * static_cast<Index>(visitor.drops.size()) + 1);
    }
    Vector<Index> rows(elements.size());
    std::copy(elements.begin(), elements.end(), rows.begin());
    Matrix<Index> table(elements.size(), p);
    std::copy(dropped.begin(), dropped.end(), table.data);
    return {std::move(rows), std::move(table)};
}

// Groups with a limited number of places: the groups of each element, padded with -1, and the places of each.
struct Packing {
    Links groups;
    Indices capacity;
};
using PackingArrays = std::tuple<Links, Indices>;

// Add to a mask of chosen elements each of an order in turn whose groups all have room.
inline void extend(Vec<bool> chosen, Indices order, Links groups, Vec<Index> room) {
    for (Index element : order) {
        const auto own = groups[element];
        const auto is_full = [&](Index group) { return group >= 0 && room[group] <= 0; };
        if (chosen[element] || std::any_of(own.begin(), own.end(), is_full)) continue;
        chosen[element] = true;
        for (Index group : own) {
            if (group >= 0) --room[group];
        }
    }
}

// The circuits of chosen elements of a packing: the members of groups that are full.
class PackingCircuits {
  public:
    PackingCircuits(const Packing &packing, Indices chosen, Indices place)
        : _of(packing.groups.rows, packing.groups.columns),
          _begin(Vector<Index>::filled(0, packing.capacity.size + 1)),
          _members(chosen.size * packing.groups.columns),
          _open(packing.groups.rows) {
        const Links groups = packing.groups;
        for (Index element : chosen) {
            for (Index group : groups[element]) {
                if (group >= 0) ++_begin[group + 1];
            }
        }
        for (Index g = 0; g < packing.capacity.size; ++g) _begin[g + 1] += _begin[g];
        auto filled = Vector<Index>::filled(0, packing.capacity.size);
        for (Index column = 0; column < chosen.size; ++column) {
            for (Index group : groups[chosen[column]]) {
                if (group >= 0) _members[_begin[group] + filled[group]++] = column;
            }
        }
        for (Index j = 0; j < groups.rows; ++j) {
            _open[j] = place[j] < 0;
            for (Index m = 0; m < groups.columns; ++m) {
                const Index group = groups(j, m);
                _of(j, m) = group >= 0 && filled[group] >= packing.capacity[group] ? group : -1;
            }
        }
    }

    Circuits view() const { return {_of, _begin, _members, _open}; }

  private:
    Matrix<Index> _of;
    Vector<Index> _begin, _members;
    Vector<bool> _open;
};

// What a run of moves adds and drops, padded with -1, and the gain of each.
class Record {
  public:
    explicit Record(Index width) : _width(width) {}

    void add(Index added, const std::vector<Index> &dropped, double gain) {
        _moves.push_back(added);
        _moves.insert(_moves.end(), dropped.begin(), dropped.end());
        _moves.resize(_moves.size() + static_cast<std::size_t>(_width) - 1 - dropped.size(), -1);
        _gains.push_back(gain);
    }

    std::pair<Matrix<Index>, Vector<double>> finish() const {
        Matrix<Index> moves(_gains.size(), _width);
        Vector<double> gains(_gains.size());
        std::copy(_moves.begin(), _moves.end(), moves.data);
        std::copy(_gains.begin(), _gains.end(), gains.begin());
        return {std::move(moves), std::move(gains)};
    }

  private:
    Index _width;
    std::vector<Index> _moves;
    std::vector<double> _gains;
};

// A search on inner products: see `best_moves` of swaps.hpp, whose tableau it works on.
struct Search {
    Table gram;
    Flags known;
    Numbers squares, floor;
    swaps::Tableau at;
    double total, tol, tie, share;

    // Put in what is missing of the start, one element per round, then make moves, with circuits that `circuits_of`
    // finds for the chosen elements in rising order.
    template <class CircuitsOf>
    std::tuple<int, Index, Matrix<Index>, Vector<double>> run(Indices start, Index rounds, Index width,
                                                              const CircuitsOf &circuits_of) const {
        Record record(width);
        swaps::Ending ending = swaps::GOING_ON;
        Index evaluated = 0;
        for (Index round = 0; round < rounds && ending == swaps::GOING_ON; ++round) {
            if (at.counts[1] < start.size) {
                ending = swaps::begin_with(start[at.counts[1]], gram, known, floor, at);
                continue;
            }
            if (share > 0.0 && !swaps::is_plain(at.sigma, squares, at.place, share)) {
                ending = swaps::DONE;
                break;
            }
            const Vector<Index> slots = swaps::slots_by_element(at);
            Vector<Index> chosen(slots.size);
            for (Index i = 0; i < slots.size; ++i) chosen[i] = at.elements[slots[i]];
            ending = move(circuits_of(chosen), slots, chosen, record, evaluated);
        }
        auto [moves, gains] = record.finish();
        return {ending, evaluated, std::move(moves), std::move(gains)};
    }

  private:
    template <class Held>
    swaps::Ending move(const Held &held, Indices slots, Indices chosen, Record &record,
                       Index &evaluated) const {
        const Circuits circuits = held.view();
        const swaps::Quantities quantities{at.coupling, at.coef, {}, at.corr, at.sigma, floor};
        const Best best = Scorer(circuits, quantities, at.inverse, slots).best(tie, total);
        if (best.element < 0 || !(best.gain > tol * total)) {
            evaluated += best.evaluated;
            return best.gain < -swaps::CLEAR * total ? swaps::OPTIMAL : swaps::DONE;
        }
        if (swaps::is_missing(best.element, known, at)) return swaps::MISSING;
        evaluated += best.evaluated;
        at.explained[0] += best.gain;
        std::vector<Index> dropped;
        for (Index column : best.drop) dropped.push_back(chosen[column]);
        record.add(best.element, dropped, best.gain);
        for (Index element : dropped) swaps::take_out(at.place[element], at);
        swaps::put_in(best.element, gram, at);
        return swaps::GOING_ON;
    }
};

// Take the best move of a packing for as long as it gains more than `tol · total`: see `best_moves` of swaps.hpp.
inline std::tuple<int, Index, Matrix<Index>, Vector<double>> best_moves_of_packing(
    Table gram, Flags known, Numbers squares, Numbers floor, PackingArrays arrays, swaps::TableauArrays tableau,
    Indices start, double total, double tol, double tie, double share, Index rounds) {
    const auto packing = record_of<Packing>(arrays);
    const auto at = record_of<swaps::Tableau>(tableau);
    const Search search{gram, known, squares, floor, at, total, tol, tie, share};
    return search.run(start, rounds, packing.groups.columns + 1, [&](Indices chosen) {
        return PackingCircuits(packing, chosen, at.place);
    });
}

// Put a start together and make the best move from it, if it gains more than `tol · total`; the circuits are those
// of the start.
inline std::tuple<int, Index, Matrix<Index>, Vector<double>> best_move(
    Table gram, Flags known, Numbers squares, Numbers floor, CircuitArrays arrays, swaps::TableauArrays tableau,
    Indices start, double total, double tol, double tie, double share) {
    struct Given {
        Circuits circuits;
        const Circuits &view() const { return circuits; }
    };
    const Given given{record_of<Circuits>(arrays)};
    const auto at = record_of<swaps::Tableau>(tableau);
    const Search search{gram, known, squares, floor, at, total, tol, tie, share};
    return search.run(start, start.size - at.counts[1] + 1, given.circuits.of.columns + 1, [&](Indices) { return given; });
}

}  // namespace swapwise::exchanges
