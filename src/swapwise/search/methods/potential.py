"""Local search by a potential, which also counts the values of subsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import expm1, inf

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_count, as_real
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid
from swapwise.moves import Step
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SetFunction, State
from swapwise.override import override
from swapwise.search.local_search import LocalSearch
from swapwise.search.methods.base import Method, moved_to
from swapwise.search.methods.colours import Colouring, colour_weights
from swapwise.search.methods.greedy import Greedy
from swapwise.search.rules import BestImprovement, Oblivious

# For bases of up to this many elements, all subsets (256) are evaluated, if the states at these hold at most
# this many numbers together. More colours than MOST_LEVELS are of no use.
SMALL_BASE, MOST_NUMBERS, MOST_LEVELS = 8, 1 << 24, 10

# The φ of :class:`Distorted`, with and without colours. None below 3/4 is ever needed without them, and none
# above 1 with them.
PHIS, RATIOS = (4.0, 2.0, 1.5, 1.0, 0.75), (1.0, 0.75, 0.5)


class PotentialSearch(Method):
    """Climb a potential from a greedy base; the answer is the best set on the way by the objective itself."""

    levels: int

    @override
    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        return None if isinstance(constraint, Matroid) else f"a matroid, got {constraint!r}"

    def _phis(self, exact: bool) -> Sequence[float]:
        raise NotImplementedError

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        yield from Greedy().bound(self._objective, self._constraint, self._tol).rounds(state, budget)
        base = self._constraint.extend(state.support, np.arange(self._constraint.n))
        yield moved_to(base, state, budget, self._tol)
        levels = self._levels(len(base))
        for phi in self._phis(exact=levels == inf):
            for support in self._climb(phi, base, levels, state, budget):
                base = support
                state.n_evaluations += 1
                if self._objective._value(base) > state.value:
                    yield moved_to(base, state, budget, self._tol)
            self.details = {"levels": levels, "phi": phi}

    def _levels(self, rank: int) -> float:
        """Return the number of colours of the potential; infinity for all subsets."""
        if self._objective.layered(layers_of(1.0, rank)) is not None or rank <= self.levels:
            return inf
        numbers = self._objective.n * rank * 2.0**rank
        is_small = rank <= SMALL_BASE and numbers <= MOST_NUMBERS
        return inf if is_small and self._objective.scoring == "closed form" else self.levels

    def _climb(
        self, phi: float, base: IndexArray, levels: float, state: State, budget: Budget
    ) -> Iterator[IndexArray]:
        # A budget of its own: steps of the potential must not be kept as steps of the objective.
        own, tol = Budget(budget.clock), max(self._tol, ROUNDING)
        potential = self._objective.layered(layers_of(phi, len(base)))
        if potential is not None:
            at = potential.start(base)
            search = LocalSearch(self._constraint, Oblivious(), BestImprovement(tol))
            while search.advance(at, own):
                yield at.support
            state.n_evaluations += at.n_evaluations
            return
        if levels == inf:
            colours, weights = np.arange(len(base)), subset_weights(phi, len(base))
        else:
            colours, weights = np.arange(len(base)) % self.levels, colour_weights(phi, self.levels)
        coloured = Colouring(self._objective, base, colours, weights, inherited=levels == inf)
        yield from coloured.climb(self._constraint, tol, own)
        state.n_evaluations += coloured.n_evaluations


class FilmusWard(PotentialSearch):
    """Non-oblivious local search of Filmus and Ward: ``(1 − 1/e) max f`` under a matroid.

    That holds for monotone and submodular f. Swaps are chosen by the potential
    ``Φ(S) = ∫₀¹ e^p/(e − 1) · E f(S(p))/p dp``, where S(p) holds each element of S with probability p. It has
    a closed form for ``Coverage``, ``FacilityLocation`` and ``Linear``; otherwise it is a sum
    over all subsets of a base of up to 8 elements, and larger bases are coloured (Buchbinder and Feldman). No
    value is sampled, so that the guarantee holds for certain.

    Parameters
    ----------
    levels : int
        The number ℓ of colours, where they are needed. Every round has 2^ℓ − 1 times the cost of one of the
        oblivious search, and the guarantee is ``1 − (1 + 1/ℓ)^{−ℓ}``: 0.59 for 4 colours, 0.61 for 8.

    See Also
    --------
    Distorted : for functions that are submodular only in part.
    swapwise.Oblivious : plain local search.

    Notes
    -----
    It begins with the greedy algorithm, and the best set on the way by f itself is the answer. A further
    local search, ``maximize(f, matroid, "oblivious", start="filmus-ward")``, can only improve it. The record
    has ``levels`` (infinity for all subsets) and ``phi`` (1) among its details.

    References
    ----------
    - Filmus and Ward (2014), Monotone submodular maximization over a matroid via non-oblivious local search.
    - Buchbinder and Feldman (2024), Deterministic algorithm and faster algorithm for submodular maximization
      subject to a matroid constraint.

    Examples
    --------
    >>> from swapwise import Coverage, Partition, maximize
    >>> f = Coverage([{1, 2}, {1, 3}, {1, 3}, {4, 5}], weights={1: 3, 2: 1, 3: 2, 4: 1, 5: 1})
    >>> maximize(f, Partition(["a", "a", "b", "b"], 1), "filmus-ward").value
    7.0
    """

    name = "filmus-ward"

    def __init__(self, levels: int = 4) -> None:
        self.levels = as_levels(levels)

    @override
    def _phis(self, exact: bool) -> Sequence[float]:
        return (1.0,)


class Distorted(PotentialSearch):
    """Distorted local search of Thiery and Ward, for functions that are submodular only in part.

    Swaps are chosen by ``Φ(S) = ∫₀¹ φ e^{φp}/(e^φ − 1) · E f(S(p))/p dp``. If γ and β are the submodularity
    ratio and its upper counterpart (for disjoint A and B, ``Σ_{e∈B} f(e | A) ≥ γ (f(A ∪ B) − f(A))`` and
    ``Σ_{e∈B} f(e | A ∪ B − e) ≤ β (f(A ∪ B) − f(A))``), a local optimum has

        ``f(S) ≥ γ² (1 − e^{−φ})/φ · max f``   for every ``φ ≥ β(1 − γ) + γ²``.

    Neither γ nor β needs to be known: several φ are tried in falling order, each from where the last one
    ended, and the guarantee is that of the smallest that is large enough.

    Parameters
    ----------
    phi : positive number, several of them, or None
        The φ. None is 4, 2, 1.5, 1 and 0.75, for ``β(1 − γ) + γ²`` is never below 3/4.
    levels : int
        The number ℓ of colours for bases of more than 8 elements; see :class:`FilmusWard`. There ``phi``
        stands for φ/β, of which 1 is always enough (None is 1, 0.75 and 0.5), and the guarantee is
        ``γ²/φ · (1 − (1 + φ/(βℓ))^{−ℓ})``.

    See Also
    --------
    FilmusWard : for submodular functions.

    References
    ----------
    - Thiery and Ward (2022), Two-sided weak submodularity for matroid constrained optimization and
      regression.
    - Buchbinder and Feldman (2024), for the colours.

    Examples
    --------
    >>> from swapwise import LeastSquares, Partition, maximize
    >>> f = LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0])
    >>> result = maximize(f, Partition(["a", "a", "b", "b"], 1), "distorted")
    >>> result.support, result.strategies[-1].details
    (array([1, 2]), {'levels': inf, 'phi': 0.75})
    """

    name = "distorted"

    def __init__(self, phi: float | Iterable[float] | None = None, levels: int = 4) -> None:
        self.phi: tuple[float, ...] | None = None
        if phi is not None:
            given = phi if isinstance(phi, Iterable) and not isinstance(phi, str) else [phi]
            self.phi = tuple(sorted({as_real(each, "phi", positive=True) for each in given}, reverse=True))
            if not self.phi:
                raise ValueError("phi must be a positive number or several, got none")
        self.levels = as_levels(levels)

    @override
    def _phis(self, exact: bool) -> Sequence[float]:
        return self.phi or (PHIS if exact else RATIOS)


def as_levels(levels: int) -> int:
    if not 1 <= as_count(levels, "levels") <= MOST_LEVELS:
        raise ValueError(f"levels must be from 1 to {MOST_LEVELS}, got {levels}")
    return levels


def layers_of(phi: float, rank: int) -> FloatArray:
    """Return ``∫₀¹ D(p) (1 − p)^i dp`` for i up to the rank, with ``D(p) = φ e^{φp}/(e^φ − 1)``.

    By the series ``φ/(e^φ − 1) Σ_k φ^k i!/(i + 1 + k)!``, all of whose terms are positive.
    """
    index = np.arange(rank + 1)
    term, total, k = 1.0 / (index + 1.0), np.zeros(rank + 1), 0
    while (term > np.finfo(float).eps * total).any():
        total += term
        k += 1
        term = term * phi / (index + 1.0 + k)
    return total * phi / expm1(phi)


def subset_weights(phi: float, rank: int) -> FloatArray:
    """Return ``∫₀¹ D(p) p^{s−1} (1 − p)^{rank−s} dp`` for subsets of s elements, 0 for none.

    By Gauss–Legendre quadrature, exact up to rounding for ranks up to SMALL_BASE and MOST_LEVELS.
    """
    nodes, weights = np.polynomial.legendre.leggauss(64)
    p, density = (1 + nodes) / 2, weights / 2 * phi * np.exp(phi * (1 + nodes) / 2) / expm1(phi)
    sizes = np.arange(1, rank + 1)[:, None]
    return np.append(0.0, (density * p ** (sizes - 1) * (1 - p) ** (rank - sizes)).sum(axis=1))
