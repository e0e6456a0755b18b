"""Files that are written in whole or not at all."""

from __future__ import annotations

import os
import shutil
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
    # Of this process only, and no longer than names may be.
    unfinished = path.with_name(f".{path.name[:40]}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # else the new name may be on disk before what it names
        if path.exists():
            shutil.copymode(path, unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
