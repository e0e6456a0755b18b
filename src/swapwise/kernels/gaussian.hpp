// Covariance selection: the maximum likelihood of a precision matrix on a given graph.
//
// T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning", 2009, algorithm 17.1: among
// all matrices W with the correlations of the data on the diagonal and on the edges, the one with the largest
// determinant. One vertex after the other is regressed on its neighbours in W, and its row of W becomes what
// this regression says. W stays positive semidefinite if it was so at first.
#pragma once

#include <cmath>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "cholesky.hpp"
#include "listening.hpp"

namespace swapwise::gaussian {

// What neighbours must leave of a variable's variance, which is 1, and of each other's.
inline constexpr double LEAST_LEFT = 1e-11;

// With fewer samples than vertices, or copies of variables, a vertex may be a linear combination of its
// neighbours, or these of each other, until other vertices have had their turn. It waits for this many sweeps.
inline constexpr Index PATIENCE = 50;

// One vertex after the other: return how far W has moved at most. `dependent` is the last vertex that had to
// wait, or -1.
inline double sweep(Mat<double> W, Mat<double> precision, Indices begin, Indices neighbours, Mat<double> gram,
                    Numbers floor, Vec<double> weights, Vec<double> row, Index &dependent) {
    const Index n = W.rows;
    double farthest = 0.0;
    dependent = -1;
    for (Index v = 0; v < n; ++v) {
        const Indices near = neighbours.slice(begin[v], begin[v + 1]);
        const Index size = near.size;
        for (Index i = 0; i < size; ++i) {
            weights[i] = W(v, near[i]);
            for (Index j = 0; j <= i; ++j) gram(i, j) = W(near[i], near[j]);
        }
        const double left = 1.0 - cholesky::forward(gram, weights, floor, size, true);
        if (!(left > LEAST_LEFT)) {
            dependent = v;
            continue;
        }
        cholesky::backward(gram, weights.slice(0, size));
        row.fill(0.0);
        for (Index i = 0; i < size; ++i) {
            const Vec<double> other = W[near[i]];
#pragma omp simd
            for (Index k = 0; k < n; ++k) row[k] = fused(weights[i], other[k], row[k]);
        }
        precision(v, v) = 1.0 / left;
        row[v] = 1.0;
        for (Index i = 0; i < size; ++i) {
            precision(v, near[i]) = -weights[i] / left;
            row[near[i]] = W(v, near[i]);  // rounding must not move it
        }
        for (Index k = 0; k < n; ++k) {
            farthest = std::max(farthest, std::abs(row[k] - W(v, k)));
            W(v, k) = W(k, v) = row[k];
        }
    }
    return farthest;
}

// Number the parts of the graph that paths join, and let variables of different parts be independent: they are
// at the maximum, and sweeps would only come closer and closer to that.
inline void separate(Mat<double> W, Indices begin, Indices neighbours) {
    const Index n = W.rows;
    auto part = Vector<Index>::filled(-1, n);
    std::vector<Index> reached;
    for (Index first = 0; first < n; ++first) {
        if (part[first] >= 0) continue;
        part[first] = first;
        reached.push_back(first);
        while (!reached.empty()) {
            const Index v = reached.back();
            reached.pop_back();
            for (const Index u : neighbours.slice(begin[v], begin[v + 1])) {
                if (part[u] >= 0) continue;
                part[u] = first;
                reached.push_back(u);
            }
        }
    }
    for (Index u = 0; u < n; ++u) {
        for (Index v = 0; v < n; ++v) {
            if (part[u] != part[v]) W(u, v) = 0.0;
        }
    }
}

// Sweep until W moves by no more than `tol`; the neighbours of v are those from begin[v] to begin[v + 1].
//
// W is a correlation matrix at first. Return the number of sweeps, how far the last one moved W, and a vertex
// for which there is no maximum, or -1. Rows of `precision` are what the last regression of each vertex says, on
// its neighbours and on the diagonal.
inline std::tuple<Index, double, Index> select(Mat<double> W, Mat<double> precision, Indices begin,
                                               Indices neighbours, double tol, Index most_sweeps) {
    Index most = 1, dependent = -1;
    for (Index v = 0; v < W.rows; ++v) most = std::max(most, begin[v + 1] - begin[v]);
    Matrix<double> gram(most, most);
    Vector<double> weights(most), row(W.rows);
    const auto floor = Vector<double>::filled(LEAST_LEFT, most);
    separate(W, begin, neighbours);
    double moved = INFINITE;
    Index turn = 0;
    for (; turn < most_sweeps && moved > tol; ++turn) {
        raise_if_interrupted();
        moved = sweep(W, precision, begin, neighbours, gram, floor, weights, row, dependent);
        if (dependent >= 0 && turn >= PATIENCE) break;
    }
    return {turn, moved, dependent};
}

}  // namespace swapwise::gaussian
