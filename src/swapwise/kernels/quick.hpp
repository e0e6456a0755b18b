// Local search in least squares in single precision, for sets that are worth a closer look.
//
// The formulas are those of swaps.hpp. Columns and y have length 1 here, so that all numbers are of moderate
// size.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "nested.hpp"

namespace swapwise::quick {

// Less than this share of a column's squared length is mostly rounding.
inline constexpr float LEAST_LEFT = 1e-3f;

// A gain has to be more than rounding, as a share of the squared length of y.
inline constexpr float LEAST_GAIN = 1e-6f;

// No run of moves is longer than this many times the size of the set.
inline constexpr Index MOVES_PER_CHOICE = 10;

// The share of a set that a perturbation drops, given a random number from 0 to 1: between a tenth and 0.6.
inline double dropped_share(double random) { return 0.1 + 0.5 * random; }

// Products of columns of length 1 with each other and with y, and which sets are allowed. Only columns that
// have a row of `products` can be chosen.
struct Model {
    Mat<const float> products;
    Indices row_of;
    Vec<const float> with_y;
    nested::Limits limits;
    Flags fixed;

    Vec<const float> operator[](Index column) const { return products[row_of[column]]; }
};
struct Found {
    Index added = -1, slot = -1;
    float gain = LEAST_GAIN;
};

// A set, and what scores its moves. Numbers of one slot lie side by side, so that loops over all columns run
// on vectors.
class Tableau {
  public:
    Tableau(const Model &model, Index room)
        : _model(model),
          _m(model.with_y.size),
          _coupling(room, _m),
          _inverse(room, room),
          _coef(room),
          _ratio(room),
          _explained(room),
          _known(room),
          _corr(_m),
          _sigma(_m),
          _rest(_m),
          _out(_m),
          _width(_m),
          _first(_m),
          _last(_m),
          _place(Vector<Index>::filled(-1, _m)) {}

    const std::vector<Index> &elements() const { return _elements; }
    Index work() const { return _work; }

    // What the set explains of y: 2 wᵀb − wᵀGw, in which errors of w count only in their squares.
    double value() const {
        double total = 0.0;
        for (Index q = 0; q < size(); ++q) {
            const Vec<const float> row = _model[_elements[q]];
            double fitted = 0.0;
            for (Index p = 0; p < size(); ++p) fitted += double{_coef[p]} * row[_elements[p]];
            total += _coef[q] * (2.0 * _model.with_y[_elements[q]] - fitted);
        }
        return total;
    }

    // Go to a set; elements that the others span are left out.
    void go_to(const std::vector<Index> &set) {
        for (Index element : _elements) _place[element] = -1;
        _elements.clear();
        for (Index element : set) border(element);
        project();
    }

    // Add the best element, for as long as one can be added; those that are `barred` do not come in.
    void grow(Flags barred) {
        for (;;) {
            const Found found = best_addition(blockers().full, barred);
            if (found.added < 0) return;
            exchange(size(), found.added);
        }
    }

    // Take the best move, for as long as there is one.
    void search() {
        for (Index left = MOVES_PER_CHOICE * _coef.size; left > 0; --left) {
            const nested::Blockers at = blockers();
            Found best = best_addition(at.full, Flags());
            look_at_swaps(at, best);
            if (best.added < 0) return;
            exchange(best.slot, best.added);
        }
    }

    // Raise the gain of each column to that of the best move that adds it.
    void raise(Vec<float> gains) {
        const nested::Blockers at = blockers();
        for (Index l = 0; l < _m; ++l) {
            if (at.full[_model.limits.leaf[l]] < 0 && can_come(l)) {
                gains[l] = std::max(gains[l], _corr[l] * _corr[l] / _sigma[l]);
            }
        }
        const bool all_help = note_limits(at);
        for (Index q = 0; q < size(); ++q) {
            if (_model.fixed[_elements[q]]) continue;
            const float spread = 1.0f / _inverse(q, q), pull = _coef[q] * spread, loss = _coef[q] * pull;
            if (!all_help) note_width(at, _model.limits.leaf[_elements[q]]);
            gains_after(q, spread, pull);
            float *best = gains.begin();
            const float *gained = _rest.begin();
#pragma omp simd
            for (Index l = 0; l < _m; ++l) {
                best[l] = gained[l] > 0.0f ? std::max(best[l], gained[l] - loss) : best[l];
            }
        }
    }

