// The perspective relaxation of a quadratic model under limits on nested sets, by accelerated proximal steps.
//
// The model is q(w) = <b, w> - <w, Hw>/2, and H - diag(d) is positive semidefinite. Over coefficients w and
// fractional sets z within the limits, q(w) + sum_e d_e |w_e|^2 / 2 - sum_e d_e |w_e|^2 / 2 z_e is maximised.
// An element e may have several rows of coefficients, and a coefficient several numbers. Where coefficients have
// bounds, those of a share z are within z times these.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "arrays.hpp"
#include "boxes.hpp"
#include "budgets.hpp"
#include "listening.hpp"
#include "nested.hpp"

namespace swapwise::perspective {

// How many steps there are to a bound, which takes about as long as a step among few elements.
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
        missing.assign(limits.at_least.begin(), limits.at_least.end());
        for (Index e = 0; e < limits.leaf.size; ++e) {
            if (!held[e]) continue;
            for (Index set = limits.leaf[e];; set = limits.parent[set]) {
                --room[set];
                --missing[set];
                if (set == 0) break;
            }
        }
        leave_out_loose();
        has_lower_limits = std::any_of(missing.begin(), missing.end(), [](Index least) { return least > 0; });
    }

    Index sets() const { return _limits.end.size; }
    Index begin(Index set) const { return _first[set]; }
    Index end(Index set) const { return _first[_limits.end[set]]; }
    Index parent(Index set) const { return _limits.parent[set]; }

    std::vector<Index> elements;
    // What the elements held leave of the capacities and of the lower limits
    std::vector<Index> room, missing;
    bool has_lower_limits;

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
        nested::Demands demands(_limits.parent, view(room), view(missing));
        for (Index e : _order) {
            if (!demands.fits(_limits.leaf[e])) continue;
            sum += weights[e];
            demands.add(_limits.leaf[e]);
            if (demands.is_full()) break;
        }
        return sum;
    }

  private:
    nested::Limits _limits;
    std::vector<Index> _first, _order;

    // Lower limits that those of the sets within see to are none.
    void leave_out_loose() {
        std::vector<Index> within(sets(), 0);
        for (Index set = sets() - 1; set >= 0; --set) {
            if (missing[set] <= within[set]) missing[set] = 0;
            if (set > 0) within[_limits.parent[set]] += std::max(within[set], missing[set]);
        }
    }

    static Indices view(const std::vector<Index> &numbers) {
        return {numbers.data(), static_cast<Index>(numbers.size())};
    }
};

// Where coefficients v would go if each had curvature `step`: the z that minimises
// sum_e d_e step |v_e|^2 / 2 (step z_e + d_e) within the limits, which are resources to allocate.
//
// z_e = t |v_e| sqrt(d_e) - d_e / step, between 0 and 1, with one t for all elements of a set that is full;
// sets are filled from the smallest to the largest. In a set with a lower limit, t falls no further than to where
// the sum is that limit: below it, no place is won for others. Small shares are others where bounds cap coefficients:
// see `boxes::Cap`.
class Allocation {
  public:
    Allocation(const nested::Limits &limits, Flags held)
        : _ranges(limits, held), _slope(held.size), _start(held.size), _cap(held.size), _least(held.size, 0.0),
          _kept(_ranges.sets()), _multiplier(_ranges.sets(), 1.0), _least_multiplier(_ranges.sets(), 1.0) {}

    double largest_weight(const std::vector<double> &weights, Flags held) {
        return _ranges.largest_weight(weights, held);
    }

    // No coefficient is larger than the most of its element; none of them has any if `most` is empty.
    void find(const std::vector<double> &lengths, const std::vector<double> &most, Numbers d, double step, Flags held,
              Vec<double> z) {
        _has_caps = !most.empty();
        for (Index e = 0; e < d.size; ++e) {
            _slope[e] = held[e] ? 0.0 : lengths[e] * std::sqrt(d[e]);
            _start[e] = d[e] / step;
            if (_has_caps) _cap[e] = _slope[e] > 0 ? boxes::Cap(lengths[e], most[e], d[e], step) : boxes::Cap();
            z[e] = _slope[e] > 0 ? 1.0 : 0.0;
        }
        _ranges.has_lower_limits ? fill_all<true>(z) : fill_all<false>(z);
        for (Index e = 0; e < d.size; ++e) {
            if (held[e]) z[e] = 1.0;
        }
    }

