"""``python -m benchmarks.neighbours``: every method, and every start, on the paper's four settings.

Three Markdown tables: (a) methods, (b) local search from each method, both with the mean share of the best
value that any of them found and the median of seconds, and (c) the median of what is promised of each
method's answer: ``result.guarantee``, and the best that is not trivial. One thread.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from time import perf_counter

import pandas as pd

from benchmarks.neighbours.tables import markdown
from swapwise.paper.grid import COORDINATES, Cell, Row, cells
from swapwise.paper.measure import instance_of, one_core
from swapwise.paper.panels import SCATTERS, methods_of, shares_and_seconds, start_of, starts_of
from swapwise.paper.procedures import Search
from swapwise.paper.settings import Setting

SETTINGS: dict[str, Setting] = {scatter.setting.name: scatter.setting for scatter in SCATTERS}


def cells_of(settings: Sequence[str], trials: int) -> list[Cell]:
    """Return the cells of the grid that are in one of the tables: instances that all methods have."""
    found = cells(trials, only=[*settings, "paper", "printed", "starts", "neighbours"])
    common = {(x.key[0], x.size, x.trial) for x in found if x.block.procedure.part == "neighbours"}
    wanted = {name: {*methods_of(SETTINGS[name]), *starts_of(SETTINGS[name])} for name in settings}
    return [x for x in found if (x.key[0], x.size, x.trial) in common and x.key[2] in wanted[x.key[0]]]


def table(
    rows: pd.DataFrame, settings: Sequence[str], names: Callable[[Setting], list[str]], head: str
) -> str:
    """Return a Markdown table of shares and seconds, a line for each name and two columns per setting."""
    means = {name: shares_and_seconds(rows, SETTINGS[name], names(SETTINGS[name])) for name in settings}
    if names is starts_of:
        means = {name: some.rename(start_of) for name, some in means.items()}
    lines = {
        method: [
            text
            for some in means.values()
            for text in (
                (f"{some.share[method]:.5f}", f"{some.seconds[method]:.2g}")
                if method in some.index
                else ("", "")
            )
        ]
        for method in dict.fromkeys(method for some in means.values() for method in some.index)
    }
    return markdown([head, *(text for name in settings for text in (name, "s"))], lines)


def row_of(cell: Cell) -> Row:
    """Run a cell once and return its row, with what the theorems promise, 0 if that is nothing."""
    block = cell.block
    procedure, setting = block.procedure, block.setting
    row: Row = dict(zip(COORDINATES, cell.key, strict=True))
    with one_core():
        instance, _ = instance_of(setting, cell.trial, cell.seed)
        begin = perf_counter()
        if not isinstance(procedure, Search):
            figures = procedure.run(setting, instance, cell.size, cell.flavour, cell.method_seed())
            return {**row, **figures, "seconds": perf_counter() - begin}
        result = procedure.search(setting, instance, cell.size, cell.flavour, cell.method_seed())
        row |= {"value": float(result.value), "seconds": perf_counter() - begin}
        if procedure.name in methods_of(setting):
            promise = result.guarantee
            beyond = None if promise is None else promise.beyond_trivial
            row |= {"promised": promise.ratio if promise else 0.0, "beyond": beyond.ratio if beyond else 0.0}
    return row


def table_of_promises(rows: pd.DataFrame, settings: Sequence[str]) -> str:
    """Return a Markdown table of the median promise, and of the best promise that is not trivial."""
    by_method = rows.dropna(subset=["promised"]).groupby(["method", "setting"], sort=False)
    medians = by_method[["promised", "beyond"]].median()
    texts = {key: f"{both['promised']:.3g}, {both['beyond']:.2g}" for key, both in medians.iterrows()}
    lines = {method: [texts.get((method, name), "") for name in settings] for method, _ in texts}
    return markdown(["method", *settings], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = ArgumentParser(prog="python -m benchmarks.neighbours", description=__doc__)
    parser.add_argument("--trials", type=int, default=3, help="instances of each setting")
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    options = parser.parse_args(arguments)
    found = cells_of(options.settings, options.trials)
    rows = pd.DataFrame([row_of(cell) for cell in found])
    print("\n(a) methods: mean share of the best value found, median seconds\n")
    print(table(rows, options.settings, methods_of, "method"))
    print("\n(b) local search from each start: the same\n")
    print(table(rows, options.settings, starts_of, "start"))
    print("\n(c) what is promised: median ratio, and that of promises that are not trivial\n")
    print(table_of_promises(rows, options.settings))


if __name__ == "__main__":
    main()
