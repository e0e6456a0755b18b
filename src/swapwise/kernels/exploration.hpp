// The best of many local optima of least squares, found in single precision.
//
// Few columns are candidates at a time. A search among them ends in a local optimum; what would improve that,
// of all columns, becomes a candidate, and the search goes on. Then the best local optimum is perturbed, again
// and again: a part of it is dropped, and searched for what completes it best. What would improve the local
// optima that this leads to becomes a candidate, too.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "listening.hpp"
#include "nested.hpp"
#include "quick.hpp"

namespace swapwise::exploration {

using Set = std::vector<Index>;

// Where inner products of columns of length 1 come from.
class Source {
  public:
    virtual ~Source() = default;
    // How many numbers a column has.
    virtual Index samples() const = 0;
    // Products of some columns with all.
    virtual void with_all(Indices elements, Mat<float> products) = 0;
    // Products of some columns with others.
    virtual void with_others(Indices elements, Indices others, Mat<float> products) = 0;
};

// All columns are candidates if there are no more of them than this; or twice as many as would be, up to
// MOST_CANDIDATES.
inline constexpr Index FEW = 100;

// A column that would improve a set has to gain this much: more than rounding.
inline constexpr float LEAST_GAIN = 2e-7f;

// Products with all columns are kept for this many columns per choice; of more entries than these, for the larger
// of two per choice and a share of the samples.
inline constexpr Index ROWS_PER_CHOICE = 30, FEWEST_ROWS = 64, MANY_ENTRIES = 1 << 21, ONE_IN = 10;

// Of so many local optima that perturbations lead to, the best is looked at for what would improve it.
inline constexpr Index AT_ONCE = 16;

// Before a local optimum is perturbed, about this many columns that come closest to improving it become
// candidates, for as long as there are no more than these, or than so many bases.
inline constexpr Index CLOSE = 80, MOST_CANDIDATES = 400, MOST_BASES = 12;

class Exploration {
  public:
    Exploration(std::shared_ptr<Source> source, Vec<const float> with_y, const nested::Limits &limits, Flags fixed,
                Index rank)
        : _source(std::move(source)),
          _with_y(copied(with_y)),
          _leaf(copied(limits.leaf)),
          _end(copied(limits.end)),
          _parent(copied(limits.parent)),
          _capacity(copied(limits.capacity)),
          _at_least(copied(limits.at_least)),
          _fixed(copied(fixed)),
          _rank(std::max<Index>(rank, 1)),
          _place(Vector<Index>::filled(-1, with_y.size)),
          _row_of(Vector<Index>::filled(-1, with_y.size)),
          _rows(most_rows(), with_y.size),
          _gains(with_y.size),
          _whole{_rows, _row_of, _with_y, {_leaf, _end, _parent, _capacity, _at_least}, _fixed},
          _scan(_whole, _rank) {}

    Index n() const { return _with_y.size; }
    const Set &candidates() const { return _candidates; }
    double work() const { return _work; }

    // Let more columns be candidates; they must not be among them already.
    void join(const Set &elements) {
        const Index known = static_cast<Index>(_candidates.size()), more = static_cast<Index>(elements.size());
        const Index m = known + more;
        for (Index i = 0; i < more; ++i) _place[elements[i]] = known + i;
        _candidates.insert(_candidates.end(), elements.begin(), elements.end());
        Matrix<float> gram(m, m);
        for (Index i = 0; i < known; ++i) std::copy_n((*_gram)[i].begin(), known, gram[i].begin());
        _source->with_others(view(elements), view(_candidates), gram.slice(known, m));
        for (Index i = known; i < m; ++i) {
            for (Index j = 0; j < known; ++j) gram(j, i) = gram(i, j);
            gram(i, i) = 1.0f;  // penalties count as length
        }
        _gram.emplace(std::move(gram));
        _own.emplace(m);
        _few_leaf.emplace(m);
        _few_with_y.emplace(m);
        _few_fixed.emplace(m);
        for (Index i = 0; i < m; ++i) {
            (*_own)[i] = i;
            (*_few_leaf)[i] = _leaf[_candidates[i]];
            (*_few_with_y)[i] = _with_y[_candidates[i]];
            (*_few_fixed)[i] = _fixed[_candidates[i]];
        }
        const nested::Limits limits{*_few_leaf, _end, _parent, _capacity, _at_least};
        _few.emplace(quick::Model{*_gram, *_own, *_few_with_y, limits, *_few_fixed});
        _search.emplace(*_few, _rank);
        _work += WORK_PER_PRODUCT * static_cast<double>(_source->samples()) * m * more;
    }

