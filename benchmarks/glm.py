"""Likelihoods: hard classifications beside abess, what bounds spare exact searches, and what a path costs.

``python -m benchmarks.glm`` fits 20 hard classifications, nearly separable and correlated by 0.8, beside
abess: in one process and one thread, in turns, every answer refitted by the same program.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import median
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import swapwise as sw
from benchmarks.peers import PEERS
from benchmarks.race.hard import autoregression
from swapwise.objectives.base import State
from swapwise.objectives.glm.objective import GeneralizedLinear

# Samples, features, chosen
HARD_SIZES = ((300, 1000, 10), (600, 2000, 15))
HARD_DESIGNS = ("all by 0.8", "neighbours by 0.8")
HARD_SEEDS = 5

# The standard deviation of the log-odds: few samples are left that could be of either class.
HARD_SPREAD = 5.0

# Likelihoods that differ by less are the same.
SAME = 1e-9


@dataclass(frozen=True)
class HardClassification:
    """One hard classification: the mean log-likelihood, relative to no features, and median seconds."""

    design: str
    size: str
    seed: int
    value: float
    abess_value: float
    seconds: float
    abess_seconds: float

    @property
    def ratio(self) -> float:
        """How many times as long as abess the library takes."""
        return self.seconds / self.abess_seconds


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


def hard_classification(
    design: str, samples: int, features: int, size: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw correlated columns, and classes that some of them nearly separate."""
    rng = np.random.default_rng([seed, samples, features])
    X = rng.standard_normal((samples, features))
    if design == HARD_DESIGNS[0]:
        X = np.sqrt(0.2) * X + np.sqrt(0.8) * rng.standard_normal((samples, 1))
    else:
        X = autoregression(X, 0.8)
    truth = rng.choice(features, size, replace=False)
    eta = X[:, truth] @ (rng.choice([-1.0, 1.0], size) * rng.uniform(0.5, 1.5, size))
    odds = np.exp(HARD_SPREAD * eta / eta.std())
    return X, (rng.random(samples) < odds / (1 + odds)).astype(float)


def hard_classifications(
    sizes: Sequence[tuple[int, int, int]] = HARD_SIZES, seeds: int = HARD_SEEDS, runs: int = 5
) -> list[HardClassification]:
    """Fit each of them by both programs, in turns."""
    rows: list[HardClassification] = []
    programs = {name: PEERS["logistic"][name] for name in ("swapwise", "abess")}
    for design, (samples, features, size), seed in product(HARD_DESIGNS, sizes, range(seeds)):
        X, y = hard_classification(design, samples, features, size, seed)
        objective, values = sw.Logistic(X, y), dict[str, float]()
        seconds: dict[str, list[float]] = {name: [] for name in programs}
        for select in programs.values() if not rows else ():
            select(X, y, size)  # imports, which are not to be timed
        for _ in range(runs):
            for name, select in programs.items():
                begin = perf_counter()
                support = select(X, y, size)
                seconds[name].append(perf_counter() - begin)
                values[name] = objective(support)
        times = (median(seconds[name]) for name in programs)
        shape = f"{samples} x {features}, {size}"
        rows.append(HardClassification(design, shape, seed, *values.values(), *times))
    return rows


def hard_table(rows: Sequence[HardClassification]) -> Table:
    """Show them one by one."""
    names = "correlated", "size", "seed", "likelihood", "of abess", "ms", "of abess", "ratio"
    table = Table(*names, title="Hard classifications", title_justify="left")
    for row in rows:
        values = f"{row.value:.6f}", f"{row.abess_value:.6f}"
        times = f"{1000 * row.seconds:.1f}", f"{1000 * row.abess_seconds:.1f}", f"{row.ratio:.2f}"
        table.add_row(row.design, row.size, str(row.seed), *values, *times)
    return table


def hard_verdict(rows: Sequence[HardClassification]) -> str:
    """Say how they compare.

    >>> hard_verdict([HardClassification("", "2 x 3, 1", 0, 0.5, 0.4, 1.0, 2.0)])
    'likelihood below that of abess: 0 of 1; above: 1; time relative to abess, median: 0.50 (2 x 3, 1: 0.50)'
    """
    below = sum(row.value < row.abess_value - SAME for row in rows)
    above = sum(row.value > row.abess_value + SAME for row in rows)
    by_size = {
        size: median(row.ratio for row in rows if row.size == size) for size in {row.size for row in rows}
    }
    parts = "; ".join(f"{size}: {ratio:.2f}" for size, ratio in sorted(by_size.items()))
    return (
        f"likelihood below that of abess: {below} of {len(rows)}; above: {above}; time relative to abess, "
        f"median: {median(row.ratio for row in rows):.2f} ({parts})"
    )


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
        sw.SparseGLMRegressor: rng.poisson(np.exp(eta / 6)),
    }
    paths = (sw.SparseRegressorCV, sw.SparseClassifierCV, sw.SparseGLMRegressorCV)
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what was measured."""
    parser = ArgumentParser(prog="python -m benchmarks.glm", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="of which the median time is taken; 5")
    with threadpool_limits(1):
        rows = hard_classifications(runs=parser.parse_args(arguments).runs)
    console = Console(width=110)
    console.print(hard_table(rows))
    console.print(hard_verdict(rows), highlight=False)


if __name__ == "__main__":
    main()
