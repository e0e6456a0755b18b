"""Cases behind the rows of a table, drawn as counts of the rows, so that no row has to be copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, as_vector


@dataclass(frozen=True, eq=False)
class CaseCounts:
    """How many cases each row stands for, and how much one case of it weighs.

    Whole numbers as ``sample_weight`` are counts of equal cases, which are drawn one by one.
    With other weights each row is one case, which keeps its weight whenever it is drawn.
    """

    counts: np.ndarray[Any, np.dtype[np.int64]]
    weight: FloatArray

    @classmethod
    def read(cls, sample_weight: Any, n_rows: int, name: str = "sample_weight") -> CaseCounts:
        if sample_weight is None:
            return cls(np.ones(n_rows, dtype=np.int64), np.ones(n_rows))
        given = as_vector(sample_weight, n_rows, name, non_negative=True)
        if not given.any():
            raise ValueError(f"{name} must have a positive entry, got zeros only")
        if not (given % 1).any():
            return cls(given.astype(np.int64), np.ones(n_rows))
        return cls((given > 0).astype(np.int64), given)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def resampled(self, seed: int) -> list[FloatArray]:
        """Return how often each row is among ``total`` cases, drawn with replacement."""
        rng = np.random.default_rng(seed)
        return [rng.multinomial(self.total, self.counts / self.total).astype(np.float64)]

    def subset(self, seed: int, size: int) -> list[FloatArray]:
        """Return how often each row is among ``size`` cases, drawn without replacement."""
        rng = np.random.default_rng(seed)
        if self.counts.max() == 1:
            drawn = np.zeros(len(self.counts))
            drawn[rng.choice(np.flatnonzero(self.counts), size, replace=False)] = 1.0
            return [drawn]
        return [rng.multivariate_hypergeometric(self.counts, size, method="marginals").astype(np.float64)]

    def split(self, seed: int, size: int) -> list[FloatArray]:
        """Return the counts of rows in a random group of ``size`` cases, and in that of all others."""
        (first,) = self.subset(seed, size)
        return [first, self.counts - first]
