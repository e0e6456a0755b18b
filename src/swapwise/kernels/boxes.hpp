// Bounds on coefficients, in relaxations that choose a share z of each element: of such a share, a coefficient is
// within z times its bounds, which have 0 between them.
#pragma once

#include <algorithm>
#include <tuple>

#include "arrays.hpp"

namespace swapwise::boxes {

// Bounds this close to 0 leave no room for a coefficient: squares of theirs are rounding, if not zero.
constexpr double NO_ROOM = 1e-100;

// The bounds of all coefficients; tables without rows if there are none.
struct Box {
    Table lower, upper;

    bool bounds_any() const { return lower.rows > 0; }

    // The number, or 0 if no number of its sign is within the bounds.
    double right_sign(Index row, Index c, double number) const {
        return bounds_any() && most(row, c, number) < NO_ROOM ? 0.0 : number;
    }

    // How large a coefficient of the sign of a number may be.
    double most(Index row, Index c, double number) const { return number < 0 ? -lower(row, c) : upper(row, c); }

    double clipped(Index row, Index c, double number, double share) const {
        if (!bounds_any() || number == 0) return number;
        const double largest = most(row, c, number) * share;
        return std::clamp(number, -largest, largest);
    }

    // The largest slope w - d w^2 / 2 of any w within the bounds.
    double conjugate(Index row, Index c, double slope, double d) const {
        if (!bounds_any()) return slope * slope / (2 * d);
        const double coef = clipped(row, c, slope / d, 1.0);
        return coef * (slope - d * coef / 2);
    }
};
using BoundArrays = std::tuple<Table, Table>;

// What a share z is worth to a coefficient that would go to v > 0 but may not exceed `most` times z: at a small share
// it is at this bound, and (step/2) (most z - v)^2 + d most^2 z / 2 what it costs to be there. At a price per share
// z = v/most - d / 2 step - price / (step most^2).
//
// With the bound or without it, the share at a price is the larger of the two: up to z = v/most - d/step the bound
// makes more of a share worth having, and from there on it is out of the way.
struct Cap {
    double high = -1.0, fall = 0.0;  // the share at no price, and how fast it falls with the price

    Cap() = default;
    Cap(double v, double most, double d, double step) : _v(v), _most(most), _d(d), _step(step) {
        if (most == INFINITE) return;
        _free_from = v / most - d / step;
        high = v / most - d / (2 * step);
        fall = 1.0 / (step * most * most);
    }

    double share(double price) const { return high - fall * price; }
    double price(double share) const { return fall > 0 ? (high - share) / fall : -INFINITE; }
    bool binds(double share) const { return share < _free_from; }
    double worth(double share) const {
        const double way = _most * share - _v;
        return (_step * way * way + _d * _most * _most * share) / 2;
    }

  private:
    double _v = 0.0, _most = 0.0, _d = 0.0, _step = 1.0, _free_from = -1.0;
};

}  // namespace swapwise::boxes
