"""What linear models are given: columns, weights, groups of columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_matrix, as_vector

# Entries within these bounds have squares, and products of squares, that stay finite and positive.
SMALLEST, LARGEST = 1e-70, 1e70

# A column whose mean is this small, relative to its largest entry, is centred but for rounding.
CENTRED = 1e-12


def read_columns(X: ArrayLike) -> FloatArray:
    """Return the columns of a matrix, one a row."""
    matrix = as_matrix(X, "X")
    if 0 in matrix.shape:
        raise ValueError(f"X must have at least one sample and one feature, got shape {matrix.shape}")
    columns = np.ascontiguousarray(matrix.T)
    require_scale(largest_entries(columns), "column {} of X")
    return columns


def largest_entries(columns: FloatArray) -> FloatArray:
    """Return the largest absolute value in every column, given one a row."""
    return np.maximum(columns.max(axis=1), -columns.min(axis=1))


def centred(columns: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the columns less their weighted means, and these; what is centred already stays as it is."""
    means = columns @ (weight / weight.sum())
    if (np.abs(means) <= CENTRED * largest_entries(columns)).all():
        return columns, np.zeros_like(means)
    return columns - means[:, None], means


def read_weight(sample_weight: ArrayLike | None, n_samples: int) -> FloatArray:
    """Return weights of the samples that sum to one."""
    if sample_weight is None:
        return np.full(n_samples, 1.0 / n_samples)
    weight = as_vector(sample_weight, n_samples, "sample_weight", non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight must have a positive entry, got zeros only")
    return weight / weight.sum()


def read_groups(
    groups: Iterable[Hashable] | None, n_features: int
) -> tuple[IndexArray, IndexArray, list[Hashable] | None]:
    """Return where each group begins, the columns group by group, and the labels in order of appearance."""
    if groups is None:
        return np.arange(n_features + 1), np.arange(n_features), None
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise TypeError(f"groups must hold one label for each column, got {groups!r}")
    number: dict[Hashable, int] = {}
    codes = np.array([number.setdefault(label, len(number)) for label in groups], dtype=np.intp)
    if len(codes) != n_features:
        raise ValueError(f"groups must hold one label for each of the {n_features} columns, got {len(codes)}")
    sizes = np.bincount(codes, minlength=len(number))
    return np.append(0, np.cumsum(sizes)).astype(np.intp), np.argsort(codes, kind="stable"), list(number)


def require_scale(
    sizes: FloatArray, name: str, largest_entries: Callable[[IndexArray], FloatArray] | None = None
) -> None:
    """Refuse numbers whose squares leave floating point; squares that have left it count as too large.

    ``sizes`` are largest entries, or root mean squares if ``largest_entries`` tells those.
    """
    outside = np.flatnonzero(~((sizes > SMALLEST) & (sizes < LARGEST)))
    if not len(outside):
        return
    largest = sizes[outside] if largest_entries is None else largest_entries(outside)
    for column, size in zip(outside, largest, strict=True):
        if size != 0 and not SMALLEST <= size <= LARGEST:
            raise ValueError(
                f"{name.format(column)} has entries of size {size:.3g}, whose squares leave floating point; "
                f"rescale it to between {SMALLEST:g} and {LARGEST:g}"
            )
