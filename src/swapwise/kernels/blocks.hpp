// Local search in least squares where an element is a block of columns: closed-form gains, whole runs.
//
// The formula of a swap in swaps.hpp with blocks in place of numbers. With I the slots of the element that is
// dropped, C_II = K Kᵀ and F = B_jI K⁻ᵀ, dropping i and adding j lowers the residual sum of squares by
// exactly
//
//     hᵀ (S_j + F Fᵀ)⁻¹ h  −  ‖K⁻¹ w_I‖²,    h = c_j + F K⁻¹ w_I ,
//
// where S_j are the inner products of the columns of j once the chosen ones are taken out of them, with the
// penalty. The columns of an element stand in rows begin[j] .. begin[j + 1] - 1; its block S_j is stored row
// by row from at[j] on.
#pragma once

#include <cmath>
#include <numeric>
#include <tuple>

#include "arrays.hpp"
#include "cholesky.hpp"
#include "listening.hpp"
#include "nested.hpp"
#include "products.hpp"
#include "swaps.hpp"

namespace swapwise::blocks {

// What is known of all elements: their rows and blocks, B, c, S and the floors of pivots.
struct Elements {
    Indices begin, at;
    Table coupling;
    Numbers corr, left, floor;

    Index count() const { return begin.size - 1; }
    Index size(Index j) const { return begin[j + 1] - begin[j]; }
};
using ElementArrays = std::tuple<Indices, Indices, Table, Numbers, Numbers, Numbers>;

// What is known of the elements that can be dropped: the slots of drop i are slots[first[i]] .. slots[first[i
// + 1] - 1]; K and K⁻¹ w_I, padded, and what each loses.
struct Drops {
    Indices first, slots;
    Cube<const double> roots;
    Table lost;
    Numbers losses;
};
using DropArrays = std::tuple<Indices, Indices, Cube<const double>, Table, Numbers>;

// K, K⁻¹ w_I and ‖K⁻¹ w_I‖² of every element that can be dropped: the last three fields of `Drops`.
inline std::tuple<Block<double>, Matrix<double>, Vector<double>> drop_factors(Indices first, Indices slots,
                                                                              Table inverse, Numbers coef) {
    const Index drops = first.size - 1;
    Index width = 1;
    for (Index i = 0; i < drops; ++i) width = std::max(width, first[i + 1] - first[i]);
    auto roots = Block<double>::filled(0.0, drops, width, width);
    auto lost = Matrix<double>::filled(0.0, drops, width);
    Vector<double> losses(drops);
    const auto nothing = Vector<double>::filled(0.0, width);
    for (Index i = 0; i < drops; ++i) {
        const Indices own = slots.slice(first[i], first[i + 1]);
        for (Index a = 0; a < own.size; ++a) {
            lost(i, a) = coef[own[a]];
            for (Index b = 0; b <= a; ++b) roots(i, a, b) = inverse(own[a], own[b]);
        }
        losses[i] = cholesky::forward(roots[i], lost[i], nothing, own.size, false);
    }
    return {std::move(roots), std::move(lost), std::move(losses)};
}

// Gains of moves, one at a time, in memory that all of them share.
class Scorer {
  public:
    Scorer(const Elements &elements, const Drops &drops)
        : _elements(elements),
          _drops(drops),
          _height(widest(elements)),
          _width(_height.size, _height.size),
          _freed(_height.size, std::max<Index>(drops.roots.columns, 1)) {}

