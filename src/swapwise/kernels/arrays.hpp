// Arrays as kernels see them: views of one, two and three dimensions, and arrays that own their numbers.
//
// Numbers of the last dimension lie side by side. Indices are checked if SWAPWISE_CHECKED is defined
// (`make checked`), and then one that is out of bounds becomes an IndexError.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

namespace swapwise {

using Index = std::int64_t;

inline constexpr double INFINITE = std::numeric_limits<double>::infinity();
inline constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

inline void require_within([[maybe_unused]] Index index, [[maybe_unused]] Index size) {
#ifdef SWAPWISE_CHECKED
    if (index < 0 || index >= size) {
        throw std::out_of_range("index " + std::to_string(index) + " of an array of " + std::to_string(size));
    }
#endif
}

// Parts of an array may begin and end at its end.
inline void require_part([[maybe_unused]] Index begin, [[maybe_unused]] Index end,
                         [[maybe_unused]] Index size) {
#ifdef SWAPWISE_CHECKED
    if (begin < 0 || end < begin || end > size) {
        throw std::out_of_range("part " + std::to_string(begin) + " to " + std::to_string(end) +
                                " of an array of " + std::to_string(size));
    }
#endif
}

// What can be written can be read: a view of T becomes a view of const T.
template <class From, class To>
using if_readable = std::enable_if_t<std::is_same_v<const From, To>>;

template <class T>
struct Vec {
    T *data = nullptr;
    Index size = 0;

    Vec() = default;
    Vec(T *data, Index size) : data(data), size(size) {}
    template <class U, class = if_readable<U, T>>
    Vec(const Vec<U> &other) : data(other.data), size(other.size) {}

    T &operator[](Index i) const {
        require_within(i, size);
        return data[i];
    }
    T *begin() const { return data; }
    T *end() const { return data + size; }

    Vec slice(Index begin, Index end) const {
        require_part(begin, end, size);
        return {data + begin, end - begin};
    }
    void fill(const std::remove_const_t<T> &value) const { std::fill(begin(), end(), value); }
    void copy(const Vec<const std::remove_const_t<T>> &other) const {
        require_part(0, other.size, size);
        std::copy(other.begin(), other.end(), begin());
    }
};

template <class T>
struct Mat {
    T *data = nullptr;
    Index rows = 0, columns = 0, stride = 0;  // rows begin every `stride` numbers

    Mat() = default;
    Mat(T *data, Index rows, Index columns) : Mat(data, rows, columns, columns) {}
    Mat(T *data, Index rows, Index columns, Index stride)
        : data(data), rows(rows), columns(columns), stride(stride) {}
    template <class U, class = if_readable<U, T>>
    Mat(const Mat<U> &other) : Mat(other.data, other.rows, other.columns, other.stride) {}

    T &operator()(Index i, Index j) const {
        require_within(i, rows);
        require_within(j, columns);
        return data[i * stride + j];
    }
    Vec<T> operator[](Index i) const {
        require_within(i, rows);
        return {data + i * stride, columns};
    }
    Mat slice(Index begin, Index end) const {
        require_part(begin, end, rows);
        return {data + begin * stride, end - begin, columns, stride};
    }
    // Some of the columns
    Mat narrow(Index begin, Index end) const {
        require_part(begin, end, columns);
        return {data + begin, rows, end - begin, stride};
    }
    void fill(const std::remove_const_t<T> &value) const {
        for (Index i = 0; i < rows; ++i) (*this)[i].fill(value);
    }
};

template <class T>
struct Cube {
    T *data = nullptr;
    Index depth = 0, rows = 0, columns = 0;

    Cube() = default;
    Cube(T *data, Index depth, Index rows, Index columns)
        : data(data), depth(depth), rows(rows), columns(columns) {}
    template <class U, class = if_readable<U, T>>
    Cube(const Cube<U> &other) : Cube(other.data, other.depth, other.rows, other.columns) {}

    T &operator()(Index h, Index i, Index j) const { return (*this)[h](i, j); }
    Mat<T> operator[](Index h) const {
        require_within(h, depth);
        return {data + h * rows * columns, rows, columns};
    }
};

// Arrays of their own, which can be moved and handed to Python but not copied. Without a value to fill them
// with, what is in them is anything.
template <class View>
class Owning : public View {
    using T = std::remove_reference_t<decltype(*View::data)>;

  public:
    template <class... Shape>
    static Owning filled(const T &value, Shape... shape) {
        Owning array(shape...);
        std::fill_n(array.data, array.count(shape...), value);
        return array;
    }
    template <class... Shape>
    explicit Owning(Shape... shape)
        : View(new T[count(shape...)], static_cast<Index>(shape)...), _owner(this->data) {}

    T *release() { return _owner.release(); }

  private:
    template <class... Shape>
    static std::size_t count(Shape... shape) {
        return (std::size_t{1} * ... * static_cast<std::size_t>(shape));
    }
    std::unique_ptr<T[]> _owner;
};

template <class T>
using Vector = Owning<Vec<T>>;
template <class T>
using Matrix = Owning<Mat<T>>;
template <class T>
using Block = Owning<Cube<T>>;

// Short names of what kernels read.
using Numbers = Vec<const double>;
using Indices = Vec<const Index>;
using Table = Mat<const double>;
using Flags = Vec<const bool>;
using Mask = Mat<const bool>;

// A record from its fields in order, as Python hands them over in a tuple.
template <class Record, class... Fields>
Record record_of(const std::tuple<Fields...> &fields) {
    return std::apply([](const auto &...field) { return Record{field...}; }, fields);
}

// a·b + c, rounded once where the processor can do that in one step.
inline double fused(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}
inline float fused(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

}  // namespace swapwise
