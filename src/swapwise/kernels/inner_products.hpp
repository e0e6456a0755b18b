// Inner products and combinations of vectors, several at a time.
#pragma once

#include <array>

#include "arrays.hpp"

namespace swapwise {

// The inner products of a vector with each of a few others.
template <int n>
std::array<double, n> inner_products(Numbers x, const std::array<Numbers, n> &others) {
    constexpr int PARTS = n < 4 ? 16 : 8;  // one sum alone would wait for each of its terms
    constexpr int FEW = 4;
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

inline double inner_product(Numbers x, Numbers y) { return inner_products<1>(x, {y})[0]; }

// Hand the inner products of a vector with `other(first)`, ..., `other(last - 1)` to `take(i, product)`.
template <class Other, class Take>
void each_product(Numbers x, Index first, Index last, const Other &other, const Take &take) {
    Index i = first;
    for (; i + 4 <= last; i += 4) {
        const auto totals = inner_products<4>(x, {other(i), other(i + 1), other(i + 2), other(i + 3)});
        for (int k = 0; k < 4; ++k) take(i + k, totals[k]);
    }
    if (i + 2 <= last) {
        const auto totals = inner_products<2>(x, {other(i), other(i + 1)});
        for (int k = 0; k < 2; ++k) take(i + k, totals[k]);
        i += 2;
    }
    if (i < last) take(i, inner_product(x, other(i)));
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

}  // namespace swapwise
