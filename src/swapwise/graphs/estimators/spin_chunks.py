"""Spins in chunks, as graph estimators are given them: their coding and their likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray
from swapwise.data.open import by_rows, is_chunked, is_mapped
from swapwise.data.reductions import Reduction
from swapwise.graphs.estimators.spins import pseudo_log_likelihood
from swapwise.graphs.estimators.two_values import SpinCoding
from swapwise.graphs.estimators.vertices import Vertices, warn_of_constants
from swapwise.graphs.ising import IsingPseudoLikelihood
from swapwise.graphs.ising.counts import PatternCounts, refuse_others
from swapwise.graphs.ising.open import read_weight
from swapwise.graphs.ising.reductions import ROWS_AT_ONCE, with_weight
from swapwise.override import override


def require_memory(X: Any, caller: str) -> None:
    """Refuse data in chunks, unless they are a file, which can be read as an array."""
    if is_chunked(X) and not is_mapped(X):
        raise TypeError(
            f"{caller} needs data in memory, got data in chunks ({type(X).__name__}); "
            "IsingGraph's fit and score take those"
        )


def coding_of_chunks(X: Any, objective: IsingPseudoLikelihood, vertices: Vertices) -> SpinCoding:
    """Return the coding of data in chunks, by the counts of the objective, and warn of constant columns."""
    counts = objective.data
    assert isinstance(counts, PatternCounts)
    # Only the share of +1 in a column that never varies is a whole number.
    warn_of_constants(np.stack([counts.share_up, counts.share_up.round()]), vertices)
    dtypes = X.dtypes if hasattr(X, "dtypes") else [X.dtype]
    is_boolean = all(dtype.kind == "b" for dtype in dtypes)
    low, high = (np.full(vertices.n, value) for value in (counts.low, 1))
    return SpinCoding(low, high, np.dtype(bool if is_boolean else int))


def mean_over_chunks(
    X: Any, coding: SpinCoding | None, coupling: FloatArray, field: FloatArray, sample_weight: Any = None
) -> float:
    """Return the weighted mean of :func:`pseudo_log_likelihood` over data in chunks: one pass."""
    if coding is None:
        raise TypeError(
            "data in chunks must be of two values, but fit was given real numbers; give X as an array"
        )
    low = _low_of_all(coding)
    matrix = by_rows(X)
    weight = read_weight(sample_weight, matrix.n_samples)
    rows = () if weight is None else (weight,)
    total, n_others = matrix.reduce(_LikelihoodSum(low, coupling, field), *rows)
    if n_others:
        refuse_others(matrix, low, f"must hold {low} and 1, as the training data did", weight)
    return float(total / (matrix.n_samples if weight is None else weight.sum()))


def _low_of_all(coding: SpinCoding) -> int:
    """Return the value beside 1, the same for all columns, or refuse other pairs."""
    low = coding.low.tolist()
    if not (coding.high.tolist() == [1] * len(low) and low in ([0] * len(low), [-1] * len(low))):
        raise TypeError(
            "data in chunks must hold 0 and 1, booleans, or -1 and +1, but fit was given other values; give "
            "X as an array or frame in memory"
        )
    return int(low[0])


@dataclass(frozen=True)
class _LikelihoodSum(Reduction):
    low: int
    coupling: FloatArray
    field: FloatArray

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        chunk, weight = with_weight(chunk, rows)
        total = 0.0
        for begin in range(0, len(chunk), ROWS_AT_ONCE):
            part = slice(begin, begin + ROWS_AT_ONCE)
            spins = np.where(chunk[part] == 1, 1.0, -1.0)
            terms = pseudo_log_likelihood(spins, self.coupling, self.field)
            total += float(terms.sum() if weight is None else terms @ weight[part])
        return total, int(((chunk != self.low) & (chunk != 1)).sum())
