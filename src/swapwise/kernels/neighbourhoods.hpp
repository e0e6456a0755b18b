// Upper bounds on the fits of one vertex of an Ising model on few neighbours each, from data of -1 and +1.
//
// A fit maximises mean log σ(2 Σ_a β_a s_a) − ridge ‖β‖²/4 + ⟨prices, β⟩ over the couplings β of a set of
// neighbours, whose signals s are products of the spins of both ends. It depends on how often each pattern of
// signs was seen: with three neighbours, on 8 numbers. `negative` has one row per neighbour, true where the
// signal is -1, and with a field one more row for it, which has no ridge and no price. Whatever the Newton
// steps come to, the dual point of it proves the bound.
#pragma once

#include <array>
#include <cmath>

#include "arrays.hpp"
#include "cholesky.hpp"
#include "listening.hpp"

namespace swapwise::neighbourhoods {

// Signals of one set, the field included, and patterns of them.
inline constexpr Index MOST_SIGNALS = 10, MOST_PATTERNS = Index{1} << MOST_SIGNALS;

inline constexpr Index MOST_STEPS = 50;

// The longest step changes no margin by more than this; below the second a fit has converged.
inline constexpr double LONGEST_STEP = 4.0, SHORTEST_STEP = 1e-9;

// Slopes that are no larger are zero but for rounding; probabilities are at least the second.
inline constexpr double BALANCED = 1e-12, LEAST = 1e-300;

// The patterns of one set that were seen, their shares of the samples, and how likely they are wrong.
struct Patterns {
    std::array<Index, MOST_PATTERNS> code;
    std::array<double, MOST_PATTERNS> share, wrong;
    Index count, width;

    double sign(Index c, Index a) const { return (code[c] >> a) & 1 ? -1.0 : 1.0; }

    double margin(Index c, Numbers beta) const {
        double sum = 0.0;
        for (Index a = 0; a < width; ++a) sum += sign(c, a) * beta[a];
        return sum;
    }

    // Half of the derivative of the mean log-likelihood by coefficient a
    double half_slope(Index a) const {
        double sum = 0.0;
        for (Index c = 0; c < count; ++c) sum += share[c] * sign(c, a) * wrong[c];
        return sum;
    }
};

// Counts the patterns of sets. The last neighbour has bit 0, the others bits 1, 2, ..., and the field the last
// one. Of sets that differ in their last neighbour only, the others are looked at once.
class Counter {
  public:
    Counter(Mask negative, Numbers weight, bool field)
        : _negative(negative), _weight(weight), _field(field), _codes(negative.columns) {}

    void count(Mat<const Index> subsets, Index row, Patterns &patterns) {
        if (row == 0 || !is_known(subsets, row)) prepare(subsets[row]);
        const Flags last = _negative[subsets(row, subsets.columns - 1)];
        patterns.width = subsets.columns + _field;
        const auto total = _total.slice(0, Index{1} << patterns.width);
        total.fill(0.0);
        if (_weight.size) {
            for (Index i = 0; i < last.size; ++i) total[_codes[i] | last[i]] += _weight[i];
        } else {
            for (Index i = 0; i < last.size; ++i) total[_codes[i] | last[i]] += 1.0;
        }
        patterns.count = 0;
        for (Index code = 0; code < total.size; ++code) {
            if (total[code] <= 0.0) continue;
            patterns.code[patterns.count] = code;
            patterns.share[patterns.count++] = total[code] / static_cast<double>(last.size);
        }
    }

  private:
    Mask _negative;
    Numbers _weight;
    bool _field;
    Vector<std::int32_t> _codes;  // of all but the last neighbour
    Vector<double> _total{MOST_PATTERNS};

    static bool is_known(Mat<const Index> subsets, Index row) {
        const Index others = subsets.columns - 1;
        const Indices here = subsets[row], before = subsets[row - 1];
        return std::equal(here.begin(), here.begin() + others, before.begin());
    }

    void prepare(Indices subset) {
        _codes.fill(0);
        for (Index a = 0; a + 1 < subset.size; ++a) shift_in(_negative[subset[a]], a + 1);
        if (_field) shift_in(_negative[_negative.rows - 1], subset.size);
    }

    void shift_in(Flags bits, Index place) {
        for (Index i = 0; i < bits.size; ++i) _codes[i] |= static_cast<std::int32_t>(bits[i]) << place;
    }
};

// Solve a small system in place. What depends on the equations before it counts as zero.
inline void solve(Mat<double> matrix, Vec<double> vector, Numbers floor) {
    cholesky::forward(matrix, vector, floor, vector.size, false);
    for (Index a = 0; a < vector.size; ++a) matrix(a, a) = matrix(a, a) > 0.0 ? matrix(a, a) : INFINITE;
    cholesky::backward(matrix, vector);
}

// Fits coefficients to patterns by Newton steps.
class Fit {
  public:
    // Find how likely patterns are wrong at the best coefficients, which have a ridge and a price each.
    void run(Patterns &patterns, Numbers ridge, Numbers prices) {
        const Index width = patterns.width;
        const auto beta = _beta.slice(0, width), step = _step.slice(0, width);
        const auto curve = _curve.slice(0, width).narrow(0, width);
        beta.fill(0.0);
        for (Index turn = 0; turn < MOST_STEPS; ++turn) {
            predict(patterns, beta);
            derive(patterns, ridge, prices);
            solve(curve, step, _floor.slice(0, width));
            const double longest = longest_change(patterns, step);
            if (!(longest >= SHORTEST_STEP)) return;
            const double part = std::min(1.0, LONGEST_STEP / longest);
            for (Index a = 0; a < width; ++a) beta[a] += part * step[a];
        }
    }

