"""The chosen columns of least squares: factored from the data, and updated by every move.

:func:`factor` fits a set of columns; :class:`ActiveSet` keeps the quantities of closed-form gains up to date,
by sweeps of rank one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.design import SAFE_SHARE
from swapwise.kernels import bounded_swaps, fits, swaps
from swapwise.moves import Move
from swapwise.numerics import COLLINEAR, ROUNDING

if TYPE_CHECKING:
    from swapwise.objectives.coefficient_bounds import CoefficientBounds
    from swapwise.objectives.least_squares.objective import LeastSquares

# Factors are rebuilt when their relative error is above this, and after this many updates plus four times the
# size of the set: rebuilding then costs a small share of them.
DRIFT_TOLERANCE = 1e-9
UPDATES_BEFORE_REBUILD = 100

# Dropping a column that the others nearly span cancels large numbers: the error it leaves grows with the
# square of how many times larger its squared length is than what was unexplained of it.
LARGEST_INFLATION = 200.0

# σ is a difference; where less than this share of a column's squared length is left, it is recomputed from
# the residual of the column itself: in double precision, if the data are single.
SMALL_SHARE, SMALL_IN_FLOAT32 = 1e-5, 1e-2

# This many columns are recomputed at a time.
AT_ONCE = 256

# A move of more elements than this is cheaper to factor again than to sweep in one by one.
SWEEPS_BEFORE_REBUILD = 8

FEWEST_SLOTS = 16

# This many columns, of those with the largest predicted gains, are read along with one column of data that
# are read as a whole.
LIKELY = 48


class QRFactor(NamedTuple):
    """``[A; √penalty] = QR``: columns with a row below them for the penalty of each coefficient."""

    #: Q, one vector per row; the first numbers of each are those of the samples
    vectors: FloatArray
    #: The inverse of R
    to_coefficients: FloatArray

    def residuals(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        rest = np.zeros((len(columns), self.vectors.shape[1]))
        rest[:, : columns.shape[1]] = columns
        along = np.zeros((len(columns), len(self.vectors)))
        for _ in range(2):  # twice, because of rounding
            more = rest @ self.vectors.T
            rest -= more @ self.vectors
            along += more
        return rest, along @ self.to_coefficients.T


class ColumnFit(NamedTuple):
    columns: FloatArray  # one per row
    inverse: FloatArray  # C, of their Gram matrix plus the penalty
    weights: FloatArray
    #: The residual of y, with a number for the penalty of each coefficient behind it
    rest: FloatArray
    #: None where inner products are accurate enough
    qr: QRFactor | None
    #: The number of linearly independent columns
    rank: int

    @classmethod
    def of_no_column(cls, y: FloatArray) -> ColumnFit:
        return cls(np.empty((0, len(y))), np.empty((0, 0)), np.empty(0), y, None, 0)

    @property
    def residual(self) -> FloatArray:
        return self.rest[: self.columns.shape[1]]

    def within(
        self, bounds: CoefficientBounds, y: FloatArray, squares: FloatArray, penalty: FloatArray
    ) -> ColumnFit:
        """Return the same columns with the best fit of y within bounds on its coefficients.

        By inner products, where these are accurate enough; else by a square root of them, R.
        """
        start, low, high = bounds.clip(self.weights), bounds.lower, bounds.upper
        if self.qr is None:
            gram = self.columns @ self.columns.T
            gram[np.diag_indices(len(gram))] = squares
            weights = bounded_swaps.fit(gram, self.columns @ y, low, high, start, float(y @ y))
        else:
            whole = np.vstack([self.columns.T, np.diag(np.sqrt(penalty))])
            weights = fit_by_columns(whole, np.append(y, np.zeros(len(penalty))), low, high, start)
        rest = np.append(y - weights @ self.columns, -np.sqrt(penalty) * weights)
        return self._replace(weights=weights, rest=rest)


def fit_by_columns(
    columns: FloatArray, y: FloatArray, low: FloatArray, high: FloatArray, start: FloatArray
) -> FloatArray:
    """Return the best coefficients within bounds, where inner products of the columns have lost their digits.

    The active-set method of ``kernels.bounded_swaps``, with orthogonal factors in place of inner products.
    """
    coef, lengths = np.clip(start, low, high), np.linalg.norm(columns, axis=0)
    is_free = (low < coef) & (coef < high)
    for _ in range(10 * len(coef) + 50):
        left = y - columns[:, ~is_free] @ coef[~is_free]
        target = coef.copy()
        target[is_free] = np.linalg.lstsq(columns[:, is_free], left)[0]
        out = (target < low) | (target > high)
        if out.any():
            bound = np.where(target < low, low, high)
            parts = np.where(out, (bound - coef) / np.where(out, target - coef, 1.0), np.inf)
            first = int(np.argmin(parts))
            coef = np.clip(coef + parts[first] * (target - coef), low, high)
            coef[first], is_free[first] = bound[first], False
            continue
        coef = target
        slope = columns.T @ (y - columns @ coef)
        rises = np.where(coef <= low, slope, -slope) / np.where(lengths > 0, lengths, 1.0)
        rises[is_free | (low == high)] = 0.0
        freed = int(np.argmax(rises))
        if rises[freed] <= ROUNDING * np.linalg.norm(y):
            break
        is_free[freed] = True
    return coef


def factor(
    columns: FloatArray, y: FloatArray, squares: FloatArray, penalty: FloatArray, precision: float
) -> ColumnFit:
    """Factor columns, one per row, and fit ``y``.

    ``squares`` are their squared lengths plus the ``penalty`` of each squared coefficient; ``precision`` is
    that of the columns, relative to their length.
    """
    found = fits.by_products(columns, y, squares, penalty, 1.0 / SAFE_SHARE)
    if found is None:
        return _by_qr(columns, y, np.sqrt(squares), penalty, precision)
    inverse, weights, rest = found
    return ColumnFit(columns, inverse, weights, rest, None, len(columns))


def qr_factor_of(
    columns: FloatArray, lengths: FloatArray, penalty: FloatArray
) -> tuple[QRFactor, FloatArray]:
    lengths = np.where(lengths == 0, 1.0, lengths)
    below = np.sqrt(penalty) / lengths
    below[(penalty == 0) & ~columns.any(axis=1)] = 1.0  # a column of zeros: its coefficient is zero
    scaled = np.vstack([(columns / lengths[:, None]).T, np.diag(below)])
    Q, R = scipy.linalg.qr(scaled, mode="economic", check_finite=False)
    inverse_R = scipy.linalg.solve_triangular(R, np.eye(len(R)), check_finite=False)
    return QRFactor(np.ascontiguousarray(Q.T), inverse_R / lengths[:, None]), R


def _by_qr(
    columns: FloatArray, y: FloatArray, lengths: FloatArray, penalty: FloatArray, precision: float
) -> ColumnFit:
    qr, R = qr_factor_of(columns, lengths, penalty)
    rank = int((scipy.linalg.svdvals(R, check_finite=False) > COLLINEAR * precision).sum())
    rank -= int((~columns.any(axis=1)).sum())  # columns of zeros have but a row for their penalty
    rest, weights = qr.residuals(y[None, :])
    inverse = qr.to_coefficients @ qr.to_coefficients.T
    return ColumnFit(columns, inverse, weights[0], rest[0], qr, rank)


def explained_in_full(
    columns: FloatArray, y: FloatArray, ridge: float, precision: float, rounding: float
) -> float:
    """Return an upper bound on the squared length of y that columns, one per row, explain.

    By singular values, each raised by ``rounding``, which is relative to the largest. Without a ridge,
    directions that are more than rounding count in full, however short they are.
    """
    if ridge == 0:  # then lengths do not matter, and equal ones are best for the numerics
        columns = columns / np.maximum(np.linalg.norm(columns, axis=1), np.finfo(float).tiny)[:, None]
    directions, sizes, _ = np.linalg.svd(columns.T, full_matrices=False)
    moved = (sizes + rounding * sizes[0]) ** 2
    if ridge > 0:
        shares = moved / (moved + ridge)
    else:
        shares = np.where(sizes > rounding * sizes[0], 1.0, np.minimum(1.0, (sizes / precision) ** 2))
    return float(shares @ (directions.T @ y) ** 2) * (1.0 + ROUNDING)


def dependencies_among(columns: FloatArray, least: float, rounding: float) -> int | None:
    """Return the number of linear dependencies among columns, one per row; None if it is not certain.

    It is certain if squared singular values at unit lengths are above ``least``, or at most ``rounding``.
    """
    lengths = np.linalg.norm(columns, axis=1)
    units = columns[lengths > 0] / lengths[lengths > 0, None]
    if not len(units):
        return len(columns)
    sizes = np.linalg.svd(units, compute_uv=False)
    independent = int((sizes > rounding * sizes[0]).sum())
    return len(columns) - independent if (sizes[:independent] ** 2 > least).all() else None


def rounding_of(count: int, digits_lost: float = 0.0) -> float:
    """Return the error of singular values of ``count`` columns of length 1, relative to the largest.

    ``digits_lost`` is the ratio of the subtracted means of columns to their deviations.
    """
    return 4 * float(np.finfo(float).eps * (1.0 + digits_lost) * np.sqrt(count))


class ActiveSet:
    """The quantities of ``swapwise.kernels.swaps`` at a set of columns, updated by every move.

    The chosen columns sit in slots. Quantities of all n columns are computed on first use: the correlations
    c cost one pass over the data, B and σ as many as a product with all chosen columns. Memory is
    ``O(n · |X|)``: no n × n matrix.
    """

    support: IndexArray

    # By slot; arrays have room to grow.
    size: int
    elements: IndexArray
    weights: FloatArray
    inverse: FloatArray  # C
    # By element.
    slot: IndexArray  # -1 without one
    _corr: FloatArray | None
    _coupling: FloatArray | None  # B transposed: (n, slots)
    _sigma: FloatArray
    # From the data, until the first update.
    _factor: ColumnFit | None
    _updates: int
    _error: float

    def __init__(self, objective: LeastSquares, support: IndexArray) -> None:
        self.objective = objective
        self.support = support
        self._rebuild()

    @property
    def value(self) -> float:
        if self._factor is not None:
            return self.objective.value_of(self._factor.rest) if self.size else 0.0
        chosen, weights = self.elements[: self.size], self.weights[: self.size]
        # At the best coefficients the fit explains wᵀAᵀy; c measures how far from the best these are.
        explained = weights @ (self.objective.products_with_y[chosen] + self.corr[chosen])
        penalty = self.objective.penalty[chosen] @ weights**2
        return float((explained - penalty) / self.objective.total)

    @property
    def small_share(self) -> float:
        """The share of a column's squared length below which differences of products are mostly rounding."""
        return SMALL_IN_FLOAT32 if self.objective.design.is_float32 else SMALL_SHARE

    @property
    def by_products(self) -> bool:
        """Whether the factors are new, and inner products of the chosen columns are accurate enough."""
        return self._factor is not None and self._factor.qr is None

    @property
    def is_plain(self) -> bool:
        """Whether every chosen column has a fair share of its squared length not explained by the others."""
        chosen = self.elements[: self.size]
        inflation = np.diag(self.inverse)[: self.size] * self.objective.squares[chosen]
        return bool(inflation.max(initial=0.0) * SAFE_SHARE <= 1.0)

    @property
    def corr(self) -> FloatArray:
        """c: the inner products of all columns with the residual."""
        if self._corr is None:
            assert self._factor is not None
            if not self.size:
                self._corr = self.objective.products_with_y.copy()
            else:
                found = self.objective.design.dots_of_view(self._factor.residual[None, :])
                self._corr = None if found is None else found[0]
            if self._corr is None:
                self._couple()
        assert self._corr is not None
        return self._corr

    @property
    def coupling(self) -> FloatArray:
        """B transposed: the coefficients of all columns on the chosen ones."""
        if self._coupling is None:
            self._couple()
        assert self._coupling is not None
        return self._coupling

    @property
    def sigma(self) -> FloatArray:
        """σ: the squared length of each column that the chosen ones do not explain, plus the ridge."""
        if self._coupling is None:
            self._couple()
        return self._sigma

    def apply(self, move: Move) -> None:
        few = len(move.added) + len(move.dropped) <= SWEEPS_BEFORE_REBUILD
        if not few or self._coupling is None or self.objective.design.is_float32:
            self.support = move.result(self.support)
            self._rebuild()
            return
        corr = self.corr  # computed from the factors, which change below
        assert len(corr) == self.objective.n
        self._factor = None
        self.support = Move(dropped=move.dropped).result(self.support)
        for element in move.dropped:
            self._drop(element)
        self.support = Move(added=move.added).result(self.support)
        for element in move.added:
            self._add(element)
        if self._updates > UPDATES_BEFORE_REBUILD + 4 * self.size or self._drifted():
            self._rebuild()
        else:
            self._refine_small()

    def gram(self) -> FloatArray:
        """``Aᵀ A_X`` by slots."""
        return self.objective.design.products(self.elements[: self.size]).T

    def with_others(self, others: IndexArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        shown = None if self._factor is None else self._factor.columns
        return self.objective.design.view_of_both(self.elements[: self.size], others, shown)

    def refine(self, elements: IndexArray) -> None:
        size, chosen = self.size, self.elements[: self.size]
        penalty = self.objective.penalty
        basis, columns, y = self.with_others(elements)
        if self._factor is not None and self._factor.qr is not None:
            qr, left = self._factor.qr, self._factor.rest
            if basis is not self._factor.columns:  # shown in other coordinates this time
                qr, _ = qr_factor_of(basis, np.sqrt(self.objective.squares[chosen]), penalty[chosen])
                left = qr.residuals(y[None, :])[0][0]
            rest, explained = qr.residuals(columns)
        else:
            root, explained = np.sqrt(penalty[chosen]), self.coupling[elements, :size]
            rest = np.hstack([columns - explained @ basis, -explained * root])
            whole = np.hstack([basis, np.diag(root)])
            for _ in range(2):
                correction = (rest @ whole.T) @ self.inverse[:size, :size]
                explained = explained + correction
                rest -= correction @ whole
            left = np.append(y - self.weights[:size] @ basis, -root * self.weights[:size])
        self.coupling[elements, :size] = explained
        self.sigma[elements] = (rest**2).sum(axis=1) + penalty[elements]
        self.corr[elements] = rest @ left

    def _drop(self, element: int) -> None:
        slot, last = self.slot[element], self.size - 1
        if self.objective.squares[element] * self.inverse[slot, slot] > LARGEST_INFLATION:
            self._error = np.inf
        swaps.remove_slot(slot, self.size, self.coupling, self.inverse, self.weights, self.corr, self.sigma)
        self.elements[slot] = self.elements[last]
        self.slot[self.elements[slot]] = slot
        self.slot[element] = -1
        self.size = last
        self._updates += 1

    def _add(self, element: int) -> None:
        size = self.size
        self._reserve(size + 1)
        if self.sigma[element] < SAFE_SHARE * self.objective.squares[element]:
            self.refine(np.array([element]))
        unexplained = float(self.sigma[element]) or 1.0  # a column of zeros: its coefficient is zero
        products = self.objective.design.products(np.array([element]), self._likely)[0]
        known = products[self.elements[:size]]
        explained = self.coupling[element, :size].copy()
        square = self.objective.squares[element]
        expected = square - float(explained @ known)
        self._error = max(self._error, abs(unexplained - expected) / (square or 1.0))
        if unexplained < SAFE_SHARE * self.objective.squares[element]:
            self._error = np.inf  # products of its residual with others are largely rounding
        step = float(self.corr[element]) / unexplained
        swaps.insert_slot(
            size,
            explained,
            unexplained,
            step,
            known,
            products,
            self.coupling,
            self.inverse,
            self.weights,
            self.corr,
            self.sigma,
        )
        self.elements[size], self.slot[element] = element, size
        self.size += 1
        self._updates += 1

    def _likely(self) -> IndexArray:
        gain = self.corr**2 / np.maximum(self.sigma, np.finfo(float).tiny)
        gain[self.elements[: self.size]] = 0.0
        return np.argsort(-gain, kind="stable")[:LIKELY]

    def _rebuild(self) -> None:
        factor = self.objective.factor(self.support)
        size = len(self.support)
        self._allocate(max(size, FEWEST_SLOTS))
        self.slot = np.full(self.objective.n, -1, dtype=np.intp)
        self.elements[:size] = self.support
        self.slot[self.elements[:size]] = np.arange(size)
        self.inverse[:size, :size] = factor.inverse
        self.weights[:size] = factor.weights
        self.size, self._updates, self._error = size, 0, 0.0
        self._factor, self._corr, self._coupling = factor, None, None

    def _couple(self) -> None:
        objective, factor, size = self.objective, self._factor, self.size
        assert factor is not None
        self._coupling = np.zeros((objective.n, len(self.weights)))
        projected = None
        if factor.qr is not None:
            vectors = factor.qr.vectors[:, : factor.columns.shape[1]]
            projected = objective.design.dots_of_view(np.ascontiguousarray(vectors))
        if factor.qr is None or projected is None:
            self._couple_by_products(factor)
        else:
            self._coupling[:, :size] = (factor.qr.to_coefficients @ projected).T
            self._sigma = objective.squares - np.einsum("ij,ij->j", projected, projected)
        self._refine_small()

    def _couple_by_products(self, factor: ColumnFit) -> None:
        objective, size = self.objective, self.size
        assert self._coupling is not None
        self._sigma, corr = objective.squares.copy(), objective.products_with_y.copy()
        for part, products in objective.design.product_parts(self.elements[:size]):
            if factor.qr is None:
                block = products.T @ factor.inverse
                self._sigma[part] -= np.einsum("ji,ij->j", block, products)
            else:  # nearly collinear columns: a square root of the inverse keeps more digits
                root = factor.qr.to_coefficients
                projected = root.T @ products
                block = (root @ projected).T
                self._sigma[part] -= np.einsum("ij,ij->j", projected, projected)
            self._coupling[part, :size] = block
            corr[part] -= factor.weights @ products
        self._corr = corr if self._corr is None else self._corr

    def _refine_small(self) -> None:
        small = np.flatnonzero((self.sigma < self.small_share * self.objective.squares) & (self.slot < 0))
        for begin in range(0, len(small), AT_ONCE):
            self.refine(small[begin : begin + AT_ONCE])

    def _allocate(self, slots: int) -> None:
        self.elements = np.full(slots, -1, dtype=np.intp)
        self.weights = np.zeros(slots)
        self.inverse = np.zeros((slots, slots))

    def _reserve(self, size: int) -> None:
        if size <= len(self.weights):
            return
        old = self.elements, self.weights, self.inverse, self.coupling
        self._allocate(max(2 * len(self.weights), size, FEWEST_SLOTS))
        self._coupling = np.zeros((self.objective.n, len(self.weights)))
        new = self.elements, self.weights, self.inverse, self._coupling
        for before, after in zip(old, new, strict=True):
            after[tuple(slice(0, length) for length in before.shape)] = before

    def _drifted(self) -> bool:
        chosen = self.elements[: self.size]
        expected = self.objective.penalty[chosen] * self.weights[: self.size]
        scale = np.sqrt(self.objective.squares[chosen] * self.objective.total)
        error = np.abs(self.corr[chosen] - expected) / np.maximum(scale, np.finfo(float).tiny)
        return max(self._error, float(error.max(initial=0.0))) > DRIFT_TOLERANCE
