"""How much a sparse objective curves along directions with few non-zeros: m_s, M_s and M_{s,t}."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_count
from swapwise.numerics import SUM
from swapwise.objectives.base import SparseObjective, known_smoothness

# Columns of the curvature in memory at a time.
BLOCK = 256

# Up to this many elements, the whole curvature is kept in memory, and its eigenvalues are computed.
WHOLE_UP_TO = 1000

# The limits on the number of submatrices to enumerate, and on the work on them: about a second
SUBMATRICES, OPERATIONS = 20_000, 10**9

# Entries of submatrices in memory at a time.
ENTRIES_AT_ONCE = 10**6


class Constant(float):
    """A number with its kind: the constant itself, or a bound on it in a safe direction.

    A lower bound of an m and an upper bound of an M are safe: a guarantee made of them holds.

    See Also
    --------
    RestrictedConstants, SubmodularityRatios : made of these.

    Examples
    --------
    >>> m = Constant(0.5, "lower bound")
    >>> m, 2 * m, m.exact
    (0.5 (lower bound), 1.0, False)
    """

    kind: str

    def __new__(cls, value: float, kind: str) -> Constant:
        """Return the number, marked ``"exact"``, ``"lower bound"`` or ``"upper bound"``."""
        constant = super().__new__(cls, value)
        constant.kind = kind
        return constant

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        return float(self), self.kind

    @property
    def exact(self) -> bool:
        """Whether this is the constant itself."""
        return self.kind == "exact"

    def __repr__(self) -> str:
        return f"{float(self):.6g} ({self.kind})"


@dataclass(frozen=True)
class RestrictedConstants:
    """Restricted strong concavity (m) and smoothness (M) of a sparse objective.

    Of pairs of points x and y, ``m_s`` is for those of ``Ω_s``, ``M_st`` for those of ``Ω_{s,t}``, with at
    most s non-zeros each and at most t places in which they differ; ``Ω_s`` is ``Ω_{s,s}``, and ``M_s`` is
    ``M_{s,s}``. The inequalities that they stand for are those of :func:`restricted_constants`.

    See Also
    --------
    restricted_constants : what computes them.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> from swapwise import LeastSquares
    >>> from swapwise.theory import restricted_constants
    >>> constants = restricted_constants(LeastSquares(2 * np.eye(3), [1.0, 1.0, 0.0]), s=1, t=2)
    >>> constants.m_2s, constants.M_st
    (4 (exact), 4 (exact))
    """

    s: int
    t: int
    m_1: Constant
    m_s: Constant
    m_2s: Constant
    M_1: Constant
    M_s: Constant
    M_st: Constant
    #: The M that non-oblivious local search works with by default
    M_rule: Constant
    #: Whether coefficients have bounds. Then these are constants of ``u`` all the same, but the theorems that
    #: read them do not hold: a fit has slopes that its bounds hold back.
    within_bounds: bool = False


def restricted_constants(objective: SparseObjective, s: int, t: int) -> RestrictedConstants:
    r"""Return restricted strong concavity (m) and smoothness (M) of ``u``, exact where that is affordable.

    m and M on a set Ω of pairs of points (Definition 4 of Fujii 2020) are the numbers for which ::

        −(m/2) ‖y − x‖²  ≥  u(y) − u(x) − ⟨∇u(x), y − x⟩  ≥  −(M/2) ‖y − x‖²   for all (x, y) in Ω

    ``m_s`` is for ``Ω_s``, the pairs of points with at most s non-zeros that differ in at most s places.
    ``M_{s,t}`` is for ``Ω_{s,t}``: at most s non-zeros each, and at most t places in which they differ.

    With :math:`H(w) = -∇^2 u(w)`, and its principal submatrices :math:`H_K` of k rows and columns:

    .. math:: m_k = \min_w \min_{|K| = k} λ_{\min}(H_K(w)), \quad k = 1, s, 2s

    .. math:: M_{s,t} = \max_w \max_{|K| = t} λ_{\max}(H_K(w)), \quad M_s = M_{s,s}

    - For a quadratic ``u`` all are exact if k is 1, 2 or n (up to 1000 elements), or if there are few
      submatrices (up to 20,000).
    - If H(w) is largest at a known w (an Ising model without fields), that goes for every M; the m are
      lower bounds that the objective knows.
    - Otherwise an M is an upper bound and an m a lower bound, which is the safe direction: the best of the
      eigenvalues of the whole matrix, Gershgorin's circles over the k − 1 largest entries of a row, the k
      largest diagonal entries, and the bounds that the objective knows. An M of which nothing is known
      is infinite.

    Points with s non-zeros differ in at most 2s places; with t > 2s, ``M_st`` is an upper bound for that
    reason. ``M_rule`` is the M of the non-oblivious rule: that of every pair of its own, hence ``M_st``, if
    t = 2 and ``u`` is quadratic, or else what the objective knows.

    See Also
    --------
    RestrictedConstants : what is returned.
    guarantee : what follows from them.
    submodularity_ratios, localizability : other constants.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.
    - Elenberg, Khanna, Dimakis and Negahban (2018), Restricted strong convexity implies weak submodularity.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import LeastSquares
    >>> X = np.array([[1.0, 0.6, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 1.0]])
    >>> constants = restricted_constants(LeastSquares(X, y=[1.0, 1.0, 0.0]), s=1, t=2)
    >>> constants.m_2s, constants.M_1, constants.M_st
    (0.4 (exact), 1 (exact), 1.6 (exact))
    """
    if not isinstance(objective, SparseObjective):
        raise TypeError(
            f"objective must be a SparseObjective (LeastSquares, IsingPseudoLikelihood or one of your own), "
            f"got {objective!r}"
        )
    s, t = as_size(s, "s"), as_size(t, "t")
    sizes = {k: min(k, objective.n) for k in (1, s, 2 * s, t)}
    spectra = _spectra(objective, set(sizes.values()))
    m = {k: _concavity(objective, size, spectra) for k, size in sizes.items()}
    M = {k: _smoothness(objective, size, spectra) for k, size in sizes.items()}
    M_st = M[t] if sizes[t] <= 2 * s else Constant(M[t], "upper bound")
    return RestrictedConstants(
        s=s,
        t=t,
        m_1=m[1],
        m_s=m[s],
        m_2s=m[2 * s],
        M_1=M[1],
        M_s=M[s],
        M_st=M_st,
        M_rule=M_st if t == 2 and objective.curvature_is == "hessian" else _rule(objective, M_st, t),
        within_bounds=objective.bounds is not None,
    )


def as_size(value: int, name: str) -> int:
    size = as_count(value, name)
    if size == 0:
        raise ValueError(f"{name} must be at least 1, got 0")
    return size


def _concavity(objective: SparseObjective, size: int, spectra: dict[int, _Spectrum]) -> Constant:
    known = max(0.0, float(objective.strong_concavity(size)))
    if objective.curvature_is != "hessian" or size not in spectra:
        return Constant(known, "lower bound")
    found = spectra[size]
    # An eigenvalue within rounding of zero counts as zero, unless the objective knows a larger bound.
    if found.exact and (found.smallest > 0 or known == 0):
        return Constant(found.smallest, "exact")
    return Constant(max(known, found.smallest), "lower bound")


def _smoothness(objective: SparseObjective, size: int, spectra: dict[int, _Spectrum]) -> Constant:
    found = spectra.get(size)
    if found is not None and found.exact and objective.curvature_is != "bound":
        return Constant(found.largest, "exact")
    known = known_smoothness(objective, size)
    return Constant(known if found is None else min(known, found.largest), "upper bound")


def _rule(objective: SparseObjective, M_st: Constant, t: int) -> Constant:
    return Constant(max(M_st, known_smoothness(objective, t)), "upper bound")


class _Spectrum(NamedTuple):
    smallest: float
    largest: float
    exact: bool


def _spectra(objective: SparseObjective, sizes: set[int]) -> dict[int, _Spectrum]:
    if objective.n == 0 or objective.curvature(np.zeros(1, dtype=np.intp)) is None:
        return {}
    return _spectra_of(lambda columns: np.asarray(objective.curvature(columns)), objective.n, sizes)


def smallest_sparse_eigenvalue(matrix: FloatArray, size: int) -> float:
    """Return the smallest eigenvalue of principal submatrices of one size, or a lower bound ≥ 0 of it.

    >>> overlap = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> round(smallest_sparse_eigenvalue(overlap, 2), 12)
    0.4
    """
    size = min(size, len(matrix))
    return _spectra_of(lambda columns: matrix[:, columns], len(matrix), {size})[size].smallest


def _spectra_of(
    curvature: Callable[[IndexArray], FloatArray], n: int, sizes: set[int]
) -> dict[int, _Spectrum]:
    scan = _Scan(curvature, n, sizes)
    spectra = {}
    for size in sizes:
        if size <= 2:
            spectra[size] = _Spectrum(*(scan.singles if size == 1 else scan.pairs), exact=True)
        elif scan.whole is not None and _is_affordable(n, size):
            spectra[size] = _enumerated(scan.whole, size)
        else:
            spectra[size] = _bounded(scan, size)
    return spectra


class _Scan:
    """One pass over the curvature, a block of columns at a time; the square matrix is kept if it is small."""

    def __init__(self, curvature: Callable[[IndexArray], FloatArray], n: int, sizes: set[int]) -> None:
        self.diagonal = np.empty(n)
        self.pairs = (np.inf, 0.0)
        #: by size, the largest right end and the smallest left end of a Gershgorin circle
        self.circles = {size: (np.inf, 0.0) for size in sizes if size > 2}
        self.whole = np.empty((n, n)) if self.circles and n <= WHOLE_UP_TO else None
        for start in range(0, n, BLOCK):
            columns = np.arange(start, min(start + BLOCK, n), dtype=np.intp)
            block = np.asarray(curvature(columns), dtype=np.float64)
            self.diagonal[columns] = block[columns, np.arange(len(columns))]
            if self.whole is not None:
                self.whole[:, columns] = block
            if sizes - {1}:
                self._see_pairs(block, columns)
            if self.circles:
                self._see_circles(block, columns)
        self.singles = (float(self.diagonal.min()), float(self.diagonal.max()))

    @cached_property
    def eigenvalues(self) -> FloatArray | None:
        return None if self.whole is None else np.linalg.eigvalsh(self.whole).astype(np.float64, copy=False)

    def _see_pairs(self, block: FloatArray, columns: IndexArray) -> None:
        # The diagonal is known up to this block: every pair is seen in the later of its blocks.
        before = np.arange(columns[-1] + 1)
        a, b, c = self.diagonal[before][:, None], self.diagonal[columns][None, :], block[before]
        largest = (a + b) / 2 + np.hypot((a - b) / 2, c)
        # Computed as determinant over the largest, the smallest is precise where columns differ in length.
        lengths = np.sqrt(a) * np.sqrt(b)
        cosine = np.divide(c, lengths, out=np.ones_like(c), where=lengths > 0)
        share = (1 - cosine) * (1 + cosine)
        share[share <= SUM] = 0.0
        smallest = share * a * (b / np.where(largest > 0, largest, 1.0))
        itself = before[:, None] == columns[None, :]
        least, most = np.where(itself, np.inf, smallest).min(), np.where(itself, 0.0, largest).max()
        self.pairs = (min(self.pairs[0], float(least)), max(self.pairs[1], float(most)))

    def _see_circles(self, block: FloatArray, columns: IndexArray) -> None:
        entries = np.abs(block)
        entries[columns, np.arange(len(columns))] = 0.0
        widest = max(self.circles) - 1
        top = np.partition(entries, len(entries) - widest, axis=0)[-widest:]
        radii = np.cumsum(np.sort(top, axis=0)[::-1], axis=0)
        centres = self.diagonal[columns]
        for size, (left, right) in self.circles.items():
            radius = radii[size - 2] * (1 + size * SUM)
            self.circles[size] = (
                min(left, float((centres - radius).min())),
                max(right, float((centres + radius).max())),
            )


def _is_affordable(n: int, size: int) -> bool:
    submatrices = comb(n, size)
    return size == n or (submatrices <= SUBMATRICES and submatrices * size**3 <= OPERATIONS)


def _enumerated(whole: FloatArray, size: int) -> _Spectrum:
    smallest, largest = np.inf, 0.0
    at_once = max(1, ENTRIES_AT_ONCE // size**2)
    chosen = combinations(range(len(whole)), size)
    while batch := list(islice(chosen, at_once)):
        rows = np.array(batch)
        eigenvalues = np.linalg.eigvalsh(whole[rows[:, :, None], rows[:, None, :]])
        low, high = eigenvalues[:, 0], eigenvalues[:, -1]
        smallest = min(smallest, float(np.where(low > size * SUM * high, low, 0.0).min()))
        largest = max(largest, float(high.max()))
    return _Spectrum(smallest, largest, exact=True)


def _bounded(scan: _Scan, size: int) -> _Spectrum:
    left, right = scan.circles[size]
    longest = float(np.sort(scan.diagonal)[-size:].sum())
    smallest, largest = max(0.0, left), min(right, longest * (1 + size * SUM))
    eigenvalues = scan.eigenvalues
    if eigenvalues is not None:
        margin = len(eigenvalues) * SUM * float(np.abs(eigenvalues).max())
        smallest = max(smallest, float(eigenvalues[0]) - margin)
        largest = min(largest, float(eigenvalues[-1]) + margin)
    return _Spectrum(smallest, largest, exact=False)