    // Begin with disjoint bases of columns that explain most alone, or with all if there are few.
    void begin(Index bases) {
        Set first;
        Vector<float> weights(n());
        const bool are_few = n() <= std::max(FEW, std::min(MOST_CANDIDATES, 2 * bases * _rank));
        for (Index j = 0; j < n(); ++j) {
            if (are_few || _fixed[j]) first.push_back(j);
            weights[j] = are_few || _fixed[j] ? 0.0f : _with_y[j] * _with_y[j];
        }
        const Set best = nested::heaviest_bases<float>(weights, _whole.limits, _rank, bases);
        first.insert(first.end(), best.begin(), best.end());
        if (!first.empty()) join(first);
    }

    // Let those of some columns become candidates that are none yet.
    void join_new(const Set &set) {
        Set strangers;
        for (Index element : set) {
            if (_place[element] < 0) strangers.push_back(element);
        }
        if (!strangers.empty()) join(strangers);
    }

    // Search among the candidates, and let what would improve the answer become one: the set, its value, and
    // whether there was nothing, so that the set is a local optimum of all columns.
    std::tuple<Set, double, bool> search_once(const Set &start) {
        raise_if_interrupted();
        join_new(start);
        if (_candidates.empty()) return {start, 0.0, true};  // no column explains anything
        search_from(start, Flags());
        Set set = found();
        const double value = _search->value();
        _seen.insert(set);
        return {set, value, !takes_in(set)};
    }

    // Perturb a local optimum until that leads to a better one, or fails often enough.
    std::optional<std::pair<Set, double>> better(const Set &best, double value, Index most_failures,
                                                 double most_work) {
        if (best.empty()) return std::nullopt;
        join_new(best);
        if (_widened != best) {
            const double before = _work;
            widen(best);
            // The first time is free: else little data would leave nothing for the perturbations themselves.
            if (_widened.empty()) _work = before;
            _widened = best;
        }
        for (Index failures = 0; failures < most_failures && _work < most_work;) {
            raise_if_interrupted();
            Set next;
            double reached = -INFINITE;
            for (Index turn = 0; turn < AT_ONCE && reached <= value + quick::LEAST_GAIN; ++turn, ++failures) {
                leave(best);
                Set set = found();
                if (_search->value() <= reached || _seen.count(set) > 0) continue;
                reached = _search->value();
                next = std::move(set);
            }
            if (next.empty()) continue;
            if (reached <= value + quick::LEAST_GAIN) {
                if (!_seen.insert(next).second || !takes_in(next)) continue;
                search_from(next, Flags());
                next = found();
                reached = _search->value();
            }
            if (reached > value + quick::LEAST_GAIN) return settle(next);
        }
        return std::nullopt;
    }

  private:
    // The local optimum of all columns that a search from a set leads to, with its value.
    std::pair<Set, double> settle(Set set) {
        for (;;) {
            auto [next, value, is_settled] = search_once(set);
            if (is_settled) return {std::move(next), value};
            set = std::move(next);
        }
    }

    // A product of two numbers in a product of matrices costs this share of an update of a tableau.
    static constexpr double WORK_PER_PRODUCT = 0.16;

    Index most_rows() const {
        const Index samples = _source->samples();
        const bool are_many = samples * n() > MANY_ENTRIES;
        const Index rows = are_many ? std::max(2 * _rank, samples / ONE_IN) : ROWS_PER_CHOICE * _rank;
        return std::min(n(), std::max(rows, FEWEST_ROWS));
    }

    template <class T>
    static Vector<std::remove_const_t<T>> copied(Vec<T> from) {
        Vector<std::remove_const_t<T>> to(from.size);
        std::copy(from.begin(), from.end(), to.begin());
        return to;
    }
    static Indices view(const Set &set) { return {set.data(), static_cast<Index>(set.size())}; }

