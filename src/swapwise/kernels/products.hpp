// Inner products and combinations of vectors, several at a time: a sum waits for its last addition, and what
// is loaded once is used more than once.
#pragma once

#include <array>

#include "arrays.hpp"
#include "inlining.hpp"

namespace swapwise::products {

// Numbers per block of a combination: they stay in the fastest cache.
inline constexpr Index BLOCK = 512;

// The inner products of a vector with one or two others, each of them in parts: a single sum would wait for
// every term.
template <int n>
std::array<double, n> few_dots(Numbers x, const std::array<Numbers, n> &others) {
    constexpr int PARTS = 16, FEW = 4;
    double parts[n][PARTS];
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < PARTS; ++k) parts[i][k] = 0.0;
    }
    Index s = 0;
    for (; s + PARTS <= x.size; s += PARTS) {
        for (int i = 0; i < n; ++i) {
#pragma omp simd
            for (int k = 0; k < PARTS; ++k) parts[i][k] = fused(x[s + k], others[i][s + k], parts[i][k]);
        }
    }
    for (; s + FEW <= x.size; s += FEW) {
        for (int i = 0; i < n; ++i) {
#pragma omp simd
            for (int k = 0; k < FEW; ++k) parts[i][k] = fused(x[s + k], others[i][s + k], parts[i][k]);
        }
    }
    std::array<double, n> totals;
    for (int i = 0; i < n; ++i) {
        for (int width = PARTS / 2; width > 0; width /= 2) {
            for (int k = 0; k < width; ++k) parts[i][k] += parts[i][k + width];
        }
        totals[i] = parts[i][0];
    }
    for (; s < x.size; ++s) {
        for (int i = 0; i < n; ++i) totals[i] = fused(x[s], others[i][s], totals[i]);
    }
    return totals;
}

// The inner products of a vector with four others: as many sums do not wait for each other.
ALWAYS_INLINE std::array<double, 4> four_dots(Numbers x, Numbers a, Numbers b, Numbers c, Numbers d) {
    double p = 0.0, q = 0.0, r = 0.0, t = 0.0;
#pragma omp simd reduction(+ : p, q, r, t)
    for (Index s = 0; s < x.size; ++s) {
        p = fused(x[s], a[s], p), q = fused(x[s], b[s], q);
        r = fused(x[s], c[s], r), t = fused(x[s], d[s], t);
    }
    return {p, q, r, t};
}

inline double dot(Numbers x, Numbers y) { return few_dots<1>(x, {y})[0]; }

// Hand the inner products of a vector with `other(first)`, ..., `other(last - 1)` to `take(i, product)`.
template <class Other, class Take>
ALWAYS_INLINE void each_dot(Numbers x, Index first, Index last, const Other &other, const Take &take) {
    Index i = first;
    for (; i + 4 <= last; i += 4) {
        const auto totals = four_dots(x, other(i), other(i + 1), other(i + 2), other(i + 3));
        take(i, totals[0]), take(i + 1, totals[1]), take(i + 2, totals[2]), take(i + 3, totals[3]);
    }
    if (i + 2 <= last) {
        const auto totals = few_dots<2>(x, {other(i), other(i + 1)});
        for (int k = 0; k < 2; ++k) take(i + k, totals[k]);
        i += 2;
    }
    if (i < last) take(i, dot(x, other(i)));
}

// Add `factor(i)` times `other(i)` to a vector, for every i below a count.
template <class Factor, class Other>
void add_multiples(Vec<double> x, Index count, const Factor &factor, const Other &other) {
    Index i = 0;
    for (; i + 4 <= count; i += 4) {
        const double p = factor(i), q = factor(i + 1), r = factor(i + 2), t = factor(i + 3);
        const Numbers a = other(i), b = other(i + 1), c = other(i + 2), d = other(i + 3);
#pragma omp simd
        for (Index s = 0; s < x.size; ++s) {
            x[s] = fused(p, a[s], fused(q, b[s], fused(r, c[s], fused(t, d[s], x[s]))));
        }
    }
    for (; i < count; ++i) {
        const double p = factor(i);
        const Numbers a = other(i);
#pragma omp simd
        for (Index s = 0; s < x.size; ++s) x[s] = fused(p, a[s], x[s]);
    }
}

// The inner product of each row of a table with a vector.
inline void write_dots(Table rows, Numbers x, Vec<double> out) {
    each_dot(x, 0, rows.rows, [&](Index k) { return rows[k]; }, [&](Index k, double dot) { out[k] = dot; });
}

// out += Σ_k factors_k rows_k
inline void add_combination(Table rows, Numbers factors, Vec<double> out) {
    for (Index begin = 0; begin < out.size; begin += BLOCK) {
        const Index end = std::min(begin + BLOCK, out.size);
        add_multiples(out.slice(begin, end), rows.rows, [&](Index k) { return factors[k]; },
                      [&](Index k) { return rows[k].slice(begin, end); });
    }
}

}  // namespace swapwise::products
