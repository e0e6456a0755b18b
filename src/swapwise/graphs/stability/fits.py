"""Many fits of one graph estimator to one table, in which rows are there more or less often each time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from swapwise.checks import FloatArray, as_count, unwarned, warn
from swapwise.data.open import is_chunked, is_mapped, opened
from swapwise.graphs.stability.cases import CaseCounts
from swapwise.graphs.stability.tables import upper_triangle
from swapwise.search.restarts import results_so_far
from swapwise.search.result import Status

# Fits per job of joblib: handing over a job takes less than a millisecond per fit, and an interrupt loses
# few.
BATCH = 8

#: From a seed, and maybe more, to one or more vectors of counts of the rows.
Draw = Callable[..., list[FloatArray]]


@dataclass(frozen=True, eq=False)
class GraphRefits:
    """A model that is not fitted, its table in memory, and the cases behind the rows."""

    model: Any
    X: Any
    cases: CaseCounts

    @classmethod
    def read(cls, model: Any, X: Any, sample_weight: Any) -> GraphRefits:
        unfitted, table = _unfitted(model), read_table(X)
        cases = CaseCounts.read(sample_weight, table.shape[0])
        if (cases.weight != 1).any() and not _takes_weights(unfitted):
            raise TypeError(
                "sample_weight must be None or whole numbers for a model whose fit takes no sample_weight, "
                f"got others for {unfitted!r}"
            )
        return cls(unfitted, table, cases)

    def fitted(self, counts: NDArray[Any]) -> Any:
        """Return the model after a fit in which row i is there ``counts[i]`` times."""
        # Workers of joblib find large arrays in a file, which estimators would read in chunks.
        X = np.asarray(self.X) if isinstance(self.X, np.memmap) else self.X
        model, weight = clone(self.model), self.cases.weight
        if _takes_weights(model) and ((weight == 1).all() or counts.max() <= 1):
            total = counts * weight
            model.fit(X, sample_weight=None if (total == 1).all() else total)
        else:
            # A row that is there twice is no row of twice the weight if weights are no counts.
            rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
            some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
            model.fit(some, **({"sample_weight": weight[rows]} if _takes_weights(model) else {}))
        last = last_step(model)
        if not hasattr(last, "adjacency_"):
            raise TypeError(
                "model must be a graph estimator, which has adjacency_ once it is fitted, such as "
                f"IsingGraph; got {model!r}"
            )
        return last

    def names(self, fitted: Any) -> list[Hashable]:
        n_vertices = len(fitted.adjacency_)
        if n_vertices < 2:
            raise ValueError(f"X must have at least two columns, got {n_vertices}")
        if hasattr(fitted, "feature_names_in_"):
            return [str(name) for name in fitted.feature_names_in_]
        columns = list(getattr(self.X, "columns", []))
        named = len(columns) == n_vertices and all(isinstance(name, str) for name in columns)
        return columns if named else list(range(n_vertices))

    def repeated(
        self, draw: Draw, arguments: Sequence[tuple[Any, ...]], *, what: str, n_jobs: Any, progress: bool
    ) -> tuple[FloatArray, bool]:
        """Return the weights of all pairs in each fit, and whether the fits were interrupted.

        There is one draw per tuple of arguments and one fit per vector of counts that it returns: the answer
        has the shape (draws, vectors, pairs), and depends on the arguments alone.
        """
        batches = [arguments[begin : begin + BATCH] for begin in range(0, len(arguments), BATCH)]
        jobs = [delayed(_batch)(self, draw, batch) for batch in batches]
        found, interrupted = results_so_far(jobs, here=False, n_jobs=n_jobs, progress=progress, what=what)
        if interrupted:
            if not found:
                raise KeyboardInterrupt
            done = sum(len(each) for each in found)
            warn(f"{what} was interrupted after {done} of {len(arguments)} draws", ConvergenceWarning)
        return np.concatenate(found), interrupted


def _batch(fits: GraphRefits, draw: Draw, arguments: Sequence[tuple[Any, ...]]) -> FloatArray:
    with unwarned():  # the fit to the whole sample has given all warnings
        return np.array([[_weights(fits, each) for each in draw(*given)] for given in arguments])


def _weights(fits: GraphRefits, counts: FloatArray) -> FloatArray:
    fitted = fits.fitted(counts)
    if getattr(getattr(fitted, "result_", None), "status", None) == Status.INTERRUPTED:
        raise KeyboardInterrupt  # the estimator has the best graph so far, which is not that of this sample
    return upper_triangle(fitted.adjacency_)


def seeds(rng: np.random.Generator, count: Any, name: str) -> list[int]:
    number = as_count(count, name)
    if not number:
        raise ValueError(f"{name} must be at least 1, got 0")
    drawn: list[int] = rng.integers(2**63, size=number).tolist()
    return drawn


def last_step(model: Any) -> Any:
    steps = getattr(model, "steps", None)
    return steps[-1][1] if isinstance(steps, list) else model


def _takes_weights(model: Any) -> bool:
    """Return whether ``fit`` takes counts of rows; with rank correlations it does not."""
    by_moments = getattr(model, "correlation", "pearson") == "pearson"
    return by_moments and bool(has_fit_parameter(model, "sample_weight"))


def _unfitted(model: Any) -> Any:
    expected = "model must be a graph estimator, such as IsingGraph"
    if isinstance(model, type):
        raise TypeError(f"{expected}, got a class; try {model.__name__}()")
    if not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise TypeError(f"{expected}, got {type(model).__name__}")
    if get_tags(model).target_tags.required:
        raise TypeError(f"{expected}, got {model!r}, which needs a target to learn from")
    unfitted = clone(model)
    bars = [name for name in unfitted.get_params() if name.split("__")[-1] == "progress"]
    return unfitted.set_params(**dict.fromkeys(bars, False))  # one bar is enough


def read_table(X: Any, name: str = "X") -> Any:
    X = opened(X, name)
    if is_chunked(X) and not is_mapped(X):
        raise TypeError(f"{name} must be in memory, got data in chunks ({type(X).__name__})")
    if hasattr(X, "tocsr"):
        return X.tocsr()
    table = X if isinstance(X, pd.DataFrame) else np.asarray(X)
    if table.ndim != 2:
        raise ValueError(
            f"{name} must be two-dimensional (rows are samples, columns vertices), got shape {table.shape}"
        )
    return table
