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

// What a share z is worth to a coefficient that would go to v > 0 but may not exceed `most` times z. At a share below
// v/most - d/step, that is at prices of shares above d most^2 / 2, it is at this bound, which costs
// (step/2) (most z - v)^2 + d most^2 z / 2: then z = v/most - d / 2 step - price / (step most^2).
struct Cap {
    double fall = 0.0;  // how fast the share at the bound falls with the price

    Cap() = default;
    Cap(double v, double most, double d, double step) : _v(v), _most(most), _d(d), _step(step) {
        if (most == INFINITE) return;
        fall = 1.0 / (step * most * most);
        _high = v / most - d / (2 * step);
        _from = d * most * most / 2;
        _up_to = v / most - d / step;
    }

    bool binds_at(double price) const { return price > _from; }
    bool binds(double share) const { return share < _up_to; }
    double share(double price) const { return _high - fall * price; }
    double price(double share) const { return (_high - share) / fall; }
    double worth(double share) const {
        const double way = _most * share - _v;
        return (_step * way * way + _d * _most * _most * share) / 2;
    }

  private:
    double _v = 0.0, _most = 0.0, _d = 0.0, _step = 1.0, _high = 0.0, _from = INFINITE, _up_to = -1.0;
};

}  // namespace swapwise::boxes
