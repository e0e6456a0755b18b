// Fractional sets within limits on sets that may overlap.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "boxes.hpp"
#include "cholesky.hpp"
#include "products.hpp"

namespace swapwise::budgets {

// The members of set s are members[begin[s]] .. members[begin[s + 1] - 1]; each takes a share of the room of its set,
// and shares of what is chosen add up to no more than room[s].
struct Limits {
    Indices begin, members;
    Numbers shares, room;
};
using LimitArrays = std::tuple<Indices, Indices, Numbers, Numbers>;

// A limit counts as kept that is exceeded by less than this share.
constexpr double TOLERANCE = 1e-11;
constexpr int MOST_SWEEPS = 20, MOST_TURNS = 40;
constexpr double ROUNDING = 1e-13;
// Newton's method for all prices at once begins after so many sweeps, if no more sets than that have one.
constexpr int FIRST_SWEEPS = 1;
constexpr std::size_t MOST_AT_ONCE = 500;

// Where coefficients v would go if each had curvature `step`: the z that minimises
// sum_e d_e step |v_e|^2 / 2 (step z_e + d_e) within the limits.
//
// Every set has a price, and an element costs its shares of the prices of its sets: z_e = |v_e| sqrt(d_e / 2 cost_e)
// - d_e / step, between 0 and 1, unless bounds cap coefficients (`boxes::Cap`). A set that is not full costs nothing.
// Prices are the dual of the problem. They begin where the last ones were, and are found set by set at first, then all
// at once.
class Allocation {
  public:
    Allocation(Limits limits, Numbers prices, Index elements)
        : _limits(limits), _prices(prices.begin(), prices.end()), _slope(elements), _start(elements),
          _cap(elements), _cost(elements), _scale(elements), _first(elements + 1, 0), _places(limits.members.size),
          _sets_of(limits.members.size) {
        for (Index e : limits.members) ++_first[e + 1];
        std::partial_sum(_first.begin(), _first.end(), _first.begin());
        std::vector<Index> next(_first.begin(), _first.end() - 1);
        for (Index set = 0; set < limits.room.size; ++set) {
            for (Index place : places(set)) {
                const Index at = next[_limits.members[place]]++;
                _sets_of[at] = set;
                _places[at] = place;
            }
        }
    }

    const std::vector<double> &prices() const { return _prices; }

    // No coefficient is larger than the most of its element; none of them has any if `most` is empty.
    void find(const std::vector<double> &lengths, const std::vector<double> &most, Numbers d, double step, Flags held,
              Vec<double> z) {
        for (Index e = 0; e < d.size; ++e) {
            _slope[e] = held[e] ? 0.0 : lengths[e] * std::sqrt(d[e] / 2);
            _start[e] = d[e] / step;
            _cap[e] = _slope[e] > 0 && !most.empty() ? boxes::Cap(lengths[e], most[e], d[e], step) : boxes::Cap();
        }
        settle(z);
        for (int sweep = 0; sweep < MOST_SWEEPS; ++sweep) {
            bool changed = false;
            for (Index set = 0; set < _limits.room.size; ++set) changed |= fill(set, z);
            if (!changed) break;
            if (sweep + 1 >= FIRST_SWEEPS) {
                for (int turn = 0; turn < MOST_TURNS && step_at_once(z); ++turn) {}
            }
        }
        shrink(z);
        for (Index e = 0; e < d.size; ++e) {
            if (held[e]) z[e] = 1.0;
        }
    }

    // No elements within the limits weigh more than this, those held aside: what their places cost, and what
    // they are worth beyond that.
    double largest_weight(const std::vector<double> &weights, Flags held) {
        add_up();
        double sum = 0.0;
        for (Index set = 0; set < _limits.room.size; ++set) sum += _prices[set] * _limits.room[set];
        for (Index e = 0; e < held.size; ++e) {
            if (!held[e]) sum += std::max(0.0, weights[e] - _cost[e]);
        }
        return sum;
    }

  private:
    Limits _limits;
    std::vector<double> _prices, _slope, _start;
    std::vector<boxes::Cap> _cap;
    std::vector<double> _cost, _scale;
    // The sets of each element, and where it stands among the members of each
    std::vector<Index> _first, _places, _sets_of;

