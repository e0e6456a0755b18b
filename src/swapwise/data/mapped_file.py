"""A matrix in a file that is mapped to memory: what was read is given back, and it travels by its name."""

from __future__ import annotations

import mmap
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class MappedFile:
    """A memory-mapped array, or a slice of one.

    >>> import pickle, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".npy") as file:
    ...     np.save(file, np.arange(6.0).reshape(3, 2))
    ...     file.flush()
    ...     part = MappedFile(np.load(file.name, mmap_mode="r")[1:])
    ...     pickle.loads(pickle.dumps(part)).array
    memmap([[2., 3.],
            [4., 5.]])
    """

    def __init__(self, array: np.memmap[Any, Any]) -> None:
        self.array: Any = array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        shape: tuple[int, ...] = self.array.shape
        return shape

    def let_go(self) -> None:
        """Give the memory back that holds what was read.

        Pages that were read stay with the process until somebody needs the room, which looks as if it held
        the whole file. The system may keep them in its own cache.
        """
        if hasattr(mmap, "MADV_DONTNEED"):  # not everywhere
            self.array._mmap.madvise(mmap.MADV_DONTNEED)

    def offset(self) -> int:
        """Return where in its file the array begins."""
        mapped: NDArray[np.uint8] = np.frombuffer(self.array._mmap, dtype=np.uint8)
        first = self.array.offset - self.array.offset % mmap.ALLOCATIONGRANULARITY
        return int(first + self.array.ctypes.data - mapped.ctypes.data)

    def __getstate__(self) -> dict[str, Any]:
        """Return where the numbers are, not what they are."""
        array = self.array
        if array.filename is None:
            raise TypeError("a file without a name cannot be opened elsewhere")
        place = {"filename": array.filename, "dtype": array.dtype, "offset": self.offset()}
        return place | {"shape": array.shape, "strides": array.strides}

    def __setstate__(self, place: dict[str, Any]) -> None:
        """Open the file again."""
        shape, strides, dtype = place["shape"], place["strides"], place["dtype"]
        reach = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
        before = -sum(way for way in reach if way < 0)  # an array that was turned round ends where it begins
        count = (before + sum(way for way in reach if way > 0)) // dtype.itemsize + 1
        flat = np.memmap(place["filename"], dtype, "r", place["offset"] - before, (count,))
        first = flat[before // dtype.itemsize :]
        self.array = np.lib.stride_tricks.as_strided(first, shape, strides, subok=True, writeable=False)


def open_npy(file: str | PathLike[str], name: str = "X") -> Any:
    """Return a memory-mapped array by the name of its file, or say what is wrong with that.

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
        # What numpy says of files that are no arrays is how to run what is in them.
        why = "it does not begin as such files do" if "pickle" in str(error) else error
        raise ValueError(
            f"{name} must be a .npy file of numbers, but {str(file)!r} cannot be read: {why}"
        ) from None
