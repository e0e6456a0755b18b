"""Cases behind the rows of a table, drawn as counts of the rows, so that no row has to be copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, as_vector


@dataclass(frozen=True, eq=False)
class Cases:
    """How many cases each row stands for, and how much one case of it weighs.

    Whole numbers as ``sample_weight`` are counts of cases that look the same, and cases are what is drawn.
    With other weights each row is one case, which keeps its weight whenever it is drawn.

    >>> Cases.read([3, 0, 1], 3).counts, Cases.read([0.5, 0.0, 2.0], 3).counts
    (array([3, 0, 1]), array([1, 0, 1]))
    """

    counts: np.ndarray[Any, np.dtype[np.int64]]
    weight: FloatArray

    @classmethod
    def read(cls, sample_weight: Any, n_rows: int, name: str = "sample_weight") -> Cases:
        """Return the cases behind ``n_rows`` rows; without weights each row is one."""
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
        """The number of cases."""
        return int(self.counts.sum())

    def resampled(self, seed: int) -> list[FloatArray]:
        """Return how often each row is among as many cases as there are, drawn with replacement.

        >>> Cases.read([2, 0, 2], 3).resampled(0)
        [array([2., 0., 2.])]
        """
        rng = np.random.default_rng(seed)
        return [rng.multinomial(self.total, self.counts / self.total).astype(np.float64)]

    def subset(self, seed: int, size: int) -> list[FloatArray]:
        """Return how often each row is among ``size`` cases, drawn without replacement.

        >>> Cases.read([2, 0, 2], 3).subset(0, 3)[0].sum()
        np.float64(3.0)
        """
        rng = np.random.default_rng(seed)
        if self.counts.max() == 1:
            drawn = np.zeros(len(self.counts))
            drawn[rng.choice(np.flatnonzero(self.counts), size, replace=False)] = 1.0
            return [drawn]
        return [rng.multivariate_hypergeometric(self.counts, size, method="marginals").astype(np.float64)]

    def split(self, seed: int, size: int) -> list[FloatArray]:
        """Return the same for a random group of ``size`` cases, and for that of all others.

        >>> first, second = Cases.read([2, 0, 2], 3).split(0, 1)
        >>> first + second
        array([2., 0., 2.])
        """
        (first,) = self.subset(seed, size)
        return [first, self.counts - first]
