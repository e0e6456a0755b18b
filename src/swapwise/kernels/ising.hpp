// Newton refits of the mean pseudo-log-likelihood of an Ising model, and the gains of exchanging edges; and of
// mixed models, in which vertices may also be Gaussian, or counts.
//
// u(w) = mean over samples of Σ_v log σ(2 x_v h_v) − ridge ‖w‖²/2 with h_v = θ_v + Σ_u w_uv x_u. Everything
// splits into one logistic regression per vertex, tied together by couplings that stand in two of them.
// Spins are (vertices, samples): a vertex's samples lie side by side. They come in two tables, which are one
// and the same unless some are missing: `own` is what is predicted, x_v, and 0 where it is missing, for then
// the term is log σ(0), whatever the parameters are; `seen` is what vertices are to their neighbours, x_u,
// and whatever stands for it where it is missing. `weight` has one number per sample, with mean 1, or none
// at all if every sample counts the same, which is faster. Edge e joins tail[e] and head[e]. The parameters
// are one number per edge and, with fields, one per vertex behind them.
//
// In mixed models the term of a vertex is x h − A(h), with a convex A by its family, and `own` is NaN where
// it is missing, unless it is binary: log σ(2 x h) is such a term with A(h) = log(2 cosh h).
#pragma once

#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "cholesky.hpp"
#include "exponentials.hpp"
#include "families.hpp"
#include "listening.hpp"
#include "products.hpp"
#include "threads.hpp"

