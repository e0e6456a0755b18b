"""Hostile tables through ``swapwise select``: an answer or a line that says why, and no cell lost or shifted.

What is answered is compared with a fit to what Python's csv module reads: all columns are chosen, so that
every cell counts.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from typer.testing import CliRunner, Result

from swapwise.cli import app
from tests.fuzz.report import Report

Random = np.random.Generator
#: No message is longer, whatever the table holds
LONGEST = 20_000
LETTERS = [*"abcXYZ_ .:;-'\"", ",", "é", "名", "\t", "=", "#", "[b]", "\x1b[31m", "\u202e", "%s", "{0}", "\\"]


class Table(NamedTuple):
    """A table as text, and what is in it."""

    data: bytes
    separator: str
    names: list[str]
    numbers: np.ndarray
    what: str


def check(seed: int) -> Report:
    """Write a table in some dialect, damage some, and let the command line read it."""
    random = np.random.default_rng([37, seed])
    table, plain = _some_table(random)
    damaged = random.random() < 0.5
    data = _damaged(random, table.data) if damaged else table.data
    report = Report(f"{table.what}{', damaged' if damaged else ''}", (table.what,))
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("table.tsv" if table.separator == "\t" else "table.csv")
        path.write_bytes(data)
        out = Path(folder) / "out.json"
        size, target = len(table.names) - 1, table.names[-1]
        options = ["select", str(path), "--target", target, "--size", str(size), "--json", str(out)]
        done = CliRunner().invoke(app, options)
        check_ending(report, done, out, data)
        if damaged:
            return report
        if plain:
            report.claim("a plain table is answered", done.exit_code == 0, done.output[:300])
        if done.exit_code == 0:
            check_answer(report, table, json.loads(out.read_text()))
        else:
            report.refusals["target" if "--target names" in done.output else "another"] += 1
    return report


def check_ending(report: Report, done: Result, out: Path, data: bytes) -> None:
    """Check that there is an answer, or else a message, but no traceback, and that a terminal is safe."""
    said, words = done.output, f"{data[:300]!r}: {done.output[:500]!r} {done.exception!r}"
    expected = done.exception is None or isinstance(done.exception, SystemExit)
    report.claim("no traceback", expected and "Traceback" not in said, words)
    report.claim("an answer, or a message", (done.exit_code == 0) == out.exists() and bool(said), words)
    report.claim("exit code 0 or 1", done.exit_code in (0, 1, 2), words)
    report.claim("a message has an end", len(said) <= LONGEST, f"{len(said)} characters")
    report.claim("a terminal is sent nothing that it obeys", not set("\x1b\x07\u202e") & set(said), words)


def check_answer(report: Report, table: Table, answer: dict[str, Any]) -> None:
    """Compare coefficients with those of the cells that the csv module reads."""
    text = table.data.decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=table.separator))
    numbers = np.array([[float(cell) for cell in row] for row in rows[1:] if row])
    report.claim("the csv module agrees", (numbers == table.numbers).all(), table.what)
    X, y = numbers[:, :-1], numbers[:, -1]
    design = np.column_stack([X, np.ones(len(y))])
    coef = np.linalg.lstsq(design, y, rcond=None)[0]
    found = {each["feature"].strip(): each["coefficient"] for each in answer["chosen"]}
    own = np.array([found.get(name.strip(), np.nan) for name in rows[0][:-1]])  # blanks around names may go
    size = max(1.0, float(np.abs(coef).max()))
    agrees = bool((np.abs(own - coef[:-1]) <= 1e-6 * size).all())
    report.claim("no cell is lost or shifted", agrees, f"{table.data[:400]!r}: {found}, but {coef}")


def _some_table(random: Random) -> tuple[Table, bool]:
    """Return a table of numbers, and whether it is so plain that it must be answered."""
    n, p = int(random.integers(8, 25)), int(random.integers(2, 5))
    numbers = random.standard_normal((n, p)) * 10.0 ** random.integers(-2, 4)
    numbers = np.round(numbers, int(random.integers(0, 8)))
    if len(np.unique(numbers, axis=0)) < n or (numbers.max(axis=0) == numbers.min(axis=0)).any():
        numbers = numbers + np.round(random.standard_normal((n, p)), 6)
    plain = random.random() < 0.5
    names = [f"c{place}" if plain else _name(random, place) for place in range(p)]
    separator = str(random.choice([",", ";", "\t"], p=[0.6, 0.2, 0.2]))
    newline = str(random.choice(["\n", "\r\n"]))
    quoting = csv.QUOTE_MINIMAL if random.random() < 0.6 else csv.QUOTE_ALL
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, lineterminator=newline, quoting=quoting)
    written = [[repr(float(cell)) for cell in row] for row in numbers]
    writer.writerows([names, *written])
    text = file.getvalue() if random.random() < 0.8 else file.getvalue().rstrip("\r\n")
    begin = b"\xef\xbb\xbf" if random.random() < 0.2 else b""
    kind = f"{'plain' if plain else 'hostile'} names, {separator!r}"
    return Table(begin + text.encode(), separator, names, numbers, kind), plain


def _name(random: Random, place: int) -> str:
    letters = "".join(random.choice(LETTERS, random.integers(1, 8)).tolist())
    return f"{letters}{place}" if random.random() < 0.9 else f"{letters}\n{place}"


def _damaged(random: Random, data: bytes) -> bytes:
    """Return bytes with some changed, gone, repeated or added."""
    array = bytearray(data)
    for _ in range(int(random.integers(1, 5))):
        place, kind = int(random.integers(len(array) + 1)), random.integers(5)
        if kind == 0 and place < len(array):
            array[place] = int(random.integers(256))
        elif kind == 1:
            del array[place : place + int(random.integers(1, 40))]
        elif kind == 2:
            array[place:place] = array[: int(random.integers(1, 60))]
        elif kind == 3:
            more = [b'"', b",", b";", b"\n", b"\r", b"\x00", b"NA", b"1,5", b"\xff", b"text", b"1e999", b"-"]
            array[place:place] = more[random.integers(len(more))]
        else:
            del array[place:]
        if not array:
            break
    return bytes(array)
