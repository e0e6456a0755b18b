"""How long a search has run, and whether it may go on."""

from __future__ import annotations

from time import perf_counter


class OutOfTime(Exception):
    """The time limit is reached; whoever runs the search returns the best so far."""


class Clock:
    """A stopwatch with an optional limit."""

    def __init__(self, time_limit: float | None = None) -> None:
        self._begin = perf_counter()
        self._limit = time_limit

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return perf_counter() - self._begin

    def check(self) -> None:
        """Raise :class:`OutOfTime` when the limit is reached."""
        if self._limit is not None and self.seconds() >= self._limit:
            raise OutOfTime