  private:
    Ranges _ranges;
    std::vector<double> _slope, _start;
    std::vector<boxes::Cap> _cap;
    bool _has_caps = false;
    // The least t of each element; the places kept in each set for elements that z lacks; where t was last
    std::vector<double> _least, _kept, _multiplier, _least_multiplier;

    template <bool lower>
    void fill_all(Vec<double> z) {
        if (lower) {
            std::fill(_kept.begin(), _kept.end(), 0.0);
            std::fill(_least.begin(), _least.end(), 0.0);
        }
        for (Index set = _ranges.sets() - 1; set >= 0; --set) {
            fill<lower>(set, z);
            if (lower) keep(set, z);
        }
    }

    // The share of an element at t, which is a price of 1/2t², before it is cut off at 0 and 1.
    double share(Index e, double t) const {
        if (_has_caps && _cap[e].binds_at(0.5 / (t * t))) return _cap[e].share(0.5 / (t * t));
        return t * _slope[e] - _start[e];
    }
    // How fast it rises with t.
    double rise(Index e, double t) const {
        return _has_caps && _cap[e].binds_at(0.5 / (t * t)) ? _cap[e].fall / (t * t * t) : _slope[e];
    }

    double sum_of(Index set, Vec<double> z) const {
        double sum = 0.0;
        for (Index i = _ranges.begin(set); i < _ranges.end(set); ++i) sum += z[_ranges.elements[i]];
        return sum;
    }

    // Lower z to where the set is full, if it is more than that.
    template <bool lower>
    void fill(Index set, Vec<double> z) {
        const double room = static_cast<double>(_ranges.room[set]) - _kept[set];
        if (sum_of(set, z) <= room) return;
        const double t = multiplier_for<lower>(set, room, z, _multiplier[set]);
        for (Index i = _ranges.begin(set); i < _ranges.end(set); ++i) {
            const Index e = _ranges.elements[i];
            z[e] = std::clamp(share(e, lower ? std::max(t, _least[e]) : t), 0.0, z[e]);
        }
    }

    // The t at which the set holds as much as a given sum, which is less than that of z; it begins with a guess.
    template <bool lower>
    double multiplier_for(Index set, double wanted, Vec<double> z, double &guess) const {
        // The sum rises with t in pieces that are straight but for caps: Newton's method, kept between bounds.
        const double close = (lower ? 1e-12 : 1e-13) * wanted;  // least t are off by rounding
        double low = 0.0, high = INFINITE, t = guess;
        for (int turn = 0; turn < 200; ++turn) {
            double slope = 0.0, sum = 0.0;
            for (Index i = _ranges.begin(set); i < _ranges.end(set); ++i) {
                const Index e = _ranges.elements[i];
                const double value = share(e, lower ? std::max(t, _least[e]) : t);
                if (value >= z[e]) {
                    sum += z[e];
                } else if (value > 0) {
                    sum += value;
                    if (!lower || t >= _least[e]) slope += rise(e, t);
                }
            }
            if (std::abs(sum - wanted) <= close) break;
            (sum < wanted ? low : high) = t;
            const double next = slope > 0 ? t + (wanted - sum) / slope : -1.0;
            if (next > low && next < high) {
                t = next;
            } else {
                t = high == INFINITE ? 2 * t : (low + high) / 2;
            }
            if (t == low || t == high) break;
        }
        return guess = t;
    }

    // Note what the lower limit of a set keeps: places for elements that z lacks, or else how far t may fall.
    void keep(Index set, Vec<double> z) {
        const double least = static_cast<double>(_ranges.missing[set]) - _kept[set];
        if (least > 0) {
            const double lacking = least - sum_of(set, z);
            if (lacking < -1e-12) {
                raise(set, multiplier_for<true>(set, least, z, _least_multiplier[set]));
            } else {
                _kept[set] += std::max(lacking, 0.0);
                raise(set, std::numeric_limits<double>::max());
            }
        }
        if (set > 0) _kept[_ranges.parent(set)] += _kept[set];
    }

