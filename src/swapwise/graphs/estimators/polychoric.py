"""Polychoric correlations: of the normal variables that ordered categories are cut from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, owens_t

from swapwise.checks import FloatArray, IndexArray

# Cells of a table have at least this probability, and no correlation is larger: empty cells say no more.
LEAST, LARGEST = 1e-12, 0.9995

# Steps of Fisher's scoring, none longer than this; most pairs need fewer than ten.
MOST_STEPS, LONGEST, SETTLED = 100, 0.4, 1e-9

# A threshold beyond this is infinite, and one of 0 is as far from it as this.
FAR, NEAR = 30.0, 1e-12

# Tables are fitted together, as many as have about this many cells.
CELLS_AT_ONCE = 1 << 18


def polychoric(codes: NDArray[np.int_], first: IndexArray, second: IndexArray) -> FloatArray:
    """Return the correlations of pairs of columns by maximum likelihood in two steps.

    Thresholds come from the shares of the categories, then the correlation from the table of two columns.
    Codes are 0, 1, 2, ...; -1 is missing, and such samples count for other pairs only. U. Olsson, "Maximum
    likelihood estimation of the polychoric correlation coefficient", Psychometrika 44, 1979.
    """
    size = int(codes.max(initial=0)) + 1
    step = max(1, CELLS_AT_ONCE // size**2)
    parts = [
        _fitted(_tables(codes, first[at : at + step], second[at : at + step], size))
        for at in range(0, len(first), step)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def category_information(codes: NDArray[np.int_]) -> FloatArray:
    """Return the share of the variance of each normal variable that its categories explain.

    It is the variance of its mean within categories, ``Σ_k (φ(t_k) − φ(t_{k+1}))² / p_k``. For two
    independent variables, the product of both shares is Fisher's information on the correlation, relative to
    that of numbers.
    """
    found = np.ones(codes.shape[1])
    for v, column in enumerate(codes.T):
        shares = np.bincount(column[column >= 0]) / max(1, (column >= 0).sum())
        if len(shares) > 1:
            cuts = ndtri(np.cumsum(shares[:-1]))
            densities = np.concatenate([[0.0], np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi), [0.0]])
            found[v] = (np.diff(densities) ** 2 / shares).sum()
    return found


def _tables(codes: NDArray[np.int_], first: IndexArray, second: IndexArray, size: int) -> FloatArray:
    """Return the shares of samples with each pair of categories; zeros if never observed together."""
    tables = np.zeros((len(first), size, size))
    for table, i, j in zip(tables, first, second, strict=True):
        known = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        cells = codes[known, i] * size + codes[known, j]
        table[:] = np.bincount(cells, minlength=size * size).reshape(size, size) / max(1, len(cells))
    return tables


def _fitted(tables: FloatArray) -> FloatArray:
    """Return the correlation of every table by Fisher's scoring."""
    rows, columns = _thresholds(tables.sum(axis=2)), _thresholds(tables.sum(axis=1))
    correlation = np.zeros(len(tables))
    for _ in range(MOST_STEPS):
        shares, slopes = _cells(rows, columns, correlation)
        shares = np.maximum(shares, LEAST)
        slope = (tables * slopes / shares).sum(axis=(1, 2))
        curved = (slopes**2 / shares).sum(axis=(1, 2))
        step = np.clip(slope / np.maximum(curved, LEAST), -LONGEST, LONGEST)
        moved = np.clip(correlation + step, -LARGEST, LARGEST)
        farthest, correlation = np.abs(moved - correlation).max(initial=0.0), moved
        if farthest < SETTLED:
            break
    return correlation


def _thresholds(shares: FloatArray) -> FloatArray:
    """Return where normal variables are cut, one row per table: below all of them, between, and above."""
    below = np.clip(np.cumsum(shares, axis=1)[:, :-1], 0.0, 1.0)
    between = np.clip(ndtri(below), -FAR, FAR)
    ends = np.full((len(shares), 1), FAR)
    cuts = np.hstack([-ends, between, ends])
    return np.where(np.abs(cuts) < NEAR, NEAR, cuts)


def _cells(rows: FloatArray, columns: FloatArray, correlation: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability of every cell, and its derivative by the correlation."""
    h, k, r = rows[:, :, None], columns[:, None, :], correlation[:, None, None]
    left = np.sqrt(1.0 - r**2)
    opposite = np.where(h * k > 0, 0.0, 0.5)
    below = 0.5 * (ndtr(h) + ndtr(k)) - opposite
    below = below - owens_t(h, (k / h - r) / left) - owens_t(k, (h / k - r) / left)
    density = np.exp(-0.5 * (h**2 - 2.0 * r * h * k + k**2) / left**2) / (2.0 * np.pi * left)
    shares, slopes = (np.diff(np.diff(values, axis=1), axis=2) for values in (below, density))
    return shares, slopes
