// Newton refits of an Ising model from counts: how often each vertex was seen with which neighbours.
//
// What a vertex adds to the pseudo-log-likelihood depends on its own spin and on those of its neighbours
// alone. `tables` is (first, own, share, signs): the patterns of vertex v are first[v] : first[v + 1], with
// the spin of v, the share of the samples that look like this, and in row k of `signs` the spin of the k-th
// neighbour of v, in the order of `graph`, which is ising::incidence. So patterns are samples, and shares are
// their weights.
#pragma once

#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "ising.hpp"

namespace swapwise::ising_tables {

using Tables = std::tuple<Indices, Numbers, Numbers, Table>;

// Value, gradient and (negative) Hessian, the latter two written into the arrays given.
inline double evaluate(Tables tables, ising::Graph graph, Numbers parameters, Index n_edges, double ridge,
                       Vec<double> gradient, Mat<double> hessian) {
    const auto [first, own, share, signs] = tables;
    const auto [begin, edges, others] = graph;
    ising::Derivatives sums(gradient, hessian);
    for (Index v = 0; v + 1 < first.size; ++v) {
        const Index here = first[v], end = first[v + 1];
        const auto other = [here, end, signs = signs](Index a) { return signs[a].slice(here, end); };
        ising::add_vertex(ising::Family{}, own.slice(here, end), 1.0, share.slice(here, end),
                          edges.slice(begin[v], begin[v + 1]), other, n_edges + v, parameters, sums);
    }
    ising::add_ridge(ridge, parameters.slice(0, n_edges), sums);
    return sums.value;
}

// Maximise from `parameters`, which are overwritten, or else from zero; value, whether it converged.
inline std::pair<double, bool> refit(Tables tables, ising::Graph graph, Index n_edges, Vec<double> parameters,
                                     double ridge, Numbers longest_step, double tolerance, Index max_steps) {
    const auto here = [&](Numbers at, Vec<double> gradient, Mat<double> hessian) {
        return evaluate(tables, graph, at, n_edges, ridge, gradient, hessian);
    };
    return ising::maximise_from(here, parameters, longest_step, tolerance, max_steps);
}

}  // namespace swapwise::ising_tables
