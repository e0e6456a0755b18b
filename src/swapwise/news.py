"""What goes on in long work, told to whoever shows it: rounds of a search, passes over the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[dict[str, float]], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(**news: float) -> None:
    """Tell how far the work has come, for instance ``tell(rounds=2, passes=3)``, if somebody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(news)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear of all that is told within.

    >>> with listening(print):
    ...     tell(passes=1)
    {'passes': 1}
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
