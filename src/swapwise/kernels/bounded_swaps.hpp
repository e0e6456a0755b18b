// Least squares with bounds on coefficients: fits within a box, and gains of swaps between such fits.
//
// At a fit w within the bounds, what is left of b = Aᵀy on the chosen columns, r = b − Gw, is zero where a coefficient is
// free and points out of the box where it is held at a bound. So w is the plain least-squares fit to b − r, and the
// closed-form gains of `swaps` from it, which let all coefficients go where they like, are those of a Lagrangian: they
// bound the gains within the box from above.
//
// With the held coefficients where they are, moves have a closed form as well, that of the free columns alone. It is
// exact if all coefficients that it leads to are within their bounds, and if what is left of b still holds the held ones
// back. Moves that may be the best and are not settled by this are refitted.
#pragma once

#include <cmath>
#include <queue>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "listening.hpp"
#include "swaps.hpp"

namespace swapwise::bounded_swaps {

// A slope below this share of what its column and y could have is rounding.
inline constexpr double FLAT = 1e-12;

// A pivot below this share of its column's squared length is rounding: the column is explained by those before it.
inline constexpr double DEPENDENT = 1e-14;

inline double clipped(double value, double low, double high) { return std::min(std::max(value, low), high); }

// Coefficients within bounds that maximise 2 bᵀw − wᵀGw, by an active-set method (Lawson and Hanson 1974, Stark and
// Parker 1995): fit those that are free, stop at the first bound on the way, and when there is none in the way, let go
// of the coefficient at a bound that gains most. Arrays have room for the largest problem.
class Fit {
  public:
    explicit Fit(Index most)
        : gram(most, most),
          with_y(most),
          low(most),
          high(most),
          coef(most),
          rest(most),
          _factor(most, most),
          _target(most),
          _free(most),
          _is_free(most),
          _is_barred(most) {}

    Matrix<double> gram;
    Vector<double> with_y, low, high;
    Vector<double> coef;  // where to begin, within the bounds
    Vector<double> rest;  // b − Gw in the end

    // Return what the fit explains: 2 bᵀw − wᵀGw. `scale` is the squared length of y.
    double run(Index size, double scale) {
        _size = size;
        for (Index i = 0; i < size; ++i) {
            _is_free[i] = low[i] < coef[i] && coef[i] < high[i];
            _is_barred[i] = false;
        }
        Index freed = -1;
        for (Index turn = 0; turn < 10 * size + 50; ++turn) {
            const Index blocked = approach();
            if (blocked >= 0) {
                // A coefficient that returns to its bound at once was released by rounding: it stays there.
                if (blocked == freed && _stood_still) _is_barred[freed] = true;
                continue;
            }
            freed = released(scale);
            if (freed < 0) break;
            _is_free[freed] = true;
        }
        find_rest();
        double explained = 0.0;
        for (Index i = 0; i < size; ++i) explained += coef[i] * (with_y[i] + rest[i]);
        return explained;
    }

  private:
    void find_rest() {
        for (Index i = 0; i < _size; ++i) {
            double left = with_y[i];
            const Numbers row = gram[i].slice(0, _size);
            for (Index j = 0; j < _size; ++j) left -= row[j] * coef[j];
            rest[i] = left;
        }
    }

    // Go to the fit of what is free, or as far as a bound allows; return the coefficient that got there, or -1.
    Index approach() {
        _count = 0;
        for (Index i = 0; i < _size; ++i) {
            if (_is_free[i]) _free[_count++] = i;
        }
        solve();
        double step = 1.0;
        Index blocked = -1;
        for (Index a = 0; a < _count; ++a) {
            const Index i = _free[a];
            const double end = _target[a];
            if (end >= low[i] && end <= high[i]) continue;
            const double bound = end < low[i] ? low[i] : high[i];
            const double part = (bound - coef[i]) / (end - coef[i]);
            if (blocked < 0 || part < step) {
                step = part;
                blocked = i;
            }
        }
        _stood_still = step <= 0.0;
        for (Index a = 0; a < _count; ++a) {
            const Index i = _free[a];
            coef[i] = blocked < 0 ? _target[a] : clipped(coef[i] + step * (_target[a] - coef[i]), low[i], high[i]);
        }
        if (blocked >= 0) {
            const double middle = coef[blocked];
            coef[blocked] = std::abs(middle - low[blocked]) <= std::abs(high[blocked] - middle) ? low[blocked] : high[blocked];
            _is_free[blocked] = false;
        }
        return blocked;
    }

