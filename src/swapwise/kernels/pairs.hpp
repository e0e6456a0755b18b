// Moves that add two elements and drop a few: all of them, in closed form, with bounds that leave out nearly all.
//
// Nothing here knows which sets are independent. What is known of an element are the circuits that it closes by
// itself, one at most in each of p matroids. A drop D that makes room for a and b has to hit all circuits of both;
// and where both close one in the same matroid, it has to hold two members of these. All that do and that gain
// enough are returned: which of them are drops is for the caller to find out.
//
// To drop more never gains more, so that a branch is left as soon as it gains too little: already for one member of
// a circuit, most pairs do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "exchanges.hpp"
#include "listening.hpp"

namespace swapwise::pairs {

// Candidates by their own numbers, 0 to m - 1, and the chosen columns in the order of their elements: B (a row per
// column, and again a row per candidate), C, w, c, σ, and the squared lengths of the candidates.
struct Problem {
    Table rows, coupling, inverse;
    Numbers coef, corr, sigma, squares;
};
using ProblemArrays = std::tuple<Table, Table, Table, Numbers, Numbers, Numbers, Numbers>;

// Products are off by rounding, as a share of the lengths of both columns. If the product of what is left of them is
// less than this share, squared, rounding may count.
inline constexpr double NOISE = 1e-12;

// Of two columns, what is left of the second once the first is taken out as well: its squared length, what it has
// in common with y, and with every chosen column.
struct Second {
    double sigma, corr;
    Numbers coupling;
};

// The gain of adding two columns, which is put together one drop after the other: see `Gain` of exchanges.hpp.
class PairGain {
  public:
    PairGain(const Problem &problem, Index most)
        : _problem(problem), _factor(most, most), _out(most), _steps(most + 1), _last(most) {}

    void begin(Index first, const Second &second) {
        _first = first;
        _second = second;
        _size = 0;
        _steps[0] = {_problem.sigma[first], second.sigma, 0.0, _problem.corr[first], second.corr, 0.0};
    }

    void push(Index column) {
        const Index d = _size++;
        const Vec<double> row = _factor[d];
        double pivot = _problem.inverse(column, column), lost = _problem.coef[column];
        double one = _problem.coupling(_first, column), two = _second.coupling[column];
        for (Index i = 0; i < d; ++i) {
            double entry = _problem.inverse(column, _out[i]);
            for (Index k = 0; k < i; ++k) entry -= row[k] * _factor(i, k);
            row[i] = entry / _factor(i, i);
            pivot -= row[i] * row[i];
            lost -= row[i] * _last[i].lost;
            one -= row[i] * _last[i].one;
            two -= row[i] * _last[i].two;
        }
        const double root = row[d] = std::sqrt(std::max(pivot, TINY));
        _out[d] = column;
        const Freed freed = _last[d] = {lost / root, one / root, two / root};
        const Step &at = _steps[d];
        _steps[d + 1] = {at.first + freed.one * freed.one,
                         at.second + freed.two * freed.two,
                         at.both + freed.one * freed.two,
                         at.corr_first + freed.one * freed.lost,
                         at.corr_second + freed.two * freed.lost,
                         at.loss + freed.lost * freed.lost};
    }

    void pop() { --_size; }

    // Infinite where too little is left of one column for its gain to be known: no bound either.
    double value() const {
        const Step &at = _steps[_size];
        const double ratio = at.both / at.first, left = at.second - ratio * at.both;
        if (!(left > LOST * at.second)) return INFINITE;
        const double rest = at.corr_second - ratio * at.corr_first;
        return at.corr_first * at.corr_first / at.first + rest * rest / left - at.loss;
    }

  private:
    static constexpr double TINY = 1e-300, LOST = 1e-8;
    struct Step {
        double first, second, both, corr_first, corr_second, loss;
    };
    struct Freed {
        double lost, one, two;
    };