namespace swapwise::ising {

// This many moves are scored by a thread before it asks for more.
inline constexpr Index ROWS_PER_CHUNK = 4;

inline constexpr double TRACE_OF_CURVATURE = 1e-11;

// What a step of the longest length may still gain, to first order, at a maximum.
inline constexpr double STEEPEST_AT_REST = 1e-3;

// This many samples are looked at together: what is computed of them stays in the fastest cache. And as many
// factors 1 + e ≤ 2 may be multiplied before the logarithm is taken.
inline constexpr Index BLOCK = 512;

// How a refit goes on after a step.
enum class Status { UNDER_WAY, AT_MAXIMUM, STRANDED };

// Edges at every vertex: those of v are edges[begin[v] : begin[v + 1]], with the other ends.
using Graph = std::tuple<Indices, Indices, Indices>;

inline std::tuple<Vector<Index>, Vector<Index>, Vector<Index>> incidence(Indices tail, Indices head,
                                                                         Index n_vertices) {
    auto begin = Vector<Index>::filled(0, n_vertices + 1);
    for (Index e = 0; e < tail.size; ++e) {
        ++begin[tail[e] + 1];
        ++begin[head[e] + 1];
    }
    for (Index v = 0; v < n_vertices; ++v) begin[v + 1] += begin[v];
    Vector<Index> place(n_vertices), edges(2 * tail.size), others(2 * tail.size);
    place.copy(begin.slice(0, n_vertices));
    for (Index e = 0; e < tail.size; ++e) {
        for (const auto &[v, other] : {std::pair(tail[e], head[e]), std::pair(head[e], tail[e])}) {
            edges[place[v]] = e;
            others[place[v]] = other;
            ++place[v];
        }
    }
    return {std::move(begin), std::move(edges), std::move(others)};
}

// Sums over samples: log-likelihoods, and first and second derivatives by the field.
struct Sums {
    double value = 0.0, slope = 0.0, curve = 0.0;
};

// Log-likelihood of one vertex on some samples, with its first and second derivatives by the local field.
//
// `slope` comes in holding the local field of every sample and goes out holding the derivatives. Samples
// count `scale` times their weight.
inline Sums logistic_terms(Numbers own, double scale, Vec<double> slope, Vec<double> curve) {
    double doubled = 0.0, product = 1.0, slopes = 0.0, curves = 0.0;
#pragma omp simd reduction(+ : doubled, slopes, curves) reduction(* : product)
    for (Index s = 0; s < own.size; ++s) {
        const double twice = 2.0 * own[s], margin = twice * slope[s], negative = -std::abs(margin);
        const double small = exponential(negative), right = 1.0 / (1.0 + small);
        const double part = scale * twice * right;
        doubled += margin + negative;  // twice the margin if it is negative, else zero
        product *= 1.0 + small;
        slope[s] = part * (margin < 0.0 ? 1.0 : small);
        curve[s] = part * (twice * (right * small));
        slopes += slope[s];
        curves += curve[s];
    }
    return {scale * (0.5 * doubled - std::log(product)), slopes, curves};
}

// The same for samples of different weights; each needs its own logarithm.
inline Sums logistic_terms(Numbers own, double scale, Numbers weight, Vec<double> slope, Vec<double> curve) {
    double value = 0.0, slopes = 0.0, curves = 0.0;
#pragma omp simd reduction(+ : value, slopes, curves)
    for (Index s = 0; s < own.size; ++s) {
        const double twice = 2.0 * own[s], margin = twice * slope[s], negative = -std::abs(margin);
        const double small = exponential(negative), right = 1.0 / (1.0 + small);
        const double share = scale * weight[s], part = share * twice * right;
        value += share * (0.5 * (margin + negative) - log_1p_of_fraction(small));
        slope[s] = part * (margin < 0.0 ? 1.0 : small);
        curve[s] = part * (twice * (right * small));
        slopes += slope[s];
        curves += curve[s];
    }
    return {value, slopes, curves};
}

// How a vertex is distributed given its local field. BINARY is a spin; GAUSSIAN has a conditional variance,
// its scale s, and A(h) = s h²/2; COUNTS are Poisson, of mean e^{s h}, and x is the count times s.
inline constexpr Index BINARY = 0, GAUSSIAN = 1, COUNTS = 2;

struct Family {
    Index kind = BINARY;
    double scale = 1.0;
};

// The same as logistic_terms for any A: `cumulant(h)` returns A and its two derivatives.
template <class Cumulant>
Sums cumulant_terms(Numbers own, double scale, Numbers weight, const Cumulant &cumulant, Vec<double> slope,
                    Vec<double> curve) {
    double value = 0.0, slopes = 0.0, curves = 0.0;
    const bool weighted = weight.size > 0;
    for (Index s = 0; s < own.size; ++s) {
        const bool is_there = own[s] == own[s];
        const double share = is_there ? (weighted ? scale * weight[s] : scale) : 0.0;
        const double x = is_there ? own[s] : 0.0, h = slope[s];
        const auto [level, mean, variance] = cumulant(h);
        value += share * (x * h - level);
        slope[s] = share * (x - mean);
        curve[s] = share * variance;
        slopes += slope[s];
        curves += curve[s];
    }
    return {value, slopes, curves};
}

// Log-likelihoods of some samples of a vertex of any family.
inline Sums terms(Family family, Numbers own, double scale, Numbers weight, Vec<double> slope,
                  Vec<double> curve) {
    const double s = family.scale;
    if (family.kind == GAUSSIAN) {
        const auto cumulant = [s](double h) { return std::array{0.5 * s * h * h, s * h, s}; };
        return cumulant_terms(own, scale, weight, cumulant, slope, curve);
    }
    if (family.kind == COUNTS) {
        const auto cumulant = [s](double h) {
            const double mean = exponential(families::cut_off(s * h));
            return std::array{mean, s * mean, s * s * mean};
        };
        return cumulant_terms(own, scale, weight, cumulant, slope, curve);
    }
    return weight.size > 0 ? logistic_terms(own, scale, weight, slope, curve)
                           : logistic_terms(own, scale, slope, curve);
}

// Where value, gradient and (negative) Hessian are summed up, the latter in its lower triangle.
struct Derivatives {
    double value;
    Vec<double> gradient;
    Mat<double> hessian;