    // The gain of adding element j in exchange for drop i (-1: nothing is lost).
    double operator()(Index j, Index i, bool strict) {
        const Index row = _elements.begin[j], size = _elements.size(j), at = _elements.at[j];
        const Numbers floor = _elements.floor.slice(row, row + size);
        for (Index a = 0; a < size; ++a) {
            _height[a] = _elements.corr[row + a];
            for (Index b = 0; b <= a; ++b) _width(a, b) = _elements.left[at + a * size + b];
        }
        if (i < 0) return cholesky::forward(_width, _height, floor, size, strict);
        const Indices slots = _drops.slots.slice(_drops.first[i], _drops.first[i + 1]);
        const Mat<const double> root = _drops.roots[i];
        for (Index a = 0; a < size; ++a) {
            for (Index k = 0; k < slots.size; ++k) {
                double share = _elements.coupling(row + a, slots[k]);
                for (Index m = 0; m < k; ++m) share -= root(k, m) * _freed(a, m);
                _freed(a, k) = root(k, k) > 0.0 ? share / root(k, k) : 0.0;
                _height[a] += _freed(a, k) * _drops.lost(i, k);
            }
            for (Index b = 0; b <= a; ++b) {
                for (Index k = 0; k < slots.size; ++k) _width(a, b) += _freed(a, k) * _freed(b, k);
            }
        }
        return cholesky::forward(_width, _height, floor, size, strict) - _drops.losses[i];
    }

    // About how many numbers the gain of a move that adds element j looks at
    Index cost(Index j) const { return 1 + _elements.size(j) * _elements.size(j) * _freed.columns; }

  private:
    static Index widest(const Elements &elements) {
        Index size = 1;
        for (Index j = 0; j < elements.count(); ++j) size = std::max(size, elements.size(j));
        return size;
    }

    const Elements &_elements;
    const Drops &_drops;
    Vector<double> _height;
    Matrix<double> _width, _freed;
};

// What each element gains if nothing is dropped for it.
inline Vector<double> addition_gains(ElementArrays element_arrays, DropArrays drop_arrays, bool strict) {
    const auto elements = record_of<Elements>(element_arrays);
    const auto drops = record_of<Drops>(drop_arrays);
    Scorer gain(elements, drops);
    Vector<double> gains(elements.count());
    Listener listener;
    for (Index j = 0; j < gains.size; ++j) {
        listener.after(gain.cost(j));
        gains[j] = gain(j, -1, strict);
    }
    return gains;
}

// S_j⁻¹ c_j of every element and c_jᵀ S_j⁻¹ c_j, which is not a number at a floor.
inline std::pair<Vector<double>, Vector<double>> block_solutions(Indices begin, Indices at, Numbers corr,
                                                                 Numbers left, Numbers floor) {
    auto solution = Vector<double>::filled(0.0, corr.size);
    Vector<double> gains(begin.size - 1);
    Index widest = 1;
    for (Index j = 0; j < gains.size; ++j) widest = std::max(widest, begin[j + 1] - begin[j]);
    Matrix<double> root(widest, widest);
    Vector<double> vector(widest);
    Listener listener;
    for (Index j = 0; j < gains.size; ++j) {
        const Index row = begin[j], size = begin[j + 1] - row;
        listener.after(1 + size * size * size);
        for (Index a = 0; a < size; ++a) {
            vector[a] = corr[row + a];
            for (Index b = 0; b <= a; ++b) root(a, b) = left[at[j] + a * size + b];
        }
        gains[j] = cholesky::forward(root, vector, floor.slice(row, row + size), size, true);
        if (std::isnan(gains[j])) continue;
        for (Index a = size - 1; a >= 0; --a) {
            for (Index b = a + 1; b < size; ++b) vector[a] -= root(b, a) * vector[b];
            vector[a] /= root(a, a);
        }
        solution.slice(row, row + size).copy(vector.slice(0, size));
    }
    return {std::move(solution), std::move(gains)};
}

// Add to `steps` (elements by levels by samples) the columns of each, with coefficients by levels.
inline void add_combinations(Cube<double> steps, Indices elements, Indices begin, Numbers coef,
                             Table columns) {
    const Index levels = steps.rows;
    for (Index row = 0; row < elements.size; ++row) {
        raise_if_interrupted();
        const Index first = begin[elements[row]], last = begin[elements[row] + 1];
        for (Index a = 0; a < levels; ++a) {
            products::add_multiples(steps[row][a], last - first,
                                    [&](Index k) { return coef[(first + k) * levels + a]; },
                                    [&](Index k) { return columns[first + k]; });
        }
    }
}

// The gains of listed moves that add `added[k]` in exchange for drop `column[k]`.
inline Vector<double> pair_gains(Indices added, Indices column, ElementArrays element_arrays,
                                 DropArrays drop_arrays, bool strict) {
    const auto elements = record_of<Elements>(element_arrays);
    const auto drops = record_of<Drops>(drop_arrays);
    Scorer gain(elements, drops);
    Vector<double> gains(added.size);
    Listener listener;
    for (Index k = 0; k < added.size; ++k) {
        if (added[k] >= 0) {
            listener.after(gain.cost(added[k]));
            gains[k] = gain(added[k], column[k], strict);
        } else {
            gains[k] = column[k] >= 0 ? -drops.losses[column[k]] : 0.0;
        }
    }
    return gains;
}

// The gains of a grid: see `grid_gains`.
inline std::pair<Matrix<double>, Index> gains_of_grid(Mask feasible, const Elements &elements,
                                                      const Drops &drops, bool strict, double least,
                                                      double tie, double scale) {
    const Index n = feasible.rows, last = feasible.columns - 1;
    Scorer gain(elements, drops);
    auto gains = Matrix<double>::filled(-INFINITE, n, last + 1);
    auto bound = Vector<double>::filled(-INFINITE, n);
    double best = least;
    Index evaluated = 0;
    Listener listener;
    for (Index j = 0; j < n; ++j) {
        const Vec<const bool> own = feasible[j];
        if (std::none_of(own.begin(), own.end(), [](bool is) { return is; })) continue;
        listener.after(gain.cost(j));
        const double alone = gain(j, -1, strict);
        ++evaluated;
        if (own[last]) {
            gains(j, last) = alone;
            if (alone > best) best = alone;
        } else {
            bound[j] = std::isnan(alone) ? INFINITE : alone;
        }
    }
    Vector<Index> order(n);
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return bound[a] > bound[b]; });
    for (Index j : order) {
        if (bound[j] == -INFINITE || bound[j] < swaps::least_tie(best, tie, scale)) break;
        for (Index i = 0; i < last; ++i) {
            if (!feasible(j, i)) continue;
            listener.after(gain.cost(j));
            gains(j, i) = gain(j, i, strict);
            ++evaluated;
            if (gains(j, i) > best) best = gains(j, i);
        }
    }
    return {std::move(gains), evaluated};
}

