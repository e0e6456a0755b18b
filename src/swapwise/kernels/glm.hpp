// Newton refits of generalised linear models, and the values that moves would lead to.
//
// u(θ) = Σ_s ω_s ℓ(y_s, η_s) − Σ_k ρ_k ‖θ_k‖²/2 with the linear predictor η = offset + θᵀ columns. Columns
// are rows of an array, so that the samples of one lie side by side. θ has one row per column and, in
// multinomial models, several numbers per row, so η has as many for each sample (levels).
#pragma once

#include <cmath>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "box.hpp"
#include "definite.hpp"
#include "families.hpp"
#include "grams.hpp"
#include "listening.hpp"
#include "products.hpp"

namespace swapwise::glm {

using box::Bounds;
using families::Family;

// What a step must keep of the rise that its slope predicts.
inline constexpr double ARMIJO = 1e-4;

inline constexpr Index HALVINGS = 40;

// A step that predicts so little, in units of the tolerance, is late: near a maximum, if there is one.
inline constexpr double LATE = 1e6;

// A refit that may miss more than this, in units of the tolerance, did not converge.
inline constexpr double UNCONVERGED = 1e3;

// The samples of a model: what there is to explain.
struct Samples {
    Family family;
    Table offset;
    Numbers target, weight;
    Table basis;

    Index size() const { return offset.columns; }
    Index levels() const { return offset.rows; }
};

// When refits begin afresh, and when they end: also where it is proven that they would end below `wanted`.
struct Limits {
    Numbers alone;
    double least, tol;
    Index max_steps;
    double wanted = -INFINITE;
};

struct Fit {
    double value = 0.0;
    bool converged = false;
    double late = 0.0;
};

// Newton's method on one model after the other, with room for the largest. Parameters are in one vector,
// level by level.
class Newton {
  public:
    Newton(const Samples &samples, const Limits &limits, Index most)
        : _samples(samples),
          _limits(limits),
          _slope(samples.levels(), samples.size()),
          _eta(samples.levels(), samples.size()),
          _moved(samples.levels(), samples.size()),
          _change(samples.levels(), samples.size()),
          _curve(samples.levels(), samples.levels(), samples.size()),
          _grams(most) {}

    // Move θ to the maximum, of those within bounds if there are any: then it begins within them, and has one
    // level.
    Fit fit(Table columns, Numbers ridge, Vec<double> theta, Bounds bounds) {
        const double tol = _limits.tol;
        Fit fit;
        Vector<double> trial(theta.size);
        fit.value = look(columns, theta) - penalty(ridge, theta);
        if (!(fit.value >= _limits.least)) {
            begin_afresh(theta);
            fit.value = look(columns, theta);
        }
        fit.converged = theta.size == 0;
        for (Index number = 0; number < _limits.max_steps && theta.size > 0; ++number) {
            raise_if_interrupted();
            const Step step = next(columns, ridge, theta, bounds);
            if (!(step.decrement > 0.0)) {
                fit.converged = !step.is_steep;  // a slope without curvature leads nowhere
                break;
            }
            for (Index a = 0; a < _samples.levels(); ++a) {
                _change[a].fill(0.0);
                products::add_combination(columns, of_level(step.direction, a), _change[a]);
            }
            if (is_below_wanted(fit.value, step)) return {-INFINITE, true, fit.late};
            double length = 1.0, ahead = -INFINITE;
            for (Index halving = 0; halving < HALVINGS; ++halving) {
                for (Index k = 0; k < theta.size; ++k) trial[k] = theta[k] + length * step.direction[k];
                if (bounds) keep_within(bounds, theta, step.direction, length, trial);
                move(length);
                ahead = derivatives(_moved) - penalty(ridge, trial);
                if (ahead >= fit.value + ARMIJO * length * step.decrement || step.decrement < tol) break;
                length /= 2;
            }
            if (!(ahead > fit.value) && step.decrement >= tol) {  // nothing is left but rounding
                fit.converged = std::max(step.decrement, step.missed) < UNCONVERGED * tol;
                break;
            }
            if (step.decrement < LATE * tol) fit.late = std::max(fit.late, length * longest_change());
            // The last step is below what values can show, but not below what coefficients can. Where nothing
            // curves but the penalty, it leads far back, and is not taken.
            if (ahead >= fit.value - UNCONVERGED * tol) {
                theta.copy(trial);
                std::swap(_eta, _moved);
            }
            fit.value = std::max(fit.value, ahead);
            if (step.decrement < tol) {
                fit.converged = step.missed < UNCONVERGED * tol;
                break;
            }
        }
        return fit;
    }

