"""Files that are written in whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it is there in whole or, if something happens, as it was before.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "a", b"text")
    ...     os.listdir(folder)
    ['a']
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _unfinished(path, data) as unfinished:
        if path.exists():
            shutil.copymode(path, unfinished)
        os.replace(unfinished, path)


def write_new(path: Path, data: bytes) -> Path:
    """Write a file in whole under a name that nothing has, and return that: the given one, or a numbered one.

    Of several processes that want the same name each gets one of its own.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [write_new(Path(folder) / "a.txt", b"text").name for _ in range(2)]
    ['a.txt', 'a-2.txt']
    """
    with _unfinished(path, data) as unfinished:
        free, number = path, 1
        while not _named(unfinished, free):
            number += 1
            free = path.with_stem(f"{path.stem}-{number}")
        return free


def make_empty(folder: Path, name: str = "") -> Path:
    """Make an empty file in a folder, under a name that cannot be guessed, and return its path.

    Someone who could guess the name could put a symbolic link there, and what is written would go to where it
    leads.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     make_empty(Path(folder), "a").suffix
    '.unfinished'
    """
    while True:
        path = folder / f".{name[:40]}.{secrets.token_hex(8)}.unfinished"  # names must not grow too long
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            continue
        return path


@contextmanager
def _unfinished(path: Path, data: bytes) -> Iterator[Path]:
    """Yield a file beside a path that holds what is to be there; it is gone afterwards."""
    unfinished = make_empty(path.parent, path.name)
    try:
        with open(unfinished, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # else the new name may be on disk before what it names
        yield unfinished
    finally:
        unfinished.unlink(missing_ok=True)


def _named(file: Path, name: Path) -> bool:
    """Give a file a name, unless something has it; return whether it has it now."""
    try:
        os.link(file, name)
    except FileExistsError:
        return False
    except OSError:  # no hard links there: then the name is taken first, and the file moved to it
        try:
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            return False
        os.replace(file, name)
    return True
