"""What Ising models are made of: spins and edges as users give them, pulls and biases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_elements, as_matrix, warn
from swapwise.data.two_values import has_blocks

MAX_STEPS = 500

# Fewer samples are gone through faster than their patterns are counted.
FEWEST_COUNTED = 2000


def pulls_at(spins: FloatArray, local: FloatArray) -> FloatArray:
    """Return ``Σ ∂ log σ(2 x_v h_v)/∂h_v · x_u`` over the samples: one row for each v, one column for each u.

    >>> pulls_at(np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros((2, 2)))
    array([[2., 0.],
           [0., 2.]])
    """
    return (2.0 * spins * sigmoid(-2.0 * spins * local)) @ spins.T


def best_biases(
    slopes: Callable[[FloatArray], tuple[FloatArray, FloatArray]], widest: FloatArray
) -> FloatArray:
    """Return where slopes are zero: Newton steps for all vertices at once, in a bracket each.

    ``slopes`` tells slope and curvature at biases. A vertex that never changes stops at ``widest``.

    >>> best_biases(lambda bias: (0.5 - bias, np.ones(1)), np.array([20.0]))
    array([0.5])
    """
    bias, low, high = np.zeros(len(widest)), -widest, widest
    for _ in range(MAX_STEPS):
        slope, curve = slopes(bias)
        low, high = np.where(slope > 0, bias, low), np.where(slope < 0, bias, high)
        newton = bias + slope / np.maximum(curve, 1e-300)
        inside = (newton > low) & (newton < high)
        ahead = np.where(inside, newton, (low + high) / 2)
        done = np.abs(ahead - bias) <= 1e-13 * (np.abs(bias) + 1e-3 * widest)
        bias = ahead
        if done.all():
            break
    return bias


def sigmoid(margin: FloatArray) -> FloatArray:
    """Return ``1 / (1 + exp(−margin))``.

    >>> sigmoid(np.zeros(1))
    array([0.5])
    """
    return 0.5 * (1.0 + np.tanh(0.5 * margin))


def read_spins(spins: Any) -> FloatArray:
    """Return samples in memory as a matrix, or say what is wrong with them.

    >>> read_spins([[1, -1]])
    array([[ 1., -1.]])
    """
    if np.asarray(spins).dtype == bool:
        raise ValueError("spins must be -1 and +1, got True and False; convert with 2.0 * spins - 1")
    matrix = as_matrix(spins, "spins")
    if 0 in matrix.shape:
        raise ValueError(f"spins must have at least one sample and one vertex, got shape {matrix.shape}")
    for column, values in enumerate(matrix.T):
        low, high = float(values.min()), float(values.max())
        if low < high and low >= 0 and np.isin(values, (low, high)).all():
            raise ValueError(
                f"spins must be -1 and +1, got {low:g} and {high:g} in column {column}; "
                f"convert with np.where(spins == {high:g}, 1.0, -1.0)"
            )
        if low < high and low * high > 0:
            warn(f"column {column} of spins never changes sign; is it meant to be -1 and +1?")
    if not matrix.any():
        raise ValueError("spins must be -1 and +1, got nothing but 0")
    return matrix


def read_edges(edges: Sequence[tuple[int, int]] | None, n_vertices: int) -> tuple[IndexArray, IndexArray]:
    """Return the smaller and the larger end of every edge; all pairs if none are given.

    >>> read_edges([(2, 0)], 3)
    (array([0]), array([2]))
    """
    if edges is None:
        tail, head = np.triu_indices(n_vertices, k=1)
        return tail.astype(np.intp), head.astype(np.intp)
    edges = list(edges.edges() if hasattr(edges, "edges") else edges)
    seen = set()
    for e, edge in enumerate(edges):
        if not isinstance(edge, Iterable) or isinstance(edge, str) or len(set(edge)) != 2:
            raise ValueError(f"an edge must join two different vertices, got {edge!r} as number {e}")
        ends = as_elements(edge, n_vertices, f"edge number {e}")
        if tuple(ends) in seen:
            raise ValueError(f"every edge must be there once, but {tuple(ends.tolist())} is repeated")
        seen.add(tuple(ends))
    pairs = np.array([sorted(edge) for edge in edges], dtype=np.intp).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def is_worth_counting(spins: Any) -> bool:
    """Tell whether spins are many samples of -1 and +1.

    >>> is_worth_counting(np.ones((5000, 2))), is_worth_counting(np.ones((50, 2)))
    (True, False)
    """
    given = np.asarray(spins)
    many = given.ndim == 2 and len(given) >= FEWEST_COUNTED and given.dtype.kind in "if"
    return many and bool((np.abs(given) == 1).all())


def kind_for(spins: Any) -> type[Any]:
    """Return which objective is best for data as they are stored, and for as many as there are.

    >>> kind_for(np.ones((50, 2))).__name__
    'IsingPseudoLikelihood'
    """
    if has_blocks(spins):
        from swapwise.objectives.streamed_ising import StreamedIsing

        return StreamedIsing
    if is_worth_counting(spins):
        from swapwise.objectives.counted_ising import CountedIsing

        return CountedIsing
    from swapwise.objectives.ising import IsingPseudoLikelihood

    return IsingPseudoLikelihood