    const Problem &_problem;
    Matrix<double> _factor;
    Vector<Index> _out;
    Vector<Step> _steps;
    Vector<Freed> _last;
    Index _first = -1, _size = 0;
    Second _second = {};
};

// Moves that were found: two candidates, the columns that go, padded with -1, and the gain.
class Found {
  public:
    explicit Found(Index most) : _most(most) {}

    Index size() const { return static_cast<Index>(_gains.size()); }

    void add(Index first, Index second, Indices drop, double gain) {
        _added.push_back(first);
        _added.push_back(second);
        _dropped.insert(_dropped.end(), drop.begin(), drop.end());
        _dropped.insert(_dropped.end(), static_cast<std::size_t>(_most - drop.size), -1);
        _gains.push_back(gain);
    }

    std::tuple<Matrix<Index>, Matrix<Index>, Vector<double>> finish() const {
        Matrix<Index> added(size(), 2), dropped(size(), _most);
        Vector<double> gains(size());
        std::copy(_added.begin(), _added.end(), added.data);
        std::copy(_dropped.begin(), _dropped.end(), dropped.data);
        std::copy(_gains.begin(), _gains.end(), gains.data);
        return {std::move(added), std::move(dropped), std::move(gains)};
    }

  private:
    Index _most;
    std::vector<Index> _added, _dropped;
    std::vector<double> _gains;
};

// Goes through the sets of columns that hit all circuits of a pair, up to a size, as long as they gain enough.
class PairDrops {
  public:
    PairDrops(const Problem &problem, const exchanges::Circuits &circuits, Index most, double least)
        : _circuits(circuits),
          _p(circuits.of.columns),
          _columns(problem.inverse.rows),
          _most(most),
          _least(least),
          _gain(problem, most),
          _hits(Vector<std::uint64_t>::filled(0, _columns)),
          _taken(Vector<bool>::filled(false, _columns)),
          _chosen(most) {}

    void visit(Index first, Index second, const Second &rest, Found &found) {
        _first = first;
        _second = second;
        _gain.begin(first, rest);
        if (_gain.value() < _least) return;
        std::uint64_t open = 0;
        for (Index bit = 0; bit < 2 * _p; ++bit) {
            const Index circuit = circuit_of(bit);
            if (circuit < 0) continue;
            open |= std::uint64_t{1} << bit;
            for (Index column : _circuits.on(circuit)) _hits[column] |= std::uint64_t{1} << bit;
        }
        _closed = open;
        descend(open, found);
        for (Index bit = 0; bit < 2 * _p; ++bit) {
            if (circuit_of(bit) < 0) continue;
            for (Index column : _circuits.on(circuit_of(bit))) _hits[column] = 0;
        }
    }

  private:
    // Bits 2m and 2m + 1 stand for the circuits of the two in matroid m.
    Index circuit_of(Index bit) const { return _circuits.of(bit % 2 == 0 ? _first : _second, bit / 2); }

    void descend(std::uint64_t open, Found &found) {
        if (open != 0) {
            branch(smallest(open), open, found);
            return;
        }
        for (Index m = 0; m < _p; ++m) {
            if ((_closed >> (2 * m) & 3) != 3 || members_of_both(m) >= 2) continue;
            branch(2 * m, open, found);
            branch(2 * m + 1, open, found);
            return;
        }
        extend(0, found);
    }

    // Take out one more member of a circuit, each in turn.
    void branch(Index bit, std::uint64_t open, Found &found) {
        if (_size == _most) return;
        for (Index column : _circuits.on(circuit_of(bit))) {
            if (_taken[column]) continue;
            push(column);
            if (_gain.value() >= _least) descend(open & ~_hits[column], found);
            pop(column);
        }
    }

