// Local search in least squares: closed-form gains of swaps, rank-one updates, and whole runs of best moves.
//
// With X the chosen columns, C = (A_Xᵀ A_X + λI)⁻¹, w = C A_Xᵀ y, B = C A_Xᵀ A, the residual correlations c =
// Aᵀ(y − A_X w) and σ_j the squared length of column j that X does not explain, dropping i and adding j
// lowers the residual sum of squares by exactly
//
//     (c_j + B_ij w_i / C_ii)² / (σ_j + B_ij² / C_ii)  −  w_i² / C_ii .
//
// `coupling` below is B transposed, so that all that concerns a candidate lies side by side. Chosen columns
// sit in slots 0 .. size-1 of the small arrays. A slot of -1 stands for no column at all.
#pragma once

#include <cmath>
#include <numeric>
#include <tuple>

#include "arrays.hpp"
#include "cholesky.hpp"
#include "listening.hpp"
#include "mixed.hpp"
#include "nested.hpp"

namespace swapwise::swaps {

// How a run of best moves ended.
enum Ending : int {
    GOING_ON,   // after as many rounds as it was given
    DONE,       // no move gains enough
    DEPENDENT,  // the start has collinear columns
    MISSING,    // the next move needs inner products that are not known
    OPTIMAL,    // every move loses more than rounding can hide
};

// What rounding may add to a gain, as a share of the squared length of y, is far less than this: after a
// thousand moves among columns of which a thousandth is left, each off by the last digit, it is 1e-10. A start
// may have columns of which a millionth is left; what it leads to is compared with a fit from the data.
inline constexpr double CLEAR = 1e-8;

// What a gain must reach to tie with the best: the smallest index among all that do is taken.
inline double least_tie(double best, double tie, double scale) {
    return std::isfinite(best) ? best - tie * (std::abs(best) + std::abs(scale)) : best;
}

// Gain of adding a column: nothing if the chosen ones already explain it.
inline double add_gain(double corr, double sigma, double floor) {
    return sigma > floor ? corr * corr / sigma : 0.0;
}

// What scores moves: B, w, 1 / C_ii, c, σ, and the σ at which a column counts as explained.
struct Quantities {
    Table coupling;
    Numbers coef, spread, corr, sigma, floor;

    double added(Index j) const { return add_gain(corr[j], sigma[j], floor[j]); }
};

// What scores the moves that add one column.
struct Candidate {
    const Quantities &all;
    Numbers coupling;
    double corr, sigma, floor;

    Candidate(const Quantities &all, Index j)
        : all(all), coupling(all.coupling[j]), corr(all.corr[j]), sigma(all.sigma[j]), floor(all.floor[j]) {}

    double added() const { return add_gain(corr, sigma, floor); }

    // Gain in exchange for a slot (-1: nothing is lost).
    double gain(Index slot) const {
        if (slot < 0) return added();
        const double share = coupling[slot], weight = all.coef[slot], free = all.spread[slot];
        const double height = corr + share * weight * free, width = sigma + share * share * free;
        const double gained = width > floor ? height * height / width : 0.0;
        return gained - weight * weight * free;
    }

