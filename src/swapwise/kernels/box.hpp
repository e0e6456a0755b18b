// The maximum of a concave quadratic function within bounds, by an active set.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "definite.hpp"
#include "listening.hpp"

namespace swapwise::box {

// Slopes that are smaller than this, relative to the terms that they are sums of, are rounding.
inline constexpr double ROUNDED_SLOPE = 1e-14;

// This often, all coordinates that bounds hold back are set free at once; that is enough but for rare cases.
inline constexpr Index SET_FREE_AT_ONCE = 10;

// What a coordinate may be: between its bounds, which have 0 between them. None of both if there are no bounds.
struct Bounds {
    Numbers lower, upper;

    explicit operator bool() const { return lower.size > 0; }
};

enum Place : char { BETWEEN, AT_LOWER, AT_UPPER };

// gᵀd − dᵀHd/2 on its way to the maximum over lower ≤ d ≤ upper, of which the lower half of H is given.
//
// Coordinates at a bound stay there while the others go to the maximum that these have by themselves. If that is
// not within the bounds, they go as far as the first of them comes to a bound, or all that leave the bounds are
// cut to these, whichever is higher. At a maximum, those that a bound holds back are set free: all at first,
// then the one that is held back the most, which ends for certain. A coordinate that does not move when it is
// set free, since others span it but for rounding, stays where it is for good.
class Ascent {
  public:
    Ascent(Table hessian, Numbers slope, Bounds bounds)
        : _hessian(hessian),
          _slope(slope),
          _bounds(bounds),
          _size(slope.size),
          _rest(_size),
          _step(Vector<double>::filled(0.0, _size)),
          _way(_size),
          _place(Vector<char>::filled(BETWEEN, _size)),
          _barred(Vector<char>::filled(0, _size)) {
        for (Index i = 0; i < _size; ++i) {
            if (bounds.lower[i] >= 0.0 && slope[i] < 0.0) _place[i] = AT_LOWER;
            if (bounds.upper[i] <= 0.0 && slope[i] > 0.0) _place[i] = AT_UPPER;
        }
        _rest.copy(slope);
    }

    // Also return what may be missed because rows depend on each other: see `definite_solution`.
    std::tuple<Vector<double>, double> run() {
        Index freed = -1, many = 0;
        for (Index turn = 0; turn < 10 * _size + 10; ++turn) {
            raise_if_interrupted();
            const double missed = solve();
            if (freed >= 0 && !moves_inward(freed)) {
                _barred[freed] = 1;
                _place[freed] = _step[freed] <= _bounds.lower[freed] ? AT_LOWER : AT_UPPER;
                freed = -1;
                continue;
            }
            const bool reached = go_on();
            if (!reached) {
                freed = -1;
                continue;
            }
            freed = most_held_back();
            if (freed < 0) return {std::move(_step), missed + missed_by_barred()};
            _place[freed] = BETWEEN;
            if (many++ < SET_FREE_AT_ONCE && free_others()) freed = -1;
        }
        return {std::move(_step), INFINITE};
    }

  private:
    double entry(Index i, Index j) const { return i >= j ? _hessian(i, j) : _hessian(j, i); }

    // The way to the maximum of those between their bounds, zero for the others
    double solve() {
        Index count = 0;
        Vector<Index> free(_size);
        for (Index i = 0; i < _size; ++i) {
            if (_place[i] == BETWEEN) free[count++] = i;
        }
        Matrix<double> matrix(count, count);
        Vector<double> right(count);
        for (Index a = 0; a < count; ++a) {
            right[a] = _rest[free[a]];
            for (Index b = 0; b <= a; ++b) matrix(a, b) = entry(free[a], free[b]);
        }
        auto [solution, missed] = glm::definite_solution(matrix, right);
        _way.fill(0.0);
        for (Index a = 0; a < count; ++a) _way[free[a]] = solution[a];
        return missed;
    }

    bool moves_inward(Index i) const {
        return _step[i] <= _bounds.lower[i] ? _way[i] > 0.0 : _way[i] < 0.0;
    }

