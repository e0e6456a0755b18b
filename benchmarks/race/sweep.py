"""The paper's regression sweep: ten capacities, the oblivious search, all of them together."""

from __future__ import annotations

from collections.abc import Iterator

import swapwise as sw
from benchmarks.race.apart import Message
from benchmarks.regression import timed
from swapwise.paper.instances import RegressionInstance, paper_regression

CAPACITIES = range(1, 11)


def sweep(features: int, samples: int, repeats: int) -> Iterator[Message]:
    """Report the seconds of the whole sweep on one of the paper's instances, from data to answers."""
    instance = paper_regression(features, samples, 10, 10, random_state=0)
    yield {"doing": "sweep"}
    all_capacities(instance)  # compiles, which is not to be timed
    values, seconds = timed(repeats, all_capacities, instance)
    yield {"subject": "oblivious", "at": features, "quantity": "seconds", "value": seconds}
    yield {"subject": "oblivious", "at": features, "quantity": "mean R²", "value": sum(values) / len(values)}


def all_capacities(instance: RegressionInstance) -> list[float]:
    """Return the value reached at each capacity."""
    objective = sw.LeastSquares(instance.X, instance.y)
    return [
        sw.maximize(objective, sw.Partition(instance.labels, capacity), "oblivious", start="empty").value
        for capacity in CAPACITIES
    ]
