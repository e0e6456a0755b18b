"""How far a set function is from being submodular: γ, β and α, exact on small ground sets.

For disjoint sets A and B, with ``f(e | A) = f(A ∪ {e}) − f(A)``,

    Σ_{e∈B} f(e | A)  ≥  γ (f(A ∪ B) − f(A))                   lower ratio (Das and Kempe 2011)
    Σ_{e∈B} f(e | A ∪ B − e)  ≤  β (f(A ∪ B) − f(A))           upper ratio (Thiery and Ward 2022)
    f(e | U)  ≥  (1 − α) f(e | A)  for A ⊆ U, e ∉ U            generalised curvature (Bian et al. 2017)

γ = β = 1 for submodular functions, and α = 0 for linear ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.numerics import EQUAL, ROUNDING
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.theory.constants import Constant, RestrictedConstants, as_size, restricted_constants

# All sets of at most this many elements are evaluated, which is 4096 values.
MOST_ELEMENTS = 12


@dataclass(frozen=True)
class SubmodularityRatios:
    """γ, β and α of a monotone set function, and the size s of the sets that they are for.

    ``gamma`` and ``beta`` are for all disjoint A and B of at most s elements each; ``gamma_s`` and ``beta_s``
    for those with at most s elements together, so they are no worse. A size of None stands for any size.

    See Also
    --------
    submodularity_ratios : what computes them.

    References
    ----------
    - Das and Kempe (2011), Submodular meets spectral: greedy algorithms for subset selection, sparse
      approximation and dictionary selection.

    Examples
    --------
    >>> SubmodularityRatios.of_submodular()
    SubmodularityRatios(s=None, gamma=1 (exact), gamma_s=1 (exact), beta=1 (exact), beta_s=1 (exact), \
alpha=1 (upper bound))
    """

    s: int | None
    gamma: Constant
    gamma_s: Constant
    beta: Constant
    beta_s: Constant
    alpha: Constant

    @classmethod
    def of_submodular(cls, linear: bool = False) -> SubmodularityRatios:
        """Return what every monotone submodular function has, or every linear one."""
        one = Constant(1.0, "exact")
        return cls(
            None, one, one, one, one, Constant(0.0, "exact") if linear else Constant(1.0, "upper bound")
        )

    @classmethod
    def by_eigenvalues(cls, constants: RestrictedConstants) -> SubmodularityRatios:
        """Return the bounds by restricted strong concavity and smoothness, in a safe direction.

        ``γ ≥ m/M_1`` and ``β ≤ M_1/m``, m for as many elements as A ∪ B has. At the fit on A, with gradient
        g, an element adds at least ``‖g_e‖² / 2M_1``, and all of B at most ``‖g_B‖² / 2m``. At the fit w on
        A ∪ B, dropping an element loses at most ``M_1 ‖w_e‖² / 2``, and dropping B at least
        ``m ‖w_B‖² / 2``.

        Nothing follows for α: an element that is all but spanned by others adds next to nothing beside them,
        whatever m > 0 is, so α = 1 is all that is known. Within bounds on coefficients nothing follows at all
        (γ = 0): the gradient at a fit may be one that bounds hold back.

        >>> from swapwise import LeastSquares
        >>> constants = restricted_constants(LeastSquares(np.eye(3) + 0.1, np.ones(3)), s=1, t=2)
        >>> SubmodularityRatios.by_eigenvalues(constants).gamma
        0.813008 (lower bound)
        """
        M = np.inf if constants.within_bounds else float(constants.M_1)
        lows = [
            min(1.0, float(m) / M) if 0 < M < np.inf else float(M == 0)
            for m in (constants.m_2s, constants.m_s)
        ]
        highs = [1.0 / low if low > 0 else np.inf for low in lows]
        gamma, gamma_s = (Constant(low, "lower bound") for low in lows)
        beta, beta_s = (Constant(high, "upper bound") for high in highs)
        return cls(constants.s, gamma, gamma_s, beta, beta_s, Constant(1.0, "upper bound"))

    @property
    def submodular(self) -> bool:
        """Whether the function is submodular on sets of these sizes: γ = 1 implies that for pairs."""
        return float(self.gamma) >= 1.0


def submodularity_ratios(f: SetFunction, s: int) -> SubmodularityRatios:
    """Return γ, β and α of a monotone set function, exact on ground sets of up to 12 elements.

    On larger ones they are 1, 1 and (at most) 1 if f is known to be submodular, and bounds by sparse
    eigenvalues for sparse objectives (:meth:`SubmodularityRatios.by_eigenvalues`); otherwise this is refused.

    Parameters
    ----------
    f : SetFunction
    s : int
        The size of A and of B, such as ``constraint.max_size()``.

    See Also
    --------
    SubmodularityRatios : what is returned.
    guarantee : what follows from them.
    localizability : the constants of local search.

    References
    ----------
    - Das and Kempe (2011), Submodular meets spectral.
    - Bian, Buhmann, Krause and Tschiatschek (2017), Guarantees for greedy maximization of non-submodular
      functions with applications.
    - Thiery and Ward (2022), Two-sided weak submodularity for matroid constrained optimization and
      regression.

    Examples
    --------
    >>> from swapwise import CustomSetFunction, LeastSquares
    >>> square = CustomSetFunction(lambda chosen: len(chosen) ** 2, n=4)
    >>> ratios = submodularity_ratios(square, s=2)
    >>> ratios.gamma, ratios.beta, ratios.alpha
    (0.5 (exact), 1.5 (exact), 0 (exact))
    >>> X = np.array([[1.0, 0.6, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 1.0]])
    >>> submodularity_ratios(LeastSquares(X, y=[1.0, 1.0, 0.0]), s=2).gamma
    1 (exact)
    """
    if not isinstance(f, SetFunction):
        raise TypeError(f"f must be a SetFunction (CustomSetFunction makes one of a callable), got {f!r}")
    s = as_size(s, "s")
    if f.n <= MOST_ELEMENTS:
        return _enumerated(f, s)
    if f.monotone and f.submodular:
        return SubmodularityRatios.of_submodular()
    if isinstance(f, SparseObjective):
        return SubmodularityRatios.by_eigenvalues(restricted_constants(f, s, 1))
    raise ValueError(
        f"ratios of a set function of which nothing is known are enumerated, for at most {MOST_ELEMENTS} "
        f"elements; got {f.n}. A sparse objective, or one that is known to be submodular, may have more"
    )


def _enumerated(f: SetFunction, s: int) -> SubmodularityRatios:
    n = f.n
    masks = np.arange(2**n)
    bits = (masks[:, None] >> np.arange(n)) & 1
    values = np.array([float(f._value(np.flatnonzero(row))) for row in bits])
    rounding = EQUAL * float(np.abs(values).max()) + ROUNDING * f.scale
    lost = np.where(bits == 1, values[:, None] - values[masks[:, None] & ~(1 << np.arange(n))], 0.0)
    if lost.min(initial=0.0) < -rounding:
        worst, element = np.unravel_index(int(lost.argmin()), lost.shape)
        raise ValueError(
            f"f must be monotone to have submodularity ratios, but falls by {-lost.min():.6g} when {element} "
            f"joins {[int(e) for e in np.flatnonzero(bits[worst]) if e != element]}"
        )
    sizes = bits.sum(axis=1)
    lows, highs = np.ones(2), np.ones(2)
    for A in masks[sizes <= s]:
        B = masks[(masks & A == 0) & (sizes <= s) & (masks > 0)]
        within = sizes[A] + sizes[B] <= s
        gained = values[A | B] - values[A]
        counts = gained > rounding
        added = bits[B] @ (values[A | (1 << np.arange(n))] - values[A])
        dropped = (bits[B] * lost[A | B]).sum(axis=1)
        for place, chosen in enumerate((counts, counts & within)):
            lows[place] = min(lows[place], (added[chosen] / gained[chosen]).min(initial=1.0))
            highs[place] = max(highs[place], (dropped[chosen] / gained[chosen]).max(initial=1.0))
    gamma, gamma_s = (Constant(max(0.0, float(low)), "exact") for low in lows)
    beta, beta_s = (Constant(float(high), "exact") for high in highs)
    alpha = Constant(_curvature(values, bits, masks, rounding), "exact")
    return SubmodularityRatios(s, gamma, gamma_s, beta, beta_s, alpha)


def _curvature(values: FloatArray, bits: IndexArray, masks: IndexArray, rounding: float) -> float:
    """Return α: the largest relative fall of the gain of an element as the set grows."""
    n, alpha = bits.shape[1], 0.0
    for element in range(n):
        without = bits[:, element] == 0
        gains = np.where(without, values[masks | (1 << element)] - values, np.inf)
        least = gains.copy()
        for other in range(n):  # the least over all larger sets, by one element at a time
            least = np.minimum(least, least[masks | (1 << other)])
        counts = without & (gains > rounding)
        alpha = max(alpha, float((1.0 - least[counts] / gains[counts]).max(initial=0.0)))
    return min(alpha, 1.0)
