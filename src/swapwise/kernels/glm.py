"""Newton refits of generalised linear models, and the values that moves would lead to.

``u(θ) = Σ_s ω_s ℓ(y_s, η_s) − Σ_k ρ_k ‖θ_k‖²/2`` with the linear predictor ``η = offset + θᵀ columns``.
Columns are rows of an array, so that the samples of one lie side by side. θ has one row per column and, in
multinomial models, several numbers per row, so η has as many for each sample (levels).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.kernels.families import derivatives
from swapwise.numerics import FLOAT64_PRECISION

# What a column may have left, relative to its squared length, when those before it are taken out of it. Of
# less, inner products have lost too many of their 16 digits, and it keeps its coefficient. What it could
# still add is estimated: next to nothing if it is a copy of others.
DEPENDENT = 1e-10

# What a step must keep of the rise that its slope predicts.
ARMIJO = 1e-4

HALVINGS = 40

# A step that predicts so little, in units of the tolerance, is late: near a maximum, if there is one.
LATE = 1e6

# A refit that may miss more than this, in units of the tolerance, did not converge.
UNCONVERGED = 1e3


@njit(cache=True)
def definite_solution(matrix, right):
    """Solve a positive definite system by Cholesky's method, in place; dependent rows get zeros.

    Rows are scaled to a diagonal of ones first: what is dependent does not depend on units. Also return what
    the quadratic model could gain by the rows that got zeros, if they had the least curvature that is told
    from none.
    """
    size, missed = len(right), 0.0
    scale = np.zeros(size)
    for i in range(size):
        if matrix[i, i] > 0.0:
            scale[i] = 1.0 / np.sqrt(matrix[i, i])
        elif right[i] != 0.0:  # a slope without curvature: there is no telling how far it leads
            missed = np.inf
    for i in range(size):
        for j in range(i + 1):
            matrix[i, j] *= scale[i] * scale[j]
    solution = right * scale
    kept = np.ones(size, np.bool_)
    for i in range(size):
        for j in range(i):
            if kept[j]:
                matrix[i, j] = (matrix[i, j] - np.dot(matrix[i, :j], matrix[j, :j])) / matrix[j, j]
            else:
                matrix[i, j] = 0.0
        left = matrix[i, i] - np.dot(matrix[i, :i], matrix[i, :i])
        kept[i] = left > DEPENDENT
        rest = solution[i] - np.dot(matrix[i, :i], solution[:i])
        if kept[i]:
            matrix[i, i] = np.sqrt(left)
            solution[i] = rest / matrix[i, i]
        else:
            missed += (rest / FLOAT64_PRECISION) ** 2
            matrix[i, :i] = 0.0
            solution[i] = 0.0
    for i in range(size - 1, -1, -1):
        if kept[i]:
            solution[i] /= matrix[i, i]
            for j in range(i):
                solution[j] -= matrix[i, j] * solution[i]
    return solution * scale, missed


@njit(cache=True)
def _newton_step(columns, slope, curve, ridge, theta):
    """Return the step, the rise by its slope, the rise that it misses, and whether there is a slope."""
    m, levels = theta.shape
    gradient = np.empty(m * levels)
    hessian = np.empty((m * levels, m * levels))
    for a in range(levels):
        gradient[a * m : (a + 1) * m] = np.dot(columns, slope[a]) - ridge * theta[:, a]
        for b in range(a, levels):
            block = np.dot(columns * curve[a, b], columns.T)
            hessian[a * m : (a + 1) * m, b * m : (b + 1) * m] = block
            hessian[b * m : (b + 1) * m, a * m : (a + 1) * m] = block
    for i in range(m * levels):
        hessian[i, i] += ridge[i % m]
    step, missed = definite_solution(hessian, gradient)
    return step.reshape(levels, m).T, np.dot(step, gradient), missed, gradient.any()


@njit(cache=True)
def _penalty(ridge, theta):
    total = 0.0
    for k in range(theta.shape[0]):
        for a in range(theta.shape[1]):
            total += ridge[k] * theta[k, a] * theta[k, a] / 2
    return total


@njit(cache=True)
def refit(family, columns, offset, target, weight, basis, ridge, theta, alone, least, tol, max_steps):
    """Move θ to the maximum; return the value, whether it was reached, and the longest of the late steps.

    ``tol`` is the rise, still to be had after the last step, at which a refit ends. Steps are measured by the
    largest change of η: next to nothing near a maximum, about 1 on the way to one that is infinitely far. A θ
    of a value below ``least`` is given up for no coefficients but ``alone`` in the last row.
    """
    levels, samples = offset.shape
    slope, curve = np.empty((levels, samples)), np.empty((levels, levels, samples))
    eta = offset + np.dot(np.ascontiguousarray(theta.T), columns)
    value = derivatives(family, eta, target, weight, basis, slope, curve) - _penalty(ridge, theta)
    if not value >= least:
        theta[:] = 0.0
        theta[-1] = alone
        eta = offset + np.dot(np.ascontiguousarray(theta.T), columns)
        value = derivatives(family, eta, target, weight, basis, slope, curve)
    converged, late = False, 0.0
    for _ in range(max_steps if len(theta) else 0):
        step, decrement, missed, is_steep = _newton_step(columns, slope, curve, ridge, theta)
        if not decrement > 0:
            converged = not is_steep  # a slope without curvature leads nowhere
            break
        change = np.dot(np.ascontiguousarray(step.T), columns)
        length, ahead = 1.0, -np.inf
        for _ in range(HALVINGS):
            trial = theta + length * step
            moved = eta + length * change
            ahead = derivatives(family, moved, target, weight, basis, slope, curve) - _penalty(ridge, trial)
            if ahead >= value + ARMIJO * length * decrement or decrement < tol:
                break
            length /= 2
        if not ahead > value and decrement >= tol:  # nothing is left but rounding
            converged = max(decrement, missed) < UNCONVERGED * tol
            break
        if decrement < LATE * tol:
            late = max(late, length * np.abs(change).max())
        # The last step is below what values can show, but not below what coefficients can. Where nothing
        # curves but the penalty, it leads far back, and is not taken.
        if ahead >= value - UNCONVERGED * tol:
            theta[:] = trial
            eta = moved
        value = max(value, ahead)
        if decrement < tol:
            converged = missed < UNCONVERGED * tol
            break
    return value, converged or not len(theta), late


@njit(cache=True)
def gather(columns, begin, members, elements, with_intercept):
    """Return the columns of elements, one below the other, and a row of ones behind them if asked for."""
    size = 0
    for element in elements:
        size += begin[element + 1] - begin[element]
    gathered = np.ones((size + (1 if with_intercept else 0), columns.shape[1]))
    row = 0
    for element in elements:
        for member in members[begin[element] : begin[element + 1]]:
            gathered[row] = columns[member]
            row += 1
    return gathered


@njit(cache=True)
def _after(support, added, dropped):
    """Return the elements after a move, and for each its place in the support (-1 for a newcomer)."""
    elements = np.empty(len(support) + len(added), np.intp)
    places = np.empty(len(elements), np.intp)
    size = 0
    for place, element in enumerate(support):
        if not (dropped == element).any():
            elements[size], places[size] = element, place
            size += 1
    for element in added:
        if element >= 0:
            elements[size], places[size] = element, -1
            size += 1
    return elements[:size], places[:size]


@njit(cache=True)
def values_after(
    family, data, sample, with_intercept, support, theta, alone, least, added, dropped, tol, max_steps
):
    """Return the value after each move, refitted from what stays, and whether it was reached."""
    columns, begin, members, ridge = data
    offset, target, weight, basis = sample
    values, converged = np.empty(len(added)), np.empty(len(added), np.bool_)
    first = np.zeros(len(support) + 1, np.intp)
    for place, element in enumerate(support):
        first[place + 1] = first[place] + begin[element + 1] - begin[element]
    for move in range(len(added)):
        elements, places = _after(support, added[move], dropped[move])
        chosen = gather(columns, begin, members, elements, with_intercept)
        fitted, penalty = np.zeros((len(chosen), theta.shape[1])), np.zeros(len(chosen))
        row = 0
        for index in range(len(elements)):
            element, place = elements[index], places[index]
            size = begin[element + 1] - begin[element]
            if place >= 0:
                fitted[row : row + size] = theta[first[place] : first[place] + size]
            penalty[row : row + size] = ridge[members[begin[element] : begin[element + 1]]]
            row += size
        if with_intercept:
            fitted[row] = theta[-1]
        values[move], converged[move], _ = refit(
            family, chosen, offset, target, weight, basis, penalty, fitted, alone, least, tol, max_steps
        )
    return values, converged
