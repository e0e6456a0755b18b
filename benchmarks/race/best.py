"""The best answers known to instances: what any program ever found, kept in a file and only ever raised."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.race.designs import Setting
from swapwise.files import write_atomically
from swapwise.paper.store import StoreError


@dataclass(frozen=True)
class Best:
    """The highest R² known of a setting, which program found it, and how many restarts there were."""

    r2: float
    by: str
    restarts: int = 0

    def raised(self, other: Best) -> Best:
        """Return the better of two, with the restarts of both.

        >>> Best(0.5, "abess", 0).raised(Best(0.4, "swapwise", 200))
        Best(r2=0.5, by='abess', restarts=200)
        """
        better = other if other.r2 > self.r2 else self
        return Best(better.r2, better.by, self.restarts + other.restarts)


class BestKnown:
    """Best answers by setting, in a file with one JSON object per line.

    >>> import tempfile
    >>> setting = Setting("ar-0.9", 1.0, 200, 1000, 10, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     known = BestKnown(Path(folder) / "best.jsonl")
    ...     known.add([(setting, Best(0.5, "OMP")), (setting, Best(0.4, "abess"))])
    ...     BestKnown(Path(folder) / "best.jsonl").of(setting)
    Best(r2=0.5, by='OMP', restarts=0)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._best: dict[Setting, Best] = {}
        lines = path.read_bytes().splitlines() if path.exists() else []
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                setting = Setting(**entry.pop("setting"))
                self._best[setting] = Best(**entry)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise StoreError(
                    f"line {number} of {path} is not a best answer; delete it, or give another folder"
                ) from error

    def of(self, setting: Setting) -> Best | None:
        """Return the best answer, None if there is none."""
        return self._best.get(setting)

    def add(self, found: Iterable[tuple[Setting, Best]]) -> None:
        """Raise what is known, and write it."""
        for setting, best in found:
            known = self._best.get(setting)
            self._best[setting] = best if known is None else known.raised(best)
        entries = [{"setting": asdict(setting), **asdict(best)} for setting, best in self._best.items()]
        write_atomically(self.path, "".join(json.dumps(entry) + "\n" for entry in entries).encode())
