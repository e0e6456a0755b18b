// Solutions of small positive definite systems whose rows may depend on each other.
#pragma once

#include <cmath>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "cholesky.hpp"
#include "products.hpp"

namespace swapwise::glm {

// What a column may have left, relative to its squared length, when those before it are taken out of it. Of
// less, inner products have lost too many of their 16 digits, and it keeps its coefficient. What it could
// still add is estimated: next to nothing if it is a copy of others.
inline constexpr double DEPENDENT = 1e-10;

// How far a column of numbers is known, relative to its length: the number of this name in
// swapwise/numerics.py.
inline constexpr double FLOAT64_PRECISION = 1e-10;

// Solve a positive definite system, of which the lower half is given, by Cholesky's method; dependent rows
// get zeros. The factor takes the matrix's place.
//
// Rows are scaled to a diagonal of ones first: what is dependent does not depend on units. Also return what
// the quadratic model could gain by the rows that got zeros, if they had the least curvature that is told
// from none.
inline std::tuple<Vector<double>, double> definite_solution(Mat<double> matrix, Numbers right) {
    const Index size = right.size;
    double missed = 0.0;
    auto scale = Vector<double>::filled(0.0, size);
    Vector<double> solution(size);
    for (Index i = 0; i < size; ++i) {
        if (matrix(i, i) > 0.0) {
            scale[i] = 1.0 / std::sqrt(matrix(i, i));
        } else if (right[i] != 0.0) {  // a slope without curvature: there is no telling how far it leads
            missed = INFINITE;
        }
        solution[i] = right[i] * scale[i];
        for (Index j = 0; j <= i; ++j) matrix(i, j) *= scale[i] * scale[j];
    }
    for (Index i = 0; i < size; ++i) {
        const Vec<double> before = matrix[i].slice(0, i);
        const double left = matrix(i, i) - products::dot(before, before);
        const double rest = solution[i] - products::dot(before, solution.slice(0, i));
        if (left > DEPENDENT) {
            matrix(i, i) = std::sqrt(left);
            solution[i] = rest / matrix(i, i);
            cholesky::fill_column(matrix, i);
        } else {
            missed += (rest / FLOAT64_PRECISION) * (rest / FLOAT64_PRECISION);
            before.fill(0.0);
            matrix(i, i) = 1.0;  // alone in its row and column: it stays at zero
            solution[i] = 0.0;
            for (Index j = i + 1; j < size; ++j) matrix(j, i) = 0.0;
        }
    }
    cholesky::backward(matrix, solution);
    for (Index i = 0; i < size; ++i) solution[i] *= scale[i];
    return {std::move(solution), missed};
}

}  // namespace swapwise::glm
