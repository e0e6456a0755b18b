"""What the estimators of linear predictors share: parameters, data, constraint, search, coefficients."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import (
    _check_feature_names_in,
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from swapwise.certify.certificate import Certificate
from swapwise.certify.certify import certify
from swapwise.checks import (
    FloatArray,
    IndexArray,
    as_generator,
    as_real,
    as_time_limit,
    as_weights,
    unwarned,
    warn,
)
from swapwise.clock import Clock
from swapwise.constraints.base import Constraint
from swapwise.data.design import Design
from swapwise.data.matrix import Matrix
from swapwise.data.open import is_chunked, is_mapped, open_design, opened
from swapwise.estimators.chunked_input import open_chunks, product_of_chunks, read_target
from swapwise.estimators.constraint_of import (
    Elements,
    allows_nothing,
    check_exchanges,
    resolve_constraint,
    with_forced,
)
from swapwise.estimators.frames import require_numbers, require_plain
from swapwise.estimators.kept_data import without_large_data
from swapwise.estimators.sample import Sample, read_offset, some_rows, times
from swapwise.files import write_atomically
from swapwise.maximize import THEORY
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.coefficient_bounds import CoefficientBounds, read_bounds
from swapwise.objectives.glm.likelihood import read_weight
from swapwise.search.plan import Plan, resolve
from swapwise.search.progress import progress_bar, reading_bar
from swapwise.search.restarts import RestartProblem, require_restarts, restart
from swapwise.search.result import SearchResult, Status
from swapwise.search.rules import Pivot
from swapwise.search.working_sets import working_set


@dataclass(frozen=True, eq=False)
class Task:
    """An objective on scaled columns, and what leads back from its coefficients."""

    objective: SparseObjective
    design: Design
    sample: Sample


def planned(
    estimator: Any, objective: SparseObjective, constraint: Constraint, start: Any, *, of_path: bool = False
) -> Plan:
    """Return what an estimator's parameters ask to be run."""
    plan = resolve(
        objective,
        constraint,
        estimator.method,
        start=start,
        q=estimator.q,
        max_iter=estimator.max_iter,
        tol=estimator.tol,
        hooks=THEORY,
        of_path=of_path,
    )
    if estimator.n_restarts != 0:
        require_restarts(estimator.n_restarts, plan)
    as_time_limit(estimator.time_limit)
    return plan


class Searches(NamedTuple):
    """The best of some searches, and the share of them whose answer holds each element."""

    best: SearchResult
    frequency: FloatArray


def searched(
    estimator: Any,
    objective: SparseObjective,
    constraint: Constraint,
    plan: Plan,
    *,
    progress: bool = False,
    first: SearchResult | None = None,
) -> Searches:
    """Search as planned, with an estimator's restarts and limits; ``first`` was searched already."""
    is_drawn = estimator.n_restarts != 0 or estimator.random_state is not None
    rng = as_generator(estimator.random_state) if is_drawn else None
    clock = Clock(as_time_limit(estimator.time_limit))
    if first is not None:
        clock = clock.after(first.seconds)
    models = plan.models(objective, constraint)
    with progress_bar(plan.method, plan.max_iter) if progress else nullcontext() as show:
        observers = [] if show is None else [show]
        best = first or plan.search(objective, constraint, rng, clock, observers, models=models)
        frequency = np.bincount(best.support, minlength=objective.n).astype(float)
        if estimator.n_restarts:
            assert rng is not None
            problem = RestartProblem(objective, constraint, plan, working_set(models))
            best, frequency = restart(problem, best, estimator.n_restarts, rng, clock, observers)
        if show is not None:  # with the passes over the data
            show(best)
    return Searches(best, frequency)


def warn_if_cut_short(
    statuses: Iterable[Status],
    time_limit: float | None,
    max_iter: int | None,
    told_by: str,
    *,
    is_empty: bool = False,
) -> None:
    """Warn if a search of ``fit`` ended at a limit; ``told_by`` is where users find which.

    >>> warn_if_cut_short([Status.LOCAL_OPTIMUM], None, 5, "result_.status")
    """
    limits = {
        Status.TIME_LIMIT: f"cut short by {time_limit=}",
        Status.ITERATION_LIMIT: f"cut short by {max_iter=}",
        Status.INTERRUPTED: "interrupted",
    }
    seen = set(statuses)
    reached = [limit for status, limit in limits.items() if status in seen]
    if reached:
        answer = "it had found nothing yet" if is_empty else "the answer is the best so far"
        warn(f"the search was {' and '.join(reached)}: {answer} (see {told_by})", ConvergenceWarning)


