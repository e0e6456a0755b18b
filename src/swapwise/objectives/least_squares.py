"""Least squares: R² of the best linear fit on the chosen columns."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_elements, as_real, warn
from swapwise.clock import Clock
from swapwise.data.columns import Columns, Pool
from swapwise.data.design import Design
from swapwise.data.open import open_design
from swapwise.interrupts import while_listening
from swapwise.objectives.base import QUICK_FIT, SparseObjective, SparseState
from swapwise.objectives.factors import Factor, factor
from swapwise.objectives.model_data import SMALLEST, require_scale
from swapwise.threads import few_threads

if TYPE_CHECKING:
    from swapwise.objectives.least_squares_state import LeastSquaresState

# No search adds a column unless this share of its squared length is left: a hundred times more, so that
# what a search puts together is of full rank in whatever order its columns are looked at.
CANDIDATE_TOLERANCE = 1e-12


# Eigenvalues of the smaller Gram matrix sharpen the smoothness constants up to this size.
EIGENVALUES_UP_TO = 1000

# How many products a singular value decomposition takes a second, as measured on one core.
PRODUCTS_PER_SECOND = 1e9


# Inner products of so few columns with some others are read off those with all others.
FEW = 8


# Data that cost the same to read for few columns as for many are asked for so many more than are needed.
READ_AHEAD = 0.5


# The whole Gram matrix is kept, where it is asked for, up to this size.
GRAM_UP_TO = 3000


class Pooled(NamedTuple):
    """Some columns and their inner products."""

    elements: IndexArray
    gram: FloatArray


NO_POOL = Pooled(np.empty(0, dtype=np.intp), np.empty((0, 0)))


class LeastSquares(SparseObjective):
    """R² of the least-squares fit of ``y`` on the chosen columns of ``X``.

    ``u(w) = 1 − (‖y − Xw‖² + ridge·‖w‖²) / ‖y‖²``, so ``f(X) = max u`` is 0 for no column and at
    most 1. R² is relative to ``y`` as given: centre ``y`` and the columns first if the fit is to have
    an intercept. Gains of all swaps, additions and drops are exact and in closed form.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Not copied if it is an array of floats, of single or double precision, with rows or columns side by
        side, or a sparse matrix: leave it as it is while the objective is in use. Data in single precision
        are searched in single precision: gains below 4e-6 of R² are not told from none.
    y : array-like of shape (n_samples,)
    ridge : float
        Weight of the penalty ``‖w‖²``.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the squared errors.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import LeastSquares, Uniform, maximize
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    >>> f = LeastSquares(X, y=[2.0, 1.0, 0.0])
    >>> f([0])
    0.8
    >>> maximize(f, Uniform(3, 2)).support
    array([0, 1])
    """

    closed_form_gains = True
    quadratic = True
    scale = 1.0
    _factored: tuple[IndexArray, Factor] | None

    def __init__(
        self, X: Any, y: ArrayLike, ridge: float = 0.0, sample_weight: ArrayLike | None = None
    ) -> None:
        if isinstance(X, Design) and sample_weight is not None:
            raise ValueError("sample_weight must be given to the design, which X is, not beside it")
        design = X if isinstance(X, Design) else open_design(X, y, sample_weight)
        self.design: Columns = design
        self.n = design.n_features
        self.y = design.rows(y, "y")
        self.ridge = as_real(ridge, "ridge")
        require_scale(np.abs(self.y).max(keepdims=True), "y")
        if not isinstance(X, Design):
            require_scale(design.sizes, "column {} of X", design.largest_entries)
        self._squared_y = float(self.y @ self.y)
        if self._squared_y == 0:
            warn("y is zero throughout: every set has the value 0")
        self._scale_by_y()

    def _scale_by_y(self) -> None:
        #: ‖y‖², or 1 where that is 0 and nothing can be explained
        self.total = self._squared_y or 1.0
        #: squared length of every column, plus the ridge
        self.squares = self.design.squared_norms + self.ridge
        self._warned_of_rank = False
        self._factored = None  # searches end where their result begins
        self._pool = NO_POOL

    @property
    def streamed(self) -> bool:  # type: ignore[override]
        """Whether the data are read block by block."""
        return self.design.streamed

    @property
    def n_passes(self) -> float:
        """How many times all of the data were read so far; a few columns count as their share."""
        return self.design.passes

    @cached_property
    def products_with_y(self) -> FloatArray:
        """The inner products of all columns with y."""
        return self.design.products_with(self.y)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"LeastSquares({self.design.n_samples} samples, {self.n} features, ridge={self.ridge:g})"

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the data, and nothing that can be computed again."""
        return {**self.__dict__, "_factored": None, "_pool": NO_POOL}

    def start(self, support: Iterable[int] = ()) -> LeastSquaresState:
        """Return a state with closed-form gains at ``support``."""
        # The state compiles kernels: nobody who only evaluates f should wait for that.
        from swapwise.objectives.least_squares_state import LeastSquaresState

        return LeastSquaresState(self, as_elements(support, self.n, "the start"))

    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        coef = np.zeros(len(support))
        found = self.factor(support)
        coef[found.basis] = found.weights
        return self.value_of(found.residual, found.weights), coef

    def value_of(self, residual: FloatArray, coef: FloatArray) -> float:
        """Return R² from residuals and coefficients."""
        if not len(coef):
            return 0.0
        lost = residual @ residual + self.ridge * (coef @ coef)
        return float((self._squared_y - lost) / self.total)

    def value_at(self, coef: FloatArray) -> float:
        """Return R² of the fit ``Xw``, less the penalty."""
        return self.value_of(self.y - self.design.combine(coef), coef)

    def gradient_at(self, coef: FloatArray) -> FloatArray:
        """Return the gradient of R² at ``w``."""
        corr = self.design.correlate(self.y - self.design.combine(coef))
        return (2.0 / self.total) * (corr - self.ridge * coef)

    def factor(self, support: IndexArray) -> Factor:
        """Factor the columns of a set; those that the others span are left out of the basis."""
        last = self._factored
        if last is not None and np.array_equal(last[0], support):
            return last[1]
        with few_threads(len(support)):
            found = factor(*self.design.view(support, self.y), self.squares[support], self.ridge)
        rank = len(found.basis)
        if rank < len(support):
            self.warn_of_rank(f"of {len(support)} chosen columns only {rank} are linearly independent")
        self._factored = support.copy(), found
        return found

    def quadratic_model(self, state: SparseState, elements: IndexArray) -> LeastSquares:
        """Return the same objective on some elements: it is its own second-order model."""
        model = object.__new__(type(self))
        model.design = Pool(self.design, elements, self._gram_of(elements, state))
        model.n, model.y, model.ridge = len(elements), self.y, self.ridge
        model._squared_y = self._squared_y
        model._scale_by_y()
        model.products_with_y = self.products_with_y[elements]
        return model

    @property
    def last_pool(self) -> IndexArray:
        """The elements of the last model: their inner products are known."""
        return self._pool.elements

    def promises(self, state: SparseState) -> FloatArray:
        """Return what each element would add if it had nothing in common with the chosen ones."""
        # The slope is 2c/‖y‖², and such an element adds c²/σ to what is explained of ‖y‖².
        return state.pull * (self.total / 4) / np.maximum(self.squares, np.finfo(float).tiny)

    def _gram_of(self, elements: IndexArray, state: SparseState) -> FloatArray:
        """Return inner products of some columns; those that were asked for last time are not read again."""
        pool = self._pool
        known, where, in_pool = np.intersect1d(elements, pool.elements, return_indices=True)
        gram = np.empty((len(elements), len(elements)))
        gram[np.ix_(where, where)] = pool.gram[np.ix_(in_pool, in_pool)]
        new = np.setdiff1d(elements, known)
        places = np.searchsorted(elements, new)
        # A look at all of the data: whatever is chosen will need it.
        if self.design.streamed or (len(known) and len(new) <= FEW):
            rows = self.design.products(new, self._likely(state, elements))[:, elements]
        else:
            rows = self.design.gram(new, elements if len(known) else new)
        gram[places] = rows
        gram[:, places] = rows.T
        self._pool = Pooled(elements, gram)
        return gram

    def _likely(self, state: SparseState, elements: IndexArray) -> IndexArray | None:
        """Return what may well join some elements, where it is better read along than come back for."""
        if not self.design.streamed or not len(state.support):
            return None
        promises = self.promises(state)
        promises[elements] = 0.0
        return np.argsort(-promises, kind="stable")[: int(READ_AHEAD * len(elements))]

    ceiling = 1.0

    def upper_bound(self, support: IndexArray, clock: Clock | None = None) -> float:
        """Return what R² on the chosen columns does not exceed; of very many columns, no more than 1.

        By singular values, each moved up by its rounding: nearly collinear columns count in full here.
        """
        samples = self.design.n_samples
        if not len(support) or min(len(support), samples) > EIGENVALUES_UP_TO:
            return 1.0 if len(support) else 0.0
        small, large = sorted((len(support), samples))
        seconds = large * small**2 / PRODUCTS_PER_SECOND
        if clock is not None and seconds > max(QUICK_FIT, clock.left()):
            return 1.0
        columns, y = self.design.view(support, self.y)
        if self.ridge == 0:  # then lengths do not matter, and equal ones are best for the numerics
            columns = columns / np.maximum(np.sqrt(self.squares[support]), SMALLEST)[:, None]
        decompose = partial(np.linalg.svd, columns.T, full_matrices=False)
        directions, sizes, _ = decompose() if seconds <= QUICK_FIT else while_listening(decompose)
        moved = (sizes + 1e-14 * len(columns) * sizes[0]) ** 2
        if self.ridge > 0:
            shares = moved / (moved + self.ridge)
        else:  # what is shorter than this is far inside of what counts as spanned
            shares = (sizes > 1e-9 * sizes[0]).astype(np.float64)
        explained = float(shares @ (directions.T @ y) ** 2) / self.total
        return min(1.0, explained * (1.0 + 1e-12))

    def warn_of_rank(self, what: str) -> None:
        """Say once, for this objective, that the columns are collinear."""
        if not self._warned_of_rank:
            self._warned_of_rank = warn(f"{what}; the others add nothing to the fit")

    @cached_property
    def _eigenvalues(self) -> tuple[float, float]:
        if min(self.design.n_samples, self.n) > EIGENVALUES_UP_TO or not isinstance(self.design, Design):
            return 0.0, np.inf
        return self.design.extreme_eigenvalues()

    def smoothness(self, t: int) -> float:
        """Return a valid M_{s,t}: the t longest columns or the largest eigenvalue bound it.

        >>> import numpy as np
        >>> LeastSquares(np.eye(3), [1.0, 0.0, 0.0]).smoothness(2)
        2.0...
        """
        longest = np.sort(self.squares)[::-1][: max(t, 1)] - self.ridge
        return (2.0 / self.total) * (min(float(longest.sum()), self._eigenvalues[1]) + self.ridge)

    def curvature(self, columns: IndexArray) -> FloatArray:
        """Return columns of ``2 (AᵀA + ridge·I) / ‖y‖²``, minus the Hessian.

        >>> import numpy as np
        >>> LeastSquares(np.eye(3), [1.0, 0.0, 0.0], ridge=1.0).curvature(np.array([1]))
        array([[0.],
               [4.],
               [0.]])
        """
        gram = self.design.cross(columns).T
        gram[columns, np.arange(len(columns))] = self.squares[columns]
        return (2.0 / self.total) * gram

    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        """Return minus the Hessian, which is the same everywhere."""
        if self.n > GRAM_UP_TO:
            columns, _ = self.design.view(elements, self.y)
            return (2.0 / self.total) * (columns @ columns.T + self.ridge * np.eye(len(elements)))
        return self._gram[np.ix_(elements, elements)]

    @cached_property
    def _gram(self) -> FloatArray:
        return self.curvature(np.arange(self.n))

    def strong_concavity(self, t: int) -> float:
        """Return a valid m_t: the smallest eigenvalue of the Gram matrix, and the ridge, bound it."""
        if t <= 1:
            return (2.0 / self.total) * float(self.squares.min())
        return (2.0 / self.total) * (self._eigenvalues[0] + self.ridge)
