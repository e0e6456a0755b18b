"""Spins in chunks, as graph estimators are given them: their coding and their likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray
from swapwise.data.open import by_rows, is_chunked, is_mapped
from swapwise.data.reductions import Reduction
from swapwise.data.two_values import refuse_others
from swapwise.estimators.spins import Coding, Vertices, pseudo_log_likelihood, warn_of_constants
from swapwise.objectives.ising import IsingPseudoLikelihood
from swapwise.objectives.ising_works import ROWS_AT_ONCE
from swapwise.objectives.streamed_ising import StreamedIsing


def require_memory(X: Any, who: str) -> None:
    """Refuse data in chunks, unless they are a file, which can be read as any array.

    >>> import dask.array as da
    >>> require_memory(da.ones((2, 2)), "certify")
    Traceback (most recent call last):
    TypeError: certify needs data in memory, got data in chunks (Array); IsingGraph's fit and score take those
    """
    if is_chunked(X) and not is_mapped(X):
        raise TypeError(
            f"{who} needs data in memory, got data in chunks ({type(X).__name__}); "
            "IsingGraph's fit and score take those"
        )


def coding_of_chunks(X: Any, objective: IsingPseudoLikelihood, vertices: Vertices) -> Coding:
    """Return how data in chunks are coded, by what the objective saw, and warn of columns that never vary.

    >>> import dask.array as da
    >>> X = da.from_array(np.array([[True, False], [False, True]]))
    >>> coding_of_chunks(X, IsingPseudoLikelihood(X), Vertices(2))
    Coding(low=0, high=1, dtype=dtype('bool'))
    """
    assert isinstance(objective, StreamedIsing)
    # Only the share of +1 in a column that never varies is a whole number.
    warn_of_constants(np.stack([objective.share_up, objective.share_up.round()]), vertices)
    dtypes = X.dtypes if hasattr(X, "dtypes") else [X.dtype]
    is_boolean = all(dtype.kind == "b" for dtype in dtypes)
    return Coding(objective.low, 1, np.dtype(bool if is_boolean else int))


def mean_over_chunks(X: Any, coding: Coding | None, coupling: FloatArray, field: FloatArray) -> float:
    """Return the mean of :func:`pseudo_log_likelihood` over data in chunks: one pass.

    >>> import dask.array as da
    >>> X = da.from_array(np.array([[0, 1], [1, 1]]))
    >>> round(mean_over_chunks(X, Coding(0, 1, np.dtype(int)), np.zeros((2, 2)), np.zeros(2)), 6)
    -1.386294
    """
    if coding is None:
        raise TypeError(
            "data in chunks must be of two values, but fit was given real numbers; give X as an array"
        )
    matrix = by_rows(X)
    total, n_others = matrix.reduce(_LikelihoodSum(coding.low, coupling, field))
    if n_others:
        refuse_others(matrix, coding.low, f"must hold {coding.low} and 1, as the data of fit did")
    return float(total / matrix.n_samples)


@dataclass(frozen=True)
class _LikelihoodSum(Reduction):
    low: int
    coupling: FloatArray
    field: FloatArray

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Return the sum over the samples, and how many entries are neither of the two values."""
        total = 0.0
        for begin in range(0, len(block), ROWS_AT_ONCE):
            spins = np.where(block[begin : begin + ROWS_AT_ONCE] == 1, 1.0, -1.0)
            total += float(pseudo_log_likelihood(spins, self.coupling, self.field).sum())
        return total, int(((block != self.low) & (block != 1)).sum())
