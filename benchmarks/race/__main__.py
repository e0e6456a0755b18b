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
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.race.apart import ROOT, Failed, TookTooLong
from benchmarks.race.best import Best, BestKnown
from benchmarks.race.climbs import climbs
from benchmarks.race.compare import OWN, comparisons
from benchmarks.race.designs import Setting
from benchmarks.race.gaps import answers, gap_markdown, gap_table
from benchmarks.race.options import hard_settings, read, settings
from benchmarks.race.picture import picture
from benchmarks.race.race import Rules, keys, race
from benchmarks.race.rows import Figure, Lap
from benchmarks.race.store import Store
from benchmarks.race.tables import beside_table, figure_tables, markdown, race_tables
from benchmarks.race.topics import TOPICS, measure
from benchmarks.race.versions import all_versions, installed
from swapwise.files import write_atomically
from swapwise.paper.store import StoreError

WIDTH = 140  # of the widest tables, which are of no use in pieces
INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


def main(arguments: Sequence[str] | None = None, prog: str = "python -m benchmarks.race") -> int:
    """Race, print tables as they become known, save them, and return the exit status."""
    options = read(arguments, prog)
    notes = Console(stderr=True)
    console = Console(width=max(Console().width, WIDTH))
    there, missing = installed(options.programs)
    if missing:
        notes.print(f"Not installed, and left out: {', '.join(missing)} (pip install '.\\[peers]').")
    for name, version in all_versions(there).items():
        console.print(f"{name} {version}", highlight=False)
    console.print(f"threads {', '.join(map(str, options.threads))}", highlight=False)
    rules = Rules(there, options.repeats, options.threads[0], options.limit)
    try:
        store = Store(options.out / "rows.jsonl")
        best = BestKnown(options.best or options.out / "best.jsonl")
        _run(options, rules, store, best, console, notes)
    except KeyboardInterrupt:
        notes.print("Interrupted; the same command resumes it.")
        return INTERRUPTED
    except (StoreError, OSError) as error:
        notes.print(f"{prog}: {error}", markup=False)
        return 1
    return 0


def _run(
    options: Namespace, rules: Rules, store: Store, best: BestKnown, console: Console, notes: Console
) -> None:
    wanted, hard = settings(options), hard_settings(options)
    figures: list[Figure] = []
    try:
        _hard(hard, rules, store, best, options.fresh, console)
        for threads in options.threads:
            these = replace(rules, threads=threads)
            race(wanted, these, store, options.fresh, partial(_tell, console, these, store, wanted))
        if options.beside and wanted:
            console.print(
                beside_table(comparisons(_laps(wanted, options.threads, rules, store)), options.beside)
            )
        if not options.race_only:
            for topic in TOPICS:
                figures += _topic(topic, options, rules, store, notes)
                for table in figure_tables([row for row in figures if row.topic == topic]):
                    console.print(table)
    finally:
        _save(options, rules, store, best, figures)
    console.print(f"See {options.out / 'race.png'}", soft_wrap=True)


def _laps(wanted: list[Setting], threads: list[int], rules: Rules, store: Store) -> list[Lap]:
    return [lap for count in threads for lap in store.laps(keys(wanted, replace(rules, threads=count)))]


def _hard(
    hard: list[Setting], rules: Rules, store: Store, best: BestKnown, fresh: bool, console: Console
) -> None:
    """Race on the hard designs with one thread, and show how far answers are below the best known."""
    if not hard:
        return
    alone = replace(rules, threads=1)
    race(hard, alone, store, fresh)
    climbs(hard, alone, store, fresh)
    laps = store.laps(keys(hard, alone))
    found = [(lap.setting, Best(lap.r2, lap.program)) for lap in laps if lap.r2 is not None]
    found += [(one.setting, Best(one.r2[-1], f"{OWN}, restarts")) for one in store.climbs(hard)]
    best.add(found)
    console.print(gap_table(answers(laps, best), rules.programs))


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


def _save(options: Namespace, rules: Rules, store: Store, best: BestKnown, figures: list[Figure]) -> None:
    """Write the tables and the picture of what there is by now."""
    hard = hard_settings(options)
    laps = _laps(settings(options), options.threads, rules, store)
    hard_laps = store.laps(keys(hard, replace(rules, threads=1)))
    if not laps and not hard_laps:
        return
    found = answers(hard_laps, best)
    tables = [markdown(comparisons(laps))] if laps else []
    tables += [gap_markdown(found, rules.programs)] if found else []
    write_atomically(options.out / "race.md", "\n".join(tables).encode())
    figure = picture(laps or hard_laps)
    places: list[Path] = [options.out / "race.png"]
    if options.readme:
        places.append(ROOT / "docs" / "images" / "race.png")
    for place in places:
        figure.savefig(place, dpi=120)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill leaves no process behind either
    sys.exit(main())
