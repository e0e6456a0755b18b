"""Text files as bytes in UTF-8: how they are packed, and in which encoding they are."""

from __future__ import annotations

import codecs
from importlib import import_module
from pathlib import Path

from swapwise.cli.failures import BadInput

# What unpacks a file, by what its name ends in, and what must be installed for that.
MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma", ".zst": "zstandard"}
COMPRESSIONS = (*MODULES, ".zip")

# Encodings that a message tries for the user, and as many letters as it shows of each.
LIKELY, MOST_LETTERS = ("cp1252", "cp1250", "mac-roman"), 20


def content_of(path: Path, encoding: str | None, remedy: str = "--encoding says which") -> bytes:
    """Return all of a text file in UTF-8; without ``encoding`` it must be UTF-8, or UTF-16 with its mark."""
    content = _unpacked(path)
    if encoding is None:
        marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = "utf-16" if marked else "utf-8"
    try:
        is_other = codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig", "ascii")
        if is_other:
            content = content.decode(encoding).encode()
        elif not content.isascii():
            content.decode()  # only to see whether it can be
    except LookupError:
        known = "one that Python knows, such as utf-8, cp1252, latin-1 or utf-16"
        raise BadInput(f"--encoding must be {known}; got {encoding!r}") from None
    except UnicodeError as error:
        raise BadInput(_undecodable(content, error, path, encoding, remedy)) from None
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise BadInput(f"{path} must be text, got other bytes in line {line}; save it as CSV in UTF-8")
    return content.removeprefix(codecs.BOM_UTF8)


def _undecodable(content: bytes, error: UnicodeError, path: Path, encoding: str, remedy: str) -> str:
    """Return where a file is not what its encoding says, and what others would make of that place."""
    if not isinstance(error, UnicodeDecodeError) or b"\0" in content:
        return f"{path} must be text, got other bytes; save it as CSV in UTF-8"
    place = error.start
    begin = max(content.rfind(b"\n", 0, place) + 1, place - MOST_LETTERS // 2)
    piece = content[begin : begin + MOST_LETTERS].partition(b"\n")[0].rstrip()
    read = dict[str, str]()
    for other in LIKELY:
        try:
            read.setdefault(piece.decode(other), other)
        except UnicodeError:
            continue
    tried = "".join(f"; --encoding {other} reads {words!r}" for words, other in read.items())
    line = content.count(b"\n", 0, place) + 1
    return f"{path} is no text in {encoding.upper()}, as line {line} shows: {remedy}{tried}"


def _unpacked(path: Path) -> bytes:
    from lzma import LZMAError
    from zipfile import BadZipFile, ZipFile
    from zlib import error as ZlibError

    suffix = path.suffix.lower()
    try:
        if suffix == ".zip":
            with ZipFile(path) as archive:
                files = [member for member in archive.infolist() if not member.is_dir()]
                if len(files) != 1:
                    raise BadInput(f"{path} must hold one file, got {len(files)}")
                return archive.read(files[0])
        if suffix not in MODULES:
            return path.read_bytes()
        with import_module(MODULES[suffix]).open(path, "rb") as file:
            content: bytes = file.read()
            return content
    except ImportError:
        needed = MODULES[suffix]
        raise BadInput(f"{path} cannot be unpacked: that needs {needed}: pip install {needed}") from None
    except (OSError, EOFError, LZMAError, BadZipFile, ZlibError, NotImplementedError, RuntimeError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise BadInput(f"{path} cannot be read: {' '.join(str(told).split())}") from None
