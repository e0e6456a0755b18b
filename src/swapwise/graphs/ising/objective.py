"""The structure of an Ising model: which pairs of binary variables are coupled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_elements, warn
from swapwise.clock import Clock
from swapwise.graphs.ising.open import open_spins
from swapwise.graphs.ising.spin_data import SpinData
from swapwise.moves import MoveList
from swapwise.objectives.base import SparseObjective, Summand
from swapwise.objectives.fit_bounds import fit_bound
from swapwise.objectives.suprema import MOST_NUMBERS, Margins
from swapwise.override import override

if TYPE_CHECKING:
    from swapwise.graphs.ising.state import IsingState

# In data of -1 and +1, a coupling of 6 makes one value e²⁴ times as likely as the other. No number of
# samples that fits into memory calls for that, unless the data are separable and the likelihood has no
# maximum. For a field it is the double.
STRONGEST_COUPLING, STRONGEST_FIELD = 6.0, 12.0

# Graphs of more pairs are searched without second-order models.
MOST_PAIRS_IN_MODELS = 2000

# What a fit takes, as measured on one core of a common computer: steps, and products per second.
ISING_NEWTON_STEPS, ISING_PRODUCTS_PER_SECOND = 8, 2e9


class PairwisePseudoLikelihood(SparseObjective):
    """Mean pseudo-log-likelihood of a pairwise model with the chosen couplings, whatever its data are.

    Every vertex is predicted from its neighbours, with one coupling for both directions of an edge.
    """

    ranks_by_gradient = True

    def __init__(self, data: SpinData) -> None:
        self.data = data
        self.scoring = self.data.scoring
        self.second_order = self.data.samples is not None and self.data.model.n <= MOST_PAIRS_IN_MODELS
        self.n_samples = self.data.n_samples
        # The samples, one vertex per row, if they are in memory; 0 where they are missing.
        self.spins = None if self.data.samples is None else self.data.samples.own
        model = self.data.model
        self.n, self.n_vertices = model.n, model.n_vertices
        self.tail, self.head = model.tail, model.head
        self.ridge, self.fields = model.ridge, model.fields
        # The Hessian at no coupling attains it, unless fields are fitted, which take some of it away.
        self.curvature_is = "bound" if self.fields else "attained"
        self._warned_of_separation = self._warned_of_doubt = False
        self.scale = self.n_vertices * np.log(2.0)  # the value of a perfect prediction
        nothing = np.zeros(self.n)
        self._fields_alone = self.data.best_fields(nothing)
        self._at_zero = self.data.value(nothing, self._fields_alone)

    @property
    @override
    def n_passes(self) -> float | None:
        return self.data.n_passes

    @property
    def n_observed(self) -> IndexArray:
        """In how many samples both of two vertices were observed: a symmetric matrix."""
        return self.data.n_observed

    @property
    def imputed(self) -> FloatArray:
        """What each vertex is to its neighbours where it is missing: its mean, or 0 without fields."""
        return self.data.imputed

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The pairs of vertices that the elements stand for."""
        return list(zip(self.tail.tolist(), self.head.tolist(), strict=True))

    @override
    def __repr__(self) -> str:
        size = f"{self.n_samples} samples, {self.n_vertices} vertices, {self.n} edges"
        return f"{type(self).__name__}({size}, ridge={self.ridge:g}, fields={self.fields})"

    @override
    def start(self, support: Iterable[int] = ()) -> IsingState:
        from swapwise.graphs.ising.state import IsingState

        return IsingState(self, as_elements(support, self.n, "the start"))

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        value, parameters = self.fit_from(support, self.no_couplings(len(support)))
        return value, parameters[: len(support)]

    def biases(self, support: Iterable[int]) -> FloatArray:
        """Return the bias of every vertex in the fit on ``support``; zeros without fields."""
        elements = as_elements(support, self.n, "the support")
        _, parameters = self.fit_from(elements, self.no_couplings(len(elements)))
        return parameters[len(elements) :] if self.fields else np.zeros(self.n_vertices)

    def no_couplings(self, n_edges: int) -> FloatArray:
        """Return parameters to begin a refit with: all couplings zero."""
        return np.append(np.zeros(n_edges), self._fields_alone if self.fields else [])

    @override
    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        if support is None:
            return self.data.perfect - self._at_zero
        return fit_bound(self, support, clock, seconds=self._fit_seconds(support))

    def _fit_seconds(self, support: IndexArray) -> float:
        """Return about how many seconds a fit takes.

        Without samples it is 0: only graphs of small degree can be fitted from counts, quickly.
        """
        if self.data.samples is None:
            return 0.0
        degrees = self.data.model.degrees(support).astype(float)
        size = len(support) + self.n_vertices * self.fields
        products = self.n_samples * float((degrees**2).sum()) / 2 + float(size) ** 3 / 6
        return ISING_NEWTON_STEPS * products / ISING_PRODUCTS_PER_SECOND

    def mean_log_likelihood(self, value: float, coef: FloatArray) -> float:
        """Return the mean pseudo-log-likelihood of a fit with some value, without the ridge's penalty.

        >>> f = IsingPseudoLikelihood([[1, 1], [-1, 1]], ridge=0.1)
        >>> round(float(f.mean_log_likelihood(0.0, np.zeros(1)) / np.log(2)), 6)
        -2.0
        """
        return float(value + self._at_zero + self.data.offset + self.ridge * (coef @ coef) / 2)

    def fit_from(self, support: IndexArray, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Refit from given parameters (edges first, then fields) and return value and parameters."""
        if not len(support):
            return 0.0, self.no_couplings(0)
        fitted = parameters.copy()
        value, converged = self.data.refit(support, fitted)
        self._warn_of_trouble(support, fitted, converged)
        return value - self._at_zero, fitted

    def values_after(
        self, support: IndexArray, parameters: FloatArray, moves: MoveList
    ) -> tuple[FloatArray, BoolArray]:
        """Return the value after each move from a fit, and whether its refit came to its end."""
        values, converged = self.data.values_after(support, parameters, moves)
        return values - self._at_zero, converged

    def _warn_of_trouble(self, support: IndexArray, fitted: FloatArray, converged: bool) -> None:
        if not converged and not self._warned_of_doubt:
            chosen = [self.edges[e] for e in support]
            self._warned_of_doubt = warn(
                f"the fit on the edges {chosen} did not converge: its value may be too low, so a search "
                "may pass it over, and a local optimum may not be one; a larger ridge helps"
            )
        if not self._warned_of_separation and self.ridge == 0:
            self._warn_of_separation(support, fitted)

    def _warn_of_separation(self, support: IndexArray, fitted: FloatArray) -> None:
        couplings, fields = np.abs(fitted[: len(support)]), np.abs(fitted[len(support) :])
        strong = couplings * np.sqrt(self.edge_curvature[support]) > STRONGEST_COUPLING
        biased = fields * self.data.vertex_sizes[: len(fields)] > STRONGEST_FIELD
        if strong.any() or biased.any():
            edge = self.edges[int(support[np.argmax(strong)])] if strong.any() else None
            what = f"coupling of {edge}" if strong.any() else f"field of vertex {int(np.argmax(biased))}"
            self._warned_of_separation = warn(
                f"the data are separable: the best {what} is not finite, and was stopped where nothing "
                "more is gained; a ridge (for instance ridge=0.01) makes couplings finite"
            )

    # -- u at any couplings -------------------------------------------------------------------------

    @override
    def value_at(self, coef: FloatArray) -> float:
        return self.data.value(coef, None) - self._at_zero

    @override
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        return self.gradient_with(coef, None)

    @override
    def value_and_gradient_at(self, coef: FloatArray) -> tuple[float, FloatArray]:
        fields = self.data.best_fields(coef)
        return self.data.value(coef, fields) - self._at_zero, self.gradient_with(coef, fields)

    def gradient_with(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        """Return the gradient with given fields, or else with the best for these couplings."""
        return self.data.gradient(coef, fields) - self.ridge * coef

    @override
    def summands(self, coef: FloatArray) -> list[Summand]:
        from swapwise.graphs.ising.summands import vertex_summands

        samples = self.data.samples
        return [] if samples is None else list(vertex_summands(samples, coef))

    # -- curvature ----------------------------------------------------------------------------------

    @property
    def edge_curvature(self) -> FloatArray:
        """The mean of ``x_v² z_u²`` for every edge, or of ``x_u² z_v²`` if it is larger.

        z is x, and what stands for it where it is missing. It is 1 for data of -1 and +1, and less where some
        are missing.
        """
        return self.data.edge_curvature

    @override
    def curvature(self, columns: IndexArray) -> FloatArray | None:
        # At no coupling every logistic loss curves the most. Edges (a, v) and (b, v) meet in the mean of
        # x_v² z_a z_b; edges that share no vertex do not meet.
        block = np.zeros((self.n, len(columns)))
        for ends, others in ((self.tail, self.head), (self.head, self.tail)):
            for column, edge in enumerate(columns):
                for shared, other in ((self.tail[edge], self.head[edge]), (self.head[edge], self.tail[edge])):
                    meet = np.flatnonzero(ends == shared)
                    block[meet, column] += self.data.mean_products(shared, other, others[meet])
        block[columns, np.arange(len(columns))] += self.ridge
        return block

    @override
    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        hessian = self.data.hessian(coef, elements)
        hessian[np.diag_indices(len(elements))] += self.ridge
        return hessian

    @override
    def smoothness(self, t: int) -> float:
        # t + 1 for data of -1 and +1: the logistic loss of vertex v curves by at most
        # x_v² (Σ_u δ_uv z_u)² ≤ deg_v Σ_u δ_uv² x_v² z_u² along δ; an edge is counted at both ends, and the
        # ends of an edge have together at most t + 1 neighbours in a graph with t edges.
        return (t + 1) * float(self.edge_curvature.max(initial=0.0)) + self.ridge

    @override
    def strong_concavity(self, t: int) -> float:
        return self.ridge


class IsingPseudoLikelihood(PairwisePseudoLikelihood):
    r"""Mean pseudo-log-likelihood of an Ising model with the chosen couplings.

    .. math::
        u(w) = \frac1N \sum_{x} \sum_v \log σ(2 x_v h_v) - \tfrac{λ}{2} ‖w‖^2, \quad h_v = \sum_u w_{uv} x_u,

    with the logistic function σ, over the N samples x. Every variable is predicted from its neighbours, with
    one coupling for both directions. The elements of the ground set are the pairs of variables i < j in
    lexicographic order, or the ``edges`` given. Values are relative to no coupling at all, so f(∅) = 0.

    Parameters
    ----------
    spins : array-like of shape (n_samples, n_vertices)
        Variables of two values, -1 and +1; other real numbers are taken as they are, and NaN is missing, see
        the notes. Data in chunks (a memory-mapped file, the name of a ``.npy`` file, a Dask array or frame)
        may hold 0 and 1, or booleans, too, and no other numbers, and none may be missing; they are read in
        few passes, which ``n_passes`` counts.
    ridge : float
        Weight of the penalty ``‖w‖²/2``.
    fields : bool
        Fit a bias for every vertex, which is always free.
    edges : sequence of (int, int) or networkx graph, optional
        The pairs that may be coupled, by the numbers of their columns.
    sample_weight : array-like of shape (n_samples,), optional
        How much each sample counts, such as how often it was seen: all means are weighted. A weight of 2 is
        the same sample twice, a weight of 0 none. In memory, also beside data in chunks.
    completed : array-like of shape (n_samples, n_vertices), optional
        The samples without missing entries, as neighbours see them. By default, means take their places.

    See Also
    --------
    IsingGraph : the estimator.
    GaussianPseudoLikelihood, MixedPseudoLikelihood : variables of other kinds.
    BMatching : the limit on neighbours.

    Notes
    -----
    What a vertex adds depends on its own spin and on those of its neighbours alone: with three neighbours, on
    how often each of 16 patterns was seen. Data in chunks, and many samples of -1 and +1 in memory, are
    fitted from these counts.

    Where x_v is missing, its term is left out: a vertex is fitted to the samples in which it was observed,
    and the sum is still divided by the number of samples. Where a neighbour x_u is missing, h_v has what
    ``completed`` holds, or else its mean (the weighted mean of what was observed of it; in a model without
    fields, 0), so that a coupling learns from the samples in which both were observed, and fields keep their
    meaning. A mean does not tell what a missing variable would have: where one is missing, those on both
    sides of it look dependent, and of many samples with many missing entries some edges between neighbours of
    neighbours would be false. :class:`IsingGraph` therefore completes samples by draws from the fitted model.
    Samples of which everything is missing are left out. ``n_observed`` tells in how many samples each pair
    was observed, where whole numbers as weights are counts.

    References
    ----------
    - Besag (1975), Statistical analysis of non-lattice data.
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    Three variables, the first two of which mostly agree:

    >>> from swapwise import BMatching, maximize
    >>> from swapwise.graphs import IsingPseudoLikelihood
    >>> spins = [[1, 1, 1], [1, 1, -1], [-1, -1, 1], [-1, -1, -1], [1, -1, 1], [1, 1, -1]]
    >>> f = IsingPseudoLikelihood(spins, ridge=0.1)
    >>> f.edges
    [(0, 1), (0, 2), (1, 2)]
    >>> result = maximize(f, BMatching(f.edges, b=1))
    >>> [f.edges[e] for e in result.support]
    [(0, 1)]

    One row was there twice, and can be given once with its count:

    >>> counted = IsingPseudoLikelihood(spins[:5], ridge=0.1, sample_weight=[1, 2, 1, 1, 1])
    >>> bool(np.isclose(counted([0]), f([0]), rtol=1e-12))
    True

    Two answers are missing:

    >>> spins = [[1, 1, 1], [1, np.nan, -1], [-1, -1, 1], [-1, -1, np.nan], [1, -1, 1], [1, 1, -1]]
    >>> f = IsingPseudoLikelihood(spins, ridge=0.1, fields=True)
    >>> f.n_observed
    array([[6, 5, 5],
           [5, 5, 4],
           [5, 4, 5]])
    >>> f.coef([0]).round(3)
    array([1.088, 0.   , 0.   ])

    Data in chunks:

    >>> import dask.array as da
    >>> spins = da.from_array(np.array([[0, 0, 1], [1, 1, 1], [1, 1, 0], [0, 1, 0]]), chunks=(2, 3))
    >>> f = IsingPseudoLikelihood(spins, ridge=0.1)
    >>> f.coef([0]).round(3), f.n_passes
    (array([0.516, 0.   , 0.   ]), 2.0)
    """

    def __init__(
        self,
        spins: ArrayLike,
        ridge: float = 0.0,
        fields: bool = False,
        edges: Sequence[tuple[int, int]] | None = None,
        sample_weight: ArrayLike | None = None,
        completed: ArrayLike | None = None,
    ) -> None:
        super().__init__(open_spins(spins, ridge, fields, edges, sample_weight, completed))

    @override
    def margins(self, support: IndexArray) -> Margins | None:
        # Samples in which a vertex and its neighbours are alike are counted together.
        if self.ridge > 0:
            return None
        found = self.data.patterns(support)
        known = sum(len(share) for _, share in found)
        parameters = len(support) + self.n_vertices * self.fields
        if known * parameters > MOST_NUMBERS:
            return None
        rows, first = np.zeros((known, parameters)), 0
        tail, head = self.tail[support], self.head[support]
        for vertex, (spins, share) in enumerate(found):
            places = np.flatnonzero((tail == vertex) | (head == vertex))
            places = places[np.argsort((tail + head)[places])]  # in the order of the neighbours
            own = rows[first : first + len(share)]
            own[:, places] = (2.0 * spins[0] * spins[1:]).T
            if self.fields:
                own[:, len(support) + vertex] = 2.0 * spins[0]
            first += len(share)
        shares = np.concatenate([share for _, share in found])
        return Margins(rows, np.zeros(known), np.arange(known), shares, -self._at_zero)
