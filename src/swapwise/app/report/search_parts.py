"""The search of an answer: its moves, its strategies, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from swapwise.app.report.parts import Part, as_table
from swapwise.app.report.record import LEAPS, Move, begins_empty, moves_of, series_of, without_moves
from swapwise.certify.certificate import Certificate
from swapwise.charts.chart import COLOURS, FOUND, GREY, Axis, Chart, Curve, Marker, Rule, Series
from swapwise.charts.document import table
from swapwise.search.result import SearchResult, Status

#: Pages are to stay small: this many moves are drawn and listed, and those that may lower the value.
MOST_MOVES = 500

_TITLE = "Moves of the search"

# By kind of move; colours tell strategies apart.
_MARKER_OF: dict[str, Marker] = {
    "added": "circle",
    "exchanged": "diamond",
    "dropped": "triangle-down",
    "perturbation": "x",
    "restart": "star",
    "backward": "triangle-left",
}

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
    """Return how many moves a search made, how, and how it ended."""
    ended = f"ended {_ENDED[result.status]}"
    if not result.history:
        return f"{without_moves(result)} ({result.method}); {ended}"
    count = f"{len(result.history)} move{'s' * (len(result.history) > 1)}"
    return f"{count} to a value of {result.value:.6g} ({result.method}); {ended}"


def moves_parts(result: SearchResult, name_of: Callable[[int], str]) -> list[Part]:
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
    if not begins_empty(result):
        words.append("It began with a given set, whose value is not recorded.")
    shown = _shown(moves)
    if len(shown) < len(moves):
        words.append(f"{len(shown)} of the moves are shown here; result_.to_frame() in Python has all.")
    below = _strategies(result) + _table(shown, name_of)
    chart = moves_chart(shown, begins_empty(result), name_of)
    return [Part("moves", _TITLE, " ".join(words), chart, below)]


def _shown(moves: Sequence[Move]) -> list[Move]:
    """Return the moves that a page has room for, the first and the last among them."""
    if len(moves) <= MOST_MOVES:
        return list(moves)
    places = {round(place * (len(moves) - 1) / (MOST_MOVES - 1)) for place in range(MOST_MOVES)}
    return [move for place, move in enumerate(moves) if place in places or move.is_leap]


def _strategies(result: SearchResult) -> str:
    """Return what each strategy did, if there are several."""
    if len(result.strategies) < 2:
        return ""
    rows = [
        [f"{rank}. {run.name}", str(run.n_moves), f"{run.value:.6g}", f"{run.seconds:.3g}"]
        for rank, run in enumerate(result.strategies, 1)  # a strategy may run more than once
    ]
    return table(["strategy", "moves", "value reached", "seconds"], rows, "numbers")


def _table(moves: Sequence[Move], name_of: Callable[[int], str]) -> str:
    several = len({move.strategy for move in moves}) > 1
    rows = []
    for move in moves:
        gain = "" if move.gain is None else f"{move.gain:.4g}"
        by = [move.strategy] if several else []
        rows.append([str(move.number), move.words(name_of), *by, gain, f"{move.value:.6g}"])
    head = ["move", "what", *(["by"] if several else []), "gain", "value"]
    return as_table(head, rows, "numbers named", "The moves as a table")


def moves_chart(
    moves: Sequence[Move],
    from_empty: bool,
    name_of: Callable[[int], str] = str,
    rules: Sequence[Rule] = (),
) -> Chart:
    """Return the value over the moves: a line, dotted where it leads to a leap, and a mark per move."""
    series: list[Series] = [*_lines(moves, from_empty)]
    for rank, some in enumerate(series_of(moves)):
        series.append(
            Curve(
                [float(move.number) for move in some.moves],
                [move.value for move in some.moves],
                some.label,
                GREY if some.kind in LEAPS else COLOURS[rank % len(COLOURS)],
                dash=None,
                marker=_MARKER_OF[some.kind],
                size=12 if some.kind in LEAPS else 8,
                hover=[_hover(move, name_of) for move in some.moves],
            )
        )
    return Chart(Axis("move", integers=True), Axis("value of the objective"), (*series, *rules))


def no_moves_chart(result: SearchResult) -> Chart:
    value = float(result.value)
    mark = Curve([0.0], [value], "", FOUND, dash=None, marker="circle", hover=[without_moves(result)])
    return Chart(
        Axis("move", integers=True), Axis("value of the objective"), (Rule(value, dash="solid"), mark)
    )


def _lines(moves: Sequence[Move], from_empty: bool) -> list[Curve]:
    """Return the line over the moves, and the dotted ones that lead to leaps."""
    gap = float("nan"), float("nan")
    solid: list[tuple[float, float]] = [(0.0, 0.0)] if from_empty else []
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


def _hover(move: Move, name_of: Callable[[int], str]) -> str:
    gain = "" if move.gain is None else f"gain {move.gain:.4g}, "
    return f"move {move.number}: {move.words(name_of)}\n{gain}value {move.value:.6g}"