def validated(
    estimator: Any, X: Any, y: Any, *, dtype: Any, reset: bool, ensure_all_finite: bool = True
) -> tuple[Any, Any]:
    """Return X and y as scikit-learn's ``validate_data`` does.

    A vector of numbers only has to be finite, and so has an array of the right type: to find out that they
    are no frames, lists or anything else takes longer than many a fit.
    """
    options = {"dtype": dtype, "reset": reset, "ensure_all_finite": ensure_all_finite}
    require_numbers(X)
    require_plain(y, "y")
    if not (isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuf"):
        return validate_data(estimator, X, y, accept_sparse=("csr", "csc"), **options)
    name = type(estimator).__name__
    types = dtype if isinstance(dtype, tuple) else (dtype,)
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype in types:
        validate_data(estimator, X, reset=reset, skip_check_array=True)  # the number of features, and names
        if ensure_all_finite:
            assert_all_finite(X, estimator_name=name, input_name="X")
    else:
        X = validate_data(estimator, X, accept_sparse=("csr", "csc"), **options)
    assert_all_finite(y, estimator_name=name, input_name="y")
    check_consistent_length(X, y)
    return X, y


class SparseEstimator(BaseEstimator, ABC):
    """A linear predictor with few features, chosen under a constraint; see :class:`SparseRegressor`.

    A subclass says which objective it maximises (``_objective``), what its coefficients and intercept are
    (``_coefficients``), and what it predicts.
    """

    #: The ridge that None stands for
    _default_ridge: float = 0.0

    def __init__(
        self,
        constraint: int | Constraint | Callable[[int], Any] = 10,
        *,
        method: str | Pivot = "auto",
        start: Any = "auto",
        q: int = 1,
        ridge: float | None = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        groups: Any = None,
        forced: Any = None,
        bounds: Any = None,
        positive: bool = False,
        n_restarts: int = 0,
        max_iter: int | None = None,
        tol: float = 1e-10,
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.constraint = constraint
        self.method = method
        self.start = start
        self.q = q
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.groups = groups
        self.forced = forced
        self.bounds = bounds
        self.positive = positive
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose features and fit their coefficients.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, or data in chunks, of shape (n_samples, n_features)
            Data in chunks are a memory-mapped file (or the name of a ``.npy`` file), a Dask array or a Dask
            frame: they are read chunk by chunk, in few passes, and no more than a few chunks are in memory
            at a time. Sparse matrices (CSR, CSC) stay sparse, and single precision stays single in linear
            regression. Only data of up to 1 MB are kept, for ``result_.guarantee``: leave them as they are
            while you ask for it.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is as good as the same sample twice, and one of 0 as none.

        Returns
        -------
        self
        """
        return self._fit(self._read(X, y, sample_weight))

    def certify(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        time_limit: float | None = 10.0,
        **options: Any,
    ) -> Certificate:
        """Prove how far from the best allowed choice the fitted one can be.

        The best choice is the one with the best fit to these data; the proof says nothing about new data.

        Parameters
        ----------
        X, y, sample_weight :
            The training data.
        time_limit : float, optional
            Seconds after which the best bound so far is returned; None for no limit.
        **options :
            Those of :func:`swapwise.certify`: ``gap``, ``max_nodes``, ``progress``.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        return self._certify(self._read(X, y, sample_weight, reset=False), time_limit, options)

    def to_frame(self) -> pd.DataFrame:
        """Return the chosen features with their coefficients, the largest per standard deviation first.

        Returns
        -------
        pandas.DataFrame
            Columns ``feature``, ``class`` (a row per feature and class, if there are more than two),
            ``coefficient`` (in the units of the data) and ``per_std``: the coefficient times the standard
            deviation of the feature in the training data, which can be compared between features.

        Examples
        --------
        >>> from swapwise import SparseRegressor
        >>> X = np.array([[1.0, 30.0, 0.0], [2.0, 10.0, 1.0], [3.0, 20.0, 0.0], [4.0, 40.0, 1.0]])
        >>> SparseRegressor(2).fit(X, X @ [4.0, 1.0, 0.0]).to_frame().round(3)
          feature  coefficient  per_std
        0      x1          1.0   11.180
        1      x0          4.0    4.472
        """
        check_is_fitted(self)
        names, coef = self.get_feature_names_out(), np.atleast_2d(self.coef_)[:, self.support_]
        per_std = coef * self.feature_std_[self.support_]
        order = np.argsort(-np.linalg.norm(per_std, axis=0), kind="stable")
        columns: dict[str, Any] = {"feature": np.repeat(names[order], len(coef))}
        if len(coef) > 1:
            columns["class"] = np.tile(self.classes_, len(order))
        columns |= {"coefficient": coef[:, order].T.ravel(), "per_std": per_std[:, order].T.ravel()}
        return pd.DataFrame(columns)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        groups: Mapping[Any, Any] | None = None,
        certificate: Certificate | None = None,
        asked: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Write an HTML page about the answer: chosen features, how good they are, how they were found.

        Parameters
        ----------
        path : path of the file
            One file that opens without a network; it is written in whole or not at all. A symbolic link is
            followed.
        X : frame or array-like of shape (n_samples, n_features), optional
            The training data, for how predictions compare with them and how the features are correlated.
        y : array-like of shape (n_samples,), optional
            The training target.
        sample_weight : array-like of shape (n_samples,), optional
            The weights given to fit, which the score, residuals, calibration and correlations then have too.
        offset : array-like of shape (n_samples,) or float, optional
            The offset given to fit; without it, how well a model with offsets fits is not shown.
        groups : mapping from feature to group, optional
            Features are listed by group.
        certificate : Certificate, optional
            From :meth:`certify`.
        asked : mapping from str to str, optional
            What is to be shown among the settings.
        seconds : float, optional
            How long it took; by default, how long the search did.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from swapwise import SparseRegressor
        >>> model = SparseRegressor(1).fit([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], [1.0, 2.0, 3.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(Path(folder) / "answer.html")
        ...     "1 of 2 features was chosen" in (Path(folder) / "answer.html").read_text(encoding="utf-8")
        True
        """
        check_is_fitted(self)
        # Pages are a layer above, and loaded when they are first asked for.
        page: str = import_module("swapwise.app.report.selection").selection_report(
            self,
            X,
            y,
            sample_weight=sample_weight,
            offset=offset,
            groups=groups,
            certificate=certificate,
            asked=asked,
            seconds=seconds,
        )
        write_atomically(Path(os.path.realpath(path)), page.encode())

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the chosen features, as selectors do; x0, x1, … if they have none.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of all features; by default those of the training data, if it had any.
        """
        check_is_fitted(self)
        names: NDArray[Any] = _check_feature_names_in(self, input_features)
        return names[self.support_]

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn asks about the estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _target(self, y: Any, reset: bool) -> FloatArray:
        """Return checked targets as the objective wants them; ``reset`` is True in fit."""

    @abstractmethod
    def _objective(self, X: Any, sample: Sample, groups: IndexArray | None) -> SparseObjective:
        """Return the objective on scaled columns."""

    @abstractmethod
    def _coefficients(self, task: Task, result: SearchResult) -> tuple[FloatArray, Any]:
        """Return ``coef_`` and ``intercept_`` in the units of the data."""

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        *,
        reset: bool = True,
    ) -> Sample:
        """Return checked data; ``reset`` is True in fit."""
        X = opened(X)
        in_chunks = is_chunked(X) and not (is_mapped(X) and self._needs_memory(y))
        X, y = self._chunks(X, y, reset) if in_chunks else self._checked(X, y, reset)
        shift = None if offset is None else read_offset(offset, len(y))
        weight = self._weights(y, sample_weight)
        if weight is None:
            return Sample(X, self._target(y, reset), None, shift)
        if weight.all():
            return Sample(X, self._target(y, reset), weight, shift)
        kept = np.flatnonzero(weight)
        if not isinstance(X, Matrix):
            assert_all_finite(X[weight == 0], estimator_name=type(self).__name__, input_name="X")
        target = self._target(np.asarray(y)[kept], reset)
        return Sample(some_rows(X, kept), target, weight[kept], None if shift is None else shift[kept])

    def _needs_memory(self, y: Any) -> str | None:
        """Return what was asked for that data in chunks cannot serve, or None."""
        return None if self.groups is None else "groups"

    def _chunks(self, X: Any, y: Any, reset: bool) -> tuple[Matrix, Any]:
        """Return access to data in chunks, and their target."""
        what = self._needs_memory(y)
        if what:
            raise TypeError(f"{what} need data in memory, got data in chunks: give X.compute(), if that fits")
        matrix = open_chunks(self, X, reset=reset)
        return matrix, read_target(y, matrix.n_samples)

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        """Return data that scikit-learn finds nothing wrong with, as the objective wants them."""
        X, y = validated(self, X, y, dtype=np.float64, reset=reset)
        # One layout for all, so that the same numbers give the same answer to the last digit.
        return X if issparse(X) else np.ascontiguousarray(X), y

    def _weights(self, y: Any, sample_weight: Any) -> FloatArray | None:
        """Return the checked weight of each sample, or None if all are alike."""
        if sample_weight is None:
            return None
        return as_weights(sample_weight, len(y))

    def _elements(self) -> Elements:
        """Return what can be chosen from the training data."""
        names = getattr(self, "feature_names_in_", None)
        return Elements.of(self.groups, self.n_features_in_, None if names is None else names.tolist())

    def _resolve(self, elements: Elements) -> Constraint:
        """Return the constraint on the elements, with what is forced in."""
        return with_forced(resolve_constraint(self.constraint, elements), self.forced, elements)

    def _build(self, sample: Sample, elements: Elements) -> Task:
        """Return the objective that a sample leads to."""
        self._check_flags()
        weight = read_weight(sample.weight, len(sample.y))
        switches = self.fit_intercept, self.standardize
        design = open_design(sample.X, sample.y, weight, *switches, scale_rows=False, by_rows=True)
        return Task(self._objective(design, sample, elements.groups), design, sample)

    def _check_flags(self) -> None:
        for name in ("fit_intercept", "standardize"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}")

    def _penalty(self) -> float:
        return self._default_ridge if self.ridge is None else as_real(self.ridge, "ridge")

    def _bounds(self, design: Design) -> CoefficientBounds | None:
        """Return the bounds on coefficients of scaled columns; they are given in the units of the data."""
        found = self._bounds_as_given()
        return None if found is None else found.scaled(design.scale)

    def _bounds_as_given(self) -> CoefficientBounds | None:
        names = getattr(self, "feature_names_in_", None)
        known = None if names is None else names.tolist()
        return read_bounds(self.bounds, self.positive, self.n_features_in_, known)

    def _plan(self, objective: SparseObjective, constraint: Constraint) -> Plan:
        """Return what is to be run, once all that was asked for is checked."""
        check_exchanges(self.q, constraint)
        return planned(self, objective, constraint, self.start)

    def _search(
        self,
        objective: SparseObjective,
        constraint: Constraint,
        plan: Plan,
        first: SearchResult | None = None,
    ) -> Searches:
        """Search as planned; ``first`` is the result of the first search if it was made."""
        # What the search would say of a constraint that allows nothing is in the words of matroids.
        with unwarned() if self._warn_if_empty(constraint) else nullcontext():
            return searched(self, objective, constraint, plan, progress=self.progress, first=first)

    def _warn_if_empty(self, constraint: Constraint) -> bool:
        """Return whether the constraint allows nothing, and warn if so."""
        nothing = allows_nothing(constraint)
        if nothing:
            model = "the intercept alone" if self.fit_intercept else "zero"
            warn(f"constraint allows no feature at all: the model is {model}")
        return nothing

    def _install(self, task: Task, elements: Elements, constraint: Constraint, found: Searches) -> Self:
        """Make an answer that of the estimator."""
        if len(found.best.filled):
            idle = elements.filled_in_words(found.best.filled)
            warn(f"{idle}; result_.filled says which")
        self.constraint_ = constraint
        self.result_ = without_large_data(found.best)
        self.n_iter_ = max(1, found.best.n_iter)  # scikit-learn asks for at least one
        self.support_ = elements.features(found.best.support)
        self.selection_frequency_ = found.frequency[elements.of_feature]
        self.coef_, self.intercept_ = self._coefficients(task, found.best)
        self.n_samples_fit_ = len(task.sample.y)
        self.feature_std_ = task.design.deviation.copy()
        bounds = self._bounds_as_given()
        if bounds is not None:  # to the last digit, which scaling may change
            self.coef_ = bounds.clip(self.coef_)
        return self

    def _fit(self, sample: Sample) -> Self:
        elements = self._elements()
        constraint = self._resolve(elements)
        with reading_bar() if self.progress and isinstance(sample.X, Matrix) else nullcontext():
            task = self._build(sample, elements)
        found = self._search(task.objective, constraint, self._plan(task.objective, constraint))
        statuses, is_empty = [found.best.status], not len(found.best.support)
        warn_if_cut_short(statuses, self.time_limit, self.max_iter, "result_.status", is_empty=is_empty)
        return self._install(task, elements, constraint, found)

    def _certify(self, sample: Sample, time_limit: float | None, options: dict[str, Any]) -> Certificate:
        objective = self._build(sample, self._elements()).objective
        value = objective(self.result_.support)
        if not self._is_training_value(value):
            raise ValueError(
                "the data must be the training data (with the same parameters): the chosen features have "
                f"value {value:.6g} here and had {self.result_.value:.6g} in fit"
            )
        return certify(objective, self.constraint_, self.result_, time_limit=time_limit, **options)

    def _is_training_value(self, value: float) -> bool:
        return bool(np.isclose(value, self.result_.value, rtol=1e-6, atol=1e-6))

    def _is_training_data(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> bool:
        """Return whether the chosen features have the value here that they had in fit."""
        with unwarned():
            sample = self._read(X, y, sample_weight, offset, reset=False)
            objective = self._build(sample, self._elements()).objective
        return self._is_training_value(objective(self.result_.support))

    def _linear_predictor(self, X: Any) -> FloatArray:
        """Return ``X coefᵀ + intercept``."""
        check_is_fitted(self)
        if is_chunked(X):
            return product_of_chunks(self, X, self.coef_.T) + self.intercept_
        require_numbers(X)
        X = validate_data(self, X, accept_sparse=True, dtype=np.float64, reset=False)
        return times(X, self.coef_.T) + self.intercept_
