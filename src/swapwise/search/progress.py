"""Progress bars of long searches and proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from swapwise.events import subscribe
from swapwise.search.result import Event, SearchResult

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def progress_bar(method: str, max_iter: int | None) -> Iterator[Callable[[Event | SearchResult], None]]:
    text = "moves: {task.completed:.0f}  value {task.fields[value]:.6g}{task.fields[passes]}"
    with _bar(text) as bar:
        task = bar.add_task(method, total=max_iter, value=0.0, passes="")
        passes = _RoundsAndPasses()

        def note(progress: dict[str, float]) -> None:
            passes.note(progress)
            fields: dict[str, Any] = {"value": progress["value"]} if "value" in progress else {}
            bar.update(task, passes=f"  {passes}", **fields)

        def show(reached: Event | SearchResult) -> None:
            bar.update(task, completed=reached.n_iter, value=reached.value)
            if isinstance(reached, SearchResult) and reached.n_passes is not None:
                note({"passes": reached.n_passes, "share": 1.0})

        with subscribe(note):
            yield show


@contextmanager
def reading_bar() -> Iterator[None]:
    with _bar("{task.percentage:.0f} %") as bar:
        task = bar.add_task("first look at the data", total=1.0)

        def note(progress: dict[str, float]) -> None:
            if "share" in progress:
                bar.update(task, completed=progress["share"])

        with subscribe(note):
            yield


class _RoundsAndPasses:
    def __init__(self) -> None:
        self._known: dict[str, float] = {}

    def note(self, progress: dict[str, float]) -> None:
        if "passes" in progress:
            self._known.pop("share", None)
        self._known.update(progress)

    def __bool__(self) -> bool:
        return bool(self._known)

    def __str__(self) -> str:
        known = self._known
        words = [f"round {known['rounds']:.0f}"] if "rounds" in known else []
        if "passes" in known:
            part = known.get("share", 1.0)
            words.append(
                f"passes: {known['passes']:.3g}" + (f" + {part:.0%}".replace("%", " %") if part < 1 else "")
            )
        return "  ".join(words)


class ProofState(NamedTuple):
    """The state of a proof, in words that fit into a bar; numbers that do not exist yet are left out.

    >>> print(ProofState(0.693273, 0.71, gap=0.0236, n_nodes=12, n_open=7))
    value 0.693273  bound 0.71  gap 2.4 %  12 parts, 7 open
    >>> print(ProofState(0.693273))
    value 0.693273  no bound yet
    """

    value: float
    upper_bound: float = float("inf")
    #: How much better than the value an optimum can be, as in a certificate
    gap: float = 1.0
    n_nodes: int = 0
    n_open: int = 0
    #: Passes over the data since the objective was made; None if they are not counted
    n_passes: float | None = None

    def __str__(self) -> str:
        words = [f"value {self.value:.6g}"]
        if self.upper_bound == float("inf"):
            words.append("no bound yet")
        else:
            words += [f"bound {self.upper_bound:.6g}", f"gap {100 * self.gap:.2g} %"]
        if self.n_nodes:
            words.append(f"{self.n_nodes} parts, {self.n_open} open")
        return "  ".join(words)


@contextmanager
def proof_bar(what: str) -> Iterator[Callable[[ProofState], None]]:
    # The end of a proof is unknown; without a bar there is room for the numbers.
    with _bar("{task.fields[words]}{task.fields[passes]}", has_bar=False) as bar:
        task = bar.add_task(what, total=None, words="", passes="")
        passes = _RoundsAndPasses()

        def note(progress: dict[str, float]) -> None:
            if "share" in progress:  # of the data: they are read in passes
                passes.note({"share": progress["share"]})
                bar.update(task, passes=f"  {passes}")

        def show(state: ProofState) -> None:
            if passes and state.n_passes is not None:
                passes.note({"passes": state.n_passes, "share": 1.0})
            bar.update(task, words=str(state), passes=f"  {passes}")

        with subscribe(note):
            yield show


def _bar(text: str, *, has_bar: bool = True) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = [BarColumn()] if has_bar else []
    columns = TextColumn("{task.description}"), *bar, TextColumn(text), TimeElapsedColumn()
    return Progress(*columns, console=Console(stderr=True))
