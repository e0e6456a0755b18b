"""The graph of an Ising model whose degree and ridge are chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from joblib import delayed
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from swapwise.checks import FloatArray, as_count, as_generator, as_real, unwarned, warn
from swapwise.estimators.base import planned
from swapwise.estimators.ising_graph import BaseIsingGraph
from swapwise.estimators.spins import degree_limits, fitted_parameters, mean_likelihood
from swapwise.objectives.ising import IsingPseudoLikelihood
from swapwise.search.path import stepwise_path
from swapwise.search.plan import Plan
from swapwise.search.restarts import results_so_far
from swapwise.search.result import Status
from swapwise.search.rules import Pivot

LARGEST_DEFAULT_DEGREE = 6
DEFAULT_RIDGES = (0.001, 0.01, 0.1)

COLUMNS = ["max_degree", "ridge", "n_edges", "score_mean", "score_se"]


class IsingGraphCV(BaseIsingGraph):
    """Learn the graph of an Ising model, with the largest degree and the ridge that predict best.

    Every fold is left out in turn. On the rest, graphs are searched for growing degrees, from ``start`` and
    from the graph of the degree before, and the better of the two is kept; what was left out gives the
    score. Degree and ridge of the highest mean score are then fitted to all data by :class:`IsingGraph`.

    Parameters
    ----------
    max_degrees : iterable of int, optional
        How many neighbours a variable may have; by default 1, 2, … up to 6.
    ridges : iterable of float, optional
        By default 0.001, 0.01 and 0.1.
    cv : int, splitter of scikit-learn, or iterable of (train, test)
        The folds; an int is the number of consecutive folds, or of random ones if weights are counts.
    n_jobs : int, optional
        How many paths, one per fold and ridge, run at a time; -1 for all processors. Within a context such as
        ``joblib.parallel_config(backend="dask")`` the workers of that cluster run them.
    one_standard_error : bool
        Choose the smallest degree whose score is within one standard error of the highest.
    fields, method, start, q, edges, n_restarts, max_iter, tol, time_limit, random_state
        As in :class:`IsingGraph`, for every degree, ridge and fold, and for the last fit.
    progress : bool
        Show a bar over the paths on the terminal, then one of the last fit.

    Attributes
    ----------
    path_ : pandas.DataFrame
        One row for every degree and ridge: ``max_degree``, ``ridge``, ``n_edges`` (the mean over the
        folds), ``score_mean`` and ``score_se`` (the held-out score's mean over the folds and its standard
        error; higher is better).
    max_degree_, ridge_
        What was chosen.
    coupling_, field_, graph_, support_, selection_frequency_, result_, constraint_
        As in :class:`IsingGraph`, of the fit to all data.

    Examples
    --------
    Seven variables in a chain, each of which mostly repeats the one before: two neighbours are enough.

    >>> import numpy as np
    >>> from swapwise import IsingGraphCV
    >>> rng = np.random.default_rng(0)
    >>> turns = np.where(rng.random((400, 7)) < 0.2, -1, 1)
    >>> model = IsingGraphCV(max_degrees=[1, 2, 3], ridges=[0.01]).fit(np.cumprod(turns, axis=1))
    >>> model.max_degree_, model.ridge_
    (2, 0.01)
    >>> model.path_.round(2)
       max_degree  ridge  n_edges  score_mean  score_se
    0           1   0.01      3.0       -3.57      0.09
    1           2   0.01      7.0       -2.88      0.09
    2           3   0.01     10.0       -2.91      0.10
    """

    def __init__(
        self,
        max_degrees: Iterable[int] | None = None,
        ridges: Iterable[float] | None = None,
        *,
        cv: Any = 5,
        n_jobs: int | None = None,
        one_standard_error: bool = False,
        fields: bool = True,
        method: str | Pivot = "auto",
        start: Any = "auto",
        q: int = 1,
        edges: Any = None,
        n_restarts: int = 0,
        max_iter: int | None = None,
        tol: float = 1e-10,
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.max_degrees = max_degrees
        self.ridges = ridges
        self.cv = cv
        self.n_jobs = n_jobs
        self.one_standard_error = one_standard_error
        self.fields = fields
        self.method = method
        self.start = start
        self.q = q
        self.edges = edges
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose degree and ridge, then learn from all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns of two values each, as for :class:`IsingGraph`.
        y : object
            For the splitter of ``cv`` alone.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts. Whole numbers are counts: if ``cv`` is a number, each sample is in a
            random fold, as if rows were repeated. Other weights go with their rows, in the fit and in the
            score of a fold, and so do counts if ``cv`` is a splitter.

        Returns
        -------
        IsingGraphCV
            Itself.
        """
        spins, weight = self._read_data(X, sample_weight)
        degrees, ridges = self._grid()
        paths, interrupted = self._paths(spins, weight, y, degrees, ridges)
        self.path_ = _frame(paths, degrees, ridges)
        chosen = choose(self.path_, self.one_standard_error)
        self.max_degree_ = int(chosen["max_degree"])
        self._fit_graph(spins, weight, self.max_degree_, float(chosen["ridge"]))
        if interrupted:
            self.result_ = replace(self.result_, status=Status.INTERRUPTED)
        return self

    def _grid(self) -> tuple[list[int], list[float]]:
        largest = max(1, min(LARGEST_DEFAULT_DEGREE, self.n_features_in_ - 1))
        degrees = _listed(self.max_degrees, range(1, largest + 1), "max_degrees")
        ridges = _listed(self.ridges, DEFAULT_RIDGES, "ridges")
        return (
            sorted({as_count(degree, "a value of max_degrees") for degree in degrees}),
            sorted({as_real(ridge, "a value of ridges") for ridge in ridges}),
        )

    def _folds(self, spins: FloatArray, weight: FloatArray | None, y: Any) -> list[Fold]:
        """Return how much rows count in each fold: of counts, samples are left out one by one."""
        are_counts = weight is not None and not (weight % 1).any() and (weight > 1).any()
        if are_counts and isinstance(self.cv, (int, np.integer)):
            assert weight is not None
            return _folds_of_counts(weight, int(self.cv), as_generator(self.random_state))
        every = np.ones(len(spins)) if weight is None else weight
        return _folds_of_rows(check_cv(self.cv).split(spins, y), every)

    def _paths(
        self, spins: FloatArray, weight: FloatArray | None, y: Any, degrees: list[int], ridges: list[float]
    ) -> tuple[FloatArray, bool]:
        """Return sizes and scores, and whether they were cut short: (degree, 2) for each fold and ridge."""
        folds = self._folds(spins, weight, y)
        _require_weight(folds)
        objective = self._objective(spins, ridges[0], weight)
        edges = None if self.edges is None else objective.edges
        constraints = [degree_limits(objective, [degree] * self.n_features_in_) for degree in degrees]
        plans = [planned(self, objective, limits, self._start(objective)) for limits in constraints]
        # As a number: a generator would be shared by paths of one process, but copied to other processes.
        seed = int(as_generator(self.random_state).integers(2**32))
        options = {"n_restarts": self.n_restarts, "time_limit": self.time_limit, "seed": seed}
        fixed = {"fields": self.fields, "edges": edges, **options}
        tasks = [
            delayed(_path)(spins, fold, ridge, constraints, plans, **fixed)
            for fold in folds
            for ridge in ridges
        ]
        found, interrupted = results_so_far(tasks, here=False, n_jobs=self.n_jobs, progress=self.progress)
        done = len(found) // len(ridges)
        if interrupted:
            largest = "degree and ridge are the largest that were asked for"
            some = f"degree and ridge are chosen by {done} of {len(folds)} folds"
            warn(f"cross-validation was interrupted: {some if done else largest}", ConvergenceWarning)
        scores = np.array(found[: done * len(ridges)]).reshape(done, len(ridges), len(degrees), 2)
        return scores, interrupted


