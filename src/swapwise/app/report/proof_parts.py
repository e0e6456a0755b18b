"""The proof of an answer: in words, as a bar between value and bound, and over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.app.report.parts import PagePart, as_table
from swapwise.app.report.proof_history import gap_in_words, proof_events, proof_history_chart
from swapwise.certify.certificate import Certificate, distinct_digits
from swapwise.certify.history import ProofEvent
from swapwise.charts.chart import COLOURS, FOUND, Axis, Bars, Chart
from swapwise.search.result import SearchResult

# On a bar from 0, the gap is too small to be read if the value is more than this share of the bound.
_TOO_CLOSE = 0.8

# Rows of the table about how it was proven; the chart has all.
_MOST_ROWS = 30

# The history of a proof of fewer steps is not shown.
_FEWEST_STEPS = 5

_ABOUT = "This is about these data and this criterion; it says nothing about new data."


def verdict_in_words(certificate: Certificate | None, result: SearchResult, command: str) -> str:
    """Return the verdict of the proof, or that there is none, and which command makes one."""
    proven = _proof_of(certificate, result)
    if proven is None:
        return f"not requested: swapwise {command} --certify, or the method certify in Python, makes one"
    return proven.verdict


def certificate_parts(certificate: Certificate | None, result: SearchResult) -> list[PagePart]:
    """Return the proof in words, and a bar from 0 to the value, and on to the bound, if there is one.

    The bound is that of the certificate, trivial or not; a fraction of the optimum is stated only if not.
    """
    title = "How good it is"
    proven = _proof_of(certificate, result)
    if proven is None:
        return []
    words = " ".join(filter(None, [_proof(proven), *_remarks(proven)]))
    if proven.optimal or not 0 < proven.upper_bound < np.inf:
        return [PagePart("certificate", title, words)]  # a bar that is full, of no length, or without an end
    return [PagePart("certificate", title, words, _bar(proven), _table(proven))]


def proof_history_parts(certificate: Certificate | None, result: SearchResult) -> list[PagePart]:
    """Return value and bound over the time that the proof took, if there was more than one step."""
    proven = _proof_of(certificate, result)
    if proven is None or proven.trivial:
        return []
    steps = {(event.value, event.upper_bound) for event in proven.history if event.kind != "all"}
    if len(steps) < _FEWEST_STEPS:
        return []
    looked_at = f", with {proven.n_nodes} part{'s' * (proven.n_nodes > 1)} of the problem looked at"
    words = (
        f"The optimum lies between the lines. The proof ended after {proven.seconds:.3g} seconds"
        f"{looked_at if proven.n_nodes else ''}: {gap_in_words(proven)}."
    )
    rows = [
        [f"{at.seconds:.3g}", f"{at.value:.6g}", f"{at.upper_bound:.6g}", at.kind, str(at.n_nodes)]
        for at in _evenly_spaced(proof_events(proven))
    ]
    below = as_table(["seconds", "best value", "upper bound", "proven by", "parts looked at"], rows)
    return [PagePart("proof", "How it was proven", words, proof_history_chart(proven), below)]


def _evenly_spaced(events: Sequence[ProofEvent]) -> Sequence[ProofEvent]:
    """Return as many of the events as a table has room for, the first and the last among them."""
    if len(events) <= _MOST_ROWS:
        return events
    return [events[round(place * (len(events) - 1) / (_MOST_ROWS - 1))] for place in range(_MOST_ROWS)]


def _proof_of(certificate: Certificate | None, result: SearchResult) -> Certificate | None:
    if certificate is not None and not isinstance(certificate, Certificate):
        raise TypeError(f"certificate must be a Certificate or None, got {certificate!r}")
    proven: Certificate | None = result.certificate if certificate is None else certificate
    return proven


def _proof(proven: Certificate) -> str:
    if proven.optimal:
        words = f"no feasible choice has a larger value than {proven.value:.6g} (by {proven.kind})"
        return f"{proven.verdict.capitalize()}: {words}. {_ABOUT}"
    value, bound = distinct_digits(proven.value, proven.upper_bound)
    if not np.isfinite(proven.upper_bound):
        return f"The value found is {value}; no bound on the optimum was proven."
    if proven.trivial:
        return (
            f"{proven.verdict.capitalize()}: the value found is {value}, and no choice can have more than "
            f"{bound}, about the value of all elements together."
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


def _table(proven: Certificate) -> str:
    value, bound = distinct_digits(proven.value, proven.upper_bound)
    rows = [["value found", value], ["bound on the optimum", bound]]
    rows += [["verdict", proven.verdict]]
    rows += [["largest possible gain", f"{proven.upper_bound - proven.value:.3g}"]]
    rows += [
        ["gap: that gain, relative to the bound or to what is left to explain", f"{100 * proven.gap:.2g} %"]
    ]
    return as_table(["what", "number"], rows)


def _bar(proven: Certificate) -> Chart:
    """Return the value and the gap, from 0 on, or only the end where that would not be seen."""
    value, bound = distinct_digits(proven.value, proven.upper_bound)
    more = proven.upper_bound - proven.value
    begin = proven.value - 1.5 * more if proven.ratio > _TOO_CLOSE else 0.0
    across = Axis("value of the objective", limits=(0.0, 1.05 * proven.upper_bound))
    if begin:
        ticks = {proven.value: value, proven.upper_bound: bound}
        limits = begin, proven.upper_bound + 0.5 * more
        across = Axis(f"value of the objective, from {begin:.6g} on", limits=limits, ticks=ticks)
    bars = [
        Bars([0], [begin], [proven.value], "value found", FOUND, [f"value found: {value}"]),
        Bars(
            [0],
            [proven.value],
            [proven.upper_bound],
            "the optimum lies here",
            COLOURS[4],
            [f"the optimum lies here: {value} to {bound}"],
            striped=True,
        ),
    ]
    return Chart(across, Axis("", limits=(-0.5, 0.5), visible=False), tuple(bars), height=70)
