"""One instance after another: programs in turns, and restarts for the best answer known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import swapwise as sw
from benchmarks.race.apart import Message, apart
from benchmarks.race.best import Best, BestKnown
from benchmarks.race.designs import Instance, Setting
from benchmarks.race.laps import BRIEF, in_turns, refitted
from benchmarks.race.rows import Lap
from benchmarks.race.store import Store
from benchmarks.race.versions import stamp

#: They are timed in turns, and so measured anew together. Of all others only the answer is of interest, which
#: stays the same as long as their version does.
TIMED = ("swapwise", "abess", "OMP")
LIMIT = 600.0
RESTARTS = "restarts"


@dataclass(frozen=True)
class Rules:
    """Who takes part, of how many runs times are medians, and how many restarts the best known has seen."""

    programs: Sequence[str]
    runs: int = 5
    restarts: int = 200
    fresh: bool = False  # measure what is timed anew
    again: bool = False  # make the restarts once more, from other seeds and with the search of today


def measure(
    settings: Sequence[Setting],
    rules: Rules,
    store: Store,
    best: BestKnown,
    observe: Callable[[str], None] = lambda done: None,
) -> None:
    """Measure what is not in the store, design by design and size by size, with one thread."""
    versions = {name: f"{stamp(name)}, {rules.runs} runs" for name in rules.programs}
    for _, group in groupby(settings, key=lambda one: (one.design, one.samples, one.features)):
        some = list(group)
        calls = [call for setting in some if (call := _call(setting, rules, store, best, versions))]
        for result in apart(trials, {"calls": calls}, threads=1, limit=LIMIT) if calls else ():
            setting = Setting(**calls[result.pop("number")]["setting"])
            _keep(setting, result, store, best, versions)
        first = some[0]
        observe(f"{first.design}, {first.samples}x{first.features}x{first.size}: {len(some)} instances")


def _call(
    setting: Setting, rules: Rules, store: Store, best: BestKnown, versions: dict[str, str]
) -> dict[str, Any] | None:
    """Return what is left to do on a setting, None if nothing is."""
    known = {row.program: row for row in store.laps(("lap", setting, name, 1) for name in rules.programs)}

    def is_there(name: str) -> bool:
        if name not in known or (rules.fresh and name in TIMED):
            return False
        made_by = known[name].versions
        # An answer is the same whether it was timed once or more often.
        only_answer = rules.runs == 1 or name not in TIMED
        return made_by.startswith(f"{stamp(name)}, ") if only_answer else made_by == versions[name]

    timed = [name for name in rules.programs if name in TIMED]
    programs = timed if not all(map(is_there, timed)) else []
    programs += [name for name in rules.programs if name not in TIMED and not is_there(name)]
    so_far = best.of(setting)
    seen = so_far.restarts if so_far else 0
    restarts = rules.restarts if rules.again else max(rules.restarts - seen, 0)
    if not programs and not restarts:
        return None
    return {
        "setting": asdict(setting),
        "programs": programs,
        "turns": rules.runs,
        "restarts": restarts,
        "seed": seen,  # so that further restarts begin elsewhere
    }


def _keep(setting: Setting, result: Message, store: Store, best: BestKnown, versions: dict[str, str]) -> None:
    if result["program"] == RESTARTS:
        best.add([(setting, Best(result["r2"], "swapwise, restarts", result["restarts"]))])
        return
    store.add([Lap(setting, threads=1, versions=versions[result["program"]], **result)])
    if result["r2"] is not None:
        best.add([(setting, Best(result["r2"], result["program"]))])


def trials(calls: Sequence[dict[str, Any]]) -> Iterator[Message]:
    """Report the results of each call, with its number."""
    for number, call in enumerate(calls):
        for message in trial(**call):
            yield message if "doing" in message else {"number": number, **message}


def trial(
    setting: dict[str, Any], programs: Sequence[str], turns: int, restarts: int, seed: int
) -> Iterator[Message]:
    """Report a result for each program on one instance, and one for restarts."""
    yield {"doing": "data"}
    instance = Setting(**setting).draw()
    yield from in_turns(instance, programs, turns, BRIEF)
    if restarts:
        yield {"doing": RESTARTS}
        yield {"program": RESTARTS, "r2": restarted(instance, restarts, seed), "restarts": restarts}


def restarted(instance: Instance, restarts: int, seed: int) -> float:
    """Return the R² of the best of many searches."""
    model = sw.SparseRegressor(instance.size, n_restarts=restarts, random_state=seed)
    return refitted(instance.X, instance.y, model.fit(instance.X, instance.y).support_)