    // Drop a part of a set, and search for what completes the rest best. What was dropped does not come in until
    // the set is full.
    void leave(const Set &best) {
        auto barred = Vector<bool>::filled(false, static_cast<Index>(_candidates.size()));
        Set kept;
        const double share = quick::dropped_share(uniform());
        for (Index element : best) {
            const bool goes = !_fixed[element] && uniform() < share;
            barred[_place[element]] = goes;
            if (!goes) kept.push_back(element);
        }
        search_from(kept, barred);
    }

    double uniform() { return static_cast<double>(_random() >> 11) * 0x1.0p-53; }

    // Search among the candidates; what is barred does not come in until the set is full.
    void search_from(const Set &set, Flags barred) {
        Set places;
        for (Index element : set) places.push_back(_place[element]);
        const Index before = _search->work();
        _search->go_to(places);
        _search->grow(barred);
        _search->search();
        _work += static_cast<double>(_search->work() - before);
    }

    // The set where the last search ended, sorted.
    Set found() const {
        Set set;
        for (Index place : _search->elements()) set.push_back(_candidates[place]);
        std::sort(set.begin(), set.end());
        return set;
    }

    // Let what would improve a set become a candidate; return whether there is anything.
    bool takes_in(const Set &set) {
        if (static_cast<Index>(_candidates.size()) == n()) return false;
        scan(set);
        for (float &gain : _gains) gain = gain > LEAST_GAIN ? gain : 0.0f;
        return join_heaviest(1);
    }

    // Let what comes closest to improving a set become a candidate.
    void widen(const Set &set) {
        const Index room = std::max(MOST_CANDIDATES, MOST_BASES * _rank) - static_cast<Index>(_candidates.size());
        if (room < _rank || static_cast<Index>(_candidates.size()) == n()) return;
        scan(set);
        for (float &gain : _gains) gain = std::max(0.0f, gain + 1.0f);  // nothing loses more than all
        join_heaviest(std::min(std::max<Index>(1, CLOSE / _rank), room / _rank));
    }

    // Find the gain of the best move that adds each column to a set.
    void scan(const Set &set) {
        know(set);
        _scan.go_to(set);
        _gains.fill(-1.0f);
        _scan.raise(_gains);
        const auto size = static_cast<double>(set.size());
        _work += static_cast<double>(n()) * size * (WORK_PER_PRODUCT * size + 0.5);
    }

    bool join_heaviest(Index bases) {
        for (Index element : _candidates) _gains[element] = 0.0f;
        const Set new_ones = nested::heaviest_bases<float>(_gains, _whole.limits, _rank, bases);
        if (!new_ones.empty()) join(new_ones);
        return !new_ones.empty();
    }

    // See that the products of a set with all columns are there.
    void know(const Set &set) {
        Set missing;
        for (Index element : set) {
            if (_row_of[element] < 0) missing.push_back(element);
        }
        if (missing.empty()) return;
        if (_used + static_cast<Index>(missing.size()) > _rows.rows) {  // forget them, and start over
            _row_of.fill(-1);
            _used = 0;
            missing = set;
        }
        const Index more = static_cast<Index>(missing.size());
        _source->with_all(view(missing), _rows.slice(_used, _used + more));
        for (Index i = 0; i < more; ++i) {
            _row_of[missing[i]] = _used + i;
            _rows(_used + i, missing[i]) = 1.0f;
        }
        _used += more;
        _work += WORK_PER_PRODUCT * static_cast<double>(_source->samples()) * n() * more;
    }

    std::shared_ptr<Source> _source;
    Vector<float> _with_y;
    Vector<Index> _leaf, _end, _parent, _capacity, _at_least;
    Vector<bool> _fixed;
    Index _rank, _used = 0;
    double _work = 0.0;
    Set _candidates;
    Vector<Index> _place, _row_of;
    Matrix<float> _rows;
    Vector<float> _gains;
    quick::Model _whole;
    quick::Tableau _scan;
    // The candidates alone
    std::optional<Matrix<float>> _gram;
    std::optional<Vector<Index>> _own, _few_leaf;
    std::optional<Vector<float>> _few_with_y;
    std::optional<Vector<bool>> _few_fixed;
    std::optional<quick::Model> _few;
    std::optional<quick::Tableau> _search;
    std::set<Set> _seen;
    Set _widened;
    std::mt19937_64 _random{0};
};

}  // namespace swapwise::exploration