    // Note a set that hits all circuits, and those that hold it: what room it makes is not known here.
    void extend(Index begin, Found &found) {
        const double gain = _gain.value();
        found.add(_first, _second, _chosen.slice(0, _size), gain);
        if (_size == _most) return;
        for (Index column = begin; column < _columns; ++column) {
            if (_taken[column]) continue;
            push(column);
            if (_gain.value() >= _least) extend(column + 1, found);
            pop(column);
        }
    }

    void push(Index column) {
        _gain.push(column);
        _taken[column] = true;
        _chosen[_size++] = column;
    }

    void pop(Index column) {
        _gain.pop();
        _taken[column] = false;
        --_size;
    }

    Index members_of_both(Index m) const {
        Index count = 0;
        for (Index column : _chosen.slice(0, _size)) count += (_hits[column] >> (2 * m) & 3) != 0;
        return count;
    }

    Index smallest(std::uint64_t open) const {
        Index best = -1, size = 0;
        for (Index bit = 0; bit < 2 * _p; ++bit) {
            if (!(open >> bit & 1)) continue;
            const Index members = _circuits.on(circuit_of(bit)).size;
            if (best >= 0 && members >= size) continue;
            best = bit;
            size = members;
        }
        return best;
    }

    const exchanges::Circuits &_circuits;
    Index _p, _columns, _most;
    double _least;
    PairGain _gain;
    Vector<std::uint64_t> _hits;  // by column: which circuits of the pair it is on
    Vector<bool> _taken;
    Vector<Index> _chosen;
    Index _first = -1, _second = -1, _size = 0;
    std::uint64_t _closed = 0;
};

// What a move that drops one column and adds two must pass: constants of the first candidate and the column.
struct Test {
    double cross, corr, width, first, height, missing;

