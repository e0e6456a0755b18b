"""Data in chunks as estimators read them: files, Dask arrays and frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d, validate_data

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.dask import as_array
from swapwise.data.matrix import Matrix
from swapwise.data.open import is_dask, open_matrix, opened


def open_chunks(estimator: Any, X: Any, *, reset: bool) -> Matrix:
    X = opened(X)
    matrix = open_matrix(X)
    check_features(estimator, X, reset=reset)
    if isinstance(matrix, ChunkedMatrix):
        matrix.names = getattr(estimator, "feature_names_in_", None)
    return matrix


def check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Set the number and names of the features of an estimator, or check them against these."""
    # An empty frame with the same columns has all that is known of a frame before it is read.
    validate_data(estimator, X._meta if is_frame(X) else X, skip_check_array=True, reset=reset)


def is_frame(X: Any) -> bool:
    return is_dask(X) and hasattr(X, "to_dask_array")


def some_columns(X: Any, elements: IndexArray) -> Any:
    """Return some columns of data in chunks: as lazy as these are, or in memory if they are in a file."""
    if is_frame(X):
        return X[X.columns[elements].tolist()]
    return X[:, elements] if is_dask(X) else open_matrix(X).columns(elements).T


def product_of_chunks(estimator: Any, X: Any, coef: FloatArray) -> FloatArray:
    """Return ``X coef`` for data in chunks, and one or several columns of coefficients."""
    X = opened(X)
    used = np.flatnonzero(coef.reshape(len(coef), -1).any(axis=1))
    if is_frame(X) and len(used):  # the rows of frames need not be counted, nor other columns be read
        check_features(estimator, X, reset=False)
        product: FloatArray = (as_array(some_columns(X, used)) @ coef[used]).compute()
    else:
        product = open_chunks(estimator, X, reset=False).combine(coef)
    if not np.isfinite(product).all():
        open_chunks(estimator, X, reset=False).require_finite()
    return product


def read_target(y: Any, n_samples: int | None = None) -> Any:
    """Return the target of data in chunks, in memory."""
    if y is None:
        raise ValueError("y must be given: it is what the features are to explain")
    y = opened(y, "y")
    target = column_or_1d(y.compute() if is_dask(y) else y, warn=True)
    if n_samples is not None and len(target) != n_samples:
        raise ValueError(f"y must have a value for each of the {n_samples} samples of X, got {len(target)}")
    return target
