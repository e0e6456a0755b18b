"""The structure of an Ising model: which pairs of binary variables are coupled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_elements, as_real, warn
from swapwise.clock import Clock
from swapwise.moves import MoveList
from swapwise.objectives.base import SparseObjective, Summand
from swapwise.objectives.fit_bounds import fit_bound
from swapwise.objectives.ising_parts import (
    MAX_STEPS,
    best_biases,
    kind_for,
    pulls_at,
    read_edges,
    read_spins,
    sigmoid,
)

if TYPE_CHECKING:
    from swapwise.objectives.ising_state import IsingState

REFIT_TOLERANCE = 1e-13

# In data of -1 and +1, a coupling of 6 makes one value e²⁴ times as likely as the other. No number of
# samples that fits into memory calls for that, unless the data are separable and the likelihood has no
# maximum. For a field it is the double.
STRONGEST_COUPLING, STRONGEST_FIELD = 6.0, 12.0

# A margin beyond which a sample has one sign for good.
SURE = 20.0

# The longest step of a refit, in the same units.
LONGEST_STEP = 8.0

# A refit that scores a move may stop this far below the maximum; what it leaves out after its last step
# is smaller by orders of magnitude.
GAIN_TOLERANCE = 1e-13

ROWS_WORTH_THREADS = 64

# What a fit takes, as measured on one core of a common computer: steps, and products per second.
ISING_NEWTON_STEPS, ISING_PRODUCTS_PER_SECOND = 8, 2e9


class IsingPseudoLikelihood(SparseObjective):
    """Mean pseudo-log-likelihood of an Ising model with the chosen couplings.

    ``u(w) = mean over samples of Σ_v log σ(2 x_v h_v) − ridge ‖w‖²/2`` with ``h_v = Σ_u w_uv x_u``: every
    variable is predicted from its neighbours, with one coupling for both directions. The elements of the
    ground set are the pairs of variables i < j in lexicographic order, or the ``edges`` given. Values are
    relative to no coupling at all, so f(∅) = 0.

    Parameters
    ----------
    spins : array-like of shape (n_samples, n_vertices)
        Variables of two values, -1 and +1; other real numbers are taken as they are. Data in chunks (a
        memory-mapped file, the name of a ``.npy`` file, a Dask array or frame) may hold 0 and 1, or booleans,
        too, and no other numbers; they are read in few passes, see :class:`StreamedIsing`.
    ridge : float
        Weight of the penalty ``‖w‖²/2``.
    fields : bool
        Fit a bias a vertex, which is always free.
    edges : sequence of (int, int) or networkx graph, optional
        The pairs that may be coupled, by the numbers of their columns.

    Examples
    --------
    Three variables, the first two of which mostly agree:

    >>> from swapwise import BMatching, IsingPseudoLikelihood, maximize
    >>> spins = [[1, 1, 1], [1, 1, -1], [-1, -1, 1], [-1, -1, -1], [1, -1, 1], [1, 1, -1]]
    >>> f = IsingPseudoLikelihood(spins, ridge=0.1)
    >>> f.edges
    [(0, 1), (0, 2), (1, 2)]
    >>> result = maximize(f, BMatching(f.edges, b=1))
    >>> [f.edges[e] for e in result.support]
    [(0, 1)]
    """

    def __new__(cls, spins: Any = None, *_: Any, **__: Any) -> Self:
        """Return an objective that counts patterns, if the data come in chunks or are many."""
        kind: type[Any] = cls
        if cls is IsingPseudoLikelihood and spins is not None:
            kind = kind_for(spins)
        return object.__new__(kind)

    def __init__(
        self,
        spins: ArrayLike,
        ridge: float = 0.0,
        fields: bool = False,
        edges: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        samples = read_spins(spins)
        self._settle_on(samples.shape, ridge, fields, edges)
        self.spins = np.ascontiguousarray(samples.T)  # one vertex a row: its samples lie side by side
        self._fields_alone = self._best_fields(np.zeros((self.n_vertices, self.n_samples)))
        self._at_zero = self._log_likelihood(self._fields_alone[:, None] + np.zeros_like(self.spins))

    def _settle_on(self, shape: tuple[int, int], ridge: Any, fields: Any, edges: Any) -> None:
        """Check and keep what is known before a look at the samples."""
        self.n_samples, self.n_vertices = shape
        self.ridge = as_real(ridge, "ridge")
        if not isinstance(fields, (bool, np.bool_)):
            raise TypeError(f"fields must be True or False, got {fields!r}")
        self.fields = bool(fields)
        # The Hessian at no coupling attains it, unless fields are fitted, which take some of it away.
        self.curvature_is = "bound" if self.fields else "attained"
        self.tail, self.head = read_edges(edges, self.n_vertices)
        self.n = len(self.tail)
        self._warned_of_separation = self._warned_of_doubt = False
        self.scale = self.n_vertices * np.log(2.0)  # the value of a perfect prediction

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The pairs of vertices that the elements stand for."""
        return list(zip(self.tail.tolist(), self.head.tolist(), strict=True))

    def __repr__(self) -> str:
        """Return a short description."""
        size = f"{self.n_samples} samples, {self.n_vertices} vertices, {self.n} edges"
        return f"IsingPseudoLikelihood({size}, ridge={self.ridge:g}, fields={self.fields})"

    def start(self, support: Iterable[int] = ()) -> IsingState:
        """Return a state at ``support``, which scores moves by warm-started refits."""
        from swapwise.objectives.ising_state import IsingState

        return IsingState(self, as_elements(support, self.n, "the start"))

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

    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        """Return what f(support) does not exceed; without a set, the value of a perfect prediction."""
        if support is None:
            return -self._at_zero
        return fit_bound(self, support, clock, seconds=self._fit_seconds(support))

    def _fit_seconds(self, support: IndexArray) -> float:
        """Return about how many seconds a fit takes: Newton steps that factor a matrix each."""
        degrees = np.bincount(np.append(self.tail[support], self.head[support]), minlength=self.n_vertices)
        size = len(support) + self.n_vertices * self.fields
        products = self.n_samples * float((degrees.astype(float) ** 2).sum()) / 2 + float(size) ** 3 / 6
        return ISING_NEWTON_STEPS * products / ISING_PRODUCTS_PER_SECOND

    def fit_from(self, support: IndexArray, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Refit from given parameters (edges first, then fields) and return value and parameters."""
        if not len(support):
            return 0.0, self.no_couplings(0)
        fitted = parameters.copy()
        value, converged = self._refit(support, fitted)
        self._warn_of_trouble(support, fitted, converged)
        return value - self._at_zero, fitted

    def _refit(self, support: IndexArray, fitted: FloatArray) -> tuple[float, bool]:
        """Refit in place; return the log-likelihood and whether it is the maximum."""
        from swapwise.kernels import ising

        spins, tail, head, ridge, *longest = self._problem
        lengths = ising.step_lengths(support, len(fitted), *longest)
        return ising.refit(
            spins, tail[support], head[support], fitted, ridge, lengths, REFIT_TOLERANCE, MAX_STEPS
        )

    def values_after(
        self, support: IndexArray, parameters: FloatArray, moves: MoveList
    ) -> tuple[FloatArray, BoolArray]:
        """Return the value after each move from a fit, and whether its refit came to its end."""
        from swapwise.kernels import ising

        # Waking the threads costs more than a few refits.
        many = len(moves) > ROWS_WORTH_THREADS
        refits = ising.values_after_on_all_threads if many else ising.values_after
        values, converged = refits(
            self._problem, support, parameters, moves.added, moves.dropped, GAIN_TOLERANCE, MAX_STEPS
        )
        return values - self._at_zero, converged

    @cached_property
    def _problem(self) -> tuple[Any, ...]:
        """What the kernels need to know: data, edges, ridge, longest steps of couplings and of fields."""
        couplings = np.sqrt(_positive(self.edge_curvature))
        fields = _positive(self._vertex_sizes)
        return (self.spins, self.tail, self.head, self.ridge, LONGEST_STEP / couplings, LONGEST_STEP / fields)

    def _warn_of_trouble(self, support: IndexArray, fitted: FloatArray, converged: bool) -> None:
        """Say once that couplings or fields run away, and once that a refit did not come to its end."""
        if not converged and not self._warned_of_doubt:
            chosen = [self.edges[e] for e in support]
            self._warned_of_doubt = warn(
                f"the fit on the edges {chosen} did not converge: its value may be too low, so a search "
                "may pass it over, and a local optimum may not be one; a larger ridge helps"
            )
        if self._warned_of_separation or self.ridge > 0:
            return
        couplings, fields = np.abs(fitted[: len(support)]), np.abs(fitted[len(support) :])
        strong = couplings * np.sqrt(self.edge_curvature[support]) > STRONGEST_COUPLING
        biased = fields * self._vertex_sizes[: len(fields)] > STRONGEST_FIELD
        if strong.any() or biased.any():
            edge = self.edges[int(support[np.argmax(strong)])] if strong.any() else None
            what = f"coupling of {edge}" if strong.any() else f"field of vertex {int(np.argmax(biased))}"
            self._warned_of_separation = warn(
                f"the data are separable: the best {what} is not finite, and was stopped where nothing "
                "more is gained; a ridge (for instance ridge=0.01) makes couplings finite"
            )

    @cached_property
    def _vertex_sizes(self) -> FloatArray:
        """The root mean square of every vertex: 1 for data of -1 and +1."""
        return np.sqrt(np.mean(self.spins**2, axis=1))

    # -- u at any couplings -------------------------------------------------------------------------

    def value_at(self, coef: FloatArray) -> float:
        """Return the pseudo-log-likelihood at couplings ``w`` (with the best fields), relative to none."""
        log_likelihood = self._log_likelihood(self.local_fields(coef))
        return log_likelihood - self.ridge * float(coef @ coef) / 2 - self._at_zero

    def gradient_at(self, coef: FloatArray) -> FloatArray:
        """Return the gradient at couplings ``w`` over all pairs: each pulls at both of its ends."""
        return self.gradient_with(coef, None)

    def gradient_with(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        """Return the gradient with given fields, or else with the best for these couplings."""
        pulls = self._pulls(coef, fields)
        return pulls[self.tail, self.head] + pulls[self.head, self.tail] - self.ridge * coef

    def _pulls(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        """Return the mean over the samples of what each vertex, a column, pulls at each other, a row."""
        return pulls_at(self.spins, self.local_fields(coef, fields)) / self.n_samples

    def _coupling_matrix(self, coef: FloatArray) -> FloatArray:
        couplings = np.zeros((self.n_vertices, self.n_vertices))
        couplings[self.tail, self.head] = couplings[self.head, self.tail] = coef
        return couplings

    def local_fields(self, coef: FloatArray, fields: FloatArray | None = None) -> FloatArray:
        """Return h for every vertex and sample, with given fields or else the best for these couplings."""
        local = self._coupling_matrix(coef) @ self.spins
        if not self.fields:
            return local
        return local + (self._best_fields(local) if fields is None else fields)[:, None]

    def _log_likelihood(self, local: FloatArray) -> float:
        return float(-np.logaddexp(0.0, -2.0 * self.spins * local).sum() / self.n_samples)

    def _best_fields(self, local: FloatArray) -> FloatArray:
        """Return the best bias a vertex on top of local fields."""
        if not self.fields:
            return np.zeros(self.n_vertices)

        def slopes(bias: FloatArray) -> tuple[FloatArray, FloatArray]:
            wrong = sigmoid(-2.0 * self.spins * (local + bias[:, None]))
            curve = 4.0 * self.spins**2 * wrong * (1.0 - wrong)
            return (2.0 * self.spins * wrong).mean(axis=1), curve.mean(axis=1)

        largest = np.maximum(np.abs(self.spins).max(axis=1), np.finfo(float).tiny)
        return best_biases(slopes, (SURE + 2.0 * np.abs(self.spins * local).max(axis=1)) / largest)

    def summands(self, coef: FloatArray) -> list[Summand]:
        """Return one part for every vertex, priced so that both ends of an edge would keep ``coef``."""
        from swapwise.objectives.ising_summands import VertexSummand

        pulls = self._pulls(coef, None)
        # What the head would gain more from the coupling than the tail; without ridge, prices know no bounds.
        price = (pulls[self.head, self.tail] - pulls[self.tail, self.head]) / 2 * (self.ridge > 0)
        alone = -np.logaddexp(0.0, -2.0 * self.spins * self.local_fields(np.zeros(self.n))).mean(axis=1)
        parts: list[Summand] = []
        for vertex, spin in enumerate(self.spins):
            elements = np.flatnonzero((self.tail == vertex) | (self.head == vertex))
            is_tail = self.tail[elements] == vertex
            others = np.where(is_tail, self.head[elements], self.tail[elements])
            prices = np.where(is_tail, price[elements], -price[elements])
            field = spin if self.fields else None
            signals = self.spins[others] * spin
            parts.append(VertexSummand(elements, signals, field, self.ridge, prices, float(alone[vertex])))
        return parts

    # -- curvature ----------------------------------------------------------------------------------

    @cached_property
    def edge_curvature(self) -> FloatArray:
        """The mean of ``x_u² x_v²`` for every edge: 1 for data of -1 and +1."""
        squares = self.spins**2
        return (squares @ squares.T / self.n_samples)[self.tail, self.head]

    def curvature(self, columns: IndexArray) -> FloatArray:
        """Return columns of minus the Hessian at no coupling, where every logistic loss curves the most.

        Edges that share a vertex v meet in the mean of ``x_v² x_a x_b``; others do not meet.

        >>> IsingPseudoLikelihood([[1, -1, 1], [-1, -1, 1]]).curvature(np.array([0]))
        array([[ 2.],
               [-1.],
               [ 0.]])
        """
        block = np.zeros((self.n, len(columns)))
        for ends, others in ((self.tail, self.head), (self.head, self.tail)):
            for column, edge in enumerate(columns):
                for shared, other in ((self.tail[edge], self.head[edge]), (self.head[edge], self.tail[edge])):
                    meet = np.flatnonzero(ends == shared)
                    block[meet, column] += self._mean_products(shared, other, others[meet])
        block[columns, np.arange(len(columns))] += self.ridge
        return block

    def _mean_products(self, shared: int, other: int, thirds: IndexArray) -> FloatArray:
        """Return the mean of ``x_v² x_a x_b`` for v shared, a the other, and b each of the thirds."""
        return self.spins[thirds] @ (self.spins[shared] ** 2 * self.spins[other] / self.n_samples)

    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        """Return minus the Hessian at couplings ``w``, for some edges."""
        if self.fields:  # the best fields move along: their share is easier had by differences
            return super().hessian_at(coef, elements)
        wrong = sigmoid(-2.0 * self.spins * self.local_fields(coef))
        weight = 4.0 * wrong * (1.0 - wrong) * self.spins**2 / self.n_samples
        block = self.ridge * np.eye(len(elements))
        tail, head = self.tail[elements], self.head[elements]
        for vertex in range(self.n_vertices):
            meet = np.flatnonzero((tail == vertex) | (head == vertex))
            others = self.spins[np.where(tail[meet] == vertex, head[meet], tail[meet])]
            block[np.ix_(meet, meet)] += (others * weight[vertex]) @ others.T
        return block

    def smoothness(self, t: int) -> float:
        """Return a valid M_{s,t}: t + 1 for data of -1 and +1.

        The logistic loss of vertex v curves by at most ``(Σ_u δ_uv x_u)² ≤ deg_v Σ_u δ_uv² x_u²`` along
        δ; an edge is counted at both ends, and two ends of a graph with t edges have at most t + 1.

        >>> IsingPseudoLikelihood([[1, -1, 1], [-1, -1, 1]]).smoothness(3)
        4.0
        """
        return (t + 1) * float(self.edge_curvature.max(initial=0.0)) + self.ridge

    def strong_concavity(self, t: int) -> float:
        """Return the ridge: the likelihood itself may be flat far out."""
        return self.ridge


def _positive(sizes: FloatArray) -> FloatArray:
    """Return sizes, with the largest in place of zeros: what has no size has no effect, whatever its step."""
    return np.where(sizes > 0, sizes, sizes.max(initial=0.0) or 1.0)
