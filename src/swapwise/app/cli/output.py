"""Files that commands write: checked before any work is done, and written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import typer

from swapwise.app.cli.failures import INTERRUPTED, BadInput
from swapwise.app.cli.terminal import printable_line
from swapwise.files import make_empty, write_atomically, write_new

# Where a file is wanted, if it is, and what makes its content.
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
        if os.path.lexists(path) and not force:  # also a link to what is not there: it leads elsewhere
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


def with_notes(asked: dict[str, str], notes: list[str]) -> dict[str, str]:
    return asked | {"notes": "; ".join(notes)} if notes else asked


@dataclass
class Written:
    """The messages about files that were written, and about those that could not be."""

    said: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    interrupted: bool = False

    def end(self, command: str, *, interrupted: bool, quiet: bool) -> None:
        """Print the messages and exit with the code that fits them."""
        for line in [] if quiet else self.said:
            typer.echo(printable_line(line))
        for line in self.failed:
            typer.echo(printable_line(f"{command}: {line}"), err=True)
        if interrupted or self.interrupted:
            raise typer.Exit(INTERRUPTED)
        if self.failed:
            raise typer.Exit(1)


def write_outputs(outputs: Iterable[Output], *, force: bool) -> Written:
    """Make and write each requested file, atomically; after a failure the others are still written.

    A file that has come to exist during the work is left alone, and the new one has a number in its name.
    """
    written = Written()
    for path, make in outputs:
        if path is None:
            continue
        try:
            free = _write(path, make(), force)
        except OSError as error:
            written.failed.append(f"cannot write {path}: {str(error.strerror or error).lower()}")
        except KeyboardInterrupt:
            written.failed.append(f"interrupted before {path} was written")
            written.interrupted = True
        else:
            written.said.append(f"Wrote {free}")
            if free != path:  # said whatever else is not: a program would read what is not its answer
                note = f"Note: {path} has come to exist: {free} is written instead"
                typer.echo(printable_line(note), err=True)
    return written


def _write(path: Path, content: str | bytes, force: bool) -> Path:
    """Write a file; return its path, which is another one if that has come to be taken."""
    # Names of files may hold what is no text; that is no reason to lose all.
    data = content.encode(errors="replace") if isinstance(content, str) else content
    if not force:
        return write_new(path, data)
    write_atomically(_place(path), data)
    return path