    // Whether the gain is at least `target`: no division, so that columns without a chance cost little.
    bool reaches(double target, Index slot) const {
        if (slot < 0) return added() >= target;
        const double share = coupling[slot], weight = all.coef[slot], free = all.spread[slot];
        const double height = corr + share * weight * free, width = sigma + share * share * free;
        return width > floor ? height * height >= (target + weight * weight * free) * width
                             : -weight * weight * free >= target;
    }
};

// Gains of all useful moves of a grid; minus infinity elsewhere.
inline Matrix<double> grid_gains(Mask useful, Indices slots, Table coupling, Numbers coef, Numbers spread,
                                 Numbers corr, Numbers sigma, Numbers floor) {
    const Quantities quantities{coupling, coef, spread, corr, sigma, floor};
    auto gains = Matrix<double>::filled(-INFINITE, useful.rows, useful.columns);
    const Index last = useful.columns - 1;
    Listener listener;
    for (Index j = 0; j < useful.rows; ++j) {
        listener.after(last + 1);
        const Candidate candidate(quantities, j);
        for (Index i = 0; i < last; ++i) {
            if (useful(j, i)) gains(j, i) = candidate.gain(slots[i]);
        }
        if (useful(j, last)) gains(j, last) = candidate.added();
    }
    return gains;
}

// Gains of listed moves that add `added[k]` in exchange for `slots[k]`.
inline Vector<double> pair_gains(Indices added, Indices slots, Table coupling, Numbers coef, Numbers spread,
                                 Numbers corr, Numbers sigma, Numbers floor) {
    const Quantities quantities{coupling, coef, spread, corr, sigma, floor};
    Vector<double> gains(added.size);
    for (Index k = 0; k < added.size; ++k) gains[k] = Candidate(quantities, added[k]).gain(slots[k]);
    return gains;
}

// The moves of `move_gains`, one at a time, in memory that all of them share.
class MoveGain {
  public:
    MoveGain(Index most_added, Index most_dropped)
        : _block(most_dropped, most_dropped),
          _freed(most_added, most_dropped),
          _unexplained(most_added, most_added),
          _lost(most_dropped),
          _no_floor(Vector<double>::filled(0.0, most_dropped)),
          _gained(most_added),
          _alone(most_added),
          _floor(most_added),
          _out(most_dropped),
          _new(most_added),
          _place(most_added),
          _across(most_added) {}

    double operator()(Indices added, Indices places, Indices across, Indices slots, Table rest, Table inverse, Table coupling,
                      Numbers coef, Numbers corr, Numbers floor, double share) {
        note(added, places, across, slots);
        const Index out = _n_out, fresh = _n_new;
        for (Index i = 0; i < out; ++i) {
            _lost[i] = coef[_out[i]];
            for (Index j = 0; j < out; ++j) _block(i, j) = inverse(_out[i], _out[j]);
        }
        const double loss = cholesky::forward(_block, _lost, _no_floor, out, false);
        for (Index a = 0; a < fresh; ++a) {
            _gained[a] = corr[_new[a]];
            _floor[a] = floor[_new[a]];
            for (Index i = 0; i < out; ++i) {
                double total = coupling(_new[a], _out[i]);
                for (Index j = 0; j < i; ++j) total -= _block(i, j) * _freed(a, j);
                _freed(a, i) = total / _block(i, i);
                _gained[a] += _freed(a, i) * _lost[i];
            }
            for (Index b = 0; b <= a; ++b) {
                double total = rest(_place[a], _across[b]);
                for (Index i = 0; i < out; ++i) total += _freed(a, i) * _freed(b, i);
                _unexplained(a, b) = total;
            }
            _alone[a] = _unexplained(a, a);
        }
        const double gain = cholesky::forward(_unexplained, _gained, _floor, fresh, false);
        for (Index a = 1; a < fresh; ++a) {
            if (_unexplained(a, a) * _unexplained(a, a) < share * _alone[a]) return NOT_A_NUMBER;
        }
        return gain - loss;
    }

  private:
    void note(Indices added, Indices places, Indices across, Indices slots) {
        _n_out = _n_new = 0;
        for (Index slot : slots) {
            if (slot >= 0) _out[_n_out++] = slot;
        }
        for (Index k = 0; k < added.size; ++k) {
            if (added[k] < 0) continue;
            _new[_n_new] = added[k];
            _across[_n_new] = across[k];
            _place[_n_new++] = places[k];
        }
    }

