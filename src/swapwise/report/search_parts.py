"""How an answer was found and how good it is, for features and graphs alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from swapwise.report.axes import COLOURS
from swapwise.report.parts import GREY, Part, as_table, chart, plotted, points
from swapwise.search.result import Event, SearchResult
from swapwise.theory.certificate import Certificate

# Gains that differ by more than this factor are drawn on a log axis: else the small ones look like nothing.
_FEW = 20.0

_KINDS = (
    ("start", "added by the start", "circle-open", COLOURS[0]),
    ("added", "added", "circle", COLOURS[0]),
    ("exchanged", "exchanged", "diamond", COLOURS[1]),
)


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


def moves_part(result: SearchResult, name_of: Callable[[int], str]) -> Part:
    """Return the gain of each move over the search, or words that say why there is none.

    >>> from swapwise import Linear, Uniform, maximize
    >>> moves_part(maximize(Linear([1, 3, 2]), Uniform(3, 2)), str).words
    'Method oblivious, 2 moves to a value of 5; it ended with LOCAL_OPTIMUM.'
    """
    moves = moves_of(result, name_of)
    title = "Gain of each move"
    ended = f"a value of {result.value:.6g}; it ended with {result.status}."
    if not moves:
        words = f"Method {result.method}; the search has no move on record: where it began, it had {ended}"
        return Part("moves", title, words)
    count = f"{len(moves)} move{'s' * (len(moves) > 1)}"
    words = f"Method {result.method}, {count} to {ended}"
    if moves[0].gain is None:
        words += " What the first move gained is not on record, as it did not begin with nothing."
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
    upwards |= {"dtick": 1, "exponentformat": "power"} if log else {"rangemode": "tozero"}
    across: dict[str, Any] = {"title": {"text": "move"}, "range": [0.5, len(moves) + 0.5]}
    across |= {"dtick": 1} if len(moves) <= 15 else {}
    return chart(traces, across, upwards)


def certificate_part(certificate: Certificate | None, result: SearchResult) -> Part:
    """Return what is proven of an answer: a bar from 0 to its value, and on to the bound.

    >>> from swapwise import Coverage, Uniform, certify, maximize
    >>> f, two = Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), Uniform(4, 2)
    >>> certificate_part(certify(f, two), maximize(f, two)).words
    'The value found, 5, is proven to be the optimum (by gains).'
    """
    if certificate is not None and not isinstance(certificate, Certificate):
        raise TypeError(f"certificate must be a Certificate or None, got {certificate!r}")
    title = "How good it is"
    proven = result.certificate if certificate is None else certificate
    if proven is None:
        return Part("certificate", title, "No proof was asked for: how far the optimum is, is not known.")
    if not np.isfinite(proven.upper_bound):
        words = f"The value found is {proven.value:.6g}; no bound on the optimum was proven in time."
        return Part("certificate", title, words)
    return Part("certificate", title, _proof(proven), _bar(proven), height=190)


def _proof(proven: Certificate) -> str:
    if proven.optimal:
        return f"The value found, {proven.value:.6g}, is proven to be the optimum (by {proven.kind})."
    # Never rounded up: what is not proven is not said.
    percent = int(proven.ratio * 1000) / 10
    words = (
        f"The value found, {proven.value:.6g}, is at least {percent:.1f} % of the optimum: no allowed choice "
        f"has more than {proven.upper_bound:.6g} (proven by {proven.kind}; it ended with {proven.status})."
    )
    if proven.better is not None:
        words += f" On the way a better choice was found, of value {proven.better_value:.6g}."
    return words


def _bar(proven: Certificate) -> Any:
    def bar(start: float, end: float, name: str, **look: Any) -> dict[str, Any]:
        hover = f"{name}: {start:.6g} to {end:.6g}"
        shape = {"type": "bar", "orientation": "h", "y": [0], "base": [start], "x": [end - start]}
        return {**shape, "name": name, "hovertext": [hover], "hoverinfo": "text", "width": 0.6, **look}

    traces = [bar(0.0, proven.value, "value found", marker={"color": COLOURS[0]})]
    if not proven.optimal:
        striped = {"color": COLOURS[4], "pattern": {"shape": "/", "fgcolor": GREY, "fillmode": "overlay"}}
        traces.append(bar(proven.value, proven.upper_bound, "the optimum lies here", marker=striped))
    across = {"title": {"text": "value"}, "rangemode": "tozero"}
    upwards = {"visible": False, "range": [-0.5, 0.5]}
    margin = {"l": 16, "r": 16, "t": 56, "b": 52}
    return chart(traces, across, upwards, barmode="overlay", showlegend=True, margin=margin)
