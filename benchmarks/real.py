"""``python -m benchmarks.real``: data that scikit-learn and statsmodels ship, swapwise beside its peers.

Regressions are judged by R² and classifications by the log-likelihood, both of one plain refit on the columns
chosen. All programs get the same data, standardised, in one process and one thread, in turns. Nothing is
downloaded; peers that are not installed are left out (``pip install '.[peers]'``).
"""

from __future__ import annotations

import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks.peers import PEERS, Selector
from benchmarks.race.compare import OWN
from benchmarks.race.laps import BRIEF, refitted
from benchmarks.race.programs import PROGRAMS, chosen
from swapwise import SparseClassifier
from swapwise.checks import FloatArray, IndexArray

RUNS = 5
LAGS = 8  # two years of quarters
DIGIT = 8  # the one that most others are taken for
TIES = {"R²": 1e-7, "log-likelihood": 1e-4}  # what two refits of the same columns may differ by

Judge = Callable[[FloatArray, FloatArray, IndexArray], float]


@dataclass(frozen=True)
class Problem:
    """Data with standardised columns, what answers are judged by, and how many columns are to be chosen."""

    name: str
    X: FloatArray
    y: FloatArray
    measure: str
    sizes: Sequence[int]


@dataclass(frozen=True)
class Answer:
    """What a program found, by the refit, and its median milliseconds; why not, if it did not."""

    value: float | None
    milliseconds: float | None
    note: str = ""


def problems() -> Iterator[Problem]:
    """Yield the problems one by one."""
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

    X, y = load_diabetes(return_X_y=True)
    yield Problem("diabetes, squares and products", *_standard(_products(X), y), "R²", (5, 10, 15, 20))
    yield Problem("star98, squares and products", *_standard(*star98()), "R²", (5, 10, 15, 20))
    yield Problem(f"macrodata, {LAGS} lags", *_standard(*macrodata()), "R²", (3, 5, 10, 15))
    X, y = load_breast_cancer(return_X_y=True)
    yield Problem("breast cancer", *_standard(X, y), "log-likelihood", (2, 3, 5, 7))
    X, y = load_digits(return_X_y=True)
    yield Problem(f"digits, {DIGIT} or not", *_standard(X, y == DIGIT), "log-likelihood", (3, 5, 10, 15))


def star98() -> tuple[FloatArray, FloatArray]:
    """Return what is known of Californian school districts, and the share of pupils above the median."""
    from statsmodels.datasets import star98

    data = star98.load_pandas().data
    # Some products are among the columns already.
    plain = [name for name in data.columns[2:] if "_" not in name]
    share = data["NABOVE"] / (data["NABOVE"] + data["NBELOW"])
    return _products(data[plain].to_numpy(float)), share.to_numpy()


def macrodata() -> tuple[FloatArray, FloatArray]:
    """Return lags of twelve quarterly series of the United States, and the growth of its product."""
    from statsmodels.datasets import macrodata

    data = macrodata.load_pandas().data.drop(columns=["year", "quarter"])
    rates = ["tbilrate", "unemp", "infl", "realint"]  # all others are levels, which grow
    growth = 100 * np.log(data.drop(columns=rates)).diff()
    series = np.column_stack([growth.to_numpy(float), data[rates].to_numpy(float)])[1:]
    last = len(series)
    lagged = [series[LAGS - lag : last - lag] for lag in range(1, LAGS + 1)]
    return np.hstack(lagged), growth["realgdp"].to_numpy(float)[1 + LAGS :]


def _products(X: FloatArray) -> FloatArray:
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    return np.asarray(
        PolynomialFeatures(2, include_bias=False).fit_transform(StandardScaler().fit_transform(X))
    )


def _standard(X: FloatArray, y: Any) -> tuple[FloatArray, FloatArray]:
    X = X[:, X.std(axis=0) > 0]
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), np.asarray(y, float)


