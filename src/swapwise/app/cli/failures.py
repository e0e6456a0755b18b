"""The ends of commands that cannot go on: a line with the reason, and an exit code."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from swapwise.app.cli.terminal import printable, printable_line

INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


class BadInput(ValueError):
    """The input cannot be used; the message names the problem."""


@contextmanager
def exit_on_error(command: str, *, debug: bool = False) -> Iterator[None]:
    """Exit with code 1 and the error as a message, without traceback, and with 130 if interrupted."""
    try:
        with sigterm_as_interrupt():
            yield
    except KeyboardInterrupt:
        typer.echo(f"{command}: interrupted before anything was found", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:  # the reader of the pipe has closed it, such as head: not an error
        raise
    except MemoryError as error:
        if debug:
            raise
        reason = printable_line(f" ({error})" if str(error) else "")
        raise SystemExit(
            f"{command}: out of memory{reason}: try a smaller table, or a larger machine"
        ) from None
    # The errors that the library raises for wrong arguments.
    except (ValueError, TypeError, OSError) as error:
        if debug:
            raise
        words = str(error) if isinstance(error, BadInput) else " ".join(str(error).split())
        raise SystemExit(f"{command}: {printable(words)}") from None


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does: with the results so far, and no process left behind."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def warnings_to_stderr(quiet: bool) -> Iterator[list[str]]:
    """Print warnings as one-line notes, without the source line, and yield the list of them."""
    notes: list[str] = []

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if not issubclass(category, UserWarning) or str(message) in notes:
            return
        notes.append(str(message))
        if not quiet:
            typer.echo(f"Note: {printable(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        for message in ("the search was interrupted", ".* chosen only to meet a lower limit"):
            warnings.filterwarnings("ignore", message)  # the commands print these themselves
        warnings.showwarning = show  # catch_warnings restores it
        yield notes
