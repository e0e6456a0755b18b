"""The race itself: every program on one instance, in turns, and one refit to judge them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.race.apart import Message
from benchmarks.race.designs import Instance, Setting
from benchmarks.race.programs import PROGRAMS, chosen
from swapwise.checks import FloatArray, IndexArray

#: Seconds; a program whose runs so far took longer in all is not run again: noise is small beside it.
LONG = 10.0
#: Fits of data with no more entries take milliseconds, which noise is large beside: they take more turns.
#: Whoever takes longer than that runs a few times only.
SMALL, TURNS, BRIEF = 10**6, 5, 1.0
TINY = Setting("ar-0", 3.0, samples=60, features=210, size=3, seed=0)


def laps(setting: dict[str, Any], programs: Sequence[str], repeats: int) -> Iterator[Message]:
    """Time programs on the instance of a setting; report a result for each."""
    yield {"doing": "data"}
    instance = Setting(**setting).draw()
    if np.prod(instance.X.shape) <= SMALL:
        yield from in_turns(instance, programs, repeats * TURNS, BRIEF)
    else:
        yield from in_turns(instance, programs, repeats, LONG)


def in_turns(instance: Instance, programs: Sequence[str], turns: int, long: float) -> Iterator[Message]:
    """Time programs in turns, so that noise hits all alike; none is run again after ``long`` seconds."""
    notes = {name: PROGRAMS[name].why_not(instance) for name in programs}
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    supports: dict[str, IndexArray] = {}
    inputs = _inputs(instance, [name for name in programs if not notes[name]])
    tiny = TINY.draw()
    for name in inputs:  # compiles, which is not to be timed
        yield {"doing": name}
        notes[name] = _attempt(name, tiny.X, tiny, [], {})
    for turn in range(turns):
        for name, X in inputs.items():
            if not notes[name] and (turn == 0 or sum(seconds[name]) < long):
                yield {"doing": name}
                notes[name] = _attempt(name, X, instance, seconds[name], supports)
    for name in programs:
        yield _result(name, instance, notes[name], seconds[name], supports.get(name))


def _inputs(instance: Instance, programs: Sequence[str]) -> dict[str, Any]:
    """Return the data in a form that each program takes; to make it is not timed."""
    if isinstance(instance.X, np.ndarray) or all(PROGRAMS[name].takes_sparse for name in programs):
        return dict.fromkeys(programs, instance.X)
    dense = instance.X.toarray()
    return {name: instance.X if PROGRAMS[name].takes_sparse else dense for name in programs}


def _attempt(
    name: str, X: Any, instance: Instance, seconds: list[float], supports: dict[str, IndexArray]
) -> str:
    """Run a program, note its time and its answer, and return what went wrong, if something did."""
    begin = perf_counter()
    try:
        support = PROGRAMS[name].select(X, instance.y, instance.size)
    except Exception as error:  # a peer may fail in any way, and the race goes on
        return f"{type(error).__name__}: {error}".splitlines()[0]
    seconds.append(perf_counter() - begin)
    supports[name] = chosen(support)
    return ""


def _result(
    name: str, instance: Instance, note: str, seconds: list[float], support: IndexArray | None
) -> Message:
    ran = support is not None and not note
    return {
        "program": name,
        "seconds": median(seconds) if ran else None,
        "r2": refitted(instance.X, instance.y, support) if support is not None and ran else None,
        "found": len(support) if support is not None else 0,
        "recovered": len(np.intersect1d(support, instance.truth)) if support is not None else 0,
        "note": note,
    }


def refitted(X: Any, y: FloatArray, support: IndexArray) -> float:
    """Return the R² of least squares with an intercept on some columns.

    >>> X = np.array([[0.0, 5.0], [1.0, 1.0], [2.0, 0.0], [3.0, 7.0]])
    >>> round(refitted(X, 2 * X[:, 0] + 1, np.array([0])), 12)
    1.0
    """
    columns = X[:, support]
    columns = columns if isinstance(columns, np.ndarray) else columns.toarray()
    columns = columns - columns.mean(axis=0)
    y = y - y.mean()
    residual = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    return float(1 - residual @ residual / (y @ y))
