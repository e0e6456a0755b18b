"""``python -m benchmarks.race``: swapwise beside abess, skscope, scikit-learn and others.

The peers are for this page only (``pip install '.[peers]'``); those that are missing are left out. All get
the same data and the same number of threads, and what each found is refitted by the same program. Rows are
kept in ``results/bench``: stopped and started again, the race goes on.
"""

from __future__ import annotations

import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.race.apart import ROOT, Failed, TookTooLong
from benchmarks.race.compare import Comparison, comparisons
from benchmarks.race.designs import Setting
from benchmarks.race.options import read, settings
from benchmarks.race.picture import picture
from benchmarks.race.race import Rules, keys, race
from benchmarks.race.rows import Figure
from benchmarks.race.store import Store
from benchmarks.race.tables import figure_tables, markdown, race_tables
from benchmarks.race.topics import TOPICS, measure
from benchmarks.race.versions import all_versions, installed
from swapwise.experiments.store import StoreError
from swapwise.files import write_atomically

INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


def main(arguments: Sequence[str] | None = None, prog: str = "python -m benchmarks.race") -> int:
    """Race, print tables as they become known, save them, and return the exit status."""
    options = read(arguments, prog)
    console, notes = Console(), Console(stderr=True)
    there, missing = installed(options.programs)
    if missing:
        notes.print(f"Not installed, and left out: {', '.join(missing)} (pip install '.\\[peers]').")
    for name, version in all_versions(there).items():
        console.print(f"{name} {version}", highlight=False)
    console.print(f"threads {options.threads}", highlight=False)
    rules = Rules(there, options.repeats, options.threads, options.limit)
    try:
        store = Store(options.out / "rows.jsonl")
        _run(options, rules, store, console, notes)
    except KeyboardInterrupt:
        notes.print("Interrupted; the same command goes on from here.")
        return INTERRUPTED
    except (StoreError, OSError) as error:
        notes.print(f"{prog}: {error}", markup=False)
        return 1
    return 0


def _run(options: Namespace, rules: Rules, store: Store, console: Console, notes: Console) -> None:
    wanted = settings(options)
    figures: list[Figure] = []
    try:
        race(wanted, rules, store, options.fresh, partial(_tell, console, rules, store, wanted))
        if not options.race_only:
            for topic in TOPICS:
                figures += _topic(topic, options, rules, store, notes)
                for table in figure_tables([row for row in figures if row.topic == topic]):
                    console.print(table)
    finally:
        _save(options, comparisons(store.laps(keys(wanted, rules))), figures)
    console.print(f"See {options.out / 'race.png'}", soft_wrap=True)


def _tell(console: Console, rules: Rules, store: Store, wanted: list[Setting], last: Setting) -> None:
    """Print the comparisons of a setting once its last seed is there."""
    group = [one for one in wanted if _without_seed(one) == _without_seed(last)]
    if last == group[-1]:
        for table in race_tables(comparisons(store.laps(keys(group, rules)))):
            console.print(table)


def _without_seed(setting: Setting) -> tuple[str, float, int, int, int]:
    return setting.design, setting.snr, setting.samples, setting.features, setting.size


def _topic(topic: str, options: Namespace, rules: Rules, store: Store, notes: Console) -> list[Figure]:
    """Return the figures on a topic; one that cannot be measured here is no reason to stop."""
    try:
        return measure(topic, not options.quick, rules, store, options.fresh)
    except (Failed, TookTooLong) as error:
        notes.print(f"{topic}: {error}", markup=False)
        return []


def _save(options: Namespace, compared: list[Comparison], figures: list[Figure]) -> None:
    """Write the tables and the picture of what there is by now."""
    if not compared:
        return
    write_atomically(options.out / "race.md", markdown(compared).encode())
    figure = picture(compared, figures)
    places: list[Path] = [options.out / "race.png"]
    if options.readme:
        places.append(ROOT / "docs" / "images" / "race.png")
    for place in places:
        figure.savefig(place, dpi=120)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill leaves no process behind either
    sys.exit(main())
