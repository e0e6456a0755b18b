"""A bar for long searches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from swapwise.search.loop import Observer
from swapwise.search.result import Event


@contextmanager
def progress_bar(method: str, max_iter: int | None) -> Iterator[Observer]:
    """Show moves, value and time on the terminal while the search runs."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} moves  value {task.fields[value]:.6g}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(method, total=max_iter, value=0.0)

        def show(event: Event) -> None:
            bar.update(task, completed=event.n_iter, value=event.value)

        yield show
