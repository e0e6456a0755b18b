"""The proof of an answer: in words, as a bar between value and bound, and over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.app.report.parts import PagePart, as_table
from swapwise.certify.certificate import Certificate, distinct_digits
from swapwise.certify.history import ProofEvent
from swapwise.charts.chart import COLOURS, FOUND, GREY, PROVEN, Axis, Band, Bars, Chart, Curve, Rule, Series
from swapwise.search.result import SearchResult

# On a bar from 0, the gap is too small to be read if the value is more than this share of the bound.
_TOO_CLOSE = 0.8

# Rows of the table about how it was proven; the chart has all.
_MOST_ROWS = 30

# The history of a proof of fewer steps is not shown.
_FEWEST_STEPS = 5

_ABOUT = "This is about these data and this criterion; it says nothing about new data."

# Time is on a logarithmic scale if the proof took more than this many times as long as its first bound that
# is not trivial, and begins at this part of that time: before it there is hardly anything to see.
_LONG, _BEFORE = 50.0, 0.2

# A trivial bound is out of view if it is more than this many times as far away as the first other one.
_FAR = 3.0

# Differences that are smaller than this part of the values cannot be read off an axis.
_FINEST = 1e-4


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


def proof_events(certificate: Certificate) -> tuple[ProofEvent, ...]:
    """Return the history of a proof, and its end."""
    end = ProofEvent(
        certificate.seconds,
        certificate.value if certificate.better_value is None else certificate.better_value,
        certificate.upper_bound,
        certificate.kind,
        certificate.n_nodes,
    )
    # Certificates that were pickled before there were histories have none.
    return (*(certificate.history or [end._replace(seconds=0.0)]), end)


def gap_in_words(certificate: Certificate) -> str:
    """Return how far the value may be from the optimum."""
    if not np.isfinite(certificate.upper_bound):
        return "no upper bound on the optimum"
    if certificate.optimal or certificate.trivial:
        return certificate.verdict
    of_answer = "" if certificate.better is None else " of the answer"
    return f"gap{of_answer} {100 * certificate.gap:.2g}%: {certificate.verdict}"


def proof_history_chart(certificate: Certificate) -> Chart:
    """Return the best value and the bound in steps, since each holds until something better is known."""
    *_, end = events = proof_events(certificate)
    bounded = [event for event in events if np.isfinite(event.upper_bound)]
    first = next((event for event in bounded if event.kind != "all"), end)
    log = end.seconds > _LONG * first.seconds > 0
    # Beyond the end there is room to see what holds then.
    across = (_BEFORE * first.seconds, 1.3 * end.seconds) if log else (0.0, 1.05 * max(end.seconds, 1e-6))
    upwards = _upwards(bounded[0] if bounded else end, first, end, certificate.value)
    seconds, values = [max(across[0], event.seconds) for event in events], [event.value for event in events]
    bounds = [event.upper_bound if np.isfinite(event.upper_bound) else np.nan for event in events]
    hover = [
        f"{event.seconds:.3g} s: value {event.value:.6g}, bound {event.upper_bound:.6g}"
        f"{f' by {event.kind}' * bool(event.kind)}\n{event.n_nodes} parts looked at"
        for event in events
    ]
    series: list[Series] = [Band(seconds, values, bounds, "", PROVEN, steps=True)]
    if np.isfinite(certificate.upper_bound):
        label = "trivial upper bound" if certificate.trivial else "proven upper bound"
        series.append(Curve(seconds, bounds, label, PROVEN, hover=hover, steps=True))
    series.append(Curve(seconds, values, "best value so far", FOUND, hover=hover, steps=True))
    if certificate.better is not None:
        series.append(Rule(certificate.value, "value of the answer", GREY, "dot"))
    time, value = (
        Axis("time", "seconds", log=log, limits=across),
        Axis("value of the objective", limits=upwards),
    )
    return Chart(time, value, tuple(series), gap_in_words(certificate))


def _upwards(trivial: ProofEvent, first: ProofEvent, end: ProofEvent, answer: float) -> tuple[float, float]:
    """Return the limits of the value axis, without a trivial bound that is far away."""
    is_far = trivial.distance > _FAR * first.distance
    top = first.upper_bound if is_far else trivial.upper_bound
    low, high = min(first.value, answer), top if np.isfinite(top) else end.value
    room = max(high - low, _FINEST * abs(high)) or 1.0
    return low - 0.25 * room, high + 0.15 * room
