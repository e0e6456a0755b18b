"""Blocks of a matrix in a file: read in the order in which it lies there, and let go again."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.blocks import Blocks, Work, as_block
from swapwise.data.matrix import Matrix
from swapwise.news import tell

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
        self._array, self._step = array, rows_at_once
        self.n_samples, self.n_features = array.shape

    def fold(self, work: Work, *rows: NDArray[Any]) -> Any:
        """Work on one block after the other."""
        answer = None
        for part, block in self._parts():
            found = work(block, *(values[..., part] for values in rows))
            answer = found if part.start == 0 else work.merge(answer, found)
        return answer

    def restricted(self, elements: IndexArray) -> Blocks:
        """Return some of the columns: in memory if they are few, else in a file that vanishes after use."""
        shape = self.n_samples, len(elements)
        if 8 * self.n_samples * len(elements) <= MOST_IN_MEMORY:
            kept: Any = ArrayBlocks(np.empty(shape), self.n_samples)
        else:
            with TemporaryFile() as file:
                kept = FileBlocks(np.memmap(file, np.float64, "w+", shape=shape))
        for part, block in self._parts():
            kept._array[part] = block[:, elements]
            kept._let_go()
        return kept

    def _parts(self) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the blocks, each with its rows."""
        for number, begin in enumerate(range(0, self.n_samples, self._step)):
            end = min(begin + self._step, self.n_samples)
            yield (
                slice(begin, end),
                as_block(self._array[begin:end], number, begin, end, self.n_features),
            )
            self._let_go()
            tell(share=end / self.n_samples)

    def _let_go(self) -> None:
        """Make room for the next block; what is in memory anyway stays there."""


class FileBlocks(ArrayBlocks):
    """A memory-mapped file, stored by rows: no more than a block of it is resident at a time."""

    def __init__(self, array: np.memmap[Any, Any]) -> None:
        step = max(1, BLOCK_BYTES // (array.shape[1] * array.itemsize))
        super().__init__(array, step)

    def _let_go(self) -> None:
        let_go(self._array)

    def __getstate__(self) -> dict[str, Any]:
        """Return where the file is, not what is in it."""
        array, state = self._array, self.__dict__.copy()
        state["_array"] = (array.filename, array.dtype, array.shape, array.strides, file_offset(array))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the file again."""
        name, dtype, shape, strides, offset = state.pop("_array")
        self.__dict__.update(state)
        count = ((shape[0] - 1) * strides[0] + shape[1] * dtype.itemsize) // dtype.itemsize
        flat = np.memmap(name, dtype, "r", offset, (count,))
        self._array = np.lib.stride_tricks.as_strided(flat, shape, strides, subok=True, writeable=False)


def let_go(array: Any) -> None:
    """Give the memory back that holds what was read of a memory-mapped file.

    Pages that were read stay with the process until somebody needs the room, which looks as if it held the
    whole file. The system may keep them in its own cache.
    """
    array._mmap.madvise(mmap.MADV_DONTNEED)


def file_offset(array: np.memmap[Any, Any]) -> int:
    """Return where in its file a memory-mapped array, or a slice of one, begins."""
    mapped = np.frombuffer(array._mmap, dtype=np.uint8)  # type: ignore[attr-defined]
    first = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
    return int(first + array.ctypes.data - mapped.ctypes.data)


def is_file(X: Any) -> bool:
    """Tell whether X lies in a file that others may change, or nobody: not in a private copy of one."""
    return isinstance(X, np.memmap) and X.mode != "c" and getattr(X, "_mmap", None) is not None


def open_file(array: np.memmap[Any, Any]) -> Matrix:
    """Return access to a memory-mapped file, stored by rows or by columns."""
    from swapwise.data.chunked import ChunkedMatrix
    from swapwise.data.column_file import ColumnFile

    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"X must have at least one sample and one feature, got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"X must hold real numbers, got values of type {array.dtype}")
    by_columns = array.strides[0] == array.itemsize and array.shape[1] > 1
    return ColumnFile(array) if by_columns else ChunkedMatrix(FileBlocks(array))
