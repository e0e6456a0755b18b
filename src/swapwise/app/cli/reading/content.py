"""Text files unpacked, and in UTF-8."""

from __future__ import annotations

import codecs
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from zipfile import ZipFile

from swapwise.app.cli.failures import BadInput

# The module that unpacks a file, by the file's suffix.
MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma", ".zst": "zstandard"}
COMPRESSIONS = (*MODULES, ".zip")

# Encodings that a message tries, and the number of letters that it shows of each.
LIKELY, MOST_LETTERS = ("mac-roman", "cp1250", "cp1252"), 20


def content_of(path: Path, encoding: str | None, remedy: str = "--encoding says which") -> bytes:
    """Return all of a text file in UTF-8; without ``encoding`` it must be UTF-8, or UTF-16 with its mark."""
    content = _unpacked(path)
    is_marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = encoding or ("utf-16" if is_marked else "utf-8")
    try:
        if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
            content = content.decode(encoding).encode()
        elif not content.isascii():
            content.decode()  # raises an error if it is not UTF-8
    except LookupError:
        known = "one that Python knows, such as utf-8, cp1252, latin-1 or utf-16"
        raise BadInput(f"--encoding must be {known}; got {encoding!r}") from None
    except UnicodeError as error:
        place = error.start if isinstance(error, UnicodeDecodeError) else 0
        if b"\0" not in content:
            problem = f"is no text in {encoding.upper()}, as line {_line(content, place)} shows: {remedy}"
            raise BadInput(f"{path} {problem}{_tried(content, place)}") from None
    if b"\0" in content:
        line = _line(content, content.index(b"\0"))
        raise BadInput(f"{path} must be text, got other bytes in line {line}; save it as CSV in UTF-8")
    return content.removeprefix(codecs.BOM_UTF8)


def _line(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1


def _tried(content: bytes, place: int) -> str:
    """Return the text at a place in other encodings."""
    begin = max(content.rfind(b"\n", 0, place) + 1, place - MOST_LETTERS // 2)
    piece = content[begin : begin + MOST_LETTERS].partition(b"\n")[0].rstrip()
    read = dict[str, str]()
    for encoding in LIKELY:
        with suppress(UnicodeError):
            read[piece.decode(encoding)] = encoding
    return "".join(f"; --encoding {encoding} reads {words!r}" for words, encoding in reversed(read.items()))


def _unpacked(path: Path) -> bytes:
    suffix = path.suffix.lower()
    try:
        if suffix == ".zip":
            with ZipFile(path) as archive:
                (file,) = [member for member in archive.infolist() if not member.is_dir()]
                return archive.read(file)
        if suffix not in MODULES:
            return path.read_bytes()
        with import_module(MODULES[suffix]).open(path, "rb") as packed:
            content: bytes = packed.read()
            return content
    except ImportError:
        needed = MODULES[suffix]
        raise BadInput(f"{path} cannot be unpacked: that needs {needed}: pip install {needed}") from None
    except Exception as error:  # each module raises errors of its own
        problem = "it must hold one file" if isinstance(error, ValueError) else error
        raise BadInput(f"{path} cannot be read: {' '.join(str(problem).split())}") from None
