"""Newton refits of an Ising model from counts: how often each vertex was seen with which neighbours.

What a vertex adds to the pseudo-log-likelihood depends on its own spin and on those of its neighbours alone.
``tables`` is (first, own, share, signs): the patterns of vertex v are ``first[v] : first[v + 1]``, with the
spin of v, the share of the samples that look like this, and in row k of ``signs`` the spin of the k-th
neighbour of v, in the order of ``graph``, which is :func:`swapwise.kernels.ising.incidence`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.kernels.ising import AT_MAXIMUM, UNDER_WAY, turn


@njit(cache=True, error_model="numpy")
def evaluate(tables, graph, parameters, n_edges, ridge, gradient, hessian):
    """Value, gradient and (negative) Hessian, the latter two written into the arrays given."""
    first, own, share, signs = tables
    begin, edges, _ = graph
    fields = len(parameters) > n_edges
    gradient[:] = 0.0
    hessian[:, :] = 0.0
    value = 0.0
    for v in range(len(first) - 1):
        at = edges[begin[v] : begin[v + 1]]
        for p in range(first[v], first[v + 1]):
            local = parameters[n_edges + v] if fields else 0.0
            for a in range(len(at)):
                local += parameters[at[a]] * signs[a, p]
            margin = 2.0 * own[p] * local
            small = np.exp(-abs(margin))
            value += share[p] * (min(margin, 0.0) - np.log1p(small))
            right = 1.0 / (1.0 + small)
            slope = 2.0 * share[p] * own[p] * (small if margin >= 0.0 else 1.0) * right
            curve = 4.0 * share[p] * own[p] * own[p] * small * right * right
            for a in range(len(at)):
                gradient[at[a]] += slope * signs[a, p]
                weighted = curve * signs[a, p]
                for b in range(a + 1):
                    hessian[max(at[a], at[b]), min(at[a], at[b])] += weighted * signs[b, p]
                if fields:
                    hessian[n_edges + v, at[a]] += weighted
            if fields:
                gradient[n_edges + v] += slope
                hessian[n_edges + v, n_edges + v] += curve
    for e in range(n_edges):
        value -= 0.5 * ridge * parameters[e] * parameters[e]
        gradient[e] -= ridge * parameters[e]
        hessian[e, e] += ridge
    return value


@njit(cache=True)
def refit(tables, graph, n_edges, parameters, ridge, longest_step, tolerance, max_steps):
    """Maximise from ``parameters``, which are overwritten, or else from zero; value, whether it converged."""
    size = len(parameters)
    gradient, hessian = np.empty(size), np.empty((size, size))
    best, status, trial = -np.inf, UNDER_WAY, parameters.copy()
    for attempt in range(2):
        step, reached = np.zeros(size), -np.inf
        if attempt:
            trial[:] = 0.0
        for _ in range(max_steps):
            value = evaluate(tables, graph, trial, n_edges, ridge, gradient, hessian)
            reached, status = turn(trial, step, reached, value, gradient, hessian, longest_step, tolerance)
            if status != UNDER_WAY:
                break
        if status == UNDER_WAY:
            trial -= step  # which was not looked at
        if status == AT_MAXIMUM or reached > best:
            best, parameters[:] = reached, trial
        if status == AT_MAXIMUM:
            break
    return best, status == AT_MAXIMUM
