// Sums over the samples for every column of a matrix, both in one pass over the data, and what columns are shifted and
// scaled by.
#pragma once

#include <cmath>
#include <tuple>

#include "arrays.hpp"
#include "listening.hpp"

namespace swapwise::moments {

// This many columns are looked at together: their sums stay in the fastest cache.
inline constexpr Index BLOCK = 1024;

// Σ w (x − origin) and Σ w (x − origin)² for columns begin to end of a matrix stored by rows.
template <class T>
void of_block(Mat<const T> matrix, Numbers weight, Numbers origin, Vec<double> sums, Vec<double> squares,
              Index begin, Index end) {
    const Index samples = matrix.rows, size = end - begin, paired = samples - samples % 4;
    const Numbers base = origin.slice(begin, end);
    const Vec<double> plain = sums.slice(begin, end), squared = squares.slice(begin, end);
    plain.fill(0.0);
    squared.fill(0.0);
    Listener listener;
    for (Index i = 0; i < paired; i += 4) {  // four rows at a time: sums are read and written less often
        listener.after(4 * size);
        const Vec<const T> a = matrix[i].slice(begin, end), b = matrix[i + 1].slice(begin, end);
        const Vec<const T> c = matrix[i + 2].slice(begin, end), d = matrix[i + 3].slice(begin, end);
        const double p = weight[i], q = weight[i + 1], r = weight[i + 2], s = weight[i + 3];
#pragma omp simd
        for (Index j = 0; j < size; ++j) {
            const double x = a[j] - base[j], y = b[j] - base[j], z = c[j] - base[j], t = d[j] - base[j];
            plain[j] += (p * x + q * y) + (r * z + s * t);
            squared[j] += (p * x * x + q * y * y) + (r * z * z + s * t * t);
        }
    }
    for (Index i = paired; i < samples; ++i) {
        for (Index j = 0; j < size; ++j) {
            const double x = matrix(i, begin + j) - base[j];
            plain[j] += weight[i] * x;
            squared[j] += weight[i] * x * x;
        }
    }
}

// Fill in Σ w (x − origin) and Σ w (x − origin)² for columns first to last of a matrix stored by rows.
template <class T>
void by_rows(Mat<const T> matrix, Numbers weight, Numbers origin, Index first, Index last, Vec<double> sums,
             Vec<double> squares) {
    for (Index begin = first; begin < last; begin += BLOCK) {
        of_block(matrix, weight, origin, sums, squares, begin, std::min(begin + BLOCK, last));
    }
}

// Do the same for a matrix stored by columns, given one per row.
template <class T>
void by_columns(Mat<const T> columns, Numbers weight, Numbers origin, Index first, Index last,
                Vec<double> sums, Vec<double> squares) {
    Listener listener;
    for (Index j = first; j < last; ++j) {
        listener.after(columns.columns);
        const Vec<const T> column = columns[j];
        const double base = origin[j];
        double plain = 0.0, squared = 0.0;
#pragma omp simd reduction(+ : plain, squared)
        for (Index i = 0; i < column.size; ++i) {
            const double rest = column[i] - base, weighted = weight[i] * rest;
            plain += weighted;
            squared = fused(weighted, rest, squared);
        }
        sums[j] = plain;
        squares[j] = squared;
    }
}

// Fill in Σ w (x − origin)² for a matrix of which only some entries are stored, column by column.
template <class T, class I>
void of_stored(Vec<const I> begin, Vec<const I> rows, Vec<const T> values, Numbers weight, Numbers origin,
               Vec<double> squares) {
    double total = 0.0;
    for (double w : weight) total += w;
    Listener listener;
    for (Index j = 0; j < squares.size; ++j) {
        listener.after(begin[j + 1] - begin[j] + 1);
        double seen = 0.0, squared = 0.0;
        for (Index k = begin[j]; k < begin[j + 1]; ++k) {
            const double rest = values[k] - origin[j];
            seen += weight[rows[k]];
            squared += weight[rows[k]] * rest * rest;
        }
        squares[j] = squared + (total - seen) * origin[j] * origin[j];
    }
}

// What makes the columns of a model from stored ones, x, whose mean and spread Σ w (x − mean)² are given in units of
// 2^exponent. A column is constant if its spread is rounding: `constant` is that share of its mean.
//
// Returns for every column: shift and scale of (x − shift) / scale; what x / 2^exponent, and what x, are multiplied by,
// which is zero for a constant column that is centred; its squared length; and how many deviations the mean is that is
// taken off.
inline std::tuple<Vector<double>, Vector<double>, Vector<double>, Vector<double>, Vector<double>, Vector<double>>
scales(Numbers mean, Numbers spread, Indices exponent, double total, double constant, bool centre, bool standardize) {
    const Index n = mean.size;
    Vector<double> shift(n), scale(n), step(n), factor(n), square(n), offset(n);
    for (Index j = 0; j < n; ++j) {
        const double size = std::abs(mean[j]), rounding = constant * size;
        const double unit = std::ldexp(1.0, static_cast<int>(exponent[j]));
        const bool is_constant = spread[j] <= rounding * rounding * total;
        const bool is_divided = standardize && !is_constant;
        const double deviation = is_constant ? 1.0 : std::sqrt(spread[j] / total);
        shift[j] = centre ? mean[j] * unit : 0.0;
        scale[j] = is_divided ? deviation * unit : 1.0;
        step[j] = is_constant && centre ? 0.0 : is_divided ? 1.0 / deviation : unit;
        factor[j] = step[j] / unit;
        square[j] = (centre ? spread[j] : spread[j] + total * (size * size)) * (step[j] * step[j]);
        offset[j] = is_constant || !centre ? 0.0 : size / deviation;
    }
    return {std::move(shift), std::move(scale), std::move(step), std::move(factor), std::move(square),
            std::move(offset)};
}

}  // namespace swapwise::moments
