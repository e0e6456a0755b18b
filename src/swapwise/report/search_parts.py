"""How an answer was found and how good it is, for features and graphs alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from swapwise.certify.certificate import Certificate
from swapwise.report.parts import MARKS, Part, as_table, chart, plotted, points
from swapwise.search.result import Event, SearchResult, Status

# Gains that differ by more than this factor are drawn on a log axis: else the small ones look like nothing.
_FEW = 20.0

_KINDS = (
    ("start", "added by the start", "circle-open", MARKS[0]),
    ("added", "added", "circle", MARKS[0]),
    ("exchanged", "exchanged", "diamond", MARKS[1]),
)

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


@dataclass(frozen=True)
class Move:
    """A move of a search: what it was, what it gained (None if that is not known) and the value after it.

    >>> Move("added", "+ tea", 0.5, 0.75).value
    0.75
    """

    kind: str
    words: str
    gain: float | None
    value: float


def moves_of(result: SearchResult, name_of: Callable[[int], str]) -> list[Move]:
    """Return all moves on record, those of a greedy start first.

    >>> from swapwise import Linear, Uniform, maximize
    >>> [(move.words, move.gain) for move in moves_of(maximize(Linear([1, 3, 2]), Uniform(3, 2)), str)]
    [('+ 1', 3.0), ('+ 2', 2.0)]
    """
    events = [*result.start_path, *result.history]
    if not events:
        return []
    first = events[0]
    # The value of the empty set is 0; that of any other start is not on record.
    from_empty = not first.dropped and len(first.support) == len(first.added)
    gains = [first.value if from_empty else None, *(after.value - e.value for e, after in pairwise(events))]
    kinds = ["start"] * len(result.start_path)
    kinds += ["exchanged" if event.dropped else "added" for event in result.history]
    return [
        Move(kind, _words(event, name_of), gain, event.value)
        for kind, event, gain in zip(kinds, events, gains, strict=True)
    ]


def _words(event: Event, name_of: Callable[[int], str]) -> str:
    added, dropped = ([name_of(element) for element in some] for some in (event.added, event.dropped))
    return " ".join([f"+ {', '.join(added)}"] * bool(added) + [f"− {', '.join(dropped)}"] * bool(dropped))


def moves_part(
    result: SearchResult,
    name_of: Callable[[int], str],
    one_by_one: Callable[[], SearchResult] | None = None,
) -> Part:
    """Return the gain of each move over the search.

    Where none is on record, it is that of taking the chosen elements ``one_by_one``, if that can be done.

    >>> from swapwise import Linear, Uniform, maximize
    >>> moves_part(maximize(Linear([1, 3, 2]), Uniform(3, 2)), str).words
    'Method oblivious, 2 moves to a value of 5; it ended at a local optimum, where no move that it may make
    gains more.'
    """
    moves = moves_of(result, name_of)
    title = "Gain of each move"
    ended = f"a value of {result.value:.6g}; it ended {_ENDED[result.status]}."
    if not moves:
        words = f"Method {result.method}; the search has no move on record: where it began, it had {ended}"
        again = one_by_one() if one_by_one is not None and len(result.support) else None
        if again is None or not again.history:
            return Part("moves", title, words)
        words += " Taking what was chosen one by one, always what gains most, would look like this."
        return _drawn(title, words, moves_of(again, name_of))
    count = f"{len(moves)} move{'s' * (len(moves) > 1)}"
    words = f"Method {result.method}, {count} to {ended}"
    if moves[0].gain is None:
        words += " What the first move gained is not on record, as it did not begin with nothing."
    return _drawn(title, words, moves)


def _drawn(title: str, words: str, moves: Sequence[Move]) -> Part:
    rows = [
        [str(n), move.words, "" if move.gain is None else f"{move.gain:.4g}", f"{move.value:.6g}"]
        for n, move in enumerate(moves, 1)
    ]
    below = as_table(["move", "what", "gain", "value"], rows, "numbers named")
    figure = None if [move.gain for move in moves] == [None] else _gains(moves)
    return Part("moves", title, words, figure, below=below)


def _gains(moves: Sequence[Move]) -> Any:
    traces = []
    for kind, name, symbol, colour in _KINDS:
        mine = [
            (n, move, move.gain)
            for n, move in enumerate(moves, 1)
            if move.kind == kind and move.gain is not None
        ]
        if mine:
            hover = [
                f"move {n}: {plotted(move.words)}<br>gain {gain:.4g}, value {move.value:.6g}"
                for n, move, gain in mine
            ]
            look = {"marker": {"symbol": symbol, "size": 9, "color": colour}, "showlegend": True}
            traces.append(
                points([n for n, *_ in mine], [gain for *_, gain in mine], hover, name, colour, **look)
            )
    gains = [move.gain for move in moves if move.gain is not None]
    log = min(gains) > 0 and max(gains) > _FEW * min(gains)
    upwards: dict[str, Any] = {"title": {"text": "gain"}, "type": "log" if log else "linear"}
    if log:  # by powers of ten, or where these are less than two, by 1, 2 and 5
        upwards |= {"dtick": 1 if max(gains) > 100 * min(gains) else "D2", "exponentformat": "power"}
    else:
        upwards |= {"rangemode": "tozero"}
    across: dict[str, Any] = {"title": {"text": "move"}, "range": [0.5, len(moves) + 0.5]}
    across |= {"dtick": 1} if len(moves) <= 15 else {}
    return chart(traces, across, upwards)
