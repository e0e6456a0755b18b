"""Files that are written in whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it is there in whole or, after a failure, as it was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _unfinished(path, data) as unfinished:
        if path.exists():
            shutil.copymode(path, unfinished)
        os.replace(unfinished, path)


def write_new(path: Path, data: bytes) -> Path:
    """Write a file in whole under a free name, and return that: ``path``, or a numbered one.

    Several processes that want the same name get one each.
    """
    with _unfinished(path, data) as unfinished:
        free, number = path, 1
        while not _named(unfinished, free):
            number += 1
            free = path.with_stem(f"{path.stem}-{number}")
        return free


def make_empty(folder: Path, name: str = "") -> Path:
    """Make an empty file in a folder, under a name that cannot be guessed, and return its path.

    With a guessed name, someone could put a symbolic link there and redirect what is written.
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
    """Yield a temporary file beside a path that holds its future content; it is removed afterwards."""
    unfinished = make_empty(path.parent, path.name)
    try:
        with open(unfinished, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # else the new name may be on disk before the content
        yield unfinished
    finally:
        unfinished.unlink(missing_ok=True)


def _named(file: Path, name: Path) -> bool:
    """Give a file a name that is free; return False if it is taken."""
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
