"""How commands end when they cannot go on: a line that says why, and an exit code."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from swapwise.clock import plain_interrupts

INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


class BadInput(ValueError):
    """What the user handed in cannot be worked with; the message names it.

    >>> raise BadInput("data.csv is empty")
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: data.csv is empty
    """


@contextmanager
def told_in_a_line(command: str, *, debug: bool = False) -> Iterator[None]:
    """End with exit code 1 and a line for each of a user's mistakes, with 130 if interrupted.

    >>> with told_in_a_line("swapwise select"):
    ...     raise BadInput("data.csv is empty")
    Traceback (most recent call last):
    ...
    SystemExit: swapwise select: data.csv is empty
    """
    try:
        with terminated_like_interrupted(), plain_interrupts():
            yield
    except KeyboardInterrupt:
        typer.echo(f"{command}: interrupted, with nothing to show yet", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:  # whoever reads what is printed has had enough: no mistake
        raise
    # The library says by these three that what it was given is wrong.
    except (ValueError, TypeError, OSError) as error:
        if debug:
            raise
        words = str(error) if isinstance(error, BadInput) else " ".join(str(error).split())
        raise SystemExit(f"{command}: {words}") from None


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Let a polite kill end a run as Ctrl-C does: with its results so far, and no process left behind.

    >>> with terminated_like_interrupted():
    ...     signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    True
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def warnings_as_notes(quiet: bool) -> Iterator[list[str]]:
    """Say the library's warnings in one line each: the line of code that led to them is of no use here.

    >>> with warnings_as_notes(quiet=True) as notes:
    ...     warnings.warn("not heard")
    >>> notes
    ['not heard']
    """
    notes: list[str] = []

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if not issubclass(category, UserWarning):
            return
        notes.append(str(message))
        if not quiet:
            typer.echo(f"Note: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", "the search was interrupted")  # which commands say themselves
        warnings.showwarning = show  # catch_warnings restores it
        yield notes