  private:
    // A step, the rise by its slope, the part of that which bounds hold back, the rise that it misses, and
    // whether there is a slope
    struct Step {
        Vector<double> direction;
        double decrement, held_back, missed;
        bool is_steep;
    };

    // A whole step to a bound ends there, whatever rounding says.
    static void keep_within(Bounds bounds, Numbers theta, Numbers step, double length, Vec<double> trial) {
        for (Index k = 0; k < trial.size; ++k) {
            const bool up = step[k] == bounds.upper[k] - theta[k], down = step[k] == bounds.lower[k] - theta[k];
            if (length == 1.0 && (up || down)) trial[k] = up ? bounds.upper[k] : bounds.lower[k];
            trial[k] = std::min(std::max(trial[k], bounds.lower[k]), bounds.upper[k]);
        }
    }

    template <class T>
    Vec<T> of_level(Vec<T> parameters, Index level) const {
        const Index m = parameters.size / _samples.levels();
        return parameters.slice(level * m, (level + 1) * m);
    }

    // The log-likelihood at a linear predictor; its derivatives are kept.
    double derivatives(Table eta) {
        return families::derivatives(_samples.family, eta, _samples.target, _samples.weight, _samples.basis,
                                     _slope, _curve);
    }

    // The log-likelihood at parameters
    double look(Table columns, Numbers theta) {
        for (Index a = 0; a < _samples.levels(); ++a) {
            _eta[a].copy(_samples.offset[a]);
            products::add_combination(columns, of_level(theta, a), _eta[a]);
        }
        return derivatives(_eta);
    }

    // No coefficients but those of the last row
    void begin_afresh(Vec<double> theta) {
        theta.fill(0.0);
        for (Index a = 0; a < _samples.levels() && theta.size > 0; ++a) {
            const Vec<double> own = of_level(theta, a);
            own[own.size - 1] = _limits.alone[a];
        }
    }

    double penalty(Numbers ridge, Numbers theta) const {
        double total = 0.0;
        for (Index a = 0; a < _samples.levels(); ++a) {
            const Numbers own = of_level(theta, a);
            for (Index k = 0; k < own.size; ++k) total += ridge[k] * own[k] * own[k] / 2;
        }
        return total;
    }

    Step next(Table columns, Numbers ridge, Numbers theta, Bounds bounds) {
        const Index m = columns.rows, size = theta.size;
        Vector<double> gradient(size);
        Matrix<double> hessian(size, size);
        _grams.write(columns, _curve, hessian);
        for (Index a = 0; a < _samples.levels(); ++a) {
            products::write_dots(columns, _slope[a], of_level(gradient, a));
            for (Index k = 0; k < m; ++k) {
                const Index place = a * m + k;
                gradient[place] -= ridge[k] * theta[place];
                hessian(place, place) += ridge[k];
            }
        }
        if (bounds) return within(bounds, hessian, gradient, theta);
        auto [direction, missed] = definite_solution(hessian, gradient);
        const double decrement = products::dot(direction, gradient);
        const auto is_slope = [](double each) { return each != 0.0; };
        const bool is_steep = std::any_of(gradient.begin(), gradient.end(), is_slope);
        return {std::move(direction), decrement, 0.0, missed, is_steep};
    }

    // The step to the maximum of the second-order model within bounds
    Step within(Bounds bounds, Table hessian, Numbers gradient, Numbers theta) const {
        const Index size = theta.size;
        Vector<double> lower(size), upper(size);
        bool is_steep = false;
        for (Index k = 0; k < size; ++k) {
            lower[k] = bounds.lower[k] - theta[k];
            upper[k] = bounds.upper[k] - theta[k];
            is_steep = is_steep || (gradient[k] < 0.0 && lower[k] < 0.0) || (gradient[k] > 0.0 && upper[k] > 0.0);
        }
        auto [direction, missed] = box::maximum(hessian, gradient, lower, upper);
        double curved = 0.0;
        for (Index k = 0; k < size; ++k) {
            curved += hessian(k, k) * direction[k] * direction[k];
            for (Index l = 0; l < k; ++l) curved += 2.0 * hessian(k, l) * direction[k] * direction[l];
        }
        const double decrement = products::dot(direction, gradient);
        return {std::move(direction), decrement, std::max(0.0, decrement - curved), missed, is_steep};
    }

