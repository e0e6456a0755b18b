// Products of large matrices, and inverses, by the libraries that SciPy comes with.
//
// Its functions are for Fortran, where a matrix lies column by column: what is stored by rows is its
// transpose.
#pragma once

#include "arrays.hpp"

namespace swapwise::blas {

struct Functions {
    void (*dgemm)(char *, char *, int *, int *, int *, double *, double *, int *, double *, int *, double *,
                  double *, int *);
    void (*dsyrk)(char *, char *, int *, int *, double *, double *, int *, double *, double *, int *);
    void (*dpotrf)(char *, int *, double *, int *, int *);
    void (*dpotri)(char *, int *, double *, int *, int *);
};

// Looked up when first asked for, since SciPy takes a while to load. Defined in module.cpp.
const Functions &functions();

// out += first @ second.T
inline void add_products(Table first, Table second, Mat<double> out) {
    char transposed = 'T', plain = 'N';
    int rows = static_cast<int>(first.rows), columns = static_cast<int>(second.rows);
    int depth = static_cast<int>(first.columns), stride = static_cast<int>(out.stride);
    int first_stride = static_cast<int>(first.stride), second_stride = static_cast<int>(second.stride);
    double one = 1.0;
    auto *left = const_cast<double *>(first.data), *right = const_cast<double *>(second.data);
    functions().dgemm(&transposed, &plain, &columns, &rows, &depth, &one, right, &second_stride, left,
                      &first_stride, &one, out.data, &stride);
}

// out += rows @ rows.T in the lower half
inline void add_squares(Table rows, Mat<double> out) {
    char upper = 'U', transposed = 'T';
    int size = static_cast<int>(rows.rows), depth = static_cast<int>(rows.columns);
    int rows_stride = static_cast<int>(rows.stride), stride = static_cast<int>(out.stride);
    double one = 1.0;
    functions().dsyrk(&upper, &transposed, &size, &depth, &one, const_cast<double *>(rows.data), &rows_stride,
                      &one, out.data, &stride);
}

// Replace the lower half of a symmetric matrix by that of its inverse; false if it is not positive definite.
inline bool invert(Mat<double> matrix) {
    char upper = 'U';
    int size = static_cast<int>(matrix.rows), stride = static_cast<int>(matrix.stride), info = 0;
    functions().dpotrf(&upper, &size, matrix.data, &stride, &info);
    if (info == 0) functions().dpotri(&upper, &size, matrix.data, &stride, &info);
    return info == 0;
}

}  // namespace swapwise::blas
