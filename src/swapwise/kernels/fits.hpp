// The least-squares fit on a few columns, from their inner products.
#pragma once

#include <cmath>
#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "blas.hpp"
#include "products.hpp"

namespace swapwise::fits {

// (A Aᵀ + diag(penalty))⁻¹ for columns that are the rows of A, of unit length when it is inverted: so `most` is how
// many times larger the square of a column may be than what the others leave of it. None if that is exceeded.
inline std::optional<Matrix<double>> inverse_of_products(Table columns, Numbers squares, Numbers penalty,
                                                         double most) {
    const Index size = columns.rows;
    auto inverse = Matrix<double>::filled(0.0, size, size);
    Vector<double> length(size);
    for (Index i = 0; i < size; ++i) length[i] = squares[i] == 0.0 ? 1.0 : std::sqrt(squares[i]);
    const auto scale = [&] {
        for (Index i = 0; i < size; ++i) {
            for (Index j = 0; j < size; ++j) inverse(i, j) = inverse(i, j) / length[j] / length[i];
        }
    };
    blas::add_squares(columns, inverse);
    for (Index i = 0; i < size; ++i) inverse(i, i) += penalty[i];
    scale();
    if (!blas::invert(inverse)) return std::nullopt;
    for (Index i = 0; i < size; ++i) {
        if (!(inverse(i, i) <= most)) return std::nullopt;
        for (Index j = 0; j < i; ++j) inverse(j, i) = inverse(i, j);
    }
    scale();
    return inverse;
}

// out += matrix @ vector
inline void add_product(Table matrix, Numbers vector, Vec<double> out) {
    for (Index i = 0; i < matrix.rows; ++i) out[i] += products::dot(matrix[i], vector);
}

// What a fit leaves of y, and below it a number for the penalty of each coefficient.
inline void write_rest(Table columns, Numbers y, Numbers penalty, Numbers weights, Vec<double> rest) {
    Vector<double> negative(weights.size);
    for (Index i = 0; i < weights.size; ++i) {
        negative[i] = -weights[i];
        rest[y.size + i] = std::sqrt(penalty[i]) * negative[i];
    }
    rest.copy(y);
    products::add_combination(columns, negative, rest.slice(0, y.size));
}

// Fit y on columns, one per row, with a penalty on the square of each coefficient: the inverse of their inner products
// plus the penalty, the coefficients, and what is left. None if rounding would spoil it: see `inverse_of_products`.
inline std::optional<std::tuple<Matrix<double>, Vector<double>, Vector<double>>> by_products(
    Table columns, Numbers y, Numbers squares, Numbers penalty, double most) {
    const Index size = columns.rows;
    auto inverse = inverse_of_products(columns, squares, penalty, most);
    if (!inverse) return std::nullopt;
    auto weights = Vector<double>::filled(0.0, size);
    Vector<double> rest(y.size + size), slope(size);
    products::write_dots(columns, y, slope);
    add_product(*inverse, slope, weights);
    write_rest(columns, y, penalty, weights, rest);
    // One step of refinement makes up for the squared condition of the Gram matrix.
    products::write_dots(columns, rest.slice(0, y.size), slope);
    for (Index i = 0; i < size; ++i) slope[i] -= penalty[i] * weights[i];
    add_product(*inverse, slope, weights);
    write_rest(columns, y, penalty, weights, rest);
    return std::make_tuple(std::move(*inverse), std::move(weights), std::move(rest));
}

}  // namespace swapwise::fits
