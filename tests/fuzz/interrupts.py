"""Ctrl-C at a random moment: the best so far or KeyboardInterrupt, and the same answer as ever afterwards."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import swapwise as sw
from tests.fuzz.report import Report

Random = np.random.Generator
#: Calls of at least as many seconds must end before LATE of their time if they are interrupted before EARLY
LONG, EARLY, LATE = 0.15, 0.25, 0.75
#: Coefficients of the same fit agree to this, relative to the largest
AGREE = 1e-3


@dataclass
class Call:
    """A call that may take long, and what its answer is to be consistent with."""

    name: str
    run: Callable[[], Any]
    f: Any = None
    constraint: Any = None
    #: What else to check of an answer: claims, and whether they hold
    claims: Callable[[Any], dict[str, bool]] = lambda answer: {}


def check(seed: int) -> Report:
    """Make a call, interrupt the same call, and make it again."""
    random = np.random.default_rng([33, seed])
    call = CALLS[random.integers(len(CALLS))](random)
    return check_call(call, random)


def check_call(call: Call, random: Random) -> Report:
    """Check one call; seconds are of this process only, so that others do not matter."""
    report = Report(call.name, (call.name,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = _essence(call.run())
        again, seconds = _timed(call.run)
        report.claim("the same call gives the same answer", _essence(again) == expected, call.name)
        after = seconds * float(random.uniform(0, random.choice([EARLY, 1.1])))
        found, took = _timed(lambda: _interrupted(call.run, after))
        words = f"{call.name}, after {1000 * after:.1f} of {1000 * seconds:.1f} ms"
        if seconds >= LONG and after <= EARLY * seconds:
            soon = took <= LATE * seconds
            report.claim("an interrupt is heard soon", soon, f"{words}: took {1000 * took:.1f} ms")
        report.kinds += ("KeyboardInterrupt" if found is None else _status(found),)
        if found is not None:
            says_so = _status(found) == "INTERRUPTED" or _essence(found) == expected
            report.claim("an answer that is not the whole says so", says_so, f"{words}: {_essence(found)}")
            _check_answer(report, call, found, words)
        report.claim("the same answer after an interrupt", _essence(call.run()) == expected, words)
    return report


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    return run(), time.process_time() - begin


@contextmanager
def _alarm(after: float) -> Iterator[None]:
    """Interrupt what runs here after some seconds, once, and nothing else."""

    def ring(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(after, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _interrupted(run: Callable[[], Any], after: float) -> Any:
    """Return what an interrupted call returns, None if it raised KeyboardInterrupt."""
    try:
        with _alarm(after):
            return run()
    except KeyboardInterrupt:
        return None


def _result(answer: Any) -> Any:
    return getattr(answer, "result_", answer)


def _status(answer: Any) -> str:
    return str(getattr(_result(answer), "status", "a number"))


def _essence(answer: Any) -> tuple[Any, ...]:
    """Return what must not differ between two calls."""
    result = _result(answer)
    if isinstance(result, sw.Certificate):
        return (round(result.value, 9), str(result.status) == "INTERRUPTED")
    return (tuple(result.support.tolist()), round(float(result.value), 9), str(result.status))


def _check_answer(report: Report, call: Call, answer: Any, words: str) -> None:
    result = _result(answer)
    if isinstance(result, sw.Certificate):
        report.claim("a bound is no less than the value", result.upper_bound >= result.value - 1e-9, words)
        return
    for claim, holds in call.claims(answer).items():
        report.claim(claim, holds, words)
    if call.f is None:
        return
    allowed = call.constraint.is_independent(result.support.tolist())
    report.claim("the best so far is independent", allowed, f"{words}: {result.support}")
    value = call.f(result.support)
    agrees = abs(value - result.value) <= 1e-7 * max(1.0, abs(value))
    report.claim("the best so far is worth what it says", agrees, f"{words}: {result.value}, but {value}")


def _regression(random: Random) -> tuple[np.ndarray, np.ndarray]:
    n, p = int(random.integers(40, 200)), int(random.integers(20, 120))
    X = random.standard_normal((n, p)) + random.standard_normal((n, 1))
    return X, X[:, :5].sum(axis=1) + random.standard_normal(n)


def _search(random: Random) -> Call:
    X, y = _regression(random)
    f = sw.LeastSquares(X, y) if random.random() < 0.5 else sw.Logistic(X, y > np.median(y), 0.01)
    constraint: Any = sw.Uniform(f.n, int(random.integers(2, 8)))
    if random.random() < 0.4:
        constraint = sw.Partition(np.arange(f.n) % 7, 1)
    rules = ["oblivious", "semi-oblivious", "non-oblivious", "greedy", "auto"]
    method = str(random.choice(rules))
    name = f"maximize {type(f).__name__} {method}"
    return Call(name, lambda: sw.maximize(f, constraint, method), f, constraint)


def _ising(random: Random) -> Call:
    spins = np.sign(random.standard_normal((200, int(random.integers(6, 14)))))
    f = sw.graphs.IsingPseudoLikelihood(spins, ridge=0.01)
    constraint = sw.BMatching(f.edges, 2)
    return Call("maximize Ising", lambda: sw.maximize(f, constraint), f, constraint)


def _proof(random: Random) -> Call:
    X, y = _regression(random)
    f, constraint = sw.LeastSquares(X[:, :20], y), sw.Uniform(20, 4)
    if random.random() < 0.5:
        return Call("exact", lambda: sw.exact(f, constraint), f, constraint)
    return Call("certify", lambda: sw.certify(f, constraint))


def _packing(random: Random) -> Call:
    sets = [set(random.choice(20, 3, replace=False).tolist()) for _ in range(30)]
    f, constraint = sw.Linear(random.random(30)), sw.SetPacking(sets)
    return Call("modular SetPacking", lambda: sw.maximize(f, constraint, "modular"), f, constraint)


def _estimator(random: Random) -> Call:
    X, y = _regression(random)
    return _some_estimator(random, X, y, 5, 3)


def _long_estimator(random: Random) -> Call:
    X = random.standard_normal((400, 400)) + random.standard_normal((400, 1))
    return _some_estimator(random, X, X[:, :5].sum(axis=1) + random.standard_normal(400), 25, 150)


def _some_estimator(random: Random, X: np.ndarray, y: np.ndarray, size: int, n_restarts: int) -> Call:
    """Return the fit of an estimator, which takes longer the larger the size is."""
    labels, few, p = y > np.median(y), min(size, 10), X.shape[1]
    spins, numbers = np.sign(X[:, : min(p, 2 * size)]), X[:, : min(p, 4 * size)]
    models: dict[str, tuple[Any, Callable[[Any], dict[str, bool]]]] = {
        "SparseRegressor": (
            lambda: sw.SparseRegressor(size, n_restarts=n_restarts, random_state=0).fit(X, y),
            lambda model: _claims_of_columns(model, sw.SparseRegressor, X, y, size),
        ),
        "SparseClassifier": (
            lambda: sw.SparseClassifier(few, n_restarts=few, random_state=0).fit(X, labels),
            lambda model: _claims_of_columns(model, sw.SparseClassifier, X, labels, few),
        ),
        "SparseRegressorCV": (
            lambda: sw.SparseRegressorCV(sizes=range(1, size + 1), cv=5).fit(X, y),
            lambda model: _claims_of_columns(model, sw.SparseRegressor, X, y, size),
        ),
        "SparseClassifierCV": (
            lambda: sw.SparseClassifierCV(sizes=range(1, few), cv=3).fit(X[:, :100], labels),
            lambda model: _claims_of_columns(model, sw.SparseClassifier, X[:, :100], labels, few),
        ),
        "GaussianGraph": (
            lambda: sw.GaussianGraph(2).fit(numbers),
            lambda model: _claims_of_edges(model, sw.GaussianGraph, numbers, 2),
        ),
        "IsingGraph": (
            lambda: sw.IsingGraph(2).fit(spins),
            lambda model: _claims_of_edges(model, sw.IsingGraph, spins, 2),
        ),
    }
    name = str(random.choice(list(models)))
    return Call(name, models[name][0], claims=models[name][1])


def _claims_of_columns(model: Any, kind: Any, X: np.ndarray, y: np.ndarray, size: int) -> dict[str, bool]:
    """The answer of a linear model is what a fit to its columns alone gives."""
    coef, support = np.ravel(model.coef_), model.support_
    claims = {
        "the best so far is not too large": len(support) <= size,
        "other columns have no coefficient": not np.delete(coef, support).any(),
    }
    if len(support):
        alone = np.ravel(kind(len(support), forced=list(range(len(support)))).fit(X[:, support], y).coef_)
        claims["the best so far is fitted"] = _close(coef[support], alone)
    return claims


def _claims_of_edges(model: Any, kind: Any, X: np.ndarray, most: int) -> dict[str, bool]:
    """The answer of a graph is what a fit to its edges alone gives."""
    edges, weights = [tuple(edge) for edge in np.asarray(model.support_).tolist()], model.adjacency_
    claims = {
        "no variable has too many neighbours": ((weights != 0).sum(axis=1) <= most).all(),
        "other edges have no weight": np.count_nonzero(weights) <= 2 * len(edges),
    }
    if edges:
        alone = kind(most, edges=edges, forced_edges=edges).fit(X)
        claims["the best so far is fitted"] = _close(weights, alone.adjacency_)
    return claims


def _close(found: np.ndarray, expected: np.ndarray) -> bool:
    return bool(np.abs(found - expected).max() <= AGREE * max(1e-12, np.abs(expected).max()))


CALLS = (_search, _search, _ising, _proof, _packing, _estimator, _estimator, _long_estimator)
