"""``python -m benchmarks.small``: small fits, where what surrounds the search is most of the time.

Resampling and cross-validation make such fits by the thousand. All programs get the same data in the same
process and one thread, in turns; abess is left out if it is not installed (``pip install '.[peers]'``).
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import OrthogonalMatchingPursuit
from threadpoolctl import threadpool_limits

import swapwise as sw

#: Samples, features, chosen: the first is the size of scikit-learn's diabetes data.
SIZES = ((442, 10, 4), (100, 50, 5), (200, 200, 10), (500, 1000, 10))

ROUNDS = 200

Fit = Callable[[np.ndarray, np.ndarray, int], Any]


@dataclass(frozen=True)
class Pace:
    """Median milliseconds of each program's fits of one size."""

    size: str
    milliseconds: dict[str, float]

    def ratio(self, program: str) -> float | None:
        """Return how long a program takes relative to abess, if that is there."""
        peer = self.milliseconds.get("abess")
        return None if peer is None else self.milliseconds[program] / peer


def estimator(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Fit the estimator as a user would."""
    return sw.SparseRegressor(size).fit(X, y)


def maximize(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Search from the data to the answer, without scikit-learn's checks, intercept and scaling."""
    return sw.maximize(sw.LeastSquares(X, y), sw.Uniform(X.shape[1], size))


def abess(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Fit abess with the size given."""
    from abess import LinearRegression

    return LinearRegression(support_size=size).fit(X, y)


def matching_pursuit(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Fit scikit-learn's greedy selection, which swaps nothing."""
    return OrthogonalMatchingPursuit(n_nonzero_coefs=size).fit(X, y)


def programs() -> dict[str, Fit]:
    """Return what can be run here."""
    found: dict[str, Fit] = {"estimator": estimator, "maximize": maximize}
    if find_spec("abess") is not None:
        found["abess"] = abess
    return {**found, "OMP": matching_pursuit}


def draw(samples: int, features: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return independent columns, and a target that needs ``size`` of them."""
    rng = np.random.default_rng([samples, features])
    X = rng.standard_normal((samples, features))
    return X, X[:, :size] @ rng.uniform(1.0, 2.0, size) + rng.standard_normal(samples)


def paces(rounds: int = ROUNDS) -> list[Pace]:
    """Time all programs at all sizes, in turns, so that what slows the machine slows all alike."""
    rows, fits = [], programs()
    with threadpool_limits(1):
        for samples, features, size in SIZES:
            X, y = draw(samples, features, size)
            seconds: dict[str, list[float]] = {name: [] for name in fits}
            for turn in range(rounds + 1):
                for name, fit in fits.items():
                    begin = perf_counter()
                    fit(X, y, size)
                    if turn:  # the first may load what the others find there
                        seconds[name].append(perf_counter() - begin)
            medians = {name: 1000 * median(times) for name, times in seconds.items()}
            rows.append(Pace(f"{samples} x {features}, {size}", medians))
    return rows


def small_table(rounds: int = ROUNDS) -> Table:
    """Show medians, and how many times as long as abess each program takes."""
    title = f"Small least-squares fits, ms, median of {rounds}; in brackets: time / abess's"
    table = Table("samples x features, chosen", title=title)
    for name in programs():
        table.add_column(name, justify="right")
    for row in paces(rounds):
        ratios = {name: row.ratio(name) for name in row.milliseconds}
        cells = [
            f"{time:.2f}" + ("" if ratios[name] is None else f" ({ratios[name]:.2f})")
            for name, time in row.milliseconds.items()
        ]
        table.add_row(row.size, *cells)
    return table


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    Console(width=100).print(small_table(parser.parse_args().rounds))