  private:
    Index size() const { return static_cast<Index>(_elements.size()); }

    nested::Blockers blockers() const {
        return nested::blockers_at(_model.limits, Indices(_elements.data(), size()));
    }

    // Put an element into the small factors.
    void border(Index added) {
        const Index size = this->size();
        for (Index q = 0; q < size; ++q) _known[q] = _model[added][_elements[q]];
        float left = 1.0f, rest = _model.with_y[added];
        for (Index q = 0; q < size; ++q) {
            const float *row = _inverse[q].begin(), *known = _known.begin();
            float total = 0.0f;
#pragma omp simd reduction(+ : total)
            for (Index p = 0; p < size; ++p) total += row[p] * known[p];
            _explained[q] = total;
            left -= total * known[q];
            rest -= _coef[q] * known[q];
        }
        if (left < LEAST_LEFT) {
            if (!_model.fixed[added]) return;
            left = LEAST_LEFT;  // what is forced in stays in; exact fits decide what it is worth
        }
        _coef[size] = 0.0f;
        for (Index q = 0; q <= size; ++q) _inverse(size, q) = _inverse(q, size) = 0.0f;
        put_into_small(size, 1.0f / left, rest / left);
        _place[added] = size;
        _elements.push_back(added);
    }

    // Compute what scores moves from products with the chosen columns.
    void project() {
        const float *with_y = _model.with_y.begin();
        float *corr = _corr.begin(), *sigma = _sigma.begin();
        std::copy_n(with_y, _m, corr);
        std::fill_n(sigma, _m, 1.0f);
        for (Index q = 0; q < size(); ++q) {
            float *own = _coupling[q].begin();
            combine(_inverse[q].begin(), own);
            const float *row = _model[_elements[q]].begin();
            const float coef = _coef[q];
#pragma omp simd
            for (Index l = 0; l < _m; ++l) {
                corr[l] = fused(-coef, row[l], corr[l]);
                sigma[l] = fused(-own[l], row[l], sigma[l]);
            }
        }
        _work += _m * size() * size() / 6;
    }

    // Combine the products of the chosen columns with all, four of them at a time.
    void combine(const float *factors, float *total) const {
        std::fill_n(total, _m, 0.0f);
        Index p = 0;
        for (; p + 4 <= size(); p += 4) {
            const float a = factors[p], b = factors[p + 1], c = factors[p + 2], d = factors[p + 3];
            const float *first = _model[_elements[p]].begin(),
                        *second = _model[_elements[p + 1]].begin(),
                        *third = _model[_elements[p + 2]].begin(),
                        *fourth = _model[_elements[p + 3]].begin();
#pragma omp simd
            for (Index l = 0; l < _m; ++l) {
                total[l] += fused(a, first[l], b * second[l]) + fused(c, third[l], d * fourth[l]);
            }
        }
        for (; p < size(); ++p) {
            const float factor = factors[p], *row = _model[_elements[p]].begin();
#pragma omp simd
            for (Index l = 0; l < _m; ++l) total[l] = fused(factor, row[l], total[l]);
        }
    }

    bool can_come(Index j) const { return _place[j] < 0 && _sigma[j] > LEAST_LEFT; }

    Found best_addition(Indices full, Flags barred) const {
        Found best;
        if (*std::min_element(full.begin(), full.end()) >= 0) return best;  // not one more element fits
        for (Index j = 0; j < _m; ++j) {
            if (_corr[j] * _corr[j] <= best.gain * _sigma[j] || !can_come(j)) continue;
            if (full[_model.limits.leaf[j]] >= 0 || (barred.size > 0 && barred[j])) continue;
            best = {j, size(), _corr[j] * _corr[j] / _sigma[j]};
        }
        return best;
    }