    void raise(Index set, double least) {
        for (Index i = _ranges.begin(set); i < _ranges.end(set); ++i) {
            double &own = _least[_ranges.elements[i]];
            own = std::max(own, least);
        }
    }
};

// Curvature as a matrix, multiplied with coefficients of which few rows are not zero.
class Gram {
  public:
    static constexpr double NOISE = 1e-14;  // of products, relative to the size of coefficients

    explicit Gram(Table H) : _H(H) {}

    void multiply(Table w, Mat<double> out) {
        out.fill(0.0);
        if (w.columns > 1) {
            for (Index row = 0; row < w.rows; ++row) {
                const Numbers from = w[row];
                if (std::all_of(from.begin(), from.end(), [](double x) { return x == 0; })) continue;
                for (Index i = 0; i < _H.rows; ++i) {
                    for (Index c = 0; c < w.columns; ++c) out(i, c) += _H(row, i) * from[c];
                }
            }
            return;
        }
        _rows.clear();
        for (Index row = 0; row < w.rows; ++row) {
            if (w.data[row] != 0) _rows.push_back(row);
        }
        add_rows(_H, _rows, w.data, out.data);
    }

    // sum += rows of a matrix, each times its number, four at a time so that the sum is read less often
    template <class T>
    static void add_rows(Mat<const T> matrix, const std::vector<Index> &rows, const double *by, T *sum) {
        std::size_t i = 0;
        for (; i + 4 <= rows.size(); i += 4) {
            const T *a = matrix[rows[i]].data, *b = matrix[rows[i + 1]].data;
            const T *c = matrix[rows[i + 2]].data, *d = matrix[rows[i + 3]].data;
            const T at_a = static_cast<T>(by[rows[i]]), at_b = static_cast<T>(by[rows[i + 1]]);
            const T at_c = static_cast<T>(by[rows[i + 2]]), at_d = static_cast<T>(by[rows[i + 3]]);
            for (Index j = 0; j < matrix.columns; ++j) {
                sum[j] += at_a * a[j] + at_b * b[j] + at_c * c[j] + at_d * d[j];
            }
        }
        for (; i < rows.size(); ++i) {
            const T *a = matrix[rows[i]].data, at_a = static_cast<T>(by[rows[i]]);
            for (Index j = 0; j < matrix.columns; ++j) sum[j] += at_a * a[j];
        }
    }

  private:
    Table _H;
    std::vector<Index> _rows;
};

// Curvature that is made of columns of the data: sum_s weight_s x_s x_s', and a penalty for each coefficient.
struct Samples {
    Mat<const float> columns;  // one per row
    Numbers scale;             // what coefficients are multiplied by
    Numbers weight;            // of the samples
    bool centred;              // whether columns count from their weighted means
    Numbers penalty;
};
using SampleArrays = std::tuple<Mat<const float>, Numbers, Numbers, bool, Numbers>;

class Columns {
  public:
    static constexpr double NOISE = 1e-5;

    Columns(const SampleArrays &samples, Flags allowed, Indices element)
        : _samples(record_of<Samples>(samples)), _is_used(element.size), _scaled(element.size),
          _sum(_samples.weight.size) {
        for (Index row = 0; row < element.size; ++row) _is_used[row] = allowed[element[row]];
        for (double weight : _samples.weight) _total += weight;
    }

    void multiply(Table w, Mat<double> out) {
        _rows.clear();
        for (Index row = 0; row < w.rows; ++row) {
            if (w.data[row] == 0) continue;
            _rows.push_back(row);
            _scaled[row] = w.data[row] / _samples.scale[row];
        }
        std::fill(_sum.begin(), _sum.end(), 0.0f);
        Gram::add_rows(_samples.columns, _rows, _scaled.data(), _sum.data());
        weigh();
        for (Index row = 0; row < w.rows; ++row) {
            if (!_is_used[row]) {
                out.data[row] = 0.0;
                continue;
            }
            out.data[row] = inner(_samples.columns[row].data) / _samples.scale[row];
            out.data[row] += _samples.penalty[row] * w.data[row];
        }
    }

