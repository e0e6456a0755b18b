// How NumPy's arrays become the views of kernels, and how arrays of kernels become NumPy's.
//
// What is written must have the right type and layout. What is only read is copied if it has not.
#pragma once

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <numpy/arrayobject.h>

#include <array>
#include <utility>

#include "arrays.hpp"

namespace swapwise {

template <class T>
constexpr int numpy_type() {
    if constexpr (std::is_same_v<T, bool>) {
        return NPY_BOOL;
    } else if constexpr (std::is_integral_v<T>) {
        return sizeof(T) == 8 ? NPY_INT64 : NPY_INT32;
    } else {
        return sizeof(T) == 8 ? NPY_FLOAT64 : NPY_FLOAT32;
    }
}

// Whether numbers are stored as T: NumPy has several names for integers of one size.
template <class T>
bool holds(PyArrayObject *array) {
    const char kind = std::is_same_v<T, bool> ? 'b' : std::is_integral_v<T> ? 'i' : 'f';
    const PyArray_Descr *type = PyArray_DESCR(array);
    return type->kind == kind && PyArray_ITEMSIZE(array) == sizeof(T) && PyArray_ISBEHAVED_RO(array);
}

// Whether numbers of the last dimension lie side by side, and the rows of a matrix a number of places apart.
// Cubes have no gaps. Rows that are only read may overlap.
template <int dimensions, bool is_written>
bool is_laid_out(PyArrayObject *array) {
    if (PyArray_SIZE(array) == 0) return true;
    npy_intp step = PyArray_ITEMSIZE(array);
    for (int d = dimensions - 1; d >= (dimensions == 2 ? 1 : 0); --d) {
        if (PyArray_DIM(array, d) > 1 && PyArray_STRIDE(array, d) != step) return false;
        step *= PyArray_DIM(array, d);
    }
    if (dimensions != 2 || PyArray_DIM(array, 0) < 2) return true;
    const npy_intp stride = PyArray_STRIDE(array, 0);
    return stride >= (is_written ? step : 0) && stride % PyArray_ITEMSIZE(array) == 0;
}

template <class T>
Vec<T> view_of(PyArrayObject *array, Vec<T> *) {
    return {static_cast<T *>(PyArray_DATA(array)), PyArray_DIM(array, 0)};
}
template <class T>
Mat<T> view_of(PyArrayObject *array, Mat<T> *) {
    const Index rows = PyArray_DIM(array, 0), columns = PyArray_DIM(array, 1);
    const Index stride = rows > 1 ? PyArray_STRIDE(array, 0) / static_cast<Index>(sizeof(T)) : columns;
    return {static_cast<T *>(PyArray_DATA(array)), rows, columns, stride};
}
template <class T>
Cube<T> view_of(PyArrayObject *array, Cube<T> *) {
    return {static_cast<T *>(PyArray_DATA(array)), PyArray_DIM(array, 0), PyArray_DIM(array, 1),
            PyArray_DIM(array, 2)};
}

template <class T>
std::array<npy_intp, 1> shape_of(const Vec<T> &view) {
    return {view.size};
}
template <class T>
std::array<npy_intp, 2> shape_of(const Mat<T> &view) {
    return {view.rows, view.columns};
}
template <class T>
std::array<npy_intp, 3> shape_of(const Cube<T> &view) {
    return {view.depth, view.rows, view.columns};
}

}  // namespace swapwise

namespace nanobind::detail {

template <class View, class T, int dimensions>
struct view_caster {
    using Plain = std::remove_const_t<T>;
    NB_TYPE_CASTER(View, const_name("numpy.ndarray"))

    bool from_python(handle source, uint32_t flags, cleanup_list *) noexcept {
        if (!PyArray_Check(source.ptr())) return false;
        auto *array = reinterpret_cast<PyArrayObject *>(source.ptr());
        if (PyArray_NDIM(array) != dimensions) return false;
        constexpr bool is_written = !std::is_const_v<T>;
        if (!swapwise::holds<Plain>(array) || !swapwise::is_laid_out<dimensions, is_written>(array)) {
            if (is_written || !(flags & static_cast<uint32_t>(cast_flags::convert))) return false;
            // Only what loses nothing: no fractions become integers.
            PyObject *copy =
                PyArray_FROM_OTF(source.ptr(), swapwise::numpy_type<Plain>(), NPY_ARRAY_CARRAY_RO);
            if (copy == nullptr) {
                PyErr_Clear();
                return false;
            }
            _copy = steal(copy);
            array = reinterpret_cast<PyArrayObject *>(copy);
        } else if (is_written && !PyArray_ISWRITEABLE(array)) {
            return false;
        }
        value = swapwise::view_of(array, static_cast<View *>(nullptr));
        return true;
    }

  private:
    object _copy;
};

template <class T>
struct type_caster<swapwise::Vec<T>> : view_caster<swapwise::Vec<T>, T, 1> {};
template <class T>
struct type_caster<swapwise::Mat<T>> : view_caster<swapwise::Mat<T>, T, 2> {};
template <class T>
struct type_caster<swapwise::Cube<T>> : view_caster<swapwise::Cube<T>, T, 3> {};

// Python owns what a kernel returns.
template <class View>
struct type_caster<swapwise::Owning<View>> {
    using Value = swapwise::Owning<View>;
    static constexpr auto Name = const_name("numpy.ndarray");
    template <class T>
    using Cast = movable_cast_t<T>;

    static handle from_cpp(Value &&array, rv_policy, cleanup_list *) noexcept {
        using T = std::remove_reference_t<decltype(*array.data)>;
        auto shape = swapwise::shape_of(array);
        PyObject *result = PyArray_SimpleNewFromData(static_cast<int>(shape.size()), shape.data(),
                                                     swapwise::numpy_type<T>(), array.data);
        if (result == nullptr) return {};
        PyObject *owner = PyCapsule_New(array.data, nullptr, [](PyObject *capsule) {
            delete[] static_cast<T *>(PyCapsule_GetPointer(capsule, nullptr));
        });
        if (owner == nullptr) {
            Py_DECREF(result);
            return {};
        }
        array.release();  // from here on, the numbers are deleted with the capsule
        if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(result), owner) < 0) {
            Py_DECREF(result);
            return {};
        }
        return result;
    }
};

}  // namespace nanobind::detail