    Matrix<double> _block, _freed, _unexplained;
    Vector<double> _lost, _no_floor, _gained, _alone, _floor;
    Vector<Index> _out, _new, _place, _across;
    Index _n_out = 0, _n_new = 0;
};

// Gains of listed moves of any size: the formula of a swap with blocks in place of numbers.
//
// NaN where added columns are nearly collinear with each other, and less than a `share` of one is left.
//
// Row k adds `added[k]` and takes out `slots[k]` (both padded with -1). `rest[places[k, a], across[k, b]]` is
// the inner product of two added columns after projection on the chosen ones.
inline Vector<double> move_gains(Mat<const Index> added, Mat<const Index> places, Mat<const Index> across, Mat<const Index> slots,
                                 Table rest, Table inverse, Table coupling, Numbers coef, Numbers corr,
                                 Numbers floor, double share) {
    Vector<double> gains(added.rows);
    MoveGain gain(added.columns, slots.columns);
    Listener listener;
    for (Index k = 0; k < added.rows; ++k) {
        listener.after((added.columns + slots.columns) * (added.columns + slots.columns));
        gains[k] = gain(added[k], places[k], across[k], slots[k], rest, inverse, coupling, coef, corr, floor, share);
    }
    return gains;
}

// First column of row j with a gain of at least `target`, else the best one, with its gain.
inline std::pair<double, Index> best_of_row(Index j, double target, Mask feasible, Indices slots,
                                            const Quantities &quantities) {
    const Candidate candidate(quantities, j);
    double best = -INFINITE;
    Index where = -1;
    for (Index i = 0; i < slots.size; ++i) {
        if (!feasible(j, i)) continue;
        const double gain = candidate.gain(slots[i]);
        if (gain > best) {
            best = gain;
            where = i;
            if (best >= target) break;
        }
    }
    return {best, where};
}

// Whether a swap that adds j gains `target`.
inline bool row_reaches(Index j, double target, Mask feasible, Indices slots, const Quantities &quantities) {
    const Candidate candidate(quantities, j);
    for (Index i = 0; i < slots.size; ++i) {
        if (feasible(j, i) && candidate.reaches(target, slots[i])) return true;
    }
    return false;
}

// The best move of a grid: see `best_of_grid`.
inline std::tuple<Index, double, Index> best_move(Mask feasible, Indices slots, const Quantities &quantities,
                                                  double tie, double scale) {
    const Index n = feasible.rows, last = feasible.columns - 1;
    Vector<double> bound(n);
    auto gains = Vector<double>::filled(-INFINITE, n);
    double best = -INFINITE;
    Index leader = -1, evaluated = 0;
    Listener listener;
    for (Index j = 0; j < n; ++j) {
        bound[j] = quantities.added(j);
        if (feasible(j, last)) {
            ++evaluated;
            gains[j] = bound[j];
            best = std::max(best, bound[j]);
            continue;
        }
        const bool *swaps = feasible[j].begin();
        if (std::find(swaps, swaps + last, true) == swaps + last) {  // chosen, or never to be
            bound[j] = -INFINITE;
            continue;
        }
        // If too little is left of it to tell, a swap for its near twin may still gain.
        if (quantities.sigma[j] <= quantities.floor[j]) bound[j] = INFINITE;
        if (leader < 0 || bound[j] > bound[leader]) leader = j;
    }
    if (leader >= 0 && bound[leader] > best) {
        gains[leader] = best_of_row(leader, INFINITE, feasible, slots, quantities).first;
        best = std::max(best, gains[leader]);
        evaluated += last;
        double target = least_tie(best, tie, scale);
        for (Index j = 0; j < n; ++j) {
            if (feasible(j, last) || j == leader || !(bound[j] >= target)) continue;
            evaluated += last;
            listener.after(last);
            if (row_reaches(j, target, feasible, slots, quantities)) {
                gains[j] = best_of_row(j, INFINITE, feasible, slots, quantities).first;
                best = std::max(best, gains[j]);
                target = least_tie(best, tie, scale);
            }
        }
    }
    if (best == -INFINITE) return {-1, best, evaluated};

    // The smallest index among all that are equal up to rounding.
    const double target = least_tie(best, tie, scale);
    Index j = 0;
    while (j + 1 < n && !(gains[j] >= target)) ++j;
    if (feasible(j, last)) return {j * (last + 1) + last, gains[j], evaluated};
    const auto [gain, i] = best_of_row(j, target, feasible, slots, quantities);
    return {j * (last + 1) + i, gain, evaluated};
}

// Flat index and gain of the best move of a grid, and how many gains were computed.
//
// Exact, yet lazy: no swap that adds j gains more than adding j without any drop, so that bound is computed
// for all and the swaps only for those candidates whose bound beats the best found.
inline std::tuple<Index, double, Index> best_of_grid(Mask feasible, Indices slots, Table coupling,
                                                     Numbers coef, Numbers spread, Numbers corr,
                                                     Numbers sigma, Numbers floor, double tie, double scale) {
    return best_move(feasible, slots, {coupling, coef, spread, corr, sigma, floor}, tie, scale);
}

// Gain of the best move of a grid that adds each candidate, 0 if none improves.
inline Vector<double> best_of_rows(Mask feasible, Indices slots, Table coupling, Numbers coef, Numbers spread,
                                   Numbers corr, Numbers sigma, Numbers floor) {
    const Quantities quantities{coupling, coef, spread, corr, sigma, floor};
    const Index last = feasible.columns - 1;
    Vector<double> gains(feasible.rows);
    Listener listener;
    for (Index j = 0; j < feasible.rows; ++j) {
        listener.after(last + 1);
        gains[j] = feasible(j, last)
                       ? quantities.added(j)
                       : std::max(best_of_row(j, INFINITE, feasible, slots, quantities).first, 0.0);
    }
    return gains;
}

// Largest eigenvalue of the Gram block of every pair (added, dropped); last column: added alone.
inline Matrix<double> pair_curvatures(Numbers squares, Indices drops, Indices slots, Table products) {
    const Index n = squares.size, last = drops.size;
    Matrix<double> largest(n, last + 1);
    Listener listener;
    for (Index j = 0; j < n; ++j) {
        listener.after(last + 1);
        for (Index i = 0; i < last; ++i) {
            const double mean = (squares[j] + squares[drops[i]]) / 2, half = squares[j] - mean;
            const double across = products(j, slots[i]);
            largest(j, i) = mean + std::sqrt(half * half + across * across);
        }
        largest(j, last) = squares[j];
    }
    return largest;
}

// Take a chosen column out: a sweep of the factors. The last slot moves into its place.
inline void remove_slot(Index slot, Index size, Mat<double> coupling, Mat<double> inverse, Vec<double> coef,
                        Vec<double> corr, Vec<double> sigma) {
    const double spread = 1.0 / inverse(slot, slot), weight = coef[slot];
    const Index last = size - 1;
    Vector<double> ratio(size), row(size);
    for (Index i = 0; i < size; ++i) {
        ratio[i] = inverse(i, slot) * spread;
        row[i] = inverse(slot, i);
    }
    for (Index j = 0; j < coupling.rows; ++j) {
        const Vec<double> own = coupling[j];
        const double share = own[slot];
        corr[j] += share * weight * spread;
        sigma[j] += share * share * spread;
#pragma omp simd
        for (Index i = 0; i < size; ++i) own[i] -= ratio[i] * share;
        own[slot] = own[last];
    }
    for (Index i = 0; i < size; ++i) {
        coef[i] -= ratio[i] * weight;
        for (Index k = 0; k < size; ++k) inverse(i, k) -= ratio[i] * row[k];
    }
    coef[slot] = coef[last];
    for (Index k = 0; k < last; ++k) inverse(slot, k) = inverse(last, k);
    for (Index k = 0; k < last; ++k) inverse(k, slot) = inverse(k, last);
    inverse(slot, slot) = inverse(last, last);
}

// Put a column into slot `size`: the inverse sweep.
//
// `explained` are its coefficients on the chosen columns, `unexplained` its σ, `step` its own new
// coefficient. `row` holds its inner products with all columns, and `known` those with the chosen ones: what
// a column has in common with the rest of the new one follows from its row of B. That row changes here, so
// that `explained` must be a copy.
inline void insert_slot(Index size, Numbers explained, double unexplained, double step, Numbers known,
                        Numbers row, Mat<double> coupling, Mat<double> inverse, Vec<double> coef,
                        Vec<double> corr, Vec<double> sigma) {
    for (Index j = 0; j < coupling.rows; ++j) {
        const Vec<double> own = coupling[j];
        double share = 0.0;
#pragma omp simd reduction(+ : share)
        for (Index i = 0; i < size; ++i) share += own[i] * known[i];
        share = row[j] - share;
        corr[j] -= step * share;
        share /= unexplained;
        sigma[j] -= unexplained * share * share;
#pragma omp simd
        for (Index i = 0; i < size; ++i) own[i] -= explained[i] * share;
        own[size] = share;
    }
    for (Index i = 0; i < size; ++i) {
        coef[i] -= explained[i] * step;
        for (Index k = 0; k < size; ++k) inverse(i, k) += explained[i] * explained[k] / unexplained;
        inverse(i, size) = inverse(size, i) = -explained[i] / unexplained;
    }
    inverse(size, size) = 1.0 / unexplained;
    coef[size] = step;
}

// Where a search on inner products is, and where a run of moves leaves it.
struct Tableau {
    Vec<Index> elements, place;  // the chosen elements by slot, and the slot of every element
    Mat<double> coupling, inverse;
    Vec<double> coef, corr, sigma;
    Vec<Index> counts;      // slots, elements of the start that are in, and the element whose row is missing
    Vec<double> explained;  // how much of the squared length of y
};
using TableauArrays = std::tuple<Vec<Index>, Vec<Index>, Mat<double>, Mat<double>, Vec<double>, Vec<double>,
                                 Vec<double>, Vec<Index>, Vec<double>>;

// Whether of every column that is not chosen at least a share is left.
inline bool is_plain(Numbers sigma, Numbers squares, Indices place, double share) {
    Index spanned = 0;
    for (Index j = 0; j < sigma.size; ++j) spanned += place[j] < 0 && sigma[j] < share * squares[j];
    return spanned == 0;
}

// Put a column into the next slot.
inline void put_in(Index added, Table gram, const Tableau &at) {
    const Index size = at.counts[0];
    Vector<double> known(size), explained(size);
    for (Index slot = 0; slot < size; ++slot) {
        known[slot] = gram(added, at.elements[slot]);
        explained[slot] = at.coupling(added, slot);
    }
    const double left = at.sigma[added];
    insert_slot(size, explained, left, at.corr[added] / left, known, gram[added], at.coupling, at.inverse,
                at.coef, at.corr, at.sigma);
    at.elements[size] = added;
    at.place[added] = size;
    at.counts[0] = size + 1;
}

// Take the column in a slot out; the last one moves into its place.
inline void take_out(Index slot, const Tableau &at) {
    const Index last = at.counts[0] - 1;
    remove_slot(slot, last + 1, at.coupling, at.inverse, at.coef, at.corr, at.sigma);
    at.place[at.elements[slot]] = -1;
    if (slot < last) {
        at.elements[slot] = at.elements[last];
        at.place[at.elements[slot]] = slot;
    }
    at.counts[0] = last;
}

// Slots in the order of their elements, so that ties go to the smallest.
inline Vector<Index> slots_by_element(const Tableau &at) {
    Vector<Index> slots(at.counts[0]);
    std::iota(slots.begin(), slots.end(), Index{0});
    std::sort(slots.begin(), slots.end(), [&](Index a, Index b) { return at.elements[a] < at.elements[b]; });
    return slots;
}

// The best of feasible moves from where the search is.
inline std::tuple<Index, double, Index> best_from(const Tableau &at, Indices slots, Numbers floor, Mask feasible,
                                                  double tie, double total) {
    Vector<double> spread(slots.size);
    for (Index i = 0; i < slots.size; ++i) spread[i] = 1.0 / at.inverse(i, i);
    return best_move(feasible, slots, {at.coupling, at.coef, spread, at.corr, at.sigma, floor}, tie, total);
}

// Whether the inner products of a column are not known; then the tableau says which one it is.
inline bool is_missing(Index added, Flags known, const Tableau &at) {
    if (!known[added]) at.counts[2] = added;
    return !known[added];
}

// Put the next element of the start in, if that can be done.
inline Ending begin_with(Index added, Table gram, Flags known, Numbers floor, const Tableau &at) {
    if (at.sigma[added] <= floor[added]) return DEPENDENT;
    if (is_missing(added, known, at)) return MISSING;
    at.explained[0] += at.corr[added] * at.corr[added] / at.sigma[added];
    put_in(added, gram, at);
    ++at.counts[1];
    return GOING_ON;
}

// Take the best move for as long as it gains more than `tol · total`; `feasible_moves` returns the mask of those from
// chosen elements in rising order.
//
// `gram` are inner products of the columns with each other, in the rows that are `known`, `squares` its diagonal
// plus the ridge. The tableau is where the search is, and is left where it ends. First the elements of the start
// come in one by one, by the same sweeps.
//
// The search also ends when less than `share` is left of a column. Returns GOING_ON after `rounds` rounds, DONE,
// OPTIMAL if it is clear that no move gains anything, MISSING before a move that adds a column whose row is not
// known, or DEPENDENT if the start cannot be put together; the number of gains computed; and for every move what
// it adds and drops (-1 for nothing) and its gain.
template <class FeasibleMoves>
std::tuple<int, Index, Matrix<Index>, Vector<double>> best_moves_among(
    const FeasibleMoves &feasible_moves, Table gram, Flags known, Numbers squares, Numbers floor, const Tableau &at,
    Indices start, double total, double tol, double tie, double share, Index rounds) {
    nested::MoveRecord record(rounds);
    Index evaluated = 0;
    Ending ending = GOING_ON;
    for (Index round = 0; round < rounds && ending == GOING_ON; ++round) {
        if (at.counts[1] < start.size) {
            ending = begin_with(start[at.counts[1]], gram, known, floor, at);
            continue;
        }
        if (share > 0.0 && !is_plain(at.sigma, squares, at.place, share)) {
            ending = DONE;
            break;
        }
        const Index size = at.counts[0];
        const Vector<Index> slots = slots_by_element(at);
        Vector<Index> chosen(size);
        for (Index i = 0; i < size; ++i) chosen[i] = at.elements[slots[i]];
        const auto [index, gain, computed] = best_from(at, slots, floor, feasible_moves(chosen), tie, total);
        const Index added = index / (size + 1), column = index % (size + 1);
        if (index < 0 || !(gain > tol * total)) {
            ending = gain < -CLEAR * total ? OPTIMAL : DONE;
            evaluated += computed;
        } else if (is_missing(added, known, at)) {
            ending = MISSING;
        } else {
            evaluated += computed;
            at.explained[0] += gain;
            record.add(added, column < size ? at.elements[slots[column]] : -1, gain);
            if (column < size) take_out(slots[column], at);
            put_in(added, gram, at);
        }
    }
    auto [moves, gains] = record.finish();
    return {ending, evaluated, std::move(moves), std::move(gains)};
}

// Take the best moves under nested limits, the arrays of a laminar family; what is `fixed` is never dropped.
inline std::tuple<int, Index, Matrix<Index>, Vector<double>> best_moves(
    Table gram, Flags known, Numbers squares, Numbers floor, nested::LimitArrays limit_arrays, Flags fixed,
    TableauArrays tableau, Indices start, double total, double tol, double tie, double share, Index rounds) {
    const auto limits = record_of<nested::Limits>(limit_arrays);
    const auto at = record_of<Tableau>(tableau);
    const auto feasible = [&](Indices chosen) { return nested::feasible_moves(limits, fixed, at.place, chosen); };
    return best_moves_among(feasible, gram, known, squares, floor, at, start, total, tol, tie, share, rounds);
}

// Take the best moves under limits of several kinds, of which none adds what is `barred`; without `swaps`, nothing is
// dropped.
inline std::tuple<int, Index, Matrix<Index>, Vector<double>> best_moves_within(
    Table gram, Flags known, Numbers squares, Numbers floor, mixed::LimitArrays limit_arrays, Flags fixed, Flags barred,
    bool swaps, TableauArrays tableau, Indices start, double total, double tol, double tie, double share,
    Index rounds) {
    const auto limits = record_of<mixed::Limits>(limit_arrays);
    const auto at = record_of<Tableau>(tableau);
    const auto feasible = [&](Indices chosen) {
        return mixed::feasible_moves(limits, fixed, barred, swaps, at.place, chosen);
    };
    return best_moves_among(feasible, gram, known, squares, floor, at, start, total, tol, tie, share, rounds);
}

// Put a start together and take the best of the moves from it that are feasible, if it gains enough.
inline std::tuple<int, Index, Matrix<Index>, Vector<double>> best_of_mask(
    Table gram, Flags known, Numbers squares, Numbers floor, Mask feasible, TableauArrays tableau, Indices start,
    double total, double tol, double tie, double share) {
    const auto at = record_of<Tableau>(tableau);
    const auto given = [&](Indices) { return feasible; };
    return best_moves_among(given, gram, known, squares, floor, at, start, total, tol, tie, share,
                            start.size - at.counts[1] + 1);
}

// Make a move of any size; return false, with nothing done to the rest, where an added column is spanned by others.
inline bool make_move(Table gram, Numbers floor, TableauArrays tableau, Indices added, Indices dropped, double gain) {
    const auto at = record_of<Tableau>(tableau);
    for (Index element : dropped) take_out(at.place[element], at);
    for (Index element : added) {
        if (at.sigma[element] <= floor[element]) return false;
        put_in(element, gram, at);
    }
    at.explained[0] += gain;
    return true;
}

}  // namespace swapwise::swaps
