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

// Sizes and strides as the library takes them; a stride of an empty matrix is not allowed to be zero.
inline int as_int(Index size) {
    if (size > std::numeric_limits<int>::max()) throw std::overflow_error("more numbers than BLAS can count");
    return static_cast<int>(size);
}
inline int as_stride(Index stride) { return as_int(std::max(stride, Index{1})); }

// out += first @ second.T
inline void add_products(Table first, Table second, Mat<double> out) {
    char transposed = 'T', plain = 'N';
    int rows = as_int(first.rows), columns = as_int(second.rows);
    int depth = as_int(first.columns), stride = as_stride(out.stride);
    int first_stride = as_stride(first.stride), second_stride = as_stride(second.stride);
    double one = 1.0;
    auto *left = const_cast<double *>(first.data), *right = const_cast<double *>(second.data);
    functions().dgemm(&transposed, &plain, &columns, &rows, &depth, &one, right, &second_stride, left,
                      &first_stride, &one, out.data, &stride);
}

// out += rows @ rows.T in the lower half
inline void add_squares(Table rows, Mat<double> out) {
    char upper = 'U', transposed = 'T';
    int size = as_int(rows.rows), depth = as_int(rows.columns);
    int rows_stride = as_stride(rows.stride), stride = as_stride(out.stride);
    double one = 1.0;
    functions().dsyrk(&upper, &transposed, &size, &depth, &one, const_cast<double *>(rows.data), &rows_stride,
                      &one, out.data, &stride);
}

// Replace the lower half of a symmetric matrix by that of its inverse; false if it is not positive definite.
inline bool invert(Mat<double> matrix) {
    char upper = 'U';
    int size = as_int(matrix.rows), stride = as_stride(matrix.stride), info = 0;
    functions().dpotrf(&upper, &size, matrix.data, &stride, &info);
    if (info == 0) functions().dpotri(&upper, &size, matrix.data, &stride, &info);
    return info == 0;
}

}  // namespace swapwise::blas
