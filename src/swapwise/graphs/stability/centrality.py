"""How central the vertices of weighted graphs are, for many graphs at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from swapwise.checks import FloatArray
from swapwise.graphs.stability.fits import last_step
from swapwise.graphs.stability.tables import upper_triangle

MEASURES = ("strength", "expected_influence", "closeness", "betweenness", "degree")

# Two paths are equally short if their lengths differ by less than this share: sums of the same numbers in
# another order do.
SAME_LENGTH = 1e-12

# Entries of distance matrices that are worked on at a time: 8 MB of doubles.
ENTRIES_AT_ONCE = 2**20


def centralities(model: Any) -> pd.DataFrame:
    """Return how central the vertices of a fitted graph are, by five measures.

    - ``strength``: the sum of the absolute weights of the edges at a vertex,
    - ``expected_influence``: the sum of their weights,
    - ``closeness``: how near the others are, if an edge of weight w has the length 1/\\|w\\|: for a
      vertex that reaches r of the n − 1 others, whose distances sum to d, it is (r/d)·(r/(n − 1)),
    - ``betweenness``: how many pairs of others have the vertex on their shortest path; a pair with several
      shortest paths counts with the share of them,
    - ``degree``: the number of edges.

    Parameters
    ----------
    model : fitted graph estimator
        Such as an :class:`IsingGraph`, or a pipeline that ends in one.

    Returns
    -------
    pandas.DataFrame
        A row per vertex and a column per measure.

    See Also
    --------
    plot_centrality : a picture of them.
    bootstrap_graph : how much they vary from sample to sample.

    References
    ----------
    - T. Opsahl, F. Agneessens, J. Skvoretz, *Node centrality in weighted networks: Generalizing degree and
      shortest paths*, Social Networks 2010.

    Examples
    --------
    A chain of three, in which the middle one has all paths:

    >>> import numpy as np
    >>> from swapwise import IsingGraph
    >>> from swapwise.graphs import centralities
    >>> turns = np.where(np.random.default_rng(0).random((300, 3)) < 0.2, -1, 1)
    >>> model = IsingGraph(max_degree=2, edges=[(0, 1), (1, 2)]).fit(np.cumprod(turns, axis=1))
    >>> centralities(model)[["strength", "betweenness", "degree"]].round(1)
       strength  betweenness  degree
    0       0.9          0.0       1
    1       1.6          1.0       2
    2       0.7          0.0       1
    """
    fitted = last_step(model)
    if not hasattr(fitted, "fit"):
        raise TypeError(
            f"model must be a fitted graph estimator, such as IsingGraph, got {type(model).__name__}"
        )
    check_is_fitted(fitted, "adjacency_")
    measured = measure(upper_triangle(fitted.adjacency_)[None], len(fitted.adjacency_))
    columns = {name: values[0] for name, values in measured.items()}
    return pd.DataFrame(columns, index=getattr(fitted, "feature_names_in_", None)).astype({"degree": int})


def measure(weights: FloatArray, n_vertices: int) -> dict[str, FloatArray]:
    """Return each measure, (graph, vertex), from the weights of all pairs, a row per graph."""
    tail, head = np.triu_indices(n_vertices, 1)
    at_ends = np.zeros((len(tail), n_vertices))
    at_ends[np.arange(len(tail)), tail] = at_ends[np.arange(len(tail)), head] = 1.0
    closeness, betweenness = np.empty((2, len(weights), n_vertices))
    at_once = max(1, ENTRIES_AT_ONCE // n_vertices**2)
    for begin in range(0, len(weights), at_once):
        part = slice(begin, begin + at_once)
        length = np.full((len(weights[part]), n_vertices, n_vertices), np.inf)
        with np.errstate(divide="ignore", over="ignore"):
            length[:, tail, head] = length[:, head, tail] = 1.0 / np.abs(weights[part])
        distance, n_paths = _shortest_paths(length)
        closeness[part], betweenness[part] = _closeness(distance), _betweenness(distance, n_paths)
    size = np.abs(weights)
    by_sums = size @ at_ends, weights @ at_ends, closeness, betweenness, (size > 0) @ at_ends
    return dict(zip(MEASURES, by_sums, strict=True))


def _shortest_paths(length: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return distances of all pairs and the number of shortest paths, by Floyd and Warshall's recursion.

    Paths whose inner vertices are among the first k + 1 are those among the first k, and those through k.
    """
    distance, n_vertices = length.copy(), length.shape[1]
    every = np.arange(n_vertices)
    distance[:, every, every] = 0.0
    n_paths = np.isfinite(distance).astype(np.float64)
    for k in range(n_vertices):
        through = distance[:, :, k, None] + distance[:, None, k, :]
        through[:, k, :] = through[:, :, k] = np.inf
        paths_through = n_paths[:, :, k, None] * n_paths[:, None, k, :]
        shorter, as_short = _compared(through, distance)
        n_paths = np.where(shorter, paths_through, n_paths + as_short * paths_through)
        distance = np.where(shorter, through, distance)
    return distance, n_paths


def _compared(length: FloatArray, distance: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    shorter = length < distance * (1 - SAME_LENGTH)
    return shorter, ~shorter & (length <= distance * (1 + SAME_LENGTH)) & np.isfinite(length)


def _closeness(distance: FloatArray) -> FloatArray:
    reached = np.isfinite(distance)
    n_others = reached.sum(axis=2) - 1
    total = np.where(reached, distance, 0.0).sum(axis=2)
    ratio: FloatArray = np.divide(n_others**2, total, out=np.zeros_like(total), where=total > 0)
    return ratio / (distance.shape[1] - 1)


def _betweenness(distance: FloatArray, n_paths: FloatArray) -> FloatArray:
    """Return the sum, over pairs of others, of the share of their shortest paths that go through a vertex."""
    through_it = np.empty(distance.shape[:2])
    for v in range(distance.shape[1]):
        length = distance[:, :, v, None] + distance[:, None, v, :]
        length[:, v, :] = length[:, :, v] = np.inf
        _, on_path = _compared(length, distance)
        share = n_paths[:, :, v, None] * n_paths[:, None, v, :] / np.maximum(n_paths, 1.0)
        through_it[:, v] = np.where(on_path, share, 0.0).sum(axis=(1, 2)) / 2
    return through_it
