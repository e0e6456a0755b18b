"""A bar for long searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from swapwise.events import subscribe
from swapwise.search.result import Event, SearchResult

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def progress_bar(method: str, max_iter: int | None) -> Iterator[Callable[[Event | SearchResult], None]]:
    """Show moves, rounds, passes over the data, value and time while the search runs, and what it came to."""
    text = "moves: {task.completed:.0f}  value {task.fields[value]:.6g}{task.fields[looks]}"
    with _bar(text) as bar:
        task = bar.add_task(method, total=max_iter, value=0.0, looks="")
        looks = _Looks()

        def hear(news: dict[str, float]) -> None:
            looks.hear(news)
            fields: dict[str, Any] = {"value": news["value"]} if "value" in news else {}
            bar.update(task, looks=f"  {looks}", **fields)

        def show(reached: Event | SearchResult) -> None:
            bar.update(task, completed=reached.n_iter, value=reached.value)
            if isinstance(reached, SearchResult) and reached.n_passes is not None:
                hear({"passes": reached.n_passes, "share": 1.0})

        with subscribe(hear):
            yield show


@contextmanager
def reading_bar() -> Iterator[None]:
    """Show how much of the data has been read, for the first look at them."""
    with _bar("{task.percentage:.0f} %") as bar:
        task = bar.add_task("first look at the data", total=1.0)

        def hear(news: dict[str, float]) -> None:
            if "share" in news:
                bar.update(task, completed=news["share"])

        with subscribe(hear):
            yield


class _Looks:
    """Rounds and passes in words, from what is told of them.

    >>> looks = _Looks()
    >>> looks.hear({"rounds": 2, "passes": 3})
    >>> looks.hear({"share": 0.25})
    >>> print(looks)
    round 2  passes: 3 + 25 %
    """

    def __init__(self) -> None:
        self._known: dict[str, float] = {}

    def hear(self, news: dict[str, float]) -> None:
        if "passes" in news:
            self._known.pop("share", None)
        self._known.update(news)

    def __str__(self) -> str:
        known = self._known
        words = [f"round {known['rounds']:.0f}"] if "rounds" in known else []
        if "passes" in known:
            part = known.get("share", 1.0)
            words.append(
                f"passes: {known['passes']:.3g}" + (f" + {part:.0%}".replace("%", " %") if part < 1 else "")
            )
        return "  ".join(words)


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
