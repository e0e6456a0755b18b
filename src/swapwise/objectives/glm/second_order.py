"""Second-order models around a fit of a generalised linear model: predicted gains, and proven bounds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from typing import NamedTuple

import numpy as np
import scipy

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.columns import Columns
from swapwise.kernels import families
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.glm.likelihood import Likelihood
from swapwise.override import override
from swapwise.threads import few_threads

# The least squared residual of a column after projecting out the chosen ones, relative to its squared length:
# smaller ones may be rounding, and closed forms are not used for them.
LEAST_LEFT = 1e-6

# Chosen columns closer to each other than this, by the same measure, prove nothing.
WORST_CONDITION = 1e-7

# Number of entries of columns whose residuals are computed at a time.
ENTRIES_AT_ONCE = 1 << 19

# At most one column in this many is gathered: for more, computing with all columns costs less.
FEW_OF = 8

# Directions in which columns of length 1 have less than this, squared, are rounding.
ROUNDED_DIRECTION = 1e-13


class SecondOrderModel:
    """The slope and the curvature of a likelihood at a fit, along some columns.

    ``predicted`` is the gain of adding each column by the model, with all other parameters free to follow;
    ``bound`` is the upper bound that searches prune by: here the same.

    ``slopes`` and ``squares`` are slope and curvature (with the ridge) in each column's own coefficient,
    ``products`` the mixed second derivatives, one row per column and one column per parameter of the fit, and
    ``hessian`` those of the parameters of the fit with each other, with the ridge. ``gradient`` are the
    slopes in the parameters ``theta`` of the fit; zeros if it is at its maximum.
    """

    #: Whether ``bound`` is proven, and not just predicted
    proves = False

    def __init__(
        self,
        slopes: FloatArray,
        squares: FloatArray,
        products: FloatArray,
        hessian: FloatArray,
        theta: FloatArray,
        gradient: FloatArray | None = None,
    ) -> None:
        self.slopes, self.squares, self._theta = slopes, squares, theta
        self.inverse, share = inverted(hessian)
        self.is_well_conditioned = share > 0
        self.coupling = products @ self.inverse
        taken_out = products * self.coupling
        # A projection may be much longer than the column itself, and rounds by its own length: residuals
        # below this may be rounding, and nothing is divided by them.
        least = LEAST_LEFT * np.maximum(squares, np.abs(taken_out).sum(axis=1))
        left = squares - taken_out.sum(axis=1)
        self.is_clear = left > least
        self.left = np.maximum(left, np.maximum(least, np.finfo(float).tiny))
        missing = 0.0
        self.slope = slopes
        if gradient is not None:
            self.slope = slopes - self.coupling @ gradient
            missing = float(gradient @ self.inverse @ gradient)
        self.predicted = (missing + self.slope**2 / self.left) / 2
        self.bound = self.predicted

    def along(self, elements: IndexArray) -> SecondOrderModel:
        some = copy(self)
        for name in ("slopes", "squares", "coupling", "is_clear", "left", "slope", "predicted", "bound"):
            setattr(some, name, getattr(self, name)[elements])
        return some

    def tighten(self, least: float) -> None:
        """Sharpen bounds above ``least`` of columns whose predicted gain is below it."""

    def predicted_swaps(self, rows: IndexArray, places: IndexArray) -> FloatArray:
        """Return the predicted gains of swaps: the formula of least squares, halved.

        ``rows`` are the columns added, ``places`` the parameters dropped.
        """
        coef = self._theta[places]
        spread = self._spread(places)
        tied = self.coupling[rows, places]
        slope = self.slope[rows] + tied * coef * spread
        return (slope**2 / (self.left[rows] + tied**2 * spread) - coef**2 * spread) / 2

    def best_exchanges(self, size: int) -> FloatArray:
        """Return the predicted gain of each column in place of the best of the first parameters to drop.

        It is relative to the loss of the parameter that matters least, so it is never negative.

        >>> slopes, products = np.array([0.0, 2.0]), np.array([[1.0], [0.6]])
        >>> SecondOrderModel(slopes, np.ones(2), products, np.eye(1), np.ones(1)).best_exchanges(1).round(2)
        array([0.5 , 3.38])
        """
        coef, tied = self._theta[:size], self.coupling[:, :size]
        spread = self._spread(np.arange(size))
        losses = coef**2 * spread
        slope = self.slope[:, None] + tied * (coef * spread)
        gains = slope**2 / (self.left[:, None] + tied**2 * spread) - losses
        best: FloatArray = (gains.max(axis=1) + losses.min()) / 2
        return best

    def _spread(self, places: IndexArray) -> FloatArray:
        spread: FloatArray = 1.0 / np.maximum(np.diag(self.inverse)[places], np.finfo(float).tiny)
        return spread


def projected_slopes(
    slopes: FloatArray, bounds: CoefficientBounds | None, elements: IndexArray | None = None
) -> FloatArray:
    """Return the slopes of coefficients that are zero, without the entries that a bound blocks."""
    if bounds is None:
        return slopes
    every = slice(None) if elements is None else elements
    own = CoefficientBounds(bounds.lower[every], bounds.upper[every])
    return own.projected(slopes, np.zeros(len(slopes)))


def inverted(hessian: FloatArray) -> tuple[FloatArray, float]:
    """Return the inverse of minus a Hessian, and the least squared sine of a column to the others' span.

    It is 0 if columns are nearly collinear.
    """
    lengths = np.sqrt(np.maximum(np.diag(hessian), 0.0))
    is_flat = not lengths.all()
    lengths[lengths == 0] = 1.0
    unit = np.outer(lengths, lengths)
    if not is_flat:
        # Where columns are collinear, or not finite, the pseudo-inverse is left.
        with suppress(np.linalg.LinAlgError, ValueError):
            factor = scipy.linalg.cho_factor(hessian / unit, check_finite=False)
            share = float(np.diag(factor[0]).min(initial=1.0)) ** 2
            if share >= WORST_CONDITION:
                return scipy.linalg.cho_solve(factor, np.eye(len(lengths)), check_finite=False) / unit, share
    return np.linalg.pinv(np.nan_to_num(hessian / unit), WORST_CONDITION, hermitian=True) / unit, 0.0


class AdditionBounds(SecondOrderModel):
    """The second-order model of adding any of some columns to a fit, and bounds on its error.

    ``bound`` is an upper bound on every addition, relative to the value of the fit; infinity if none is
    proven.

    Every concave log-likelihood has a dual. For a set S and any outcome q that the model could predict,

        f(S) ≤ φ(q) + ‖A_Sᵀ(y − q)‖² / 2·ridge,   φ the negative entropy,

    and without a ridge q must satisfy ``A_Sᵀ y = A_Sᵀ q``. One step of Newton's method from a fit on Y
    towards S = Y + j gives such a q in closed form, for all j at once. With p and v the prediction and the
    curvature of the fit on Y, z the step of the linear predictor and g the slope there, q = p + v z, and φ
    curves by at most ``1 / (v (1 − ζ))`` on the way from p to q, for ζ = max |z|. So the rise that Newton's
    step predicts is, up to a factor, a bound:

        f(Y + j) ≤ u(w) + ½ gᵀH⁻¹g / (1 − ζ)   whenever ζ < 1 .

    Sharper, but with logarithms for every sample:
    f(Y + j) ≤ u(w) + D(q, p) + ½ ridge ‖δ‖², with D the divergence that belongs to φ and δ the step of the
    coefficients. The fit on Y need not be exact: g includes the slope that it has left.

    With bounds on coefficients, g is projected: zero where a bound blocks the coefficient. For a fit w and
    any v within the bounds, ``t_i (v_i − w_i) ≤ 0`` for the part t of g that is projected away, so that
    ``u(v) ≤ u(v) − ⟨t, v − w⟩``. That function has the slope g − t and the curvature of u at w, and a dual of
    the same kind: all of the above bounds its maximum.

    ``chosen`` are the columns of Y, one per row, and the intercept's row of ones behind them; ``support`` and
    ``theta`` are Y and the parameters of its fit, which is within the ``bounds``. ``read`` returns some
    columns, one per row. ``sharper`` returns sharper bounds for some elements, given the level below which
    they are useful.
    """

    proves = True

    def __init__(
        self,
        likelihood: Likelihood,
        columns: Columns,
        chosen: FloatArray,
        support: IndexArray,
        theta: FloatArray,
        ridge: float,
        elements: IndexArray,
        read: Callable[[IndexArray], FloatArray],
        sharper: Callable[[IndexArray, float], FloatArray] | None,
        bounds: CoefficientBounds | None = None,
    ) -> None:
        self._likelihood, self._columns, self._chosen = likelihood, columns, chosen
        self._read, self._sharper = read, sharper
        self._ridge, self._elements, self._penalised = ridge, elements, len(support)
        self._height = np.append(columns.largest_entries[support], np.ones(len(theta) - len(support)))
        parameters = theta[:, 0]
        penalty = np.where(np.arange(len(parameters)) < len(support), ridge, 0.0)
        self._eta = likelihood.offset[0] + parameters @ chosen
        _, slope, curve = likelihood.derivatives(self._eta[None])
        self._gradient = chosen @ slope[0] - penalty * parameters
        if bounds is not None:
            own, coef = (
                CoefficientBounds(bounds.lower[support], bounds.upper[support]),
                parameters[: len(support)],
            )
            self._gradient[: len(support)] = own.projected(self._gradient[: len(support)], coef)
        weighted = chosen * curve[0, 0]
        hessian = weighted @ chosen.T + np.diag(penalty)
        vectors = np.vstack([weighted, slope])
        squares, products = self._along(curve[0, 0], vectors)
        slopes = projected_slopes(products[:, -1], bounds, elements)
        super().__init__(slopes, squares + ridge, products[:, :-1], hessian, parameters, self._gradient)
        self.bound = np.full(len(elements), np.inf)
        if self.is_well_conditioned:
            self._bound_crudely()

    def _along(self, weight: FloatArray, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        columns, elements = self._columns, self._elements
        if FEW_OF * len(elements) > columns.n_features:
            return columns.weighted_squares(weight)[elements], columns.dots(vectors, exact=True).T[elements]
        few = self._read(elements)
        return np.einsum("js,js,s->j", few, few, weight), few @ vectors.T

    def _bound_crudely(self) -> None:
        self._step = self.inverse @ self._gradient
        self._reach = float(np.abs(self._step @ self._chosen).max(initial=0.0))
        longest = np.sqrt((self._chosen**2).sum(axis=0).max(initial=0.0))
        explained = np.minimum(
            np.abs(self.coupling) @ self._height, np.linalg.norm(self.coupling, axis=1) * longest
        )
        self._bound(np.arange(len(self._elements)), self._columns.largest_entries[self._elements] + explained)

    def _bound(self, rows: IndexArray, farthest: FloatArray) -> None:
        zeta = self._reach + np.abs(self.slope[rows]) / self.left[rows] * farthest
        is_bounded = self.is_clear[rows] & (zeta < 1)
        bounded = rows[is_bounded]
        self.bound[bounded] = self.predicted[bounded] / (1.0 - zeta[is_bounded])

    @override
    def tighten(self, least: float) -> None:
        if not self.is_well_conditioned:
            return
        unclear = np.flatnonzero((self.bound >= least) & (self.predicted < least) & self.is_clear)
        rows = max(1, ENTRIES_AT_ONCE // self._likelihood.n_samples)
        if self._sharper is not None and len(unclear) > rows:  # it has more to prepare, and saves logarithms
            found = self._sharper(self._elements[unclear], least)
            self.bound[unclear] = np.fmin(self.bound[unclear], found)
            return
        for begin in range(0, len(unclear), rows):
            part = unclear[begin : begin + rows]
            rest = self._read(self._elements[part]) - self.coupling[part] @ self._chosen
            self._bound(part, np.maximum(rest.max(axis=1), -rest.min(axis=1)))
            still = self.bound[part] >= least
            self._diverge(part[still], rest[still])

    def _diverge(self, rows: IndexArray, rest: FloatArray) -> None:
        """Lower bounds to the divergence of the outcome from the prediction, plus the part of the ridge."""
        likelihood = self._likelihood
        coef = (self.slope[rows] / self.left[rows])[:, None]
        steps = self._step @ self._chosen + coef * rest
        rise = families.divergences(
            likelihood.family.kernel, self._eta, likelihood.target, likelihood.weight, steps
        )
        if self._ridge > 0:
            others = (self._step - coef * self.coupling[rows])[:, : self._penalised]
            rise += self._ridge * (coef[:, 0] ** 2 + (others**2).sum(axis=1)) / 2
        self.bound[rows] = np.minimum(self.bound[rows], rise)


class WeightedCrossProducts(NamedTuple):
    """The inner products of columns, those with a response, and the square of the response.

    >>> products = WeightedCrossProducts(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 1.0]), 5.0)
    >>> columns, response = products.columns()
    >>> (columns.T @ columns).round(6), (response @ columns).round(6), float((response @ response).round(6))
    (array([[2., 1.],
           [1., 2.]]), array([3., 1.]), 5.0)
    """

    gram: FloatArray
    with_response: FloatArray
    square: float

    def without_last(self) -> WeightedCrossProducts:
        """The inner products after projecting the last column out of the others and of the response."""
        tied, weight = self.gram[:-1, -1], max(self.gram[-1, -1], np.finfo(float).tiny)
        last = self.with_response[-1]
        return WeightedCrossProducts(
            self.gram[:-1, :-1] - np.outer(tied, tied) / weight,
            self.with_response[:-1] - tied * (last / weight),
            self.square - last**2 / weight,
        )

    def of(self, places: IndexArray, unit: float) -> WeightedCrossProducts:
        gram = self.gram[np.ix_(places, places)]
        return WeightedCrossProducts(gram / unit, self.with_response[places] / unit, self.square / unit)

    def columns(self) -> tuple[FloatArray, FloatArray]:
        """Return a matrix and a response that have these inner products, with few samples."""
        lengths = np.sqrt(np.maximum(np.diag(self.gram), 0.0))
        units = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        with few_threads(len(lengths)):
            sizes, directions = np.linalg.eigh(self.gram * np.outer(units, units))
        clear = sizes > ROUNDED_DIRECTION * len(sizes)
        roots, directions = np.sqrt(sizes[clear]), directions[:, clear].T
        explained = directions @ (self.with_response * units) / roots
        rest = np.sqrt(max(0.0, self.square - float(explained @ explained)))
        columns = np.vstack([roots[:, None] * directions * lengths, np.zeros(len(lengths))])
        return columns, np.append(explained, rest)