def _listed(given: Any, default: Iterable[Any], name: str) -> list[Any]:
    if given is None:
        return list(default)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a sequence of numbers, got {given!r}")
    values = list(given)
    if not values:
        raise ValueError(f"{name} must hold at least one number, got none")
    return values


class Fold(NamedTuple):
    """How much every row counts where a fold is fitted, and where it is scored."""

    train: FloatArray
    test: FloatArray


def _folds_of_counts(weight: FloatArray, n_folds: int, rng: np.random.Generator) -> list[Fold]:
    """Return folds of samples that are known by how often each row was seen: each is in a random one."""
    parts = rng.multinomial(weight.astype(np.int64), np.full(n_folds, 1.0 / n_folds)).astype(np.float64)
    return [Fold(weight - part, part) for part in parts.T]


def _folds_of_rows(splits: Iterable[tuple[Any, Any]], weight: FloatArray) -> list[Fold]:
    parts = [[np.bincount(rows, minlength=len(weight)) * weight for rows in split] for split in splits]
    return [Fold(*each) for each in parts]


def _require_weight(folds: list[Fold]) -> None:
    """Refuse folds in which nothing that counts is left to fit or to score."""
    for number, fold in enumerate(folds):
        for part, use in zip(fold, ("fit", "score"), strict=True):
            if not part.any():
                raise ValueError(
                    f"every fold must have rows of positive weight, but fold {number} has none to {use}; "
                    "leave out the rows of weight 0, or shuffle, as by cv=KFold(5, shuffle=True)"
                )


