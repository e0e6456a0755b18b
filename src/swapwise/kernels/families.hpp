// The likelihood families: value, slope and curvature of each sample in its linear predictor.
//
// A family is known by its number and one parameter. To add one, write a function of the samples and name it
// in `derivatives`; for proven bounds, say in `divergences` how far an outcome is from a prediction.
#pragma once

#include <cmath>
#include <stdexcept>
#include <tuple>

#include "arrays.hpp"
#include "exponentials.hpp"
#include "listening.hpp"

namespace swapwise::families {

inline constexpr Index LOGISTIC = 1, POISSON = 2, MULTINOMIAL = 3, GAMMA = 4, NEGATIVE_BINOMIAL = 5;

using Family = std::tuple<Index, double>;

// What is divided by where an outcome would be negative: what comes out is larger than any value, and finite.
inline constexpr double NOTHING_LEFT = 1e-200;

// A mean that is too small for floating point still is not nothing: no outcome may be negative.
inline constexpr double LEAST_MEAN = std::numeric_limits<double>::min();

// Exponentials are cut off before they leave floating point, which they do at 709.
ALWAYS_INLINE double cut_off(double exponent) {
    return exponent > LARGEST_EXPONENT ? LARGEST_EXPONENT : exponent;
}

inline double logistic(Numbers eta, Numbers target, Numbers weight, Vec<double> slope, Vec<double> curve) {
    double value = 0.0;
#pragma omp simd reduction(+ : value)
    for (Index s = 0; s < target.size; ++s) {
        const double x = eta[s], y = target[s], w = weight[s];
        const double small = exponential(-std::abs(x));
        const double likely = 1.0 / (1.0 + small), unlikely = small * likely;
        // Where the target is 1, q = 1 − p is all that counts, and it must not come from a rounded p.
        const double p = x >= 0.0 ? likely : unlikely, q = x >= 0.0 ? unlikely : likely;
        value += w * (y * x - (x > 0.0 ? x : 0.0) - log_1p_of_fraction(small));
        slope[s] = w * (y * q - (1.0 - y) * p);
        curve[s] = w * unlikely * likely;
    }
    return value;
}

inline double poisson(Numbers eta, Numbers target, Numbers weight, Vec<double> slope, Vec<double> curve) {
    double value = 0.0;
#pragma omp simd reduction(+ : value)
    for (Index s = 0; s < target.size; ++s) {
        const double mean = exponential(cut_off(eta[s]));
        value += weight[s] * (target[s] * eta[s] - mean);
        slope[s] = weight[s] * (target[s] - mean);
        curve[s] = weight[s] * mean;
    }
    return value;
}

inline double gamma(Numbers eta, Numbers target, Numbers weight, Vec<double> slope, Vec<double> curve) {
    double value = 0.0;
#pragma omp simd reduction(+ : value)
    for (Index s = 0; s < target.size; ++s) {
        const double ratio = target[s] * exponential(cut_off(-eta[s]));
        value -= weight[s] * (ratio + eta[s]);
        slope[s] = weight[s] * (ratio - 1.0);
        curve[s] = weight[s] * ratio;
    }
    return value;
}

// A logistic likelihood of target + 1/alpha trials, at the log-odds η + log alpha.
inline double negative_binomial(Numbers eta, Numbers target, Numbers weight, double alpha, Vec<double> slope,
                                Vec<double> curve) {
    const double shift = std::log(alpha);
    double value = 0.0;
#pragma omp simd reduction(+ : value)
    for (Index s = 0; s < target.size; ++s) {
        const double y = target[s], w = weight[s], trials = y + 1.0 / alpha, odds = eta[s] + shift;
        const double small = exponential(-std::abs(odds));
        const double likely = 1.0 / (1.0 + small), unlikely = small * likely;
        const double p = odds >= 0.0 ? likely : unlikely, q = odds >= 0.0 ? unlikely : likely;
        value += w * (y * eta[s] - trials * ((odds > 0.0 ? odds : 0.0) + log_1p_of_fraction(small)));
        slope[s] = w * (y * q - p / alpha);
        curve[s] = w * trials * unlikely * likely;
    }
    return value;
}

// out += factor · values
inline void add(Vec<double> out, double factor, Numbers values) {
#pragma omp simd
    for (Index s = 0; s < out.size; ++s) out[s] += factor * values[s];
}

// Return the log-likelihood of classes, and write the probability of each, classes by samples.
//
// Scores of the K classes are `basis @ η`, so that they sum to zero over the classes. Loops run over the
// samples, so that several are computed at a time.
inline double class_probabilities(Table eta, Numbers target, Numbers weight, Table basis, Mat<double> p) {
    const Index samples = target.size;
    auto top = Vector<double>::filled(-INFINITE, samples), total = Vector<double>::filled(0.0, samples);
    for (Index k = 0; k < basis.rows; ++k) {
        const Vec<double> own = p[k];
        own.fill(0.0);
        for (Index a = 0; a < basis.columns; ++a) add(own, basis(k, a), eta[a]);
#pragma omp simd
        for (Index s = 0; s < samples; ++s) top[s] = own[s] > top[s] ? own[s] : top[s];
    }
    Vector<double> above(samples);
    for (Index s = 0; s < samples; ++s) above[s] = p(static_cast<Index>(target[s]), s) - top[s];
    for (Index k = 0; k < basis.rows; ++k) {
        const Vec<double> own = p[k];
#pragma omp simd
        for (Index s = 0; s < samples; ++s) {
            own[s] = exponential(own[s] - top[s]);
            total[s] += own[s];
        }
    }
    double value = 0.0;
#pragma omp simd reduction(+ : value)
    for (Index s = 0; s < samples; ++s) value += weight[s] * (above[s] - log_1p(total[s] - 1.0));
    for (Index k = 0; k < basis.rows; ++k) {
        const Vec<double> own = p[k];
#pragma omp simd
        for (Index s = 0; s < samples; ++s) own[s] /= total[s];
    }
    return value;
}

// Write mean levels and their products under the probabilities first, and derivatives in their place.
inline double multinomial(Table eta, Numbers target, Numbers weight, Table basis, Mat<double> slope,
                          Cube<double> curve) {
    const Index samples = target.size, levels = basis.columns;
    Matrix<double> p(basis.rows, samples);
    const double value = class_probabilities(eta, target, weight, basis, p);
    for (Index a = 0; a < levels; ++a) {
        raise_if_interrupted();
        slope[a].fill(0.0);
        for (Index k = 0; k < basis.rows; ++k) add(slope[a], basis(k, a), p[k]);
        for (Index b = a; b < levels; ++b) {
            const Vec<double> product = curve[a][b];
            product.fill(0.0);
            for (Index k = 0; k < basis.rows; ++k) {
                const double factor = basis(k, a) * basis(k, b);
                if (factor != 0.0) add(product, factor, p[k]);  // half of them are not
            }
        }
    }
    for (Index a = 0; a < levels; ++a) {
        for (Index b = a; b < levels; ++b) {
            const Vec<double> product = curve[a][b], first = slope[a], second = slope[b];
#pragma omp simd
            for (Index s = 0; s < samples; ++s) product[s] = weight[s] * (product[s] - first[s] * second[s]);
        }
    }
    for (Index a = 0; a < levels; ++a) {
        const Vec<double> mean = slope[a];
        for (Index s = 0; s < samples; ++s) {
            mean[s] = weight[s] * (basis(static_cast<Index>(target[s]), a) - mean[s]);
        }
    }
    return value;
}

// Return the log-likelihood; write its slope in η and minus its curvature (upper half, by levels).
inline double derivatives(Family family, Table eta, Numbers target, Numbers weight, Table basis,
                          Mat<double> slope, Cube<double> curve) {
    const auto [number, parameter] = family;
    switch (number) {
        case LOGISTIC: return logistic(eta[0], target, weight, slope[0], curve[0][0]);
        case POISSON: return poisson(eta[0], target, weight, slope[0], curve[0][0]);
        case GAMMA: return gamma(eta[0], target, weight, slope[0], curve[0][0]);
        case NEGATIVE_BINOMIAL:
            return negative_binomial(eta[0], target, weight, parameter, slope[0], curve[0][0]);
        case MULTINOMIAL: return multinomial(eta, target, weight, basis, slope, curve);
        default: throw std::invalid_argument("a family without a kernel");
    }
}

// How far the outcome (1 + z) m is from the prediction m, in units of m; infinitely far if it is negative.
ALWAYS_INLINE double divergence(double z) { return z <= -1.0 ? INFINITE : (1.0 + z) * log_1p(z) - z; }

inline void logistic_divergences(Numbers eta, Numbers weight, Table steps, Vec<double> total) {
    Vector<double> likely(eta.size), unlikely(eta.size);
#pragma omp simd
    for (Index s = 0; s < eta.size; ++s) {
        const double small = exponential(-std::abs(eta[s]));
        const double p = 1.0 / (1.0 + small), q = small / (1.0 + small);
        likely[s] = eta[s] < 0.0 ? q : p;
        unlikely[s] = eta[s] < 0.0 ? p : q;
    }
    for (Index row = 0; row < steps.rows; ++row) {
        raise_if_interrupted();
        const Numbers step = steps[row];
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (Index s = 0; s < eta.size; ++s) {
            const double p = likely[s], q = unlikely[s], up = q * step[s], down = -p * step[s];
            const double gap = p * (1.0 + up) * log_1p(up) + q * (1.0 + down) * log_1p(down);
            const double far = up <= -1.0 || down <= -1.0 ? INFINITE : gap;
            sum += weight[s] == 0.0 ? 0.0 : weight[s] * far;
        }
        total[row] = sum;
    }
}

// The sums of Σ share · divergence(sign · step), without samples that have no share.
inline void mean_divergences(Numbers share, double sign, Table steps, Vec<double> total) {
    for (Index row = 0; row < steps.rows; ++row) {
        raise_if_interrupted();
        const Numbers step = steps[row];
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (Index s = 0; s < share.size; ++s) {
            sum += share[s] > 0.0 ? share[s] * divergence(sign * step[s]) : 0.0;
        }
        total[row] = sum;
    }
}

// Return for every row z of steps how far the dual point of the step is from that of the prediction at η.
//
// With L the loss of a sample, L* its conjugate, r the slope of L at η and v its curvature, that is
// Σ_s ω_s [L*(r + v z) − L*(r) − η v z]; infinity where L* is.
inline Vector<double> divergences(Family family, Numbers eta, Numbers target, Numbers weight, Table steps) {
    const auto [number, parameter] = family;
    const Index samples = eta.size;
    Vector<double> total(steps.rows), share(samples);
    if (number == LOGISTIC) {
        logistic_divergences(eta, weight, steps, total);
    } else if (number == POISSON) {
        for (Index s = 0; s < samples; ++s) {
            const double mean = weight[s] * exponential(cut_off(eta[s]));
            share[s] = weight[s] > 0.0 ? std::max(mean, LEAST_MEAN) : 0.0;
        }
        mean_divergences(share, 1.0, steps, total);
    } else if (number == GAMMA) {
        for (Index s = 0; s < samples; ++s) share[s] = weight[s] * target[s] * exponential(cut_off(-eta[s]));
        mean_divergences(share, -1.0, steps, total);
    } else if (number == NEGATIVE_BINOMIAL) {
        Vector<double> odds(samples);
        const double shift = std::log(parameter);
        for (Index s = 0; s < samples; ++s) {
            odds[s] = eta[s] + shift;
            share[s] = weight[s] * (target[s] + 1.0 / parameter);
        }
        logistic_divergences(odds, share, steps, total);
    } else {
        throw std::invalid_argument("a family without a divergence");
    }
    return total;
}

// Return for classes how far the outcome p (1 + d) is from the prediction p at most.
//
// `outcomes` are the predicted p, classes by samples; rows of `steps` are steps of the linear predictor,
// levels by samples, and `basis` turns these into scores. d is the step in scores less its mean under p.
//
// (1 + d) log(1 + d) − d is bounded by its series, cut off after the fourth power: the next term is negative
// for positive d. For negative d all terms are positive, and the rest is less than a geometric series. It is
// beyond all bounds where an outcome would be negative. Loops run over the samples, so that several are
// computed at a time.
inline Vector<double> class_divergences(Table outcomes, Numbers weight, Table basis,
                                        Cube<const double> steps) {
    const Index samples = weight.size;
    Vector<double> total(steps.depth), mean(samples);
    Matrix<double> scores(basis.rows, samples);
    for (Index row = 0; row < steps.depth; ++row) {
        raise_if_interrupted();
        mean.fill(0.0);
        for (Index k = 0; k < basis.rows; ++k) {
            const Vec<double> own = scores[k];
            const Numbers p = outcomes[k];
            own.fill(0.0);
            for (Index a = 0; a < basis.columns; ++a) add(own, basis(k, a), steps[row][a]);
#pragma omp simd
            for (Index s = 0; s < samples; ++s) mean[s] += p[s] * own[s];
        }
        double sum = 0.0;
        for (Index k = 0; k < basis.rows; ++k) {
            const Numbers own = scores[k], p = outcomes[k];
            double gap = 0.0;
#pragma omp simd reduction(+ : gap)
            for (Index s = 0; s < samples; ++s) {
                const double d = own[s] - mean[s], square = d * d, fall = d < 0.0 ? d : 0.0;
                const double left = fall > -1.0 ? 1.0 + fall : NOTHING_LEFT, share = weight[s] * p[s];
                const double bound =
                    square * (0.5 - d * (1.0 / 6.0) + square * (1.0 / 12.0) - square * fall / (20.0 * left));
                gap += share > 0.0 ? share * bound : 0.0;
            }
            sum += gap;
        }
        total[row] = sum;
    }
    return total;
}

// Shorten steps in place where an outcome falls by more than a share `limit`, and return what is lost.
//
// The same where it rises by more than `most_rise` times that: such outcomes have next to no curvature.
//
// That is what the shortened steps miss of Σ_s V_s z_s along the chosen columns (elements by levels by
// columns) and along the columns of each element itself (columns by levels, zero for all other elements); and
// whether any step was shortened.
inline std::tuple<Block<double>, Matrix<double>, bool> shorten_steps(
    Table outcomes, Table basis, Cube<const double> curve, Table chosen, Table columns, Indices begin,
    Indices elements, Cube<double> steps, double limit, double most_rise) {
    const Index n_classes = basis.rows, levels = basis.columns;
    auto lost = Block<double>::filled(0.0, elements.size, levels, chosen.rows);
    auto lost_own = Matrix<double>::filled(0.0, columns.rows, levels);
    bool is_shorter = false;
    for (Index row = 0; row < elements.size; ++row) {
        raise_if_interrupted();
        const Mat<double> step = steps[row];
        for (Index s = 0; s < step.columns; ++s) {
            double mean = 0.0, lowest = INFINITE, highest = -INFINITE;
            for (Index k = 0; k < n_classes; ++k) {
                double d = 0.0;
                for (Index a = 0; a < levels; ++a) d += basis(k, a) * step(a, s);
                mean += outcomes(k, s) * d;
                lowest = std::min(lowest, d);
                highest = std::max(highest, d);
            }
            const double farthest = std::max(mean - lowest, (highest - mean) / most_rise);
            if (farthest <= limit) continue;
            is_shorter = true;
            const double share = limit / farthest;
            for (Index a = 0; a < levels; ++a) {
                double missing = 0.0;
                for (Index b = 0; b < levels; ++b) {
                    missing += curve(std::min(a, b), std::max(a, b), s) * step(b, s);
                }
                missing *= 1.0 - share;
                for (Index k = 0; k < chosen.rows; ++k) lost(row, a, k) += missing * chosen(k, s);
                for (Index k = begin[elements[row]]; k < begin[elements[row] + 1]; ++k) {
                    lost_own(k, a) += missing * columns(k, s);
                }
            }
            for (Index a = 0; a < levels; ++a) step(a, s) *= share;
        }
    }
    return {std::move(lost), std::move(lost_own), is_shorter};
}

}  // namespace swapwise::families
