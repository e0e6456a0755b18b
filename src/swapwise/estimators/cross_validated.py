"""What the estimators share that choose the size by cross-validation or by an information criterion."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import delayed
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from swapwise.checks import (
    BoolArray,
    FloatArray,
    IndexArray,
    as_count,
    as_generator,
    as_real,
    as_time_limit,
    some_of,
    unwarned,
    warn,
)
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid
from swapwise.data.matrix import Matrix
from swapwise.data.open import is_chunked, is_dask
from swapwise.estimators.base import Searches, SparseEstimator, Task, warn_if_cut_short
from swapwise.estimators.constraint_of import Elements
from swapwise.estimators.criteria import (
    CRITERIA,
    WEIGHTS_ARE,
    SampleSize,
    chosen_row,
    information_criteria,
    n_parameters,
)
from swapwise.estimators.sample import Sample, linear_predictors
from swapwise.estimators.sizes import growing_constraints
from swapwise.objectives.base import SparseObjective
from swapwise.override import override
from swapwise.search.loop import passes_of
from swapwise.search.path import warm_path
from swapwise.search.plan import Plan
from swapwise.search.restarts import results_so_far
from swapwise.search.result import SearchResult, Status
from swapwise.search.rules import Pivot

Fold = tuple[IndexArray, IndexArray]


@dataclass(frozen=True, eq=False)
class SplitSample(Sample):
    """A sample, its folds, and its size for information criteria."""

    folds: list[Fold] = field(default_factory=list)
    size: SampleSize = field(default_factory=lambda: SampleSize(0))


class CrossValidated(SparseEstimator):
    """A sparse estimator with a path over sizes, of which one is chosen; see :class:`SparseRegressorCV`.

    A subclass says how much each sample is missed by (``_losses``) and what deviance that makes
    (``_mean_deviance``).
    """

    def __init__(
        self,
        constraint: int | Matroid | Callable[[int], Any] | None = None,
        *,
        sizes: Iterable[int] | None = None,
        along: str = "size",
        criterion: str = "cv",
        cv: Any = 5,
        one_standard_error: bool = False,
        gamma: float = 0.5,
        n_features_original: int | None = None,
        weights_are: str = "importance",
        n_jobs: int | None = None,
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
        super().__init__(
            constraint,  # type: ignore[arg-type]  # None is read by growing_constraints
            method=method,
            start=start,
            q=q,
            ridge=ridge,
            fit_intercept=fit_intercept,
            standardize=standardize,
            groups=groups,
            forced=forced,
            bounds=bounds,
            positive=positive,
            n_restarts=n_restarts,
            max_iter=max_iter,
            tol=tol,
            time_limit=time_limit,
            random_state=random_state,
            progress=progress,
        )
        self.sizes = sizes
        self.along = along
        self.criterion = criterion
        self.cv = cv
        self.one_standard_error = one_standard_error
        self.gamma = gamma
        self.n_features_original = n_features_original
        self.weights_are = weights_are
        self.n_jobs = n_jobs

    @abstractmethod
    def _losses(self, sample: Sample, predictor: FloatArray) -> FloatArray:
        """Return the loss of each sample, for a linear predictor in the units of the data."""

    @abstractmethod
    def _mean_deviance(self, sample: Sample, loss: float) -> float:
        """Return the deviance per sample that a mean loss makes."""

    def _mean_losses(self, sample: Sample, fits: Sequence[tuple[FloatArray, Any]]) -> list[float]:
        """Return the mean loss of a sample for each of some coefficients and intercepts."""
        predictors = linear_predictors(sample.X, fits)
        return [float(sample.mean(self._losses(sample, predictor))) for predictor in predictors]

    def _check_training(self, sample: Sample, whole: Sample) -> None:
        """Say so if a part of the data is not enough to train on; here any is."""

    def _n_levels(self) -> int:
        """Return how many free coefficients a feature has."""
        return 1

    @override
    def _read(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, *, reset: bool = True
    ) -> Sample:
        if is_dask(sample_weight):
            sample_weight = np.asarray(sample_weight)
        sample = super()._read(X, y, sample_weight, offset, reset=reset)
        if not reset:
            return sample
        self._check_choice()
        folds = []
        if self.criterion == "cv":
            if is_chunked(X):  # which splitters cannot look at, and need not
                X = y = np.asarray(y)
            folds = [self._fold(sample, split, sample_weight) for split in self._splits(X, y)]
            self._report_missing_levels(sample, folds)
        size = self._size(sample, sample_weight)
        return SplitSample(sample.X, sample.y, sample.weight, sample.offset, folds, size)

    def _splits(self, X: Any, y: Any) -> list[tuple[Any, Any]]:
        """Return the rows to train on and to leave out, of each fold."""
        splitter = check_cv(self.cv, y, classifier=is_classifier(self))
        try:
            return list(splitter.split(X, y))
        except ValueError as error:
            if "'groups' parameter" not in str(error):
                raise
            kind = type(splitter).__name__
            raise ValueError(
                f"{kind} needs groups of rows, which fit does not take (groups= is for columns); give its "
                f"splits instead: cv=list({kind}(5).split(X, y, groups))"
            ) from error

    def _size(self, sample: Sample, sample_weight: Any) -> SampleSize:
        """Return how many samples there are, by what their weights are said to be."""
        own = None
        if sample_weight is not None:
            given = np.asarray(sample_weight, dtype=float)
            own = given[given > 0]
            broken = np.flatnonzero(given % 1)
            if self.weights_are == "counts" and len(broken):
                raise ValueError(
                    "sample_weight must hold whole numbers, as weights_are='counts' says how often each row "
                    f"was seen; got {given[broken[0]]:g} at position {broken[0]}"
                )
        return SampleSize.of(len(sample.y), sample.weight, own, self.weights_are)

    def _report_missing_levels(self, sample: Sample, folds: list[Fold]) -> None:
        """Warn of columns of groups that are constant where a fold trains, such as absent levels."""
        if self.groups is None:
            return
        varies = ~_is_constant(sample.X)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()
        missing: dict[int, list[int]] = {}
        for number, (train, _) in enumerate(folds):
            for column in np.flatnonzero(varies & _is_constant(sample.X[train])):
                missing.setdefault(int(column), []).append(number)
        if missing:
            where = [
                f"{names[column]!r} (fold{'s' * (len(lacking) > 1)} {some_of(list(map(str, lacking)))})"
                for column, lacking in sorted(missing.items())
            ]
            warn(
                "columns of groups that are constant in the training part of a fold of cv have a coefficient "
                f"of 0 there: {some_of(where)}; other folds, or levels that are merged, may help"
            )

    def _fold(self, sample: Sample, split: tuple[Any, Any], sample_weight: Any) -> Fold:
        """Return rows of the sample for rows of the data, which may have had more of them, of weight zero."""
        if sample_weight is None:
            train, test = (np.asarray(rows) for rows in split)
        else:
            kept = np.asarray(sample_weight, dtype=float) > 0
            place = np.cumsum(kept) - 1
            train, test = (place[rows][kept[rows]] for rows in map(np.asarray, split))
        if not len(train) or not len(test):
            raise ValueError("both parts of every fold of cv must hold a sample of positive weight")
        self._check_training(sample.take(train), sample)
        return train, test

    def _check_choice(self) -> None:
        if self.criterion not in CRITERIA:
            raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}; got {self.criterion!r}")
        if self.weights_are not in WEIGHTS_ARE:
            raise ValueError(f"weights_are must be one of {', '.join(WEIGHTS_ARE)}; got {self.weights_are!r}")
        if self.one_standard_error and self.criterion != "cv":
            raise ValueError(
                "one_standard_error is for criterion='cv', which has standard errors; "
                f"got criterion={self.criterion!r}"
            )
        as_real(self.gamma, "gamma")
        as_time_limit(self.time_limit)
        if self.n_features_original is not None:
            elements = self._elements()
            if as_count(self.n_features_original, "n_features_original") < elements.n:
                raise ValueError(
                    f"n_features_original must be at least the {elements.n} {elements.noun} that are left, "
                    f"got {self.n_features_original}"
                )

    @override
    def _fit(self, sample: Sample) -> Self:
        assert isinstance(sample, SplitSample)
        elements = self._elements()
        family = growing_constraints(
            self.constraint, self.sizes, self.along, self.forced, elements, self._n_for_sizes(sample)
        )
        sizes, constraints = list(family), list(family.values())
        self._warn_if_empty(constraints[-1])
        # As a number: a generator would be shared by folds of one process, but copied to other processes.
        seed = int(as_generator(self.random_state).integers(2**32))
        task = self._build(sample, elements)
        plan = self._plan(task.objective, constraints[0])
        run = _Run(elements, constraints, plan, seed, self.time_limit)
        results = run.path(task.objective)
        interrupted = all(result.status is Status.INTERRUPTED for result in results)
        held_out: list[list[float]] = []
        if not interrupted:
            held_out, interrupted = self._held_out(sample, run)
        self.path_supports_ = [elements.features(result.support) for result in results]
        fits = [self._coefficients(task, result) for result in results]
        self.path_coefs_ = np.stack([coef for coef, _ in fits])
        self.path_ = self._frame(sample, elements, sizes, results, fits, held_out)
        self.n_folds_ = len(held_out)
        self.criterion_ = self._criterion_after(self.n_folds_, len(sample.folds))
        row = chosen_row(self.path_, self.criterion_, self.one_standard_error)
        self.size_ = sizes[row]
        self._warn_of_the_last_size(sizes, constraints[-1])
        if interrupted:
            found = _as_it_is(results[row], task.objective)
        else:
            found = self._last_search(task.objective, constraints[row], results[row], plan, seed)
        statuses = [result.status for result in (*results, found.best)]
        warn_if_cut_short(statuses, self.time_limit, self.max_iter, "path_['status'] or result_.status")
        return self._install(task, elements, constraints[row], found)

    def _warn_of_the_last_size(self, sizes: list[int], largest: Constraint) -> None:
        """Warn if an information criterion falls to the end of the default sizes, as it does on noise."""
        is_open = self.size_ == sizes[-1] and len(sizes) > 1 and self.size_ < largest.n
        if self.sizes is None and self.criterion_ != "cv" and is_open and self.along == "size":
            warn(
                f"{self.criterion_} chooses the largest size that was tried, {self.size_}, and may go on: "
                "compare criterion='cv' or 'ebic' with gamma=1, or say which sizes to try"
            )

    def _n_for_sizes(self, sample: SplitSample) -> int:
        """Return how many samples decide which sizes are tried by default."""
        weight = sample.weight
        if self.criterion != "cv" or weight is None or (weight % 1).any():
            return sample.size.n
        # Cross-validation treats a weight of 2 as the same sample twice in all else; a criterion that was
        # offered sizes beyond the number of rows would choose a perfect fit.
        return int(weight.sum())

    def _copy(self, **parameters: Any) -> Self:
        """Return an estimator with other parameters, and all that this one has learnt of its data."""
        return copy(self).set_params(**parameters)

    def _criterion_after(self, n_done: int, n_folds: int) -> str:
        """Return what chooses the size when only some of the folds are done, and say so."""
        if n_done < n_folds:
            by = "BIC" if n_done == 0 else f"{n_done} of {n_folds} folds"
            warn(f"cross-validation was interrupted: the size is chosen by {by}", ConvergenceWarning)
        return "bic" if n_done == 0 and self.criterion == "cv" else self.criterion

    def _held_out(self, sample: SplitSample, run: _Run) -> tuple[list[list[float]], bool]:
        """Return the mean loss of what was left out, for each fold and size, and whether that was cut short.

        If so, the folds are those that were done by then.
        """
        # Arrays that are the same for all folds are sent to other processes once, and parts of them never.
        whole = sample.X, sample.y, sample.weight, sample.offset
        tasks = [delayed(_fold_losses)(self, run, train, test, *whole) for train, test in sample.folds]
        here = isinstance(sample.X, Matrix)
        return results_so_far(tasks, here=here, n_jobs=self.n_jobs, progress=self.progress)

    def _frame(
        self,
        sample: SplitSample,
        elements: Elements,
        sizes: list[int],
        results: list[SearchResult],
        fits: Any,
        held_out: list[list[float]],
    ) -> pd.DataFrame:
        rows, missing = [], [np.nan] * len(sizes)
        losses = self._mean_losses(sample, fits)
        cost = self._costs(sample, elements, results)
        for size, result, chosen, loss in zip(sizes, results, self.path_supports_, losses, strict=True):
            deviance = sample.size.n * self._mean_deviance(sample, loss)
            n_free = (int(cost[result.support].sum()) + bool(self.fit_intercept)) * self._n_levels()
            criteria = information_criteria(
                deviance,
                n_free,
                len(result.support),
                n_samples=sample.size.n,
                n_features=self.n_features_original or elements.n,
                gamma=self.gamma,
                design_effect=sample.size.design_effect,
            )
            row = {"size": size, "n_features": len(chosen), "n_parameters": n_free, "value": result.value}
            rows.append(row | {"deviance": deviance} | criteria | {"status": result.status.value})
        n_folds = len(held_out)
        return pd.DataFrame(rows).assign(
            cv_mean=np.mean(held_out, axis=0) if n_folds else missing,
            cv_se=np.std(held_out, axis=0, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else missing,
        )

    def _costs(self, sample: Sample, elements: Elements, results: list[SearchResult]) -> IndexArray:
        """Return how many free coefficients per level of the target the elements of a path have."""
        cost = np.ones(elements.n, dtype=np.intp)
        if elements.grouped:
            for element in sorted({int(element) for result in results for element in result.support}):
                columns = sample.X[:, elements.features([element])]
                columns = columns.toarray() if issparse(columns) else columns
                cost[element] = n_parameters(columns, fit_intercept=bool(self.fit_intercept))
        return cost

    def _last_search(
        self, objective: SparseObjective, constraint: Any, result: SearchResult, plan: Plan, seed: int
    ) -> Searches:
        """Make the restarts that are asked for under the chosen constraint, after the search of the path."""
        try:
            with unwarned():  # the path has said what there is to say
                again = self._copy(random_state=seed)
                first = plan.with_guarantee(result, objective, constraint)
                return again._search(objective, constraint, plan, first)
        except KeyboardInterrupt:
            return _as_it_is(result, objective)


@dataclass(frozen=True, eq=False)
class _Run:
    """What the path on all data and those of the folds have in common."""

    elements: Elements
    constraints: list[Any]
    plan: Plan
    seed: int
    time_limit: float | None

    def path(self, objective: SparseObjective, *, all_or_nothing: bool = False) -> list[SearchResult]:
        """Return the answers for all constraints."""
        return warm_path(
            objective,
            self.constraints,
            self.plan,
            seed=self.seed,
            time_limit=self.time_limit,
            all_or_nothing=all_or_nothing,
        )


def _as_it_is(result: SearchResult, objective: SparseObjective) -> Searches:
    """Return an answer of a path that was interrupted, and is not to be searched from any more."""
    frequency = np.bincount(result.support, minlength=objective.n).astype(float)
    return Searches(replace(result, status=Status.INTERRUPTED, n_passes=passes_of(objective)), frequency)


def _fold_losses(
    model: CrossValidated, run: _Run, train: IndexArray, test: IndexArray, *whole: Any
) -> list[float]:
    """Return the mean loss on one part of a sample for each size, fitted to another."""
    fitted, left_out = Sample(*whole).take(train), Sample(*whole).take(test)
    # What is constant or collinear in one fold is not worth a word, and the path on all data says the rest.
    with unwarned():
        task: Task = model._build(fitted, run.elements)
        fits = [model._coefficients(task, result) for result in run.path(task.objective, all_or_nothing=True)]
    return model._mean_losses(left_out, fits)


def _is_constant(X: Any) -> BoolArray:
    """Return which columns of an array or a sparse matrix hold one value only."""
    ends = X.max(axis=0), X.min(axis=0)
    high, low = (end.toarray().ravel() if issparse(end) else end for end in ends)
    constant: BoolArray = high == low
    return constant