def _path(
    spins: FloatArray,
    fold: Fold,
    ridge: float,
    constraints: list[Any],
    plans: list[Plan],
    *,
    fields: bool,
    edges: list[tuple[int, int]] | None,
    n_restarts: int,
    time_limit: float | None,
    seed: int,
) -> list[tuple[int, float]]:
    """Return number of edges and held-out score for every constraint, each wider than the one before."""
    rows: list[tuple[int, float]] = []
    # A column that is constant in one fold does not matter, and the last fit warns of the rest.
    with unwarned():
        objective = IsingPseudoLikelihood(spins, ridge, fields, edges, fold.train)
        answers = stepwise_path(
            objective,
            constraints,
            plans,
            rng=np.random.default_rng(seed),
            n_restarts=n_restarts,
            time_limit=time_limit,
        )
        test = np.flatnonzero(fold.test)
        for best in answers:
            score = mean_likelihood(spins[test], fold.test[test], *fitted_parameters(objective, best))
            rows.append((len(best.support), score))
    return rows


def _frame(paths: FloatArray, degrees: list[int], ridges: list[float]) -> pd.DataFrame:
    n_folds = len(paths)
    if not n_folds:  # interrupted before the first was done
        paths = np.full((1, *paths.shape[1:]), np.nan)
    sizes, scores = paths[..., 0], paths[..., 1]
    spread = scores.std(axis=0, ddof=1) if n_folds > 1 else np.full(scores.shape[1:], np.nan)
    rows = [
        (degree, ridge, sizes[:, r, d].mean(), scores[:, r, d].mean(), spread[r, d] / np.sqrt(n_folds))
        for d, degree in enumerate(degrees)
        for r, ridge in enumerate(ridges)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def choose(path: pd.DataFrame, one_standard_error: bool) -> pd.Series:
    """Return the best row, or that of the smallest degree which is nearly as good; ties go to the first.

    Without any score it is the last.
    """
    if path["score_mean"].isna().all():
        return path.iloc[-1]
    best = path.loc[path["score_mean"].idxmax()]
    if not one_standard_error or np.isnan(best["score_se"]):
        return best
    near = path[path["score_mean"] >= best["score_mean"] - best["score_se"]]
    smallest = near[near["max_degree"] == near["max_degree"].min()]
    return smallest.loc[smallest["score_mean"].idxmax()]
