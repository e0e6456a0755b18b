"""The history of a proof: value and upper bound over time, and the gap in the end."""

from __future__ import annotations

import numpy as np

from swapwise.certify.certificate import Certificate
from swapwise.certify.history import ProofEvent
from swapwise.charts.chart import FOUND, GREY, PROVEN, Axis, Band, Chart, Curve, Rule, Series

# Time is on a logarithmic scale if the proof took more than this many times as long as its first bound that
# is not trivial, and begins at this part of that time: before it there is hardly anything to see.
_LONG, _BEFORE = 50.0, 0.2

# A trivial bound is out of view if it is more than this many times as far away as the first other one.
_FAR = 3.0

# Differences that are smaller than this part of the values cannot be read off an axis.
_FINEST = 1e-4


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
