"""What all runs report, and how it is read off what a program prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from io import TextIOBase
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

NUMBER = r"(-?(?:[\d.]+(?:e[-+]?\d+)?|inf))"
#: A level of the tree that OKRidge or l0bnb has finished: the dual bound and the loss.
LEVEL = re.compile(rf"l: \d+,.*\bd: {NUMBER},.*\bu: {NUMBER},")

Point = tuple[float, float, float]
Tell = Callable[[float, float], None]


@dataclass
class Watch:
    """The time since a program has had its data, and the points it has reached."""

    begin: float = field(default_factory=perf_counter)
    points: list[Point] = field(default_factory=list)

    def seconds(self) -> float:
        """Return the time since the beginning."""
        return perf_counter() - self.begin

    def reach(self, value: float, bound: float) -> None:
        """Add a point."""
        self.points.append((self.seconds(), float(value), float(bound)))

    def report(self, support: Any, own_gap: float, note: str = "") -> dict[str, Any]:
        """Return the last message of a run."""
        return {
            "points": self.points,
            "support": np.sort(np.asarray(support)).tolist(),
            "own_gap": float(own_gap),
            "megabytes": peak_megabytes(),
            "note": note,
        }


class _Levels(TextIOBase):
    """A stream that calls back with the loss and the dual bound of every level printed to it."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._line = tell, ""

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            found = LEVEL.search(line)
            if found:
                self._tell(float(found[2]), float(found[1]))
        return len(text)


@contextmanager
def levels(tell: Tell) -> Iterator[None]:
    """Call ``tell(loss, bound)`` for every level of a tree that a program prints meanwhile.

    >>> found = []
    >>> with levels(lambda loss, bound: found.append((loss, bound))):
    ...     print("l: 0,    d: -5.5000000000,    u: -5.2500000000,    g: 0.0476190476,    t: 1.00000 s")
    >>> found
    [(-5.25, -5.5)]
    """
    with redirect_stdout(_Levels(tell)):
        yield


def read(folder: str) -> tuple[Any, Any]:
    """Return X and y."""
    return np.load(Path(folder) / "X.npy"), np.load(Path(folder) / "y.npy")


def tiny() -> tuple[Any, Any]:
    """Return data to warm up on: what a program compiles at first use is not the proof's."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    return X, X[:, :3].sum(axis=1) + rng.standard_normal(60)


def peak_megabytes() -> float:
    """Return the largest memory of this process so far.

    It is the peak of this program as Linux has it: ``ru_maxrss`` also counts the process that started it.
    """
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024 / 1e6