  private:
    static constexpr Index LANES = 16;
    Samples _samples;
    std::vector<char> _is_used;
    std::vector<double> _scaled;
    std::vector<float> _sum;
    std::vector<Index> _rows;
    double _total = 0.0;

    void weigh() {
        double mean = 0.0;
        if (_samples.centred && _total > 0) {
            for (Index s = 0; s < _samples.weight.size; ++s) mean += _samples.weight[s] * _sum[s];
            mean /= _total;
        }
        for (Index s = 0; s < _samples.weight.size; ++s) {
            _sum[s] = static_cast<float>(_samples.weight[s] * (_sum[s] - mean));
        }
    }

    double inner(const float *column) const {
        float sums[LANES] = {};
        const Index size = _samples.weight.size, whole = size - size % LANES;
        for (Index j = 0; j < whole; j += LANES) {
            for (Index lane = 0; lane < LANES; ++lane) sums[lane] += column[j + lane] * _sum[j + lane];
        }
        double sum = 0.0;
        for (float part : sums) sum += part;
        for (Index j = whole; j < size; ++j) sum += column[j] * _sum[j];
        return sum;
    }
};

inline double dot(Table a, Table b) {
    double sum = 0.0;
    for (Index i = 0; i < a.rows * a.columns; ++i) sum += a.data[i] * b.data[i];
    return sum;
}

// Coefficients, fractional set, its value, the least bound on the model within the limits, the curvature that
// steps were made with, and how many there were.
using Relaxed = std::tuple<Matrix<double>, Vector<double>, double, double, double, Index>;