    // Find the best swap, if one is better than the best addition.
    void look_at_swaps(const nested::Blockers &at, Found &best) {
        const bool all_help = note_limits(at);
        for (Index q = 0; q < size(); ++q) {
            if (_model.fixed[_elements[q]]) continue;
            const float spread = 1.0f / _inverse(q, q), pull = _coef[q] * spread, loss = _coef[q] * pull;
            if (!all_help) note_width(at, _model.limits.leaf[_elements[q]]);
            if (!is_beaten(q, spread, pull, best.gain + loss)) continue;
            const float most = gains_after(q, spread, pull);
            if (most - loss <= best.gain) continue;
            best = {std::find(_rest.begin(), _rest.end(), most) - _rest.begin(), q, most - loss};
        }
        _work += _m * size();
    }

    // Note for each column which drops make room for it; return whether every drop does for all of them.
    bool note_limits(const nested::Blockers &at) {
        const auto is_root = [](Index set) { return set <= 0; };
        const bool all_help = at.full[0] == 0 && std::all_of(at.full.begin(), at.full.end(), is_root) &&
                              std::all_of(at.keeper.begin(), at.keeper.end(), is_root);
        for (Index l = 0; l < _m; ++l) {
            const Index set = at.full[_model.limits.leaf[l]];
            _first[l] = static_cast<std::int32_t>(std::max<Index>(set, 0));
            _last[l] = static_cast<std::int32_t>(set >= 0 && _place[l] < 0 ? _model.limits.end[set] : 0);
        }
        note_width(at, 0);
        return all_help;
    }

    // Give columns that a drop makes no room for an infinite length: they gain nothing.
    void note_width(const nested::Blockers &at, Index leaf) {
        const auto dropped = static_cast<std::int32_t>(leaf);
        const std::int32_t *first = _first.begin(), *last = _last.begin();
        const float *sigma = _sigma.begin();
        float *width = _width.begin();
#pragma omp simd
        for (Index l = 0; l < _m; ++l) {
            const bool fits = first[l] <= dropped && dropped < last[l];
            width[l] = fits ? sigma[l] : std::numeric_limits<float>::infinity();
        }
        if (at.keeper[leaf] > 0) keep_places(at.keeper[leaf]);
    }

    // The same for columns outside of a set that keeps the place of what is dropped, where that stops the place
    // from reaching what keeps them out.
    void keep_places(Index keeper) {
        const Index end = _model.limits.end[keeper], *leaf = _model.limits.leaf.begin();
        const std::int32_t *first = _first.begin();
        float *width = _width.begin();
#pragma omp simd
        for (Index l = 0; l < _m; ++l) {
            const bool stays_out = first[l] < keeper && (leaf[l] < keeper || leaf[l] >= end);
            width[l] = stays_out ? std::numeric_limits<float>::infinity() : width[l];
        }
    }

    // Whether a column gains more than the target once the one in a slot is dropped: without a division.
    bool is_beaten(Index q, float spread, float pull, float target) const {
        const float *share = _coupling[q].begin(), *corr = _corr.begin(), *width = _width.begin();
        int hits = 0;
#pragma omp simd reduction(+ : hits)
        for (Index l = 0; l < _m; ++l) {
            const float height = fused(share[l], pull, corr[l]);
            const float left = fused(share[l] * share[l], spread, width[l]);
            hits += (height * height > target * left) & (left > LEAST_LEFT);
        }
        return hits > 0;
    }

    // What each column explains once the one in a slot is dropped, in `_rest`; return the most.
    float gains_after(Index q, float spread, float pull) {
        const float *share = _coupling[q].begin(), *corr = _corr.begin(), *width = _width.begin();
        float *gained = _rest.begin(), most = 0.0f;
#pragma omp simd reduction(max : most)
        for (Index l = 0; l < _m; ++l) {
            const float height = fused(share[l], pull, corr[l]);
            const float left = fused(share[l] * share[l], spread, width[l]);
            gained[l] = left > LEAST_LEFT ? height * height / left : 0.0f;
            most = gained[l] > most ? gained[l] : most;
        }
        return most;
    }

