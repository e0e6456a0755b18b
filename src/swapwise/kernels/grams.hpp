// Sums over the samples of products of columns, in whole tables. Columns are rows of an array.
#pragma once

#include <cmath>

#include "arrays.hpp"
#include "blas.hpp"
#include "inlining.hpp"
#include "listening.hpp"

namespace swapwise::grams {

// Samples per block: what is needed of them stays in a fast cache.
inline constexpr Index BLOCK = 256;

// Columns per tile, by others: their products are summed together, so that numbers are loaded less often than
// they are used.
inline constexpr Index TALL = 4, WIDE = 3;

// From LARGE columns on, products are left to BLAS, in blocks of more samples.
inline constexpr Index LARGE = 256, LARGE_BLOCK = 1024;

// Rows that begin a power of two apart would share the few places of a cache.
inline constexpr Index APART = 8;

inline Index padded(Index size, Index step) { return (size + step - 1) / step * step; }

// out += first @ second.T, where both have TALL and WIDE rows.
NEVER_INLINE void add_tile(Table first, Table second, Mat<double> out) {
    const Numbers a = first[0], b = first[1], c = first[2], d = first[3];
    const Numbers x = second[0], y = second[1], z = second[2];
    double ax = 0.0, ay = 0.0, az = 0.0, bx = 0.0, by = 0.0, bz = 0.0;
    double cx = 0.0, cy = 0.0, cz = 0.0, dx = 0.0, dy = 0.0, dz = 0.0;
#pragma omp simd reduction(+ : ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)
    for (Index s = 0; s < a.size; ++s) {
        const double p = x[s], q = y[s], r = z[s];
        ax = fused(a[s], p, ax), ay = fused(a[s], q, ay), az = fused(a[s], r, az);
        bx = fused(b[s], p, bx), by = fused(b[s], q, by), bz = fused(b[s], r, bz);
        cx = fused(c[s], p, cx), cy = fused(c[s], q, cy), cz = fused(c[s], r, cz);
        dx = fused(d[s], p, dx), dy = fused(d[s], q, dy), dz = fused(d[s], r, dz);
    }
    out(0, 0) += ax, out(0, 1) += ay, out(0, 2) += az;
    out(1, 0) += bx, out(1, 1) += by, out(1, 2) += bz;
    out(2, 0) += cx, out(2, 1) += cy, out(2, 2) += cz;
    out(3, 0) += dx, out(3, 1) += dy, out(3, 2) += dz;
}

// Products of columns, each weighted in several ways: sums over the samples, some of which are looked at
// together.
class Grams {
  public:
    // `most` is the largest number of columns.
    explicit Grams(Index most)
        : _plain(padded(most, WIDE), (most < LARGE ? BLOCK : LARGE_BLOCK) + APART),
          _weighted(padded(most, TALL), _plain.columns) {}

    // Write Σ_s w_s columns_is columns_js for every w of weights(a, b) with a ≤ b, the block of rows b and
    // columns a, into the lower half of a matrix of all.
    void write(Table columns, Cube<const double> weights, Mat<double> out) {
        const Index m = columns.rows, levels = weights.depth, samples = columns.columns;
        const Index block = m < LARGE ? BLOCK : LARGE_BLOCK, pairs = levels * (levels + 1) / 2;
        auto sums = Block<double>::filled(0.0, pairs, padded(m, TALL), padded(m, WIDE));
        for (Index i = m; i < padded(m, WIDE); ++i) _plain[i].fill(0.0);
        for (Index i = m; i < padded(m, TALL); ++i) _weighted[i].fill(0.0);
        Listener listener;
        for (Index begin = 0; begin < samples; begin += block) {
            const Index end = std::min(begin + block, samples);
            listener.after(m * m * pairs * (end - begin) / 8);  // several products at a time
            for (Index i = 0; i < m; ++i) _plain[i].copy(columns[i].slice(begin, end));
            Index pair = 0;
            for (Index a = 0; a < levels; ++a) {
                for (Index b = a; b < levels; ++b, ++pair) {
                    const Numbers weight = weights[a][b].slice(begin, end);
                    if (m < LARGE) {
                        add(m, weight, sums[pair]);
                    } else {
                        add_large(m, weight, a == b, sums[pair]);
                    }
                }
            }
        }
        Index pair = 0;
        for (Index a = 0; a < levels; ++a) {
            for (Index b = a; b < levels; ++b, ++pair) {
                const Mat<double> sum = sums[pair];
                for (Index i = 0; i < m; ++i) {
                    for (Index j = 0; j <= i; ++j) out(b * m + i, a * m + j) = sum(i, j);
                    for (Index j = 0; j < i && a < b; ++j) out(b * m + j, a * m + i) = sum(i, j);
                }
            }
        }
    }

  private:
    void weigh(Index m, Numbers weight) {
        for (Index i = 0; i < m; ++i) {
            const Vec<double> plain = _plain[i], weighted = _weighted[i];
#pragma omp simd
            for (Index s = 0; s < weight.size; ++s) weighted[s] = weight[s] * plain[s];
        }
    }

    void add(Index m, Numbers weight, Mat<double> out) {
        weigh(m, weight);
        const Table first = _weighted.narrow(0, weight.size), second = _plain.narrow(0, weight.size);
        for (Index i = 0; i < m; i += TALL) {
            const Table rows = first.slice(i, i + TALL);
            const Mat<double> sums = out.slice(i, i + TALL);
            for (Index j = 0; j < std::min(i + TALL, m); j += WIDE) {
                add_tile(rows, second.slice(j, j + WIDE), sums.narrow(j, j + WIDE));
            }
        }
    }

    // Weights of a level with itself are not negative but for rounding: products with their roots take half
    // the work.
    void add_large(Index m, Numbers weight, bool has_roots, Mat<double> out) {
        if (has_roots) {
            Vector<double> root(weight.size);
            for (Index s = 0; s < weight.size; ++s) root[s] = std::sqrt(weight[s] < 0.0 ? 0.0 : weight[s]);
            weigh(m, root);
            blas::add_squares(_weighted.slice(0, m).narrow(0, weight.size), out);
        } else {
            weigh(m, weight);
            blas::add_products(_weighted.slice(0, m).narrow(0, weight.size),
                               _plain.slice(0, m).narrow(0, weight.size), out);
        }
    }

    Matrix<double> _plain, _weighted;
};

}  // namespace swapwise::grams
