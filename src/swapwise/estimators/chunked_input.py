"""What estimators are given block by block: files, Dask arrays and frames."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from swapwise.data.dask_blocks import is_dask
from swapwise.data.matrix import Matrix
from swapwise.data.open import open_matrix


def open_chunks(estimator: Any, X: Any, *, reset: bool) -> Matrix:
    """Return access to data in blocks, and see to it that features are those that the estimator knows."""
    if isinstance(X, (str, PathLike)):
        X = np.load(X, mmap_mode="r")
    # An empty frame with the same columns tells all that there is to know of a frame before it is read.
    told = X._meta if hasattr(X, "to_dask_array") else X
    matrix = open_matrix(X)
    validate_data(estimator, told, skip_check_array=True, reset=reset)
    return matrix


def read_target(y: Any, n_samples: int) -> Any:
    """Return the target of data in blocks, which is small enough to be here."""
    if y is None:
        raise ValueError("y must be given: it is what the features are to explain")
    target = column_or_1d(y.compute() if is_dask(y) else y, warn=True)
    check_consistent_length(np.empty(n_samples), target)
    return target