    // Drop what is in a slot, if anything is, and put an element there: both sweeps in one.
    void exchange(Index slot, Index added) {
        const bool drops = slot < size();
        const Index slots = drops ? size() : size() + 1;
        if (!drops) {  // nothing is taken out of an empty slot
            _coef[slot] = 0.0f;
            _coupling[slot].fill(0.0f);
            for (Index q = 0; q < slots; ++q) _inverse(slot, q) = _inverse(q, slot) = 0.0f;
        }
        const float spread = drops ? 1.0f / _inverse(slot, slot) : 0.0f, pull = _coef[slot] * spread;
        const float share = _coupling(slot, added);
        float common = 0.0f;
        for (Index q = 0; q < slots; ++q) {
            _ratio[q] = _inverse(q, slot) * spread;
            _explained[q] = _coupling(q, added) - _ratio[q] * share;
            _known[q] = q == slot ? 0.0f : _model[added][_elements[q]];
            common += _ratio[q] * _known[q];
        }
        _ratio[slot] = 1.0f;
        _explained[slot] = -1.0f;
        const float left = _sigma[added] + share * share * spread, inverse = 1.0f / left;
        const float step = (_corr[added] + share * pull) * inverse;
        sweep(slots, slot, added, common, spread, pull, inverse, step);
        if (drops) take_out_of_small(slot);
        put_into_small(drops ? size() - 1 : size(), inverse, step);
        if (drops) {
            _place[_elements[slot]] = -1;
            _elements[slot] = added;
        } else {
            _elements.push_back(added);
        }
        _place[added] = slot;
        _work += _m * size();
    }

    // Take the column in a slot out of the small factors; the slot stays, with zeros in it.
    void take_out_of_small(Index slot) {
        const float weight = _coef[slot];
        const float *out = _inverse[slot].begin();
        for (Index q = 0; q < size(); ++q) {
            if (q == slot) continue;
            const float ratio = _ratio[q];
            float *row = _inverse[q].begin();
            _coef[q] -= ratio * weight;
#pragma omp simd
            for (Index p = 0; p < size(); ++p) row[p] = fused(-ratio, out[p], row[p]);
            row[slot] = 0.0f;
        }
        _coef[slot] = 0.0f;
        _inverse[slot].slice(0, size()).fill(0.0f);
    }

    // Put a column into the small factors: slots 0 to `last`, among them its own, where `_explained` is -1.
    void put_into_small(Index last, float inverse, float step) {
        _explained[last] = last == size() ? -1.0f : _explained[last];
        const float *explained = _explained.begin();
        for (Index q = 0; q <= last; ++q) {
            const float factor = explained[q] * inverse;
            float *row = _inverse[q].begin();
            _coef[q] = fused(-explained[q], step, _coef[q]);
#pragma omp simd
            for (Index p = 0; p <= last; ++p) row[p] = fused(factor, explained[p], row[p]);
        }
    }

    // Update what scores moves.
    void sweep(Index slots, Index slot, Index added, float common, float spread, float pull, float inverse,
               float step) {
        float *rest = _rest.begin(), *out = _out.begin(), *corr = _corr.begin(), *sigma = _sigma.begin();
        std::copy_n(_coupling[slot].begin(), _m, out);
        const float *products = _model[added].begin();
#pragma omp simd
        for (Index l = 0; l < _m; ++l) rest[l] = fused(out[l], common, products[l]);
        for (Index q = 0; q < slots; ++q) {
            const float known = _known[q], *own = _coupling[q].begin();
#pragma omp simd
            for (Index l = 0; l < _m; ++l) rest[l] = fused(-known, own[l], rest[l]);
        }
#pragma omp simd
        for (Index l = 0; l < _m; ++l) {
            corr[l] += out[l] * pull - step * rest[l];
            sigma[l] += out[l] * out[l] * spread - inverse * rest[l] * rest[l];
            rest[l] *= inverse;
        }
        for (Index q = 0; q < slots; ++q) {
            const float ratio = _ratio[q], explained = _explained[q];
            float *own = _coupling[q].begin();
#pragma omp simd
            for (Index l = 0; l < _m; ++l) own[l] = fused(-ratio, out[l], fused(-explained, rest[l], own[l]));
        }
    }

    const Model &_model;
    Index _m, _work = 0;
    Matrix<float> _coupling, _inverse;  // by slot
    Vector<float> _coef, _ratio, _explained, _known;  // by slot
    Vector<float> _corr, _sigma, _rest, _out, _width;  // by column
    Vector<std::int32_t> _first, _last;
    std::vector<Index> _elements;
    Vector<Index> _place;
};

}  // namespace swapwise::quick