    // The places of the members of a set, to go through.
    struct Range {
        struct Place {
            Index at;
            Index operator*() const { return at; }
            Place &operator++() { ++at; return *this; }
            bool operator!=(const Place &other) const { return at != other.at; }
        };
        Index first, last;
        Place begin() const { return {first}; }
        Place end() const { return {last}; }
    };
    Range places(Index set) const { return {_limits.begin[set], _limits.begin[set + 1]}; }

    void add_up() {
        std::fill(_cost.begin(), _cost.end(), 0.0);
        for (Index set = 0; set < _limits.room.size; ++set) {
            if (_prices[set] == 0) continue;
            for (Index place : places(set)) _cost[_limits.members[place]] += _limits.shares[place] * _prices[set];
        }
    }

    double at(Index e, double cost) const {
        if (_slope[e] <= 0) return 0.0;
        if (cost <= 0) return 1.0;
        return std::clamp(share_at(e, cost), 0.0, 1.0);
    }

    // The share of an element at a cost before it is cut off at 0 and 1, and how fast it falls with the cost.
    double share_at(Index e, double cost) const {
        return _cap[e].binds_at(cost) ? _cap[e].share(cost) : _slope[e] / std::sqrt(cost) - _start[e];
    }
    double fall_at(Index e, double cost) const {
        return _cap[e].binds_at(cost) ? _cap[e].fall : _slope[e] / (2 * cost * std::sqrt(cost));
    }

    double load(Index set, Vec<double> z) const {
        double sum = 0.0;
        for (Index place : places(set)) sum += _limits.shares[place] * z[_limits.members[place]];
        return sum;
    }

    // Change the price of a set to that at which it is just full, or to nothing; tell whether it was far off.
    bool fill(Index set, Vec<double> z) {
        const double room = _limits.room[set], before = _prices[set], excess = load(set, z) - room;
        if (excess <= TOLERANCE * room && (before == 0 || excess >= -TOLERANCE * room)) return false;
        double low = excess > 0 ? before : 0.0, high = excess > 0 ? INFINITE : before, price = before;
        for (int turn = 0; turn < MOST_TURNS; ++turn) {
            double sum = -room, slope = 0.0;
            for (Index place : places(set)) {
                const Index e = _limits.members[place];
                const double own = _limits.shares[place];
                const double cost = std::max(0.0, _cost[e] - own * before) + own * price, value = at(e, cost);
                sum += own * value;
                if (value > 0 && value < 1) slope -= own * own * fall_at(e, cost);
            }
            if (std::abs(sum) <= 0.1 * TOLERANCE * room || (price == 0 && sum <= 0)) break;
            (sum > 0 ? low : high) = price;
            // The sum falls with the price, ever more slowly: Newton's method seldom leaves the bounds.
            const double next = slope < 0 ? price - sum / slope : INFINITE;
            if (next > low && next < high) {
                price = next;
            } else if (high == INFINITE) {
                price = 1.5 * std::max(price, first_fall(set, before, price));
            } else if (low == 0) {
                price = next <= 0 && price > 0 ? 0.0 : high / 4;
            } else {
                price = std::sqrt(low * high);
            }
            if (high < INFINITE && high - low <= 1e-15 * high) break;
        }
        _prices[set] = price;
        for (Index place : places(set)) {
            const Index e = _limits.members[place];
            const double own = _limits.shares[place];
            _cost[e] = std::max(0.0, _cost[e] - own * before) + own * price;
            z[e] = at(e, _cost[e]);
        }
        return true;
    }

    // The largest share by which a set is too full, or not full although it costs something.
    double mismatch(Vec<double> z) const {
        double most = 0.0;
        for (Index set = 0; set < _limits.room.size; ++set) {
            const double excess = (load(set, z) - _limits.room[set]) / _limits.room[set];
            most = std::max(most, _prices[set] > 0 ? std::abs(excess) : excess);
        }
        return most;
    }

    // What the allocation is worth at least at these prices, which are best where that is most.
    double dual(Vec<double> z) const {
        double sum = 0.0;
        for (std::size_t set = 0; set < _prices.size(); ++set) sum -= _prices[set] * _limits.room[set];
        for (Index e = 0; e < z.size; ++e) {
            if (_slope[e] <= 0) continue;
            const double free = _slope[e] * _slope[e] / (z[e] + _start[e]);
            sum += (_cap[e].binds(z[e]) ? _cap[e].worth(z[e]) : free) + _cost[e] * z[e];
        }
        return sum;
    }

