"""Best subsets by going through all of them."""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

BATCH = 4000


def best_subset(
    X: NDArray[np.float64], y: NDArray[np.float64], size: int, labels: NDArray[np.intp], capacity: int
) -> tuple[float, list[int]]:
    """Return the largest R² of ``size`` columns with at most ``capacity`` of a label, and the columns.

    All sets of ``size − 2`` columns are completed by all pairs of later columns at once: what a pair adds
    follows from the Gram matrix with the first columns projected out.
    """
    gram, corr, total = X.T @ X, X.T @ y, float(y @ y)
    later = np.triu(np.ones((len(corr), len(corr)), dtype=bool), k=1)
    together = labels[:, None] == labels[None, :]
    best, chosen = -1.0, []
    firsts = (first for first in combinations(range(len(corr)), size - 2) if _fits(labels, first, capacity))
    while batch := list(islice(firsts, BATCH)):
        F = np.array(batch, dtype=np.intp).reshape(len(batch), size - 2)
        gains = _pairs(gram, corr, F)
        full = _full(labels, F, capacity)
        gains[~(later & (np.arange(len(corr))[:, None] > F.max(axis=1, initial=-1)[:, None, None]))] = -1
        gains[full[:, :, None] | full[:, None, :]] = -1
        almost = _full(labels, F, capacity - 1)
        gains[together & almost[:, :, None]] = -1
        where = np.unravel_index(int(np.argmax(gains)), gains.shape)
        if gains[where] / total > best:
            best = float(gains[where]) / total
            chosen = [*F[where[0]].tolist(), int(where[1]), int(where[2])]
    return best, chosen


def _fits(labels: NDArray[np.intp], first: tuple[int, ...], capacity: int) -> bool:
    return not first or int(np.bincount(labels[list(first)]).max()) <= capacity


def _full(labels: NDArray[np.intp], F: NDArray[np.intp], capacity: int) -> NDArray[np.bool_]:
    """Return which columns have a label of which a set has its fill."""
    same = labels[F][:, :, None] == labels[None, None, :]
    full: NDArray[np.bool_] = same.sum(axis=1) >= capacity
    return full


def _pairs(gram: NDArray[np.float64], corr: NDArray[np.float64], F: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return what each set of columns explains together with each pair of columns."""
    inner = np.linalg.inv(gram[F[:, :, None], F[:, None, :]])
    across = gram[F]
    rest = gram - np.swapaxes(across, 1, 2) @ inner @ across
    weights = np.einsum("bij,bj->bi", inner, corr[F])
    left = corr - np.einsum("bi,bij->bj", weights, across)
    own = np.einsum("bii->bi", rest)
    determinant = own[:, :, None] * own[:, None, :] - rest**2
    determinant[determinant <= 1e-12 * own[:, :, None] * own[:, None, :]] = np.inf
    numerator = left[:, :, None] ** 2 * own[:, None, :] + left[:, None, :] ** 2 * own[:, :, None]
    numerator -= 2 * rest * left[:, :, None] * left[:, None, :]
    gains: NDArray[np.float64] = (
        np.einsum("bi,bi->b", weights, corr[F])[:, None, None] + numerator / determinant
    )
    return gains