    // The best coefficients of what is free, with all others as they are; those of dependent columns stay.
    void solve() {
        for (Index a = 0; a < _count; ++a) {
            const Index i = _free[a];
            const Numbers row = gram[i].slice(0, _size);
            double left = with_y[i];
            for (Index j = 0; j < _size; ++j) left -= row[j] * coef[j];
            _target[a] = left;  // the change of coefficients is fitted to what is left
            double *own = _factor[a].begin();
            for (Index b = 0; b < a; ++b) {
                const double *other = _factor[b].begin();
                double dot = 0.0;
#pragma omp simd reduction(+ : dot)
                for (Index k = 0; k < b; ++k) dot += own[k] * other[k];
                own[b] = other[b] > 0.0 ? (row[_free[b]] - dot) / other[b] : 0.0;
                _target[a] -= own[b] * _target[b];
            }
            double pivot = row[i];
            for (Index k = 0; k < a; ++k) pivot -= own[k] * own[k];
            own[a] = pivot > DEPENDENT * row[i] ? std::sqrt(pivot) : 0.0;
            _target[a] = own[a] > 0.0 ? _target[a] / own[a] : 0.0;
        }
        for (Index a = _count - 1; a >= 0; --a) {
            const double *own = _factor[a].begin();
            if (!(own[a] > 0.0)) continue;
            const double known = _target[a] /= own[a];
            for (Index k = 0; k < a; ++k) _target[k] -= own[k] * known;
        }
        for (Index a = 0; a < _count; ++a) _target[a] += coef[_free[a]];
    }

    // The coefficient at a bound that gains most by leaving it, or -1.
    Index released(double scale) {
        find_rest();
        Index best = -1;
        double most = 0.0;
        for (Index i = 0; i < _size; ++i) {
            if (_is_free[i] || _is_barred[i] || !(low[i] < high[i])) continue;
            const bool is_low = coef[i] <= low[i];
            const double slope = is_low ? rest[i] : -rest[i];
            if (slope <= FLAT * std::sqrt(gram(i, i) * scale) || !(gram(i, i) > 0.0)) continue;
            const double gain = slope * slope / gram(i, i);
            if (gain > most) {
                most = gain;
                best = i;
            }
        }
        return best;
    }

