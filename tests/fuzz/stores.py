"""The rows of ``swapwise reproduce``: killed, damaged, opened twice; none is lost, doubled or changed."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from swapwise.paper.measure import COLUMNS
from swapwise.paper.store import Store, StoreError
from tests.fuzz.report import Report

Random = np.random.Generator


def check(seed: int) -> Report:
    """Write rows, let something happen to the file or to the writer, and go on."""
    random = np.random.default_rng([31, seed])
    what = str(random.choice(["kill", "cut", "byte", "row", "twice"]))
    report = Report(what, (what,))
    rows = [_row(random, trial) for trial in range(int(random.integers(1, 30)))]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "results.sqlite"
        EVENTS[what](random, path, rows, report)
    return report


def _row(random: Random, trial: int) -> dict[str, Any]:
    letters = ["a", '"', "\\", "\n", "é", "\u2028", "\x00", "{", "∞"]
    words = "".join(random.choice(letters, random.integers(0, 9)))
    return {
        **dict.fromkeys(COLUMNS),
        "setting": words,
        "part": "paper",
        "method": "random",
        "size": int(random.integers(9)),
        "trial": trial,
        "flavour": "default",
        "seed": 0,
        "value": float(random.standard_normal() * 10.0 ** random.integers(-300, 300)),
    }


def _write(path: Path, rows: list[dict[str, Any]], added: Callable[[], object] = lambda: None) -> None:
    """Add the rows that are not there yet."""
    with Store(path) as store:
        there = [row["trial"] for row in store.rows.values()]
        for row in rows:
            if row["trial"] not in there:
                store.add(row)
                added()


def _read(path: Path) -> list[dict[str, Any]]:
    with Store(path) as store:
        return list(store.rows.values())


def _resumed(path: Path, rows: list[dict[str, Any]], report: Report, what: str) -> None:
    """Check that the rows on disk are the first of those, and that all are there after one more run."""
    found = _read(path)
    report.claim("rows are as they were written", found == rows[: len(found)], f"{what}: {len(found)} rows")
    _write(path, rows)
    report.claim("a run that goes on has every row once", _read(path) == rows, what)


def _kill(random: Random, path: Path, rows: list[dict[str, Any]], report: Report) -> None:
    """Kill a writer once some rows are there: those that were there before stay."""
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _write(path, rows, lambda: os.write(told, b"."))
        finally:
            os._exit(0)
    os.close(told)
    wanted, there = int(random.integers(len(rows) + 1)), 0
    while there < wanted and os.read(heard, 1):
        there += 1
    os.close(heard)
    time.sleep(float(random.uniform(0, 0.001)))  # the next row may be half written
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = len(_read(path))
    report.kinds += (f"killed with {'no' if not found else 'all' if found == len(rows) else 'some'} rows",)
    report.claim("rows outlive their writer", found >= there, f"{found} of {there} rows are left")
    _resumed(path, rows, report, "killed")


def _cut(random: Random, path: Path, rows: list[dict[str, Any]], report: Report) -> None:
    _write(path, rows)
    size = int(random.integers(path.stat().st_size + 1))
    report.words = f"cut to {size} bytes"
    _damaged(path.read_bytes()[:size], path, rows, report, [rows, [] if size == 0 else rows])


def _damaged(
    data: bytes, path: Path, rows: list[dict[str, Any]], report: Report, left: list[list[dict[str, Any]]]
) -> None:
    """Check that damage is told, or leaves one of the lists of rows that it may leave, and no others."""
    path.write_bytes(data)
    try:
        found = _read(path)
    except StoreError as error:
        report.claim("damage is told with its file", str(path) in str(error), f"{error}")
        return
    words = f"{report.words}: {len(found)} of {len(rows)} rows"
    report.claim("what is not told costs no row", found in left, words)


def _byte(random: Random, path: Path, rows: list[dict[str, Any]], report: Report) -> None:
    _write(path, rows)
    data = bytearray(path.read_bytes())
    place, kind = int(random.integers(len(data))), random.integers(3)
    if kind == 0:
        data[place] ^= 1 << int(random.integers(8))
    elif kind == 1:
        del data[place]
    else:
        data.insert(place, int(random.integers(256)))
    report.words = f"byte {place}, {['flipped', 'gone', 'more'][kind]}"
    _damaged(bytes(data), path, rows, report, [rows])


def _row_changed(random: Random, path: Path, rows: list[dict[str, Any]], report: Report) -> None:
    """Change or delete a row in a way that SQLite itself does not see."""
    _write(path, rows)
    place, left = int(random.integers(len(rows))), list[list[dict[str, Any]]]()
    if random.random() < 0.5:
        report.words = f"row {place} gone"  # which leaves no trace: the row is made again
        statement = "DELETE FROM rows WHERE trial = ?"
        left = [rows[:place] + rows[place + 1 :]]
    else:
        report.words = f"row {place} changed"
        statement = "UPDATE rows SET value = 0.5 WHERE trial = ?"
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(statement, (rows[place]["trial"],))
    _damaged(path.read_bytes(), path, rows, report, left)


def _twice(random: Random, path: Path, rows: list[dict[str, Any]], report: Report) -> None:
    with Store(path):
        try:
            with Store(path):
                report.claim("two runs do not write at once", False)
        except StoreError:
            report.claim("two runs do not write at once", True)
    _resumed(path, rows, report, "after two at once")


EVENTS = {"kill": _kill, "cut": _cut, "byte": _byte, "row": _row_changed, "twice": _twice}