    Test(const Problem &problem, Index first_candidate, Index column, double least) {
        const double sigma = problem.sigma[first_candidate], share = problem.coupling(first_candidate, column);
        const double spread = 1.0 / problem.inverse(column, column), coef = problem.coef[column];
        cross = share * spread;
        corr = coef * spread;
        width = spread;
        first = sigma + share * share * spread;
        height = problem.corr[first_candidate] + share * coef * spread;
        missing = least + coef * coef * spread - height * height / first;
    }
};

// Mark the candidates that may gain enough with the first, once a column is dropped. Nothing is divided.
inline void mark(const Test &test, Numbers row, Numbers products, Numbers corr, Numbers sigma, Numbers squares,
                 double share, double noise, Vec<std::uint8_t> marks) {
    const double bar = test.missing * test.first;
#pragma omp simd
    for (Index b = 0; b < products.size; ++b) {
        const double both = products[b] + row[b] * test.cross, other = corr[b] + row[b] * test.corr;
        const double second = sigma[b] + row[b] * row[b] * test.width;
        const double rest = other * test.first - both * test.height, left = test.first * second - both * both;
        // That is, if rest² / (first · left) exceeds what is missing; nobody knows if next to nothing is left.
        const bool passes =
            rest * rest > bar * left || left <= share * (test.first * second) + noise * squares[b];
        marks[b] = static_cast<std::uint8_t>(marks[b] | static_cast<std::uint8_t>(passes));
    }
}

// Where a candidate closes circuits, the columns on the smallest of them.
inline Indices fewest_members(const exchanges::Circuits &circuits, Index candidate) {
    Indices fewest;
    bool is_any = false;
    for (Index circuit : circuits.of[candidate]) {
        if (circuit < 0 || (is_any && circuits.on(circuit).size >= fewest.size)) continue;
        fewest = circuits.on(circuit);
        is_any = true;
    }
    return fewest;
}

inline bool closes_any(const exchanges::Circuits &circuits, Index candidate) {
    const auto own = circuits.of[candidate];
    return std::any_of(own.begin(), own.end(), [](Index circuit) { return circuit >= 0; });
}

using Answer = std::tuple<Index, Matrix<Index>, Matrix<Index>, Matrix<Index>, Vector<double>>;

// Moves that add candidate `first + i` and a later one, and gain at least `least`, for i from 0 on.
//
// `products(i, b)` is what the candidates `first + i` and `first + b` have in common once the chosen columns are
// taken out of both. Returned are the candidate to go on with, after `room` moves or more; pairs of which less than
// `share` of the second is left beside the first, for which products say too little; and for all others the pairs,
// the columns that go for them (at most `most`, padded with -1) and their gains, which are infinite if they are not
// known.
inline Answer find(ProblemArrays problem_arrays, exchanges::CircuitArrays circuit_arrays, Table products, Index first,
                   Index most, double least, double share, Index room) {
    const auto problem = record_of<Problem>(problem_arrays);
    const auto circuits = record_of<exchanges::Circuits>(circuit_arrays);
    const Index m = problem.sigma.size;
    PairDrops drops(problem, circuits, most, least);
    Found found(most);
    std::vector<Index> close;
    Vector<std::uint8_t> marks(products.columns);
    Vector<double> rest(problem.inverse.rows);
    Listener listener;
    Index i = 0;
    for (; i < products.rows && found.size() < room; ++i) {
        const Index a = first + i;
        if (!circuits.open[a]) continue;
        const Numbers common = products[i].slice(i + 1, m - first);
        const Numbers corr = problem.corr.slice(a + 1, m), sigma = problem.sigma.slice(a + 1, m);
        const Numbers squares = problem.squares.slice(a + 1, m);
        const double noise = NOISE * problem.squares[a];
        const Vec<std::uint8_t> marked = marks.slice(0, common.size);
        const bool is_bound = closes_any(circuits, a);
        marked.fill(is_bound ? 0 : 1);
        for (Index column : fewest_members(circuits, a)) {
            mark({problem, a, column, least}, problem.rows[column].slice(a + 1, m), common, corr, sigma, squares,
                 share, noise, marked);
            listener.after(common.size);
        }
        listener.after(common.size);
        for (Index b = 0; b < common.size; ++b) {
            if (!marked[b] || !circuits.open[a + 1 + b]) continue;
            const Index other = a + 1 + b;
            const double ratio = common[b] / problem.sigma[a], left = sigma[b] - ratio * common[b];
            if (left * problem.sigma[a] <= share * sigma[b] * problem.sigma[a] + noise * squares[b]) {
                close.push_back(a);
                close.push_back(other);
                continue;
            }
            for (Index k = 0; k < rest.size; ++k) {
                rest[k] = problem.coupling(other, k) - ratio * problem.coupling(a, k);
            }
            drops.visit(a, other, {left, corr[b] - ratio * problem.corr[a], rest}, found);
            listener.after(8 * rest.size);
        }
    }
    Matrix<Index> pairs(close.size() / 2, 2);
    std::copy(close.begin(), close.end(), pairs.data);
    auto [added, dropped, gains] = found.finish();
    return {first + i, std::move(pairs), std::move(added), std::move(dropped), std::move(gains)};
}

// The same for pairs of candidates of which what is left of the second beside the first was worked out elsewhere.
inline std::tuple<Matrix<Index>, Matrix<Index>, Vector<double>> find_close(
    ProblemArrays problem_arrays, exchanges::CircuitArrays circuit_arrays, Mat<const Index> pairs, Numbers sigma,
    Numbers corr, Table coupling, Index most, double least) {
    const auto problem = record_of<Problem>(problem_arrays);
    const auto circuits = record_of<exchanges::Circuits>(circuit_arrays);
    PairDrops drops(problem, circuits, most, least);
    Found found(most);
    Listener listener;
    for (Index k = 0; k < pairs.rows; ++k) {
        drops.visit(pairs(k, 0), pairs(k, 1), {sigma[k], corr[k], coupling[k]}, found);
        listener.after(8 * problem.inverse.rows);
    }
    return found.finish();
}

}  // namespace swapwise::pairs
