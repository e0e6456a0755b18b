"""Fitted models keep no data, unless they are small.

The guarantee of a result is computed on first access, from the data. A model that kept them for that would
keep large tables in memory, and files open, for as long as it lives.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from io import IOBase
from typing import Any

import numpy as np
from scipy.sparse import issparse

from swapwise.checks import warn
from swapwise.data.matrix import Matrix
from swapwise.search.result import SearchResult

# Of data and of arrays computed from them; a model that keeps this much is still small.
MOST_BYTES = 1 << 20

NOT_KEPT = (
    "the training data were large, and not kept: result_.guarantee is None; certify(X, y) proves how good "
    "the answer is, and swapwise.maximize returns a result that keeps its data"
)


def without_large_data(result: SearchResult) -> SearchResult:
    """Return a result without its guarantee, if that would keep large data."""
    found = result._guarantee
    if found is None or _is_small(found):
        return result
    return replace(result, _guarantee=_nothing)


def _nothing() -> None:
    warn(NOT_KEPT)


def _is_small(root: Any) -> bool:
    """Return whether all arrays that an object leads to are small, and none is in a file."""
    total, seen, left = 0, set[int](), [root]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, np.memmap | mmap.mmap | IOBase):
            return False
        if isinstance(each, Matrix) and not each.in_memory:
            return False
        if isinstance(each, np.ndarray):
            total += each.nbytes
            left.append(each.base)  # a view keeps its whole base
        else:
            left.extend(_parts_of(each))
        if total > MOST_BYTES:
            return False
    return True


def _parts_of(each: Any) -> Iterator[Any]:
    """Yield what an object of this package, a sparse matrix or a container holds."""
    if isinstance(each, partial):
        yield from (*each.args, *each.keywords.values())
    elif isinstance(each, dict):
        yield from each.values()
    elif isinstance(each, list | tuple | set):
        yield from each
    elif type(each).__module__.startswith("swapwise.") or issparse(each):
        yield from getattr(each, "__dict__", {}).values()
        slots = [name for kind in type(each).__mro__ for name in getattr(kind, "__slots__", ())]
        yield from (getattr(each, name, None) for name in slots)
