// Products of large matrices, by the library that SciPy comes with.
//
// Its functions are for Fortran, where a matrix lies column by column: what is stored by rows is its transpose.
#pragma once

#include "arrays.hpp"

namespace swapwise::blas {

struct Functions {
    void (*dgemm)(char *, char *, int *, int *, int *, double *, double *, int *, double *, int *, double *, double *,
                  int *);
    void (*dsyrk)(char *, char *, int *, int *, double *, double *, int *, double *, double *, int *);
};

// Looked up when first asked for, since SciPy takes a while to load. Defined in module.cpp.
const Functions &functions();

// out += first @ second.T for matrices stored by rows, without an entry that is above the diagonal if they are one and
// the same.
inline void add_products(Table first, Table second, Mat<double> out) {
    int rows = static_cast<int>(first.rows), columns = static_cast<int>(second.rows);
    int depth = static_cast<int>(first.columns), first_stride = static_cast<int>(first.stride);
    int second_stride = static_cast<int>(second.stride), stride = static_cast<int>(out.stride);
    double one = 1.0;
    auto *left = const_cast<double *>(first.data), *right = const_cast<double *>(second.data);
    if (left == right) {
        functions().dsyrk(const_cast<char *>("U"), const_cast<char *>("T"), &rows, &depth, &one, left, &first_stride,
                          &one, out.data, &stride);
    } else {
        functions().dgemm(const_cast<char *>("T"), const_cast<char *>("N"), &columns, &rows, &depth, &one, right,
                          &second_stride, left, &first_stride, &one, out.data, &stride);
    }
}

}  // namespace swapwise::blas
