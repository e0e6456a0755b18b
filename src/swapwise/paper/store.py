"""Rows on disk, one line each, appended as they are made; whatever happens, none is lost or doubled."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from zlib import crc32

from swapwise.paper.grid import COORDINATES, Key, Row

# What a line says of how its row was measured: since 2, seconds are processor time and not the clock's.
FORMAT = 2


class StoreError(RuntimeError):
    """The file is not what this program wrote, or somebody else is writing to it."""


class Store:
    """The rows made so far, by their coordinates.

    Every line is a JSON object with a row, its checksum and the format, written in one go. A program that is
    killed leaves at most one unfinished line, the last: it is taken off, and its row made again. A damaged
    line anywhere else is an error, since other lines may be wrong too; so is a row of another format,
    whose seconds cannot be compared.

    Use it as a context manager: the file is open, and locked, in between.

    >>> import tempfile
    >>> row = {"setting": "ising-10", "part": "paper", "method": "random", "size": 1, "trial": 0,
    ...        "flavour": "default", "seed": 0, "value": 0.5}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder) / "rows.jsonl") as store:
    ...         store.add(row)
    ...     with Store(Path(folder) / "rows.jsonl") as store:
    ...         [row["value"] for row in store.rows.values()]
    [0.5]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[Key, Row] = {}
        #: Whether the last line was unfinished when the file was opened
        self.was_cut = False

    def __enter__(self) -> Store:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self.path, "a+b")
        try:
            _lock(self._file, self.path)
            self._read()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, row: Row) -> None:
        """Write a row, to stay even if the machine stops at the next moment."""
        key = _key(row)
        if key in self.rows:
            raise StoreError(f"{self.path} has a row for {key} already")
        line = _line(row)
        self.rows[key] = row  # first: what is interrupted while it is written may be in the file
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self) -> None:
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            row = self._checked(line, number)
            key = _key(row)
            if key in self.rows:
                raise StoreError(f"line {number} of {self.path} is a second row for {key}")
            self.rows[key] = row
        if whole < len(data):
            self._file.truncate(whole)
            self.was_cut = True

    def _checked(self, line: bytes, number: int) -> Row:
        try:
            entry = json.loads(line)
            row = entry["row"]
            intact = entry["check"] == _check(row) and all(name in row for name in COORDINATES)
            written_as = entry.get("format", 1)
        except (ValueError, KeyError, TypeError):
            intact = False
        if not intact:
            raise StoreError(
                f"line {number} of {self.path} is damaged: it is not what was written there. Delete the line "
                "to have its row made again, or the file to start again"
            )
        if written_as != FORMAT:
            raise StoreError(
                f"{self.path} was written by another version of swapwise (format {written_as}; this one "
                f"writes {FORMAT}): seconds of format 1 are elapsed time, those of format 2 processor time. "
                "They cannot be compared: delete the folder, or give another one by --out"
            )
        return dict(row)


def _key(row: Mapping[str, Any]) -> Key:
    return tuple(row[name] for name in COORDINATES)


def _line(row: Row) -> bytes:
    entry = {"row": row, "check": _check(row), "format": FORMAT}
    return json.dumps(entry, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _check(row: Row) -> str:
    return f"{crc32(json.dumps(row, sort_keys=True).encode()):08x}"


def _lock(file: Any, path: Path) -> None:
    """Keep other runs out until the file is closed; a program that is killed leaves no lock behind."""
    try:
        import fcntl
    except ImportError:  # Windows: two runs at a time are caught by their double rows only
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise StoreError(f"another run is writing to {path}; wait for it, or give another folder") from error
