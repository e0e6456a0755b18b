"""Structure: the same data and rank under a partition, under two levels of groups, and under none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import swapwise as sw
from benchmarks.race.apart import Message
from benchmarks.race.designs import Setting
from benchmarks.regression import timed
from swapwise.checks import FloatArray

GROUPS, EACH = 50, 2


def constraints(features: int) -> dict[str, sw.Matroid]:
    """Return matroids of rank 100: any 100; 2 of each of 50 groups; 4 of each and 20 of every ten groups.

    >>> [constraint.rank() for constraint in constraints(500).values()]
    [100, 100, 100]
    """
    group = np.arange(features) * GROUPS // features
    blocks = [np.flatnonzero(group == label) for label in range(GROUPS)]
    tens = [np.concatenate(blocks[first : first + 10]) for first in range(0, GROUPS, 10)]
    return {
        "uniform": sw.Uniform(features, GROUPS * EACH),
        "partition": sw.Partition(group, EACH),
        "laminar": sw.Laminar(
            features, [*((block, 2 * EACH) for block in blocks), *((ten, 10 * EACH) for ten in tens)]
        ),
    }


def response(X: FloatArray) -> FloatArray:
    """Return a response to two features of each group, which all of the constraints allow, at SNR 3.

    >>> response(np.random.default_rng(0).standard_normal((30, 200))).shape
    (30,)
    """
    rng = np.random.default_rng(0)
    width = X.shape[1] // GROUPS
    places = np.array([rng.choice(width, EACH, replace=False) for _ in range(GROUPS)])
    truth = (places + width * np.arange(GROUPS)[:, None]).ravel()
    signal = X[:, truth] @ (rng.choice([-1.0, 1.0], len(truth)) * rng.uniform(0.5, 1.5, len(truth)))
    return np.asarray(signal + rng.standard_normal(len(X)) * np.sqrt(signal.var() / 3.0))


def grouped(samples: int, features: int, repeats: int) -> Iterator[Message]:
    """Report seconds and R² under each constraint, and the time relative to that of the uniform matroid."""
    yield {"doing": "data"}
    X = Setting("ar-0.3", 3.0, samples, features, GROUPS * EACH, seed=0).draw().X
    y = response(X)
    choices = constraints(features)
    seconds: dict[str, list[float]] = {name: [] for name in choices}
    values: dict[str, float] = {}
    for turn in range(repeats + 1):
        for name, constraint in choices.items():
            yield {"doing": name}
            model, elapsed = timed(1, sw.SparseRegressor(constraint).fit, X, y)
            if turn:  # the first compiles, which is not to be timed
                seconds[name].append(elapsed)
            values[name] = model.result_.value
    medians = {name: float(np.median(times)) for name, times in seconds.items()}
    for name in choices:
        report = {"subject": name, "at": features}
        yield {**report, "quantity": "seconds", "value": medians[name]}
        yield {**report, "quantity": "to uniform", "value": medians[name] / medians["uniform"]}
        yield {**report, "quantity": "R²", "value": values[name]}
