"""Files that commands write: checked before any work is done, and there in whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from swapwise.cli.failures import BadInput

# Where a file is wanted, if it is, and what makes its content.
Output = tuple[Path | None, Callable[[], str | bytes]]

PAGES = (".html", ".htm")


def check_page(path: Path | None) -> None:
    """Refuse a report that would not open in a browser.

    >>> check_page(Path("answer.pdf"))
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: --report writes a page: its name must end in .html, got answer.pdf
    """
    if path is not None and path.suffix.lower() not in PAGES:
        raise BadInput(f"--report writes a page: its name must end in .html, got {path}")


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
    try:
        if path.is_dir():
            return "it is a folder"
        if path.exists() and not path.is_file():
            return "it is no ordinary file"
        folder = path.resolve().parent
        if not folder.is_dir():
            return f"there is no folder {path.parent}"
        return _obstacle_in(folder)
    except OSError as error:  # such as a name that is too long
        return str(error.strerror).lower()


def _obstacle_in(folder: Path) -> str | None:
    """Return why no file can be made in a folder: only trying tells that of all kinds of folders."""
    trial = folder / f".{os.getpid()}.unfinished"
    try:
        trial.touch()
        trial.unlink()
    except PermissionError:
        return f"no permission to write in the folder {folder}"
    except OSError as error:
        return f"no file can be made in the folder {folder}: {str(error.strerror).lower()}"
    return None


def write_outputs(outputs: Iterable[Output], *, force: bool) -> list[str]:
    """Make and write each file that is wanted, atomically; return what to say of them.

    A file that has come to exist during the work is left alone, and the new one has a number in its name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     said = write_outputs([(Path(folder) / "a", lambda: "text"), (None, lambda: 1 / 0)], force=False)
    ...     (Path(folder) / "a").read_text()
    'text'
    """
    from swapwise.experiments.store import write_atomically  # takes its time to import: help should not

    said = []
    for path, make in outputs:
        if path is not None:
            content = make()
            free = path if force else _free_name(path)
            # Names of files may hold what is no text; that is no reason to lose all.
            written = content.encode(errors="replace") if isinstance(content, str) else content
            write_atomically(free.resolve(), written)
            said.append(f"Wrote {free}" + ("" if free == path else f", as {path} has come to exist"))
    return said


def _free_name(path: Path) -> Path:
    free, number = path, 1
    while free.exists():
        number += 1
        free = path.with_stem(f"{path.stem}-{number}")
    return free
