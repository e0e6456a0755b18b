// The best ways to add a few elements to a set: all of them, in closed form.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "cholesky.hpp"
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

// Columns whose coefficients may not be negative: products of all columns with each other and with the response, all of
// length 1, which columns are `held` by every set, which can be added, and the floor of whole sets.
struct SignArrays {
    Table gram;
    Numbers corr;
    Flags positive;
    Indices held, open;
    double floor;
};
using SignTuple = std::tuple<Table, Numbers, Flags, Indices, Indices, double>;

// Whether sets explain more than the floor by coefficients of the right signs.
//
// If some coefficients of the best fit without regard to signs are negative and should not be, one of these is zero in
// the best fit with regard to them: else that could go a step towards the other. So the answer for a set is the best
// of those for its parts without one of these.
class RightSigns {
  public:
    // More looks than these take some hundredths of a second, as a few bounds do.
    static constexpr Index MOST_LOOKS = 20'000;

    RightSigns(const SignArrays &all, Index size)
        : _all(all), _most(all.held.size + size), _floors(Vector<double>::filled(SAFE, _most)) {
        for (Index level = 0; level <= _most; ++level) _levels.emplace_back(_most);
    }

    bool gave_up() const { return _looks > MOST_LOOKS; }

    template <class Places>
    bool may_exceed(const Places &added) {
        std::vector<Index> members(_all.held.begin(), _all.held.end());
        for (Index place : added) members.push_back(_all.open[place]);
        return look(members, 0);
    }

  private:
    // Where less is left of a column than this share of its square, what it explains needs a closer look. Products are
    // off by no more than the noise.
    static constexpr double SAFE = 1e-6, NOISE = 1e-13;

    struct Level {
        explicit Level(Index most) : factor(most, most), coef(most) {}
        Matrix<double> factor;
        Vector<double> coef;
    };

    SignArrays _all;
    Index _most, _looks = 0;
    Vector<double> _floors;
    std::vector<Level> _levels;

    bool look(const std::vector<Index> &members, std::size_t level) {
        if (++_looks > MOST_LOOKS) return true;
        const Index size = static_cast<Index>(members.size());
        Level &at = _levels[level];
        for (Index i = 0; i < size; ++i) {
            for (Index j = 0; j <= i; ++j) at.factor(i, j) = _all.gram(members[i], members[j]);
            at.coef[i] = _all.corr[members[i]];
        }
        const double value = cholesky::forward(at.factor, at.coef, _floors, size, true);
        if (std::isnan(value)) return true;
        double least = 1.0;
        for (Index i = 0; i < size; ++i) least = std::min(least, at.factor(i, i) * at.factor(i, i));
        if (value + NOISE * static_cast<double>(size) / least <= _all.floor) return false;
        cholesky::backward(at.factor, at.coef.slice(0, size));
        bool is_wrong = false;
        for (Index i = 0; i < size; ++i) {
            if (!_all.positive[members[i]] || at.coef[i] >= 0) continue;
            is_wrong = true;
            std::vector<Index> fewer(members);
            fewer.erase(fewer.begin() + i);
            if (look(fewer, level + 1)) return true;
        }
        return !is_wrong;
    }
};

// The search for all sets: see `find`.
class Walk {
  public:
    Walk(Table gram, Numbers corr, Indices copies, Index size, double floor, Index room, double noise,
         RightSigns *signs = nullptr)
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
          _set(size),
          _sets(room, size),
          _signs(signs) {
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
        if (_count > _sets.rows || (_signs && _signs->gave_up())) return std::nullopt;
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
            for (Index b = a + 1; b < _m && _count <= _sets.rows; ++b) {
                const bool adds = !(_squares[b] == GONE || _copies[b] == _copies[a]);
                if (count(b, b + 1) > 0 && (missing < 0.0 || adds)) note(a, b);
            }
        }
    }

    // Write down a set if there is room, and count it, unless coefficients of the right signs explain too little.
    void note(Index a, Index b) {
        for (Index place = 0; place < _size - 2; ++place) _set[place] = _chosen[place];
        _set[_depth] = a;
        _set[_size - 1] = b;
        if (_signs && !_signs->may_exceed(_set)) return;
        if (_signs && _signs->gave_up()) _count = _sets.rows;
        if (_count++ < _sets.rows) _sets[_count - 1].copy(_set);
    }

    Index _m, _size, _depth;
    double _floor;
    Indices _copies;
    Block<double> _swept;
    Matrix<double> _rests;
    Vector<double> _squares;
    Vector<double> _gains, _noises;
    Vector<Index> _chosen, _set;
    Matrix<Index> _sets;
    RightSigns *_signs;
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

// The same sets without those that explain more than the floor only by coefficients of the wrong signs.
inline std::optional<Matrix<Index>> find_signed(Table gram, Numbers corr, Indices copies, Index size, double floor,
                                                Index room, double noise, const SignTuple &arrays) {
    RightSigns signs(record_of<SignArrays>(arrays), size);
    Walk walk(gram, corr, copies, size, floor, room, noise, &signs);
    walk.run();
    return walk.found();
}

}  // namespace swapwise::completions
