"""One lag per signal: each of eight signals acts after its own delay, and lags are strongly collinear."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LassoCV

import swapwise as sw
from benchmarks.structure.case import WITH, WITHOUT, Case
from benchmarks.structure.peers import forecasters
from swapwise.checks import FloatArray, IndexArray

SIGNALS, LAGS, ROWS, NEW_ROWS = 8, 12, 150, 500
MEMORY = 0.95  # the correlation of a signal with itself one step before
NOISE = 0.5  # of the standard deviation of the signal's part


class Plant(NamedTuple):
    """Lags as columns, the response, the signal of each column, the variance of the noise, the true lags."""

    X: FloatArray
    y: FloatArray
    signal: IndexArray
    noise: float
    true: IndexArray


def plant(seed: int) -> Plant:
    """Return a simulated plant whose output answers to each input once, after one to twelve steps."""
    rng = np.random.default_rng(seed)
    inputs = rng.standard_normal((200 + LAGS + ROWS + NEW_ROWS, SIGNALS))
    for step in range(1, len(inputs)):
        inputs[step] = MEMORY * inputs[step - 1] + (1 - MEMORY**2) ** 0.5 * inputs[step]
    inputs = inputs[200:]
    delays = rng.integers(1, LAGS + 1, SIGNALS)
    weights = rng.choice([-1.0, 1.0], SIGNALS) * rng.uniform(0.3, 1.5, SIGNALS)
    now = np.arange(LAGS, len(inputs))
    X = np.column_stack([inputs[now - lag, s] for s in range(SIGNALS) for lag in range(1, LAGS + 1)])
    true = np.arange(SIGNALS) * LAGS + delays - 1
    response = X[:, true] @ weights
    noise = NOISE * response.std()
    y = response + noise * rng.standard_normal(len(now))
    return Plant(X, y, np.repeat(np.arange(SIGNALS), LAGS), noise**2, true)


def one_lag_per_signal(repeats: int = 40) -> Case:
    """Measure the error of forecasts, as a multiple of the noise's variance, which nobody can forecast."""
    rules = {WITHOUT: sw.Uniform(SIGNALS * LAGS, SIGNALS), WITH: sw.Partition(_labels(), 1)}
    errors: dict[str, list[float]] = {}
    for seed in range(repeats):
        made = plant(seed)
        X, y, unseen, later = made.X[:ROWS], made.y[:ROWS], made.X[ROWS:], made.y[ROWS:]
        centre, scale = X.mean(axis=0), X.std(axis=0)
        X, unseen = (X - centre) / scale, (unseen - centre) / scale
        forecasts = {name: sw.SparseRegressor(rule).fit(X, y).predict(unseen) for name, rule in rules.items()}
        forecasts |= {name: run(X, y, SIGNALS, unseen) for name, run in forecasters().items()}
        forecasts["LassoCV, any number"] = LassoCV(max_iter=10_000).fit(X, y).predict(unseen)
        for name, forecast in forecasts.items():
            errors.setdefault(name, []).append(float(np.mean((forecast - later) ** 2)) / made.noise)
    return Case(
        "Which delay does each signal have?",
        f"simulated, {SIGNALS} signals × {LAGS} lags, {ROWS} rows",
        "one lag per signal",
        "mean square / noise variance",
        {name: np.array([values]) for name, values in errors.items()},
    )


def _labels() -> IndexArray:
    return np.repeat(np.arange(SIGNALS), LAGS)
