"""What ends a search: limits on time, and Ctrl-C, also out of compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from time import perf_counter
from typing import Any


class OutOfTime(Exception):
    """The time limit is reached; the search returns the best so far."""


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


@contextmanager
def plain_interrupts() -> Iterator[None]:
    """Turn the ``SystemError`` that an interrupt becomes on its way through compiled code back into one.

    >>> try:
    ...     with plain_interrupts():
    ...         raise SystemError("a result with an exception set") from KeyboardInterrupt()
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    interrupted
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):  # one for every function that it came through
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


def while_listening(work: Callable[[], Any]) -> Any:
    """Return what ``work`` returns, done in a thread while this one listens for Ctrl-C.

    For long calls of compiled libraries that hear no signals but let other threads run, such as HiGHS and
    LAPACK. After an interrupt they are no longer waited for, but run on to their end.

    >>> while_listening(lambda: 6 * 7)
    42
    """
    answers: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)  # in short turns: on some systems a wait without end hears no signal
    if errors:
        raise errors[0]
    return answers[0]
