"""Second-order models around a fit of a generalised linear model: predicted gains, and proven bounds.

:class:`AdditionBounds` has the data in memory and proves what no addition exceeds. :class:`SecondOrderModel`
and :class:`WeightedCrossProducts` are made of sums over the samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import glm
from swapwise.threads import few_threads

if TYPE_CHECKING:
    from swapwise.objectives.generalized_linear import GeneralizedLinear

# What a column may have left, relative to its squared length, when the chosen ones are taken out of it: with
# less, rounding may have a part in it, and nothing is concluded of it in closed form.
LEAST_LEFT = 1e-6

# Chosen columns closer to each other than this, by the same measure, leave no second-order model.
WORST_CONDITION = 1e-7

# Columns whose distance from the chosen ones is computed at a time, in numbers.
BLOCK_ENTRIES = 1 << 19

# Directions in which columns of length 1 have less than this, squared, are rounding.
ROUNDED_DIRECTION = 1e-13


class AdditionBounds:
    """The second-order model of adding any of some columns to a fit, and how far it can be off.

    ``predicted`` is what the model expects of each, ``bound`` what none exceeds; both relative to the value
    of the fit. Where the model says nothing, they are 0 and infinity.

    Every concave log-likelihood has a dual. For a set S and any outcome q that the model could predict,

        f(S) ≤ φ(q) + ‖A_Sᵀ(y − q)‖² / 2·ridge,   φ the negative entropy,

    and without a ridge q must satisfy ``A_Sᵀ y = A_Sᵀ q``. One step of Newton's method from a fit on Y
    towards S = Y + j gives such a q in closed form, for all j at once. With p and v what the fit on Y
    predicts and how it curves, z the step of the linear predictor and g the slope there, q = p + v z, and φ
    curves by at most ``1 / (v (1 − ζ))`` on the way from p to q, for ζ = max |z|. So the rise that Newton's
    step predicts is, to

        f(Y + j) ≤ u(w) + ½ gᵀH⁻¹g / (1 − ζ)   whenever ζ < 1,

    all that can be had. Sharper, but with logarithms for every sample:
    f(Y + j) ≤ u(w) + D(q, p) + ½ ridge ‖δ‖², with D the divergence that belongs to φ and δ the step of the
    coefficients. The fit on Y need not be exact: what is missing of it stands in g.
    """

    def __init__(
        self, objective: GeneralizedLinear, support: IndexArray, theta: FloatArray, elements: IndexArray
    ) -> None:
        self.objective, self.elements = objective, elements
        self._chosen = objective.columns[support]
        if objective.fit_intercept:
            self._chosen = np.vstack([self._chosen, np.ones(objective.n_samples)])
        self._height = np.append(objective.largest_entries[support], np.ones(len(theta) - len(support)))
        ridge = np.full(len(theta), objective.ridge)
        ridge[len(support) :] = 0.0
        self._eta = objective.offset[0] + theta @ self._chosen
        self._penalised = len(support)
        _, slope, curve = objective.derivatives(self._eta[None])
        self._slope, self._curve = slope[0], curve[0, 0]
        self._gradient = self._chosen @ self._slope - ridge * theta
        self.inverse = self._inverted(ridge)
        self.predicted = np.zeros(len(elements))
        self.bound = np.full(len(elements), np.inf)
        if self.inverse is not None:
            self._model(self.inverse)

    def _inverted(self, ridge: FloatArray) -> FloatArray | None:
        """Return the inverse of minus the Hessian on the chosen columns, if they are far from collinear."""
        hessian = (self._chosen * self._curve) @ self._chosen.T + np.diag(ridge)
        lengths = np.sqrt(np.diag(hessian))
        if not lengths.all():
            return None
        try:
            factor = cho_factor(hessian / np.outer(lengths, lengths), check_finite=False)
        except (LinAlgError, ValueError):
            return None
        if len(lengths) and np.diag(factor[0]).min() ** 2 < WORST_CONDITION:
            return None
        return cho_solve(factor, np.eye(len(lengths)), check_finite=False) / np.outer(lengths, lengths)

    def _model(self, inverse: FloatArray) -> None:
        columns, take = self._columns()
        products = columns @ np.vstack([self._chosen * self._curve, self._slope]).T
        square = (glm.weighted_squares(columns, self._curve) + self.objective.ridge)[take]
        products = products[take]
        self.coupling = products[:, :-1] @ inverse
        left = square - np.einsum("jk,jk->j", products[:, :-1], self.coupling)
        # What is taken out may be much longer than the column itself, and rounds by its own length.
        taken_out = np.abs(products[:, :-1] * self.coupling).sum(axis=1)
        self._clear = left > LEAST_LEFT * np.maximum(square, taken_out)
        self.left = np.where(self._clear, left, 1.0)
        self.slope = products[:, -1] - self.coupling @ self._gradient
        self._step = inverse @ self._gradient
        missing = float(self._gradient @ self._step)
        self._reach = float(np.abs(self._step @ self._chosen).max(initial=0.0))
        self.predicted = np.where(self._clear, missing + self.slope**2 / self.left, missing) / 2
        longest = np.sqrt((self._chosen**2).sum(axis=0).max(initial=0.0))
        explained = np.minimum(
            np.abs(self.coupling) @ self._height, np.linalg.norm(self.coupling, axis=1) * longest
        )
        self._bound(np.arange(len(self.elements)), self.objective.largest_entries[self.elements] + explained)

    def _columns(self) -> tuple[FloatArray, IndexArray | slice]:
        # To gather most of the columns costs more than to compute with all of them.
        if 2 * len(self.elements) > self.objective.n:
            return self.objective.columns, self.elements
        return self.objective.columns[self.elements], slice(None)

    def _bound(self, rows: IndexArray, farthest: FloatArray) -> None:
        """Set ``most``, given bounds of the largest entries of the columns' parts that are left."""
        zeta = self._reach + np.abs(self.slope[rows]) / self.left[rows] * farthest
        if self.objective.curvature_is == "hessian":  # the model is exact
            zeta = np.zeros(len(rows))
        bounded = rows[self._clear[rows] & (zeta < 1)]
        self.bound[bounded] = self.predicted[bounded] / (1.0 - zeta[self._clear[rows] & (zeta < 1)])

    def tighten(self, floor: float) -> None:
        """Look closer at those that only a crude bound keeps above the floor."""
        if self.inverse is None or self.objective.curvature_is == "hessian":
            return
        unclear = np.flatnonzero((self.bound >= floor) & (self.predicted < floor) & self._clear)
        rows = max(1, BLOCK_ENTRIES // self.objective.n_samples)
        for begin in range(0, len(unclear), rows):
            part = unclear[begin : begin + rows]
            rest = self.objective.columns[self.elements[part]] - self.coupling[part] @ self._chosen
            self._bound(part, np.maximum(rest.max(axis=1), -rest.min(axis=1)))
            still = self.bound[part] >= floor
            self._diverge(part[still], rest[still])

    def _diverge(self, rows: IndexArray, rest: FloatArray) -> None:
        """Lower ``most`` to the divergence of the outcome from the prediction, and the ridge's share."""
        objective = self.objective
        coef = (self.slope[rows] / self.left[rows])[:, None]
        steps = self._step @ self._chosen + coef * rest
        rise = glm.divergences(objective.family, self._eta, objective.weight, steps)
        if objective.ridge > 0:
            others = (self._step - coef * self.coupling[rows])[:, : self._penalised]
            rise += objective.ridge * (coef[:, 0] ** 2 + (others**2).sum(axis=1)) / 2
        self.bound[rows] = np.minimum(self.bound[rows], rise)


class SecondOrderModel:
    """The slope and the curvature of a likelihood at a fit, along every column of the data.

    Parameters
    ----------
    gradient, squares : arrays of length n
        Slope and curvature (with the ridge) in each element's own coefficient.
    products : array of shape (number of parameters, n)
        The mixed second derivatives, one row per parameter of the fit.
    hessian : square array
        The same of the parameters of the fit with each other, with the ridge.

    >>> model = SecondOrderModel(np.array([0.0, 2.0]), np.ones(2), np.array([[1.0, 0.6]]), np.eye(1))
    >>> model.left.round(6), model.predicted.round(6)  # 0.8² is left of the other column
    (array([1.0e-06, 6.4e-01]), array([0.   , 3.125]))
    """

    def __init__(
        self, gradient: FloatArray, squares: FloatArray, products: FloatArray, hessian: FloatArray
    ) -> None:
        self.gradient, self.squares = gradient, squares
        lengths = np.sqrt(np.diag(hessian))
        lengths[lengths == 0] = 1.0
        scaled = hessian / np.outer(lengths, lengths)
        self.inverse = np.linalg.pinv(scaled, WORST_CONDITION, hermitian=True) / np.outer(lengths, lengths)
        self.coupling = products.T @ self.inverse
        taken_out = products.T * self.coupling
        # Less than this may be rounding, and nothing is divided by it.
        least = LEAST_LEFT * np.maximum(squares, np.abs(taken_out).sum(axis=1))
        self.left = np.maximum(squares - taken_out.sum(axis=1), np.maximum(least, np.finfo(float).tiny))
        #: The fit is at its maximum: its own slopes are zero, and change nothing here
        self.slope = gradient
        #: What the addition of each element gains, with all other coefficients free to follow
        self.predicted = gradient**2 / self.left / 2


class WeightedCrossProducts(NamedTuple):
    """Those of columns with each other, those with a response, and the square of the response.

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
        """Return the inner products once the last column is taken out of the others and of the response."""
        tied, weight = self.gram[:-1, -1], max(self.gram[-1, -1], np.finfo(float).tiny)
        last = self.with_response[-1]
        return WeightedCrossProducts(
            self.gram[:-1, :-1] - np.outer(tied, tied) / weight,
            self.with_response[:-1] - tied * (last / weight),
            self.square - last**2 / weight,
        )

    def of(self, places: IndexArray, unit: float) -> WeightedCrossProducts:
        """Return those of some columns, in other units."""
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
