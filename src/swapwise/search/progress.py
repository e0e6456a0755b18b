"""A bar for long searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from swapwise.search.result import Event, SearchResult

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def progress_bar(method: str, max_iter: int | None) -> Iterator[Callable[[Event | SearchResult], None]]:
    """Show moves, value and time on the terminal while the search runs, and what it came to."""
    with _bar("moves: {task.completed:.0f}  value {task.fields[value]:.6g}") as bar:
        task = bar.add_task(method, total=max_iter, value=0.0)

        def show(reached: Event | SearchResult) -> None:
            bar.update(task, completed=reached.n_iter, value=reached.value)

        yield show


@contextmanager
def proof_bar(what: str) -> Iterator[Callable[[int, float, float], None]]:
    """Show parts looked at, value, upper bound and time on the terminal while a bound is proven."""
    text = "{task.completed:.0f} parts  value {task.fields[value]:.6g}  bound {task.fields[bound]:.6g}"
    with _bar(text) as bar:
        task = bar.add_task(what, total=None, value=0.0, bound=float("inf"))

        def show(parts: int, value: float, bound: float) -> None:
            bar.update(task, completed=parts, value=value, bound=bound)

        yield show


def _bar(text: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn(text), TimeElapsedColumn()
    return Progress(*columns, console=Console(stderr=True))
