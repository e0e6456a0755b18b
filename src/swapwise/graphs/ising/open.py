"""Spins and weights as users give them, and the one place where it is decided how they are kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, as_matrix, as_weights, require_finite, some_of, warn
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ColumnFile
from swapwise.data.open import by_rows, is_chunked, is_mapped
from swapwise.graphs.ising.model import IsingModel
from swapwise.graphs.ising.samples import Samples
from swapwise.graphs.ising.spin_data import SpinData

# Fewer samples are gone through faster than their patterns are counted.
FEWEST_COUNTED = 2000

# By this many rows of a file it is decided whether it holds two values.
FIRST_ROWS = 1000


class CheckedSamples(NamedTuple):
    """Samples of positive weight with an observed entry, their weights, and the completed samples."""

    samples: FloatArray
    weight: FloatArray | None
    completed: FloatArray | None


def open_spins(
    spins: Any, ridge: Any, fields: Any, edges: Any, sample_weight: Any = None, completed: Any = None
) -> SpinData:
    """Return the samples in the storage that suits them: chunks, counts of patterns, or an array.

    All arguments are checked before data in chunks are read.
    """
    if are_chunks(spins):
        from swapwise.graphs.ising.counts import PatternCounts

        if completed is not None:
            raise ValueError("completed must be None for spins in chunks, of which none may be missing")
        matrix = by_rows(spins)
        model = IsingModel.read(matrix.n_features, ridge, fields, edges)
        return PatternCounts(model, matrix, read_weight(sample_weight, matrix.n_samples))
    samples, weight, seen = read_spins(spins, sample_weight, completed)
    model = IsingModel.read(samples.shape[1], ridge, fields, edges)
    if not is_worth_counting(samples):
        return Samples(model, samples, weight, seen)
    from swapwise.graphs.ising.counts import CountedSamples

    return CountedSamples(model, samples, weight)


def are_chunks(X: Any) -> bool:
    """Return whether X is read in chunks: a file is not if its first rows have others than -1, 0 and 1.

    Missing entries make no difference here, as data in chunks are refused wherever they have one.
    """
    if is_mapped(X):
        first = X[:FIRST_ROWS]
        return X.ndim == 2 and bool((np.isin(first, (-1, 0, 1)) | np.isnan(first)).all())
    return is_chunked(X) or isinstance(X, (ChunkedMatrix, ColumnFile))


def is_worth_counting(samples: FloatArray) -> bool:
    return len(samples) >= FEWEST_COUNTED and bool((np.abs(samples) == 1).all())


def read_spins(
    spins: Any, sample_weight: ArrayLike | None = None, completed: ArrayLike | None = None
) -> CheckedSamples:
    """Return checked samples in memory, in which NaN is missing.

    Samples of weight 0, and those of which everything is missing, are left out after the checks, since what
    some samples hold does not tell how the data are coded.
    """
    if np.asarray(spins).dtype == bool:
        raise ValueError("spins must be -1 and +1, got True and False; convert with 2.0 * spins - 1")
    matrix = as_matrix(spins, "spins", finite=False)
    missing = np.isnan(matrix)
    require_finite(np.where(missing, 0.0, matrix) if missing.any() else matrix, "spins")
    if 0 in matrix.shape:
        raise ValueError(f"spins must have at least one sample and one vertex, got shape {matrix.shape}")
    for column, values in enumerate(matrix.T):
        _check_column(column, values[~missing[:, column]])
    if not (matrix[~missing] if missing.any() else matrix).any():
        raise ValueError("spins must be -1 and +1, got nothing but 0 or missing values")
    weight = read_weight(sample_weight, len(matrix))
    counts = ~missing.all(axis=1) if weight is None else (weight > 0) & ~missing.all(axis=1)
    seen = read_completed(completed, matrix)
    if not counts.all():
        matrix, missing = matrix[counts], missing[counts]
        seen = None if seen is None else seen[counts]
        weight = None if weight is None else weight[counts]
    _check_observed(missing)
    return CheckedSamples(matrix, weight, seen)


def read_completed(completed: ArrayLike | None, matrix: FloatArray) -> FloatArray | None:
    if completed is None:
        return None
    seen = as_matrix(completed, "completed")
    if seen.shape != matrix.shape:
        raise ValueError(f"completed must have the shape of the samples, {matrix.shape}, got {seen.shape}")
    others = np.argwhere(~np.isnan(matrix) & (seen != matrix))
    if len(others):
        place = tuple(others[0].tolist())
        raise ValueError(
            f"completed must hold what was observed as it is, got {seen[place]:g} for {matrix[place]:g} at "
            f"position {place}"
        )
    return seen


def _check_observed(missing: BoolArray) -> None:
    if not len(missing):
        raise ValueError("spins must have an observed entry in a sample of positive weight, got none")
    unknown = np.flatnonzero(missing.all(axis=0)).tolist()
    if unknown:
        words = some_of([str(vertex) for vertex in unknown])
        warn(f"spins have nothing but missing values in columns of which nothing can be learnt: {words}")


def _check_column(column: int, values: FloatArray) -> None:
    """Refuse other codings of two values, and warn of numbers that may be one."""
    if not len(values):
        return
    low, high = float(values.min()), float(values.max())
    if low < high and low >= 0 and np.isin(values, (low, high)).all():
        raise ValueError(
            f"spins must be -1 and +1, got {low:g} and {high:g} in column {column}; "
            f"convert with np.where(spins == {high:g}, 1.0, -1.0)"
        )
    if low < high and low * high > 0:
        warn(f"column {column} of spins never changes sign; is it meant to be -1 and +1?")


def read_weight(sample_weight: Any, n_samples: int) -> FloatArray | None:
    if sample_weight is None:
        return None
    return as_weights(sample_weight, n_samples)
