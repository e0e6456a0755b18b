"""Files that commands write: checked before any work is done, and written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from swapwise.app.cli.failures import INTERRUPTED, BadInput
from swapwise.app.cli.terminal import printable_line
from swapwise.files import make_empty, write_atomically, write_new

if TYPE_CHECKING:
    from swapwise.app.cli.graph_answer import GraphAnswer
    from swapwise.app.cli.selection import Selection

# The path of a file, if it was requested, and the function that makes its content.
Output = tuple[Path | None, Callable[[], str | bytes]]

PAGES = (".html", ".htm")


def check_page(path: Path | None) -> None:
    if path is not None and path.suffix.lower() not in PAGES:
        raise BadInput(f"--report writes a page: its name must end in .html, got {path}")


def check_outputs(paths: Iterable[Path | None], *, inputs: Iterable[Path | None] = (), force: bool) -> None:
    """Refuse files that cannot be written, that are also inputs or other outputs, or that exist already."""
    wanted: set[Path] = set()
    read = {_place(path) for path in filter(None, inputs)}
    for path in filter(None, paths):
        place = _place(path)
        if place in wanted:
            raise BadInput(f"two outputs would be written to {path}: give each a file of its own")
        if place in read:
            raise BadInput(f"{path} would be overwritten, but it is an input: give another name")
        wanted.add(place)
        reason = _why_not_writable(path)
        if reason:
            raise BadInput(f"cannot write {path}: {reason}")
        if os.path.lexists(path) and not force:  # also broken links, which lead elsewhere
            raise BadInput(f"{path} exists already; --force overwrites it")


def _place(path: Path) -> Path:
    """Resolve links; unlike Path.resolve, also links that lead in a circle."""
    return Path(os.path.realpath(path))


def _why_not_writable(path: Path) -> str | None:
    try:
        if _place(path).is_symlink():
            return "its symbolic links lead in a circle"
        if path.is_dir():
            return "it is a folder"
        if path.exists() and not path.is_file():
            return "it is not an ordinary file"
        folder = _place(path).parent
        if not folder.is_dir():
            return f"there is no folder {path.parent}"
        return _why_no_file_in(folder)
    except OSError as error:  # such as a name that is too long
        return str(error.strerror).lower()


def _why_no_file_in(folder: Path) -> str | None:
    """Try it: no other test is right for all kinds of folders."""
    try:
        make_empty(folder).unlink()
    except PermissionError:
        return f"no permission to write in the folder {folder}"
    except OSError as error:
        return f"no file can be made in the folder {folder}: {str(error.strerror).lower()}"
    return None


def deliver(
    command: str,
    answer: Selection | GraphAnswer,
    outputs: Iterable[Output],
    show: Callable[[Any], None],
    *,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Write the requested files, print the answer by ``show`` or as JSON, and exit with the code that fits.

    Each file is written atomically; after a failure the others are still written. A file that has come to
    exist during the work is left alone, and the new one has a number in its name.
    """
    wrote, failed, interrupted = list[Path](), list[str](), answer.interrupted
    # Before anything is printed: the reader of a pipe may close it.
    for path, make in outputs:
        if path is None:
            continue
        try:
            place = _write(path, make(), force)
        except OSError as error:
            failed.append(f"cannot write {path}: {str(error.strerror or error).lower()}")
        except KeyboardInterrupt:
            failed.append(f"interrupted before {path} was written")
            interrupted = True
        else:
            wrote.append(place)
            if place != path:  # printed also with --quiet: a program would read what is not its answer
                note = f"Note: {path} has come to exist: {place} is written instead"
                typer.echo(printable_line(note), err=True)
    if as_json:
        typer.echo(answer.to_json(), nl=False)
    elif not quiet:
        show(answer)
    for path in [] if quiet or as_json else wrote:
        typer.echo(printable_line(f"Wrote {path}"))
    for line in failed:
        typer.echo(printable_line(f"{command}: {line}"), err=True)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if failed:
        raise typer.Exit(1)


def _write(path: Path, content: str | bytes, force: bool) -> Path:
    """Write a file; return its path, which is another one if that has come to be taken."""
    # Surrogates, which stand for bytes of file names that are no text, are replaced.
    data = content.encode(errors="replace") if isinstance(content, str) else content
    if not force:
        return write_new(path, data)
    write_atomically(_place(path), data)
    return path
