"""The rows on disk: one JSON object a line, the file whole at every moment."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.race.designs import Setting
from benchmarks.race.rows import Climb, Figure, Key, Lap, Row, from_json, to_json
from swapwise.files import write_atomically
from swapwise.paper.store import StoreError


class Store:
    """The rows measured so far; what is measured again takes the place of what was there.

    >>> import tempfile
    >>> figure = Figure("sweep", "swapwise", 10, "seconds", 0.5, True, 1, "swapwise 0.1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(Path(folder) / "rows.jsonl").add([figure])
    ...     [row.value for row in Store(Path(folder) / "rows.jsonl").rows.values()]
    [0.5]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_bytes().splitlines() if path.exists() else []
        read = [self._read(line, number) for number, line in enumerate(lines, start=1)]
        self.rows: dict[Key, Row] = {row.key: row for row in read}

    def _read(self, line: bytes, number: int) -> Row:
        try:
            return from_json(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"line {number} of {self.path} is not a row of the race; delete it, or give another folder"
            ) from error

    def add(self, rows: Iterable[Row]) -> None:
        """Write rows, all or none of them."""
        self.rows.update({row.key: row for row in rows})
        lines = [json.dumps(to_json(row)) + "\n" for row in self.rows.values()]
        write_atomically(self.path, "".join(lines).encode())

    def laps(self, keys: Iterable[Key]) -> list[Lap]:
        """Return those laps that are there."""
        found = (self.rows.get(key) for key in keys)
        return [row for row in found if isinstance(row, Lap)]

    def climbs(self, settings: Iterable[Setting]) -> list[Climb]:
        """Return the climbs with one thread that are there."""
        found = (self.rows.get(("climb", setting, 1)) for setting in settings)
        return [row for row in found if isinstance(row, Climb)]

    def figures(self, topic: str, full: bool, threads: int) -> list[Figure]:
        """Return all figures on a topic, of full or of quick runs."""
        return [
            row
            for row in self.rows.values()
            if isinstance(row, Figure) and (row.topic, row.full, row.threads) == (topic, full, threads)
        ]