// The gains of a grid, minus infinity for moves that cannot be its best, and how many there are.
//
// Elements that can be added alone are: a needless drop never pays. No swap that adds j gains more than j
// does alone, so swaps are computed only where that beats `least` and the best found. With a `least` of minus
// infinity and `tie` infinite, all are. Gains that are not known in closed form are not numbers.
inline std::pair<Matrix<double>, Index> grid_gains(Mask feasible, ElementArrays elements, DropArrays drops,
                                                   bool strict, double least, double tie, double scale) {
    return gains_of_grid(feasible, record_of<Elements>(elements), record_of<Drops>(drops), strict, least, tie,
                         scale);
}

// The flat index and the gain of the first move that ties with the best; -1 if there is none.
inline std::pair<Index, double> first_best(Table gains, double tie, double scale) {
    double best = -INFINITE;
    for (Index j = 0; j < gains.rows; ++j) {
        for (double gain : gains[j]) best = std::max(best, gain);
    }
    const double target = swaps::least_tie(best, tie, scale);
    for (Index j = 0; best > -INFINITE && j < gains.rows; ++j) {
        for (Index i = 0; i < gains.columns; ++i) {
            if (gains(j, i) >= target) return {j * gains.columns + i, gains(j, i)};
        }
    }
    return {-1, best};
}

