"""The structure of a Gaussian graph: which pairs of variables depend on each other given all others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_matrix, as_real, as_vector, require_scale
from swapwise.graphs.edges import read_edges
from swapwise.graphs.gaussian.columns import EdgeColumns
from swapwise.graphs.ising.open import read_weight
from swapwise.numerics import ROUNDING
from swapwise.objectives.least_squares.objective import FEW_COLUMNS, LeastSquares
from swapwise.override import override

# A matrix with an eigenvalue below minus the first is no correlation matrix; eigenvalues closer to 0 than
# the second, relative to the largest, are rounding.
NOT_DEFINITE, ROUNDED = 1e-8, 1e-12

Edges = Sequence[tuple[int, int]]


class GaussianPseudoLikelihood(LeastSquares):
    r"""How well all variables are explained by their neighbours in a Gaussian graph.

    With the entries ``w_uv = Ω_uv`` of a precision matrix Ω, one per edge, and its diagonal ``d_v = Ω_vv``
    given, the pseudo-log-likelihood is, but for ``½ Σ log d_v`` and constants,

    .. math::
        u(w) = -\frac{1}{2N} \sum_x \sum_v \frac{1}{d_v} \left( d_v x_v + \sum_u w_{uv} x_u \right)^2
        - \tfrac{λ}{2} ‖w‖^2

    over the N samples x: every variable is regressed on its neighbours, with one coefficient for both ends of
    an edge. This is least squares, with one column per edge. Values are shares, as R² is, of the sum ``Σ_v
    d_v S_vv`` of squares that is there without any edge: ``f(X) = max 2 (u(w) − u(0)) / Σ_v d_v S_vv``. With
    the default diagonal this sum is the number of variables that are not constant.

    The elements of the ground set are the pairs of variables i < j in lexicographic order, or the ``edges``
    given. Variables are centred. Without a ridge, values do not depend on their units.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_vertices)
    ridge : float
        Weight of the penalty ``‖w‖²/2``.
    edges : sequence of (int, int) or networkx graph, optional
        The pairs that may have an edge, by the numbers of their columns.
    diagonal : array-like of shape (n_vertices,), optional
        The diagonal of the precision matrix; by default ``1/S_vv``, that of no edge at all.
        :meth:`best_diagonal` has a better one once there are coefficients.
    sample_weight : array-like of shape (n_samples,), optional
        How much each sample counts: a weight of 2 is the same sample twice.

    See Also
    --------
    IsingPseudoLikelihood : the same of variables of two values.
    GaussianGraph : the estimator.

    Notes
    -----
    The pseudo-likelihood is concave in w and d together. All that is needed of the samples is their
    covariance matrix S: edges (a, v) and (b, v) have the inner product ``S_ab/d_v``. Moves are scored in
    closed form; a graph of 100 vertices is searched in seconds.

    References
    ----------
    - J. Besag, "Statistical analysis of non-lattice data", The Statistician 24, 1975.
    - J. Peng, P. Wang, N. Zhou, J. Zhu, "Partial correlation estimation by joint sparse regression models",
      JASA 104, 2009.
    - K. Khare, S.-Y. Oh, B. Rajaratnam, "A convex pseudolikelihood framework for high dimensional partial
      correlation estimation with convergence guarantees", JRSS B 77, 2015.
    - K. Behdin, W. Chen, R. Mazumder, "Sparse Gaussian graphical models with discrete optimization:
      computational and statistical perspectives", arXiv 2307.09366, 2023.

    Examples
    --------
    A chain of three variables:

    >>> import numpy as np
    >>> from swapwise import BMatching, Uniform, maximize
    >>> from swapwise.graphs import GaussianPseudoLikelihood
    >>> rng = np.random.default_rng(0)
    >>> first, second, third = rng.standard_normal((3, 500))
    >>> second += first
    >>> third += second
    >>> f = GaussianPseudoLikelihood(np.column_stack([first, second, third]))
    >>> f.edges
    [(0, 1), (0, 2), (1, 2)]
    >>> result = maximize(f, Uniform(f.n, 2))
    >>> [f.edges[e] for e in result.support]
    [(0, 1), (1, 2)]

    From a correlation matrix, no vertex with more than one neighbour:

    >>> f = GaussianPseudoLikelihood.from_covariance([[1.0, 0.6, 0.0], [0.6, 1.0, 0.3], [0.0, 0.3, 1.0]])
    >>> result = maximize(f, BMatching(f.edges, b=1))
    >>> result.coef, round(result.value, 6)
    (array([-0.6,  0. ,  0. ]), 0.24)
    >>> f.best_diagonal(result.coef).round(3)
    array([1.281, 1.281, 1.   ])
    """

    design: EdgeColumns

    def __init__(
        self,
        X: ArrayLike,
        ridge: float = 0.0,
        edges: Edges | None = None,
        diagonal: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self._read(covariance_of(X, sample_weight), ridge, edges, diagonal)

    @classmethod
    def from_covariance(
        cls,
        covariance: ArrayLike,
        ridge: float = 0.0,
        edges: Edges | None = None,
        diagonal: ArrayLike | None = None,
    ) -> Self:
        """Return the objective of samples of which only the covariance, or correlation, matrix is known.

        >>> f = GaussianPseudoLikelihood.from_covariance([[1.0, 0.5], [0.5, 1.0]])
        >>> round(f([0]), 6)
        0.25
        """
        found = cls.__new__(cls)
        found._read(checked_covariance(covariance), ridge, edges, diagonal)
        return found

    def _read(self, covariance: FloatArray, ridge: Any, edges: Any, diagonal: Any) -> None:
        n_vertices = len(covariance)
        variances = np.diag(covariance).copy()
        variances[variances == 0] = 1.0  # of a constant, which no edge explains
        if diagonal is None:
            diagonal = 1.0 / variances
        else:
            diagonal = as_vector(diagonal, n_vertices, "diagonal").copy()
            if not (diagonal > 0).all():
                raise ValueError(f"diagonal must be positive, got {diagonal.min()}")
        roots = _root_of(covariance)
        columns = EdgeColumns(roots, diagonal, *read_edges(edges, n_vertices))
        self._hold(columns, as_real(ridge, "ridge"), None)

    @property
    def tail(self) -> IndexArray:
        """The smaller end of every edge."""
        return self.design.tail

    @property
    def head(self) -> IndexArray:
        """The larger end of every edge."""
        return self.design.head

    @property
    def n_vertices(self) -> int:
        """The number of variables."""
        return len(self.design.roots)

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The pairs of vertices that the elements stand for."""
        return list(zip(self.tail.tolist(), self.head.tolist(), strict=True))

    @property
    def covariance(self) -> FloatArray:
        """The covariance matrix S."""
        return self.design.covariance

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal of the precision matrix."""
        return self.design.diagonal

    @override
    def __repr__(self) -> str:
        return f"GaussianPseudoLikelihood({self.n_vertices} vertices, {self.n} edges, ridge={self.ridge:g})"

    def precision_matrix(self, coef: FloatArray) -> FloatArray:
        """Return the matrix of coefficients and the diagonal.

        >>> GaussianPseudoLikelihood.from_covariance(np.eye(2)).precision_matrix(np.array([0.5]))
        array([[1. , 0.5],
               [0.5, 1. ]])
        """
        return self.design.symmetric(coef) + np.diag(self.diagonal)

    def best_diagonal(self, coef: FloatArray) -> FloatArray:
        """Return the diagonal that maximises the pseudo-likelihood at given coefficients.

        ``d_v = (1 + √(1 + 4 S_vv q_v)) / (2 S_vv)`` with ``q_v = w_vᵀ S w_v``; of a constant, the one it has.
        """
        explained = ((self.design.symmetric(coef) @ self.design.roots) ** 2).sum(axis=1)
        variances = np.diag(self.covariance)
        known = variances > 0
        best = self.diagonal.copy()
        root = np.sqrt(1.0 + 4.0 * variances[known] * explained[known])
        best[known] = (1.0 + root) / (2.0 * variances[known])
        return best

    def pseudo_log_likelihood(self, coef: FloatArray) -> float:
        """Return the mean pseudo-log-likelihood at coefficients and the diagonal, less the ridge's penalty.

        ``½ Σ_v log d_v + u(w)``: of several diagonals, values of f cannot be compared, but these can.

        >>> GaussianPseudoLikelihood.from_covariance(np.eye(2)).pseudo_log_likelihood(np.array([0.0]))
        -1.0
        """
        left = self._squared_y - self.total * self.value_at(coef)
        return 0.5 * (float(np.log(self.diagonal).sum()) - left)

    @property
    @override
    def is_small(self) -> bool:
        return 0 < self.n <= FEW_COLUMNS

    @cached_property
    @override
    def _eigenvalues(self) -> tuple[float, float]:
        values = np.linalg.eigvalsh(self.covariance)
        curved = 1.0 / self.diagonal[self.tail] + 1.0 / self.diagonal[self.head]
        margin = ROUNDING * float(values[-1])
        least = max(0.0, float(values[0]) - margin) * float(curved.min(initial=np.inf))
        return (least, (float(values[-1]) + margin) * float(curved.max())) if self.n else (0.0, np.inf)


def covariance_of(X: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """Return the covariance matrix of samples, divided by their number, or their weights."""
    samples = as_matrix(X, "X", "rows are samples, columns are vertices")
    if not samples.shape[0]:
        raise ValueError(f"X must have at least one sample, got shape {samples.shape}")
    given = read_weight(sample_weight, len(samples))
    weight = np.full(len(samples), 1.0 / len(samples)) if given is None else given / given.sum()
    require_scale(np.abs(samples).max(axis=0), "column {} of X")
    centred = samples - weight @ samples
    centred -= weight @ centred  # the first mean was rounded
    rounded = ROUNDING * np.abs(samples).max(axis=0, initial=0.0)
    centred[:, np.abs(centred).max(axis=0, initial=0.0) <= rounded] = 0.0
    return (centred * weight[:, None]).T @ centred


def checked_covariance(values: ArrayLike) -> FloatArray:
    matrix = as_matrix(values, "covariance", "one row and one column per vertex")
    if matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12):
        raise ValueError(f"covariance must be a symmetric matrix, got one of shape {matrix.shape}")
    require_scale(np.sqrt(np.abs(np.diag(matrix))), "the standard deviation of vertex {}")
    return (matrix + matrix.T) / 2


def _root_of(covariance: FloatArray) -> FloatArray:
    """Return L with ``S = L Lᵀ``, one row per vertex, of as many columns as the rank, but at least one."""
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    units = np.where(deviations > 0, deviations, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(units, units))
    largest = float(np.abs(values).max(initial=0.0))
    if len(values) and values[0] < -NOT_DEFINITE * largest:
        raise ValueError(
            f"covariance must be positive semidefinite, but its correlation matrix has eigenvalue {values[0]}"
        )
    kept = values > ROUNDED * largest
    kept[-1:] = True
    root = units[:, None] * (vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0)))
    root[deviations == 0] = 0.0
    return np.ascontiguousarray(root)
