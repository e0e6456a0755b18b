"""Newton refits of the mean pseudo-log-likelihood of an Ising model, and the gains of exchanging edges.

``u(w) = mean over samples of Σ_v log σ(2 x_v h_v) − ridge ‖w‖²/2`` with ``h_v = θ_v + Σ_u w_uv x_u``.
Everything splits into one logistic regression per vertex, tied together by couplings that stand in two of
them. ``spins`` is (vertices, samples): a vertex's samples lie side by side. ``weight`` has one number per
sample, with mean 1, or none at all if every sample counts the same, which is faster. Edge e joins ``tail[e]``
and ``head[e]``. The parameters are one number per edge and, with fields, one per vertex behind them.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

# Sums may be taken in any order, which lets them run on vector units; nothing else is relaxed.
SUMS = {"reassoc", "contract", "nsz"}

ROWS_PER_CHUNK = 16

TRACE_OF_CURVATURE = 1e-11

# What a step of the longest length may still gain, to first order, at a maximum.
STEEPEST_AT_REST = 1e-3

# How a refit goes on after a step.
UNDER_WAY, AT_MAXIMUM, STRANDED = 0, 1, 2

TERMS_PER_LOG = 256  # factors 1 + e ≤ 2 that may be multiplied before the logarithm is taken


@njit(cache=True)
def incidence(tail, head, n_vertices):
    """Edges at every vertex: those of v are ``edges[begin[v] : begin[v + 1]]``, with the other ends."""
    begin = np.zeros(n_vertices + 1, np.intp)
    for e in range(len(tail)):
        begin[tail[e] + 1] += 1
        begin[head[e] + 1] += 1
    for v in range(n_vertices):
        begin[v + 1] += begin[v]
    place = begin[:-1].copy()
    edges = np.empty(2 * len(tail), np.intp)
    others = np.empty(2 * len(tail), np.intp)
    for e in range(len(tail)):
        for v, other in ((tail[e], head[e]), (head[e], tail[e])):
            edges[place[v]] = e
            others[place[v]] = other
            place[v] += 1
    return begin, edges, others


@njit(cache=True, fastmath={"contract", "nsz"}, error_model="numpy")
def _exp_of_negative(values, bits):
    """Replace numbers ≤ 0 by their exponentials, to the last digit, several at a time.

    ``exp(v) = 2ᵏ exp(r)`` with ``|r| ≤ ln 2 / 2``: a polynomial for exp(r), and k put straight into the
    exponent of a float. The library's exp is a call for each number, and most of the work of a refit.
    """
    for s in range(len(values)):
        value = max(values[s], -700.0)
        k = np.floor(value * 1.4426950408889634 + 0.5)
        r = (value - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
        total = 1 / 479001600 + r / 6227020800
        total = 1 / 39916800 + r * total
        total = 1 / 3628800 + r * total
        total = 1 / 362880 + r * total
        total = 1 / 40320 + r * total
        total = 1 / 5040 + r * total
        total = 1 / 720 + r * total
        total = 1 / 120 + r * total
        total = 1 / 24 + r * total
        total = 1 / 6 + r * total
        total = 1 / 2 + r * total
        total = 1.0 + r * total
        values[s] = 1.0 + r * total
        bits[s] = (np.int64(np.int32(k)) + 1023) << 52
    powers = bits.view(np.float64)
    for s in range(len(values)):
        values[s] *= powers[s]


@njit(cache=True, fastmath=SUMS, error_model="numpy")
def _weighted_log_likelihood(weight, margin, small):
    """Weighted sum of log σ(margin), with ``small = exp(−|margin|)``; each needs its own logarithm."""
    total = 0.0
    for s in range(len(weight)):
        total += weight[s] * (min(margin[s], 0.0) - np.log1p(small[s]))
    return total


@njit(cache=True, fastmath=SUMS, error_model="numpy")
def _logistic_terms(own, weight, slope, curve, bits):
    """Log-likelihood of one vertex, with its first and second derivatives by the local field.

    ``slope`` comes in holding the local field of every sample and goes out holding the derivatives.
    """
    samples = len(own)
    total = 0.0
    for s in range(samples):
        margin = 2.0 * own[s] * slope[s]
        total += min(margin, 0.0)
        curve[s] = -abs(margin)
        slope[s] = margin
    _exp_of_negative(curve, bits)
    if len(weight):
        total = _weighted_log_likelihood(weight, slope, curve)
    else:
        for begin in range(0, samples, TERMS_PER_LOG):
            product = 1.0
            for s in range(begin, min(begin + TERMS_PER_LOG, samples)):
                product *= 1.0 + curve[s]
            total -= np.log(product)
    for s in range(samples):
        right = 1.0 / (1.0 + curve[s])
        wrong = (curve[s] if slope[s] >= 0.0 else 1.0) * right
        slope[s] = 2.0 * own[s] * wrong / samples
        curve[s] = 4.0 * own[s] * own[s] * curve[s] * right * right / samples
    for s in range(len(weight)):
        slope[s] *= weight[s]
        curve[s] *= weight[s]
    return total / samples


@njit(cache=True, fastmath=SUMS, error_model="numpy")
def _evaluate(spins, weight, graph, parameters, n_edges, ridge, gradient, hessian):
    """Value, gradient and (negative) Hessian, the latter two written into the arrays given."""
    begin, edges, others = graph
    n_vertices, samples = spins.shape
    fields = len(parameters) > n_edges
    slope, curve, curved = np.empty(samples), np.empty(samples), np.empty(samples)
    bits = np.empty(samples, np.int64)
    gradient[:] = 0.0
    hessian[:, :] = 0.0
    value = 0.0
    for v in range(n_vertices):
        slope[:] = parameters[n_edges + v] if fields else 0.0
        for a in range(begin[v], begin[v + 1]):
            coupling, other = parameters[edges[a]], spins[others[a]]
            for s in range(samples):
                slope[s] += coupling * other[s]
        value += _logistic_terms(spins[v], weight, slope, curve, bits)
        for a in range(begin[v], begin[v + 1]):
            first, other = edges[a], spins[others[a]]
            total = 0.0
            for s in range(samples):
                total += slope[s] * other[s]
                curved[s] = curve[s] * other[s]
            gradient[first] += total
            for b in range(begin[v], a + 1):
                second, another = edges[b], spins[others[b]]
                product = 0.0
                for s in range(samples):
                    product += curved[s] * another[s]
                hessian[max(first, second), min(first, second)] += product
            if fields:
                hessian[n_edges + v, first] += curved.sum()
        if fields:
            gradient[n_edges + v] = slope.sum()
            hessian[n_edges + v, n_edges + v] = curve.sum()
    for e in range(n_edges):
        value -= 0.5 * ridge * parameters[e] * parameters[e]
        gradient[e] -= ridge * parameters[e]
        hessian[e, e] += ridge
    return value


@njit(cache=True, fastmath=SUMS, error_model="numpy")
def _newton_step(hessian, gradient, longest_step):
    """Solve ``hessian · step = gradient`` by Cholesky in place, a trace of curvature added everywhere.

    Without it, steps along directions in which the likelihood has long been flat would be as long as
    they are worthless.
    """
    size = len(gradient)
    step = gradient.copy()
    for i in range(size):
        hessian[i, i] += TRACE_OF_CURVATURE / (longest_step[i] * longest_step[i])
        steepest = hessian[i, i]
        for j in range(i):
            total = hessian[i, j]
            for k in range(j):
                total -= hessian[i, k] * hessian[j, k]
            hessian[i, j] = total / hessian[j, j]
        pivot = hessian[i, i]
        for k in range(i):
            pivot -= hessian[i, k] * hessian[i, k]
        flat = not pivot > 1e-15 * steepest
        hessian[i, i] = 1e150 if flat else np.sqrt(pivot)
        total = step[i]
        for k in range(i):
            total -= hessian[i, k] * step[k]
        step[i] = total / hessian[i, i]
    for i in range(size - 1, -1, -1):
        total = step[i]
        for k in range(i + 1, size):
            total -= hessian[k, i] * step[k]
        step[i] = total / hessian[i, i]
    return step


@njit(cache=True)
def turn(parameters, step, reached, value, gradient, hessian, longest_step, tolerance):
    """Take a bounded Newton step, or half of the last one back; value reached, and how it goes on.

    When half the squared Newton decrement falls below ``tolerance``, the last step is taken on trust:
    what it gains is known to higher order. Far out, where the likelihood is flat, a decrement is small
    although the slope is not; that is no convergence. Parameters, step and Hessian are overwritten.
    """
    if not value >= reached - tolerance:
        step *= 0.5
        parameters -= step
        return reached, UNDER_WAY
    step[:] = _newton_step(hessian, gradient, longest_step)
    decrement, steepest, longest = 0.0, 0.0, 0.0
    for i in range(len(step)):
        decrement += 0.5 * step[i] * gradient[i]
        steepest = max(steepest, abs(gradient[i]) * longest_step[i])
        longest = max(longest, abs(step[i]) / longest_step[i])
    if longest > 1.0:
        step /= longest
    parameters += step
    if decrement < tolerance and longest <= 1.0:
        return value + decrement, AT_MAXIMUM if steepest < STEEPEST_AT_REST else STRANDED
    return value, UNDER_WAY


@njit(cache=True)
def _maximise(spins, weight, graph, n_edges, parameters, ridge, longest_step, tolerance, max_steps):
    """Newton's method with backtracking, in place; value at the parameters, and whether it converged."""
    size = len(parameters)
    gradient, hessian, step = np.empty(size), np.empty((size, size)), np.zeros(size)
    reached, status = -np.inf, UNDER_WAY
    for _ in range(max_steps):
        value = _evaluate(spins, weight, graph, parameters, n_edges, ridge, gradient, hessian)
        reached, status = turn(parameters, step, reached, value, gradient, hessian, longest_step, tolerance)
        if status != UNDER_WAY:
            break
    if status == UNDER_WAY:
        parameters -= step  # which was not looked at
    return reached, status == AT_MAXIMUM