    Matrix<double> _factor;
    Vector<double> _target;
    Vector<Index> _free;
    Vector<bool> _is_free, _is_barred;
    Index _size = 0, _count = 0;
    bool _stood_still = false;
};

// The best coefficients within bounds, given inner products of the columns and those with y, from a start within them.
inline Vector<double> fit(Table gram, Numbers with_y, Numbers low, Numbers high, Numbers start, double scale) {
    const Index size = with_y.size;
    Fit own(size);
    for (Index i = 0; i < size; ++i) own.gram[i].copy(gram[i]);
    own.with_y.copy(with_y);
    own.low.copy(low);
    own.high.copy(high);
    for (Index i = 0; i < size; ++i) own.coef[i] = clipped(start[i], low[i], high[i]);
    own.run(size, scale);
    return std::move(own.coef);
}

// A fit within bounds and what surrounds it: see `swaps`. First what bounds gains, with all chosen columns free.
struct Arrays {
    Table coupling;
    Numbers coef, spread, corr, sigma, floor;
    // With the held columns where they are: B, 1 / C_ii, σ and C of the free ones.
    Table free_coupling;
    Numbers free_spread, free_sigma;
    Table free_inverse;
    // Inner products of all columns, and of the held ones, with the held ones, once the free ones explain what they can;
    // and what these explain of the held ones.
    Table held_products, held_gram, held_coupling;
    // By slot: the place among the free columns, or less than 0: -1 less the place among the held ones.
    Indices place;
    // By slot: inner products, those with y, the bounds, and r.
    Table gram;
    Numbers chosen_with_y, chosen_low, chosen_high, rest;
    // By element.
    Numbers with_y, squares, low, high;
    // Whether closed forms are exact: not if chosen columns are nearly collinear.
    bool is_plain;
};
using ArrayTuple = std::tuple<Table, Numbers, Numbers, Numbers, Numbers, Numbers, Table, Numbers, Numbers, Table, Table,
                              Table, Table, Indices, Table, Numbers, Numbers, Numbers, Numbers, Numbers, Numbers,
                              Numbers, Numbers, bool>;

// Scores moves that add one column in exchange for a slot (-1: for none).
class Scorer {
  public:
    Scorer(const ArrayTuple &arrays, double scale)
        : all(record_of<Arrays>(arrays)), _scale(scale), _size(all.gram.rows), _fit(_size + 1), _after(_size + 1) {
        for (Index s = 0; s < _size; ++s) _explained += all.coef[s] * (all.chosen_with_y[s] + all.rest[s]);
        for (Index s = 0; s < _size; ++s) (all.place[s] < 0 ? _held : _free).push_back(s);
    }

    const Arrays all;

    // What no move gains more that adds a column; infinity if too little is left of it to tell.
    double bound(Index j) const {
        return all.sigma[j] > all.floor[j] ? raised(j, all.corr[j], all.sigma[j]) : INFINITE;
    }
    double bound(Index j, Index slot) const {
        if (slot < 0) return all.sigma[j] > all.floor[j] ? raised(j, all.corr[j], all.sigma[j]) : 0.0;
        const double share = all.coupling(j, slot), free = all.spread[slot], coef = all.coef[slot];
        const double height = all.corr[j] + share * coef * free, width = all.sigma[j] + share * share * free;
        return (width > all.floor[j] ? raised(j, height, width) : 0.0) - coef * (coef * free + 2.0 * all.rest[slot]);
    }

    double exact(Index j, Index slot) {
        const auto [gain, added, is_exact] = closed(j, slot);
        return is_exact && all.is_plain ? gain : refitted(j, slot, added);
    }

  private:
    // What adding a column gains, by its best coefficient within its bounds.
    double raised(Index j, double height, double width) const {
        const double coef = clipped(height / width, all.low[j], all.high[j]);
        return coef * (2.0 * height - width * coef);
    }

    // The gain with the held columns where they are, the coefficient of the new one, and whether that is the best fit.
    // Where the chosen ones go is noted.
    std::tuple<double, double, bool> closed(Index j, Index slot) {
        const Index place = slot < 0 ? 0 : all.place[slot];
        const Numbers along = all.free_coupling[j];
        double height = all.corr[j], width = all.free_sigma[j], gain = 0.0, back = 0.0;
        if (slot >= 0 && place >= 0) {
            const double share = along[place], free = all.free_spread[place];
            height += share * all.coef[slot] * free;
            width += share * share * free;
            gain -= all.coef[slot] * all.coef[slot] * free;
        } else if (slot >= 0) {
            height += all.coef[slot] * all.held_products(j, -1 - place);
            gain -= all.coef[slot] * (2.0 * all.rest[slot] + all.coef[slot] * all.held_gram(-1 - place, -1 - place));
        }
        const double added = width > all.floor[j] ? clipped(height / width, all.low[j], all.high[j]) : 0.0;
        gain += added * (2.0 * height - width * added);
        if (slot >= 0 && place >= 0) back = (added * along[place] - all.coef[slot]) * all.free_spread[place];
        const bool stays = free_stay(j, slot, place, added, back);
        return {gain, added, held_stay(j, slot, place, added, back) && stays};
    }