    Derivatives(Vec<double> gradient, Mat<double> hessian)
        : value(0.0), gradient(gradient), hessian(hessian) {
        gradient.fill(0.0);
        hessian.fill(0.0);
    }
    void add_curvature(Index i, Index j, double curvature) {
        hessian(std::max(i, j), std::min(i, j)) += curvature;
    }
};

// Add what some samples of a vertex have, given its family, its own spins, their weights (or none), and with `other(a)`
// the spins at the other end of its edge edges[a]. Parameter `field` is its field, if it is among the
// parameters.
template <class Other>
void add_samples(Family family, Numbers own, double scale, Numbers weight, Indices edges, const Other &other, Index field,
                 Numbers parameters, Derivatives &sums) {
    std::array<double, BLOCK> slope_room, curve_room, curved_room;
    const Vec<double> slope(slope_room.data(), own.size), curve(curve_room.data(), own.size);
    const Vec<double> curved(curved_room.data(), own.size);
    const bool has_field = field < parameters.size;
    slope.fill(has_field ? parameters[field] : 0.0);
    products::add_multiples(slope, edges.size, [&](Index a) { return parameters[edges[a]]; }, other);
    const Sums own_sums = terms(family, own, scale, weight, slope, curve);
    sums.value += own_sums.value;
    products::each_dot(slope, 0, edges.size, other,
                 [&](Index a, double total) { sums.gradient[edges[a]] += total; });
    if (has_field) {
        sums.gradient[field] += own_sums.slope;
        sums.hessian(field, field) += own_sums.curve;
        products::each_dot(curve, 0, edges.size, other,
                     [&](Index a, double total) { sums.hessian(field, edges[a]) += total; });
    }
    for (Index a = 0; a < edges.size; ++a) {
        const Numbers neighbour = other(a);
#pragma omp simd
        for (Index s = 0; s < own.size; ++s) curved[s] = curve[s] * neighbour[s];
        products::each_dot(curved, 0, a + 1, other,
                     [&](Index b, double total) { sums.add_curvature(edges[a], edges[b], total); });
    }
}

// Add what all samples of a vertex have.
template <class Other>
void add_vertex(Family family, Numbers own, double scale, Numbers weight, Indices edges, const Other &other, Index field,
                Numbers parameters, Derivatives &sums) {
    raise_if_interrupted();
    Listener listener;
    for (Index begin = 0; begin < own.size; begin += BLOCK) {
        const Index end = std::min(begin + BLOCK, own.size);
        listener.after((end - begin) * (edges.size + 1));
        const auto part_of_other = [&](Index a) { return other(a).slice(begin, end); };
        add_samples(family, own.slice(begin, end), scale,
                    weight.size > 0 ? weight.slice(begin, end) : weight, edges, part_of_other, field, parameters, sums);
    }
}

// Take the penalty on the couplings off.
inline void add_ridge(double ridge, Numbers couplings, Derivatives &sums) {
    for (Index e = 0; e < couplings.size; ++e) {
        sums.value -= 0.5 * ridge * couplings[e] * couplings[e];
        sums.gradient[e] -= ridge * couplings[e];
        sums.hessian(e, e) += ridge;
    }
}

// Spins twice (own, seen), weight, and kind and scale of each vertex; the latter are empty if all are binary.
using Samples = std::tuple<Table, Table, Numbers, Indices, Numbers>;

// Value, gradient and (negative) Hessian, the latter two written into the arrays given.
inline double evaluate(Samples samples, Graph graph, Numbers parameters, Index n_edges, double ridge,
                       Vec<double> gradient, Mat<double> hessian) {
    const auto &[own, seen, weight, kinds, scales] = samples;
    const auto [begin, edges, others] = graph;
    const double scale = 1.0 / static_cast<double>(own.columns);
    Derivatives sums(gradient, hessian);
    for (Index v = 0; v < own.rows; ++v) {
        const Indices neighbours = others.slice(begin[v], begin[v + 1]);
        const auto other = [seen = seen, &neighbours](Index a) { return seen[neighbours[a]]; };
        const Indices own_edges = edges.slice(begin[v], begin[v + 1]);
        const Family family = kinds.size > 0 ? Family{kinds[v], scales[v]} : Family{};
        add_vertex(family, own[v], scale, weight, own_edges, other, n_edges + v, parameters, sums);
    }
    add_ridge(ridge, parameters.slice(0, n_edges), sums);
    return sums.value;
}

// Solve hessian · step = gradient by Cholesky in place, a trace of curvature added everywhere.
//
// Without it, steps along directions in which the likelihood has long been flat would be as long as they are
// worthless.
inline void newton_step(Mat<double> hessian, Numbers gradient, Numbers longest_step, Vec<double> step) {
    const Index size = gradient.size;
    for (Index j = 0; j < size; ++j) {
        const Numbers row = hessian[j].slice(0, j);
        hessian(j, j) += TRACE_OF_CURVATURE / (longest_step[j] * longest_step[j]);
        const double pivot = hessian(j, j) - products::dot(row, row);
        const bool flat = !(pivot > 1e-15 * hessian(j, j));
        hessian(j, j) = flat ? 1e150 : std::sqrt(pivot);
        cholesky::fill_column(hessian, j);
        step[j] = (gradient[j] - products::dot(row, step.slice(0, j))) / hessian(j, j);
    }
    cholesky::backward(hessian, step);
}

// Take a bounded Newton step, or half of the last one back; value reached, and how it goes on.
//
// When half the squared Newton decrement falls below `tolerance`, the last step is taken on trust: what it
// gains is known to higher order. Far out, where the likelihood is flat, a decrement is small although the
// slope is not; that is no convergence. Parameters, step and Hessian are overwritten.
inline std::pair<double, Status> turn(Vec<double> parameters, Vec<double> step, double reached, double value,
                                      Numbers gradient, Mat<double> hessian, Numbers longest_step,
                                      double tolerance) {
    const Index size = step.size;
    if (!(value >= reached - tolerance)) {
        for (Index i = 0; i < size; ++i) {
            step[i] *= 0.5;
            parameters[i] -= step[i];
        }
        return {reached, Status::UNDER_WAY};
    }
    newton_step(hessian, gradient, longest_step, step);
    double decrement = 0.0, steepest = 0.0, longest = 0.0;
    for (Index i = 0; i < size; ++i) {
        decrement += 0.5 * step[i] * gradient[i];
        steepest = std::max(steepest, std::abs(gradient[i]) * longest_step[i]);
        longest = std::max(longest, std::abs(step[i]) / longest_step[i]);
    }
    for (Index i = 0; i < size; ++i) {
        if (longest > 1.0) step[i] /= longest;
        parameters[i] += step[i];
    }
    if (decrement < tolerance && longest <= 1.0) {
        return {value + decrement, steepest < STEEPEST_AT_REST ? Status::AT_MAXIMUM : Status::STRANDED};
    }
    return {value, Status::UNDER_WAY};
}

// Newton's method with backtracking, in place; value at the parameters, and whether it converged.
//
// `evaluate(parameters, gradient, hessian)` fills in derivatives and returns the value.
template <class Evaluate>
std::pair<double, bool> maximise(const Evaluate &evaluate, Vec<double> parameters, Numbers longest_step,
                                 double tolerance, Index max_steps) {
    const Index size = parameters.size;
    Vector<double> gradient(size);
    Matrix<double> hessian(size, size);
    auto step = Vector<double>::filled(0.0, size);
    double reached = -INFINITE;
    auto status = Status::UNDER_WAY;
    for (Index k = 0; k < max_steps && status == Status::UNDER_WAY; ++k) {
        raise_if_interrupted();
        const double value = evaluate(parameters, gradient, hessian);
        std::tie(reached, status) =
            turn(parameters, step, reached, value, gradient, hessian, longest_step, tolerance);
    }
    if (status == Status::UNDER_WAY) {
        for (Index i = 0; i < size; ++i) parameters[i] -= step[i];  // a step that was not looked at
    }
    return {reached, status == Status::AT_MAXIMUM};
}

// Maximise from `parameters`, which are overwritten; return the value and whether it is the maximum.
//
// A start that leads nowhere, for instance from couplings so strong that nothing has curvature, is given up
// for one from zero, unless that leads to less. Interrupted, the parameters are those of some step on the
// way.
template <class Evaluate>
std::pair<double, bool> maximise_from(const Evaluate &evaluate, Vec<double> parameters, Numbers longest_step,
                                      double tolerance, Index max_steps) {
    auto [value, converged] = maximise(evaluate, parameters, longest_step, tolerance, max_steps);
    if (!converged) {
        auto again = Vector<double>::filled(0.0, parameters.size);
        double reached;
        std::tie(reached, converged) = maximise(evaluate, again, longest_step, tolerance, max_steps);
        if (converged || reached > value) {
            value = reached;
            parameters.copy(again);
        }
    }
    return {value, converged};
}

// Maximise from `parameters`, which are overwritten: see above.
inline std::pair<double, bool> refit(Samples samples, Indices tail, Indices head, Vec<double> parameters,
                                     double ridge, Numbers longest_step, double tolerance,
                                     Index max_steps) {
    const auto owned = incidence(tail, head, std::get<0>(samples).rows);
    const Graph graph = owned;
    const auto here = [&](Numbers at, Vec<double> gradient, Mat<double> hessian) {
        return evaluate(samples, graph, at, tail.size, ridge, gradient, hessian);
    };
    return maximise_from(here, parameters, longest_step, tolerance, max_steps);
}

// Longest step of every parameter: couplings of the edges first, then fields, if the size leaves room.
inline Vector<double> step_lengths(Indices edges, Index size, Numbers longest_couplings,
                                   Numbers longest_fields) {
    Vector<double> lengths(size);
    for (Index e = 0; e < edges.size; ++e) lengths[e] = longest_couplings[edges[e]];
    lengths.slice(edges.size, size).copy(longest_fields.slice(0, size - edges.size));
    return lengths;
}

// Samples, tail, head, ridge, longest step of each coupling, of each field.
using Problem = std::tuple<Samples, Indices, Indices, double, Numbers, Numbers>;

// Value after one move, and whether it is the maximum: refit from where the kept parameters are.
inline std::pair<double, bool> value_after(const Problem &problem, Indices chosen, Numbers parameters,
                                           Indices added, Indices dropped, double tolerance,
                                           Index max_steps) {
    const auto &[samples, tail, head, ridge, longest_couplings, longest_fields] = problem;
    const Index n_fields = parameters.size - chosen.size, room = chosen.size + added.size;
    Vector<Index> elements(room), tails(room), heads(room);
    Vector<double> start(room + n_fields);
    Index kept = 0;
    const auto keep = [&, tail = tail, head = head](Index element, double coupling) {
        elements[kept] = element;
        tails[kept] = tail[element];
        heads[kept] = head[element];
        start[kept] = coupling;
        ++kept;
    };
    for (Index e = 0; e < chosen.size; ++e) {
        const bool is_dropped = std::find(dropped.begin(), dropped.end(), chosen[e]) != dropped.end();
        if (!is_dropped) keep(chosen[e], parameters[e]);
    }
    for (Index element : added) {
        if (element >= 0) keep(element, 0.0);
    }
    const Index size = kept + n_fields;
    start.slice(kept, size).copy(parameters.slice(chosen.size, parameters.size));
    const auto lengths = step_lengths(elements.slice(0, kept), size, longest_couplings, longest_fields);
    return refit(samples, tails.slice(0, kept), heads.slice(0, kept), start.slice(0, size), ridge, lengths,
                 tolerance, max_steps);
}

// Values after each of many moves, and which are maxima: one warm-started refit per row, shared out among
// threads.
inline std::tuple<Vector<double>, Vector<bool>> values_after(Problem problem, Indices chosen,
                                                             Numbers parameters, Mat<const Index> added,
                                                             Mat<const Index> dropped, double tolerance,
                                                             Index max_steps, Index n_threads) {
    Vector<double> values(added.rows);
    Vector<bool> converged(added.rows);
    threads::for_each_chunk(added.rows, ROWS_PER_CHUNK, n_threads, [&](Index begin, Index end) {
        for (Index row = begin; row < end; ++row) {
            std::tie(values[row], converged[row]) =
                value_after(problem, chosen, parameters, added[row], dropped[row], tolerance, max_steps);
        }
    });
    return {std::move(values), std::move(converged)};
}

}  // namespace swapwise::ising
