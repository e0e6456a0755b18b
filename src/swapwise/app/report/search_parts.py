"""The search of an answer: its moves, its strategies, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from swapwise.app.report.parts import PagePart, as_table
from swapwise.certify.certificate import Certificate
from swapwise.charts.chart import COLOURS, FOUND, GREY, Axis, Chart, Curve, Marker, Rule, Series
from swapwise.charts.document import table
from swapwise.search.result import Event, SearchResult, Status

#: The number of moves that a page draws and lists, beside those that may lower the value.
MOST_MOVES = 500

_TITLE = "Moves of the search"

_ENDED = {
    Status.LOCAL_OPTIMUM: "at a local optimum, where no allowed move improves the value",
    Status.COMPLETE: "as planned",
    Status.OPTIMAL: "with a proof of optimality",
    Status.ITERATION_LIMIT: "at its limit of moves",
    Status.TIME_LIMIT: "at its time limit",
    Status.INTERRUPTED: "as it was interrupted",
}

_CUT_SHORT = {
    Status.ITERATION_LIMIT: "came to its limit",
    Status.TIME_LIMIT: "ran out of time",
    Status.INTERRUPTED: "was interrupted",
}

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


def notice_of(result: SearchResult, certificate: Certificate | None) -> str:
    """Return a notice if the search was cut short, or its proof interrupted; else nothing."""
    remarks = []
    if result.status in _CUT_SHORT:
        why = _CUT_SHORT[result.status]
        remarks.append(f"The search {why}: this is the best answer found by then; there may be a better one.")
    proof = result.certificate if certificate is None else certificate
    if proof is not None and not proof.optimal and proof.status is Status.INTERRUPTED:
        remarks.append("The proof was interrupted: its bound could be tightened.")
    return " ".join(remarks)


def search_in_words(result: SearchResult) -> str:
    ended = f"ended {_ENDED[result.status]}"
    if not result.history:
        return f"{without_moves(result)} ({result.method}); {ended}"
    count = f"{len(result.history)} move{'s' * (len(result.history) > 1)}"
    return f"{count} to a value of {result.value:.6g} ({result.method}); {ended}"


def moves_parts(result: SearchResult, name_of: Callable[[int], str]) -> list[PagePart]:
    """Return the value over the moves of a search, what each changed, and what each strategy did.

    Of very many moves some are shown: those that may lower the value, and others at equal distances. A search
    without a move has no part.
    """
    moves = moves_of(result)
    if not moves:
        return []
    words = [f"The record: {search_in_words(result)}."]
    kinds = {move.kind for move in moves}
    if kinds & {"perturbation", "restart"}:
        words.append(
            "At a perturbation or a restart it left a local optimum: the value may fall, and rises again."
        )
    if "backward" in kinds:
        words.append("At a backward step it took an element back: the value falls, and rises again.")
    if moves[0].gain is None:
        words.append("It began with a given set, whose value is not recorded.")
    shown = _shown(moves)
    if len(shown) < len(moves):
        words.append(f"{len(shown)} of the moves are shown here; result_.to_frame() in Python has all.")
    below = _strategies(result) + _table(shown, name_of)
    chart = moves_chart(shown, name_of)
    return [PagePart("moves", _TITLE, " ".join(words), chart, below)]


def _shown(moves: Sequence[RecordedMove]) -> list[RecordedMove]:
    """Return the moves that a page has room for, the first and the last among them."""
    if len(moves) <= MOST_MOVES:
        return list(moves)
    places = {round(place * (len(moves) - 1) / (MOST_MOVES - 1)) for place in range(MOST_MOVES)}
    return [move for place, move in enumerate(moves) if place in places or move.is_leap]


def _strategies(result: SearchResult) -> str:
    if len(result.strategies) < 2:
        return ""
    rows = [
        [f"{rank}. {run.name}", str(run.n_moves), f"{run.value:.6g}", f"{run.seconds:.3g}"]
        for rank, run in enumerate(result.strategies, 1)  # a strategy may run more than once
    ]
    return table(["strategy", "moves", "value reached", "seconds"], rows, "numbers")


def _table(moves: Sequence[RecordedMove], name_of: Callable[[int], str]) -> str:
    several = len({move.strategy for move in moves}) > 1
    rows = []
    for move in moves:
        gain = "" if move.gain is None else f"{move.gain:.4g}"
        by = [move.strategy] if several else []
        rows.append([str(move.number), move.words(name_of), *by, gain, f"{move.value:.6g}"])
    head = ["move", "what", *(["by"] if several else []), "gain", "value"]
    return as_table(head, rows, "numbers named", "The moves as a table")


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
