"""Small problems whose coefficients have bounds, and what scipy says of their sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import minimize

import swapwise as sw
from swapwise.objectives.base import SparseObjective
from tests.objectives.glm.targets import TARGETS

KINDS = tuple(TARGETS)
#: What is done to the columns
SHAPES = (
    "plain",
    "copied",
    "constant",
    "zero",
    "rounded",
    "nearly copied",
    "opposite",
    "units",
    "few samples",
)


def columns_of(rng: np.random.Generator, shape: str, n: int = 5) -> np.ndarray:
    X = rng.standard_normal((3 if shape == "few samples" else 25, n))
    if shape in ("copied", "nearly copied", "opposite"):
        X[:, 1] = -X[:, 0] if shape == "opposite" else X[:, 0]
    if shape == "nearly copied":
        X[:, 1] += 1e-7 * rng.standard_normal(len(X))
    if shape in ("constant", "zero"):
        X[:, 0] = float(shape == "constant")
    if shape == "rounded":
        X = np.round(X)
    return X * 10.0 ** rng.integers(-3, 4, n) if shape == "units" else X


def bounds_of(rng: np.random.Generator, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends: of one sign, narrow, infinite and both zero, in the units of the columns."""
    unit = 0.3 / np.maximum(np.sqrt((X**2).mean(axis=0)), 1e-3)
    lower = np.where(
        rng.random(X.shape[1]) < 0.4, 0.0, np.where(rng.random(X.shape[1]) < 0.5, -unit, -np.inf)
    )
    upper = np.where(rng.random(X.shape[1]) < 0.3, 0.0, np.where(rng.random(X.shape[1]) < 0.5, unit, np.inf))
    return (np.zeros_like(lower), np.full_like(upper, np.inf)) if rng.random() < 0.2 else (lower, upper)


def likelihood_of(kind: type, shape: str, seed: int, *, separable: bool = False) -> SparseObjective:
    rng = np.random.default_rng(seed)
    X = columns_of(rng, shape)
    eta = X @ rng.standard_normal(X.shape[1]) / np.sqrt((X**2).mean())
    y = TARGETS[kind](rng, eta)
    y[0], y[1] = max(y[0], 1.0), min(y[1], 1.0) if kind is sw.Gamma else 0.0  # something to explain
    if separable:
        y = (X[:, -1] > 0).astype(float)
    lower, upper = bounds_of(rng, X)
    options = {"alpha": 0.5} if kind is sw.NegativeBinomial else {}
    return kind(
        X,
        y,
        ridge=float(rng.choice([0.0, 1e-3, 0.1])),
        sample_weight=rng.random(len(X)) if rng.random() < 0.3 else None,
        offset=0.3 * rng.standard_normal(len(X)) if rng.random() < 0.3 else None,
        fit_intercept=bool(rng.random() < 0.7),
        bounds=list(zip(lower, upper, strict=True)),
        **options,
    )


def sets_of(n: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(1, n + 1) for chosen in combinations(range(n), size)]


def value_by_scipy(f: SparseObjective, chosen: tuple[int, ...]) -> float:
    """Return the largest value within the bounds that L-BFGS-B finds."""
    rows = list(chosen)

    def negated(point: np.ndarray) -> tuple[float, np.ndarray]:
        coef = np.zeros(f.n)
        coef[rows] = point
        value, gradient = f.value_and_gradient_at(coef)
        return -value, -gradient[rows]

    assert f.bounds is not None
    bounds = list(zip(f.bounds.lower[rows], f.bounds.upper[rows], strict=True))
    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 2000, "maxcor": 50}
    found = minimize(
        negated, np.zeros(len(rows)), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return -float(found.fun)


def is_local_optimum(f: sw.CustomSetFunction, support: np.ndarray, size: int, tol: float) -> bool:
    """Return whether no set of the size that differs in one element has a larger value."""
    chosen, value = set(support.tolist()), f(support)
    swaps = [chosen - {i} | {j} for i in chosen for j in set(range(f.n)) - chosen]
    grown = [chosen | {j} for j in set(range(f.n)) - chosen] if len(chosen) < size else []
    return all(f(sorted(other)) <= value + tol for other in swaps + grown)
