"""Interrupts from the keyboard, as which they also come out of compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any


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
