"""How often a fit reads the data, beside one streaming read of the matrix: the physical limit."""

from __future__ import annotations

from collections.abc import Iterator

import swapwise as sw
from benchmarks.race.apart import Message
from benchmarks.race.designs import Setting
from benchmarks.regression import timed


def passes(shape: tuple[int, int, int], repeats: int) -> Iterator[Message]:
    """Report the passes over the data that a fit counts, and its time in streaming reads of the matrix."""
    yield {"doing": "data"}
    instance = Setting("ar-0.7", 3.0, *shape, seed=0).draw()
    yield {"doing": "swapwise"}
    model = sw.SparseRegressor(instance.size).fit(instance.X, instance.y)  # compiles
    _, seconds = timed(repeats, model.fit, instance.X, instance.y)
    _, read = timed(2 * repeats + 1, instance.X.sum)
    report = {"subject": "x".join(map(str, shape)), "at": shape[1]}
    yield {**report, "quantity": "passes", "value": model.result_.n_passes}
    yield {**report, "quantity": "GB read", "value": model.result_.n_passes * instance.X.nbytes / 1e9}
    yield {**report, "quantity": "seconds", "value": seconds}
    yield {**report, "quantity": "streaming reads", "value": seconds / read}
