"""``python -m benchmarks.threads``: four threads that fit at once, and the same fits in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import swapwise as sw
from swapwise.threads import kernel_threads

THREADS = 4


@dataclass(frozen=True)
class Together:
    """Seconds of fits in turn and at once, and whether the answers are the same."""

    what: str
    in_turn: float
    at_once: float
    same: bool


def together(rounds: int = 5) -> Iterator[Together]:
    """Fit four data sets of every kind, each on one thread."""
    rng = np.random.default_rng(0)
    wide = [rng.standard_normal((2000, 2000)) for _ in range(THREADS)]
    targets = [X[:, :20].sum(axis=1) + 3 * rng.standard_normal(len(X)) for X in wide]
    spins = [np.sign(rng.standard_normal((1000, 16))) for _ in range(THREADS)]
    fits: dict[str, Callable[[int], Any]] = {
        "SparseRegressor, 2000 x 2000, 20": lambda k: sw.SparseRegressor(20).fit(wide[k], targets[k]).coef_,
        "SparseClassifier, 2000 x 2000, 10": lambda k: (
            sw.SparseClassifier(10).fit(wide[k], targets[k] > 0).coef_
        ),
        "IsingGraph, 1000 x 16, degree 3": lambda k: sorted(
            sw.IsingGraph(max_degree=3).fit(spins[k]).graph_.edges(data="weight")
        ),
    }
    with threadpool_limits(1), ThreadPoolExecutor(THREADS) as pool:
        for what, many_threads in fits.items():
            fit = partial(_on_one_thread, many_threads)
            in_turn, at_once, same = [], [], True
            for _ in range(rounds):
                begin = perf_counter()
                plain = [fit(k) for k in range(THREADS)]
                middle = perf_counter()
                threaded = list(pool.map(fit, range(THREADS)))
                in_turn.append(middle - begin)
                at_once.append(perf_counter() - middle)
                same &= all(np.array_equal(*pair) for pair in zip(plain, threaded, strict=True))
            yield Together(what, min(in_turn), min(at_once), same)


def _on_one_thread(fit: Callable[[int], Any], k: int) -> Any:
    with kernel_threads(1):  # which holds for the thread that says so
        return fit(k)


def threads_table() -> Table:
    """Show what threads gain."""
    table = Table("fits", "in turn s", "at once s", "ratio", "same answers", title=f"{THREADS} threads")
    for row in together():
        ratio = row.at_once / row.in_turn
        same = "yes" if row.same else "no"
        table.add_row(row.what, f"{row.in_turn:.3f}", f"{row.at_once:.3f}", f"{ratio:.2f}", same)
    return table


if __name__ == "__main__":
    Console().print(threads_table())
