"""Matrices in memory-mapped files, and arrays, read chunk by chunk."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.chunked import ChunkedMatrix, Chunks, as_chunk
from swapwise.data.dense import DenseMatrix
from swapwise.data.matrix import Matrix, Moments
from swapwise.data.reductions import Reduction
from swapwise.events import notify
from swapwise.kernels import moments
from swapwise.override import override

# Bytes of a chunk: enough to outweigh the overhead per chunk, and little next to any memory.
CHUNK_BYTES = 1 << 27

# Some columns of a file, which are read again and again, are kept in memory up to this many bytes.
MOST_IN_MEMORY = 1 << 28


class MappedFile:
    """A memory-mapped array, or a slice of one, pickled as its place in the file."""

    def __init__(self, array: np.memmap[Any, Any]) -> None:
        self.array: Any = array

    def let_go(self) -> None:
        """Release the memory of pages that were read.

        Otherwise they stay with the process until the system needs the room, which looks as if it held the
        whole file. The system may keep them in its own cache.
        """
        if hasattr(mmap, "MADV_DONTNEED"):  # not everywhere
            self.array._mmap.madvise(mmap.MADV_DONTNEED)

    def offset(self) -> int:
        mapped: NDArray[np.uint8] = np.frombuffer(self.array._mmap, dtype=np.uint8)
        first = self.array.offset - self.array.offset % mmap.ALLOCATIONGRANULARITY
        return int(first + self.array.ctypes.data - mapped.ctypes.data)

    def __getstate__(self) -> dict[str, Any]:
        array = self.array
        if array.filename is None:
            raise TypeError("a file without a name cannot be opened elsewhere")
        place = {"filename": array.filename, "dtype": array.dtype, "offset": self.offset()}
        return place | {"shape": array.shape, "strides": array.strides}

    def __setstate__(self, place: dict[str, Any]) -> None:
        shape, strides, dtype = place["shape"], place["strides"], place["dtype"]
        reach = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
        before = -sum(way for way in reach if way < 0)  # reversed arrays have negative strides
        count = (before + sum(way for way in reach if way > 0)) // dtype.itemsize + 1
        flat = np.memmap(place["filename"], dtype, "r", place["offset"] - before, (count,))
        first = flat[before // dtype.itemsize :]
        self.array = np.lib.stride_tricks.as_strided(first, shape, strides, subok=True, writeable=False)


class ArrayChunks(Chunks):
    def __init__(self, array: Any, rows_at_once: int) -> None:
        self._held, self._step = array, rows_at_once
        self.n_samples, self.n_features = self.array.shape
        self.stored_as_float32 = self.array.dtype == np.float32

    @property
    def array(self) -> Any:
        return self._held

    def let_go(self) -> None:
        """Release the memory of a chunk; by default it is the array in memory, which stays."""

    @override
    def reduce(self, reduction: Reduction, *rows: NDArray[Any]) -> Any:
        answer = None
        for part, chunk in self._parts():
            found = reduction(chunk, *(values[..., part] for values in rows))
            answer = found if part.start == 0 else reduction.merge(answer, found)
        return answer

    @override
    def restricted(self, elements: IndexArray) -> Chunks:
        kept = room_for(self.n_samples, len(elements))
        for part, chunk in self._parts():
            kept.array[part] = chunk[:, elements]
            kept.let_go()
        return kept

    def _parts(self) -> Iterator[tuple[slice, FloatArray]]:
        for number, begin in enumerate(range(0, self.n_samples, self._step)):
            end = min(begin + self._step, self.n_samples)
            rows = self.array[begin:end]
            yield slice(begin, end), as_chunk(rows, number, begin, end, self.n_features)
            self.let_go()
            notify(share=end / self.n_samples)


class FileChunks(ArrayChunks):
    """A memory-mapped file, stored by rows: no more than a chunk of it is resident at a time."""

    def __init__(self, file: MappedFile) -> None:
        row_bytes = 8 * file.array.shape[1]  # as doubles, which they become
        super().__init__(file, max(1, CHUNK_BYTES // row_bytes))

    @property
    @override
    def array(self) -> Any:
        return self._held.array

    @override
    def let_go(self) -> None:
        self._held.let_go()


def room_for(n_samples: int, n_features: int) -> ArrayChunks:
    """Return chunks to be filled: in memory if they are small, else in a temporary file."""
    shape, size = (n_samples, n_features), 8 * n_samples * n_features
    if size <= MOST_IN_MEMORY:
        return ArrayChunks(np.empty(shape), n_samples)
    with TemporaryFile() as file:
        if hasattr(os, "posix_fallocate"):  # fails now if the disk is full
            os.posix_fallocate(file.fileno(), 0, size)
        return FileChunks(MappedFile(np.memmap(file, np.float64, "w+", shape=shape)))


class ColumnFile(Matrix):
    """A memory-mapped file in Fortran's order, of which only some columns are resident at a time."""

    in_memory = False

    def __init__(self, file: MappedFile, rows: IndexArray | None = None) -> None:
        self._file, self._rows = file, rows
        samples, self.n_features = file.array.shape
        self.n_samples = samples if rows is None else len(rows)
        self.stored_as_float32 = file.array.dtype == np.float32

    @override
    def take(self, rows: IndexArray) -> ColumnFile:
        return ColumnFile(self._file, rows if self._rows is None else self._rows[rows])

    @override
    def restricted(self, elements: IndexArray) -> Matrix:
        kept = room_for(len(elements), self.n_samples)
        for place, element in enumerate(elements):
            kept.array[place] = self._read(slice(element, element + 1))[0]
            kept.let_go()
            self._file.let_go()
        if isinstance(kept, FileChunks):
            some: Matrix = ColumnFile(MappedFile(kept.array.T))
        else:
            some = DenseMatrix(kept.array.T)
        some.stored_as_float32 = self.stored_as_float32
        return some

    @override
    def by_rows(self) -> ChunkedMatrix:
        chunks = FileChunks(self._file)
        return ChunkedMatrix(chunks if self._rows is None else chunks.take(self._rows))

    def _read(self, some: Any) -> FloatArray:
        """Return columns by their numbers or as a slice, one per row."""
        columns = self._file.array.T[some]
        columns = columns if self._rows is None else columns[:, self._rows]
        if columns.dtype == np.float64 and isinstance(some, slice):
            return columns
        return np.ascontiguousarray(columns, dtype=np.float64)

    def _parts(self) -> Iterator[tuple[slice, FloatArray]]:
        step = max(1, CHUNK_BYTES // (8 * len(self._file.array)))
        for begin in range(0, self.n_features, step):
            part = slice(begin, min(begin + step, self.n_features))
            yield part, self._read(part)
            self._file.let_go()
            notify(share=part.stop / self.n_features)

    @override
    def columns(self, elements: IndexArray) -> FloatArray:
        columns = self._read(np.asarray(elements, dtype=np.intp))
        self._file.let_go()
        return columns

    @override
    def products(self, vectors: FloatArray) -> FloatArray:
        products = np.empty((len(vectors), self.n_features))
        for part, columns in self._parts():
            products[:, part] = vectors @ columns.T
        return products

    @override
    def combine(self, coef: FloatArray) -> FloatArray:
        total = np.zeros((self.n_samples, *coef.shape[1:]))
        for element in np.flatnonzero(coef.reshape(len(coef), -1).any(axis=1)):
            total += np.multiply.outer(self._read(slice(element, element + 1))[0], coef[element])
            self._file.let_go()
        return total

    @override
    def moments(self, weight: FloatArray) -> Moments:
        mean, spread = np.empty(self.n_features), np.empty(self.n_features)
        origin_row = int(np.argmax(weight))
        with np.errstate(over="ignore", invalid="ignore"):
            for part, columns in self._parts():
                origin = np.array(columns[:, origin_row])
                sums, squares = _sums(columns, weight, origin)
                offset = sums / weight.sum()
                mean[part] = origin + offset
                spread[part] = np.maximum(squares - sums * offset, 0.0)
        return Moments(mean, spread)

    @override
    def require_finite(self) -> None:
        for part, columns in self._parts():
            bad = np.argwhere(~np.isfinite(columns))
            if len(bad):
                column, row = (int(place) for place in bad[0])
                value, place = columns[column, row], (row, part.start + column)
                raise ValueError(f"X must be finite, got {value} at position {place}")

    @override
    def largest_entries(self, elements: IndexArray) -> FloatArray:
        return np.array([np.abs(self._read(slice(e, e + 1))).max() for e in elements])

    @override
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        lowest, highest = np.empty(self.n_features), np.empty(self.n_features)
        for part, columns in self._parts():
            lowest[part], highest[part] = columns.min(axis=1), columns.max(axis=1)
        return lowest, highest

    @override
    def weighted_squares(self, weight: FloatArray, origin: FloatArray) -> FloatArray:
        squares = np.empty(self.n_features)
        for part, columns in self._parts():
            squares[part] = _sums(columns, weight, origin[part])[1]
        return squares

    @override
    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        left = self.columns(first)
        right = left if first is second else self.columns(second)
        return (left * weight) @ right.T


def _sums(columns: FloatArray, weight: FloatArray, origin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Σ w (x − origin) and Σ w (x − origin)² for columns, given one per row."""
    sums, squares = np.empty(len(columns)), np.empty(len(columns))
    moments.by_columns(columns, weight, origin, 0, len(columns), sums, squares)
    return sums, squares


def open_npy(file: str | PathLike[str], name: str = "X") -> Any:
    """Return a memory-mapped array by the name of its file, or raise an error with an alternative.

    >>> open_npy("data.csv")
    Traceback (most recent call last):
    ValueError: X must be the name of a .npy file, got 'data.csv'; for CSV or Parquet give a Dask frame, ...
    """
    path = Path(file).expanduser()
    if path.suffix != ".npy":
        raise ValueError(
            f"{name} must be the name of a .npy file, got {str(file)!r}; for CSV or Parquet give a Dask "
            "frame, as in dask.dataframe.read_parquet(name)"
        )
    try:
        return np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise
    except (ValueError, EOFError, OSError) as error:
        # For files that are not arrays, numpy advises to unpickle them.
        why = "it does not begin as such files do" if "pickle" in str(error) else error
        raise ValueError(
            f"{name} must be a .npy file of numbers, but {str(file)!r} cannot be read: {why}"
        ) from None
