// The best ways to add a few elements to a set: all of them, in closed form.
#pragma once

#include <cmath>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "listening.hpp"

namespace swapwise::completions {

// Stands on the diagonal for a column of which nothing is left: zeros, or a copy of one that was taken out.
// Rounding leaves nothing that is as far below zero.
inline constexpr double GONE = -1.0;

// One over what is left of a column, and what it explains at most.
inline std::pair<double, double> explained(double pivot, double rest, double noise) {
    const double inverse = pivot != GONE ? 1.0 / std::max(pivot, noise) : 0.0;
    return {inverse, (rest * rest + noise) * inverse};
}

// Count the columns from `first` to `last` that may explain as much as is missing once another is taken out
// of them.
//
// Nothing is divided, and nothing but a number is kept: the loop runs on vectors.
inline Index hits(Numbers products, Numbers squares, Numbers with_y, Index first, Index last, double inverse,
                  double rest, double noise, double missing) {
    Index count = 0;
#pragma omp simd reduction(+ : count)
    for (Index b = first; b < last; ++b) {
        const double ratio = products[b] * inverse;
        const double left = squares[b] - ratio * products[b], other = with_y[b] - ratio * rest;
        // That is, if (other² + noise) / left exceeds it.
        count += other * other + noise > missing * (left > noise ? left : noise);
    }
    return count;
}

// The search for all sets: see `find`.
class Walk {
  public:
    Walk(Table gram, Numbers corr, Indices copies, Index size, double floor, Index room, double noise)
        : _m(corr.size),
          _size(size),
          _depth(std::max<Index>(size - 2, 0)),
          _floor(floor),
          _copies(copies),
          _swept(_depth + 1, _m, _m),
          _rests(_depth + 1, _m),
          _squares(_m),
          _gains(Vector<double>::filled(0.0, size + 1)),
          _noises(Vector<double>::filled(noise, size + 1)),
          _chosen(Vector<Index>::filled(-1, size + 1)),
          _sets(room, size) {
        for (Index a = 0; a < _m; ++a) {
            _swept[0][a].copy(gram[a]);
            _rests(0, a) = corr[a];
            if (gram(a, a) == 0.0) _swept(0, a, a) = GONE;
        }
    }

    // Visit all sets of increasing indices; those before the last two are swept out of the rest.
    void run() {
        Index level = 0;
        while (level >= 0 && _count <= _sets.rows) {
            if (level == _depth) {
                raise_if_interrupted();
                finish_sets();
                --level;
                continue;
            }
            const Index j = _chosen[level] + 1;
            if (j > _m - (_size - level)) {
                --level;
                continue;
            }
            _chosen[level] = _chosen[level + 1] = j;
            const auto [inverse, gain] = explained(_swept(level, j, j), _rests(level, j), _noises[level]);
            _gains[level + 1] = _gains[level] + gain;
            sweep(level, j, inverse);
            ++level;
        }
    }

    std::optional<Matrix<Index>> found() const {
        if (_count > _sets.rows) return std::nullopt;
        Matrix<Index> sets(_count, _size);
        std::copy_n(_sets.data, _count * _size, sets.data);
        return sets;
    }

  private:
    // Take a column out of those behind it.
    void sweep(Index level, Index j, double inverse) {
        const Numbers out = _swept[level][j];
        double largest = 0.0;
        for (Index a = j + 1; a < _m; ++a) {
            const double ratio = out[a] * inverse;
            largest = std::max(largest, std::abs(ratio));
            _rests(level + 1, a) = _rests(level, a) - ratio * _rests(level, j);
            const Numbers before = _swept[level][a];
            const Vec<double> after = _swept[level + 1][a];
#pragma omp simd
            for (Index b = a; b < _m; ++b) after[b] = before[b] - ratio * out[b];
        }
        for (Index a = j + 1; a < _m; ++a) {
            if (_copies[a] != _copies[j]) continue;
            _rests(level + 1, a) = 0.0;
            for (Index b = j + 1; b < _m; ++b) _swept(level + 1, std::min(a, b), std::max(a, b)) = 0.0;
            _swept(level + 1, a, a) = GONE;
        }
        _noises[level + 1] = _noises[level] * (1.0 + largest) * (1.0 + largest);
    }

    // Note the last pairs (or single columns) that may explain more than the floor with those before.
    void finish_sets() {
        const Mat<const double> products = _swept[_depth];
        const Numbers with_y = _rests[_depth];
        const double noise = _noises[_depth];
        for (Index a = 0; a < _m; ++a) _squares[a] = products(a, a);
        for (Index a = _chosen[_depth] + 1; a < _m && _count <= _sets.rows; ++a) {
            const auto [inverse, gain] = explained(_squares[a], with_y[a], noise);
            const double missing = _floor - _gains[_depth] - gain;
            if (_size == 1) {
                if (missing < 0.0) note(a, a);
                continue;
            }
            // No ratio exceeds 1/√pivot, for the other columns are no longer than 1.
            const double most = 1.0 + std::sqrt(inverse), after = noise * most * most;
            const auto count = [&, inverse = inverse](Index first, Index last) {
                return hits(products[a], _squares, with_y, first, last, inverse, with_y[a], after, missing);
            };
            if (count(a + 1, _m) == 0) continue;
            for (Index b = a + 1; b < _m; ++b) {
                const bool adds = !(_squares[b] == GONE || _copies[b] == _copies[a]);
                if (count(b, b + 1) > 0 && (missing < 0.0 || adds)) note(a, b);
            }
        }
    }

    // Write down a set if there is room, and count it.
    void note(Index a, Index b) {
        if (_count++ >= _sets.rows) return;
        const Vec<Index> set = _sets[_count - 1];
        for (Index place = 0; place < _size - 2; ++place) set[place] = _chosen[place];
        set[_depth] = a;
        set[_size - 1] = b;
    }

    Index _m, _size, _depth;
    double _floor;
    Indices _copies;
    Block<double> _swept;
    Matrix<double> _rests;
    Vector<double> _squares;
    Vector<double> _gains, _noises;
    Vector<Index> _chosen;
    Matrix<Index> _sets;
    Index _count = 0;
};

// The sets of `size` columns that may explain more than `floor`, one per row; nothing if there are more than
// `room`.
//
// `gram` and `corr` are the products of the columns with each other and with the response, when the columns
// chosen already are taken out of both; columns and response had length 1 before that. What a set explains is
// corr_Sᵀ gram_SS⁻¹ corr_S. Columns with the same number in `copies` are copies of each other.
//
// `noise` is what entries of both may be off by. The error grows with every column that is taken out, and
// what a column explains is moved up by what the error may hide. So nearly collinear columns, of which little
// but rounding is left, may explain everything: no set is missed, and those found need a closer look.
inline std::optional<Matrix<Index>> find(Table gram, Numbers corr, Indices copies, Index size, double floor,
                                         Index room, double noise) {
    Walk walk(gram, corr, copies, size, floor, room, noise);
    walk.run();
    return walk.found();
}

}  // namespace swapwise::completions
