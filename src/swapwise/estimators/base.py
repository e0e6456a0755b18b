"""What the estimators of linear predictors share: parameters, data, constraint, search, coefficients."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
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
from swapwise.estimators.frames import require_numbers, require_plain
from swapwise.estimators.ground_set import (
    GroundSet,
    allows_nothing,
    check_exchanges,
    resolve_constraint,
    with_forced,
)
from swapwise.estimators.kept_data import without_large_data
from swapwise.estimators.linear_parameters import LinearParameters
from swapwise.estimators.parameters import attribute, with_parameters
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
from swapwise.search.working_sets import working_set


def planned(
    estimator: Any, objective: SparseObjective, constraint: Constraint, start: Any, *, of_path: bool = False
) -> Plan:
    """Return the plan of a search with an estimator's parameters, once these are checked."""
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


def searched(
    estimator: Any,
    objective: SparseObjective,
    constraint: Constraint,
    plan: Plan,
    *,
    progress: bool = False,
    first: SearchResult | None = None,
) -> tuple[SearchResult, FloatArray]:
    """Return the best result of all searches, and the share of them whose answer holds each element.

    ``first`` is the result of the first search if it has been made already.
    """
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
    return best, frequency


def warn_if_cut_short(
    statuses: Iterable[Status],
    time_limit: float | None,
    max_iter: int | None,
    shown_in: str,
    *,
    is_empty: bool = False,
) -> None:
    """Warn if a search of ``fit`` ended at a limit; ``shown_in`` is the attribute that holds the status."""
    limits = {
        Status.TIME_LIMIT: f"cut short by {time_limit=}",
        Status.ITERATION_LIMIT: f"cut short by {max_iter=}",
        Status.INTERRUPTED: "interrupted",
    }
    seen = set(statuses)
    reached = [limit for status, limit in limits.items() if status in seen]
    if reached:
        answer = "it had found nothing yet" if is_empty else "the answer is the best so far"
        warn(f"the search was {' and '.join(reached)}: {answer} (see {shown_in})", ConvergenceWarning)


