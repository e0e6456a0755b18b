"""What is proven of an answer, in words, as a bar between value and bound, and over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from swapwise.certify.certificate import Certificate
from swapwise.certify.history import ProofEvent
from swapwise.report.course import Course, course_of
from swapwise.report.parts import GREY, MARKS, Part, as_table, chart
from swapwise.search.result import SearchResult

# On a bar that begins at 0, what is open is too small to be read if the value has more than this share.
_TOO_CLOSE = 0.8

# Rows of the table about how it was proven; the chart has all.
_MOST_ROWS = 30

# What lies between value and bound: seen on white and on black.
_SHADE = "rgba(213,94,0,0.2)"

NO_PROOF = (
    "No proof was asked for: how far the optimum is, is not known. swapwise select --certify, or the method "
    "certify in Python, makes one."
)

_ABOUT = "This is about these data and this criterion; it says nothing about new data."


def certificate_part(certificate: Certificate | None, result: SearchResult) -> Part:
    """Return what is proven of an answer: a bar from 0 to its value, and on to the bound.

    The bound is that of the certificate, trivial or not; a fraction of the optimum is stated only if not.

    >>> from swapwise import Coverage, Uniform, certify, maximize
    >>> f, two = Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), Uniform(4, 2)
    >>> certificate_part(certify(f, two), maximize(f, two)).words.split(". ")[0]
    'Proven optimal: no feasible choice has a larger value than 5 (by gains)'
    """
    title = "How good it is"
    proven = _proof_of(certificate, result)
    if proven is None:
        return Part("certificate", title, NO_PROOF)
    words = " ".join(filter(None, [_proof(proven), *_remarks(proven)]))
    if not 0 < proven.upper_bound < np.inf:
        return Part("certificate", title, words)  # a bar of no length, or without an end
    zoomed = not proven.optimal and proven.ratio > _TOO_CLOSE
    return Part("certificate", title, words, _bars(proven, zoomed), 310 if zoomed else 190, _table(proven))


def course_parts(certificate: Certificate | None, result: SearchResult) -> list[Part]:
    """Return value and bound over the time that the proof took, if more than a trivial bound came of it.

    >>> from swapwise import Coverage, Uniform, certify, maximize
    >>> f, two = Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), Uniform(4, 2)
    >>> [part.heading for part in course_parts(certify(f, two), maximize(f, two))]
    ['How it was proven']
    """
    proven = _proof_of(certificate, result)
    if proven is None or proven.trivial or not proven.history:
        return []
    course = course_of(proven)
    looked_at = f", with {proven.n_nodes} part{'s' * (proven.n_nodes > 1)} of the problem looked at"
    words = (
        f"The optimum lies between the lines. The proof ended after {proven.seconds:.3g} seconds"
        f"{looked_at if proven.n_nodes else ''}: {course.words}."
    )
    rows = [
        [f"{at.seconds:.3g}", f"{at.value:.6g}", f"{at.upper_bound:.6g}", at.kind, str(at.n_nodes)]
        for at in _few(course.events)
    ]
    below = as_table(["seconds", "best value", "upper bound", "proven by", "parts looked at"], rows)
    return [Part("proof", "How it was proven", words, _lines(course), below=below)]


def _few(events: Sequence[ProofEvent]) -> Sequence[ProofEvent]:
    """Return as many of the events as a table has room for, the first and the last among them."""
    if len(events) <= _MOST_ROWS:
        return events
    return [events[round(place * (len(events) - 1) / (_MOST_ROWS - 1))] for place in range(_MOST_ROWS)]


def _lines(course: Course) -> Any:
    """Return the best value and the bound in steps, since each holds until something better is known."""

    def line(heights: list[float], name: str, colour: str, **look: Any) -> dict[str, Any]:
        hover = [
            f"{event.seconds:.3g} s: value {event.value:.6g}, bound {event.upper_bound:.6g}"
            f"{f' by {event.kind}' * bool(event.kind)}<br>{event.n_nodes} parts looked at"
            for event in course.events
        ]
        shape = {"type": "scatter", "mode": "lines", "line": {"color": colour, "shape": "hv"}, "name": name}
        seen = [height if np.isfinite(height) else None for height in heights]
        return {**shape, "x": course.seconds, "y": seen, "hovertext": hover, "hoverinfo": "text", **look}

    value = line(course.values, "best value so far", MARKS[0])
    bound = line(course.bounds, course.bound_label, MARKS[1], fill="tonexty", fillcolor=_SHADE)
    across: dict[str, Any] = {"title": {"text": "seconds"}, "range": list(course.across)}
    if course.is_logarithmic:
        across |= {"type": "log", "range": [float(np.log10(end)) for end in course.across]}
    return chart([value, bound], across, {"title": {"text": "value"}, "range": list(course.upwards)})


def _proof_of(certificate: Certificate | None, result: SearchResult) -> Certificate | None:
    if certificate is not None and not isinstance(certificate, Certificate):
        raise TypeError(f"certificate must be a Certificate or None, got {certificate!r}")
    proven: Certificate | None = result.certificate if certificate is None else certificate
    return proven


def _proof(proven: Certificate) -> str:
    if proven.optimal:
        words = f"no feasible choice has a larger value than {proven.value:.6g} (by {proven.kind})"
        return f"{proven.verdict.capitalize()}: {words}. {_ABOUT}"
    value, bound = _told_apart(proven)
    if not np.isfinite(proven.upper_bound):
        return f"The value found is {value}; no bound on the optimum was proven."
    if proven.trivial:
        return (
            f"{proven.verdict.capitalize()}: the value found is {value}, and no choice can have more than "
            f"{bound}, about what everything together has."
        )
    return (
        f"The value found, {value}, is {proven.verdict}: no feasible choice has more than {bound} (proven by "
        f"{proven.kind}). {_ABOUT}"
    )


def _remarks(proven: Certificate) -> Iterator[str]:
    if proven.better is not None:
        yield f"On the way a better choice was found, of value {proven.better_value:.6g}."
    if proven.assumptions:
        yield f"This assumes {'; and '.join(proven.assumptions)}."
    if proven.cut_short:
        yield f"The proof was {proven.cut_short}: left to run, it could tighten the bound."
    if proven.doubt and not proven.optimal:
        yield f"More could not be proven because {proven.doubt}."


def _told_apart(proven: Certificate) -> tuple[str, str]:
    """Return value and bound with as many digits as show that they differ."""
    digits = 6
    if 0 < proven.gap < proven.upper_bound:
        digits = max(6, 2 + int(np.ceil(-np.log10(proven.gap / proven.upper_bound))))
    return f"{proven.value:.{digits}g}", f"{proven.upper_bound:.{digits}g}"


def _table(proven: Certificate) -> str:
    value, bound = _told_apart(proven)
    rows = [["value found", value], ["bound on the optimum", bound]]
    rows += [["verdict", proven.verdict]]
    rows += [["largest possible gain", f"{proven.gap:.3g}"]]
    return as_table(["what", "number"], rows)


def _bars(proven: Certificate, zoomed: bool) -> Any:
    """Return the bar from 0 on, and below it, if asked for, its end at a larger scale that says so."""
    hidden = {"visible": False, "range": [-0.5, 0.5]}
    margin = {"l": 16, "r": 16, "t": 56, "b": 52}
    looks: dict[str, Any] = {"barmode": "overlay", "showlegend": True, "margin": margin}
    across = {"title": {"text": "value"}, "rangemode": "tozero"}
    if not zoomed:
        return chart(_bar(proven), across, hidden, **looks)
    begin, end = proven.value - 1.5 * proven.gap, proven.upper_bound + 0.5 * proven.gap
    near = {
        "title": {"text": f"the end of it, from {begin:.6g} on"},
        "range": [begin, end],
        "tickvals": [proven.value, proven.upper_bound],
        "ticktext": list(_told_apart(proven)),
        "anchor": "y2",
        "showline": True,
        "ticks": "outside",
        "showgrid": False,
    }
    figure = chart(
        [*_bar(proven), *_bar(proven, "2")],
        {**across, "title": {"text": "value, from 0 on"}},
        {**hidden, "domain": [0.68, 1.0]},
        xaxis2=near,
        yaxis2={**hidden, "domain": [0.0, 0.3]},
        **looks,
    )
    return figure


def _bar(proven: Certificate, axes: str = "") -> list[dict[str, Any]]:
    """Return the value found and what is open, on the axes of that number; names are listed once."""

    def bar(start: float, end: float, name: str, **look: Any) -> dict[str, Any]:
        shape = {"type": "bar", "orientation": "h", "y": [0], "base": [start], "x": [end - start]}
        where = {"xaxis": f"x{axes}", "yaxis": f"y{axes}", "showlegend": not axes, "legendgroup": name}
        hover = {"hovertext": [f"{name}: {start:.6g} to {end:.6g}"], "hoverinfo": "text"}
        return {**shape, **where, **hover, "name": name, "width": 0.6, **look}

    traces = [bar(0.0, proven.value, "value found", marker={"color": MARKS[0]})]
    if not proven.optimal:
        striped = {"color": MARKS[4], "pattern": {"shape": "/", "fgcolor": GREY, "fillmode": "overlay"}}
        traces.append(bar(proven.value, proven.upper_bound, "the optimum lies here", marker=striped))
    return traces