// S_j = G_j − B_j P_jᵀ for every element: its own block without what the chosen explain.
inline Vector<double> remaining_blocks(Numbers own, Indices begin, Indices at, Table coupling,
                                       Table with_chosen) {
    Vector<double> left(own.size);
    left.copy(own);
    Listener listener;
    for (Index j = 0; j + 1 < begin.size; ++j) {
        const Index row = begin[j], size = begin[j + 1] - row;
        listener.after(1 + size * size * coupling.columns);
        for (Index a = 0; a < size; ++a) {
            for (Index b = 0; b <= a; ++b) {
                left[at[j] + a * size + b] -= products::dot(coupling[row + a], with_chosen[row + b]);
            }
        }
    }
    return left;
}

// Where a search on inner products is, and where a run of moves leaves it.
struct Tableau {
    Vec<Index> elements, place;  // the chosen elements, and the place of every element among them
    Mat<double> coupling, inverse;
    Vec<double> coef, corr, sigma, left;
    Vec<Index> slot_row, slot;  // the row of each slot, and the slot of each row
    Vec<Index> counts;          // chosen, elements of the start that are in, slots
    Vec<double> explained;      // how much of the squared length of y
};
using TableauArrays =
    std::tuple<Vec<Index>, Vec<Index>, Mat<double>, Mat<double>, Vec<double>, Vec<double>, Vec<double>,
               Vec<double>, Vec<Index>, Vec<Index>, Vec<Index>, Vec<double>>;

// Add amount · s sᵀ to every block, where s is a column of B.
inline void sweep(Indices begin, Indices at, Index column, double amount, const Tableau &tableau) {
    for (Index j = 0; j + 1 < begin.size; ++j) {
        const Index row = begin[j], size = begin[j + 1] - row;
        for (Index a = 0; a < size; ++a) {
            const double share = amount * tableau.coupling(row + a, column);
            for (Index b = 0; b <= a; ++b) {
                tableau.left[at[j] + a * size + b] += share * tableau.coupling(row + b, column);
            }
        }
    }
}

// Put the columns of an element into the next slots; those that the chosen ones span get none.
inline void put_in(Index element, Table gram, Numbers floor, Indices begin, Indices at,
                   const Tableau &tableau) {
    tableau.elements[tableau.counts[0]] = element;
    tableau.place[element] = tableau.counts[0]++;
    Listener listener;
    for (Index row = begin[element]; row < begin[element + 1]; ++row) {
        if (!(tableau.sigma[row] > floor[row])) continue;
        const Index size = tableau.counts[2];
        listener.after(gram.rows * (size + 1));
        const double unexplained = tableau.sigma[row], step = tableau.corr[row] / unexplained;
        Vector<double> known(size), explained(size);
        for (Index k = 0; k < size; ++k) {
            known[k] = gram(row, tableau.slot_row[k]);
            explained[k] = tableau.coupling(row, k);
        }
        tableau.explained[0] += tableau.corr[row] * step;
        swaps::insert_slot(size, explained, unexplained, step, known, gram[row], tableau.coupling,
                           tableau.inverse, tableau.coef, tableau.corr, tableau.sigma);
        sweep(begin, at, size, -unexplained, tableau);
        tableau.slot_row[size] = row;
        tableau.slot[row] = size;
        tableau.counts[2] = size + 1;
    }
}

// Take the columns of an element out; the last slots, and the last element, move into their places.
inline void take_out(Index element, Indices begin, Indices at, const Tableau &tableau) {
    Listener listener;
    for (Index row = begin[element]; row < begin[element + 1]; ++row) {
        const Index out = tableau.slot[row], size = tableau.counts[2];
        if (out < 0) continue;
        listener.after(tableau.coupling.rows * size);
        const double spread = 1.0 / tableau.inverse(out, out);
        tableau.explained[0] -= tableau.coef[out] * tableau.coef[out] * spread;
        sweep(begin, at, out, spread, tableau);
        swaps::remove_slot(out, size, tableau.coupling, tableau.inverse, tableau.coef, tableau.corr,
                           tableau.sigma);
        tableau.slot[row] = -1;
        if (out < size - 1) {
            tableau.slot_row[out] = tableau.slot_row[size - 1];
            tableau.slot[tableau.slot_row[out]] = out;
        }
        tableau.counts[2] = size - 1;
    }
    const Index last = tableau.counts[0] - 1, where = tableau.place[element];
    tableau.elements[where] = tableau.elements[last];
    tableau.place[tableau.elements[where]] = where;
    tableau.place[element] = -1;
    tableau.counts[0] = last;
}

