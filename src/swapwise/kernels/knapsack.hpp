// The max-weight elements within one budget: branch and bound, exact.
#pragma once

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "listening.hpp"

namespace swapwise::knapsack {

// Elements in the order of their weight per cost, and what the first of them weigh and cost together.
class Search {
  public:
    Search(Numbers weights, Numbers costs, double budget) : _budget(budget), _order(weights.size) {
        std::iota(_order.begin(), _order.end(), Index{0});
        std::stable_sort(_order.begin(), _order.end(),
                         [&](Index a, Index b) { return weights[a] * costs[b] > weights[b] * costs[a]; });
        _weight.assign(1, 0.0);
        _cost.assign(1, 0.0);
        for (Index element : _order) {
            _weights.push_back(weights[element]);
            _costs.push_back(costs[element]);
            _weight.push_back(_weight.back() + weights[element]);
            _cost.push_back(_cost.back() + costs[element]);
        }
        _chosen.assign(_order.size(), false);
        best.assign(_order.size(), false);
    }

    double reached = -INFINITE;
    std::vector<char> best;

    // Horowitz and Sahni (1974): fill up from a place on, note what that comes to, and take the last one back. Return
    // whether that came to its end within so many places. Sets that are heavier by no more than `slack` do not count.
    bool run(Index most, double slack) {
        const Index n = static_cast<Index>(_order.size());
        Index place = 0;
        double weight = 0.0, left = _budget;
        Listener listener;
        for (Index turn = 0; turn < most; ++turn) {
            listener.after(64);
            if (weight + bound(place, left) > reached + slack) {
                for (; place < n; ++place) {
                    if (_costs[place] > left) {
                        if (weight + bound(place + 1, left) <= reached + slack) break;
                        continue;
                    }
                    left -= _costs[place];
                    weight += _weights[place];
                    _chosen[place] = true;
                }
                if (weight > reached) {
                    reached = weight;
                    best = _chosen;
                }
            }
            Index last = std::min(place, n) - 1;
            while (last >= 0 && !_chosen[last]) --last;
            if (last < 0) return true;
            _chosen[last] = false;
            left += _costs[last];
            weight -= _weights[last];
            place = last + 1;
        }
        return false;
    }

    Index element(Index place) const { return _order[place]; }

  private:
    // What elements from a place on weigh at most that cost no more than what is left: with a fraction of one.
    double bound(Index place, double left) const {
        const auto end = std::upper_bound(_cost.begin() + place, _cost.end(), _cost[place] + left);
        const Index full = static_cast<Index>(end - _cost.begin()) - 1;
        const double sum = _weight[full] - _weight[place];
        if (full >= static_cast<Index>(_order.size())) return sum;
        return sum + (left - (_cost[full] - _cost[place])) * _weights[full] / _costs[full];
    }

    double _budget;
    std::vector<Index> _order;
    std::vector<double> _weights, _costs, _weight, _cost;
    std::vector<char> _chosen;
};

// The mask of a max-weight set of elements of positive weight and cost, none of which costs more than the budget; and
// whether it is clear that none is heavier, by more than rounding.
inline std::tuple<Vector<bool>, bool> heaviest(Numbers weights, Numbers costs, double budget, Index most) {
    Search search(weights, costs, budget);
    double total = 0.0;
    for (double weight : weights) total += weight;  // bounds are differences of sums
    const bool finished = search.run(most, 1e-15 * total);
    auto chosen = Vector<bool>::filled(false, weights.size);
    for (Index place = 0; place < weights.size; ++place) chosen[search.element(place)] = search.best[place];
    return {std::move(chosen), finished};
}

}  // namespace swapwise::knapsack
