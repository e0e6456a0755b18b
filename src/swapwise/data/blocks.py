"""The contract of data in chunks of rows: work that goes to every block, and answers that add up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray


class Work(ABC):
    """What is to be done with a block of rows, and how the answers for two blocks become one.

    Work travels to where the blocks are: it is to be small, and must not change what it is given.
    """

    @abstractmethod
    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Return the answer for a block; ``rows`` are its parts of what was given to :meth:`Blocks.fold`."""

    def merge(self, first: Any, second: Any) -> Any:
        """Return the answer for two blocks, of which ``first`` has the earlier rows: here their sum."""
        return tuple(one + other for one, other in zip(first, second, strict=True))


class Blocks(ABC):
    """A matrix in blocks of rows, few of which are ever in memory together."""

    n_samples: int
    n_features: int
    #: How many passes over the data it took to learn where the blocks begin
    passes_to_open: int = 0
    #: Whether the numbers are stored in single precision; blocks are handed out in double
    stored_as_float32: bool = False

    @abstractmethod
    def fold(self, work: Work, *rows: NDArray[Any]) -> Any:
        """Return the answer of some work for all blocks together: one pass over the data.

        ``rows`` are arrays with one number a sample along their last axis.
        """

    def take(self, rows: IndexArray) -> Blocks:
        """Return some of the samples, in the order in which they are stored."""
        return SomeRows(self, rows)

    @abstractmethod
    def restricted(self, elements: IndexArray) -> Blocks:
        """Return some of the columns, stored anew where the blocks are: one pass over the data."""

    def place_of(self, sample: int) -> str:
        """Return words for the block of a sample, where blocks are something that users know."""
        return ""


class SomeRows(Blocks):
    """Some samples of others.

    >>> from swapwise.data.file_blocks import ArrayBlocks
    >>> from swapwise.data.works import Combined
    >>> some = ArrayBlocks(np.arange(8.0).reshape(4, 2), 3).take(np.array([3, 0]))
    >>> np.concatenate(some.fold(Combined(np.array([0]), np.array([1.0]))))
    array([0., 6.])
    """

    def __init__(self, whole: Blocks, rows: IndexArray) -> None:
        self._whole, self._rows = whole, np.sort(rows)
        self.n_samples, self.n_features = len(rows), whole.n_features
        self.stored_as_float32 = whole.stored_as_float32

    def fold(self, work: Work, *rows: NDArray[Any]) -> Any:
        """Go through all blocks, and leave out what is not asked for."""
        is_wanted = np.zeros(self._whole.n_samples, dtype=bool)
        is_wanted[self._rows] = True
        return self._whole.fold(_OnSome(work), is_wanted, *map(self._spread, rows))

    def restricted(self, elements: IndexArray) -> Blocks:
        """Return some of the columns."""
        return SomeRows(self._whole.restricted(elements), self._rows)

    def _spread(self, values: NDArray[Any]) -> FloatArray:
        spread = np.zeros((*values.shape[:-1], self._whole.n_samples))
        spread[..., self._rows] = values
        return spread


class _OnSome(Work):
    """Work on the rows that are wanted; None for a block that has none."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        is_wanted, parts = rows[0].astype(bool), rows[1:]
        if not is_wanted.any():
            return None
        return self._work(block[is_wanted], *(part[..., is_wanted] for part in parts))

    def merge(self, first: Any, second: Any) -> Any:
        if first is None or second is None:
            return second if first is None else first
        return self._work.merge(first, second)


def merged(work: Work, answers: list[Any]) -> Any:
    """Return the answers for blocks that follow each other as one."""
    return reduce(work.merge, answers)


def as_block(block: Any, number: int, begin: int, end: int, n_features: int) -> FloatArray:
    """Return a block in double precision, or say what is wrong with it.

    >>> as_block(np.eye(2, dtype=np.float32), 0, 0, 2, 2).dtype
    dtype('float64')
    >>> as_block(np.eye(2), 3, 6, 8, 5)
    Traceback (most recent call last):
    ValueError: chunk 3 of X (rows 6 to 7) must have shape (2, 5), got (2, 2)
    """
    name = f"chunk {number} of X (rows {begin} to {end - 1})"
    if hasattr(block, "toarray"):
        block = block.toarray()
    elif hasattr(block, "to_numpy"):
        block = block.to_numpy()
    if block.shape != (end - begin, n_features):
        raise ValueError(f"{name} must have shape {(end - begin, n_features)}, got {block.shape}")
    if block.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got values of type {block.dtype}")
    return np.ascontiguousarray(block, dtype=np.float64)