// The slots of elements one after the other, and where those of each begin.
inline std::pair<Vector<Index>, Vector<Index>> slots_of(Indices drops, Indices begin, Indices slot) {
    Vector<Index> first(drops.size + 1), slots(slot.size);
    first[0] = 0;
    for (Index i = 0; i < drops.size; ++i) {
        first[i + 1] = first[i];
        for (Index row = begin[drops[i]]; row < begin[drops[i] + 1]; ++row) {
            if (slot[row] >= 0) slots[first[i + 1]++] = slot[row];
        }
    }
    return {std::move(first), std::move(slots)};
}

// Whether of every element that is not chosen more than its floors is left.
inline bool is_plain(const Elements &elements, const Drops &drops, Indices place) {
    Scorer gain(elements, drops);
    for (Index j = 0; j < place.size; ++j) {
        if (place[j] < 0 && std::isnan(gain(j, -1, true))) return false;
    }
    return true;
}

// Take the best move under nested limits for as long as it gains more than `tol · total`.
//
// What swaps::best_moves is for single columns, and with the same answer. If `strict`, the search ends where
// the chosen ones leave less than the floor of a column. Interrupted, the tableau is in the middle of a move.
inline std::tuple<int, Index, Matrix<Index>, Vector<double>> best_moves(
    Table gram, Numbers floor, Indices begin, Indices at, nested::LimitArrays limit_arrays, Flags fixed,
    TableauArrays tableau_arrays, Indices start, double total, double tol, double tie, bool strict,
    Index rounds) {
    const auto limits = record_of<nested::Limits>(limit_arrays);
    const auto tableau = record_of<Tableau>(tableau_arrays);
    const Elements elements{begin, at, tableau.coupling, tableau.corr, tableau.left, floor};
    nested::MoveRecord record(rounds);
    Index evaluated = 0;
    auto ending = swaps::GOING_ON;
    for (Index round = 0; round < rounds; ++round) {
        if (tableau.counts[1] < start.size) {
            put_in(start[tableau.counts[1]++], gram, floor, begin, at, tableau);
            continue;
        }
        Vector<Index> chosen(tableau.counts[0]);
        chosen.copy(tableau.elements.slice(0, chosen.size));
        std::sort(chosen.begin(), chosen.end());
        const Matrix<bool> feasible = nested::feasible_moves(limits, fixed, tableau.place, chosen);
        const auto [first, slots] = slots_of(chosen, begin, tableau.slot);
        const auto [roots, lost, losses] = drop_factors(first, slots, tableau.inverse, tableau.coef);
        const Drops drops{first, slots, roots, lost, losses};
        if (strict && !is_plain(elements, drops, tableau.place)) {
            ending = swaps::DONE;
            break;
        }
        const auto [gains, computed] = gains_of_grid(feasible, elements, drops, false, 0.0, tie, total);
        evaluated += computed;
        const auto [index, gain] = first_best(gains, tie, total);
        if (index < 0 || !(gain > tol * total)) {
            ending = swaps::DONE;
            break;
        }
        const Index added = index / gains.columns, column = index % gains.columns;
        record.add(added, column < chosen.size ? chosen[column] : -1, gain);
        if (column < chosen.size) take_out(chosen[column], begin, at, tableau);
        put_in(added, gram, floor, begin, at, tableau);
    }
    auto [moves, gains] = record.finish();
    return {ending, evaluated, std::move(moves), std::move(gains)};
}

}  // namespace swapwise::blocks
