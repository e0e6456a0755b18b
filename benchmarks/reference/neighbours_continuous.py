"""Related methods, written plainly: CLASH, ARHT, Frank–Wolfe, and one pass over the elements.

Max-weight sets come from a list of all independent sets, fits within a ball from a general solver, and every
value is a refit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from swapwise.paper.plain.least_squares import PlainLeastSquares
from swapwise.paper.plain.search import IsIndependent, Outcome

FloatArray = NDArray[np.float64]
Sets = list[tuple[int, ...]]


def independent_sets(is_independent: IsIndependent, n: int) -> Sets:
    """Return all independent sets, small ones first."""
    return [S for k in range(n + 1) for S in combinations(range(n), k) if is_independent(list(S))]


def heaviest(sets: Sets, weight: FloatArray) -> set[int]:
    """Return the independent set of largest weight, without elements that weigh nothing."""
    best = max(sets, key=lambda S: weight[list(S)].sum())
    return {i for i in best if weight[i] > 0}


def onto_l1_ball(z: FloatArray, radius: float) -> FloatArray:
    """Return the nearest point of the l1 ball: shrink by a number that is found by bisection."""
    if np.abs(z).sum() <= radius:
        return z
    low, high = 0.0, float(np.abs(z).max())
    for _ in range(200):
        middle = (low + high) / 2
        if np.maximum(np.abs(z) - middle, 0).sum() > radius:
            low = middle
        else:
            high = middle
    return np.sign(z) * np.maximum(np.abs(z) - high, 0)


def coef_in_ball(f: PlainLeastSquares, S: Iterable[int], radius: float) -> FloatArray:
    """Return the best coefficients on S within the l1 ball: positive and negative parts in a solver."""
    free, chosen = f.coef(S), sorted(S)
    if np.abs(free).sum() <= radius or not chosen:
        return free
    k, A = len(chosen), f.A[:, sorted(S)]

    def loss(parts: FloatArray) -> tuple[float, FloatArray]:
        w = parts[:k] - parts[k:]
        error = f.y - A @ w
        slope = (2 / f.total) * (f.ridge * w - A.T @ error)
        return float(error @ error + f.ridge * (w @ w)) / f.total, np.concatenate([slope, -slope])

    room = {"type": "ineq", "fun": lambda p: radius - p.sum(), "jac": lambda p: -np.ones(2 * k)}
    start = np.full(2 * k, radius / (4 * k))
    found = minimize(
        loss,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * (2 * k),
        constraints=[room],
        options={"maxiter": 1000, "ftol": 1e-16},
    )
    w = np.zeros(f.n)
    w[chosen] = found.x[:k] - found.x[k:]
    w[np.abs(w) < 1e-9 * radius] = 0.0
    return w


def clash(f: PlainLeastSquares, is_independent: IsIndependent, radius: float | None = None) -> Outcome:
    """Kyrillidis and Cevher (2012): expand, fit within the ball, select, fit again."""
    sets = independent_sets(is_independent, f.n)
    if radius is None:
        radius = float(np.abs(f.coef(heaviest(sets, f.gradient(np.zeros(f.n)) ** 2))).sum())
    S, w, seen, best = set[int](), np.zeros(f.n), list[set[int]](), set[int]()
    while True:
        slope = f.gradient(w) ** 2
        slope[sorted(S)] = 0.0
        v = coef_in_ball(f, S | heaviest(sets, slope), radius)
        S = heaviest(sets, v**2)
        if S in seen:
            return Outcome(best, f.value(best), [])
        seen.append(S)
        best = max([best, S], key=f.value)
        w = coef_in_ball(f, S, radius)


def coef_with_ridge(f: PlainLeastSquares, S: set[int], ridge: FloatArray) -> FloatArray:
    """Return the best coefficients on S of ``u(w) − ½ Σ ridge_i w_i²``, from the normal equations."""
    chosen, w = sorted(S), np.zeros(f.n)
    A = f.A[:, chosen]
    hessian = (2 / f.total) * (A.T @ A + f.ridge * np.eye(len(chosen)))
    w[chosen] = np.linalg.lstsq(hessian + np.diag(ridge[chosen]), (2 / f.total) * A.T @ f.y, rcond=None)[0]
    return w


def arht(f: PlainLeastSquares, size: int, rho: float, rng: np.random.Generator) -> Outcome:
    """Axiotis and Sviridenko (2021) under a size limit, with the value of the best set so far as target."""
    ridge, S, best = np.full(f.n, rho), set[int](), set[int]()

    def fitted(X: set[int]) -> tuple[float, FloatArray]:
        w = coef_with_ridge(f, X, ridge)
        return f.u(w) - float(ridge @ w**2) / 2, w

    while True:
        value, w = fitted(S)
        outside = [j for j in range(f.n) if j not in S]
        slope = np.abs(f.gradient(w))
        there = -np.inf
        if size and outside and slope[outside].max() > 0:
            into = max(outside, key=lambda j: slope[j])
            out = {min(sorted(S), key=lambda i: w[i] ** 2)} if len(S) == size else set()
            target = S - out | {into}
            there = fitted(target)[0]
        shares = np.array([w[i] ** 2 * (ridge[i] > 0) for i in sorted(S)])
        wanted = (f.value(best) - value) / max(1, size) if shares.any() else 0.0
        if there - value >= wanted and there - value > 1e-10 * max(f.value(best), 1.0):
            S = target
            best = max([best, S], key=f.value)
        elif shares.any():
            ridge[rng.choice(sorted(S), p=shares / shares.sum())] = 0.0
        else:
            return Outcome(best, f.value(best), [])


def frank_wolfe(f: PlainLeastSquares, is_independent: IsIndependent, radius: float, rounds: int) -> Outcome:
    """Lacoste-Julien and Jaggi (2015): pairwise steps with exact line search, and projections of the mean."""
    sets, best = independent_sets(is_independent, f.n), set[int]()
    atoms, weights = [np.zeros(f.n)], [1.0]
    for _ in range(rounds):
        w = np.array(weights) @ np.array(atoms)
        g = f.gradient(w)
        top = np.zeros(f.n)
        S = sorted(heaviest(sets, g**2))
        if S:
            top[S] = radius * g[S] / np.linalg.norm(g[S])
        if g @ (top - w) <= 1e-2 * abs(f.u(w)):
            break
        # Both ends of the last line search are ties: the first of them.
        slopes = [g @ atom for atom in atoms]
        away = next(a for a, slope in enumerate(slopes) if slope <= min(slopes) + 1e-9 * (g @ top))
        d = top - atoms[away]
        curve = (2 / f.total) * float(np.sum((f.A @ d) ** 2) + f.ridge * (d @ d))
        step = min(weights[away], float(g @ d) / curve) if curve > 0 else weights[away]
        weights[away] -= step
        if weights[away] <= 1e-12:
            del weights[away], atoms[away]
        atoms.append(top)
        weights.append(step)
        best = max([best, heaviest(sets, (np.array(weights) @ np.array(atoms)) ** 2)], key=f.value)
    return Outcome(best, f.value(best), [])


Threshold = Callable[[float, float, int], float]


def sieves(
    f: Any,
    is_independent: IsIndependent,
    order: Iterable[int],
    size: int,
    epsilon: float,
    reach: tuple[float, float],
    threshold: Threshold,
) -> Outcome:
    """One pass with a set per guess ``(1 + ε)^j`` between ``reach`` times the best single element so far.

    ``threshold`` says what an element has to add, by the guess, the value of a set and its size.
    """
    held: dict[int, list[int]] = {}
    best, single = list[int](), 1e-10 * getattr(f, "scale", 1.0)
    for x in order:
        if not is_independent([x]):
            continue
        value = f.value([x])
        if value > single:
            single = value
            ends = [np.log(share * single) / np.log(1 + epsilon) for share in reach]
            powers = range(int(np.ceil(ends[0] - 1e-9)), int(np.floor(ends[1] + 1e-9)) + 1)
            held = {j: held.get(j, []) for j in powers}
        found = [[x]]
        for j, S in held.items():
            if len(S) < size and is_independent(sorted([*S, x])):
                gain = f.value([*S, x]) - f.value(S)
                if gain >= threshold((1 + epsilon) ** j, f.value(S), len(S)) and gain > 1e-10:
                    held[j] = [*S, x]
                    found.append(held[j])
        best = max([best, *found], key=f.value)
    return Outcome(set(best), f.value(best), [])


def streaming_swaps(f: Any, is_independent: IsIndependent, order: Iterable[int]) -> Outcome:
    """Chakrabarti and Kale (2014): a new element goes in for what weighs at most half of it."""
    weight: dict[int, float] = {}
    best: set[int] = set()
    for x in order:
        if not is_independent([x]):
            continue
        S = sorted(weight)
        ways = [
            drop
            for k in range(len(S) + 1)
            for drop in combinations(S, k)
            if is_independent(sorted({*S, x} - set(drop)))
        ]
        drop = min(ways, key=lambda drop: sum(weight[i] for i in drop))
        gain = f.value([*S, x]) - f.value(S)
        if gain > 1e-10 and gain >= 2 * sum(weight[i] for i in drop):
            for i in drop:
                del weight[i]
            weight[x] = gain
            best = max([best, set(weight)], key=lambda T: f.value(sorted(T)))
    return Outcome(best, f.value(sorted(best)), [])
