"""``python -m benchmarks.neighbours``: every method, and every start, on the paper's four settings.

Three Markdown tables: (a) methods, (b) local search from each method, both with the mean share of the best
value that any of them found and the median of seconds, and (c) the median of what the theorems promise of
each method's answer. One thread.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from statistics import median

import pandas as pd

from swapwise.experiments.grid import Cell, cells
from swapwise.experiments.measure import instance_of, measure, one_core, to_frame
from swapwise.experiments.procedures import Search
from swapwise.experiments.run import warm_up
from swapwise.experiments.scatters import SCATTERS, methods_of, shares_and_seconds, start_of, starts_of
from swapwise.experiments.settings import Setting

SETTINGS: dict[str, Setting] = {scatter.setting.name: scatter.setting for scatter in SCATTERS}


def cells_of(settings: Sequence[str], trials: int) -> list[Cell]:
    """Return the cells of the grid that are in one of the tables: instances that all methods have."""
    found = cells(trials, only=[*settings, "paper", "starts", "neighbours"])
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


def promises(found: Sequence[Cell]) -> dict[tuple[str, str], list[float]]:
    """Return the ratios that the theorems promise, by setting and method; 0 where they promise nothing."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for cell in found:
        procedure, setting = cell.block.procedure, cell.block.setting
        if isinstance(procedure, Search) and procedure.name in methods_of(setting):
            with one_core():
                instance, _ = instance_of(setting, cell.trial, cell.seed)
                result = procedure.search(setting, instance, cell.size, cell.flavour, cell.method_seed())
                promise = result.guarantee
            ratios.setdefault((procedure.name, setting.name), []).append(promise.ratio if promise else 0.0)
    return ratios


def table_of_promises(ratios: dict[tuple[str, str], list[float]], settings: Sequence[str]) -> str:
    """Return a Markdown table of the median promise."""
    lines = {
        method: [
            f"{median(ratios[method, name]):.3g}" if (method, name) in ratios else "" for name in settings
        ]
        for method in dict.fromkeys(method for method, _ in ratios)
    }
    return markdown(["method", *settings], lines)


def markdown(head: Sequence[str], lines: dict[str, list[str]]) -> str:
    """Return a table; the first column names its lines.

    >>> print(markdown(["method", "share"], {"htp": ["0.9"]}))
    | method | share |
    |---|---|
    | htp | 0.9 |
    """
    rule = "|" + "---|" * len(head)
    rows = [head, *([name, *texts] for name, texts in lines.items())]
    first, *rest = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([first, rule, *rest])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = ArgumentParser(prog="python -m benchmarks.neighbours", description=__doc__)
    parser.add_argument("--trials", type=int, default=3, help="instances of each setting")
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--no-promises", action="store_true", help="leave out table (c)")
    options = parser.parse_args(arguments)
    found = cells_of(options.settings, options.trials)
    warm_up(found)
    rows = to_frame([measure(cell) for cell in found])
    print("\n(a) methods: mean share of the best value found, median seconds\n")
    print(table(rows, options.settings, methods_of, "method"))
    print("\n(b) local search from each start: the same\n")
    print(table(rows, options.settings, starts_of, "start"))
    if not options.no_promises:
        print("\n(c) what the theorems promise: median ratio\n")
        print(table_of_promises(promises(found), options.settings))


if __name__ == "__main__":
    main()
