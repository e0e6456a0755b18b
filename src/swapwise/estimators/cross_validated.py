"""Paths over sizes, of which one is chosen by cross-validation or by an information criterion."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
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
from swapwise.data.matrix import Matrix
from swapwise.data.open import is_chunked, is_dask
from swapwise.estimators.base import SparseEstimator, warn_if_cut_short
from swapwise.estimators.criteria import (
    CRITERIA,
    WEIGHTS_ARE,
    SampleSize,
    chosen_place,
    information_criteria,
    mean_and_error,
    n_parameters,
)
from swapwise.estimators.ground_set import GroundSet
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.estimators.sample import Sample, linear_predictors
from swapwise.estimators.sizes import growing_constraints
from swapwise.objectives.base import SparseObjective
from swapwise.override import override
from swapwise.search.loop import passes_of
from swapwise.search.path import warm_path
from swapwise.search.plan import Plan
from swapwise.search.restarts import results_so_far
from swapwise.search.result import SearchResult, Status

Fold = tuple[IndexArray, IndexArray]


@dataclass(frozen=True, eq=False)
class SplitSample(Sample):
    """A sample, its folds, and its size for information criteria."""

    folds: list[Fold] = field(default_factory=list)
    size: SampleSize = field(default_factory=lambda: SampleSize(0))


@with_parameters
class CrossValidated(SparseEstimator):
    """An estimator with a path over sizes, of which one is chosen.

    A subclass has the loss of each sample (``_losses``) and the deviance that belongs to a mean loss
    (``_mean_deviance``).
    """

    constraint: int | Constraint | Callable[[int], Any] | None = parameter(  # type: ignore[assignment]
        None,
        "int, constraint, or callable, optional",
        """
        Which sets are feasible, apart from their size: an int for the largest number of features, an object
        such as ``Partition`` or ``Intersection``, or a function of the number of features that returns
        either; None for no limit but the size. If both the constraint and the columns have names
        (``Partition.from_columns(df.columns)``), they are matched by name, and must be the same.
        """,
    )
    _: KW_ONLY
    sizes: Iterable[int] | None = parameter(
        None,
        "iterable of int, optional",
        """
        The sizes to try; by default 1, 2, … up to 20, half the samples (for ``criterion="cv"``, weights that
        are whole numbers count them), n / (log p · log log n) for n samples of p features, or what the
        constraint allows, whichever is least. Capacities: up to 20, to where all labels together would hold
        half the samples, or to the largest label. Larger sizes than the constraint allows are cut to the
        largest that it does, and those that are too small for ``forced`` features are left out. Include 0 to
        try the model without features.
        """,
    )
    along: str = parameter(
        "size",
        '"size" or "capacity"',
        """
        What a size is: the number of features (with ``groups``: of groups), or the number of features of each
        label of a ``Partition``, whose own capacities are then not used.
        """,
    )
    criterion: str = parameter(
        "cv",
        '"cv", "aic", "bic", "ebic" or "gic"',
        """
        What the chosen size minimises: the mean over the folds of the held-out loss (mean squared error,
        log-loss, deviance of the family), or the deviance on all data plus a penalty, see ``path_``.
        """,
    )
    cv: Any = parameter(
        5,
        "int, splitter of scikit-learn, or iterable of (train, test)",
        """
        The folds, over the samples as given. A column of ``groups`` that is constant in a training part, as
        the dummy of a level that does not occur in it, has a coefficient of 0 there; a warning names it.
        """,
    )
    one_standard_error: bool = parameter(
        False,
        "bool",
        "Choose the smallest size whose held-out loss is within one standard error of the least.",
    )
    gamma: float = parameter(
        0.5,
        "float",
        "Weight of the number of features to choose from in EBIC: 0 is BIC, 1 suits very many.",
    )
    n_features_original: int | None = parameter(
        None,
        "int, optional",
        """
        How many features (with ``groups``: groups) there were, if they have been screened before; for EBIC
        and GIC.
        """,
    )
    weights_are: str = parameter(
        "importance",
        '"importance", "precision" or "counts"',
        """
        What ``sample_weight`` means to information criteria; fits are the same for all three.
        ``"importance"``: how much a row matters, such as survey weights; N is the number of rows of positive
        weight, and penalties are multiplied by Kish's design effect ``N Σw² / (Σw)²``, which is 1 if all
        weights are equal: noise fits unequal weights as many times better. ``"precision"``: the inverse of
        each row's variance; N is the number of rows. ``"counts"``: whole numbers, how often each row was
        seen; N is their sum, and criteria are those of the rows repeated.
        """,
    )
    n_jobs: int | None = parameter(
        None,
        "int, optional",
        """
        How many folds run at a time; -1 for all processors. Within a context such as
        ``joblib.parallel_config(backend="dask")`` the workers of that cluster run them. Folds of data in
        chunks run one after the other.
        """,
    )
    n_restarts: int = parameter(
        0,
        "int",
        """
        How many more searches are made for the chosen size, on all data: they begin at random independent
        sets, every other one with half of the best answer so far (or, for random methods, draw again).
        """,
    )
    time_limit: float | None = parameter(
        None,
        "float, optional",
        """
        Seconds after which the best answers so far are taken, for each path: the one on all data, and one for
        each fold.
        """,
    )

    criterion_: str = attribute(
        "str",
        """
        What chose the size: ``criterion``, or BIC if it was cross-validation and interrupted before any fold
        was done.
        """,
    )
    n_folds_: int = attribute(
        "int",
        "How many folds chose it: fewer than ``cv`` has if it was interrupted, none for a criterion.",
    )
    size_: int = attribute(
        "int",
        """
        The size chosen. ``coef_``, ``support_`` and the like are for this size; restarts may make them better
        than the path.
        """,
    )
    path_: pd.DataFrame = attribute(
        "pandas.DataFrame",
        """
        One row per size, on all data: ``size``, ``n_features`` (chosen), ``n_parameters`` (k below),
        ``value`` (of the objective), ``deviance``, ``aic``, ``bic``, ``ebic``, ``gic`` (small is good; the
        deviance of least squares is ``N log(RSS / N)``), ``status`` (why the search stopped), ``cv_mean`` and
        ``cv_se`` (mean over the folds of the held-out loss and its standard error, if there were folds).
        The deviance is N times the weighted mean of the rows'. The penalties of k free coefficients on s of p
        features or groups are ``2k``, ``k log N``, ``k log N + 2 gamma log C(p, s)`` and ``k log p log log
        N``. A feature has one coefficient, a group as many as its columns have rank beside the intercept:
        constant columns cost nothing, and the dummies of a factor one less than it has levels, whether the
        first is left out or not. The intercept has one.
        """,
    )
    path_supports_: list[IndexArray] = attribute(
        "list of sorted integer arrays", "The features of each size."
    )
    path_coefs_: FloatArray = attribute("array of shape (n_sizes, ...)", "The ``coef_`` of each size.")

    @abstractmethod
    def _losses(self, sample: Sample, predictor: FloatArray) -> FloatArray:
        """Return the loss of each sample, for a linear predictor in the units of the data."""

    @abstractmethod
    def _mean_deviance(self, sample: Sample, loss: float) -> float:
        """Return the deviance per sample that belongs to a mean loss."""

    def _mean_losses(self, sample: Sample, fits: Sequence[tuple[FloatArray, Any]]) -> list[float]:
        predictors = linear_predictors(sample.X, fits)
        return [float(sample.mean(self._losses(sample, predictor))) for predictor in predictors]

    def _check_training(self, sample: Sample, whole: Sample) -> None:
        """Refuse a training part that is not enough for a fit; any is here."""

    def _n_levels(self) -> int:
        """Return the number of free coefficients per feature."""
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
        self._check_parameters_of_choice()
        folds = []
        if self.criterion == "cv":
            if is_chunked(X):  # splitters cannot read these, and need not
                X = y = np.asarray(y)
            folds = [self._fold(sample, split, sample_weight) for split in self._splits(X, y)]
            self._report_missing_levels(sample, folds)
        size = self._size(sample, sample_weight)
        return SplitSample(sample.X, sample.y, sample.weight, sample.offset, folds, size)

    def _splits(self, X: Any, y: Any) -> list[tuple[Any, Any]]:
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
        """Return the rows of the sample for rows of the data, from which it lacks those of weight zero."""
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

    def _check_parameters_of_choice(self) -> None:
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
            ground = self._ground_set()
            if as_count(self.n_features_original, "n_features_original") < ground.n:
                raise ValueError(
                    f"n_features_original must be at least the {ground.n} {ground.noun} that are left, "
                    f"got {self.n_features_original}"
                )

    @override
    def _fit(self, sample: Sample) -> Self:
        assert isinstance(sample, SplitSample)
        ground = self._ground_set()
        family = growing_constraints(
            self.constraint, self.sizes, self.along, self.forced, ground, self._n_for_sizes(sample)
        )
        sizes, constraints = list(family), list(family.values())
        self._warn_if_empty(constraints[-1])
        # As a number: a generator would be shared by folds of one process, but copied to other processes.
        seed = int(as_generator(self.random_state).integers(2**32))
        objective = self._build(sample, ground.groups)
        plan = self._plan(objective, constraints[0])
        path_of = partial(
            warm_path, constraints=constraints, plan=plan, seed=seed, time_limit=self.time_limit
        )
        results = path_of(objective)
        interrupted = all(result.status is Status.INTERRUPTED for result in results)
        held_out: list[list[float]] = []
        if not interrupted:
            held_out, interrupted = self._held_out(sample, ground.groups, path_of)
        self.path_supports_ = [ground.features(result.support) for result in results]
        fits = [self._coefficients(objective, sample, result) for result in results]
        self.path_coefs_ = np.stack([coef for coef, _ in fits])
        self.path_ = self._frame(sample, ground, sizes, results, fits, held_out)
        self.n_folds_ = len(held_out)
        self.criterion_ = self._criterion_after(self.n_folds_, len(sample.folds))
        losses = self.path_["cv_mean" if self.criterion_ == "cv" else self.criterion_].to_numpy()
        row = chosen_place(losses, self.path_["cv_se"].to_numpy(), self.one_standard_error)
        self.size_ = sizes[row]
        self._warn_of_the_last_size(sizes, constraints[-1])
        if interrupted:
            found = _of_interrupted_path(results[row], objective)
        else:
            found = self._last_search(objective, constraints[row], results[row], plan, seed)
        statuses = [result.status for result in (*results, found[0])]
        warn_if_cut_short(statuses, self.time_limit, self.max_iter, "path_['status'] or result_.status")
        return self._install(objective, sample, ground, constraints[row], *found)

    def _warn_of_the_last_size(self, sizes: list[int], largest: Constraint) -> None:
        """Warn if an information criterion falls to the end of the default sizes, as it does on noise."""
        is_open = self.size_ == sizes[-1] and len(sizes) > 1 and self.size_ < largest.n
        if self.sizes is None and self.criterion_ != "cv" and is_open and self.along == "size":
            warn(
                f"{self.criterion_} chooses the largest size that was tried, {self.size_}, and may go on: "
                "compare criterion='cv' or 'ebic' with gamma=1, or say which sizes to try"
            )

    def _n_for_sizes(self, sample: SplitSample) -> int:
        """Return the number of samples by which the default sizes are limited."""
        weight = sample.weight
        if self.criterion != "cv" or weight is None or (weight % 1).any():
            return sample.size.n
        # Cross-validation treats a weight of 2 as the same sample twice in all else; an information criterion
        # would choose a perfect fit among sizes beyond the number of rows.
        return int(weight.sum())

    def _criterion_after(self, n_done: int, n_folds: int) -> str:
        if n_done < n_folds:
            by = "BIC" if n_done == 0 else f"{n_done} of {n_folds} folds"
            warn(f"cross-validation was interrupted: the size is chosen by {by}", ConvergenceWarning)
        return "bic" if n_done == 0 and self.criterion == "cv" else self.criterion

    def _held_out(
        self, sample: SplitSample, groups: IndexArray | None, path_of: Callable[..., list[SearchResult]]
    ) -> tuple[list[list[float]], bool]:
        """Return the held-out mean loss for each fold and size, and whether folds were interrupted.

        If so, the folds are those that were done by then.
        """
        # Arrays that are the same for all folds are sent to other processes once, and parts of them never.
        whole = sample.X, sample.y, sample.weight, sample.offset
        tasks = [
            delayed(_fold_losses)(self, groups, path_of, train, test, *whole) for train, test in sample.folds
        ]
        here = isinstance(sample.X, Matrix)
        return results_so_far(tasks, here=here, n_jobs=self.n_jobs, progress=self.progress)

    def _frame(
        self,
        sample: SplitSample,
        ground: GroundSet,
        sizes: list[int],
        results: list[SearchResult],
        fits: Any,
        held_out: list[list[float]],
    ) -> pd.DataFrame:
        rows = []
        losses = self._mean_losses(sample, fits)
        cost = self._costs(sample, ground, results)
        for size, result, chosen, loss in zip(sizes, results, self.path_supports_, losses, strict=True):
            deviance = sample.size.n * self._mean_deviance(sample, loss)
            n_free = (int(cost[result.support].sum()) + bool(self.fit_intercept)) * self._n_levels()
            criteria = information_criteria(
                deviance,
                n_free,
                len(result.support),
                n_samples=sample.size.n,
                n_features=self.n_features_original or ground.n,
                gamma=self.gamma,
                design_effect=sample.size.design_effect,
            )
            row = {"size": size, "n_features": len(chosen), "n_parameters": n_free, "value": result.value}
            rows.append(row | {"deviance": deviance} | criteria | {"status": result.status.value})
        mean, error = mean_and_error(np.reshape(held_out, (-1, len(sizes))))
        return pd.DataFrame(rows).assign(cv_mean=mean, cv_se=error)

    def _costs(self, sample: Sample, ground: GroundSet, results: list[SearchResult]) -> IndexArray:
        """Return the number of free coefficients per level of the target, of each element of a path."""
        cost = np.ones(ground.n, dtype=np.intp)
        if ground.grouped:
            for element in sorted({int(element) for result in results for element in result.support}):
                columns = sample.X[:, ground.features([element])]
                columns = columns.toarray() if issparse(columns) else columns
                cost[element] = n_parameters(columns, fit_intercept=bool(self.fit_intercept))
        return cost

    def _last_search(
        self, objective: SparseObjective, constraint: Any, result: SearchResult, plan: Plan, seed: int
    ) -> tuple[SearchResult, FloatArray]:
        try:
            with unwarned():  # the path has given these warnings
                again = copy(self).set_params(random_state=seed)
                first = plan.with_guarantee(result, objective, constraint)
                return again._search(objective, constraint, plan, first)
        except KeyboardInterrupt:
            return _of_interrupted_path(result, objective)


def _of_interrupted_path(result: SearchResult, objective: SparseObjective) -> tuple[SearchResult, FloatArray]:
    """Return an answer of a path that was interrupted, and the share of searches that hold each element."""
    frequency = np.bincount(result.support, minlength=objective.n).astype(float)
    return replace(result, status=Status.INTERRUPTED, n_passes=passes_of(objective)), frequency


def _fold_losses(
    model: CrossValidated,
    groups: IndexArray | None,
    path_of: Callable[..., list[SearchResult]],
    train: IndexArray,
    test: IndexArray,
    *whole: Any,
) -> list[float]:
    """Return the mean loss on one part of a sample for each size, fitted to another."""
    fitted, left_out = Sample(*whole).take(train), Sample(*whole).take(test)
    # Warnings of the path on all data are enough: constant or collinear columns of one fold need none.
    with unwarned():
        objective = model._build(fitted, groups)
        results = path_of(objective, all_or_nothing=True)
        fits = [model._coefficients(objective, fitted, result) for result in results]
    return model._mean_losses(left_out, fits)


def _is_constant(X: Any) -> BoolArray:
    ends = X.max(axis=0), X.min(axis=0)
    high, low = (end.toarray().ravel() if issparse(end) else end for end in ends)
    constant: BoolArray = high == low
    return constant
