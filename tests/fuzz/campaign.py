"""Many instances of a campaign, in several processes: what was checked, and what was wrong."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from swapwise.files import write_atomically
from tests.fuzz import checks, estimators, interrupts, near_collinear, stores, tables
from tests.fuzz.report import Report

#: What each campaign does with a seed
CAMPAIGNS: dict[str, Callable[[int], Report]] = {
    "searches": checks.check,
    "certificates": near_collinear.check,
    "estimators": estimators.check,
    "tables": tables.check,
    "interrupts": interrupts.check,
    "stores": stores.check,
}

#: Seeds that a process checks before it reports
CHUNK = 20
#: Violations of one claim that are shown
SHOWN = 8


class Row(NamedTuple):
    """A report and its seed; plain, so that it can come from a process."""

    seed: int
    report: Report


class Broken(NamedTuple):
    """A claim that did not hold."""

    seed: int
    claim: str
    instance: str
    words: str


@dataclass
class Totals:
    """Counts of one campaign over all instances so far, and how far it has come."""

    instances: int = 0
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    broken: list[Broken] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Count one more instance."""
        self.instances += 1
        self.kinds.update(row.report.kinds)
        self.claims += row.report.claims
        self.refusals += row.report.refusals
        self.broken += _broken(row)

    def check_again(self, check: Callable[[int], Report]) -> None:
        """Forget violations that are mended since they were seen."""
        seeds = sorted({each.seed for each in self.broken})
        self.broken = [each for seed in seeds for each in _broken(Row(seed, check(seed)))]

    def told(self, name: str) -> str:
        """Return what was counted, in lines."""
        lines = [f"{name}: {self.instances} instances in {self.seconds:.0f} s", *_counted(self.kinds)]
        lines += ["refusals", *_counted(self.refusals, 12)] if self.refusals else []
        wrong = Counter(each.claim for each in self.broken)
        lines += ["claims checked, and violated"]
        lines += [
            f"  {count:9,}  {wrong[claim]:6,}  {claim}"
            for claim, count in sorted((self.claims | wrong).items())
        ]
        return "\n".join(lines)

    def shown(self, name: str) -> list[str]:
        """Return the violations, each with the command that repeats it."""
        lines: list[str] = []
        for claim, found in Counter(each.claim for each in self.broken).items():
            lines += ["", f"VIOLATED {found} times: {claim}"]
            few = [each for each in self.broken if each.claim == claim][:SHOWN]
            lines += [
                f"  python -m tests.fuzz --campaign {name} --only {each.seed}: {each.instance}\n"
                f"      {each.words}"
                for each in few
            ]
        return lines


def _broken(row: Row) -> list[Broken]:
    return [Broken(row.seed, claim, row.report.words, words) for claim, words in row.report.violations]


def _counted(counts: Counter[str], most: int | None = None) -> list[str]:
    return [f"  {count:9,}  {name}" for name, count in counts.most_common(most)]


class Progress:
    """How far the campaigns of a seed have come: a file each, whole or as it was before."""

    def __init__(self, folder: Path, seed: int, without: Collection[str] = ()) -> None:
        self.paths = {name: folder / f"{name}-{seed}.json" for name in CAMPAIGNS}
        there = [name for name, path in self.paths.items() if name not in without and path.exists()]
        self.of = {name: _read(json.loads(self.paths[name].read_text())) for name in there}

    def save(self, name: str) -> None:
        """Write what is known of a campaign now."""
        write_atomically(self.paths[name], json.dumps(vars(self.of[name]), indent=1).encode())


def _read(known: dict[str, Any]) -> Totals:
    counts = {name: Counter(known[name]) for name in ("kinds", "claims", "refusals")}
    return Totals(**(known | counts | {"broken": [Broken(*each) for each in known["broken"]]}))


def rows_of(name: str, seeds: range) -> list[Row]:
    """Check some instances."""
    return [Row(seed, CAMPAIGNS[name](seed)) for seed in seeds]


def run(name: str, seeds: range, jobs: int, seconds: float) -> Iterator[Row]:
    """Check instances in order, until there are no more or the time is up."""
    ends = time.monotonic() + seconds
    if jobs == 1:
        for seed in seeds:
            if time.monotonic() > ends:
                return
            yield Row(seed, CAMPAIGNS[name](seed))
        return
    size = min(CHUNK, max(1, len(seeds) // (4 * jobs)))
    chunks = (seeds[begin : begin + size] for begin in range(0, len(seeds), size))
    # Not forked: threads of other libraries do not survive that.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        pending: deque[Future[list[Row]]] = deque()
        try:
            while True:
                while len(pending) < 2 * jobs and time.monotonic() < ends:
                    chunk = next(chunks, None)
                    if chunk is None:
                        break
                    pending.append(pool.submit(rows_of, name, chunk))
                if not pending:
                    return
                yield from pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
