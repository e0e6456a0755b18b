"""Progress of long computations, reported to a subscriber: rounds of a search, passes over the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Subscriber = Callable[[dict[str, float]], None]

_subscriber: ContextVar[Subscriber | None] = ContextVar("subscriber", default=None)


def notify(**progress: float) -> None:
    """Report progress, for instance ``notify(rounds=2, passes=3)``, if there is a subscriber."""
    subscriber = _subscriber.get()
    if subscriber is not None:
        subscriber(progress)


@contextmanager
def subscribe(subscriber: Subscriber) -> Iterator[None]:
    """Call ``subscriber`` with all progress that is reported within.

    >>> with subscribe(print):
    ...     notify(passes=1)
    {'passes': 1}
    """
    token = _subscriber.set(subscriber)
    try:
        yield
    finally:
        _subscriber.reset(token)
