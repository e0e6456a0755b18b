"""``python -m benchmarks.hard``: 336 hard regressions, swapwise beside abess, OMP, skscope and 200 restarts.

All programs get the same data in one process and one thread, in turns, and every answer is refitted by the
same plain least squares. The best known answer of an instance is the best that any program or restart ever
found; the store keeps it, and later runs only raise it. Stopped and started again, the comparison goes on.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.hard.instances import instances
from benchmarks.hard.measure import Rules, measure
from benchmarks.hard.tables import below_a_peer, tables, verdicts
from benchmarks.race.apart import Failed, TookTooLong
from benchmarks.race.best import BestKnown
from benchmarks.race.designs import HARD_DESIGNS
from benchmarks.race.gaps import answers
from benchmarks.race.options import RACING, count
from benchmarks.race.store import Store
from benchmarks.race.versions import installed
from swapwise.paper.store import StoreError

WIDTH = 160


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print tables, and return the exit status."""
    options = _parser().parse_args(arguments)
    notes = Console(stderr=True)
    there, missing = installed([name for name in RACING if name not in options.skip])
    if missing:
        notes.print(f"Not installed, and left out: {', '.join(missing)} (pip install '.\\[peers]').")
    runs = 1 if options.only_quality else options.runs
    rules = Rules(there, runs, options.restarts, options.fresh, options.again)
    try:
        _run(options, rules, notes)
    except KeyboardInterrupt:
        notes.print("Interrupted; the same command resumes it.")
        return 130
    except (StoreError, OSError, Failed, TookTooLong) as error:
        notes.print(f"python -m benchmarks.hard: {error}", markup=False)
        return 1
    return 0


def _run(options: Namespace, rules: Rules, notes: Console) -> None:
    settings = [one for one in instances(options.quick) if one.design in (options.designs or HARD_DESIGNS)]
    store, best = Store(options.store / "rows.jsonl"), BestKnown(options.store / "best.jsonl")
    measure(settings, rules, store, best, notes.print)
    laps = store.laps(("lap", setting, name, 1) for setting in settings for name in rules.programs)
    found, timed = answers(laps, best), not options.only_quality
    console = Console(width=WIDTH)
    for table in tables(found, laps, timed):
        console.print(table)
    for line in [*verdicts(found, laps, timed), *below_a_peer(found)]:
        console.print(line, highlight=False)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m benchmarks.hard", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="24 of the instances")
    add("--only-quality", action="store_true", help="run every program once, and show no times")
    add("--skip", nargs="+", choices=RACING[1:], default=[], help="programs to leave out")
    add("--designs", nargs="+", choices=HARD_DESIGNS, help="by default all")
    add("--runs", type=count, default=5, help="of which the median time is taken; 5")
    add("--restarts", type=count, default=200, help="that the best known answer is to have seen; 200")
    add("--again", action="store_true", help="make the restarts once more, from other seeds")
    add("--fresh", action="store_true", help="measure again what is timed and stored already")
    add("--store", type=Path, default=Path("results/hard"), help="the folder of the results; results/hard")
    return parser


if __name__ == "__main__":
    sys.exit(main())
