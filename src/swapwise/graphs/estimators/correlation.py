"""Correlation matrices of samples, some of whose entries may be missing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray, some_of, warn
from swapwise.graphs.estimators.polychoric import category_information, polychoric
from swapwise.numerics import ROUNDING

# Pairs of samples that are tied, as a share of all, beyond which Kendall's τ is far off.
MOST_TIES = 0.05

METHODS = ("pearson", "spearman", "kendall", "polychoric")

# Columns of more different values than this are no ordered categories.
MOST_CATEGORIES = 20

# Eigenvalues below minus this tell a matrix of correlations from a positive semidefinite one. If they do,
# those of the nearest correlation matrix are at least this.
NEGATIVE, LEAST_EIGENVALUE = 1e-10, 1e-4

# Projections in search of the nearest correlation matrix: their largest number, and the move that ends them.
MOST_PROJECTIONS, SETTLED = 500, 1e-7


class Correlations(NamedTuple):
    """Correlations of columns, with their moments."""

    #: Positive semidefinite, with ones on the diagonal
    matrix: FloatArray
    means: FloatArray
    deviations: FloatArray
    #: The number of samples in which both of two columns were observed
    n_observed: NDArray[np.int_]
    #: Which columns vary
    varies: NDArray[np.bool_]
    #: How much is known of a correlation, relative to one of as many complete samples of numbers, on average
    information: float


def correlations(
    X: FloatArray,
    method: str = "pearson",
    weight: FloatArray | None = None,
    names: Sequence[Hashable] | None = None,
) -> Correlations:
    """Return the correlation matrix of the columns of X, in which NaN is a missing entry.

    A correlation is that of the samples in which both columns were observed. If their matrix is not positive
    semidefinite, the nearest correlation matrix takes its place, with a warning. Rank correlations ρ and τ
    are turned into those of the normal variables that X is a monotone function of, ``2 sin(π ρ/6)`` and
    ``sin(π τ/2)``; polychoric ones are of normal variables that ordered categories are cut from. Weights are
    for Pearson's correlations only, ``names`` for messages.
    """
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"correlation must be one of {', '.join(METHODS)}; got {method!r}")
    weights = np.ones(len(X)) if weight is None else weight
    if method != "pearson" and (weights != weights[:1]).any():
        raise ValueError(
            f"sample_weight needs correlation='pearson', got correlation={method!r}; repeat samples instead"
        )
    names = list(range(X.shape[1])) if names is None else names
    known = ~np.isnan(X)
    means, deviations = _moments(X, known, weights)
    varies = deviations > 0
    together = _times_together(known, weights)
    _warn_of_columns(names, varies, together)
    if method == "kendall":
        _warn_of_ties(X, known, names)
    explained = np.ones(X.shape[1])  # share of the variance of the number behind a value
    values: NDArray[Any] = X
    if method == "polychoric":
        values = _codes(X, known, names)
        explained = category_information(values)
    matrix = _find(method, values, known, weights, varies)
    np.fill_diagonal(matrix, 1.0)
    share = (known * weights[:, None]).T @ known / weights.sum() * np.outer(explained, explained)
    pairs = share[np.triu(np.outer(varies, varies), 1)]
    information = float(pairs.mean()) if len(pairs) else 1.0
    return Correlations(nearest(matrix), means, deviations, together, varies, information)


def _times_together(known: NDArray[np.bool_], weights: FloatArray) -> NDArray[np.int_]:
    """Return the number of samples in which both of two columns were observed; integer weights are counts."""
    times = (weights > 0).astype(np.float64) if (weights % 1).any() else weights
    together: NDArray[np.int_] = ((known * times[:, None]).T @ known).round().astype(np.int_)
    return together


def _moments(X: FloatArray, known: NDArray[np.bool_], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and deviations of what was observed; deviations within rounding are 0."""
    filled, shares = np.where(known, X, 0.0), known * weights[:, None]
    total = np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
    means = (shares * filled).sum(axis=0) / total
    deviations = np.sqrt((shares * (filled - means) ** 2).sum(axis=0) / total)
    deviations[deviations <= ROUNDING * np.abs(filled).max(axis=0, initial=0.0)] = 0.0
    return means, deviations


def _warn_of_columns(
    names: Sequence[Hashable], varies: NDArray[np.bool_], together: NDArray[np.int_]
) -> None:
    constant = [repr(names[v]) for v in np.flatnonzero(~varies).tolist()]
    if constant:
        warn(f"constant columns, from which nothing can be learnt: {some_of(constant)}")
    apart = np.argwhere(np.triu((together < 2) & np.outer(varies, varies), 1))
    if len(apart):
        pairs = [f"{names[u]!r} and {names[v]!r}" for u, v in apart.tolist()]
        warn(
            "some columns were observed together in fewer than two samples, and have no edge: "
            f"{some_of(pairs)}"
        )


def _warn_of_ties(X: FloatArray, known: NDArray[np.bool_], names: Sequence[Hashable]) -> None:
    """Warn of columns with few values: of ties, ``sin(π τ/2)`` is too large."""
    tied = []
    for v, column in enumerate(X.T):
        _, times = np.unique(column[known[:, v]], return_counts=True)
        if len(times) > 1 and ((times / times.sum()) ** 2).sum() > MOST_TIES:
            tied.append(repr(names[v]))
    if tied:
        warn(
            f"correlation='kendall' is for numbers without ties, and too large for {some_of(tied)}; "
            "'polychoric' is for ordered categories"
        )