    // Whether the maximum is below what is wanted. A step that changes no η by more than ζ < 1 predicts at least
    // 1 − ζ of all that can be gained: see `AdditionBounds` in objectives/glm/second_order.py. Where bounds hold a
    // step back, so they do the maximum, and the slope there is the price of that.
    bool is_below_wanted(double value, const Step &step) const {
        if (_samples.levels() > 1 || step.missed > _limits.tol || value >= _limits.wanted) return false;
        const double zeta = longest_change();
        const double gained = (step.decrement - step.held_back) / 2 / (1.0 - zeta) + step.held_back;
        return zeta < 1.0 && value + gained < _limits.wanted;
    }

    void move(double length) {
        for (Index a = 0; a < _samples.levels(); ++a) {
            const Vec<double> from = _eta[a], change = _change[a], to = _moved[a];
#pragma omp simd
            for (Index s = 0; s < to.size; ++s) to[s] = from[s] + length * change[s];
        }
    }

    double longest_change() const {
        double longest = 0.0;
        for (Index a = 0; a < _change.rows; ++a) {
            const Vec<double> change = _change[a];
#pragma omp simd reduction(max : longest)
            for (Index s = 0; s < change.size; ++s) longest = std::max(longest, std::abs(change[s]));
        }
        return longest;
    }

    const Samples &_samples;
    const Limits &_limits;
    Matrix<double> _slope, _eta, _moved, _change;
    Block<double> _curve;
    grams::Grams _grams;
};

// Move θ to the maximum; return the value, whether it was reached, and the longest of the late steps.
//
// `tol` is the rise, still to be had after the last step, at which a refit ends. Steps are measured by the
// largest change of η: next to nothing near a maximum, about 1 on the way to one that is infinitely far. A θ
// of a value below `least` is given up for no coefficients but `alone` in the last row. A refit that is
// interrupted leaves θ as it was. Bounds are one number per row of θ, which has one level and is within them, or
// none at all.
inline std::tuple<double, bool, double> refit_within(Family family, Table columns, Table offset,
                                                     Numbers target, Numbers weight, Table basis,
                                                     Numbers ridge, Mat<double> theta, Numbers alone,
                                                     double least, double tol, Index max_steps,
                                                     std::tuple<Numbers, Numbers> bounds) {
    const Samples samples{family, offset, target, weight, basis};
    const Limits limits{alone, least, tol, max_steps};
    const Index m = theta.rows;
    Vector<double> parameters(m * theta.columns);
    for (Index k = 0; k < m; ++k) {
        for (Index a = 0; a < theta.columns; ++a) parameters[a * m + k] = theta(k, a);
    }
    const Fit fit = Newton(samples, limits, m).fit(columns, ridge, parameters, record_of<Bounds>(bounds));
    for (Index k = 0; k < m; ++k) {
        for (Index a = 0; a < theta.columns; ++a) theta(k, a) = parameters[a * m + k];
    }
    return {fit.value, fit.converged, fit.late};
}

// The same without bounds.
inline std::tuple<double, bool, double> refit(Family family, Table columns, Table offset, Numbers target,
                                              Numbers weight, Table basis, Numbers ridge, Mat<double> theta,
                                              Numbers alone, double least, double tol, Index max_steps) {
    return refit_within(family, columns, offset, target, weight, basis, ridge, theta, alone, least, tol,
                        max_steps, {});
}

// Columns of elements: those of an element are members[begin[element]] to members[begin[element + 1]].
struct Columns {
    Table columns;
    Indices begin, members;
    Numbers ridge;
    Bounds bounds;

    Index count(Index element) const { return begin[element + 1] - begin[element]; }
    Indices of(Index element) const { return members.slice(begin[element], begin[element + 1]); }
};

// One model after the other, with room for the largest: columns, and where a refit begins.
class Model {
  public:
    Model(const Columns &from, Index most, Index samples, Index levels)
        : _from(from),
          _columns(most, samples),
          _coef(most, levels),
          _ridge(most),
          _lower(most),
          _upper(most),
          _parameters(most * levels) {}