@njit(cache=True)
def refit(spins, weight, tail, head, parameters, ridge, longest_step, tolerance, max_steps):
    """Maximise from ``parameters``, which are overwritten; return the value and whether it is the maximum.

    A start that leads nowhere, for instance from couplings so strong that nothing has curvature, is
    given up for one from zero, unless that leads to less.
    """
    graph = incidence(tail, head, spins.shape[0])
    limits = longest_step, tolerance, max_steps
    value, converged = _maximise(spins, weight, graph, len(tail), parameters, ridge, *limits)
    if not converged:
        again = np.zeros_like(parameters)
        reached, converged = _maximise(spins, weight, graph, len(tail), again, ridge, *limits)
        if converged or reached > value:
            value, parameters[:] = reached, again
    return value, converged


@njit(cache=True)
def step_lengths(edges, size, longest_couplings, longest_fields):
    """Longest step of every parameter: couplings of the edges first, then fields, if the size leaves room."""
    return np.concatenate((longest_couplings[edges], longest_fields[: size - len(edges)]))


@njit(cache=True)
def _value_after(problem, chosen, parameters, added, dropped, tolerance, max_steps):
    """Value after one move, and whether it is the maximum: refit from where the kept parameters are."""
    spins, weight, tail, head, ridge, longest_couplings, longest_fields = problem
    n_fields = len(parameters) - len(chosen)
    kept = 0
    moved = np.empty(len(chosen) + len(added), np.intp)
    start = np.zeros(len(chosen) + len(added) + n_fields)
    for e in range(len(chosen)):
        gone = False
        for element in dropped:
            gone = gone or element == chosen[e]
        if not gone:
            moved[kept], start[kept] = chosen[e], parameters[e]
            kept += 1
    for element in added:
        if element >= 0:
            moved[kept], start[kept] = element, 0.0
            kept += 1
    start[kept : kept + n_fields] = parameters[len(chosen) :]
    size = kept + n_fields
    elements = moved[:kept]
    lengths = step_lengths(elements, size, longest_couplings, longest_fields)
    ends = tail[elements], head[elements]
    return refit(spins, weight, *ends, start[:size], ridge, lengths, tolerance, max_steps)


@njit(cache=True)
def values_after(problem, chosen, parameters, added, dropped, tolerance, max_steps):
    """Values after each of many moves, and which are maxima: one warm-started refit per row.

    ``problem`` is (spins, weight, tail, head, ridge, longest step of each coupling, of each field).
    """
    values, converged = np.empty(len(added)), np.empty(len(added), np.bool_)
    for row in range(len(added)):
        values[row], converged[row] = _value_after(
            problem, chosen, parameters, added[row], dropped[row], tolerance, max_steps
        )
    return values, converged


@njit(cache=True, parallel=True)
def values_after_on_all_threads(problem, chosen, parameters, added, dropped, tolerance, max_steps):
    """The same, with the rows shared out among the threads."""
    values, converged = np.empty(len(added)), np.empty(len(added), np.bool_)
    for chunk in prange((len(added) + ROWS_PER_CHUNK - 1) // ROWS_PER_CHUNK):
        rows = slice(chunk * ROWS_PER_CHUNK, (chunk + 1) * ROWS_PER_CHUNK)
        values[rows], converged[rows] = values_after(
            problem, chosen, parameters, added[rows], dropped[rows], tolerance, max_steps
        )
    return values, converged
