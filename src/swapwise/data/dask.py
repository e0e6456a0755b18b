"""Chunks of a Dask array or frame: reductions run where the chunks are."""

from __future__ import annotations

import sys
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import IndexArray, warn
from swapwise.data.chunked import Chunks, as_chunk
from swapwise.data.mapped import room_for
from swapwise.data.matrix import require_real, require_two_dimensions
from swapwise.data.reductions import Reduction, merged
from swapwise.events import notify
from swapwise.override import override

# Answers that are merged at a time, on the way to a single one.
FAN_IN = 8

# Vectors whose parts stay with a cluster: target, weights and the like.
MOST_KEPT = 6

# Bytes of files that a task graph may hold without a warning.
MOST_SENT = 100_000_000


class DaskChunks(Chunks):
    """The row chunks of a Dask array, or the partitions of a Dask frame.

    Every reduction is one task graph whose answers are merged as a tree; only the last one comes to this
    process. It runs on the cluster that a ``dask.distributed.Client`` of this process is connected to, or
    else on threads.
    """

    def __init__(self, X: Any) -> None:
        array = as_array(X)
        if np.isnan(array.shape).any():  # rows are counted by reading them
            array, self.passes_to_open = array.compute_chunk_sizes(), 1
        if array.numblocks[1] > 1:
            array = array.rechunk({1: -1})
        self._array = array
        _warn_of_files(array)
        self.n_samples, self.n_features = map(int, array.shape)
        self.stored_as_float32 = array.dtype == np.float32
        self._bounds = np.append(0, np.cumsum(array.chunks[0])).astype(int).tolist()
        self._chunks = array.to_delayed().ravel().tolist()
        self._sent: dict[Any, tuple[NDArray[Any], list[Any]]] = {}

    @override
    def reduce(self, reduction: Reduction, *rows: NDArray[Any]) -> Any:
        from dask import delayed

        sent = delayed(reduction, traverse=False)  # one copy for every worker, not for every chunk
        do, merge = delayed(_reduced, traverse=False), delayed(merged)
        parts = list(zip(*map(self._parts_of, rows), strict=True)) or [()] * len(self._chunks)
        answers = [
            do(chunk, sent, number, begin, end, self.n_features, *parts[number])
            for number, (chunk, (begin, end)) in enumerate(
                zip(self._chunks, pairwise(self._bounds), strict=True)
            )
            if end > begin
        ]
        while len(answers) > 1:
            groups = [answers[first : first + FAN_IN] for first in range(0, len(answers), FAN_IN)]
            answers = [merge(sent, group) for group in groups]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            answer = answers[0].compute()
        notify(share=1.0)
        return answer

    def _parts_of(self, values: NDArray[Any]) -> list[Any]:
        """Return the part for every chunk of an array with one number per sample, sent to a cluster once.

        They are tasks and not scattered, so that those of a lost worker can be made again.
        """
        key = (values.ctypes.data, values.shape, values.strides, values.dtype.str)
        if key not in self._sent:
            parts = [values[..., begin:end] for begin, end in pairwise(self._bounds)]
            if not _has_cluster():
                return parts
            from dask import delayed, persist

            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sending large graph")
                lazy = persist(*(delayed(part, traverse=False) for part in parts))
            if len(self._sent) == MOST_KEPT:
                self._sent.pop(next(iter(self._sent)))
            # With a reference to the values, no other array gets their address, which is the key.
            self._sent[key] = values, list(lazy)
        return self._sent[key][1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_sent": {}}  # it can be sent again

    @override
    def restricted(self, elements: IndexArray) -> Chunks:
        some = self._array[:, elements]
        if _has_cluster():
            return DaskChunks(some.persist())
        from dask.array import store

        kept = room_for(self.n_samples, len(elements))
        store(some, kept.array, lock=False)
        kept.let_go()
        return kept

    @override
    def place_of(self, sample: int) -> str:
        number = int(np.searchsorted(self._bounds, sample, side="right")) - 1
        return f", in chunk {number} (rows {self._bounds[number]} to {self._bounds[number + 1] - 1})"

    @override
    def take(self, rows: IndexArray) -> Chunks:
        return DaskChunks(self._array[np.sort(rows)])


def _has_cluster() -> bool:
    if "distributed" not in sys.modules:
        return False
    from distributed import default_client

    try:
        default_client()
    except ValueError:
        return False
    return True


def _warn_of_files(array: Any) -> None:
    """Warn if a large memory-mapped file would be sent to the workers of a cluster as a whole."""
    if not _has_cluster():
        return
    sizes = [value.nbytes for value in dict(array.dask).values() if isinstance(value, np.memmap)]
    if sum(sizes) > MOST_SENT:
        warn(
            f"X is made of a memory-mapped file of {sum(sizes) / 1e6:.0f} MB, which Dask sends through the "
            "scheduler as a whole: let workers read their own rows, as in dask.array.from_delayed"
        )


def _reduced(
    chunk: Any, reduction: Reduction, number: int, begin: int, end: int, n_features: int, *rows: NDArray[Any]
) -> Any:
    return reduction(as_chunk(chunk, number, begin, end, n_features), *rows)


def as_array(X: Any) -> Any:
    """Return an array of numbers, whose chunks may be of unknown lengths."""
    if hasattr(X, "to_dask_array"):
        _refuse_text(X)
        kinds = {getattr(dtype, "kind", "O") for dtype in X.dtypes}
        # Columns of different kinds have no type in common but that of objects.
        is_uniform = len(kinds) == 1 and all(isinstance(dtype, np.dtype) for dtype in X.dtypes)
        return (X if is_uniform else X.astype("float64")).to_dask_array()
    require_two_dimensions(X.shape)
    require_real(X.dtype)
    return X


def _refuse_text(frame: Any) -> None:
    if not hasattr(frame, "columns") or frame.ndim != 2:
        raise TypeError(f"X must be a frame with features as columns, got {type(frame).__name__}")
    for name, dtype in frame.dtypes.items():
        if getattr(dtype, "kind", "O") not in "biuf":
            raise TypeError(f"X must hold real numbers, got values of type {dtype} in column {name!r}")