  private:
    Vector<double> _beta{MOST_SIGNALS}, _step{MOST_SIGNALS};
    Vector<double> _floor = Vector<double>::filled(0.0, MOST_SIGNALS);
    Matrix<double> _curve{MOST_SIGNALS, MOST_SIGNALS};

    static void predict(Patterns &patterns, Numbers beta) {
        for (Index c = 0; c < patterns.count; ++c) {
            patterns.wrong[c] = 1.0 / (1.0 + std::exp(2.0 * patterns.margin(c, beta)));
        }
    }

    static double longest_change(const Patterns &patterns, Numbers step) {
        double longest = 0.0;
        for (Index c = 0; c < patterns.count; ++c) {
            longest = std::max(longest, std::fabs(patterns.margin(c, step)));
        }
        return longest;
    }

    // The slope, in place of the step, and the curvature
    void derive(const Patterns &patterns, Numbers ridge, Numbers prices) {
        for (Index a = 0; a < patterns.width; ++a) {
            _step[a] = 2.0 * patterns.half_slope(a) - ridge[a] / 2.0 * _beta[a] + prices[a];
            for (Index b = 0; b <= a; ++b) _curve(a, b) = 0.0;
        }
        for (Index c = 0; c < patterns.count; ++c) {
            const double wrong = patterns.wrong[c], weight = 4.0 * patterns.share[c] * wrong * (1.0 - wrong);
            for (Index a = 0; a < patterns.width; ++a) {
                const double own = patterns.sign(c, a) * weight;
                for (Index b = 0; b <= a; ++b) _curve(a, b) += own * patterns.sign(c, b);
            }
        }
        for (Index a = 0; a < patterns.width; ++a) _curve(a, a) += ridge[a] / 2.0 + 1e-12 * _curve(a, a) + LEAST;
    }
};

// Moves probabilities until the slopes of the coefficients from the first free one on vanish.
class Balance {
  public:
    // Returns whether that was possible.
    bool run(Patterns &patterns, Index first) {
        const Index free = patterns.width - first;
        const auto gram = _gram.slice(0, free).narrow(0, free);
        const auto left = _left.slice(0, free);
        gram.fill(0.0);
        for (Index a = 0; a < free; ++a) {
            left[a] = patterns.half_slope(first + a);
            for (Index c = 0; c < patterns.count; ++c) {
                const double own = patterns.share[c] * patterns.sign(c, first + a);
                for (Index b = 0; b <= a; ++b) gram(a, b) += own * patterns.sign(c, first + b);
            }
        }
        solve(gram, left, _floor.slice(0, free));
        bool is_balanced = true;
        for (Index c = 0; c < patterns.count; ++c) {
            for (Index a = 0; a < free; ++a) patterns.wrong[c] -= left[a] * patterns.sign(c, first + a);
            patterns.wrong[c] = std::clamp(patterns.wrong[c], 0.0, 1.0);
        }
        for (Index a = 0; a < free; ++a) is_balanced &= std::fabs(patterns.half_slope(first + a)) <= BALANCED;
        return is_balanced;
    }

  private:
    Vector<double> _left{MOST_SIGNALS}, _floor = Vector<double>::filled(BALANCED, MOST_SIGNALS);
    Matrix<double> _gram{MOST_SIGNALS, MOST_SIGNALS};
};

// What no fit exceeds, by log σ(m) ≤ q m − H(q) for all q: the best coefficients follow where there is a ridge.
// Where there is none, slopes must vanish; if that cannot be, all that is known is log σ ≤ 0. Coefficients
// without ridge are the last ones, and have no prices.
inline double dual_bound(Patterns &patterns, Balance &balance, Numbers ridge, Numbers prices) {
    Index with_ridge = 0;
    while (with_ridge < patterns.width && ridge[with_ridge] > 0.0) ++with_ridge;
    double perfect = 0.0, bound = 0.0;
    for (Index a = 0; a < with_ridge; ++a) perfect += prices[a] * prices[a] / ridge[a];
    if (with_ridge < patterns.width && !balance.run(patterns, with_ridge)) return perfect;
    for (Index c = 0; c < patterns.count; ++c) {
        const double wrong = std::max(patterns.wrong[c], LEAST), right = std::max(1.0 - wrong, LEAST);
        bound += patterns.share[c] * (wrong * std::log(wrong) + right * std::log(right));
    }
    for (Index a = 0; a < with_ridge; ++a) {
        const double slope = 2.0 * patterns.half_slope(a) + prices[a];
        bound += slope * slope / ridge[a];
    }
    return bound;
}

// A bound for every set, a row of at least one neighbour. Weights have mean 1, or there are none. Without ridge
// there are no prices.
inline Vector<double> bounds(Mask negative, bool field, Numbers weight, Numbers prices, double ridge,
                             Mat<const Index> subsets) {
    Counter counter(negative, weight, field);
    Fit fit;
    Balance balance;
    Patterns patterns;
    const Index size = subsets.columns;
    Vector<double> found(subsets.rows), ridges(size + field), own(size + field);
    ridges.fill(ridge);
    if (field) ridges[size] = own[size] = 0.0;
    for (Index row = 0; row < subsets.rows; ++row) {
        raise_if_interrupted();
        for (Index a = 0; a < size; ++a) own[a] = prices[subsets(row, (a + size - 1) % size)];
        counter.count(subsets, row, patterns);
        fit.run(patterns, ridges, own);
        found[row] = dual_bound(patterns, balance, ridges, own);
    }
    return found;
}

}  // namespace swapwise::neighbourhoods
