"""One cell of the grid becomes one row: what it reached and, where that is shown, how long it took."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import isfinite
from statistics import median
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from swapwise.paper.grid import COORDINATES, Cell, Row
from swapwise.paper.procedures import FIGURES
from swapwise.paper.settings import Setting
from swapwise.threads import kernel_threads

if TYPE_CHECKING:
    import pandas as pd

# A timed cell runs again until this many seconds are spent on it, or until it has run this many times: on
# the median of a few milliseconds claims would be decided by chance.
ENOUGH_SECONDS, ENOUGH_RUNS = 0.03, 15

#: The columns of a row.
COLUMNS = (*COORDINATES, *FIGURES, "quality", "seconds", "alone")


def measure(cell: Cell) -> Row:
    """Run a cell on one core and return its row.

    ``quality`` is R² for regression, and for graphs the value divided by that of the true graph (the paper
    divides by the optimum, and does not say how it was found); proofs, whose objective may have a ridge, have
    none. ``seconds`` are processor time of the one thread that searches, which other work on the machine
    hardly changes, the median of several runs where the time is shown. Those cells run ``alone``; seconds of
    others, which share the memory's bandwidth and caches, are not to be compared.
    """
    block = cell.block
    instance, yardstick = instance_of(block.setting, cell.trial, cell.seed)
    seed = cell.method_seed()
    seconds: list[float] = []
    with one_core():
        while not seconds or (cell.is_timed and not _enough(seconds, block.procedure.repeats)):
            begin = thread_time()
            try:
                figures = block.procedure.run(block.setting, instance, cell.size, cell.flavour, seed)
            except UserWarning as broken:
                raise RuntimeError(f"the search of {cell.key} went wrong: {broken}") from broken
            seconds.append(thread_time() - begin)
    row: Row = dict.fromkeys(COLUMNS)
    row.update(zip(COORDINATES, cell.key, strict=True))
    row.update(figures, seconds=median(seconds), alone=cell.is_timed)
    if block.procedure.part != "certificates":
        row["quality"] = figures["value"] / yardstick
    return {name: _stored(figure) for name, figure in row.items()}


def _enough(seconds: Sequence[float], repeats: int) -> bool:
    return len(seconds) >= repeats and (sum(seconds) >= ENOUGH_SECONDS or len(seconds) >= ENOUGH_RUNS)


def to_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows as a frame in which counts are whole numbers, whether all rows have them or not."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"n_iter": "Int64", "n_evaluations": "Int64"})


def _stored(figure: Any) -> Any:
    # A bound may be infinite.
    return None if isinstance(figure, float) and not isfinite(figure) else figure


@contextmanager
def one_core() -> Iterator[None]:
    """Keep linear algebra and compiled loops on one thread, and searches silent.

    The paper's instances are often separable, or have more features than rank, of which searches warn.
    """
    with threadpool_limits(1), kernel_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # This one is an error: the search would end as if it had been interrupted.
        warnings.filterwarnings("error", message=".*did not raise the value", category=UserWarning)
        yield


@lru_cache(maxsize=64)  # a process meets the same few instances again and again
def instance_of(setting: Setting, trial: int, seed: int) -> tuple[Any, float]:
    """Return an instance, which all methods, sizes and flavours share, and its yardstick."""
    with one_core():
        instance = setting.instance(np.random.SeedSequence([seed, trial, *setting.name.encode()]))
        return instance, setting.yardstick(instance)
