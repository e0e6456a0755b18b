"""``python -m benchmarks.first_use``: what the first answer costs in a new process.

Each program has processes of its own: the time of the import, of the first fit and of the second, medians.
The name of an estimator is what loads scikit-learn, which is most of the time; a fit by its OMP is beside it.
The first call of ``maximize`` loads SciPy's linear algebra, which scikit-learn would have loaded; what
``certify`` proves is searched before, as part of the import.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.table import Table

DATA = """
import json
from time import perf_counter
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((500, 100))
y = X[:, :5].sum(axis=1) + rng.standard_normal(500)
"""
TIMED = """
begin = perf_counter()
{imported}
ready = perf_counter()
{fit}
first = perf_counter()
{fit}
second = perf_counter()
print(json.dumps([ready - begin, first - ready, second - first]))
"""
# What is imported, and what is fitted.
PROGRAMS = {
    "SparseRegressor": ("from swapwise import SparseRegressor", "SparseRegressor(5).fit(X, y)"),
    "SparseClassifier": ("from swapwise import SparseClassifier", "SparseClassifier(5).fit(X, y > 0)"),
    "SparseClassifier, 3 classes": (
        "from swapwise import SparseClassifier",
        "SparseClassifier(5).fit(X, np.digitize(y, [-1, 1]))",
    ),
    "IsingGraph": ("from swapwise import IsingGraph", "IsingGraph(max_degree=2).fit(np.sign(X[:, :10]))"),
    "maximize": ("import swapwise as sw", "sw.maximize(sw.LeastSquares(X, y), sw.Uniform(100, 5))"),
    "certify": (
        "import swapwise as sw\nf, c = sw.LeastSquares(X, y), sw.Uniform(100, 5)\nresult = sw.maximize(f, c)",
        "sw.certify(f, c, result)",
    ),
    "OMP of scikit-learn": (
        "from sklearn.linear_model import OrthogonalMatchingPursuit",
        "OrthogonalMatchingPursuit(n_nonzero_coefs=5).fit(X, y)",
    ),
}
COMMANDS = {
    "import numpy": ["-c", "import numpy"],
    "import swapwise": ["-c", "import swapwise"],
    "swapwise select --demo --certify": ["-m", "swapwise", "select", "--demo", "--certify"],
}


@dataclass(frozen=True)
class FirstUse:
    """Seconds of a program in a process of its own."""

    program: str
    imported: float
    first: float
    second: float


def first_uses(rounds: int = 5) -> Iterator[FirstUse]:
    """Time import, first and second fit of every program."""
    for program, (imported, fit) in PROGRAMS.items():
        script = DATA + TIMED.format(imported=imported, fit=fit)
        runs = [json.loads(_run(["-c", script])) for _ in range(rounds)]
        yield FirstUse(program, *(median(column) for column in zip(*runs, strict=True)))


def commands(rounds: int = 5) -> Iterator[tuple[str, float]]:
    """Time whole processes."""
    for name, arguments in COMMANDS.items():
        seconds = []
        for _ in range(rounds):
            begin = perf_counter()
            _run(arguments)
            seconds.append(perf_counter() - begin)
        yield name, median(seconds)


def _run(arguments: list[str]) -> str:
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout


def first_fits_table(rounds: int = 5) -> Table:
    """Show import, first and second fit in new processes."""
    table = Table("program", "import s", "first fit ms", "second fit ms", title="In a new process, medians")
    for row in first_uses(rounds):
        numbers = f"{row.imported:.2f}", f"{1000 * row.first:.1f}", f"{1000 * row.second:.1f}"
        table.add_row(row.program, *numbers)
    return table


def whole_processes_table(rounds: int = 5) -> Table:
    """Show how long processes take from their start to their end."""
    table = Table("command", "seconds", title="Whole processes, medians")
    for name, seconds in commands(rounds):
        table.add_row(name, f"{seconds:.2f}")
    return table


if __name__ == "__main__":
    parser = ArgumentParser(description="What the first answer costs in a new process.")
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    Console().print(first_fits_table(rounds))
    Console().print(whole_processes_table(rounds))
