"""The race as tables for the terminal and for a README."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.table import Table

from benchmarks.race.compare import Comparison, exponents
from benchmarks.race.rows import Figure

HEAD = ("peer", "time / peer's", "R² - peer's, least", "most", "seeds", "")


def race_tables(compared: Sequence[Comparison]) -> list[Table]:
    """Return a table for each setting, with a line for each peer."""
    tables = []
    for lines in _races(compared):
        title = f"{_name(lines[0])}: swapwise takes {lines[0].seconds:.4f} s"
        table = Table(HEAD[0], title=title, title_justify="left")
        for name in HEAD[1:]:
            table.add_column(name, justify="right")
        for one in lines:
            table.add_row(*_cells(one))
        tables.append(table)
    return tables


def _races(compared: Iterable[Comparison]) -> Iterator[list[Comparison]]:
    """Yield those that were measured together: one setting, one number of threads, all peers."""
    for _, some in groupby(compared, key=lambda one: (one.setting, one.threads)):
        yield list(some)


def beside_table(compared: Sequence[Comparison], peer: str) -> Table:
    """Show one peer at every size and design: with each number of threads, seconds, their ratio, and R²."""
    some = [one for one in compared if one.peer == peer]
    counts = sorted({one.threads for one in some})
    title = f"swapwise beside {peer}: median seconds, time / {peer}'s, least R² - {peer}'s over seeds"
    table = Table("samples x features, chosen", "design", title=title, title_justify="left")
    for threads in counts:
        for head in (f"s, {_threads(threads)}", f"/ {peer}'s", f"R² - {peer}'s"):
            table.add_column(head, justify="right")
    by_place = {(_size(one), _noise(one), one.threads): one for one in some}
    for size, design in dict.fromkeys((_size(one), _noise(one)) for one in some):
        cells: list[str] = []
        for threads in counts:
            one = by_place.get((size, design, threads))
            cells += ["", "", ""] if one is None else [f"{one.seconds:.4f}", *_cells(one)[1:3]]
        table.add_row(size, design, *cells)
    return table


def _size(one: Comparison) -> str:
    return f"{one.setting.samples} x {one.setting.features}, {one.setting.size}"


def _noise(one: Comparison) -> str:
    return f"{one.setting.design}, snr {one.setting.snr:g}"


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count > 1 else ''}"


def figure_tables(figures: Iterable[Figure]) -> list[Table]:
    """Return a table for each topic: a line for each subject and size, a column for each quantity."""
    figures = list(figures)
    slopes = exponents(figures)
    tables = []
    for topic, some in _by_topic(figures).items():
        quantities = list(dict.fromkeys(figure.quantity for figure in some))
        fitted = any(key[0] == topic for key in slopes)
        table = Table("", "at", title=topic, title_justify="left")
        for name in (*quantities, *(["exponent"] if fitted else [])):
            table.add_column(name, justify="right")
        values = {(figure.subject, figure.at, figure.quantity): figure.value for figure in some}
        for subject in dict.fromkeys(figure.subject for figure in some):
            sizes = dict.fromkeys(figure.at for figure in some if figure.subject == subject)
            for position, at in enumerate(sizes):
                cells = [_number(values.get((subject, at, quantity))) for quantity in quantities]
                slope = [_number(slopes.get((topic, subject)) if position == 0 else None)] if fitted else []
                table.add_row(subject if position == 0 else "", f"{at:,}", *cells, *slope)
        tables.append(table)
    return tables


def markdown(compared: Sequence[Comparison]) -> str:
    """Return the race as a table for a README: a line for each setting, and two columns for each peer."""
    peers = list(dict.fromkeys(one.peer for one in compared))
    head = ["", "swapwise s", *(f"time / {peer}'s" for peer in peers), *(f"R² − {peer}'s" for peer in peers)]
    lines = [_line(head), _line(["---"] * len(head))]
    for some in _races(compared):
        by_peer = {one.peer: one for one in some}
        any_one = next(iter(by_peer.values()))
        cells = [_cells(by_peer[peer]) if peer in by_peer else ("",) * 6 for peer in peers]
        ratios = [cell[1] or cell[5] for cell in cells]
        lines.append(_line([_name(any_one), f"{any_one.seconds:.3f}", *ratios, *(cell[2] for cell in cells)]))
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _name(one: Comparison) -> str:
    name = str(one.setting).rpartition(", seed")[0]
    return name if one.threads == 1 else f"{name}, {_threads(one.threads)}"


def _cells(one: Comparison) -> tuple[str, ...]:
    if one.ratio is None or one.below is None or one.above is None:
        return one.peer, "", "", "", "", one.note
    # The peer of fewer features has the lower R² for no fault of its search.
    note = f"{one.short} too few" if one.short else ""
    return one.peer, f"{one.ratio:.3g}", f"{one.below:+.1e}", f"{one.above:+.1e}", str(one.seeds), note


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _by_topic(figures: Iterable[Figure]) -> dict[str, list[Figure]]:
    topics: dict[str, list[Figure]] = {}
    for figure in figures:
        topics.setdefault(figure.topic, []).append(figure)
    return topics
