"""How an answer was found and how good it is, for features and graphs alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from swapwise.certify.certificate import Certificate
from swapwise.report.document import table
from swapwise.report.parts import GREY, MARKS, Part, as_table, chart, plotted, points
from swapwise.report.record import LEAPS, Move, begins_empty, moves_of, series_of, without_moves
from swapwise.search.result import SearchResult, Status

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Pages are to stay small: this many moves are drawn and listed, and those that may lower the value.
MOST_MOVES = 500

_TITLE = "Moves of the search"

# By kind of move; colours tell strategies apart.
_SYMBOL_OF = {
    "added": "circle",
    "exchanged": "diamond",
    "dropped": "triangle-down",
    "perturbation": "x",
    "restart": "star",
    "backward": "triangle-left",
}

_ENDED = {
    Status.LOCAL_OPTIMUM: "at a local optimum, where no move that it may make gains more",
    Status.COMPLETE: "as planned",
    Status.OPTIMAL: "with a proof that nothing is better",
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
    """Return what nobody should miss: that a search was cut short, or its proof interrupted; else nothing.

    >>> from swapwise import Linear, Uniform, maximize
    >>> notice_of(maximize(Linear([1, 3, 2]), Uniform(3, 2), max_iter=1), None)
    'The search came to its limit: this is the best that it had by then, and there may be better.'
    """
    said = []
    if result.status in _CUT_SHORT:
        why = _CUT_SHORT[result.status]
        said.append(f"The search {why}: this is the best that it had by then, and there may be better.")
    proof = result.certificate if certificate is None else certificate
    if proof is not None and not proof.optimal and proof.status is Status.INTERRUPTED:
        said.append("The proof was interrupted: its bound could be tightened.")
    return " ".join(said)


def moves_part(result: SearchResult, name_of: Callable[[int], str]) -> Part:
    """Return the value over the moves of a search, what each changed, and what each strategy did.

    Of very many moves some are shown: those that may lower the value, and others at equal distances.

    >>> from swapwise import Linear, Uniform, maximize
    >>> moves_part(maximize(Linear([1, 3, 2]), Uniform(3, 2)), str).words
    '2 moves to a value of 5 (oblivious). The search ended at a local optimum, where no move that it may
    make gains more.'
    """
    moves, ended = moves_of(result), f"The search ended {_ENDED[result.status]}."
    if not moves:
        said = without_moves(result)
        return Part("moves", _TITLE, f"{said[0].upper()}{said[1:]} ({result.method}). {ended}")
    count = f"{len(moves)} move{'s' * (len(moves) > 1)}"
    words = [f"{count} to a value of {result.value:.6g} ({result.method}). {ended}"]
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
    return Part("moves", _TITLE, " ".join(words), _values(shown, name_of, begins_empty(result)), below=below)


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
        [run.name, str(run.n_moves), f"{run.value:.6g}", f"{run.seconds:.3g}"] for run in result.strategies
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


def _values(moves: Sequence[Move], name_of: Callable[[int], str], from_empty: bool) -> Figure:
    traces = _lines(moves, from_empty)
    for rank, series in enumerate(series_of(moves)):
        colour = GREY if series.kind in LEAPS else MARKS[rank % len(MARKS)]
        look = {"symbol": _SYMBOL_OF[series.kind], "size": 12 if series.kind in LEAPS else 9, "color": colour}
        traces.append(
            points(
                [move.number for move in series.moves],
                [move.value for move in series.moves],
                [_hover(move, name_of) for move in series.moves],
                plotted(series.label),
                colour,
                marker=look,
                showlegend=True,
            )
        )
    across: dict[str, Any] = {"title": {"text": "move"}}
    across |= {"dtick": 1} if moves[-1].number <= 15 else {}
    upwards = {"title": {"text": "value"}}
    return chart(traces, across, upwards)


def _lines(moves: Sequence[Move], from_empty: bool) -> list[dict[str, Any]]:
    """Return the line over the moves, and the dotted ones that lead to leaps."""
    gap = None, None
    solid: list[tuple[float | None, float | None]] = [(0.0, 0.0)] if from_empty else []
    dotted: list[tuple[float | None, float | None]] = []
    for move in moves:
        here = move.number, move.value
        if move.is_leap:
            dotted += [*solid[-1:], here, gap]
            solid.append(gap)
        solid.append(here)
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [x for x, _ in places],
            "y": [y for _, y in places],
            "line": {"color": GREY, "width": 1, "dash": dash},
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for places, dash in ((solid, "solid"), (dotted, "dot"))
        if places
    ]


def _hover(move: Move, name_of: Callable[[int], str]) -> str:
    gain = "" if move.gain is None else f"gain {move.gain:.4g}, "
    return f"move {move.number}: {plotted(move.words(name_of))}<br>{gain}value {move.value:.6g}"
