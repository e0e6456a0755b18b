// Fractional sets within limits on sets that may overlap.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "arrays.hpp"

namespace swapwise::budgets {

// The members of set s are members[begin[s]] .. members[begin[s + 1] - 1]; no more than room[s] of them fit.
struct Limits {
    Indices begin, members;
    Numbers room;
};
using LimitArrays = std::tuple<Indices, Indices, Numbers>;

// A limit counts as kept that is exceeded by less than this share.
constexpr double TOLERANCE = 1e-7;
constexpr int MOST_SWEEPS = 50, MOST_TURNS = 40;

// Where coefficients v would go if each had curvature `step`: the z that minimises
// sum_e d_e step |v_e|^2 / 2 (step z_e + d_e) within the limits.
//
// Every set has a price, and an element costs the prices of its sets: z_e = |v_e| sqrt(d_e / 2 cost_e) - d_e / step,
// between 0 and 1. A set that is not full costs nothing. Prices are found set by set, in turns, and begin where the
// last ones were.
class Allocation {
  public:
    Allocation(Limits limits, Numbers prices, Index elements)
        : _limits(limits), _prices(prices.begin(), prices.end()), _slope(elements), _start(elements),
          _cost(elements), _share(elements) {}

    const std::vector<double> &prices() const { return _prices; }

    void find(const std::vector<double> &lengths, Numbers d, double step, Flags held, Vec<double> z) {
        for (Index e = 0; e < d.size; ++e) {
            _slope[e] = held[e] ? 0.0 : lengths[e] * std::sqrt(d[e] / 2);
            _start[e] = d[e] / step;
        }
        add_up();
        for (Index e = 0; e < d.size; ++e) z[e] = at(e, _cost[e]);
        for (int sweep = 0; sweep < MOST_SWEEPS; ++sweep) {
            bool changed = false;
            for (Index set = 0; set < _limits.room.size; ++set) changed |= fill(set, z);
            if (!changed) break;
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
    std::vector<double> _prices, _slope, _start, _cost, _share;

    Indices members(Index set) const {
        const Index begin = _limits.begin[set];
        return {_limits.members.data + begin, _limits.begin[set + 1] - begin};
    }

    void add_up() {
        std::fill(_cost.begin(), _cost.end(), 0.0);
        for (Index set = 0; set < _limits.room.size; ++set) {
            if (_prices[set] == 0) continue;
            for (Index e : members(set)) _cost[e] += _prices[set];
        }
    }

    double at(Index e, double cost) const {
        if (_slope[e] <= 0) return 0.0;
        if (cost <= 0) return 1.0;
        return std::clamp(_slope[e] / std::sqrt(cost) - _start[e], 0.0, 1.0);
    }

    double load(Index set, Vec<double> z) const {
        double sum = 0.0;
        for (Index e : members(set)) sum += z[e];
        return sum;
    }

    // Change the price of a set to that at which it is just full, or to nothing; tell whether it was far off.
    bool fill(Index set, Vec<double> z) {
        const double room = _limits.room[set], before = _prices[set], excess = load(set, z) - room;
        if (excess <= TOLERANCE * room && (before == 0 || excess >= -TOLERANCE * room)) return false;
        double low = excess > 0 ? before : 0.0, high = excess > 0 ? INFINITE : before, price = before;
        for (int turn = 0; turn < MOST_TURNS; ++turn) {
            double sum = -room, slope = 0.0;
            for (Index e : members(set)) {
                const double cost = std::max(0.0, _cost[e] - before) + price, share = at(e, cost);
                sum += share;
                if (share > 0 && share < 1) slope -= (share + _start[e]) / (2 * cost);
            }
            if (std::abs(sum) <= 0.1 * TOLERANCE * room || (price == 0 && sum <= 0)) break;
            (sum > 0 ? low : high) = price;
            // The sum falls with the price, ever more slowly: Newton's method seldom leaves the bounds.
            const double next = slope < 0 ? price - sum / slope : INFINITE;
            if (next > low && next < high) {
                price = next;
            } else if (next <= low && low == 0) {
                price = low == price ? high / 2 : 0.0;
            } else {
                price = high == INFINITE ? std::max(2 * price, 1e-3 * highest(set)) : (low + high) / 2;
            }
            if (high - low <= 1e-15 * high) break;
        }
        _prices[set] = price;
        for (Index e : members(set)) {
            _cost[e] = std::max(0.0, _cost[e] - before) + price;
            z[e] = at(e, _cost[e]);
        }
        return true;
    }

    // The price at which no member has a share.
    double highest(Index set) const {
        double most = std::numeric_limits<double>::min();
        for (Index e : members(set)) most = std::max(most, _slope[e] / _start[e]);
        return most * most;
    }

    // Lower z to within limits that it still exceeds a little.
    void shrink(Vec<double> z) {
        std::fill(_share.begin(), _share.end(), 1.0);
        for (Index set = 0; set < _limits.room.size; ++set) {
            const double sum = load(set, z);
            if (sum <= _limits.room[set]) continue;
            for (Index e : members(set)) _share[e] = std::min(_share[e], _limits.room[set] / sum);
        }
        for (Index e = 0; e < z.size; ++e) z[e] *= _share[e];
    }
};

}  // namespace swapwise::budgets
