"""A regression of any size, made block by block from a seed, in a ``.npy`` file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray

# Columns come in families that share a factor, as sensors of one site do.
FAMILY = 100

ROWS_AT_ONCE = 1250


class Truth(NamedTuple):
    """What the target was made of."""

    support: IndexArray
    coef: FloatArray


def labels(n_features: int, n_groups: int) -> IndexArray:
    """Return the group of every column: columns next to each other are in different groups."""
    return np.arange(n_features) % n_groups


def truth(n_features: int, size: int) -> Truth:
    """Return columns and coefficients; two of every group, for ``size / 2`` groups."""
    rng = np.random.default_rng(1)
    groups = labels(n_features, size // 2)
    support = [rng.choice(np.flatnonzero(groups == group), 2, replace=False) for group in range(size // 2)]
    signs = rng.choice([-1.0, 1.0], size)
    return Truth(np.sort(np.concatenate(support)), signs * rng.uniform(0.2, 1.0, size))


def write(path: Path, n_samples: int, n_features: int, size: int) -> FloatArray:
    """Write the matrix to a file and return the target: as much noise as signal."""
    known = truth(n_features, size)
    matrix = np.lib.format.open_memmap(path, "w+", np.float64, (n_samples, n_features))
    signal = np.empty(n_samples)
    for begin in range(0, n_samples, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, n_samples)
        block = _block(begin, end - begin, n_features)
        matrix[begin:end] = block
        signal[begin:end] = block[:, known.support] @ known.coef
    matrix.flush()
    return signal + np.random.default_rng(2).standard_normal(n_samples) * signal.std()


def _block(begin: int, rows: int, n_features: int) -> FloatArray:
    rng = np.random.default_rng([0, begin])
    own = rng.standard_normal((rows, n_features))
    shared = rng.standard_normal((rows, -(-n_features // FAMILY)))
    return 0.8 * own + 0.6 * np.repeat(shared, FAMILY, axis=1)[:, :n_features]
