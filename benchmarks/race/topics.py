"""What is measured beside the race: each topic is some measures, run apart, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.race.apart import Measure, apart
from benchmarks.race.cold import cold
from benchmarks.race.designs import SIZES
from benchmarks.race.groups import grouped
from benchmarks.race.memory import peak
from benchmarks.race.moves import SHAPES, paces, restarts
from benchmarks.race.passes import passes
from benchmarks.race.race import Rules
from benchmarks.race.rows import Figure
from benchmarks.race.scaling import FEATURES, SAMPLES, SUPPORT, growth
from benchmarks.race.store import Store
from benchmarks.race.sweep import sweep
from benchmarks.race.versions import stamp

Calls = Sequence[tuple[Measure, dict[str, Any]]]

#: Those that are timed on growth and memory too; all others would take long and show no more.
MEASURED = ("swapwise", "abess", "OMP")


def _growth(shape: tuple[int | None, ...], ladder: Sequence[int]) -> Callable[[bool, Sequence[str]], Calls]:
    def calls(full: bool, programs: Sequence[str]) -> Calls:
        rungs = ladder if full else ladder[:3]
        options = {"shape": shape, "ladder": rungs, "programs": programs, "repeats": 3 if full else 1}
        return [(growth, options)]

    return calls


def _memory(full: bool, programs: Sequence[str]) -> Calls:
    shape = (5000, 10_000, 100) if full else (500, 1000, 10)
    return [(peak, {"program": name, "shape": shape}) for name in programs]


def _passes(full: bool, programs: Sequence[str]) -> Calls:
    shapes = SIZES if full else SIZES[:1]
    return [(passes, {"shape": shape, "repeats": 3}) for shape in shapes]


def _cold(full: bool, programs: Sequence[str]) -> Calls:
    return [(cold, {})]


def _groups(full: bool, programs: Sequence[str]) -> Calls:
    samples, features = (2500, 5000) if full else (500, 1000)
    return [(grouped, {"samples": samples, "features": features, "repeats": 3})]


def _sweep(full: bool, programs: Sequence[str]) -> Calls:
    return [(sweep, {"features": 1000, "samples": 100, "repeats": 3})]


def _moves(full: bool, programs: Sequence[str]) -> Calls:
    return [(paces, {"repeats": 51}), *((restarts, {"shape": shape, "repeats": 5}) for shape in SHAPES)]


THOUSANDS = (1000, 3000, 10_000, 30_000, 100_000)
TOPICS: dict[str, Callable[[bool, Sequence[str]], Calls]] = {
    "time against features": _growth(FEATURES, THOUSANDS),
    "time against samples": _growth(SAMPLES, THOUSANDS),
    "time against support": _growth(SUPPORT, (5, 10, 20, 50, 100)),
    "passes over the data": _passes,
    "peak memory": _memory,
    "groups": _groups,
    "the paper's sweep": _sweep,
    "small problems": _moves,
    "cold start": _cold,
}


def measure(topic: str, full: bool, rules: Rules, store: Store, fresh: bool = False) -> list[Figure]:
    """Return the figures on a topic, measured unless the store has those of today's versions."""
    programs = [name for name in MEASURED if name in rules.programs]
    versions = "; ".join(stamp(name) for name in programs)
    known = [row for row in store.figures(topic, full, rules.threads) if row.versions == versions]
    if known and not fresh:  # then all of them are there: they are stored together
        return known
    figures = [
        Figure(topic, **result, full=full, threads=rules.threads, versions=versions)
        for call, options in TOPICS[topic](full, programs)
        for result in apart(call, options, rules.threads, rules.limit)
    ]
    store.add(figures)
    return figures
