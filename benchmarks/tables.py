"""Reading tables: our time over that of a plain ``pandas.read_csv``. Run ``python -m benchmarks.tables``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from swapwise.app.cli.reading.tables import read_table

ROWS, COLUMNS, REPEATS = 200_000, 20, 5


def files(folder: Path) -> Iterator[tuple[str, Path, dict[str, str]]]:
    """Write the files; yield what is in each, its path, and what pandas must be told of it."""
    rng = np.random.default_rng(0)
    names = [f"x{number}" for number in range(COLUMNS)]
    numbers = pd.DataFrame(rng.standard_normal((ROWS, COLUMNS)).round(4), columns=names)
    towns = numbers.assign(**{name: rng.choice(["Ulm", "Bad Ems", "Kiel"], ROWS) for name in names[:4]})
    gaps = numbers.mask(rng.random(numbers.shape) < 0.05)
    german = {"sep": ";", "decimal": ","}
    for what, table, how in (
        ("numbers", numbers, {}),
        ("four columns of text", towns, {}),
        ("missing values", gaps, {}),
        ("semicolons and decimal commas", numbers, german),
    ):
        path = folder / f"{what.replace(' ', '-')}.csv"
        table.to_csv(path, index=False, **how)
        yield what, path, how


def fastest(read: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Return the shortest processor times of two functions, run in turns."""
    seconds = np.empty((REPEATS, 2))
    for repeat in range(REPEATS):
        for place, function in enumerate((read, other)):
            start = time.process_time()
            function()
            seconds[repeat, place] = time.process_time() - start
    ours, theirs = seconds.min(axis=0)
    return float(ours), float(theirs)


def main() -> None:
    """Print a line per file."""
    print(f"{ROWS} rows, {COLUMNS} columns; seconds of the processor, shortest of {REPEATS}")
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for what, path, how in files(Path(folder)):
            ours, theirs = fastest(lambda p=path: read_table(p), lambda p=path, h=how: pd.read_csv(p, **h))  # type: ignore[misc]
            print(f"{what:32} pandas {theirs:.3f}  swapwise {ours:.3f}  ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
