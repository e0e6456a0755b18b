"""Hostile tables through ``swapwise select``: an answer or a line that says why, and no cell lost or shifted.

What is answered is compared with a fit to what Python's csv module reads: all columns are chosen, so that
every cell counts. Damaged tables are compared, too, where that module still finds a rectangle of numbers.
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

from swapwise.app.cli import app
from tests.fuzz.report import Report

Random = np.random.Generator
#: No message is longer, whatever the table holds
LONGEST = 20_000
#: What messages say of tables that may be refused, by the reason
REFUSALS = {
    "target": ("--target names", "the target "),
    "separator": ("between its columns",),
    "names": ("of the same name", "must hold the names"),
    "missing": ("missing",),
    "text": (
        "text",
        "too many for --one-hot",
        "must hold numbers",
        "cannot be read",
        "is no text",
        "must be text",
    ),
    "rows": ("at least", "no rows", "is empty", "cells, but", "cell, but"),
    "quotes": ("a quote too many", "a quote not closed", "is a quote"),
    "columns": ("constant", "no column", "infinite", "--size", "same as"),
}
LETTERS = [*"abcXYZ_ .:;-'\"", ",", "é", "名", "\t", "=", "#", "[b]", "\x1b[31m", "\u202e", "%s", "{0}", "\\"]


class Table(NamedTuple):
    """A table as text, and what is in it."""

    data: bytes
    separator: str
    names: list[str]
    numbers: np.ndarray
    what: str
    decimal: str = "."
    #: More options that it is read with
    options: tuple[str, ...] = ()


def check(seed: int) -> Report:
    """Write a table in some dialect, damage some, and let the command line read it."""
    random = np.random.default_rng([37, seed])
    table, plain = _some_table(random)
    damaged = random.random() < 0.5
    report = Report(f"{table.what}{', damaged' if damaged else ''}", (table.what,))
    if damaged:
        damage = _damaged if random.random() < 0.6 else _mishandled
        table = table._replace(data=damage(random, table.data))
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("table.tsv" if table.separator == "\t" else "table.csv")
        path.write_bytes(table.data)
        out = Path(folder) / "out.json"
        size, target = len(table.names) - 1, table.names[-1]
        options = ["select", str(path), f"--target={target}", "--size", str(size), "--json", str(out)]
        done = CliRunner().invoke(app, [*options, *table.options])
        check_ending(report, done, out, table.data)
        if plain and not damaged:
            report.claim("a plain table is answered", done.exit_code == 0, done.output[:300])
        if done.exit_code == 0:
            check_answer(report, table, json.loads(out.read_text()), damaged)
        else:
            check_refusal(report, table, done.output)
    return report


def check_refusal(report: Report, table: Table, said: str) -> None:
    """Check that a refusal has a reason that is known."""
    said = " ".join(said.split())
    reasons = [name for name, words in REFUSALS.items() if any(word in said for word in words)]
    report.refusals[reasons[0] if reasons else "another"] += 1
    report.claim("a refusal has a known reason", reasons, f"{table.data[:300]!r}: {said[:400]}")


def check_ending(report: Report, done: Result, out: Path, data: bytes) -> None:
    """Check that there is an answer, or else a message, but no traceback, and that a terminal is safe."""
    said, words = done.output, f"{data[:300]!r}: {done.output[:500]!r} {done.exception!r}"
    expected = done.exception is None or isinstance(done.exception, SystemExit)
    report.claim("no traceback", expected and "Traceback" not in said, words)
    report.claim("an answer, or a message", (done.exit_code == 0) == out.exists() and bool(said), words)
    report.claim("exit code 0 or 1", done.exit_code in (0, 1), words)
    report.claim("a message has an end", len(said) <= LONGEST, f"{len(said)} characters")
    report.claim("a terminal is sent nothing that it obeys", not set("\x1b\x07\u202e") & set(said), words)


def check_answer(report: Report, table: Table, answer: dict[str, Any], damaged: bool) -> None:
    """Compare coefficients with those of the cells that the csv module reads."""
    cells = _cells(table)
    if cells is None:
        if not damaged:
            report.claim("the csv module agrees", False, table.what)
        return
    names, numbers = cells
    if not damaged:
        whole = table.numbers[~np.isnan(table.numbers).any(axis=1)]
        report.claim("the csv module agrees", np.array_equal(numbers, whole), table.what)
    X, y = numbers[:, :-1], numbers[:, -1]
    design = np.column_stack([X, np.ones(len(y))])
    scale = np.maximum(np.abs(design).max(axis=0), 1e-300)
    if damaged and np.linalg.cond(design / scale) > 1e6:  # what a digit more or less has made of it
        return
    coef = np.linalg.lstsq(design / scale, y, rcond=None)[0] / scale
    found = {each["feature"].strip(): each["coefficient"] for each in answer["chosen"]}
    own = np.array([found.get(name.strip(), np.nan) for name in names[:-1]])  # blanks around names may go
    size = max(float((np.abs(coef) * scale).max()), 1e-300)
    agrees = bool((np.abs(own - coef[:-1]) * scale[:-1] <= 1e-6 * size).all())
    claim = "no cell is lost or shifted by damage" if damaged else "no cell is lost or shifted"
    report.claim(claim, agrees, f"{table.data[:400]!r}: {found}, but {coef}")


def _cells(table: Table) -> tuple[list[str], np.ndarray] | None:
    """Return names, and the rows without holes, if the csv module finds a rectangle of numbers."""
    try:
        text = table.data.decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=table.separator, strict=True))
        (names, *body) = [row for row in rows if row]
        kept = [place for place, name in enumerate(names) if name != "words"]
        if [names[place] for place in kept] != table.names or {len(row) for row in body} != {len(names)}:
            return None
        inner = [[row[place].strip() for place in kept] for row in body]
        whole = [row for row in inner if not {"", "NA"} & set(row)]
        numbers = [[float(cell.replace(table.decimal, ".")) for cell in row] for row in whole]
    except (ValueError, csv.Error):
        return None
    array = np.array(numbers)
    return (table.names, array) if np.isfinite(array).all() and len(array) else None


def _some_table(random: Random) -> tuple[Table, bool]:
    """Return a table of numbers, and whether it is so plain that it must be answered."""
    n, p = int(random.integers(8, 25)), int(random.integers(2, 5))
    if random.random() < 0.1:
        n = int(random.integers(60, 400))  # beyond the lines that tell what the separator is
    numbers = random.standard_normal((n, p)) * 10.0 ** random.integers(-2, 4)
    numbers = np.round(numbers, int(random.integers(0, 8)))
    if len(np.unique(numbers, axis=0)) < n or (numbers.max(axis=0) == numbers.min(axis=0)).any():
        numbers = numbers + np.round(random.standard_normal((n, p)), 6)
    plain = random.random() < 0.5
    names = [f"c{place}" if plain else _name(random, place) for place in range(p)]
    separator = str(random.choice([",", ";", "\t"], p=[0.6, 0.2, 0.2]))
    decimal = "," if separator != "," and random.random() < 0.4 else "."
    options = ["--drop-missing"] if random.random() < 0.3 else []
    written = [[repr(float(cell)).replace(".", decimal) for cell in row] for row in numbers]
    if options:
        for row in random.choice(n, int(random.integers(1, 3)), replace=False):
            column = int(random.integers(p))
            numbers[row, column], written[row][column] = np.nan, str(random.choice(["", "NA"]))
    header = list(names)
    if random.random() < 0.2:  # a column that is not chosen from
        options += ["--force-out", "words"]
        words = random.choice(["East", "a b", "x;y", "é", "1,2", "-"], n).tolist()
        header.insert(0, "words")
        written = [[word, *row] for word, row in zip(words, written, strict=True)]
    data = _written(random, [header, *written], separator)
    kind = f"{'plain' if plain else 'hostile'} names, {separator!r}{', decimal commas' * (decimal == ',')}"
    return Table(data, separator, names, numbers, kind, decimal, tuple(options)), plain


def _written(random: Random, rows: list[list[str]], separator: str) -> bytes:
    newline = str(random.choice(["\n", "\r\n"]))
    quoting = csv.QUOTE_MINIMAL if random.random() < 0.6 else csv.QUOTE_ALL
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, lineterminator=newline, quoting=quoting).writerows(rows)
    text = file.getvalue() if random.random() < 0.8 else file.getvalue().rstrip("\r\n")
    return (b"\xef\xbb\xbf" if random.random() < 0.2 else b"") + text.encode()


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


def _mishandled(random: Random, data: bytes) -> bytes:
    """Return a table with a line gone, twice or blank, or a digit changed: mostly a rectangle still."""
    lines = data.splitlines(keepends=True)
    place, kind = int(random.integers(1, len(lines))), random.integers(4)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(place, lines[place])
    elif kind == 2:
        lines.insert(place, b"\r\n" if b"\r\n" in data else b"\n")
    else:
        lines[place] = lines[place].translate(bytes.maketrans(b"12", b"21"))
    return b"".join(lines)
