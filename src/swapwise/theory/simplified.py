r"""Simplified localizability: what swaps gain together, compared with the large move to another base.

The definition (Definition 5 of Fujii 2020) is in :class:`swapwise.theory.localizable.Localizability`, with β
for β₁ + β₂. The proof under a matroid needs only this part of the general definition, so the ratio is larger.
The bijection that gains least is an assignment problem. With w for its gain and r = 1/β, the inequality of a
pair reads α/β ≤ (f(X) + r w) / f(X*), so that the largest α/β is a linear program in α/β and r.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb, isfinite
from typing import Any

import numpy as np

from swapwise.checks import FloatArray
from swapwise.numerics import EQUAL, ROUNDING
from swapwise.objectives.base import SetFunction

# The most pairs whose bijections are compared, which takes some seconds
MOST_PAIRS = 200_000

# If the best ratio is not attained, the constants are those of one that is smaller by this share.
SHORT_OF_LIMIT = 1e-6

Elements = tuple[int, ...]


def after(X: Elements, move: Elements) -> Elements:
    """Return X △ P."""
    return tuple(sorted(set(X) ^ set(move)))


def solved(cost: Any, matrix: Any, limits: FloatArray, bounds: Any = (0, np.inf)) -> FloatArray:
    """Return the x ≥ 0 of least cost with ``matrix @ x ≤ limits``."""
    if not len(cost):
        return np.zeros(0)
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    from scipy.optimize import linprog  # slow to import

    result = linprog(cost, matrix, limits, bounds=bounds, method="highs", options=tight)
    if result.x is None:
        raise RuntimeError(f"the linear program of localizability was not solved: {result.message}")
    return np.maximum(result.x, 0.0)


def values_of(f: SetFunction, sets: Iterable[Elements]) -> tuple[dict[Elements, float], float]:
    """Return the values of sets, with those within rounding of zero set to zero, and that rounding."""
    values = {chosen: f(chosen) for chosen in sets}
    rounding = EQUAL * max(map(abs, values.values())) + ROUNDING * f.scale
    worst, lowest = min(values.items(), key=lambda item: item[1])
    if lowest < -rounding:
        raise ValueError(f"f must be non-negative to be localizable, got {lowest} for {worst}")
    return {chosen: value if value > rounding else 0.0 for chosen, value in values.items()}, rounding


class BasePairs:
    """All pairs of sets of s elements, and the least gain of a bijection between them.

    X goes through ``given``, by default all sets. Gains are divided by the largest value.
    """

    def __init__(self, f: SetFunction, s: int, given: list[Elements] | None = None) -> None:
        count = comb(f.n, s)
        n_pairs = count * (count if given is None else len(given))
        if not 0 < n_pairs <= MOST_PAIRS:
            raise ValueError(
                f"{f.n} elements have {n_pairs} pairs of sets of size {s}; 1 to {MOST_PAIRS} are feasible"
            )
        sets = list(combinations(range(f.n), s))
        self.values, rounding = values_of(f, sets)
        self.scale = max(self.values.values()) or 1.0
        self.pairs = [(X, star) for X in given or sets for star in sets]
        self.f_X, self.f_star = (
            np.array([[self.values[X] for X in pair] for pair in self.pairs]).T / self.scale
        )
        self.gains = (
            np.array([self.gain_of(X, self.worst_bijection(X, star)) for X, star in self.pairs]) / self.scale
        )
        self.gains[np.abs(self.gains) <= rounding / self.scale] = 0.0

    def worst_bijection(self, X: Elements, star: Elements) -> list[Elements]:
        from scipy.optimize import linear_sum_assignment  # slow to import

        out, into = sorted(set(X) - set(star)), sorted(set(star) - set(X))
        cost = [[self.values[after(X, (x, new))] for new in into] for x in out]
        rows, columns = linear_sum_assignment(np.array(cost).reshape(len(out), len(into)))
        return [(out[row], into[column]) for row, column in zip(rows, columns, strict=True)]

    def gain_of(self, X: Elements, swaps: list[Elements]) -> float:
        return sum(self.values[after(X, swap)] - self.values[X] for swap in swaps)

    def best(self) -> tuple[float, float]:
        """Return α and β of the largest α/β; among these, those of the least β."""
        wanted, losing = self.f_star > 0, self.gains < 0
        if not wanted.any():
            return 1.0, 1.0  # zero is localizable with any constants
        rows = np.column_stack([self.f_star, -self.gains])
        ratio, r = solved([-1.0, 0.0], rows, self.f_X, [(0.0, 1.0), (0.0, np.inf)])
        if r <= EQUAL:  # attained only in the limit of ever larger constants
            ratio *= 1 - SHORT_OF_LIMIT
        spare = self.f_X - ratio * self.f_star
        largest = float((spare[losing] / -self.gains[losing]).min(initial=np.inf))
        beta = 1 / max(r, largest if isfinite(largest) else 1.0)
        alpha = min(beta, ((self.gains + beta * self.f_X)[wanted] / self.f_star[wanted]).min())
        return float(f"{max(alpha, 0.0):.12g}"), float(f"{beta:.12g}")

    def slack(self, alpha: float, beta: float) -> FloatArray:
        return self.gains - alpha * self.f_star + beta * self.f_X
