// The perspective relaxation of a quadratic model under limits on nested sets, by accelerated proximal steps.
//
// The model is q(w) = <b, w> - <w, Hw>/2, and H - diag(d) is positive semidefinite. Over coefficients w and
// fractional sets z within the limits, q(w) + sum_e d_e |w_e|^2 / 2 - sum_e d_e |w_e|^2 / 2 z_e is maximised.
// An element e may have several rows of coefficients, and a coefficient several numbers.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "arrays.hpp"
#include "budgets.hpp"
#include "listening.hpp"
#include "nested.hpp"

namespace swapwise::perspective {

// Bounds are computed after every so many steps: they take about as long as a step among few elements.
constexpr Index STEPS_PER_BOUND = 4;

// Elements of a laminar family in an order in which every set is a range of places.
class Ranges {
  public:
    Ranges(const nested::Limits &limits, Flags held) : _limits(limits), _first(limits.end.size + 1, 0) {
        for (Index leaf : limits.leaf) ++_first[leaf + 1];
        std::partial_sum(_first.begin(), _first.end(), _first.begin());
        std::vector<Index> next(_first.begin(), _first.end() - 1);
        elements.resize(limits.leaf.size);
        for (Index e = 0; e < limits.leaf.size; ++e) elements[next[limits.leaf[e]]++] = e;
        room.assign(limits.capacity.begin(), limits.capacity.end());
        for (Index e = 0; e < limits.leaf.size; ++e) {
            if (!held[e]) continue;
            for (Index set = limits.leaf[e]; set > 0; set = limits.parent[set]) --room[set];
            --room[0];
        }
    }

    Index sets() const { return _limits.end.size; }
    Index begin(Index set) const { return _first[set]; }
    Index end(Index set) const { return _first[_limits.end[set]]; }

    std::vector<Index> elements;
    // What the elements held leave of the capacities
    std::vector<Index> room;

    // The largest weight of elements that fit into the room, none of them held.
    double largest_weight(const std::vector<double> &weights, Flags held) {
        _order.clear();
        for (Index e = 0; e < held.size; ++e) {
            if (!held[e] && weights[e] > 0) _order.push_back(e);
        }
        const auto is_heavier = [&](Index a, Index b) { return weights[a] > weights[b]; };
        double sum = 0.0;
        if (sets() == 1) {
            const Index most = std::min<Index>(room[0], _order.size());
            std::nth_element(_order.begin(), _order.begin() + most, _order.end(), is_heavier);
            for (Index i = 0; i < most; ++i) sum += weights[_order[i]];
            return sum;
        }
        std::sort(_order.begin(), _order.end(), is_heavier);
        _left = room;
        for (Index e : _order) {
            Index set = _limits.leaf[e];
            while (set > 0 && _left[set] > 0) set = _limits.parent[set];
            if (set > 0 || _left[0] <= 0) continue;
            sum += weights[e];
            for (set = _limits.leaf[e]; set > 0; set = _limits.parent[set]) --_left[set];
            if (--_left[0] == 0) break;
        }
        return sum;
    }

  private:
    nested::Limits _limits;
    std::vector<Index> _first, _order, _left;
};

// Where coefficients v would go if each had curvature `step`: the z that minimises
// sum_e d_e step |v_e|^2 / 2 (step z_e + d_e) within the limits, which are resources to allocate.
//
// z_e = t |v_e| sqrt(d_e) - d_e / step, between 0 and 1, with one t for all elements of a set that is full;
// sets are filled from the smallest to the largest.
class Allocation {
  public:
    Allocation(const nested::Limits &limits, Flags held)
        : _ranges(limits, held), _slope(held.size), _start(held.size), _multiplier(_ranges.sets(), 1.0) {}

    double largest_weight(const std::vector<double> &weights, Flags held) {
        return _ranges.largest_weight(weights, held);
    }

    void find(const std::vector<double> &lengths, Numbers d, double step, Flags held, Vec<double> z) {
        for (Index e = 0; e < d.size; ++e) {
            _slope[e] = held[e] ? 0.0 : lengths[e] * std::sqrt(d[e]);
            _start[e] = d[e] / step;
            z[e] = _slope[e] > 0 ? 1.0 : 0.0;
        }
        for (Index set = _ranges.sets() - 1; set >= 0; --set) fill(set, z);
        for (Index e = 0; e < d.size; ++e) {
            if (held[e]) z[e] = 1.0;
        }
    }

  private:
    Ranges _ranges;
    std::vector<double> _slope, _start, _multiplier;

