"""From a weight per ordered pair to a graph within the degrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_matrix, as_vector
from swapwise.constraints.bmatching import BMatching
from swapwise.paper.instances import pairs

#: How two weights of a pair become one.
RULES = ("and", "or", "mean")


def edge_weights(weights: ArrayLike, rule: str) -> FloatArray:
    """Return one weight per pair u < v, in the order of :func:`swapwise.paper.instances.pairs`.

    Parameters
    ----------
    weights : array-like of shape (n_vertices, n_vertices)
        Entry (u, v) is what u says of v; the diagonal is not looked at.
    rule : "and", "or" or "mean"
        The one of smaller size (zero if either is), that of larger size, or the mean.

    Examples
    --------
    >>> weights = [[0, 2, 0], [4, 0, -1], [3, -2, 0]]
    >>> for rule in RULES:
    ...     print(rule, edge_weights(weights, rule))
    and [ 2.  0. -1.]
    or [ 4.  3. -2.]
    mean [ 3.   1.5 -1.5]
    """
    matrix = as_matrix(weights, "weights", "one row and one column per vertex")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"weights must have as many columns as rows, got shape {matrix.shape}")
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}, got {rule!r}")
    tail, head = pairs(len(matrix))
    of_tail, of_head = matrix[tail, head], matrix[head, tail]
    if rule == "mean":
        return (of_tail + of_head) / 2
    tail_is_smaller = np.abs(of_tail) <= np.abs(of_head)
    return np.where(tail_is_smaller == (rule == "and"), of_tail, of_head)


def cut_to_degrees(weights: ArrayLike, constraint: BMatching) -> IndexArray:
    """Return the edges of largest total ``|weight|`` within the degrees, none of which has weight zero.

    >>> cut_to_degrees([3.0, -5.0, 3.0, 0.0, 0.0, 0.0], BMatching.complete(4, 1))
    array([1])
    """
    return constraint.max_weight(np.abs(as_vector(weights, constraint.n, "weights"))).support
