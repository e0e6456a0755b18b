"""The structure of a mixed graph: which pairs of binary, Gaussian and count variables are coupled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_vector
from swapwise.graphs.ising.model import IsingModel
from swapwise.graphs.ising.objective import PairwisePseudoLikelihood
from swapwise.graphs.ising.open import read_completed, read_weight
from swapwise.graphs.mixed.columns import MixedColumns, read_matrix
from swapwise.graphs.mixed.conditionals import have_answers
from swapwise.graphs.mixed.families import Binary
from swapwise.graphs.mixed.samples import MixedSamples
from swapwise.objectives.base import Summand
from swapwise.override import override


class MixedPseudoLikelihood(PairwisePseudoLikelihood):
    r"""Mean pseudo-log-likelihood of a pairwise graph of binary, Gaussian and count variables.

    .. math::
        u(w) = \frac1N \sum_x \sum_v \left( x_v h_v - A_v(h_v) \right) - \tfrac{λ}{2} ‖w‖^2,
        \quad h_v = b_v + \sum_u w_{uv} z_u

    over the N samples x. Every variable is predicted from its neighbours by a generalised linear model, with
    one coupling for both directions. The elements of the ground set are the pairs of columns i < j in
    lexicographic order, or the ``edges`` given. Values are relative to no coupling at all, so f(∅) = 0. A
    field b_v per vertex is always free.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_vertices)
        The data. NaN is missing, and means what it does to :class:`IsingPseudoLikelihood`.
    families : sequence of str, or str
        How each column is distributed given the others: ``"binary"`` (-1 and +1), ``"gaussian"`` or
        ``"counts"`` (Poisson); one name for all, or one per column.
    ridge : float
        Weight of the penalty ``‖w‖²/2``.
    edges : sequence of (int, int) or networkx graph, optional
        The pairs that may be coupled, by the numbers of their columns.
    sample_weight : array-like of shape (n_samples,), optional
        How much each sample counts.
    variances : array-like of shape (n_vertices,), optional
        The conditional variances of Gaussian columns, relative to their variances; numbers of other columns
        are ignored. By default they come from regressions on all other columns, or are 1 if there are
        fewer than five samples per column.
    completed : array-like of shape (n_samples, n_vertices), optional
        The data without missing entries, as neighbours see them. By default, means take their places.

    See Also
    --------
    MixedGraph : the estimator.
    IsingPseudoLikelihood, GaussianPseudoLikelihood : variables of one kind.

    Notes
    -----
    This is the pairwise model of [1]_ and [2]_: ``log p(x) = Σ b_v x_v + Σ w_uv x_u x_v + ...``, in which
    ``A(h)`` is ``log(2 cosh h)`` for spins, ``h²/2`` for Gaussian columns, in units of their conditional
    deviations, and ``e^h`` for counts, which are standardised as their neighbours see them. So couplings can
    be compared: among Gaussian columns they are partial correlations.

    Without counts there is a joint distribution whenever the couplings of Gaussian columns make a positive
    definite matrix. With counts there is none if two of them are coupled positively, or one is coupled to a
    Gaussian column [2]_: the graph still tells what predicts what, but the conditional distributions
    are not those of one joint model. The terms of counts
    curve without bounds, so methods and theorems that need a smoothness constant do not apply.

    References
    ----------
    .. [1] Lee and Hastie, "Learning the structure of mixed graphical models", Journal of Computational and
       Graphical Statistics 24 (2015).
    .. [2] Yang, Ravikumar, Allen and Liu, "Graphical models via generalized linear models", NeurIPS 2012.

    Examples
    --------
    A spin, a number that it shifts, and a count that neither knows of:

    >>> from swapwise import BMatching, maximize
    >>> from swapwise.graphs import MixedPseudoLikelihood
    >>> rng = np.random.default_rng(0)
    >>> spin = rng.choice([-1.0, 1.0], 200)
    >>> X = np.column_stack([spin, 0.5 * spin + rng.normal(size=200), rng.poisson(2.0, 200)])
    >>> f = MixedPseudoLikelihood(X, ["binary", "gaussian", "counts"], ridge=0.01)
    >>> result = maximize(f, BMatching(f.edges, b=1))
    >>> [f.edges[e] for e in result.support]
    [(0, 1)]
    """

    def __init__(
        self,
        X: ArrayLike,
        families: Sequence[str] | str,
        ridge: float = 0.0,
        edges: Sequence[tuple[int, int]] | None = None,
        sample_weight: ArrayLike | None = None,
        variances: ArrayLike | None = None,
        completed: ArrayLike | None = None,
    ) -> None:
        matrix = read_matrix(X)
        weight = read_weight(sample_weight, len(matrix))
        seen = read_completed(completed, matrix)
        counts = have_answers(matrix, weight)
        matrix, weight = matrix[counts], None if weight is None else weight[counts]
        seen = None if seen is None else seen[counts]
        columns = MixedColumns.read(matrix, families, weight)
        given = None if variances is None else _read_variances(variances, matrix.shape[1])
        model = IsingModel.read(matrix.shape[1], ridge, True, edges)
        self.columns = columns
        self.samples = MixedSamples(model, matrix, columns, weight, given, seen)
        super().__init__(self.samples)

    @property
    def families(self) -> list[str]:
        """The name of each column's family."""
        return [family.name for family in self.columns.families]

    @property
    def variances(self) -> FloatArray:
        """The conditional variances of Gaussian columns, relative to their variances; 1 for others."""
        return self.samples.variances

    def residual_variances(self, support: IndexArray) -> FloatArray:
        """Return how much Gaussian columns vary around their conditional means on a graph; 1 for others.

        An objective with these ``variances`` fits the graph better.
        """
        _, parameters = self.fit_from(support, self.no_couplings(len(support)))
        coef = np.zeros(self.n)
        coef[support] = parameters[: len(support)]
        return self.samples.residual_variances(coef, parameters[len(support) :])

    # -- curvature and proofs -----------------------------------------------------------------------

    @property
    def _is_smooth(self) -> bool:
        return all(family.is_smooth for family in self.columns.families)

    @override
    def curvature(self, columns: IndexArray) -> FloatArray | None:
        return super().curvature(columns) if self._is_smooth else None

    @override
    def smoothness(self, t: int) -> float:
        if not self._is_smooth:
            raise NotImplementedError(
                "the curvature of counts is unbounded, so there is no smoothness constant"
            )
        return super().smoothness(t)

    @override
    def summands(self, coef: FloatArray) -> list[Summand]:
        from swapwise.graphs.mixed.summands import vertex_summands

        return list(vertex_summands(self.samples, coef)) if self._is_smooth and self.ridge > 0 else []

    @override
    def _warn_of_separation(self, support: IndexArray, fitted: FloatArray) -> None:
        are_binary = np.array([isinstance(family, Binary) for family in self.columns.families])
        shown = fitted.copy()
        shown[: len(support)] *= are_binary[self.tail[support]] & are_binary[self.head[support]]
        shown[len(support) :] *= are_binary
        super()._warn_of_separation(support, shown)


def _read_variances(variances: ArrayLike, n: int) -> FloatArray:
    given = as_vector(variances, n, "variances", non_negative=True)
    if not given.all():
        raise ValueError(f"variances must be positive, got 0 at position {int(np.argmin(given))}")
    return given
