"""What bounds spare the exact searches of logistic and Poisson regression, and what a path costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from time import perf_counter

import numpy as np

import swapwise as sw
from swapwise.objectives.base import State
from swapwise.objectives.glm.objective import GeneralizedLinear


@dataclass(frozen=True)
class Spared:
    """One search from the empty set, with bounds and with every move refitted."""

    model: str
    method: str
    size: str
    refits: int
    all_refits: int
    seconds: float
    all_seconds: float
    same_moves: bool


@dataclass(frozen=True)
class PathCost:
    """A warm-started path over sizes, beside fits of each size from nothing."""

    model: str
    seconds: float
    last_seconds: float
    grown_seconds: float
    cold_seconds: float
    not_worse: int
    better: int
    sizes: int


def instance(model: str, samples: int, features: int, size: int, seed: int) -> GeneralizedLinear:
    """Draw Gaussian columns, a few of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, features))
    coef = np.zeros(features)
    coef[rng.choice(features, size, replace=False)] = rng.choice([-1.0, 1.0], size)
    if model == "logistic":
        return sw.Logistic(X, rng.random(samples) < 1 / (1 + np.exp(-X @ coef)))
    return sw.Poisson(X, rng.poisson(np.exp(0.3 * X @ coef)))


class _AllRefitted:
    """An objective whose searches refit every move, by the same compiled code."""

    def __init__(self, objective: GeneralizedLinear) -> None:
        self._start, self._objective = objective.start, objective

    def __enter__(self) -> GeneralizedLinear:
        def start(support: object = ()) -> object:
            state = self._start(support)  # type: ignore[arg-type]
            state.find_best = partial(State.find_best, state)  # type: ignore[method-assign]
            return state

        self._objective.start = start  # type: ignore[assignment, method-assign]
        return self._objective

    def __exit__(self, *_: object) -> None:
        del self._objective.start


def spared(seed: int = 0) -> list[Spared]:
    """Count refits and seconds of both, for each exact rule."""
    rows = []
    for samples, features, size in ((500, 300, 8), (1000, 1000, 10)):
        for model, method in product(("logistic", "poisson"), ("oblivious", "semi-oblivious")):
            objective, limit = instance(model, samples, features, size, seed), sw.Uniform(features, size)
            sw.maximize(objective, limit, method, start="empty", max_iter=1)  # compiles, which is not timed
            fast = sw.maximize(objective, limit, method, start="empty")
            with _AllRefitted(objective) as plain:
                slow = sw.maximize(plain, limit, method, start="empty")
            same = [event[1:3] for event in fast.history] == [event[1:3] for event in slow.history]
            counts = fast.n_evaluations, slow.n_evaluations
            shape = f"{samples} x {features}, {size}"
            rows.append(Spared(model, method, shape, *counts, fast.seconds, slow.seconds, same))
    return rows


def path_costs(samples: int = 1000, features: int = 500, most: int = 50) -> list[PathCost]:
    """Time a path of all sizes, the fit of the largest (also from the empty set), and cold fits of all."""
    from sklearn.base import BaseEstimator

    rng = np.random.default_rng(0)
    X = rng.standard_normal((samples, features))
    eta = X[:, :25] @ rng.choice([-1.0, 1.0], 25)
    targets = {
        sw.SparseRegressor: eta + 3 * rng.standard_normal(samples),
        sw.SparseClassifier: rng.random(samples) < 1 / (1 + np.exp(-eta / 2)),
        sw.SparsePoissonRegressor: rng.poisson(np.exp(eta / 6)),
    }
    paths = (sw.SparseRegressorCV, sw.SparseClassifierCV, sw.SparsePoissonRegressorCV)
    rows = []
    for (kind, y), path in zip(targets.items(), paths, strict=True):

        def timed(model: BaseEstimator, y: np.ndarray = y) -> float:
            begin = perf_counter()
            model.fit(X, y)
            return perf_counter() - begin

        timed(kind(2))
        warm = path(sizes=range(1, most + 1), criterion="bic")
        seconds = timed(warm)
        cold = [kind(size) for size in range(1, most + 1)]
        cold_seconds = [timed(model) for model in cold]
        change = warm.path_["value"].to_numpy() - [model.result_.value for model in cold]
        rows.append(
            PathCost(
                kind.__name__,
                seconds,
                cold_seconds[-1],
                timed(kind(most, start="empty")),
                sum(cold_seconds),
                int((change >= -1e-9).sum()),
                int((change > 1e-9).sum()),
                most,
            )
        )
    return rows