    // Begin with the elements of a support that are not dropped, and with their coefficients.
    void begin(Indices support, Indices dropped, Table theta) {
        _size = 0;
        Index place = 0;
        for (Index element : support) {
            const Indices own = _from.of(element);
            const bool stays = std::find(dropped.begin(), dropped.end(), element) == dropped.end();
            for (Index k = 0; stays && k < own.size; ++k) {
                _coef[_size].copy(theta[place + k]);
                take(own[k]);
            }
            place += own.size;
        }
    }

    // Add elements, without coefficients so far.
    void add(Indices elements) {
        for (Index element : elements) {
            if (element < 0) continue;
            for (Index member : _from.of(element)) {
                _coef[_size].fill(0.0);
                take(member);
            }
        }
    }

    void add_intercept(Numbers coef) {
        _columns[_size].fill(1.0);
        _ridge[_size] = 0.0;
        _lower[_size] = -INFINITE;
        _upper[_size] = INFINITE;
        _coef[_size++].copy(coef);
    }

    Fit fit(Newton &newton) {
        const Index levels = _coef.columns;
        for (Index a = 0; a < levels; ++a) {
            for (Index k = 0; k < _size; ++k) _parameters[a * _size + k] = _coef(k, a);
        }
        const Index bounded = _from.bounds ? _size : 0;
        return newton.fit(_columns.slice(0, _size), _ridge.slice(0, _size),
                          _parameters.slice(0, _size * levels),
                          {_lower.slice(0, bounded), _upper.slice(0, bounded)});
    }

  private:
    void take(Index member) {
        _columns[_size].copy(_from.columns[member]);
        if (_from.bounds) {
            _lower[_size] = _from.bounds.lower[member];
            _upper[_size] = _from.bounds.upper[member];
        }
        _ridge[_size++] = _from.ridge[member];
    }

    const Columns &_from;
    Matrix<double> _columns, _coef;
    Vector<double> _ridge, _lower, _upper, _parameters;
    Index _size = 0;
};

// Return the value after each move, refitted from what stays, and whether it was reached; minus infinity where
// it is proven to be below `wanted`.
// Bounds are one number per column, or none at all.
inline std::tuple<Vector<double>, Vector<bool>> values_within(
    Family family, std::tuple<Table, Indices, Indices, Numbers> data,
    std::tuple<Table, Numbers, Numbers, Table> sample, bool with_intercept, Indices support, Table theta,
    Numbers alone, double least, Mat<const Index> added, Mat<const Index> dropped, double tol,
    Index max_steps, double wanted, std::tuple<Numbers, Numbers> bounds) {
    const auto [columns, begin, members, ridge] = data;
    const Columns from{columns, begin, members, ridge, record_of<Bounds>(bounds)};
    const auto [offset, target, weight, basis] = sample;
    const Samples samples{family, offset, target, weight, basis};
    const Limits limits{alone, least, tol, max_steps, wanted};
    Index widest = 0;
    for (Index element = 0; element + 1 < from.begin.size; ++element) {
        widest = std::max(widest, from.count(element));
    }
    const Index most = theta.rows + widest * added.columns;  // columns after a move
    Newton newton(samples, limits, most);
    Model model(from, most, samples.size(), theta.columns);
    Vector<double> values(added.rows);
    Vector<bool> converged(added.rows);
    for (Index move = 0; move < added.rows; ++move) {
        raise_if_interrupted();
        model.begin(support, dropped[move], theta);
        model.add(added[move]);
        if (with_intercept) model.add_intercept(theta[theta.rows - 1]);
        const Fit fit = model.fit(newton);
        values[move] = fit.value;
        converged[move] = fit.converged;
    }
    return {std::move(values), std::move(converged)};
}

// The same without bounds.
inline std::tuple<Vector<double>, Vector<bool>> values_after(
    Family family, std::tuple<Table, Indices, Indices, Numbers> data,
    std::tuple<Table, Numbers, Numbers, Table> sample, bool with_intercept, Indices support, Table theta,
    Numbers alone, double least, Mat<const Index> added, Mat<const Index> dropped, double tol,
    Index max_steps, double wanted) {
    return values_within(family, data, sample, with_intercept, support, theta, alone, least, added, dropped,
                         tol, max_steps, wanted, {});
}

}  // namespace swapwise::glm