    // Lower z to where the set is full, if it is more than that.
    void fill(Index set, Vec<double> z) {
        const double room = static_cast<double>(_ranges.room[set]);
        const Index begin = _ranges.begin(set), end = _ranges.end(set);
        double sum = 0.0;
        for (Index i = begin; i < end; ++i) sum += z[_ranges.elements[i]];
        if (sum <= room) return;
        // The sum rises with t in straight pieces: Newton's method finds the right one, kept between bounds.
        double low = 0.0, high = INFINITE, t = _multiplier[set];
        for (int turn = 0; turn < 200; ++turn) {
            double slope = 0.0;
            sum = 0.0;
            for (Index i = begin; i < end; ++i) {
                const Index e = _ranges.elements[i];
                const double value = t * _slope[e] - _start[e];
                if (value >= z[e]) {
                    sum += z[e];
                } else if (value > 0) {
                    sum += value;
                    slope += _slope[e];
                }
            }
            if (std::abs(sum - room) <= 1e-13 * room) break;
            (sum < room ? low : high) = t;
            const double next = slope > 0 ? t + (room - sum) / slope : -1.0;
            if (next > low && next < high) {
                t = next;
            } else {
                t = high == INFINITE ? 2 * t : (low + high) / 2;
            }
            if (t == low || t == high) break;
        }
        _multiplier[set] = t;
        for (Index i = begin; i < end; ++i) {
            const Index e = _ranges.elements[i];
            z[e] = std::clamp(t * _slope[e] - _start[e], 0.0, z[e]);
        }
    }
};

// out = H @ w, for a w of few rows that are not zero
inline void multiply(Table H, Table w, Mat<double> out) {
    out.fill(0.0);
    if (w.columns > 1) {
        for (Index row = 0; row < w.rows; ++row) {
            const Numbers from = w[row];
            if (std::all_of(from.begin(), from.end(), [](double x) { return x == 0; })) continue;
            for (Index i = 0; i < H.rows; ++i) {
                for (Index c = 0; c < w.columns; ++c) out(i, c) += H(row, i) * from[c];
            }
        }
        return;
    }
    std::vector<Index> rows;
    for (Index row = 0; row < w.rows; ++row) {
        if (w.data[row] != 0) rows.push_back(row);
    }
    double *sum = out.data;
    std::size_t i = 0;
    for (; i + 4 <= rows.size(); i += 4) {
        const double *a = H[rows[i]].data, *b = H[rows[i + 1]].data;
        const double *c = H[rows[i + 2]].data, *d = H[rows[i + 3]].data;
        const double wa = w.data[rows[i]], wb = w.data[rows[i + 1]];
        const double wc = w.data[rows[i + 2]], wd = w.data[rows[i + 3]];
        for (Index j = 0; j < H.columns; ++j) sum[j] += wa * a[j] + wb * b[j] + wc * c[j] + wd * d[j];
    }
    for (; i < rows.size(); ++i) {
        const double *a = H[rows[i]].data, wa = w.data[rows[i]];
        for (Index j = 0; j < H.columns; ++j) sum[j] += wa * a[j];
    }
}

inline double dot(Table a, Table b) {
    double sum = 0.0;
    for (Index i = 0; i < a.rows * a.columns; ++i) sum += a.data[i] * b.data[i];
    return sum;
}

// Coefficients, fractional set, its value, the least bound on the model within the limits, the curvature that
// steps were made with, and how many there were.
using Relaxed = std::tuple<Matrix<double>, Vector<double>, double, double, double, Index>;

// `element` is that of each row of coefficients; only those allowed have any. It ends when value and bound are
// closer than `finest`, or than a share of what the bound is above the target; when the bound is at most the
// target; or after `most` steps. The coefficients that come out are those of the bound.
template <class Limited>
Relaxed solve_within(Limited &allocation, Table H, Table b, Numbers d, Indices element, Flags held, Flags allowed,
                     Table start, double curvature, double target, double share_of_rest, double finest, Index most) {
    const Index rows = b.rows, columns = b.columns, elements = d.size, size = rows * columns;
    Listener listener;
    Matrix<double> w(rows, columns), Hw(rows, columns), v(rows, columns), Hv(rows, columns);
    Matrix<double> ahead(rows, columns), H_ahead(rows, columns), best(rows, columns);
    auto z = Vector<double>::filled(0.0, elements), best_z = Vector<double>::filled(0.0, elements);
    std::vector<double> lengths(elements), weights(elements);
    std::copy_n(start.data, size, w.data);
    multiply(H, w, Hw);
    std::copy_n(w.data, size, v.data);
    std::copy_n(Hw.data, size, Hv.data);
    double momentum = 1.0, least = INFINITE, value = -INFINITE;
    Index steps = 0, since_bound = 0;
    while (steps < most) {
        // A step of the smooth part from v, then the allocation.
        std::fill(lengths.begin(), lengths.end(), 0.0);
        for (Index row = 0; row < rows; ++row) {
            for (Index c = 0; c < columns; ++c) {
                const Index e = element[row];
                const double slope = b(row, c) - Hv(row, c) + d[e] * v(row, c);
                ahead(row, c) = allowed[e] ? v(row, c) + slope / curvature : 0.0;
                lengths[e] += ahead(row, c) * ahead(row, c);
            }
        }
        for (double &length : lengths) length = std::sqrt(length);
        allocation.find(lengths, d, curvature, held, z);
        for (Index row = 0; row < rows; ++row) {
            const double at = curvature * z[element[row]];
            const double share = at > 0 ? at / (at + d[element[row]]) : 0.0;
            for (Index c = 0; c < columns; ++c) ahead(row, c) *= share;
        }
        multiply(H, ahead, H_ahead);
        ++steps;
        listener.after(rows * columns * 64);
        double moved = 0.0, bend = 0.0, turn = 0.0;
        for (Index row = 0; row < rows; ++row) {
            for (Index c = 0; c < columns; ++c) {
                const double way = ahead(row, c) - v(row, c);
                moved += way * way;
                bend += way * (H_ahead(row, c) - Hv(row, c) - d[element[row]] * way);
                turn -= way * (ahead(row, c) - w(row, c));
            }
        }
        if (bend > curvature * moved * (1 + 1e-9)) {  // the curvature is larger along this way
            curvature = std::max(1.5 * curvature, 1.02 * bend / moved);
            continue;
        }
        if (turn > 0) momentum = 1.0;
        const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2, share = (momentum - 1) / next;
        momentum = next;
        for (Index i = 0; i < size; ++i) {
            v.data[i] = ahead.data[i] + share * (ahead.data[i] - w.data[i]);
            Hv.data[i] = H_ahead.data[i] + share * (H_ahead.data[i] - Hw.data[i]);
        }
        std::swap(w, ahead);
        std::swap(Hw, H_ahead);
        if (++since_bound < STEPS_PER_BOUND && steps < most && moved > 0) continue;
        since_bound = 0;
        double base = dot(b, w) - dot(w, Hw) / 2, paired = 0.0, penalties = 0.0, shift = 0.0;
        std::fill(weights.begin(), weights.end(), 0.0);
        for (Index row = 0; row < rows; ++row) {
            const Index e = element[row];
            for (Index c = 0; c < columns; ++c) {
                const double coef = w(row, c), slope = b(row, c) - Hw(row, c) + d[e] * coef;
                paired += slope * coef;
                shift += d[e] * coef * coef / 2;
                if (allowed[e]) weights[e] += slope * slope / (2 * d[e]);
                if (z[e] > 0) penalties += d[e] * coef * coef / (2 * z[e]);
            }
        }
        double largest = allocation.largest_weight(weights, held);
        for (Index e = 0; e < elements; ++e) {
            if (held[e]) largest += weights[e];
        }
        const double bound = base + shift - paired + largest;
        value = std::max(value, base + shift - penalties);
        if (bound < least) {
            least = bound;
            std::copy_n(w.data, size, best.data);
            std::copy_n(z.data, elements, best_z.data);
        }
        const double close = std::max(finest, share_of_rest * (least - target));
        if (least - value <= close || least <= target || moved == 0) break;
    }
    return {std::move(best), std::move(best_z), value, least, curvature, steps};
}

// The same under limits on nested sets.
inline Relaxed solve(Table H, Table b, Numbers d, Indices element, Flags held, Flags allowed,
                     nested::LimitArrays limits, Table start, double curvature, double target, double share_of_rest,
                     double finest, Index most) {
    Allocation allocation(record_of<nested::Limits>(limits), held);
    return solve_within(allocation, H, b, d, element, held, allowed, start, curvature, target, share_of_rest, finest,
                        most);
}

// The same under limits on sets that may overlap. What the sets cost comes last, and may be where the next begin.
inline std::tuple<Relaxed, Vector<double>> solve_overlapping(
    Table H, Table b, Numbers d, Indices element, Flags held, Flags allowed, budgets::LimitArrays limits,
    Numbers prices, Table start, double curvature, double target, double share_of_rest, double finest, Index most) {
    budgets::Allocation allocation(record_of<budgets::Limits>(limits), prices, d.size);
    Relaxed relaxed = solve_within(allocation, H, b, d, element, held, allowed, start, curvature, target,
                                   share_of_rest, finest, most);
    Vector<double> after(prices.size);
    std::copy(allocation.prices().begin(), allocation.prices().end(), after.data);
    return {std::move(relaxed), std::move(after)};
}

}  // namespace swapwise::perspective
