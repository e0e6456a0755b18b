"""Newton refits of generalised linear models, and the values that moves would lead to.

``u(θ) = Σ_s ω_s ℓ(y_s, η_s) − Σ_k ρ_k ‖θ_k‖²/2`` with the linear predictor ``η = offset + θᵀ columns``. One
column a row: its samples lie side by side. θ has a row a column and, in multinomial models, several numbers
a row, so η has as many for each sample (levels).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.kernels import GAUSSIAN, LOGISTIC, POISSON
from swapwise.numerics import FLOAT64_PRECISION

# What a column may have left, relative to its squared length, when those before it are taken out of it. Of
# less, inner products have lost too many of their 16 digits, and it keeps its coefficient. What it could
# still add is estimated: next to nothing if it is a copy of others.
DEPENDENT = 1e-10

# What a step must keep of the rise that its slope promises.
ARMIJO = 1e-4

HALVINGS = 40

# A step that promises so little, in units of the tolerance, is late: near a maximum, if there is one.
LATE = 1e6

# A refit that may miss more than this, in units of the tolerance, did not converge.
UNCONVERGED = 1e3

# What is divided by where an outcome would be negative: what comes out is larger than any value, and finite.
NOTHING_LEFT = 1e-200

# Beyond this an exponential is cut off: it leaves floating point at 709.
LARGEST_EXPONENT = 500.0


@njit(cache=True, error_model="numpy")
def _logistic(eta, target, weight, slope, curve):
    value = 0.0
    for s in range(len(target)):
        small = np.exp(-abs(eta[s]))
        likely = 1.0 / (1.0 + small)
        p = likely if eta[s] >= 0 else small * likely
        value += weight[s] * (target[s] * eta[s] - max(eta[s], 0.0) - np.log1p(small))
        # Where the target is 1, 1 − p is all that counts, and it must not come from a rounded p.
        q = small * likely if eta[s] >= 0 else likely
        slope[s] = weight[s] * (target[s] * q - (1.0 - target[s]) * p)
        curve[s] = weight[s] * small * likely * likely
    return value


@njit(cache=True, error_model="numpy")
def _poisson(eta, target, weight, slope, curve):
    value = 0.0
    for s in range(len(target)):
        mean = np.exp(min(eta[s], LARGEST_EXPONENT))
        value += weight[s] * (target[s] * eta[s] - mean)
        slope[s] = weight[s] * (target[s] - mean)
        curve[s] = weight[s] * mean
    return value


@njit(cache=True, error_model="numpy")
def _gaussian(eta, target, weight, slope, curve):
    value = 0.0
    for s in range(len(target)):
        residual = target[s] - eta[s]
        value -= weight[s] * residual * residual / 2
        slope[s] = weight[s] * residual
        curve[s] = weight[s]
    return value


@njit(cache=True, error_model="numpy")
def _class_probabilities(eta, target, weight, basis):
    """Return the log-likelihood of classes, and the probability of each, classes by samples.

    Scores of the K classes are ``basis @ η``, so that they sum to zero over the classes. Loops run over the
    samples, so that several are computed at a time.
    """
    n_classes, levels = basis.shape
    samples = len(target)
    p, top, total = np.zeros((n_classes, samples)), np.full(samples, -np.inf), np.zeros(samples)
    for k in range(n_classes):
        own = p[k]
        for a in range(levels):
            factor, level = basis[k, a], eta[a]
            for s in range(samples):
                own[s] += factor * level[s]
        for s in range(samples):
            top[s] = own[s] if own[s] > top[s] else top[s]
    above = np.empty(samples)
    for s in range(samples):
        above[s] = p[int(target[s]), s] - top[s]
    for k in range(n_classes):
        own = p[k]
        for s in range(samples):
            own[s] = np.exp(own[s] - top[s])
            total[s] += own[s]
    value = 0.0
    for s in range(samples):
        value += weight[s] * (above[s] - np.log(total[s]))
    for k in range(n_classes):
        p[k] /= total
    return value, p


@njit(cache=True, error_model="numpy")
def _multinomial(eta, target, weight, basis, slope, curve):
    """Write mean levels and their products under the probabilities first, and derivatives in their place."""
    n_classes, levels = basis.shape
    value, p = _class_probabilities(eta, target, weight, basis)
    for a in range(levels):
        slope[a] = 0.0
        for b in range(a, levels):
            product = curve[a, b]
            product[:] = 0.0
            for k in range(n_classes):
                factor, own = basis[k, a] * basis[k, b], p[k]
                if factor != 0.0:  # half of them are
                    for s in range(len(target)):
                        product[s] += factor * own[s]
        for k in range(n_classes):
            factor, own, mean = basis[k, a], p[k], slope[a]
            for s in range(len(target)):
                mean[s] += factor * own[s]
    for a in range(levels):
        for b in range(a, levels):
            product, first, second = curve[a, b], slope[a], slope[b]
            for s in range(len(target)):
                product[s] = weight[s] * (product[s] - first[s] * second[s])
    for a in range(levels):
        mean = slope[a]
        for s in range(len(target)):
            mean[s] = weight[s] * (basis[int(target[s]), a] - mean[s])
    return value


@njit(cache=True)
def derivatives(family, eta, target, weight, basis, slope, curve):
    """Return the log-likelihood; write its slope in η and minus its curvature (upper half, by levels)."""
    if family == LOGISTIC:
        return _logistic(eta[0], target, weight, slope[0], curve[0, 0])
    if family == POISSON:
        return _poisson(eta[0], target, weight, slope[0], curve[0, 0])
    if family == GAUSSIAN:
        return _gaussian(eta[0], target, weight, slope[0], curve[0, 0])
    return _multinomial(eta, target, weight, basis, slope, curve)


@njit(cache=True)
def _definite_solution(matrix, right):
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
    step, missed = _definite_solution(hessian, gradient)
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
        step, promise, missed, is_steep = _newton_step(columns, slope, curve, ridge, theta)
        if not promise > 0:
            converged = not is_steep  # a slope without curvature leads nowhere
            break
        change = np.dot(np.ascontiguousarray(step.T), columns)
        length, ahead = 1.0, -np.inf
        for _ in range(HALVINGS):
            trial = theta + length * step
            moved = eta + length * change
            ahead = derivatives(family, moved, target, weight, basis, slope, curve) - _penalty(ridge, trial)
            if ahead >= value + ARMIJO * length * promise or promise < tol:
                break
            length /= 2
        if not ahead > value and promise >= tol:  # nothing is left but rounding
            converged = max(promise, missed) < UNCONVERGED * tol
            break
        if promise < LATE * tol:
            late = max(late, length * np.abs(change).max())
        # The last step is below what values can show, but not below what coefficients can. Where nothing
        # curves but the penalty, it leads far back, and is not taken.
        if ahead >= value - UNCONVERGED * tol:
            theta[:] = trial
            eta = moved
        value = max(value, ahead)
        if promise < tol:
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
def values_after(problem, support, theta, alone, least, added, dropped, tol, max_steps):
    """Return the value after each move, refitted from what stays, and whether it was reached."""
    family, columns, begin, members, offset, target, weight, basis, ridge, with_intercept = problem
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


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def weighted_squares(columns, weight):
    """Return ``Σ_s v_s a_s²`` for every column."""
    squares = np.zeros(len(columns))
    for j in range(len(columns)):
        for s in range(len(weight)):
            squares[j] += weight[s] * columns[j, s] * columns[j, s]
    return squares


@njit(cache=True, error_model="numpy")
def divergences(family, eta, weight, steps):
    """Return for every row z of steps how far the outcome ``p + v z`` is from the prediction p at η.

    ``Σ_s ω_s [φ(q) − φ(p) − φ'(p)(q − p)]`` with φ the negative entropy; infinity where q is no outcome.
    """
    total = np.zeros(len(steps))
    for s in range(len(eta)):
        if weight[s] == 0.0:
            continue
        small = np.exp(-abs(eta[s]))
        p, q = 1.0 / (1.0 + small), small / (1.0 + small)
        if eta[s] < 0:
            p, q = q, p
        mean = np.exp(min(eta[s], LARGEST_EXPONENT))
        for row in range(len(steps)):
            z = steps[row, s]
            if family == LOGISTIC:
                up, down = q * z, -p * z
                if up <= -1.0 or down <= -1.0:
                    total[row] = np.inf
                else:
                    gap = p * (1.0 + up) * np.log1p(up) + q * (1.0 + down) * np.log1p(down)
                    total[row] += weight[s] * gap
            elif z <= -1.0:
                total[row] = np.inf
            else:
                total[row] += weight[s] * mean * ((1.0 + z) * np.log1p(z) - z)
    return total


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def class_divergences(outcomes, weight, basis, steps):
    """Return for classes how far the outcome ``p (1 + d)`` is from the prediction p at most.

    ``outcomes`` are the predicted p, classes by samples; rows of ``steps`` are steps of the linear predictor,
    levels by samples, and ``basis`` turns these into scores. d is the step in scores less its mean under p.

    ``(1 + d) log(1 + d) − d`` is bounded by its series, cut off after the fourth power: the next term is
    negative for positive d. For negative d all terms are positive, and the rest is less than a geometric
    series. It is beyond all bounds where an outcome would be negative. Loops run over the samples, so that
    several are computed at a time.
    """
    n_classes, levels = basis.shape
    samples = len(weight)
    total, scores, mean = np.zeros(len(steps)), np.empty((n_classes, samples)), np.empty(samples)
    for row in range(len(steps)):
        mean[:] = 0.0
        for k in range(n_classes):
            own = scores[k]
            own[:] = 0.0
            for a in range(levels):
                factor, step = basis[k, a], steps[row, a]
                for s in range(samples):
                    own[s] += factor * step[s]
            for s in range(samples):
                mean[s] += outcomes[k, s] * own[s]
        for k in range(n_classes):
            own, gap = scores[k], 0.0
            for s in range(samples):
                d = own[s] - mean[s]
                square = d * d
                fall = d if d < 0.0 else 0.0
                left = 1.0 + fall if fall > -1.0 else NOTHING_LEFT
                value = square * (0.5 - d / 6.0 + square / 12.0 - square * fall / (20.0 * left))
                gap += weight[s] * outcomes[k, s] * value
            total[row] += gap
    return total


@njit(cache=True)
def shorten_steps(outcomes, basis, curve, chosen, columns, begin, elements, steps, limit, most_rise):
    """Shorten steps in place where an outcome falls by more than a share ``limit``, and return what is lost.

    The same where it rises by more than ``most_rise`` times that: such outcomes have next to no curvature.

    That is what the shortened steps miss of ``Σ_s V_s z_s`` along the chosen columns (elements by levels by
    columns) and along the columns of each element itself (columns by levels, zero for all other elements);
    and whether any step was shortened.
    """
    n_classes, levels = basis.shape
    lost = np.zeros((len(elements), levels, len(chosen)))
    lost_own, is_shorter, d = np.zeros((len(columns), levels)), False, np.empty(n_classes)
    for row in range(len(elements)):
        for s in range(steps.shape[2]):
            mean, lowest, highest = 0.0, np.inf, -np.inf
            for k in range(n_classes):
                d[k] = 0.0
                for a in range(levels):
                    d[k] += basis[k, a] * steps[row, a, s]
                mean += outcomes[k, s] * d[k]
                lowest, highest = min(lowest, d[k]), max(highest, d[k])
            farthest = max(mean - lowest, (highest - mean) / most_rise)
            if farthest <= limit:
                continue
            is_shorter, share = True, limit / farthest
            for a in range(levels):
                missing = 0.0
                for b in range(levels):
                    missing += curve[min(a, b), max(a, b), s] * steps[row, b, s]
                missing *= 1.0 - share
                for k in range(len(chosen)):
                    lost[row, a, k] += missing * chosen[k, s]
                for k in range(begin[elements[row]], begin[elements[row] + 1]):
                    lost_own[k, a] += missing * columns[k, s]
            for a in range(levels):
                steps[row, a, s] *= share
    return lost, lost_own, is_shorter
