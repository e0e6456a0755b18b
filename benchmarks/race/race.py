"""The race over a grid of settings, row by row into the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from benchmarks.race.apart import Failed, TookTooLong, apart
from benchmarks.race.designs import Setting
from benchmarks.race.laps import laps
from benchmarks.race.rows import Key, Lap
from benchmarks.race.store import Store
from benchmarks.race.versions import stamp


@dataclass(frozen=True)
class Rules:
    """Who races, how often, on how many threads, and how many seconds a run may take."""

    programs: Sequence[str]
    repeats: int = 3
    threads: int = 1
    limit: float = 120.0


def keys(settings: Iterable[Setting], rules: Rules) -> list[Key]:
    """Return the keys of all rows that a race makes."""
    return [("lap", setting, name, rules.threads) for setting in settings for name in rules.programs]


def race(
    settings: Sequence[Setting],
    rules: Rules,
    store: Store,
    fresh: bool = False,
    observe: Callable[[Setting], None] = lambda setting: None,
) -> None:
    """Run what is not in the store with the versions of today.

    The programs on one setting race together or not at all: times of another hour do not compare.
    """
    versions = {name: stamp(name) for name in rules.programs}
    too_slow: dict[tuple[str, tuple[int, int, int]], str] = {}
    for setting in settings:
        known = store.laps(keys([setting], rules))
        if fresh or {row.program for row in known if row.versions == versions[row.program]} < set(versions):
            store.add(_run(setting, rules, versions, too_slow))
        observe(setting)


def _run(
    setting: Setting,
    rules: Rules,
    versions: dict[str, str],
    too_slow: dict[tuple[str, tuple[int, int, int]], str],
) -> list[Lap]:
    """Return a row for each program; those that are stopped or crash are left out of another attempt."""
    shape = (setting.samples, setting.features, setting.size)
    # Who was stopped on one seed would be on the next: waiting again tells nothing new.
    notes = {name: too_slow[name, shape] for name in rules.programs if (name, shape) in too_slow}
    rows: list[Lap] = []
    while not rows:
        racing = [name for name in rules.programs if name not in notes]
        options = {"setting": asdict(setting), "programs": racing, "repeats": rules.repeats}
        try:
            rows = [
                Lap(setting, threads=rules.threads, versions=versions[result["program"]], **result)
                for result in apart(laps, options, rules.threads, rules.limit)
            ]
        except TookTooLong as stopped:
            if stopped.doing not in versions:
                raise
            notes[stopped.doing] = too_slow[stopped.doing, shape] = f"over {rules.limit:g} s"
        except Failed as failure:
            if failure.doing not in versions:
                raise
            notes[failure.doing] = failure.reason
    missing = [
        Lap(setting, name, rules.threads, versions[name], None, None, 0, 0, note)
        for name, note in notes.items()
    ]
    return rows + missing
