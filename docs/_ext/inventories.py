"""Links to the documentation of other libraries, without asking the network for their inventories.

The names that pages and docstrings link to are few. ``inventories.txt`` says where each of them is, and is
turned into the files that ``sphinx.ext.intersphinx`` reads.
"""

from __future__ import annotations

import zlib
from pathlib import Path

HERE = Path(__file__).parent
HEADER = """# Sphinx inventory version 2
# Project: {}
# Version:
# The remainder of this file is compressed using zlib.
"""


def mapping(folder: Path) -> dict[str, tuple[str, str]]:
    """Write one inventory per library into ``folder``, and return what intersphinx is to be told of them."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, tuple[str, str]] = {}
    for block in (HERE / "inventories.txt").read_text().strip().split("\n\n"):
        (library, address), *entries = (line.split() for line in block.splitlines())
        rows = "".join(f"{name} {kind} 1 {page} -\n" for kind, name, page in entries)
        path = folder / f"{library}.inv"
        path.write_bytes(HEADER.format(library).encode() + zlib.compress(rows.encode()))
        found[library] = (address, str(path))
    return found
