"""What is measured: one row for each program on each setting, for each climb, and for each other figure."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.race.designs import Setting

Key = tuple[Hashable, ...]


@dataclass(frozen=True)
class Lap:
    """One program on one setting.

    ``seconds`` is the median of its runs and ``r2`` that of a refit on what it found, the same refit for all
    programs; both are None if it did not run to its end, and ``note`` says why.
    """

    setting: Setting
    program: str
    threads: int
    versions: str
    seconds: float | None
    r2: float | None
    found: int
    recovered: int
    note: str

    @property
    def key(self) -> Key:
        """What it is a row of; another row with the same key is the same measured again."""
        return ("lap", self.setting, self.program, self.threads)


@dataclass(frozen=True)
class Climb:
    """How the answer of swapwise to a setting rose: the best R² so far at the seconds at which it changed.

    It is that of a fit with many restarts, which begins as the one without does; ``first`` are the seconds of
    that part.
    """

    setting: Setting
    threads: int
    versions: str
    first: float
    seconds: tuple[float, ...]
    r2: tuple[float, ...]

    @property
    def key(self) -> Key:
        """What it is a row of; another row with the same key is the same measured again."""
        return ("climb", self.setting, self.threads)


@dataclass(frozen=True)
class Figure:
    """One number on one topic: a ``quantity`` of a ``subject``, measured ``at`` some size.

    ``full`` tells figures of full runs from those of quick ones.
    """

    topic: str
    subject: str
    at: int
    quantity: str
    value: float
    full: bool
    threads: int
    versions: str

    @property
    def key(self) -> Key:
        """What it is a row of; another row with the same key is the same measured again."""
        return ("figure", self.topic, self.subject, self.at, self.quantity, self.full, self.threads)


Row = Lap | Climb | Figure


def to_json(row: Row) -> dict[str, Any]:
    """Return a row as plain values.

    >>> figure = Figure("sweep", "swapwise", 10, "seconds", 0.5, True, 1, "swapwise 0.1")
    >>> from_json(to_json(figure)) == figure
    True
    """
    return {"kind": type(row).__name__, **asdict(row)}


def from_json(entry: dict[str, Any]) -> Row:
    """Return the row that plain values stand for."""
    fields = dict(entry)
    kind = fields.pop("kind")
    if kind == "Figure":
        return Figure(**fields)
    fields["setting"] = Setting(**fields["setting"])
    if kind == "Lap":
        return Lap(**fields)
    if kind == "Climb":
        return Climb(**{**fields, "seconds": tuple(fields["seconds"]), "r2": tuple(fields["r2"])})
    raise ValueError(f"a row must be a Lap, a Climb or a Figure; got {kind!r}")