    bool free_stay(Index j, Index slot, Index place, double added, double back) {
        const Numbers along = all.free_coupling[j];
        bool stay = true;
        for (Index a = 0; a < static_cast<Index>(_free.size()); ++a) {
            const Index s = _free[a];
            double after = all.coef[s] - added * along[a];
            if (slot >= 0) {
                after += place >= 0 ? back * all.free_inverse(place, a)
                                    : all.coef[slot] * all.held_coupling(-1 - place, a);
            }
            _after[s] = after;
            stay = stay && (s == slot || (after >= all.chosen_low[s] && after <= all.chosen_high[s]));
        }
        return stay;
    }

    bool held_stay(Index j, Index slot, Index place, double added, double back) {
        bool stay = true;
        for (Index b = 0; b < static_cast<Index>(_held.size()); ++b) {
            const Index s = _held[b];
            _after[s] = all.coef[s];
            if (s == slot) continue;
            double rest = all.rest[s] - added * all.held_products(j, b);
            if (slot >= 0) {
                rest += place >= 0 ? -back * all.held_coupling(b, place)
                                   : all.coef[slot] * all.held_gram(b, -1 - place);
            }
            stay = stay && (all.rest[s] < 0.0 ? rest <= 0.0 : rest >= 0.0);
        }
        return stay;
    }

    // The gain of a fit within bounds on the chosen columns less one, and another.
    double refitted(Index j, Index slot, double added) {
        Index size = 0;
        for (Index s = 0; s < _size; ++s) {
            if (s == slot) continue;
            Index column = 0;
            double product = 0.0;  // of the new column with a chosen one
            for (Index k = 0; k < _size; ++k) {
                product += all.gram(s, k) * all.coupling(j, k);
                if (k != slot) _fit.gram(size, column++) = all.gram(s, k);
            }
            _fit.gram(size, column) = _fit.gram(column, size) = product;
            _fit.with_y[size] = all.chosen_with_y[s];
            _fit.low[size] = all.chosen_low[s];
            _fit.high[size] = all.chosen_high[s];
            _fit.coef[size++] = clipped(_after[s], all.chosen_low[s], all.chosen_high[s]);
        }
        _fit.gram(size, size) = all.squares[j];
        _fit.with_y[size] = all.with_y[j];
        _fit.low[size] = all.low[j];
        _fit.high[size] = all.high[j];
        _fit.coef[size++] = added;
        return _fit.run(size, _scale) - _explained;
    }

    double _scale;
    Index _size;
    double _explained = 0.0;
    std::vector<Index> _free, _held;
    Fit _fit;
    Vector<double> _after;
};

// Gains of all useful moves of a grid; minus infinity elsewhere.
inline Matrix<double> grid_gains(Mask useful, Indices slots, const ArrayTuple &arrays, double scale) {
    Scorer scorer(arrays, scale);
    auto gains = Matrix<double>::filled(-INFINITE, useful.rows, useful.columns);
    const Index last = useful.columns - 1;
    Listener listener;
    for (Index j = 0; j < useful.rows; ++j) {
        for (Index i = 0; i <= last; ++i) {
            if (!useful(j, i)) continue;
            listener.after(last * last);
            gains(j, i) = scorer.exact(j, i < last ? slots[i] : -1);
        }
    }
    return gains;
}

// Gains of listed moves that add `added[k]` in exchange for `slots[k]`.
inline Vector<double> pair_gains(Indices added, Indices slots, const ArrayTuple &arrays, double scale) {
    Scorer scorer(arrays, scale);
    Vector<double> gains(added.size);
    Listener listener;
    for (Index k = 0; k < added.size; ++k) {
        listener.after(scorer.all.gram.rows * scorer.all.gram.rows);
        gains[k] = scorer.exact(added[k], slots[k]);
    }
    return gains;
}

// A move of a grid, or all that add an element (column -1), and what it gains at most.
struct Open {
    double bound;
    Index row, column;