// `element` is that of each row of coefficients; only those allowed have any. It ends when value and bound are closer
// than `finest`, or than a share of what the bound is above the target; when the bound is at most the target; or after
// `most` steps. The coefficients that come out are those of the bound.
template <class Allocation, class Curvature>
Relaxed solve(Allocation &allocation, Curvature H, Table b, Numbers d, Indices element, Flags held, Flags allowed,
              const boxes::Box &box, Table start, double curvature, double target, double share_of_rest, double finest, Index most) {
    const Index rows = b.rows, columns = b.columns, elements = d.size, size = rows * columns;
    Listener listener;
    Matrix<double> w(rows, columns), Hw(rows, columns), v(rows, columns), Hv(rows, columns);
    Matrix<double> ahead(rows, columns), H_ahead(rows, columns);
    auto best = Matrix<double>::filled(0.0, rows, columns);  // what comes out if no bound is finite
    auto z = Vector<double>::filled(0.0, elements), best_z = Vector<double>::filled(0.0, elements);
    std::vector<double> lengths(elements), weights(elements), largest_coef(box.bounds_any() ? elements : 0, INFINITE);
    std::vector<Index> numbers(elements, 0);
    for (Index e : element) numbers[e] += columns;
    std::copy_n(start.data, size, w.data);
    H.multiply(w, Hw);
    std::copy_n(w.data, size, v.data);
    std::copy_n(Hw.data, size, Hv.data);
    const double most_curvature = std::max(1.0, 2.0 * static_cast<double>(rows));
    double momentum = 1.0, least = INFINITE, value = -INFINITE;
    Index steps = 0, since_bound = 0;
    while (steps < most) {
        // A step of the smooth part from v, then the allocation.
        std::fill(lengths.begin(), lengths.end(), 0.0);
        for (Index row = 0; row < rows; ++row) {
            for (Index c = 0; c < columns; ++c) {
                const Index e = element[row];
                const double slope = b(row, c) - Hv(row, c) + d[e] * v(row, c);
                ahead(row, c) = allowed[e] ? box.right_sign(row, c, v(row, c) + slope / curvature) : 0.0;
                lengths[e] += ahead(row, c) * ahead(row, c);
                // Caps of one number each: together, several have none in closed form.
                if (box.bounds_any() && numbers[e] == 1) largest_coef[e] = box.most(row, c, ahead(row, c));
            }
        }
        for (double &length : lengths) length = std::sqrt(length);
        allocation.find(lengths, largest_coef, d, curvature, held, z);
        for (Index row = 0; row < rows; ++row) {
            const double chosen = z[element[row]], at = curvature * chosen;
            const double share = at > 0 ? at / (at + d[element[row]]) : 0.0;
            for (Index c = 0; c < columns; ++c) ahead(row, c) = box.clipped(row, c, share * ahead(row, c), chosen);
        }
        H.multiply(ahead, H_ahead);
        ++steps;
        listener.after(rows * columns * 64);
        double moved = 0.0, bend = 0.0, turn = 0.0, length = 0.0;
        for (Index row = 0; row < rows; ++row) {
            for (Index c = 0; c < columns; ++c) {
                const double way = ahead(row, c) - v(row, c);
                moved += way * way;
                length += ahead(row, c) * ahead(row, c);
                bend += way * (H_ahead(row, c) - Hv(row, c) - d[element[row]] * way);
                turn -= way * (ahead(row, c) - w(row, c));
            }
        }
        // The curvature may be larger along this way, though never than twice
        // the sum of all, which is 1 each.
        const double noise = Curvature::NOISE * curvature * std::sqrt(moved * length);
        if (bend > curvature * moved + noise && curvature < most_curvature) {
            curvature = std::min(std::max(1.5 * curvature, 1.02 * bend / moved), most_curvature);
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
                if (allowed[e]) weights[e] += box.conjugate(row, c, slope, d[e]);
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

inline Relaxed by_products(Table H, Table b, Numbers d, Indices element, Flags held, Flags allowed,
                           nested::LimitArrays limits, boxes::BoundArrays bounds, Table start, double curvature, double target,
                           double share_of_rest, double finest, Index most) {
    Allocation allocation(record_of<nested::Limits>(limits), held);
    return solve(allocation, Gram(H), b, d, element, held, allowed, record_of<boxes::Box>(bounds), start, curvature, target, share_of_rest, finest,
                 most);
}

// The same for curvature that is made of columns, where coefficients are single numbers.
inline Relaxed by_columns(SampleArrays samples, Table b, Numbers d, Indices element, Flags held, Flags allowed,
                          nested::LimitArrays limits, boxes::BoundArrays bounds, Table start, double curvature, double target,
                          double share_of_rest, double finest, Index most) {
    Allocation allocation(record_of<nested::Limits>(limits), held);
    return solve(allocation, Columns(samples, allowed, element), b, d, element, held, allowed, record_of<boxes::Box>(bounds), start, curvature,
                 target, share_of_rest, finest, most);
}

// The same under limits on sets that may overlap. What these cost comes last, and is where the next may begin.
using Priced = std::tuple<Relaxed, Vector<double>>;

inline Priced with_prices(Relaxed relaxed, const budgets::Allocation &allocation) {
    Vector<double> prices(allocation.prices().size());
    std::copy(allocation.prices().begin(), allocation.prices().end(), prices.data);
    return {std::move(relaxed), std::move(prices)};
}

inline Priced overlapping_by_products(Table H, Table b, Numbers d, Indices element, Flags held, Flags allowed,
                                      budgets::LimitArrays limits, Numbers prices, boxes::BoundArrays bounds, Table start, double curvature,
                                      double target, double share_of_rest, double finest, Index most) {
    budgets::Allocation allocation(record_of<budgets::Limits>(limits), prices, d.size);
    return with_prices(solve(allocation, Gram(H), b, d, element, held, allowed, record_of<boxes::Box>(bounds), start, curvature, target,
                             share_of_rest, finest, most),
                       allocation);
}

inline Priced overlapping_by_columns(SampleArrays samples, Table b, Numbers d, Indices element, Flags held,
                                     Flags allowed, budgets::LimitArrays limits, Numbers prices, boxes::BoundArrays bounds, Table start, double curvature, double target,
                                     double share_of_rest, double finest, Index most) {
    budgets::Allocation allocation(record_of<budgets::Limits>(limits), prices, d.size);
    return with_prices(solve(allocation, Columns(samples, allowed, element), b, d, element, held, allowed, record_of<boxes::Box>(bounds), start,
                             curvature, target, share_of_rest, finest, most),
                       allocation);
}

}  // namespace swapwise::perspective
