"""One cell of the grid becomes one row: what it reached and, where that is shown, how long it took."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from swapwise.experiments.grid import COORDINATES, Cell
from swapwise.experiments.procedures import FIGURES
from swapwise.experiments.settings import Setting

#: The columns of a row.
COLUMNS = (*COORDINATES, *FIGURES, "quality", "seconds")

Row = dict[str, Any]


def measure(cell: Cell) -> Row:
    """Run a cell on one core and return its row.

    ``quality`` is what the paper plots: the value divided by that of the true graph for graphs, and R²
    itself for regression. ``seconds`` are measured only where the paper shows them.

    >>> from swapwise.experiments.grid import cells
    >>> row = measure(cells(trials=1, only=["regression-200", "modular"])[4])
    >>> row["size"], round(row["quality"], 2), row["status"]
    (5, 0.91, 'COMPLETE')
    """
    block = cell.block
    instance, yardstick = _instance(block.setting, cell.trial, cell.seed)
    seed = cell.method_seed()
    seconds = []
    with one_core():
        for _ in range(block.procedure.repeats if cell.is_timed else 1):
            begin = perf_counter()
            figures = block.procedure.run(block.setting, instance, cell.size, cell.flavour, seed)
            seconds.append(perf_counter() - begin)
    row: Row = dict.fromkeys(COLUMNS)
    row.update(zip(COORDINATES, cell.key, strict=True))
    row.update(figures, quality=figures["value"] / yardstick)
    if cell.is_timed:
        row["seconds"] = median(seconds)
    return row


@contextmanager
def one_core() -> Iterator[None]:
    """Keep linear algebra and compiled loops on one thread, and warnings of searches to themselves.

    The paper's instances are often separable, or have more features than rank: that is as it should be.
    """
    import numba

    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        numba.set_num_threads(threads)


@lru_cache(maxsize=64)  # a process meets the same few instances again and again
def _instance(setting: Setting, trial: int, seed: int) -> tuple[Any, float]:
    """Return an instance, which all methods, sizes and flavours share, and its yardstick."""
    with one_core():
        instance = setting.instance(np.random.SeedSequence([seed, trial, *setting.name.encode()]))
        return instance, setting.yardstick(instance)