    bool operator<(const Open &other) const { return bound < other.bound; }
};

inline bool has_swap(Mask feasible, Index j) {
    const bool *swaps = feasible[j].begin();
    return std::find(swaps, swaps + feasible.columns - 1, true) != swaps + feasible.columns - 1;
}

// Open all moves of a row that gain more than `least`, as far as bounds tell.
template <class Put>
void open_row(const Scorer &scorer, Mask feasible, Indices slots, Index j, double least, Put put) {
    const Index last = feasible.columns - 1;
    if (feasible(j, last)) {  // no drop could gain anything
        const double bound = scorer.bound(j, -1);
        if (bound > least) put(Open{bound, j, last});
        return;
    }
    for (Index i = 0; i < last; ++i) {
        if (!feasible(j, i)) continue;
        const double bound = scorer.bound(j, slots[i]);
        if (bound > least) put(Open{bound, j, i});
    }
}

// Flat index and gain of the best move of a grid that gains more than `least`, or -1; and how many gains were computed.
//
// Moves come in the order of their bounds, and only those are computed that may be the best: ties go to the first.
inline std::tuple<Index, double, Index> best_of_grid(Mask feasible, Indices slots, const ArrayTuple &arrays, double tie,
                                                     double scale, double least) {
    Scorer scorer(arrays, scale);
    const Index n = feasible.rows, last = feasible.columns - 1;
    std::priority_queue<Open> open;
    for (Index j = 0; j < n; ++j) {
        if (!feasible(j, last) && !has_swap(feasible, j)) continue;
        const double bound = scorer.bound(j);
        if (bound > least) open.push({bound, j, -1});
    }
    double best = -INFINITE;
    Index evaluated = 0;
    std::vector<std::pair<Index, double>> found;
    Listener listener;
    while (!open.empty()) {
        const Open top = open.top();
        const double target = std::max(least, swaps::least_tie(best, tie, scale));
        if (!(top.bound > least && top.bound >= target)) break;
        open.pop();
        if (top.column < 0) {
            evaluated += last + 1;
            listener.after(last);
            open_row(scorer, feasible, slots, top.row, least, [&](Open move) {
                if (move.bound >= target) open.push(move);
            });
            continue;
        }
        listener.after(last * last);
        const double gain = scorer.exact(top.row, top.column < last ? slots[top.column] : -1);
        found.emplace_back(top.row * (last + 1) + top.column, gain);
        best = std::max(best, gain);
    }
    const double target = swaps::least_tie(best, tie, scale);
    Index first = -1;
    double reached = -INFINITE;
    for (const auto &[index, gain] : found) {
        if (!(gain >= target) || !(gain > least) || (first >= 0 && index > first)) continue;
        first = index;
        reached = gain;
    }
    return {first, reached, evaluated};
}

// Gain of the best move of a grid that adds each candidate, 0 if none gains more than `least`.
inline Vector<double> best_of_rows(Mask feasible, Indices slots, const ArrayTuple &arrays, double scale, double least) {
    Scorer scorer(arrays, scale);
    auto gains = Vector<double>::filled(0.0, feasible.rows);
    std::vector<Open> open;
    Listener listener;
    for (Index j = 0; j < feasible.rows; ++j) {
        if (!(scorer.bound(j) > least)) continue;
        open.clear();
        open_row(scorer, feasible, slots, j, least, [&](Open move) { open.push_back(move); });
        std::sort(open.rbegin(), open.rend());
        for (const Open &move : open) {
            if (move.bound <= gains[j]) break;
            listener.after(slots.size * slots.size);
            const double gain = scorer.exact(j, move.column < slots.size ? slots[move.column] : -1);
            if (gain > least) gains[j] = std::max(gains[j], gain);
        }
    }
    return gains;
}

}  // namespace swapwise::bounded_swaps
