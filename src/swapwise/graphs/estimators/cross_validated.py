"""How many edges a graph has: chosen by an information criterion or by cross-validation, along one path."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from swapwise.checks import FloatArray, IndexArray, as_generator, as_real, unwarned, warn
from swapwise.constraints.base import Constraint
from swapwise.estimators.base import planned, searched
from swapwise.estimators.criteria import chosen_place, mean_and_error
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.graphs.estimators.base import DEGREES, MOST_NEIGHBOURS, BaseGraph, GraphSample
from swapwise.graphs.estimators.warnings import warn_of_few_samples, warn_of_weights
from swapwise.objectives.base import SparseState
from swapwise.override import override
from swapwise.search.plan import Plan
from swapwise.search.restarts import results_so_far
from swapwise.search.result import Status
from swapwise.search.size_path import SizePath, size_path

CRITERIA = ("ebic", "bic", "cv")

# Each fold goes on to twice its best number of edges: the best for all folds together is hardly beyond.
FOLDS_BEYOND = 1.0

#: How a criterion is written
WRITTEN = {"ebic": "EBIC", "bic": "BIC", "cv": "cross-validation"}


class EdgePenalty(NamedTuple):
    """The penalty of an edge in each information criterion, beside minus twice the log-likelihood."""

    bic: float
    ebic: float


@with_parameters
class BaseGraphCV(BaseGraph):
    """A graph whose number of edges is chosen, within the limits on the neighbours of each vertex.

    A subclass scores other samples (``_held_out``). One that is not chosen by a pseudo-likelihood also has
    its own ``_log_likelihood`` and ``_edge_penalty``.
    """

    max_degree: int | Mapping[Any, int] | Iterable[int] | None = parameter(None, DEGREES, MOST_NEIGHBOURS)
    _: KW_ONLY
    criterion: str = parameter(
        "ebic",
        '"ebic", "bic" or "cv"',
        """
        What chooses the number of edges: the extended Bayesian information criterion, the Bayesian one, or
        the likelihood of samples that were left out.""",
    )
    gamma: float = parameter(
        0.25,
        "float",
        """
        The γ of EBIC: the larger, the fewer edges; 0 is BIC. 0.25 is common for binary data, 0.5 is
        stricter.""",
    )
    cv: Any = parameter(
        5,
        "int, splitter of scikit-learn, or iterable of (train, test)",
        """
        The folds of ``criterion="cv"``; an int is the number of consecutive folds, or of random ones if
        weights are counts.""",
    )
    one_standard_error: bool = parameter(
        False,
        "bool",
        """
        With ``criterion="cv"``, choose the fewest edges whose score is within one standard error of the
        best.""",
    )
    n_jobs: int | None = parameter(
        None,
        "int, optional",
        """
        How many folds run at a time; -1 for all processors. Within a context such as
        ``joblib.parallel_config(backend="dask")`` the workers of that cluster run them.""",
    )
    n_restarts: int = parameter(
        0,
        "int",
        """
        This many further searches, with the number of edges that was chosen, begin at random graphs, and the
        best answer is kept.""",
    )
    time_limit: float | None = parameter(
        None,
        "float, optional",
        """
        Seconds after which the best graph so far is taken, for each path over numbers of edges, of which a
        fold has its own.""",
    )

    path_: pd.DataFrame = attribute(
        "pandas.DataFrame",
        """
        One row for every number of edges: ``n_edges``, ``log_likelihood`` (of all samples, by the
        pseudo-likelihood), ``bic``, ``ebic`` (lower is better), and with ``criterion="cv"`` ``score_mean``
        and ``score_se`` (the held-out score's mean over the folds and its standard error; higher is
        better).""",
    )
    n_edges_: int = attribute(
        "int", "How many edges were chosen; ``threshold`` may have left some of them out."
    )

    def _log_likelihood(self, objective: Any, sample: GraphSample, state: SparseState) -> float:
        mean = float(objective.mean_log_likelihood(state.value, state.coef))
        return self._n_samples(objective, sample) * mean

    def _n_samples(self, objective: Any, sample: GraphSample) -> float:
        return sample.size

    def _edge_penalty(self, n_samples: float, n_vertices: int, gamma: float) -> EdgePenalty:
        """Return the penalty of an edge, a parameter of two regressions: those of its ends."""
        log_n, log_others = float(np.log(n_samples)), float(np.log(max(1, n_vertices - 1)))
        return EdgePenalty(bic=2.0 * log_n, ebic=2.0 * (log_n + 2.0 * gamma * log_others))

    @abstractmethod
    def _held_out(self, objective: Any, support: IndexArray, sample: GraphSample) -> float:
        """Return the mean log-likelihood of other samples under the fit on a graph."""

    @override
    def choice_in_words(self) -> str:
        how = WRITTEN[self.criterion] + (f" (γ = {self.gamma:g})" if self.criterion == "ebic" else "")
        if self.criterion == "cv" and self.one_standard_error:
            how += " (the smallest within one standard error)"
        return f"chosen by {how} among {self._family_in_words()}"

    def _read_samples(self, X: Any, sample_weight: Any) -> GraphSample:
        sample = self._read_data(X, sample_weight, reset=True)
        warn_of_few_samples(sample)
        warn_of_weights(sample)
        return sample

    def _check_choice(self) -> None:
        if self.criterion not in CRITERIA:
            raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}; got {self.criterion!r}")
        as_real(self.gamma, "gamma")
        if self.one_standard_error and self.criterion != "cv":
            raise ValueError(
                f"one_standard_error needs criterion='cv', got criterion={self.criterion!r}: an information "
                "criterion has no standard error"
            )

    def _choose_graph(self, sample: GraphSample, y: Any) -> None:
        self._check_choice()
        objective = self._objective(sample)
        constraint = self._constraint(objective)
        plan = planned(self, objective, constraint, "auto", of_path=True)
        path, scores = self._chosen_path(objective, constraint, plan, sample, y)
        self.n_edges_ = len(path.supports[path.best])
        limited = constraint.truncate(self.n_edges_)
        result, frequency = path.result, np.isin(np.arange(objective.n), path.result.support).astype(float)
        if self.n_restarts:
            result, frequency = searched(
                self, objective, limited, plan, progress=self.progress, first=path.result
            )
            best = objective.start(result.support)
            path.measures[path.best] = self._log_likelihood(objective, sample, best)
        self.path_ = self._path_frame(path, objective, sample, scores)
        self._install(objective, limited, result, frequency)

    def _chosen_path(
        self, objective: Any, constraint: Constraint, plan: Plan, sample: GraphSample, y: Any
    ) -> tuple[SizePath, FloatArray | None]:
        """Return the path whose best is the graph chosen, and held-out scores by fold and size, if any."""
        if self.criterion != "cv":
            loss = self._loss(objective, sample, self.criterion)
            return self._path(objective, constraint, plan, sample, loss), None
        scores, interrupted = self._scores(constraint, plan, sample, y)
        if scores is None:
            path = self._path(objective, constraint, plan, sample, self._loss(objective, sample, "bic"))
        else:
            smallest = len(constraint.forced)
            place = chosen_place(*mean_and_error(-scores), self.one_standard_error)
            loss = _distance_to(smallest + place)
            largest = smallest + scores.shape[1] - 1
            path = self._path(objective, constraint, plan, sample, loss, largest=largest, beyond=np.inf)
        if interrupted:
            path = replace(path, result=replace(path.result, status=Status.INTERRUPTED))
        return path, scores

    def _path(
        self,
        objective: Any,
        constraint: Constraint,
        plan: Plan,
        sample: GraphSample,
        loss: Callable[[float, int], float],
        measure: Callable[[SparseState], float] | None = None,
        **options: Any,
    ) -> SizePath:
        measured = measure or partial(self._log_likelihood, objective, sample)
        options = {"largest": self._most_edges(sample), "time_limit": self.time_limit} | options
        return size_path(objective, constraint, plan, measured, loss, **options)

    def _most_edges(self, sample: GraphSample) -> int | None:
        """Return how far a path goes at most, if criteria go on beyond; None for no limit."""
        return None

    def _loss(self, objective: Any, sample: GraphSample, criterion: str) -> Callable[[float, int], float]:
        penalty = getattr(
            self._edge_penalty(self._n_samples(objective, sample), self.n_features_in_, self.gamma), criterion
        )
        return lambda log_likelihood, size: penalty * size - 2.0 * log_likelihood

    def _path_frame(
        self, path: SizePath, objective: Any, sample: GraphSample, scores: FloatArray | None
    ) -> pd.DataFrame:
        sizes = [len(support) for support in path.supports]
        frame = pd.DataFrame({"n_edges": sizes, "log_likelihood": path.measures})
        for name in ("bic", "ebic"):
            loss = self._loss(objective, sample, name)
            frame[name] = [loss(*each) for each in zip(path.measures, sizes, strict=True)]
        if scores is not None:
            scores = scores[:, : len(frame)]
            frame["score_mean"], frame["score_se"] = mean_and_error(scores)
        return frame

    # -- cross-validation ---------------------------------------------------------------------------

    def _scores(
        self, constraint: Constraint, plan: Plan, sample: GraphSample, y: Any
    ) -> tuple[FloatArray | None, bool]:
        """Return the held-out score of every size in every fold, and whether there was an interrupt.

        After an interrupt, the scores are those of the finished folds, None if there are none. Sizes beyond
        the end of a fold, which is long after its best size, have the last score.
        """
        folds = self._folds(sample, y)
        _require_weight(folds)
        tasks = [delayed(_fold_scores)(self, constraint, plan, sample, fold) for fold in folds]
        found, interrupted = results_so_far(tasks, here=False, n_jobs=self.n_jobs, progress=self.progress)
        if interrupted:
            how = f"{len(found)} of {len(folds)} folds" if found else "BIC"
            warn(
                f"cross-validation was interrupted: the number of edges is chosen by {how}",
                ConvergenceWarning,
            )
        if not found:
            return None, interrupted
        n_sizes = max(map(len, found))
        return np.array([np.pad(one, (0, n_sizes - len(one)), "edge") for one in found]), interrupted

    def _folds(self, sample: GraphSample, y: Any) -> list[FoldWeights]:
        """Return how much rows count in each fold; counted samples are split one by one.

        Splitters split the rows that count; given folds are numbers of all rows.
        """
        weight = np.ones(len(sample.values)) if sample.weight is None else sample.weight
        if sample.weights_are_counts and isinstance(self.cv, (int, np.integer)):
            return _folds_of_counts(weight, int(self.cv), as_generator(self.random_state))
        splitter = check_cv(self.cv)
        are_given = isinstance(self.cv, Iterable) and not hasattr(self.cv, "split")
        target = None if y is None else _safe_indexing(y, sample.rows)
        try:
            splits = list(splitter.split(sample.values, target))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"cv must be able to split {len(weight)} rows, but {splitter} says: {error}. Splitters by "
                "classes need fit(X, y); for groups give cv=list(GroupKFold(5).split(X, groups=groups))"
            ) from error
        if not are_given:
            splits = [(sample.rows[train], sample.rows[test]) for train, test in splits]
        return _folds_of_rows(splits, weight, sample.rows)


class FoldWeights(NamedTuple):
    """Weights of all rows in the fit and in the score of a fold."""

    train: FloatArray
    test: FloatArray


def _folds_of_counts(weight: FloatArray, n_folds: int, rng: np.random.Generator) -> list[FoldWeights]:
    """Put each counted sample in a random fold."""
    parts = rng.multinomial(weight.astype(np.int64), np.full(n_folds, 1.0 / n_folds)).astype(np.float64)
    return [FoldWeights(weight - part, part) for part in parts.T]


def _folds_of_rows(
    splits: Iterable[tuple[Any, Any]], weight: FloatArray, rows: IndexArray
) -> list[FoldWeights]:
    """Return folds that are given by numbers of rows, some of which do not count."""

    def counted(part: Any) -> FloatArray:
        times: FloatArray = np.bincount(part, minlength=rows[-1] + 1)[rows] * weight
        return times

    return [FoldWeights(counted(train), counted(test)) for train, test in splits]


def _require_weight(folds: list[FoldWeights]) -> None:
    for number, fold in enumerate(folds):
        for part, use in zip(fold, ("fit", "score"), strict=True):
            if not part.any():
                raise ValueError(
                    f"every fold must have rows of positive weight, but fold {number} has none to {use}; "
                    "leave out the rows of weight 0, or shuffle, as by cv=KFold(5, shuffle=True)"
                )


def _fold_scores(
    model: BaseGraphCV, constraint: Constraint, plan: Plan, sample: GraphSample, fold: FoldWeights
) -> FloatArray:
    """Return the held-out score of every size, up to where it has long been falling."""
    train, test = sample.weighted(fold.train), sample.weighted(fold.test)

    def score(state: SparseState) -> float:
        return model._held_out(objective, state.support, test)

    # A column that is constant in one fold does not matter, and the last fit warns of the rest.
    with unwarned():
        objective = model._objective(train)
        options: dict[str, Any] = {"beyond": FOLDS_BEYOND, "all_or_nothing": True}
        path = model._path(objective, constraint, plan, train, lambda found, size: -found, score, **options)
    return path.measures


def _distance_to(chosen: int) -> Callable[[float, int], float]:
    return lambda log_likelihood, size: float(abs(size - chosen))
