"""Small problems: moves a second at 200 features, and ten restarts against one fit."""

from __future__ import annotations

from collections.abc import Iterator

import swapwise as sw
from benchmarks.race.apart import Message
from benchmarks.race.designs import SMALL, Setting
from benchmarks.regression import VARIANTS, search, timed
from swapwise.paper.instances import paper_regression

CAPACITY = 5
RESTARTS = 10


def paces(repeats: int) -> Iterator[Message]:
    """Report moves a second of every variant under a partition, from the data to the answer."""
    instance = paper_regression(random_state=0)
    for variant in VARIANTS:
        yield {"doing": variant}
        search(instance, CAPACITY, variant)  # compiles, which is not to be timed
        result, seconds = timed(repeats, search, instance, CAPACITY, variant)
        moves = len(result.history)
        report = {"subject": variant, "at": instance.X.shape[1]}
        yield {**report, "quantity": "moves", "value": moves}
        yield {**report, "quantity": "moves a second", "value": moves / seconds}


def restarts(shape: tuple[int, int, int], repeats: int) -> Iterator[Message]:
    """Report the time of a fit with ten restarts, alone and relative to a fit with none."""
    instance = Setting("ar-0.7", 3.0, *shape, seed=0).draw()
    seconds = {}
    for count in (0, RESTARTS):
        yield {"doing": f"{count} restarts"}
        model = sw.SparseRegressor(instance.size, n_restarts=count)
        model.fit(instance.X, instance.y)  # compiles, which is not to be timed
        _, seconds[count] = timed(repeats, model.fit, instance.X, instance.y)
        report = {"subject": f"{count} restarts, {shape[0]} samples", "at": shape[1]}
        yield {**report, "quantity": "seconds", "value": seconds[count]}
        yield {**report, "quantity": "to one fit", "value": seconds[count] / seconds[0]}


#: A shape at which Python could dominate, and one at which columns could be shared.
SHAPES = (SMALL, (500, 1000, 10))
