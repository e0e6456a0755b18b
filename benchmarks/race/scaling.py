"""Growth: time against features, samples and support, beside one streaming read of the matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.race.apart import Message
from benchmarks.race.designs import Setting
from benchmarks.race.programs import PROGRAMS
from benchmarks.regression import timed

DESIGN, SNR = "ar-0.3", 3.0

#: Samples, features and support; the one that grows is None.
FEATURES = (1000, None, 10)
SAMPLES = (None, 1000, 10)
SUPPORT = (2000, 5000, None)


def growth(
    shape: tuple[int | None, int | None, int | None],
    ladder: Sequence[int],
    programs: Sequence[str],
    repeats: int,
) -> Iterator[Message]:
    """Report the seconds of each program at each rung of the ladder, and those of one read of the data."""
    for at in ladder:
        samples, features, size = (at if given is None else given for given in shape)
        yield {"doing": "data"}
        instance = Setting(DESIGN, SNR, samples, features, size, seed=0).draw()
        _, read = timed(2 * repeats + 1, instance.X.sum)
        yield {"subject": "one read", "at": at, "quantity": "seconds", "value": read}
        for name in programs:
            yield {"doing": name}
            select = PROGRAMS[name].select
            select(instance.X[:100, : size + 20].copy(), instance.y[:100], min(size, 20))  # compiles
            _, seconds = timed(repeats, select, instance.X, instance.y, size)
            yield {"subject": name, "at": at, "quantity": "seconds", "value": seconds}
            yield {"subject": name, "at": at, "quantity": "reads", "value": seconds / read}


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of log time on log size, by least squares.

    >>> round(exponent([10, 100, 1000], [2.0, 200.0, 20000.0]), 6)
    2.0
    """
    return float(np.polynomial.Polynomial.fit(np.log(sizes), np.log(seconds), 1).convert().coef[1])