def log_likelihood(X: FloatArray, y: FloatArray, support: IndexArray) -> float:
    """Return the log-likelihood of logistic regression with an intercept and nothing else on some columns.

    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 1.0, 0.0, 1.0])
    >>> round(log_likelihood(X, y, np.array([0])), 6)  # -4 log 2
    -2.772589
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    eta = model.fit(X[:, support], y).decision_function(X[:, support])
    return float(-np.logaddexp(0.0, np.where(y > 0, -eta, eta)).sum())


def default_logistic(X: FloatArray, y: FloatArray, size: int) -> Any:
    """Fit as a user would, with nothing but the size given."""
    return SparseClassifier(size).fit(X, y).support_


def l1_logistic(X: FloatArray, y: FloatArray, size: int) -> Any:
    """Follow the path of the lasso penalty, and return the largest support of at most ``size``."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import l1_min_c

    penalties = l1_min_c(X, y, loss="log") * np.geomspace(1.0, 1e4, 100)
    model = LogisticRegression(l1_ratio=1.0, solver="liblinear", warm_start=True, max_iter=10_000)
    best = np.empty(0, np.intp)
    for C in penalties:
        support = np.flatnonzero(model.set_params(C=C).fit(X, y).coef_)
        if len(support) > size:
            break
        best = support
    return best


def forward_logistic(X: FloatArray, y: FloatArray, size: int) -> Any:
    """Select forward by scikit-learn, each step by cross-validation."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=np.inf, solver="newton-cholesky")
    selector = SequentialFeatureSelector(model, n_features_to_select=size, scoring="neg_log_loss")
    return selector.fit(X, y).get_support(indices=True)


FORWARD = "SequentialFeatureSelector"
REGRESSION = ("swapwise", "abess", "skscope", "OMP", "Lars", FORWARD)


def programs(measure: str) -> dict[str, Selector]:
    """Return what can be run here.

    >>> [name for name in programs("log-likelihood") if name not in ("abess", "skscope")]
    ['swapwise', 'L1 path', 'SequentialFeatureSelector']
    """
    if measure == "R²":
        return {name: PROGRAMS[name].select for name in REGRESSION if PROGRAMS[name].version() is not None}
    peers = {name: select for name, select in PEERS["logistic"].items() if find_spec(name) is not None}
    return {**peers, OWN: default_logistic, "L1 path": l1_logistic, FORWARD: forward_logistic}


def answers(
    problem: Problem, size: int, selectors: Mapping[str, Selector], runs: int = RUNS
) -> dict[str, Answer]:
    """Run all programs in turns; those that take longer than a second in all run no more."""
    judge: Judge = refitted if problem.measure == "R²" else log_likelihood
    seconds: dict[str, list[float]] = {name: [] for name in selectors}
    found: dict[str, Answer] = {}
    for _ in range(runs):
        for name, select in selectors.items():
            if (name in found and found[name].note) or sum(seconds[name]) > BRIEF:
                continue
            begin = perf_counter()
            try:
                support = chosen(select(problem.X, problem.y, size))
            except Exception as error:  # a peer may fail in any way
                found[name] = Answer(None, None, f"{type(error).__name__}: {error}".splitlines()[0])
                continue
            seconds[name].append(perf_counter() - begin)
            note = f"{size - len(support)} too few" if len(support) < size else ""
            found[name] = Answer(judge(problem.X, problem.y, support), 1000 * median(seconds[name]), note)
    return found


def table(problem: Problem, selectors: Mapping[str, Selector], runs: int = RUNS) -> Table:
    """Show value and time of every program at every size; a star marks the best values."""
    samples, features = problem.X.shape
    title = f"{problem.name}: {samples} samples, {features} features; {problem.measure} (best: *), ms"
    shown = Table("chosen", title=title, title_justify="left")
    for name in selectors:
        shown.add_column(name, justify="right")
    for size in problem.sizes:
        found = answers(problem, size, selectors, runs)
        best = max(answer.value for answer in found.values() if answer.value is not None)
        shown.add_row(str(size), *(_cell(answer, best, problem.measure) for answer in found.values()))
    return shown


def _cell(answer: Answer, best: float, measure: str) -> str:
    if answer.value is None:
        return answer.note
    digits, star = (5, 3)[measure != "R²"], "*" if answer.value >= best - TIES[measure] else " "
    return f"{answer.value:.{digits}f}{star} {answer.milliseconds:.1f}" + (
        f"\n{answer.note}" if answer.note else ""
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each problem."""
    parser = ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of which the median time is taken; {RUNS}")
    parser.add_argument(
        "--skip",
        nargs="+",
        default=[],
        metavar="PROGRAM",
        help=f"programs to leave out; {FORWARD} takes minutes",
    )
    options = parser.parse_args(arguments)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that are nearly separated, once per program and size
        for problem in problems():
            found = programs(problem.measure)
            selectors = {name: found[name] for name in found if name not in options.skip}
            Console(width=130).print(table(problem, selectors, options.runs))


if __name__ == "__main__":
    main()