    // Go on to the maximum, or as far as the bounds let it; return whether it was reached.
    bool go_on() {
        double share = 1.0;
        Index hit = -1;
        for (Index i = 0; i < _size; ++i) {
            if (_place[i] != BETWEEN || _way[i] == 0.0) continue;
            const double room = (_way[i] > 0.0 ? _bounds.upper[i] : _bounds.lower[i]) - _step[i];
            if (room / _way[i] < share) {
                share = std::max(room / _way[i], 0.0);
                hit = i;
            }
        }
        Vector<double> first(_size), cut(_size);
        for (Index i = 0; i < _size; ++i) {
            first[i] = _step[i] + share * _way[i];
            cut[i] = std::min(std::max(_step[i] + _way[i], _bounds.lower[i]), _bounds.upper[i]);
        }
        if (hit >= 0) first[hit] = _way[hit] > 0.0 ? _bounds.upper[hit] : _bounds.lower[hit];
        const bool cuts = hit >= 0 && value_at(cut) > value_at(first);
        _step.copy(cuts ? Numbers(cut) : Numbers(first));
        for (Index i = 0; i < _size && hit >= 0; ++i) {
            if (_place[i] != BETWEEN || _way[i] == 0.0 || (!cuts && i != hit)) continue;
            if (_way[i] > 0.0 && _step[i] >= _bounds.upper[i]) _place[i] = AT_UPPER;
            if (_way[i] < 0.0 && _step[i] <= _bounds.lower[i]) _place[i] = AT_LOWER;
        }
        for (Index i = 0; i < _size; ++i) {
            double curved = 0.0;
            for (Index j = 0; j < _size; ++j) curved += entry(i, j) * _step[j];
            _rest[i] = _slope[i] - curved;
        }
        return hit < 0;
    }

    double value_at(Numbers step) const {
        double value = 0.0;
        for (Index i = 0; i < _size; ++i) {
            if (step[i] == 0.0) continue;
            double curved = _hessian(i, i) * step[i] / 2;
            for (Index j = 0; j < i; ++j) curved += _hessian(i, j) * step[j];
            value += step[i] * (_slope[i] - curved);
        }
        return value;
    }

    // Set free all that bounds hold back; return whether there are any.
    bool free_others() {
        bool any = false;
        for (Index i = 0; i < _size; ++i) {
            if (_barred[i] || !is_held_back(i)) continue;
            _place[i] = BETWEEN;
            any = true;
        }
        return any;
    }

    bool is_held_back(Index i) const {
        if (_place[i] == BETWEEN || (_place[i] == AT_LOWER ? _rest[i] <= 0.0 : _rest[i] >= 0.0)) return false;
        if (_bounds.lower[i] == _bounds.upper[i]) return false;
        double size = std::abs(_slope[i]);
        for (Index j = 0; j < _size; ++j) size += std::abs(entry(i, j) * _step[j]);
        return std::abs(_rest[i]) > ROUNDED_SLOPE * size;
    }

    // The one at a bound that would gain the most by itself, −1 if there is none
    Index most_held_back() const {
        Index best = -1;
        double most = 0.0;
        for (Index i = 0; i < _size; ++i) {
            if (_barred[i] || !is_held_back(i)) continue;
            const double gain = _rest[i] * _rest[i] / std::max(_hessian(i, i), 1e-300);
            if (gain > most) {
                most = gain;
                best = i;
            }
        }
        return best;
    }

    double missed_by_barred() const {
        double missed = 0.0;
        for (Index i = 0; i < _size; ++i) {
            if (!_barred[i] || !is_held_back(i)) continue;
            const double rest = _rest[i] / glm::FLOAT64_PRECISION;
            missed += rest * rest / std::max(_hessian(i, i), 1e-300);
        }
        return missed;
    }

    Table _hessian;
    Numbers _slope;
    Bounds _bounds;
    Index _size;
    Vector<double> _rest, _step, _way;  // the slope at the step, the step, and where it goes on to
    Vector<char> _place, _barred;
};

// Maximise slopeᵀd − dᵀHd/2 over lower ≤ d ≤ upper with lower ≤ 0 ≤ upper, of which the lower half of H is read.
inline std::tuple<Vector<double>, double> maximum(Table hessian, Numbers slope, Numbers lower, Numbers upper) {
    return Ascent(hessian, slope, Bounds{lower, upper}).run();
}

}  // namespace swapwise::box
