"""How good the answer is after how long: the record of a fit with many restarts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import accumulate
from typing import Any

import swapwise as sw
from benchmarks.race.apart import Message, apart
from benchmarks.race.designs import Setting
from benchmarks.race.laps import TINY
from benchmarks.race.race import Rules
from benchmarks.race.rows import Climb
from benchmarks.race.store import Store
from benchmarks.race.versions import stamp

RESTARTS = 200


def climb(settings: Sequence[dict[str, Any]], restarts: int) -> Iterator[Message]:
    """Report when the best R² so far changed, and what it was then, one setting after the other."""
    tiny = TINY.draw()
    sw.SparseRegressor(tiny.size, n_restarts=1, random_state=0).fit(tiny.X, tiny.y)  # loads what it needs
    for setting in settings:
        yield {"doing": "data"}
        instance = Setting(**setting).draw()
        yield {"doing": "swapwise"}
        model = sw.SparseRegressor(instance.size, n_restarts=restarts, random_state=0)
        result = model.fit(instance.X, instance.y).result_
        history = result.history
        highest = list(accumulate((event.value for event in history), max))
        # Moves of one compiled call share its time: the last of them is what was known then.
        last = {event.seconds: value for event, value in zip(history, highest, strict=True)}
        first = result.seconds - sum(run.seconds for run in result.strategies if run.name == "restart")
        yield {"first": first, "seconds": list(last), "r2": list(last.values())}


def climbs(settings: Sequence[Setting], rules: Rules, store: Store, fresh: bool = False) -> None:
    """Measure the climbs that the store does not have of today's version, with one thread."""
    versions = stamp("swapwise")
    known = {row.setting for row in store.climbs(settings) if row.versions == versions and not fresh}
    wanted = [setting for setting in settings if setting not in known]
    options = {"settings": [asdict(setting) for setting in wanted], "restarts": RESTARTS}
    results = apart(climb, options, threads=1, limit=rules.limit) if wanted else iter(())
    for setting, result in zip(wanted, results, strict=True):
        steps = tuple(result["seconds"]), tuple(result["r2"])
        store.add([Climb(setting, 1, versions, result["first"], *steps)])
