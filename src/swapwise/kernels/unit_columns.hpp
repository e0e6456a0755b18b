// Columns of length 1 in single precision, and their inner products.
#pragma once

#include <vector>

#include "arrays.hpp"
#include "exploration.hpp"
#include "inlining.hpp"
#include "listening.hpp"

namespace swapwise::exploration {

// Columns lie side by side, each in as many whole vectors as its numbers take.
class UnitColumns : public Source {
  public:
    UnitColumns(Index samples, Index features)
        : _columns(features, (samples + LANES - 1) / LANES * LANES), _samples(samples) {}

    // Take in (X − shift) · factor, its rows multiplied by `row_scale` if that is not empty. Rows or columns of
    // X lie side by side.
    template <class T>
    void read(Mat<const T> X, bool by_columns, Numbers shift, Numbers factor, Numbers row_scale) {
        Listener listener;
        for (Index first = 0; first < _columns.rows; first += BLOCK) {
            const Index last = std::min(first + BLOCK, _columns.rows);
            listener.after((last - first) * _samples);
            for (Index begin = 0; begin < _samples; begin += BLOCK) {
                const Index end = std::min(begin + BLOCK, _samples);
                for (Index j = first; j < last; ++j) {
                    float *to = _columns[j].begin();
                    const double origin = shift[j], scale = factor[j];
                    for (Index s = begin; s < end; ++s) {
                        const double value = by_columns ? X(j, s) : X(s, j);
                        to[s] = static_cast<float>((value - origin) * scale);
                    }
                    if (row_scale.size == 0) continue;
                    for (Index s = begin; s < end; ++s) to[s] *= static_cast<float>(row_scale[s]);
                }
            }
            for (Index j = first; j < last; ++j) {
                _columns[j].slice(_samples, _columns.columns).fill(0.0f);
            }
        }
    }

    Index samples() const override { return _samples; }

    void with_all(Indices elements, Mat<float> products) override {
        std::vector<const float *> some = columns(elements), all(_columns.rows);
        for (Index j = 0; j < _columns.rows; ++j) all[j] = _columns[j].begin();
        multiply(some, all, products);
    }

    void with_others(Indices elements, Indices others, Mat<float> products) override {
        multiply(columns(elements), columns(others), products);
    }

  private:
    static constexpr Index LANES = 8;
    // Columns that are read or multiplied at a time: they stay in the cache.
    static constexpr Index BLOCK = 64;

    std::vector<const float *> columns(Indices elements) const {
        std::vector<const float *> found;
        for (Index element : elements) found.push_back(_columns[element].begin());
        return found;
    }

    void multiply(const std::vector<const float *> &some, const std::vector<const float *> &others,
                  Mat<float> products) const {
        const auto rows = static_cast<Index>(some.size()), columns = static_cast<Index>(others.size());
        Listener listener;
        for (Index first = 0; first < columns; first += BLOCK) {
            const Index last = std::min(first + BLOCK, columns);
            listener.after(rows * (last - first) * 16);
            for (Index i = 0; i < rows; i += 4) {
                for (Index j = first; j < last; j += 2) tile(some, others, i, j, products);
            }
        }
    }

    // Products of four columns with two others: as many sums as stay in registers.
    ALWAYS_INLINE void tile(const std::vector<const float *> &some, const std::vector<const float *> &others,
                            Index i, Index j, Mat<float> products) const {
        const Index rows = std::min<Index>(4, products.rows - i), pair = std::min<Index>(2, products.columns - j);
        const float *x[4], *y[2];
        for (Index a = 0; a < 4; ++a) x[a] = some[i + std::min(a, rows - 1)];
        for (Index b = 0; b < 2; ++b) y[b] = others[j + std::min(b, pair - 1)];
        float sums[4][2][LANES] = {};
        for (Index s = 0; s < _columns.columns; s += LANES) {
            for (Index a = 0; a < 4; ++a) {
                for (Index b = 0; b < 2; ++b) {
#pragma omp simd
                    for (Index k = 0; k < LANES; ++k) {
                        sums[a][b][k] = fused(x[a][s + k], y[b][s + k], sums[a][b][k]);
                    }
                }
            }
        }
        for (Index a = 0; a < rows; ++a) {
            for (Index b = 0; b < pair; ++b) {
                float total = 0.0f;
                for (Index k = 0; k < LANES; ++k) total += sums[a][b][k];
                products(i + a, j + b) = total;
            }
        }
    }

    Matrix<float> _columns;
    Index _samples;
};

}  // namespace swapwise::exploration
