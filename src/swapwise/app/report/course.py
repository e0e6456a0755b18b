"""The course of a proof: value and upper bound over time, and the gap in the end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swapwise.certify.certificate import Certificate
from swapwise.certify.history import ProofEvent

# Time is on a logarithmic scale if the proof took more than this many times as long as its first bound that
# is not trivial, and begins at this part of that time: before it there is hardly anything to see.
_LONG, _BEFORE = 50.0, 0.2

# A trivial bound is out of view if it is more than this many times as far away as the first other one.
_FAR = 3.0

# Differences that are smaller than this part of the values cannot be read off an axis.
_FINEST = 1e-4


@dataclass(frozen=True)
class Course:
    """The events of a proof, the last of which is its end, and the limits of the chart that shows them."""

    events: tuple[ProofEvent, ...]
    #: What is said of the gap that is left
    words: str
    #: What is said of the upper bound
    bound_label: str
    #: The value of the answer, if it is not that of the best set
    answer: float | None
    is_logarithmic: bool
    across: tuple[float, float]
    upwards: tuple[float, float]

    @property
    def seconds(self) -> list[float]:
        """The times of the events, as far as the scale goes."""
        return [max(self.across[0], event.seconds) for event in self.events]

    @property
    def values(self) -> list[float]:
        return [event.value for event in self.events]

    @property
    def bounds(self) -> list[float]:
        """The upper bounds; NaN where there is none."""
        return [event.upper_bound if _has_bound(event) else np.nan for event in self.events]


def course_of(certificate: Certificate) -> Course:
    now = ProofEvent(
        certificate.seconds,
        certificate.value if certificate.better_value is None else certificate.better_value,
        certificate.upper_bound,
        certificate.kind,
        certificate.n_nodes,
    )
    history = certificate.history or [now._replace(seconds=0.0)]  # none, if it is older than histories are
    events = (*history, now)
    bounded = [event for event in events if _has_bound(event)]
    first = next((event for event in bounded if event.kind != "all"), now)
    is_logarithmic = now.seconds > _LONG * first.seconds > 0
    return Course(
        events=events,
        words=_words(certificate),
        bound_label="trivial upper bound" if certificate.trivial else "proven upper bound",
        answer=None if certificate.better is None else certificate.value,
        is_logarithmic=is_logarithmic,
        across=_across(first, now, is_logarithmic),
        upwards=_upwards(bounded[0] if bounded else now, first, now, certificate.value),
    )


def _has_bound(event: ProofEvent) -> bool:
    return bool(np.isfinite(event.upper_bound))


def _words(certificate: Certificate) -> str:
    if not np.isfinite(certificate.upper_bound):
        return "no upper bound on the optimum"
    if certificate.optimal or certificate.trivial:
        return certificate.verdict
    of_answer = "" if certificate.better is None else " of the answer"
    return f"gap{of_answer} {100 * certificate.gap:.2g}%: {certificate.verdict}"


def _across(first: ProofEvent, now: ProofEvent, is_logarithmic: bool) -> tuple[float, float]:
    """Return the limits of the time axis; beyond the end there is room to see what holds then."""
    if is_logarithmic:
        return _BEFORE * first.seconds, 1.3 * now.seconds
    return 0.0, 1.05 * max(now.seconds, 1e-6)


def _upwards(trivial: ProofEvent, first: ProofEvent, now: ProofEvent, answer: float) -> tuple[float, float]:
    """Return the limits of the value axis, without a trivial bound that is far away."""
    is_far = trivial.distance > _FAR * first.distance
    top = first.upper_bound if is_far else trivial.upper_bound
    low, high = min(first.value, answer), top if np.isfinite(top) else now.value
    room = max(high - low, _FINEST * abs(high)) or 1.0
    return low - 0.25 * room, high + 0.15 * room
