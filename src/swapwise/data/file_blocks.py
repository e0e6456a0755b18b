"""Blocks of a matrix in a file: read in the order in which it lies there, and let go again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.blocks import Blocks, Work, as_block
from swapwise.data.mapped_file import MappedFile
from swapwise.events import notify

# A block has about so many bytes: enough to make up for what is done once a block, and little next to any
# memory.
BLOCK_BYTES = 1 << 27

# Some columns of a file, which are read again and again, are kept in memory up to so many bytes.
MOST_IN_MEMORY = 1 << 28


class ArrayBlocks(Blocks):
    """An array, so many rows at a time.

    >>> from swapwise.data.works import Dots
    >>> ArrayBlocks(np.eye(3), 2).fold(Dots(), np.ones((1, 3)))
    (array([[1., 1., 1.]]),)
    """

    def __init__(self, array: Any, rows_at_once: int) -> None:
        self._held, self._step = array, rows_at_once
        self.n_samples, self.n_features = array.shape
        self.stored_as_float32 = self.array.dtype == np.float32

    @property
    def array(self) -> Any:
        """The array itself."""
        return self._held

    def let_go(self) -> None:
        """Make room for the next block; what is in memory anyway stays there."""

    def fold(self, work: Work, *rows: NDArray[Any]) -> Any:
        """Work on one block after the other."""
        answer = None
        for part, block in self._parts():
            found = work(block, *(values[..., part] for values in rows))
            answer = found if part.start == 0 else work.merge(answer, found)
        return answer

    def restricted(self, elements: IndexArray) -> Blocks:
        """Return some of the columns: in memory if they are few, else in a file that vanishes after use."""
        kept = room_for(self.n_samples, len(elements))
        for part, block in self._parts():
            kept.array[part] = block[:, elements]
            kept.let_go()
        return kept

    def _parts(self) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the blocks, each with its rows."""
        for number, begin in enumerate(range(0, self.n_samples, self._step)):
            end = min(begin + self._step, self.n_samples)
            rows = self.array[begin:end]
            yield slice(begin, end), as_block(rows, number, begin, end, self.n_features)
            self.let_go()
            notify(share=end / self.n_samples)


class FileBlocks(ArrayBlocks):
    """A memory-mapped file, stored by rows: no more than a block of it is resident at a time."""

    def __init__(self, file: MappedFile) -> None:
        super().__init__(file, max(1, BLOCK_BYTES // (8 * file.shape[1])))  # as doubles, which they become

    @property
    def array(self) -> Any:
        """The array that is mapped."""
        return self._held.array

    def let_go(self) -> None:
        """Give the memory back that holds what was read."""
        self._held.let_go()


def room_for(n_samples: int, n_features: int) -> ArrayBlocks:
    """Return blocks to be filled: in memory if they are small, else in a file that vanishes after use."""
    shape, size = (n_samples, n_features), 8 * n_samples * n_features
    if size <= MOST_IN_MEMORY:
        return ArrayBlocks(np.empty(shape), n_samples)
    with TemporaryFile() as file:
        if hasattr(os, "posix_fallocate"):  # a disk that is full is to say so now
            os.posix_fallocate(file.fileno(), 0, size)
        return FileBlocks(MappedFile(np.memmap(file, np.float64, "w+", shape=shape)))
