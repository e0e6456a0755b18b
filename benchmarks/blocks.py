"""``python -m benchmarks.blocks``: classes and groups of columns beside abess.

abess is for this page only: ``pip install '.[peers]'``. Both get the same data in the same process and one
thread, and choose sets of the same size; both sets are refitted by the same objective, so that values compare
sets and nothing else. Estimators are timed as users call them, with all they do before and after the search.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import swapwise as sw

Selector = Callable[[], Any]


@dataclass(frozen=True)
class Instance:
    """Data, the objective that judges, and what each program does with them."""

    objective: sw.SparseObjective
    swapwise: Selector
    abess: Selector


@dataclass(frozen=True)
class Compared:
    """Times and values of one trial."""

    seconds: float
    abess_seconds: float
    value: float
    abess_value: float

    @property
    def ratio(self) -> float:
        """How many times as long as abess the library takes."""
        return self.seconds / self.abess_seconds


def classes(samples: int, features: int, n_classes: int, size: int, seed: int) -> Instance:
    """Draw Gaussian columns and classes that depend on a few of them."""
    rng = np.random.default_rng([seed, samples])
    X = rng.standard_normal((samples, features))
    truth = rng.choice(features, size, replace=False)
    scores = X[:, truth] @ rng.standard_normal((size, n_classes))
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)

    def own() -> Any:
        return sw.SparseClassifier(size, ridge=0.0).fit(X, y).result_.support

    def peer() -> Any:
        from abess import MultinomialRegression

        model = MultinomialRegression(support_size=size, thread=1).fit(X, np.eye(n_classes)[y])
        return np.flatnonzero(np.abs(model.coef_).reshape(features, n_classes).sum(axis=1))

    return Instance(sw.Multinomial(X, y), own, peer)


def groups(model: str, samples: int, features: int, width: int, size: int, seed: int) -> Instance:
    """Draw Gaussian columns in groups of equal width, and a target that depends on a few of the groups."""
    rng = np.random.default_rng([seed, samples])
    X = rng.standard_normal((samples, features))
    labels = np.repeat(np.arange(features // width), width)
    is_true = np.isin(labels, rng.choice(features // width, size, replace=False))
    eta = X[:, is_true] @ rng.standard_normal(size * width)
    if model == "linear":
        y = eta + 3 * rng.standard_normal(samples)
        objective: sw.SparseObjective = sw.LeastSquares(X - X.mean(axis=0), y - y.mean(), groups=labels)
        kind: Any = sw.SparseRegressor
    else:
        y = (rng.random(samples) < 1 / (1 + np.exp(-eta / 2))).astype(float)
        objective, kind = sw.Logistic(X, y, groups=labels), sw.SparseClassifier

    def own() -> Any:
        return kind(size, ridge=0.0, groups=labels.tolist()).fit(X, y).result_.support

    def peer() -> Any:
        import abess

        name = "LinearRegression" if model == "linear" else "LogisticRegression"
        fitted = getattr(abess, name)(support_size=size, thread=1, group=labels).fit(X, y)
        return np.unique(labels[np.flatnonzero(fitted.coef_)])

    return Instance(objective, own, peer)


SETTINGS: dict[str, Callable[[int], Instance]] = {
    "multinomial, 600 x 300, 4 classes, 8 chosen": lambda seed: classes(600, 300, 4, 8, seed),
    "multinomial, 2000 x 1000, 5 classes, 15 chosen": lambda seed: classes(2000, 1000, 5, 15, seed),
    "linear, 500 x 1000, 8 groups of 5": lambda seed: groups("linear", 500, 1000, 5, 8, seed),
    "logistic, 500 x 1000, 8 groups of 5": lambda seed: groups("logistic", 500, 1000, 5, 8, seed),
}


def compare(draw: Callable[[int], Instance], trials: int) -> list[Compared]:
    """Time both on several instances; the first is drawn once more, so that compiling is not timed."""
    first = draw(0)
    first.swapwise()
    first.abess()
    return [_compared(draw(seed)) for seed in range(trials)]


def _compared(instance: Instance) -> Compared:
    support, seconds = _timed(instance.swapwise)
    peer, peer_seconds = _timed(instance.abess)
    return Compared(seconds, peer_seconds, instance.objective(support), instance.objective(peer))


def _timed(select: Selector) -> tuple[Any, float]:
    begin = perf_counter()
    support = select()
    return support, perf_counter() - begin


def main() -> None:
    """Print one row per setting: medians of times, and by how much values differ."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5)
    trials = parser.parse_args().trials
    table = Table("setting", title=f"Beside abess, one thread, medians of {trials}")
    for name in ("swapwise ms", "abess ms", "ratio", "value less abess's: least", "largest"):
        table.add_column(name, justify="right")
    with threadpool_limits(1):
        for setting, draw in SETTINGS.items():
            rows = compare(draw, trials)
            differences = [row.value - row.abess_value for row in rows]
            table.add_row(
                setting,
                f"{1000 * median(row.seconds for row in rows):.1f}",
                f"{1000 * median(row.abess_seconds for row in rows):.1f}",
                f"{median(row.ratio for row in rows):.2f}",
                f"{min(differences):+.1e}",
                f"{max(differences):+.1e}",
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
