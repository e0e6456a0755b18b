"""Many instances, in several processes: what was checked, and what was wrong."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice

from tests.fuzz.checks import check

#: Seeds that a process checks before it reports
CHUNK = 20
#: Violations of one claim that are shown
SHOWN = 8


@dataclass
class Row:
    """What is known of one instance when it has been checked; plain, so that it can come from a process."""

    seed: int
    objective: str
    family: str
    words: str
    claims: Counter[str]
    refusals: Counter[str]
    violations: list[tuple[str, str]]


@dataclass
class Totals:
    """Counts over all instances so far."""

    instances: int = 0
    objectives: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    broken: dict[str, list[tuple[Row, str]]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        self.instances += 1
        self.objectives[row.objective] += 1
        self.families[row.family] += 1
        self.claims += row.claims
        self.refusals += row.refusals
        for claim, words in row.violations:
            self.broken.setdefault(claim, []).append((row, words))

    @property
    def violations(self) -> int:
        return sum(map(len, self.broken.values()))

    def told(self, seconds: float) -> str:
        """Return the summary that is printed."""
        rate = self.instances / max(seconds, 1e-9)
        lines = [f"{self.instances} instances in {seconds:.0f} s ({rate:.1f}/s)", ""]
        lines += ["instances by objective", *_counted(self.objectives), ""]
        lines += ["instances by constraint", *_counted(self.families), ""]
        lines += ["refusals", *_counted(self.refusals, 20), ""]
        lines += ["claims checked, and violated"]
        for claim, count in sorted(self.claims.items()):
            lines.append(f"  {count:9,}  {len(self.broken.get(claim, [])):6,}  {claim}")
        for claim, found in sorted(self.broken.items()):
            seeds = {row.seed for row, _ in found}
            kinds = Counter(row.objective for row, _ in found), Counter(row.family for row, _ in found)
            lines += ["", f"VIOLATED in {len(seeds)} instances: {claim}"]
            lines += ["  " + ", ".join(f"{name} {n}" for name, n in kind.most_common(6)) for kind in kinds]
            lines += [f"  --only {row.seed}: {row.words}\n      {words}" for row, words in found[:SHOWN]]
        return "\n".join([*lines, "", f"{self.violations} violations"])


def _counted(counts: Counter[str], most: int | None = None) -> list[str]:
    return [f"  {count:9,}  {name}" for name, count in counts.most_common(most)]


def row_of(seed: int) -> Row:
    """Check one instance."""
    report = check(seed)
    objective, family = report.instance.objective, report.instance.family
    name = f"{objective.name} f4" if objective.dtype == "f4" else objective.name
    return Row(
        seed, name, family.name, str(report.instance), report.claims, report.refusals, report.violations
    )


def rows_of(seeds: range) -> list[Row]:
    return [row_of(seed) for seed in seeds]


def run(seeds: range, jobs: int, seconds: float) -> Iterator[Row]:
    """Check instances until there are no more or the time is up."""
    ends = time.monotonic() + seconds
    if jobs == 1:
        for seed in seeds:
            if time.monotonic() > ends:
                return
            yield row_of(seed)
        return
    chunks = (seeds[begin : begin + CHUNK] for begin in range(0, len(seeds), CHUNK))
    # Not forked: threads of other libraries do not survive that.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        pending: set[Future[list[Row]]] = set()
        while time.monotonic() < ends:
            wanted = islice(chunks, 2 * jobs - len(pending))
            pending |= {pool.submit(rows_of, chunk) for chunk in wanted}
            if not pending:
                return
            done, pending = wait(pending, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
        for future in pending:
            if not future.cancel():
                yield from future.result()
