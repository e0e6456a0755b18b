"""What came of one program on one line: what was proven, when, and what was chosen."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.proofs.lines import GAP, Line
from swapwise.files import write_atomically
from swapwise.paper.store import StoreError


def gap_of(value: float, bound: float) -> float:
    """Return what of the bound is not reached: the same for all programs.

    >>> gap_of(0.75, 1.0), gap_of(0.75, 0.75)
    (0.25, 0.0)
    """
    return max(0.0, 1.0 - value / bound) if bound > 0 else 1.0


@dataclass(frozen=True)
class Outcome:
    """One run. ``points`` are ``(seconds, value, bound)``; none if the program failed, and ``note`` says why.

    ``own_gap`` is what the program calls its gap, and ``plain`` the value of its support by plain linear
    algebra, where there is such a check.
    """

    line: Line
    seed: int
    program: str
    limit: float
    threads: int
    points: tuple[tuple[float, float, float], ...] = ()
    support: tuple[int, ...] = ()
    own_gap: float | None = None
    plain: float | None = None
    megabytes: float | None = None
    note: str = ""

    @property
    def gap(self) -> float | None:
        """The gap at the end."""
        return gap_of(*self.points[-1][1:]) if self.points else None

    @property
    def value(self) -> float | None:
        """The value of the answer."""
        return self.points[-1][1] if self.points else None

    @property
    def seconds(self) -> float | None:
        """When the program was done: after the limit, if it did not keep it."""
        return self.points[-1][0] if self.points else None

    @property
    def proven_at(self) -> float | None:
        """When the gap was small enough for the answer to count as proven; None if it never was.

        >>> line = Line("table", 100, 20, 3, 0.001)
        >>> Outcome(line, 0, "okridge", 20.0, 2, ((1.0, 0.5, 0.75), (2.0, 0.5, 0.5))).proven_at
        2.0
        """
        return next((seconds for seconds, *both in self.points if gap_of(*both) <= GAP), None)

    @property
    def name(self) -> str:
        """The name of its file: what was run, on what, for how long."""
        program = self.program.replace(" ", "_")
        return f"{self.line.slug}-seed{self.seed}-{program}-{self.limit:g}s-{self.threads}t.json"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values.

        >>> outcome = Outcome(Line("table", 100, 20, 3, 0.001), 0, "okridge", 20.0, 2, ((1.0, 0.5, 0.75),))
        >>> Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome
        True
        """
        return asdict(self)

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Outcome:
        """Return the outcome that plain values stand for."""
        fields = dict(entry)
        fields["line"] = Line(**fields["line"])
        fields["points"] = tuple((float(s), float(v), float(b)) for s, v, b in fields["points"])
        fields["support"] = tuple(fields["support"])
        return cls(**fields)


class Store:
    """Outcomes in a folder, one file each, there in whole or not at all; without a folder none is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def find(self, wanted: Outcome) -> Outcome | None:
        """Return what is there of a run."""
        if self.folder is None or not (path := self.folder / wanted.name).exists():
            return None
        try:
            return Outcome.from_json(json.loads(path.read_bytes()))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path} is not an outcome; delete it to have it measured again") from error

    def add(self, outcome: Outcome) -> None:
        """Write what came of a run."""
        if self.folder is not None:
            write_atomically(self.folder / outcome.name, json.dumps(outcome.to_json()).encode())
