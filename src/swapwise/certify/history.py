"""The record of a proof: value and upper bound over time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from swapwise.search.result import Event

# The most events of a record: no picture shows more.
MOST_EVENTS = 1000


class ProofEvent(NamedTuple):
    """What was known when the best value or the upper bound got better: an entry of ``Certificate.history``.

    See Also
    --------
    Certificate : whose history is a list of these.
    plot_proof : a picture of it.

    Examples
    --------
    >>> from swapwise import Coverage, Uniform, certify
    >>> event = certify(Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), Uniform(4, 2)).history[-1]
    >>> event.value, round(event.upper_bound, 6), event.kind
    (5.0, 5.0, 'gains')
    """

    #: Since :func:`certify` or :func:`exact` was called
    seconds: float
    #: Of the best set so far
    value: float
    #: No independent set has more; infinity before the first bound
    upper_bound: float
    #: What proved the bound, a key of ``Certificate.bounds``; empty before the first one
    kind: str
    #: The number of parts that branch and bound had explored
    n_nodes: int

    @property
    def distance(self) -> float:
        """How much larger than the value the optimum could be."""
        return max(0.0, self.upper_bound - self.value)


class ProofHistory:
    """Events of growing value or falling bound, and never too many of them.

    The first are those of the search whose ``moves`` led to the answer, if there was one.
    """

    def __init__(self, moves: Iterable[Event], value: float) -> None:
        self._kept: list[ProofEvent] = []
        self._least = 0.0
        # Values of moves are updated from one to the next, and may be off by rounding.
        events = [ProofEvent(move.seconds, min(move.value, value), np.inf, "", 0) for move in moves]
        self._last, *others = events or [ProofEvent(0.0, value, np.inf, "", 0)]
        for event in others:
            self.note(event)
        self.note(self._last._replace(value=value))

    def note(self, event: ProofEvent) -> None:
        event = _with_best_bound(self._last, event)
        if not _is_better(self._last, event):
            return
        if self._last.seconds < event.seconds and self._is_worth_keeping(self._last):
            self._kept.append(self._last)
        self._last = event
        while len(self._kept) >= MOST_EVENTS:
            self._thin_out()

    def down_to(self, upper_bound: float) -> tuple[ProofEvent, ...]:
        """Return the events, with no bound below the one that is proven in the end.

        That is higher if values turn out to contradict an earlier bound, or to be uncertain.
        """
        events = [*self._kept, self._last]
        claimed = [event._replace(upper_bound=max(event.upper_bound, upper_bound)) for event in events]
        better = [after for before, after in pairwise(claimed) if _is_better(before, after)]
        return (*claimed[:1], *better)

    def _thin_out(self) -> None:
        self._least = max(2 * self._least, 1 / MOST_EVENTS)
        events, self._kept = self._kept, []
        for event in events:
            if self._is_worth_keeping(event):
                self._kept.append(event)

    def _is_worth_keeping(self, event: ProofEvent) -> bool:
        if not self._kept:
            return True
        first, before = self._kept[0], self._kept[-1]
        if np.isfinite(before.upper_bound):
            return event.distance < (1.0 - self._least) * before.distance
        rise, so_far = event.value - before.value, event.value - first.value
        return np.isfinite(event.upper_bound) or rise >= self._least * so_far


def _with_best_bound(before: ProofEvent, after: ProofEvent) -> ProofEvent:
    if after.upper_bound <= before.upper_bound:
        return after
    return after._replace(upper_bound=before.upper_bound, kind=before.kind)


def _is_better(before: ProofEvent, after: ProofEvent) -> bool:
    return after.value > before.value or after.upper_bound < before.upper_bound