def validated(
    estimator: Any, X: Any, y: Any, *, dtype: Any, reset: bool, ensure_all_finite: bool = True
) -> tuple[Any, Any]:
    """Return X and y as scikit-learn's ``validate_data`` does.

    A vector of numbers and an array of the right type are only checked for finite entries: the other checks
    of ``validate_data`` take longer than many a fit.
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


@with_parameters
class SparseEstimator(LinearParameters, ABC):
    """A linear predictor with few features, chosen under a constraint.

    A subclass has an objective that it maximises (``_objective``), the coefficients and the intercept that
    belong to an answer (``_coefficients``), and predictions.
    """

    #: The ridge that None stands for
    _default_ridge: ClassVar[float] = 0.0

    coef_: FloatArray = attribute(
        "array of shape (n_features,)", "Coefficients, zero for features that were not chosen."
    )
    intercept_: Any = attribute("float", "The intercept, in the units of the target.")
    constraint_: Constraint = attribute(
        "Constraint", "The constraint of the search, with the forced features in it."
    )
    feature_std_: FloatArray = attribute(
        "array of shape (n_features,)",
        "The (weighted) standard deviations of the features in the training data.",
    )
    n_samples_fit_: int = attribute("int", "The number of samples that had a weight.")

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
            Settings to show, by name.
        seconds : float, optional
            How long the fit took; by default, how long its search took.

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
        # Pages are a layer above, and loaded with the first report.
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
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _target(self, y: Any, reset: bool) -> FloatArray:
        """Return checked targets as the objective takes them; ``reset`` is True in fit."""

    @abstractmethod
    def _objective(self, X: Design, sample: Sample, groups: IndexArray | None) -> SparseObjective:
        """Return the objective of the columns of a design."""

    @abstractmethod
    def _coefficients(
        self, objective: SparseObjective, sample: Sample, result: SearchResult
    ) -> tuple[FloatArray, Any]:
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
        if weight is None or weight.all():
            return Sample(X, self._target(y, reset), weight, shift)
        kept = np.flatnonzero(weight)
        if not isinstance(X, Matrix):
            assert_all_finite(X[weight == 0], estimator_name=type(self).__name__, input_name="X")
        target = self._target(np.asarray(y)[kept], reset)
        return Sample(some_rows(X, kept), target, weight[kept], None if shift is None else shift[kept])

    def _needs_memory(self, y: Any) -> str | None:
        """Return, in words, a parameter or target that data in chunks cannot serve; None if there is none."""
        return None if self.groups is None else "groups"

    def _chunks(self, X: Any, y: Any, reset: bool) -> tuple[Matrix, Any]:
        what = self._needs_memory(y)
        if what:
            raise TypeError(f"{what} need data in memory, got data in chunks: give X.compute(), if that fits")
        matrix = open_chunks(self, X, reset=reset)
        return matrix, read_target(y, matrix.n_samples)

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        X, y = validated(self, X, y, dtype=np.float64, reset=reset)
        # One layout for all, so that the same numbers give the same answer to the last digit.
        return X if issparse(X) else np.ascontiguousarray(X), y

    def _weights(self, y: Any, sample_weight: Any) -> FloatArray | None:
        return None if sample_weight is None else as_weights(sample_weight, len(y))

    def _ground_set(self) -> GroundSet:
        return GroundSet.of(self.groups, self.n_features_in_, self._feature_names())

    def _feature_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else names.tolist()

    def _build(self, sample: Sample, groups: IndexArray | None) -> SparseObjective:
        """Return the objective of a sample, whose ``design`` has the scaled columns."""
        self._check_flags()
        weight = read_weight(sample.weight, len(sample.y))
        switches = self.fit_intercept, self.standardize
        design = open_design(sample.X, sample.y, weight, *switches, scale_rows=False, by_rows=True)
        return self._objective(design, sample, groups)

    def _check_flags(self) -> None:
        for name in ("fit_intercept", "standardize"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}")

    def _penalty(self) -> float:
        return self._default_ridge if self.ridge is None else as_real(self.ridge, "ridge")

    def _bounds(self, design: Design) -> CoefficientBounds | None:
        """Return the bounds on coefficients of scaled columns."""
        found = self._bounds_as_given()
        return None if found is None else found.scaled(design.scale)

    def _bounds_as_given(self) -> CoefficientBounds | None:
        return read_bounds(self.bounds, self.positive, self.n_features_in_, self._feature_names())

    def _plan(self, objective: SparseObjective, constraint: Constraint) -> Plan:
        check_exchanges(self.q, constraint)
        return planned(self, objective, constraint, self.start)

    def _search(
        self,
        objective: SparseObjective,
        constraint: Constraint,
        plan: Plan,
        first: SearchResult | None = None,
    ) -> tuple[SearchResult, FloatArray]:
        # The search's own warning about a constraint that allows nothing is in the words of matroids.
        with unwarned() if self._warn_if_empty(constraint) else nullcontext():
            return searched(self, objective, constraint, plan, progress=self.progress, first=first)

    def _warn_if_empty(self, constraint: Constraint) -> bool:
        """Return whether the constraint allows nothing, and warn if so."""
        nothing = allows_nothing(constraint)
        if nothing:
            model = "the intercept alone" if self.fit_intercept else "zero"
            warn(f"constraint allows no feature at all: the model is {model}")
        return nothing

    def _install(
        self,
        objective: SparseObjective,
        sample: Sample,
        ground: GroundSet,
        constraint: Constraint,
        result: SearchResult,
        frequency: FloatArray,
    ) -> Self:
        if len(result.filled):
            warn(f"{ground.filled_in_words(result.filled)}; result_.filled says which")
        self.constraint_ = constraint
        self.result_ = without_large_data(result)
        self.n_iter_ = max(1, result.n_iter)  # scikit-learn wants at least one
        self.support_ = ground.features(result.support)
        self.selection_frequency_ = frequency[ground.of_feature]
        self.coef_, self.intercept_ = self._coefficients(objective, sample, result)
        self.n_samples_fit_ = len(sample.y)
        self.feature_std_ = design_of(objective).deviation.copy()
        bounds = self._bounds_as_given()
        if bounds is not None:  # to the last digit, which scaling may change
            self.coef_ = bounds.clip(self.coef_)
        return self

    def _fit(self, sample: Sample) -> Self:
        ground = self._ground_set()
        constraint = with_forced(resolve_constraint(self.constraint, ground), self.forced, ground)
        with reading_bar() if self.progress and isinstance(sample.X, Matrix) else nullcontext():
            objective = self._build(sample, ground.groups)
        result, frequency = self._search(objective, constraint, self._plan(objective, constraint))
        is_empty = not len(result.support)
        warn_if_cut_short(
            [result.status], self.time_limit, self.max_iter, "result_.status", is_empty=is_empty
        )
        return self._install(objective, sample, ground, constraint, result, frequency)

    def _certify(self, sample: Sample, time_limit: float | None, options: dict[str, Any]) -> Certificate:
        objective = self._build(sample, self._ground_set().groups)
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
        with unwarned():
            sample = self._read(X, y, sample_weight, offset, reset=False)
            objective = self._build(sample, self._ground_set().groups)
        return self._is_training_value(objective(self.result_.support))

    def _linear_predictor(self, X: Any) -> FloatArray:
        """Return ``X coefᵀ + intercept``."""
        check_is_fitted(self)
        if is_chunked(X):
            return product_of_chunks(self, X, self.coef_.T) + self.intercept_
        require_numbers(X)
        X = validate_data(self, X, accept_sparse=True, dtype=np.float64, reset=False)
        return times(X, self.coef_.T) + self.intercept_


def design_of(objective: Any) -> Design:
    """Return the scaled columns of an objective, which lead back to the units of the data."""
    design = objective.design
    assert isinstance(design, Design)
    return design
