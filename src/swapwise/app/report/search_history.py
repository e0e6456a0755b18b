"""The moves of a search and their chart: what each changed, what it gained, and its strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from swapwise.charts.chart import COLOURS, FOUND, GREY, Axis, Chart, Curve, Marker, Rule, Series
from swapwise.search.result import Event, SearchResult, Status

# Moves that may lower the value, which is higher in the end: they leave a local optimum, or take back an
# element.
LEAPS = ("perturbation", "restart", "backward")

# By kind of move; colours tell strategies apart.
_MARKER_OF: dict[str, Marker] = {
    "added": "circle",
    "exchanged": "diamond",
    "dropped": "triangle-down",
    "perturbation": "x",
    "restart": "star",
    "backward": "triangle-left",
}

# A start, or a round on a model, may add thousands of elements at once.
_MOST_NAMES = 12


@dataclass(frozen=True)
class RecordedMove:
    """A move of a search, with the value after it."""

    number: int
    #: "added", "dropped", "exchanged", or one of ``LEAPS``
    kind: str
    strategy: str
    added: tuple[int, ...]
    dropped: tuple[int, ...]
    #: None for the first move of a search that began with a given set, whose value is not recorded
    gain: float | None
    value: float

    @property
    def is_leap(self) -> bool:
        return self.kind in LEAPS

    def words(self, name_of: Callable[[int], str]) -> str:
        changes = [(sign, some) for sign, some in (("+", self.added), ("−", self.dropped)) if some]
        return " ".join(f"{sign} {_names(some, name_of)}" for sign, some in changes)


def moves_of(result: SearchResult) -> list[RecordedMove]:
    first = next(iter(result.history), None)
    from_empty = first is not None and len(first.support) == len(first.added) and not first.dropped
    before, moves = 0.0 if from_empty else None, []
    for event in result.history:
        gain = None if before is None else event.value - before
        about = (_kind_of(event), event.strategy, event.added, event.dropped)
        moves.append(RecordedMove(event.n_iter, *about, gain, event.value))
        before = event.value
    return moves


def without_moves(result: SearchResult) -> str:
    """Return why a search has no move, and the value that it has."""
    why = {
        Status.LOCAL_OPTIMUM: "the search began at a local optimum",
        Status.OPTIMAL: "the search began at an optimum",
        Status.COMPLETE: "the search ended where it began",
    }
    cut_short = f"the search ended at once ({result.status.value.lower().replace('_', ' ')})"
    return f"no move: {why.get(result.status, cut_short)}, of value {result.value:.6g}"


def moves_chart(
    moves: Sequence[RecordedMove],
    name_of: Callable[[int], str] = str,
    rules: Sequence[Rule] = (),
) -> Chart:
    """Return the value over the moves: a line, dotted where it leads to a leap, and a mark per move."""
    series: list[Series] = [*_lines(moves)]
    for rank, (label, some) in enumerate(_by_label(moves).items()):
        is_leap = some[0].is_leap
        series.append(
            Curve(
                [float(move.number) for move in some],
                [move.value for move in some],
                label,
                GREY if is_leap else COLOURS[rank % len(COLOURS)],
                dash=None,
                marker=_MARKER_OF[some[0].kind],
                size=12 if is_leap else 8,
                hover=[_hover(move, name_of) for move in some],
            )
        )
    return Chart(Axis("move", integers=True), Axis("value of the objective"), (*series, *rules))


def no_moves_chart(result: SearchResult) -> Chart:
    value = float(result.value)
    mark = Curve([0.0], [value], "", FOUND, dash=None, marker="circle", hover=[without_moves(result)])
    return Chart(
        Axis("move", integers=True), Axis("value of the objective"), (Rule(value, dash="solid"), mark)
    )


def _by_label(moves: Sequence[RecordedMove]) -> dict[str, list[RecordedMove]]:
    """Return moves by strategy and kind, in the order in which these first occur.

    Where all are by one strategy, the labels need not name it.
    """
    several = len({move.strategy for move in moves if not move.is_leap}) > 1
    found: dict[str, list[RecordedMove]] = {}
    for move in moves:
        label = f"{move.strategy}: {move.kind}" if several and not move.is_leap else move.kind
        found.setdefault(label, []).append(move)
    return found


def _lines(moves: Sequence[RecordedMove]) -> list[Curve]:
    """Return the line over the moves, and the dotted ones that lead to leaps."""
    gap = float("nan"), float("nan")
    solid: list[tuple[float, float]] = [(0.0, 0.0)] if moves[0].gain is not None else []
    dotted: list[tuple[float, float]] = []
    for move in moves:
        here = float(move.number), move.value
        if move.is_leap:
            dotted += [*solid[-1:], here, gap]
            solid.append(gap)
        solid.append(here)
    solid_line = Curve([x for x, _ in solid], [y for _, y in solid], colour=GREY, width=1.5)
    dotted_line = Curve([x for x, _ in dotted], [y for _, y in dotted], colour=GREY, width=1.5, dash="dot")
    return [solid_line, dotted_line] if dotted else [solid_line]


def _hover(move: RecordedMove, name_of: Callable[[int], str]) -> str:
    gain = "" if move.gain is None else f"gain {move.gain:.4g}, "
    return f"move {move.number}: {move.words(name_of)}\n{gain}value {move.value:.6g}"


def _kind_of(event: Event) -> str:
    if event.strategy in LEAPS:
        return event.strategy
    if event.dropped:
        return "exchanged" if event.added else "dropped"
    return "added"


def _names(elements: Sequence[int], name_of: Callable[[int], str]) -> str:
    shown = ", ".join(name_of(element) for element in elements[:_MOST_NAMES])
    return shown if len(elements) <= _MOST_NAMES else f"{shown} and {len(elements) - _MOST_NAMES} more"
