"""The likelihood families: value, slope and curvature of each sample in its linear predictor.

A family is known by its number and one parameter, ``(number, parameter)``. To add one, write a function of
the samples and name it in :func:`derivatives`; for proven bounds, say in :func:`divergences` how far an
outcome is from a prediction.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.kernels import GAMMA, LOGISTIC, MULTINOMIAL, NEGATIVE_BINOMIAL, POISSON

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
def _gamma(eta, target, weight, slope, curve):
    value = 0.0
    for s in range(len(target)):
        ratio = target[s] * np.exp(min(-eta[s], LARGEST_EXPONENT))
        value -= weight[s] * (ratio + eta[s])
        slope[s] = weight[s] * (ratio - 1.0)
        curve[s] = weight[s] * ratio
    return value


@njit(cache=True, error_model="numpy")
def _negative_binomial(eta, target, weight, alpha, slope, curve):
    """A logistic likelihood of ``target + 1/alpha`` trials, at the log-odds ``η + log alpha``."""
    value, shift = 0.0, np.log(alpha)
    for s in range(len(target)):
        trials, odds = target[s] + 1.0 / alpha, eta[s] + shift
        small = np.exp(-abs(odds))
        likely = 1.0 / (1.0 + small)
        p, q = (likely, small * likely) if odds >= 0 else (small * likely, likely)
        value += weight[s] * (target[s] * eta[s] - trials * (max(odds, 0.0) + np.log1p(small)))
        slope[s] = weight[s] * (target[s] * q - p / alpha)
        curve[s] = weight[s] * trials * small * likely * likely
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
    number, parameter = family
    if number == LOGISTIC:
        return _logistic(eta[0], target, weight, slope[0], curve[0, 0])
    if number == POISSON:
        return _poisson(eta[0], target, weight, slope[0], curve[0, 0])
    if number == GAMMA:
        return _gamma(eta[0], target, weight, slope[0], curve[0, 0])
    if number == NEGATIVE_BINOMIAL:
        return _negative_binomial(eta[0], target, weight, parameter, slope[0], curve[0, 0])
    if number == MULTINOMIAL:
        return _multinomial(eta, target, weight, basis, slope, curve)
    raise ValueError("a family without a kernel")


@njit(cache=True, error_model="numpy")
def _logistic_divergences(eta, weight, steps, total):
    for s in range(len(eta)):
        if weight[s] == 0.0:
            continue
        small = np.exp(-abs(eta[s]))
        p, q = 1.0 / (1.0 + small), small / (1.0 + small)
        if eta[s] < 0:
            p, q = q, p
        for row in range(len(steps)):
            up, down = q * steps[row, s], -p * steps[row, s]
            if up <= -1.0 or down <= -1.0:
                total[row] = np.inf
            else:
                gap = p * (1.0 + up) * np.log1p(up) + q * (1.0 + down) * np.log1p(down)
                total[row] += weight[s] * gap


@njit(cache=True, error_model="numpy")
def _poisson_divergences(eta, weight, steps, total):
    for s in range(len(eta)):
        if weight[s] == 0.0:
            continue
        mean = np.exp(min(eta[s], LARGEST_EXPONENT))
        for row in range(len(steps)):
            z = steps[row, s]
            if z <= -1.0:
                total[row] = np.inf
            else:
                total[row] += weight[s] * mean * ((1.0 + z) * np.log1p(z) - z)


@njit(cache=True, error_model="numpy")
def _gamma_divergences(eta, target, weight, steps, total):
    for s in range(len(eta)):
        ratio = weight[s] * target[s] * np.exp(min(-eta[s], LARGEST_EXPONENT))
        for row in range(len(steps)):
            z = -steps[row, s]
            if ratio > 0.0 and z <= -1.0:
                total[row] = np.inf
            elif ratio > 0.0:
                total[row] += ratio * ((1.0 + z) * np.log1p(z) - z)


@njit(cache=True)
def divergences(family, eta, target, weight, steps):
    """Return for every row z of steps how far the dual point of the step is from that of the prediction at η.

    With L the loss of a sample, L* its conjugate, r the slope of L at η and v its curvature, that is
    ``Σ_s ω_s [L*(r + v z) − L*(r) − η v z]``; infinity where L* is.
    """
    number, parameter = family
    total = np.zeros(len(steps))
    if number == LOGISTIC:
        _logistic_divergences(eta, weight, steps, total)
    elif number == POISSON:
        _poisson_divergences(eta, weight, steps, total)
    elif number == GAMMA:
        _gamma_divergences(eta, target, weight, steps, total)
    elif number == NEGATIVE_BINOMIAL:
        trials = target + 1.0 / parameter
        _logistic_divergences(eta + np.log(parameter), weight * trials, steps, total)
    else:
        raise ValueError("a family without a divergence")
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
