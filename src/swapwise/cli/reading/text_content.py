"""Files as text: how they are packed, and in which encoding they are."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from swapwise.checks import warn
from swapwise.cli.failures import BadInput

# What unpacks a file, by what its name ends in, and what must be installed for that.
MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma", ".zst": "zstandard"}
COMPRESSIONS = (*MODULES, ".zip")

# In this order: text of the latter kinds is no UTF-8, UTF-16 begins with a mark, and Windows-1252 is nearly
# anything. Whatever Latin-1 has for letters, Windows-1252 has too.
ENCODINGS = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16", "cp1252": "Windows-1252"}


def text_of(path: Path) -> str:
    """Return all of a file as text, with the ends of its lines as they are.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.csv"
    ...     _ = path.write_text("größe\\n1\\n", encoding="utf-16")
    ...     text_of(path)
    'größe\\n1\\n'
    """
    text = _decoded(_unpacked(path), path)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadInput(f"{path} must be text, got other bytes in line {line}; save it as CSV in UTF-8")
    return text


def _decoded(content: bytes, path: Path) -> str:
    for encoding, name in ENCODINGS.items():
        # Without its mark, any bytes may be UTF-16.
        if encoding == "utf-16" and not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            continue
        try:
            text = content.decode(encoding)
        except UnicodeError:
            continue
        if encoding == "cp1252" and "\0" not in text:
            warn(f"{path} is no text in UTF-8, and is read as {name}: look at letters such as ä and é")
        return text
    known = ", ".join(ENCODINGS.values())
    raise BadInput(f"{path} must be text in one of {known}, got none of them; save it as UTF-8")


def _unpacked(path: Path) -> bytes:
    from lzma import LZMAError
    from zipfile import BadZipFile
    from zlib import error as ZlibError

    try:
        return _opener(path)(path)
    except (OSError, EOFError, LZMAError, BadZipFile, ZlibError, NotImplementedError, RuntimeError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise BadInput(f"{path} cannot be read: {' '.join(str(told).split())}") from None


def _opener(path: Path) -> Callable[[Path], bytes]:
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return _from_zip
    if suffix not in MODULES:
        return Path.read_bytes
    name = MODULES[suffix]
    try:
        module = import_module(name)
    except ImportError:
        raise BadInput(f"{path} cannot be unpacked: that needs {name}: pip install {name}") from None

    def unpack(packed: Path) -> bytes:
        with module.open(packed, "rb") as file:
            content: bytes = file.read()
            return content

    return unpack


def _from_zip(path: Path) -> bytes:
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        files: list[Any] = [member for member in archive.infolist() if not member.is_dir()]
        if len(files) != 1:
            raise BadInput(f"{path} must hold one file, got {len(files)}")
        return archive.read(files[0])