def _find(
    method: str,
    X: NDArray[Any],
    known: NDArray[np.bool_],
    weights: FloatArray,
    varies: NDArray[np.bool_],
) -> FloatArray:
    """Return correlations of all pairs; zeros where columns do not vary."""
    if method == "pearson":
        return pearson(X, known, weights)
    if method == "spearman" and known.all():
        ranks = scipy.stats.rankdata(X, axis=0)
        return 2.0 * np.sin(np.pi / 6.0 * pearson(ranks, known, weights))
    first, second = (ends.astype(np.intp) for ends in np.triu_indices(X.shape[1], k=1))
    worth = varies[first] & varies[second]
    first, second = first[worth], second[worth]
    matrix = np.zeros((X.shape[1], X.shape[1]))
    if method == "polychoric":
        found = polychoric(X, first, second)
    else:
        found = _pair_by_pair(RANKED[method], X, known, first, second)
    matrix[first, second] = matrix[second, first] = found
    return matrix


def pearson(X: FloatArray, known: NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    """Return Pearson's correlations, each of the samples in which both columns were observed."""
    means, deviations = _moments(X, known, weights)
    centred = np.where(known & (deviations > 0), X - means, 0.0) / np.where(deviations > 0, deviations, 1.0)
    if known.all():
        return np.clip((centred * weights[:, None]).T @ centred / weights.sum(), -1.0, 1.0)
    shares = known * weights[:, None]
    total = np.maximum(shares.T @ known, np.finfo(float).tiny)
    mean = (centred * weights[:, None]).T @ known / total  # of the row's column, where both are known
    variance = (centred**2 * weights[:, None]).T @ known / total - mean**2
    products = (centred * weights[:, None]).T @ centred / total - mean * mean.T
    scale = np.sqrt(np.maximum(variance * variance.T, 0.0))
    is_known = scale > ROUNDING
    return np.clip(np.divide(products, scale, out=np.zeros_like(scale), where=is_known), -1.0, 1.0)


def _spearman(first: FloatArray, second: FloatArray) -> float:
    ranks = np.column_stack([scipy.stats.rankdata(first), scipy.stats.rankdata(second)])
    correlation = pearson(ranks, np.ones(ranks.shape, dtype=bool), np.ones(len(ranks)))[0, 1]
    return float(2.0 * np.sin(np.pi / 6.0 * correlation))


def _kendall(first: FloatArray, second: FloatArray) -> float:
    tau = scipy.stats.kendalltau(first, second).statistic
    return 0.0 if np.isnan(tau) else float(np.sin(np.pi / 2.0 * tau))


RANKED = {"spearman": _spearman, "kendall": _kendall}


def _pair_by_pair(
    measure: Callable[[FloatArray, FloatArray], float],
    X: FloatArray,
    known: NDArray[np.bool_],
    first: IndexArray,
    second: IndexArray,
) -> FloatArray:
    found = np.zeros(len(first))
    for pair, (i, j) in enumerate(zip(first, second, strict=True)):
        both = known[:, i] & known[:, j]
        if np.count_nonzero(both) > 1:
            found[pair] = measure(X[both, i], X[both, j])
    return found


def _codes(X: FloatArray, known: NDArray[np.bool_], names: Sequence[Hashable]) -> NDArray[np.int_]:
    """Return the categories of every column by their order, -1 where nothing was observed."""
    codes = np.full(X.shape, -1)
    for v, column in enumerate(X.T):
        categories, places = np.unique(column[known[:, v]], return_inverse=True)
        if len(categories) > MOST_CATEGORIES:
            raise ValueError(
                f"correlation='polychoric' needs columns of at most {MOST_CATEGORIES} ordered categories, "
                f"but column {names[v]!r} has {len(categories)} values; try correlation='spearman'"
            )
        codes[known[:, v], v] = places
    return codes


def nearest(matrix: FloatArray) -> FloatArray:
    """Return the nearest correlation matrix to a symmetric one with ones on the diagonal.

    By alternating projections with Dykstra's correction: N. J. Higham, "Computing the nearest correlation
    matrix", IMA Journal of Numerical Analysis 22, 2002. Warns of how far correlations were moved.
    """
    smallest = float(np.linalg.eigvalsh(matrix)[0]) if len(matrix) else 0.0
    if smallest >= -NEGATIVE * max(1, len(matrix)):
        return matrix
    found, correction = matrix.copy(), np.zeros_like(matrix)
    for _ in range(MOST_PROJECTIONS):
        before, shifted = found, found - correction
        values, vectors = np.linalg.eigh(shifted)
        definite = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
        correction, found = definite - shifted, definite.copy()
        np.fill_diagonal(found, 1.0)
        if np.abs(found - before).max() < SETTLED:
            break
    scale = np.sqrt(np.diag(definite))
    found = definite / np.outer(scale, scale)
    np.fill_diagonal(found, 1.0)
    warn(
        "the correlations of pairs of columns do not fit together (their matrix has the eigenvalue "
        f"{smallest:.2g}), and the nearest correlation matrix is taken: no correlation moves by more than "
        f"{np.abs(found - matrix).max():.2g}"
    )
    return found
