"""The rows of ``swapwise reproduce``: killed, damaged, opened twice; none is lost, doubled or changed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from swapwise.experiments.store import Store, StoreError
from tests.fuzz.report import Report

Random = np.random.Generator


def check(seed: int) -> Report:
    """Write rows, let something happen to the file or to the writer, and go on."""
    random = np.random.default_rng([31, seed])
    what = str(random.choice(["kill", "cut", "byte", "line", "twice"]))
    report = Report(what, (what,))
    rows = [_row(random, trial) for trial in range(int(random.integers(1, 30)))]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        EVENTS[what](random, path, rows, report)
    return report


def _row(random: Random, trial: int) -> dict[str, Any]:
    letters = ["a", '"', "\\", "\n", "é", "\u2028", "\x00", "{", "∞"]
    words = "".join(random.choice(letters, random.integers(0, 9)))
    return {
        "setting": words,
        "part": "paper",
        "method": "random",
        "size": int(random.integers(9)),
        "trial": trial,
        "flavour": "default",
        "seed": 0,
        "value": float(random.standard_normal() * 10.0 ** random.integers(-300, 300)),
    }


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Add the rows that are not there yet."""
    with Store(path) as store:
        there = [row["trial"] for row in store.rows.values()]
        for row in rows:
            if row["trial"] not in there:
                store.add(row)


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
    child = os.fork()
    if child == 0:
        try:
            _write(path, rows)
        finally:
            os._exit(0)
    time.sleep(float(random.uniform(0, 0.004)))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    _resumed(path, rows, report, "killed")


def _cut(random: Random, path: Path, rows: list[dict[str, Any]], report: Report) -> None:
    _write(path, rows)
    size = int(random.integers(path.stat().st_size + 1))
    os.truncate(path, size)
    _resumed(path, rows, report, f"cut to {size} bytes")


def _damaged(data: bytes, path: Path, rows: list[dict[str, Any]], report: Report, what: str) -> None:
    """Check that damage is told, or leaves rows that are all as they were."""
    path.write_bytes(data)
    try:
        found = _read(path)
    except StoreError as error:
        report.claim(
            "damage is told with its line", "line " in str(error) or "format" in str(error), f"{error}"
        )
        return
    report.claim("what is read was written", all(row in rows for row in found), what)
    report.claim("no row is doubled", len({row["trial"] for row in found}) == len(found), what)


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
    _damaged(bytes(data), path, rows, report, f"byte {place}, {['flipped', 'gone', 'more'][kind]}")


def _line(random: Random, path: Path, rows: list[dict[str, Any]], report: Report) -> None:
    _write(path, rows)
    lines = path.read_bytes().splitlines(keepends=True)
    place = int(random.integers(len(lines)))
    if random.random() < 0.5:
        del lines[place]
    else:
        lines.insert(int(random.integers(len(lines) + 1)), lines[place])
    _damaged(b"".join(lines), path, rows, report, f"line {place} gone or twice")


def _twice(random: Random, path: Path, rows: list[dict[str, Any]], report: Report) -> None:
    with Store(path):
        try:
            with Store(path):
                report.claim("two runs do not write at once", False)
        except StoreError:
            report.claim("two runs do not write at once", True)
    _resumed(path, rows, report, "after two at once")


EVENTS = {"kill": _kill, "cut": _cut, "byte": _byte, "line": _line, "twice": _twice}
