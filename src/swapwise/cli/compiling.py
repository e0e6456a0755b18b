"""What a first run spends on compiling: said when it begins, and not counted as time of the search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import typer

NOTE = "Note: compiling, which the first run of its kind does once; it may take half a minute"

# What takes less is not worth a word.
SECONDS = 1.0


class Stopwatch:
    """How long something took, and how long compiling did, which is not counted.

    >>> Stopwatch().compiling
    0.0
    """

    def __init__(self, quiet: bool = True) -> None:
        self._began = perf_counter()
        self._depth = 0
        self._since = 0.0
        self._quiet = quiet
        self.seconds = 0.0
        self.compiling = 0.0

    def stop(self) -> None:
        """Take the time."""
        self.seconds = perf_counter() - self._began - self.compiling

    def notify(self, event: Any) -> None:
        """Hear that numba begins or ends to compile a function, perhaps within another."""
        if event.is_start:
            if self._depth == 0:
                self._since = perf_counter()
            self._depth += 1
            return
        self._depth -= 1
        if self._depth == 0:
            self.compiling += perf_counter() - self._since
        if self.compiling >= SECONDS and not self._quiet:
            typer.echo(NOTE, err=True)
            self._quiet = True


@contextmanager
def timed(quiet: bool) -> Iterator[Stopwatch]:
    """Take the time, and say so if something has to be compiled, unless all is to be quiet.

    >>> with timed(quiet=True) as watch:
    ...     pass
    >>> watch.seconds >= 0
    True
    """
    from numba.core.event import Listener, install_listener

    Listener.register(Stopwatch)  # by name only: numba takes too long to import for the sake of a class
    watch = Stopwatch(quiet)
    # What is loaded from the cache is no event.
    with install_listener("numba:compile", watch):
        try:
            yield watch
        finally:
            watch.stop()
