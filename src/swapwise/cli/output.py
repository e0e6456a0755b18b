"""Files that commands write: checked before any work is done, and there in whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from swapwise.cli.failures import BadInput

# Where a file is wanted, if it is, and what makes its content.
Output = tuple[Path | None, Callable[[], str | bytes]]


def check_outputs(paths: Iterable[Path | None], *, inputs: Iterable[Path | None] = (), force: bool) -> None:
    """Refuse files that cannot be written, that are wanted twice or read, or that are not to be lost.

    >>> check_outputs([Path("no-such-folder/out.html"), None], force=False)
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: cannot write no-such-folder/out.html: there is no folder no-such-folder
    """
    wanted: set[Path] = set()
    read = {path.resolve() for path in filter(None, inputs)}
    for path in filter(None, paths):
        if path.resolve() in wanted:
            raise BadInput(f"two outputs would be written to {path}: give each a file of its own")
        if path.resolve() in read:
            raise BadInput(f"{path} would be overwritten, but it is what is read: give another name")
        wanted.add(path.resolve())
        reason = _obstacle(path)
        if reason:
            raise BadInput(f"cannot write {path}: {reason}")
        if path.exists() and not force:
            raise BadInput(f"{path} exists already; --force overwrites it")


def _obstacle(path: Path) -> str | None:
    if path.is_dir():
        return "it is a folder"
    if path.exists() and not path.is_file():
        return "it is no ordinary file"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if not os.access(path.parent, os.W_OK):
        return f"no permission to write in the folder {path.parent}"
    return None


def write_outputs(outputs: Iterable[Output], *, quiet: bool) -> None:
    """Make and write each file that is wanted, atomically, and say where it is.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_outputs([(Path(folder) / "a", lambda: "text"), (None, lambda: 1 / 0)], quiet=True)
    ...     (Path(folder) / "a").read_text()
    'text'
    """
    from swapwise.experiments.store import write_atomically  # takes its time to import: help should not

    for path, make in outputs:
        if path is not None:
            content = make()
            write_atomically(path.resolve(), content.encode() if isinstance(content, str) else content)
            if not quiet:
                typer.echo(f"Wrote {path}")
