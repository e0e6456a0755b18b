"""The paper's experiment on sparse regression under a partition matroid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

import swapwise as sw
from swapwise.experiments.instances import RegressionInstance, paper_regression

#: The five methods that the paper compares.
METHODS = ("oblivious", "semi-oblivious", "non-oblivious", "random-residual-greedy", "modular")


def run(
    n_features: int = 200,
    n_samples: int = 50,
    n_categories: int = 5,
    n_true: int = 5,
    capacities: Iterable[int] = range(1, 6),
    trials: int = 10,
    seed: int = 0,
    methods: Sequence[str] = METHODS,
) -> pd.DataFrame:
    """Run every method on the same instances and return one row for each run.

    Parameters
    ----------
    n_features, n_samples, n_categories, n_true : int
        The shape of the instances, see :func:`~swapwise.experiments.instances.paper_regression`.
    capacities : iterable of int
        How many features of each category may be chosen.
    trials : int
        The number of instances.
    seed : int
        A row depends on this and on its own trial, capacity and method, not on what else is run.
    methods : sequence of str
        Names that ``swapwise.maximize`` knows.

    Returns
    -------
    pandas.DataFrame
        Columns ``trial``, ``capacity``, ``method``, ``objective`` (R²) and ``seconds``.

    Examples
    --------
    >>> rows = run(n_features=20, n_true=2, capacities=[1, 2], trials=1, methods=["oblivious", "modular"])
    >>> list(rows.columns)
    ['trial', 'capacity', 'method', 'objective', 'seconds']
    >>> len(rows)
    4
    """
    shape = (n_features, n_samples, n_categories, n_true)
    rows = iterate(shape, capacities=capacities, trials=trials, seed=seed, methods=methods)
    return pd.DataFrame(rows, columns=["trial", "capacity", "method", "objective", "seconds"])


def iterate(
    shape: tuple[int, int, int, int] = (200, 50, 5, 5),
    *,
    capacities: Iterable[int] = range(1, 6),
    trials: int = 10,
    seed: int = 0,
    methods: Sequence[str] = METHODS,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of :func:`run` one by one, as soon as each is known.

    ``shape`` is (n_features, n_samples, n_categories, n_true).
    """
    capacities = list(capacities)
    warm_up(methods)
    for trial in range(trials):
        instance = paper_regression(*shape, random_state=np.random.SeedSequence([seed, trial]))
        for capacity in capacities:
            for method in methods:
                state = row_seed(seed, trial, capacity, method)
                objective, seconds = solve(instance, capacity, method, state)
                yield {
                    "trial": trial,
                    "capacity": capacity,
                    "method": method,
                    "objective": objective,
                    "seconds": seconds,
                }


def solve(instance: RegressionInstance, capacity: int, method: str, random_state: int) -> tuple[float, float]:
    """Return the R² that a method reaches, and the seconds it takes from the data to the answer."""
    begin = perf_counter()
    objective = sw.LeastSquares(instance.X, instance.y)
    constraint = sw.Partition(instance.labels, capacity)
    result = sw.maximize(objective, constraint, method, random_state=random_state)
    return float(result.value), perf_counter() - begin


def row_seed(seed: int, trial: int, capacity: int, method: str) -> int:
    """Return the seed of one row, a function of its coordinates alone.

    >>> row_seed(0, 1, 2, "modular") == row_seed(0, 1, 2, "modular") != row_seed(0, 1, 3, "modular")
    True
    """
    coordinates = np.random.SeedSequence([seed, trial, capacity, *method.encode()])
    return int(coordinates.generate_state(1)[0])


def warm_up(methods: Sequence[str] = METHODS) -> None:
    """Run every method on a tiny instance, swaps included, so that compilation is not timed."""
    instance = paper_regression(n_features=10, n_true=1, random_state=0)
    constraint = sw.Partition(instance.labels, 1)
    sw.maximize(sw.LeastSquares(instance.X, instance.y), constraint, start="arbitrary")
    for method in methods:
        solve(instance, 1, method, 0)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation of R², and mean milliseconds, by method and capacity.

    Methods keep the order in which they first appear.

    >>> rows = pd.DataFrame({"trial": [0, 1], "capacity": 1, "method": "modular",
    ...                      "objective": [0.25, 0.75], "seconds": [0.001, 0.003]})
    >>> summary(rows)
                      mean       std  milliseconds
    method  capacity
    modular 1          0.5  0.353553           2.0
    """
    groups = rows.groupby(["method", "capacity"], sort=False)
    return groups.agg(
        mean=("objective", "mean"),
        std=("objective", "std"),
        milliseconds=("seconds", lambda seconds: 1000 * seconds.mean()),
    )
