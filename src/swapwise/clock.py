"""How long a search has run, and whether it may go on."""

from __future__ import annotations

from time import perf_counter


class OutOfTime(Exception):
    """The time limit is reached; whoever runs the search returns the best so far."""


class Clock:
    """A stopwatch with an optional limit.

    >>> Clock().left(), Clock(0.0).is_over
    (inf, True)
    """

    def __init__(self, time_limit: float | None = None) -> None:
        self._begin = perf_counter()
        self._limit = time_limit

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return perf_counter() - self._begin

    def left(self) -> float:
        """Return the seconds until the limit, 0 beyond it; infinity if there is none."""
        return float("inf") if self._limit is None else max(0.0, self._limit - self.seconds())

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self._limit is not None and self.seconds() >= self._limit

    def check(self) -> None:
        """Raise :class:`OutOfTime` when the limit is reached."""
        if self.is_over:
            raise OutOfTime

    def share(self, part: float) -> Clock:
        """Return a clock that ends after a part of the time that is left.

        >>> Clock(2.0).share(0.5).left() <= 1.0
        True
        """
        return Clock(None if self._limit is None else part * self.left())
