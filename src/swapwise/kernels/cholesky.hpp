// Cholesky's method: matrix = L Lᵀ, of which the lower half is given, and L takes its place.
//
// What counts as dependent, and what becomes of it, is for the caller to say.
#pragma once

#include <cmath>

#include "arrays.hpp"
#include "listening.hpp"
#include "products.hpp"

namespace swapwise::cholesky {

// Factor the leading block of a small matrix and solve L z = vector, both in place; return ‖z‖².
//
// A pivot at its floor counts as none; if `strict`, the answer is then not a number.
inline double forward(Mat<double> matrix, Vec<double> vector, Numbers floor, Index size, bool strict) {
    double total = 0.0;
    for (Index i = 0; i < size; ++i) {
        for (Index j = 0; j < i; ++j) {
            double rest = matrix(i, j);
            for (Index k = 0; k < j; ++k) rest -= matrix(i, k) * matrix(j, k);
            matrix(i, j) = matrix(j, j) > 0.0 ? rest / matrix(j, j) : 0.0;
            vector[i] -= matrix(i, j) * vector[j];
        }
        double pivot = matrix(i, i);
        for (Index k = 0; k < i; ++k) pivot -= matrix(i, k) * matrix(i, k);
        if (pivot > floor[i]) {
            matrix(i, i) = std::sqrt(pivot);
            vector[i] /= matrix(i, i);
        } else if (strict) {
            return NOT_A_NUMBER;
        } else {
            matrix(i, i) = vector[i] = 0.0;
        }
        total += vector[i] * vector[i];
    }
    return total;
}

// Fill in column j of L below the diagonal, given the columns before it and L_jj. Signals are heard now and
// then: large systems take seconds.
inline void fill_column(Mat<double> matrix, Index j) {
    if (j % 64 == 63) raise_if_interrupted();
    const double inverse = 1.0 / matrix(j, j);
    products::each_dot(matrix[j].slice(0, j), j + 1, matrix.rows,
                       [matrix, j](Index i) -> Numbers { return matrix[i].slice(0, j); },
                       [matrix, j, inverse](Index i, double dot) {
                           matrix(i, j) = (matrix(i, j) - dot) * inverse;
                       });
}

// Solve Lᵀ x = vector in place.
inline void backward(Table factor, Vec<double> vector) {
    for (Index i = vector.size - 1; i >= 0; --i) {
        const Numbers row = factor[i];
        const double known = vector[i] /= row[i];
#pragma omp simd
        for (Index k = 0; k < i; ++k) vector[k] = fused(-row[k], known, vector[k]);
    }
}

}  // namespace swapwise::cholesky
