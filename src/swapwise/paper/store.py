"""Rows and sessions of a run in one SQLite file: whatever happens, no row is lost, doubled or changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any
from zlib import crc32

from swapwise.paper.grid import COORDINATES, Key, Row
from swapwise.paper.measure import COLUMNS
from swapwise.paper.sessions import SEEDS, Manifest, machine, versions

#: The file's name in a folder of results
RESULTS = "results.sqlite"

# Formats 1 and 2 were rows.jsonl and manifest.json.
FORMAT = 3
_EARLIER = ("rows.jsonl", "manifest.json")

_SESSION = ("started", "seconds", "rows", "options", "machine", "versions", "stored", "wanted")
_TABLES = (
    f"CREATE TABLE rows ({', '.join(COLUMNS)}, checksum, PRIMARY KEY ({', '.join(COORDINATES)}))",
    f"CREATE TABLE sessions (number INTEGER PRIMARY KEY, {', '.join(_SESSION)})",
)


class StoreError(RuntimeError):
    """The file is not what this program wrote, or another run is writing to it."""


class Store:
    """The rows made so far, by their coordinates, and the sessions that made them.

    As a context manager it keeps the file locked; a program that is killed leaves no lock, and no part of a
    row. Each row has a checksum: a damaged file is an error, since other rows may be wrong too.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[Key, Row] = {}

    def __enter__(self) -> Store:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for name in _EARLIER:
            if self.path.with_name(name).exists():
                raise StoreError(
                    f"{self.path.with_name(name)} was written by another version of swapwise, whose rows "
                    "cannot be continued: delete the folder, or give another one by --out"
                )
        with self._errors():
            self._file = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        self._file.text_factory = lambda data: data.decode(errors="replace")  # its checksum tells
        try:
            with self._errors():
                self._open()
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
        key = tuple(row[name] for name in COORDINATES)
        if key in self.rows:
            raise StoreError(f"{self.path} has a row for {key} already")
        values = (*(row[name] for name in COLUMNS), _checksum(row))
        self.rows[key] = row  # first: the file may have it if the write is interrupted
        self._insert("rows", (*COLUMNS, "checksum"), values)

    def begin(self, options: Mapping[str, Any]) -> None:
        facts = (json.dumps(one) for one in (options, machine(), versions()))
        started = datetime.now(UTC).isoformat(timespec="seconds")
        self._insert("sessions", ("started", "options", "machine", "versions"), (started, *facts))

    def end(self, seconds: float, made: int, stored: int, wanted: int) -> None:
        """End the session that began last: the rows it made, those there are and those there should be."""
        last = "number = (SELECT max(number) FROM sessions)"
        with self._errors():
            self._file.execute(
                f"UPDATE sessions SET seconds = ?, rows = ?, stored = ?, wanted = ? WHERE {last}",
                (round(seconds, 1), made, stored, wanted),
            )

    @property
    def manifest(self) -> Manifest:
        """How the rows were made: all sessions, and whether the last one completed the run."""
        with self._errors():
            found = self._file.execute(f"SELECT {', '.join(_SESSION)} FROM sessions ORDER BY number")
            sessions = [dict(zip(_SESSION, values, strict=True)) for values in found]
            for session in sessions:
                session |= {name: json.loads(session[name]) for name in ("options", "machine", "versions")}
        counts = [(session.pop("stored"), session.pop("wanted")) for session in sessions]
        stored, wanted = counts[-1] if counts else (None, None)
        complete = stored is not None and stored == wanted
        return {
            "seeds": SEEDS,
            "complete": complete,
            "sessions": sessions,
            "rows": stored,
            "wanted": wanted,
        }

    def _open(self) -> None:
        run = self._file.execute
        # Exclusive until the file is closed; every statement by itself is on disk when it returns.
        for setting in ("locking_mode = EXCLUSIVE", "journal_mode = DELETE", "synchronous = FULL"):
            run(f"PRAGMA {setting}").fetchall()
        run("BEGIN EXCLUSIVE")
        tables = [sql for (sql,) in run("SELECT sql FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        (version,) = run("PRAGMA user_version").fetchone()
        if not tables and version == 0:
            for sql in _TABLES:
                run(sql)
            run(f"PRAGMA user_version = {FORMAT}")
        elif (version, *tables) != (FORMAT, *_TABLES):
            raise StoreError(
                f"{self.path} was written by another version of swapwise, or is damaged (format {version}; "
                f"this one writes {FORMAT}): delete the folder, or give another one by --out"
            )
        run("COMMIT")
        problems = [problem for (problem,) in run("PRAGMA integrity_check") if problem != "ok"]
        if problems:
            raise sqlite3.DatabaseError(problems[0])
        self._read()

    def _read(self) -> None:
        for *values, checksum in self._file.execute("SELECT * FROM rows ORDER BY rowid"):
            row = dict(zip(COLUMNS, values, strict=True))
            if row["alone"] is not None:
                row["alone"] = bool(row["alone"])
            if checksum != _checksum(row):
                raise sqlite3.DatabaseError(f"the row of {[row[name] for name in COORDINATES]} was changed")
            self.rows[tuple(row[name] for name in COORDINATES)] = row

    def _insert(self, table: str, columns: tuple[str, ...], values: tuple[Any, ...]) -> None:
        places = ", ".join("?" * len(columns))
        with self._errors():
            self._file.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", values)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Name the file in errors of SQLite, and say what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise StoreError(
                    f"another run is writing to {self.path}; wait for it, or give another folder"
                ) from error
            raise StoreError(f"{self.path}: {error}") from error
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise StoreError(
                f"{self.path} is damaged ({error}): it is not what was written there. Delete it to start "
                "again, or give another folder"
            ) from error


def _checksum(row: Row) -> str:
    ordered = json.dumps([row[name] for name in COLUMNS], allow_nan=False)
    return f"{crc32(ordered.encode()):08x}"
