"""Least squares: R² of the best linear fit on the chosen columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_elements, as_real, require_scale, warn
from swapwise.clock import Clock, while_listening
from swapwise.data.columns import Columns, ColumnSubset, GramColumns, Likely
from swapwise.data.design import Design
from swapwise.data.open import open_design
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SampleCurvature, SparseObjective, SparseState
from swapwise.objectives.coefficient_bounds import Bounds, CoefficientBounds, as_bounds
from swapwise.objectives.fit_bounds import QUICK_FIT, fit_bound
from swapwise.objectives.least_squares.active_set import (
    ColumnFit,
    dependencies_among,
    explained_in_full,
    factor,
    rounding_of,
)
from swapwise.override import override
from swapwise.threads import few_threads

# Eigenvalues of the smaller Gram matrix sharpen the smoothness constants up to this size.
EIGENVALUES_UP_TO = 1000

# Estimated number of fits of the free columns until all coefficients are within their bounds.
BOX_TURNS = 20

# Products per second of a singular value decomposition, as measured on one core.
SVD_PRODUCTS_PER_SECOND = 1e9

# Up to this many columns, and multiplications for all inner products, the products of a search cost little.
FEW_COLUMNS, FEW_PRODUCTS = 400, 4 * 10**7

# Inner products of no more columns than this with some others are read off those with all others.
FEW = 8

# Of data that cost the same to read for few columns as for many, this share more than needed is read.
READ_AHEAD = 0.5

# The whole Gram matrix is kept up to this size where all of it is needed, and up to the smaller one where a
# part of it is.
GRAM_UP_TO, WHOLE_HESSIAN_UP_TO = 3000, 1000


class _GramBlock(NamedTuple):
    elements: IndexArray
    gram: FloatArray

    def part(self, elements: IndexArray) -> FloatArray | None:
        if not np.isin(elements, self.elements).all():
            return None
        order = np.argsort(self.elements)
        places = order[np.searchsorted(self.elements, elements, sorter=order)]
        return self.gram[np.ix_(places, places)]

    def moved_to(
        self, elements: IndexArray, read: Callable[[IndexArray, IndexArray], FloatArray]
    ) -> _GramBlock:
        _, where, here = np.intersect1d(elements, self.elements, return_indices=True)
        gram = np.empty((len(elements), len(elements)))
        gram[np.ix_(where, where)] = self.gram[np.ix_(here, here)]
        places = np.delete(np.arange(len(elements)), where)
        rows = read(elements[places] if len(where) else elements, elements)
        gram[places] = rows
        gram[:, places] = rows.T
        return _GramBlock(elements, gram)


NOTHING_KNOWN = _GramBlock(np.empty(0, dtype=np.intp), np.empty((0, 0)))


class LeastSquares(SparseObjective):
    r"""R² of the least-squares fit of ``y`` on the chosen columns, or groups of columns, of ``X``.

    .. math:: f(S) = \max_{\operatorname{supp}(w) ⊆ S} 1 - \frac{‖y - Xw‖^2 + λ ‖w‖^2}{‖y‖^2}

    with λ the ``ridge``. It is 0 for no column and at most 1. R² is relative to ``y`` as given: centre ``y``
    and the columns first if the fit is to have an intercept. Gains of all swaps, additions and drops are
    exact and in closed form.

    Columns count as known up to a relative precision ε, 1e-10 for data in double precision and 1.2e-7 in
    single: the penalty has ``ε² ‖x_j‖² w_j²`` more for each coefficient. This is invisible unless columns are
    nearly collinear, and then keeps the fit from using digits that the data do not have.

    Parameters
    ----------
    X : array-like, sparse matrix, or data in chunks, of shape (n_samples, n_features)
        Not copied if it is an array of floats, of single or double precision, with rows or columns side by
        side, or a sparse matrix: leave it as it is while the objective is in use. Arrays in single precision
        are searched in single precision: gains below 4e-6 of R² count as zero. Data in chunks are a
        memory-mapped file (or the name of a ``.npy`` file), a Dask array or a Dask frame.
    y : array-like of shape (n_samples,)
    ridge : float
        Weight of the penalty ``‖w‖²``.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the squared errors.
    groups : iterable of hashable, optional
        One label per column. Elements of the ground set are then whole groups, such as the dummies of one
        factor or the lags of one signal, in the order in which their labels appear. Gains of additions, drops
        and swaps of groups are exact and in closed form as well. Data must be in memory, and coefficients
        have no bounds.
    bounds : pair, one pair per column, or mapping from position or name to pair, optional
        Bounds on coefficients, such as ``(0, 1)`` for all, or ``{2: (None, 0)}`` for one; None is no bound.
        0 has to be within them. The value of a set is then R² of the best fit within the bounds.
    positive : bool
        Whether no coefficient may be negative, in addition to ``bounds``.

    See Also
    --------
    SparseRegressor : the estimator.
    restricted_constants : its constants, for guarantees.

    References
    ----------
    - Das and Kempe (2011), Submodular meets spectral: greedy algorithms for subset selection, sparse
      approximation and dictionary selection.
    - Yuan and Lin (2006), Model selection and estimation in regression with grouped variables.
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

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

    Groups of columns:

    >>> dummies = LeastSquares(np.eye(4), [1.0, 1.0, 3.0, 0.5], groups=["a", "a", "b", "c"])
    >>> result = maximize(dummies, Uniform(3, 2))
    >>> result.support, result.coef
    (array([0, 1]), array([1., 1., 3., 0.]))

    Coefficients that may not be negative:

    >>> signs = LeastSquares(-X, y=[2.0, 1.0, 0.0], positive=True)
    >>> signs([0, 1]), LeastSquares(-X, y=[2.0, 1.0, 0.0])([0, 1])
    (0.0, 1.0)
    """

    scoring = "closed form"
    curvature_is = "hessian"
    second_order = True
    scale = 1.0
    #: Whether elements are groups of columns, even where every group has one column and ``groups`` is None
    has_groups = False
    _factored: tuple[IndexArray, ColumnFit] | None
    _bounded: tuple[IndexArray, ColumnFit] | None

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        ridge: float = 0.0,
        sample_weight: ArrayLike | None = None,
        *,
        groups: Iterable[Hashable] | None = None,
        bounds: Bounds | CoefficientBounds | None = None,
        positive: bool = False,
    ) -> None:
        if groups is not None:
            if bounds is not None or positive:
                raise ValueError(
                    "bounds on coefficients are for features that are chosen one by one: leave out groups, "
                    "or bounds and positive"
                )
            from swapwise.objectives.least_squares.groups import GroupLeastSquares

            self.__class__ = GroupLeastSquares
            assert isinstance(self, GroupLeastSquares)
            self._read_groups(X, y, ridge, sample_weight, groups)
            return
        ridge = as_real(ridge, "ridge")
        # GramColumns belong to a model of another objective, whose columns have been checked.
        design = X.aimed_at(y) if isinstance(X, GramColumns) else _read(X, y, sample_weight)
        self._hold(design, ridge, as_bounds(bounds, positive, design.n_features, X))

    @classmethod
    def of_design(cls, design: Design, ridge: float = 0.0, bounds: CoefficientBounds | None = None) -> Self:
        """Return the objective of a design that has its target already."""
        found = cls.__new__(cls)
        found._hold(_checked(design), ridge, bounds)
        return found

    def _hold(self, design: Columns, ridge: float, bounds: CoefficientBounds | None) -> None:
        self.design, self.ridge, self.bounds = design, ridge, bounds
        self.y = design.target
        self.n = self.design.n_features
        #: The precision of columns, relative to their length
        self.precision = self.design.precision
        self._squared_y = float(self.y @ self.y)
        #: ‖y‖², or 1 where that is 0
        self.total = self._squared_y or 1.0
        #: The penalty of every squared coefficient: the ridge, plus the squared error of the column
        self.penalty = self.ridge + self.precision**2 * self.design.squared_norms
        #: Squared length of every column, plus the penalty
        self.squares = self.design.squared_norms + self.penalty
        self._warned_of_rank = False
        self._factored = self._bounded = None  # searches end where their result begins
        # Replaced as a whole and never changed: searches of one objective may run side by side.
        self._known = self._known_exactly = NOTHING_KNOWN

    @property
    @override
    def n_passes(self) -> float:
        return self.design.passes

    @cached_property
    def products_with_y(self) -> FloatArray:
        """The inner products of all columns with y."""
        return self.design.with_target

    @override
    def __repr__(self) -> str:
        return f"LeastSquares({self.design.n_samples} samples, {self.n} features, ridge={self.ridge:g})"

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name != "unit_columns"}
        return {
            **kept,
            "_factored": None,
            "_bounded": None,
            "_known": NOTHING_KNOWN,
            "_known_exactly": NOTHING_KNOWN,
        }

    @override
    def start(self, support: Iterable[int] = ()) -> SparseState:
        from swapwise.objectives.least_squares.bounded_state import BoundedLeastSquaresState
        from swapwise.objectives.least_squares.state import LeastSquaresState

        kind = LeastSquaresState if self.bounds is None else BoundedLeastSquaresState
        return kind(self, as_elements(support, self.n, "the start"))

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        found = self.factor(support) if self.bounds is None else self.factor_within(support)
        return self.value_of(found.rest) if len(support) else 0.0, found.weights

    def value_of(self, rest: FloatArray) -> float:
        """Return R² from the residual of y, the penalties included."""
        return float((self._squared_y - rest @ rest) / self.total)

    @override
    def value_at(self, coef: FloatArray) -> float:
        return self._value_with(coef, self._rest_at(coef)) if coef.any() else 0.0

    @override
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        return self._gradient_with(coef, self._rest_at(coef))

    @override
    def value_and_gradient_at(self, coef: FloatArray) -> tuple[float, FloatArray]:
        rest = self._rest_at(coef)
        return self._value_with(coef, rest), self._gradient_with(coef, rest)

    def _rest_at(self, coef: FloatArray) -> FloatArray:
        return self.y - self.design.combine(coef) if coef.any() else self.y

    def _value_with(self, coef: FloatArray, rest: FloatArray) -> float:
        return self.value_of(np.append(rest, np.sqrt(self.penalty) * coef))

    def _gradient_with(self, coef: FloatArray, rest: FloatArray) -> FloatArray:
        corr = self.design.dots(rest[None, :], exact=True)[0]
        return (2.0 / self.total) * (corr - self.penalty * coef)

    def factor(self, support: IndexArray) -> ColumnFit:
        """Factor the columns of a set, and fit y on them."""
        if not len(support):
            return ColumnFit.of_no_column(self.y)
        last = self._factored
        if last is not None and np.array_equal(last[0], support):
            return last[1]
        with few_threads(len(support)):
            columns, y = self.design.view(support)
            found = factor(columns, y, self.squares[support], self.penalty[support], self.precision)
        if found.rank < len(support):
            self.warn_of_rank(
                f"of {len(support)} chosen columns only {found.rank} are linearly independent but for their "
                "last digits; coefficients of the others rest on these, or are arbitrary"
            )
        self._factored = support.copy(), found
        return found

    def factor_within(self, support: IndexArray) -> ColumnFit:
        """Factor the columns of a set, and fit y on them within the bounds."""
        found = self.factor(support)
        own = None if self.bounds is None else self.bounds.restricted(support)
        if own is None or own.hold(found.weights):
            return found
        last = self._bounded
        if last is not None and np.array_equal(last[0], support):
            return last[1]
        _, y = self.design.view(support)
        fitted = found.within(own, y, self.squares[support], self.penalty[support])
        self._bounded = support.copy(), fitted
        return fitted

    def products_among(self, elements: IndexArray) -> FloatArray:
        """Return the inner products of some columns, with penalties on the diagonal."""
        is_at_hand = isinstance(self.design, GramColumns)
        gram = self.design.gram(elements, elements) if is_at_hand else self._known_exactly.part(elements)
        if gram is None:
            self._known_exactly = known = self._known_exactly.moved_to(
                elements, partial(self.design.gram, exact=True)
            )
            gram = known.gram.copy()
        gram[np.diag_indices(len(elements))] = self.squares[elements]
        return gram

    @override
    def restricted(self, elements: IndexArray, likely: Likely | None = None) -> LeastSquares:
        # Elements may be in any order here. ``likely`` returns elements that may join them soon: where a
        # column costs as much to read as all do, these are read along.
        bounds = None if self.bounds is None else self.bounds.restricted(elements)
        if len(elements) > GRAM_UP_TO:
            found = LeastSquares.__new__(LeastSquares)
            found._hold(self.design.restricted(elements), self.ridge, bounds)
            return found
        columns = ColumnSubset(self.design, elements, self._gram_of(elements, likely))
        return LeastSquares(columns, self.y, self.ridge, bounds=bounds)

    @cached_property
    def unit_columns(self) -> Any:
        """The compiled source of products of columns of length 1."""
        from swapwise.objectives.least_squares.exploration import columns_of

        return columns_of(self)

    @property
    def is_small(self) -> bool:
        """Whether inner products of the columns cost little: then moves can be made in compiled code."""
        few = self.n <= FEW_COLUMNS and self.n**2 * self.design.n_samples <= FEW_PRODUCTS
        return few and not self.design.is_float32

    def copies(self) -> IndexArray:
        """Return a number per column, the same for multiples of one column, unless there is a ridge."""
        is_known = self.ridge == 0 and self.n <= GRAM_UP_TO and not self.design.sequential
        return self._copies if is_known else np.arange(self.n)

    @cached_property
    def _copies(self) -> IndexArray:
        number, lengths = np.arange(self.n), np.sqrt(np.diag(self._gram))
        lengths[lengths == 0] = 1.0
        cosines = np.abs(np.tril(self._gram / np.outer(lengths, lengths), -1))
        for later, earlier in np.argwhere(cosines > 1.0 - ROUNDING).tolist():
            if number[later] != later:
                continue
            pair, _ = self.design.view(np.array([earlier, later]))
            pair = pair / np.sqrt(self.design.squared_norms[[earlier, later], None])
            apart = np.linalg.norm(pair[1] - np.sign(pair[0] @ pair[1]) * pair[0])
            if apart <= self._rounding_of(np.array([earlier, later])):
                number[later] = number[earlier]
        return number

    def _gram_of(self, elements: IndexArray, likely: Likely | None) -> FloatArray:
        def read(new: IndexArray, others: IndexArray) -> FloatArray:
            if len(new) <= FEW and new is not others:
                # All products of few columns in one pass: those chosen later need them, too.
                return self.design.products(new, likely)[:, others]
            return self.design.gram(new, others, likely)

        self._known = known = self._known.moved_to(elements, read)
        return known.gram

    @override
    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        # Directions that are more than rounding count in full, however short they are: the bound also holds
        # for data that are known beyond their precision.
        if support is None:
            return 1.0
        if self.bounds is None:
            return self._explained_in_full(support, clock)
        seconds = BOX_TURNS * len(support) ** 3 / SVD_PRODUCTS_PER_SECOND
        fitted = fit_bound(self, support, clock, seconds=seconds)
        return min(fitted, self._explained_in_full(support, clock))

    def _explained_in_full(self, support: IndexArray, clock: Clock | None) -> float:
        samples = self.design.n_samples
        if not len(support) or min(len(support), samples) > EIGENVALUES_UP_TO:
            return 1.0 if len(support) else 0.0
        small, large = sorted((len(support), samples))
        seconds = large * small**2 / SVD_PRODUCTS_PER_SECOND
        if clock is not None and seconds > max(QUICK_FIT, clock.left()):
            return 1.0
        columns, y = self.design.view(support)
        rounding = self._rounding_of(support)
        explain = partial(explained_in_full, columns, y, self.ridge, self.precision, rounding)
        return min(1.0, (explain() if seconds <= QUICK_FIT else while_listening(explain)) / self.total)

    @override
    def dependencies(self, elements: IndexArray, least: float) -> int | None:
        if self.ridge > 0:
            return None
        columns, _ = self.design.view(elements)
        find = partial(dependencies_among, columns, least, self._rounding_of(elements))
        return while_listening(find)

    def _rounding_of(self, elements: IndexArray) -> float:
        return rounding_of(len(elements), float(self.design.offsets[elements].max(initial=0.0)))

    def warn_of_rank(self, what: str) -> None:
        """Warn, once per objective, that the columns are collinear."""
        if not self._warned_of_rank:
            self._warned_of_rank = warn(what)

    @cached_property
    def _eigenvalues(self) -> tuple[float, float]:
        if min(self.design.n_samples, self.n) > EIGENVALUES_UP_TO or not isinstance(self.design, Design):
            return 0.0, np.inf
        return self.design.extreme_eigenvalues()

    @override
    def smoothness(self, t: int) -> float:
        # The t longest columns bound it, and so does the largest eigenvalue.
        longest = np.sort(self.design.squared_norms)[::-1][: max(t, 1)]
        largest = min(float(longest.sum()), self._eigenvalues[1])
        return (2.0 / self.total) * (largest + float(self.penalty.max(initial=0.0)))

    @override
    def curvature(self, columns: IndexArray) -> FloatArray | None:
        # 2 (AᵀA + penalty) / ‖y‖², minus the Hessian
        if self.design.is_float32:  # exact products would be no better than the data
            gram = self.design.gram(np.arange(self.n), columns)
        else:
            gram = self.design.cross(columns).T
        gram[columns, np.arange(len(columns))] = self.squares[columns]
        return (2.0 / self.total) * gram

    @override
    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        whole_up_to = GRAM_UP_TO if len(elements) == self.n else WHOLE_HESSIAN_UP_TO
        if self.n <= whole_up_to or "_gram" in self.__dict__:
            return self._gram[np.ix_(elements, elements)]
        hessian: FloatArray = (2.0 / self.total) * self.products_among(elements)
        return hessian

    @override
    def sample_curvature(self, coef: FloatArray) -> SampleCurvature | None:
        if not self.design.shows_samples:
            return None
        weight = np.full(self.design.n_samples, 2.0 / self.total)
        penalty = (2.0 / self.total) * self.penalty
        return SampleCurvature(lambda columns: self.design.view(columns)[0], weight, penalty)

    @cached_property
    def _gram(self) -> FloatArray:
        gram = (2.0 / self.total) * self.design.gram_of_all()
        gram[np.diag_indices(self.n)] = (2.0 / self.total) * self.squares
        return gram

    @override
    def strong_concavity(self, t: int) -> float:
        if t <= 1 and self.n:
            return (2.0 / self.total) * float(self.squares.min())
        return (2.0 / self.total) * (self._eigenvalues[0] + self.ridge)


def is_by_column(objective: object) -> TypeGuard[LeastSquares]:
    """Whether an objective is least squares without ``groups``."""
    return isinstance(objective, LeastSquares) and not objective.has_groups


def _read(X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Design:
    if isinstance(X, Design) and sample_weight is not None:
        raise ValueError("sample_weight must be given to the design, which X is, not beside it")
    return _checked(X.aimed_at(y) if isinstance(X, Design) else open_design(X, y, sample_weight))


def _checked(design: Design) -> Design:
    if design.leaves_weights_out:
        raise ValueError("X must be a design whose rows are scaled by their weights, got scale_rows=False")
    require_scale(np.abs(design.target).max(keepdims=True), "y")
    if not design.target.any():
        warn("y is zero throughout: every set has the value 0")
    return design
