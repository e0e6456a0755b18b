"""``python -m benchmarks.potentials``: searches by a potential beside the oblivious one.

Small instances under a partition matroid, with the share of the optimum that every search ends with, and
larger ones with values and times. Packings have the ordered search beside moves of one and two elements.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import swapwise as sw

Problem = tuple[sw.SetFunction, sw.Constraint]

#: How each search is asked for. The oblivious search is run from the empty set, from a maximal set in index
#: order, and from what the potential leads to.
SEARCHES: dict[str, dict[str, Any]] = {
    "greedy": {"method": "greedy"},
    "oblivious": {"method": "oblivious", "start": "empty"},
    "oblivious, arbitrary start": {"method": "oblivious", "start": "arbitrary"},
    "filmus-ward": {"method": "filmus-ward"},
    "oblivious after filmus-ward": {"method": "oblivious", "start": "filmus-ward"},
    "distorted": {"method": "distorted"},
    "oblivious after distorted": {"method": "oblivious", "start": "distorted"},
}

PACKING_SEARCHES: dict[str, dict[str, Any]] = {
    "greedy": {"method": "greedy"},
    "oblivious, q = 1": {"method": "oblivious", "start": "empty"},
    "oblivious, q = 2": {"method": "oblivious", "start": "empty", "q": 2},
    "ordered": {"method": "ordered"},
    "oblivious, q = 1, after ordered": {"method": "oblivious", "start": "ordered"},
}


def coverage(rng: np.random.Generator, n: int) -> sw.Coverage:
    """Return sets of up to 6 of 2n items with uneven weights."""
    sets = [rng.choice(2 * n, rng.integers(1, 7), replace=False) for _ in range(n)]
    return sw.Coverage(sets, dict(enumerate(rng.integers(1, 10, 2 * n).tolist())))


def facility_location(rng: np.random.Generator, n: int) -> sw.FacilityLocation:
    """Return similarities of n clients to n places in the plane."""
    clients, places = rng.random((n, 2)), rng.random((n, 2))
    distance = np.linalg.norm(clients[:, None] - places, axis=2)
    return sw.FacilityLocation(np.exp(-4 * distance))


def regression(rng: np.random.Generator, n: int) -> sw.LeastSquares:
    """Return correlated features, of which a third matter."""
    X = rng.normal(size=(3 * n, n)) + rng.normal(size=(3 * n, 1))
    return sw.LeastSquares(X, X[:, ::3] @ rng.normal(size=X[:, ::3].shape[1]) + 3 * rng.normal(size=3 * n))


def design(rng: np.random.Generator, n: int) -> sw.AOptimal:
    """Return experiments with eight parameters, some on larger scales than others."""
    return sw.AOptimal(rng.normal(size=(n, 8)) * rng.exponential(size=(n, 1)))


OBJECTIVES: dict[str, Callable[[np.random.Generator, int], sw.SetFunction]] = {
    "coverage": coverage,
    "facility location": facility_location,
    "regression": regression,
    "A-optimal design": design,
}


def parted(kind: str, n: int, parts: int, trials: int) -> Iterator[Problem]:
    """Yield problems under a partition matroid that takes one element of each part."""
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        yield OBJECTIVES[kind](rng, n), sw.Partition(rng.permutation(n) % parts, 1)


def packed(p: int, n: int, trials: int) -> Iterator[Problem]:
    """Yield coverage under packings of sets of up to p items."""
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        sets = [rng.choice(2 * p + 2, rng.integers(1, p + 1), replace=False) for _ in range(n)]
        yield coverage(rng, n), sw.SetPacking(sets)


def shares(problems: Iterator[Problem], searches: dict[str, dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return the share of the optimum that each search ends with, by search."""
    found: dict[str, list[float]] = {name: [] for name in searches}
    for objective, constraint in problems:
        best = sw.maximize(objective, constraint, "exhaustive").value
        for name, options in searches.items():
            found[name].append(sw.maximize(objective, constraint, **options).value / best)
    return {name: np.array(each) for name, each in found.items()}


def shares_table(title: str, found: dict[str, np.ndarray]) -> Table:
    """Show mean, first percentile and worst share, and how often the optimum is found."""
    table = Table("search", "mean", "1st percentile", "worst", "optimal", title=title)
    for name, each in found.items():
        numbers = (each.mean(), np.percentile(each, 1), each.min())
        table.add_row(name, *(f"{number:.4f}" for number in numbers), f"{(each > 1 - 1e-9).mean():.0%}")
    return table


def large_table(kind: str, n: int, parts: int, trials: int) -> Table:
    """Show values relative to the best of all searches, and times."""
    values: dict[str, list[float]] = {name: [] for name in SEARCHES}
    seconds: dict[str, list[float]] = {name: [] for name in SEARCHES}
    for objective, constraint in parted(kind, n, parts, trials):
        for name, options in SEARCHES.items():
            begin = perf_counter()
            values[name].append(sw.maximize(objective, constraint, **options).value)
            seconds[name].append(perf_counter() - begin)
    best = np.max(list(values.values()), axis=0)
    table = Table(
        "search", "mean", "worst", "ms", title=f"{kind}: {n} elements, rank {parts}, share of the best"
    )
    for name, each in values.items():
        share = np.array(each) / best
        table.add_row(
            name, f"{share.mean():.4f}", f"{share.min():.4f}", f"{1000 * float(np.median(seconds[name])):.1f}"
        )
    return table


def main() -> None:
    """Print all tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=500, help="small instances of each kind (default: 500)")
    trials, console = parser.parse_args().trials, Console(width=110)
    with threadpool_limits(1):
        for kind in OBJECTIVES:
            found = shares(parted(kind, 12, 4, trials), SEARCHES)
            console.print(shares_table(f"{kind}: 12 elements, 4 parts, {trials} instances", found))
        for p in (3, 4):
            packings = shares(packed(p, 14, trials // 5), PACKING_SEARCHES)
            title = f"coverage, sets of up to {p} items, 14 elements, {trials // 5} instances"
            console.print(shares_table(title, packings))
        for kind in OBJECTIVES:
            console.print(large_table(kind, 300, 20, 5))


if __name__ == "__main__":
    main()