    // Take a Newton step of all prices; tell whether it is to be followed by another.
    bool step_at_once(Vec<double> z) {
        const double before = mismatch(z), value = dual(z);
        if (before <= TOLERANCE) return false;
        std::vector<Index> place(_prices.size(), -1), priced;
        for (std::size_t set = 0; set < _prices.size(); ++set) {
            if (_prices[set] <= 0) continue;
            place[set] = static_cast<Index>(priced.size());
            priced.push_back(static_cast<Index>(set));
        }
        if (priced.empty() || priced.size() > MOST_AT_ONCE) return false;
        const Index size = static_cast<Index>(priced.size());
        const std::vector<double> prices = _prices, cost = _cost;
        Vector<double> excess(size), step(size);
        for (Index i = 0; i < size; ++i) excess[i] = load(priced[i], z) - _limits.room[priced[i]];
        // Elements that are chosen or left out for certain do not follow prices. Those that are nearly so
        // count among those that do, if steps turn out to be too long without them.
        for (double margin : {0.0, 1e-8, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0}) {
            auto falls = Matrix<double>::filled(0.0, size, size);
            for (Index e = 0; e < z.size; ++e) {
                if (_slope[e] <= 0 || cost[e] <= 0) continue;
                const double share = share_at(e, cost[e]);
                if (share <= -margin || share >= 1 + margin) continue;
                const double fall = fall_at(e, cost[e]);
                for (Index i = _first[e]; i < _first[e + 1]; ++i) {
                    const Index row = place[_sets_of[i]];
                    if (row < 0) continue;
                    const double weight = fall * _limits.shares[_places[i]];
                    for (Index k = _first[e]; k <= i; ++k) {
                        const Index column = place[_sets_of[k]];
                        if (column >= 0) falls(row, column) += weight * _limits.shares[_places[k]];
                    }
                }
            }
            for (Index i = 0; i < size; ++i) {
                const Numbers row = falls[i].slice(0, i);
                const double whole = falls(i, i), pivot = whole - products::dot(row, row);
                // Sets that have the same elements between them need only so many prices.
                falls(i, i) = pivot > 1e-13 * whole ? std::sqrt(pivot) : 1e150;
                cholesky::fill_column(falls, i);
                step[i] = (excess[i] - products::dot(row, step.slice(0, i))) / falls(i, i);
            }
            cholesky::backward(falls, step);
            double length = 1.0;  // no price falls to nothing by this: that is for sweeps to do
            for (Index i = 0; i < size; ++i) {
                if (step[i] < 0) length = std::min(length, -0.9 * prices[priced[i]] / step[i]);
            }
            for (Index i = 0; i < size; ++i) _prices[priced[i]] = prices[priced[i]] + length * step[i];
            settle(z);
            const double after = mismatch(z), change = dual(z) - value;
            // So close to the end that the dual is but rounding, what fits counts.
            if (change > ROUNDING * std::abs(value)) return after > TOLERANCE;
            if (change > -ROUNDING * std::abs(value) && after < 0.5 * before) return after > TOLERANCE;
        }
        _prices = prices;
        settle(z);
        return false;
    }

    void settle(Vec<double> z) {
        add_up();
        for (Index e = 0; e < z.size; ++e) z[e] = at(e, _cost[e]);
    }

    // The least price at which a member that is chosen has no full share any more.
    double first_fall(Index set, double before, double price) const {
        double least = INFINITE;
        for (Index place : places(set)) {
            const Index e = _limits.members[place];
            const double own = _limits.shares[place], root = _slope[e] / (1 + _start[e]);
            const double full = _cap[e].binds(1.0) ? _cap[e].price(1.0) : root * root;
            const double fall = (full - std::max(0.0, _cost[e] - own * before)) / own;
            if (fall > price) least = std::min(least, fall);
        }
        return least;
    }

    // Lower z to within limits that it still exceeds a little.
    void shrink(Vec<double> z) {
        std::fill(_scale.begin(), _scale.end(), 1.0);
        for (Index set = 0; set < _limits.room.size; ++set) {
            const double sum = load(set, z);
            if (sum <= _limits.room[set]) continue;
            for (Index place : places(set)) {
                double &scale = _scale[_limits.members[place]];
                scale = std::min(scale, _limits.room[set] / sum);
            }
        }
        for (Index e = 0; e < z.size; ++e) z[e] *= _scale[e];
    }
};

}  // namespace swapwise::budgets
