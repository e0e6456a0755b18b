"""Ctrl-C at a random moment: the best so far or KeyboardInterrupt, and the same answer as ever afterwards."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import swapwise as sw
from tests.fuzz.report import Report

Random = np.random.Generator
#: Seconds that pass at most before an interrupt is heard, on a busy machine
LATE = 3.0


class Call:
    """A call that may take long, and what its answer is to be consistent with."""

    def __init__(self, name: str, run: Callable[[], Any], f: Any = None, constraint: Any = None) -> None:
        self.name, self.run, self.f, self.constraint = name, run, f, constraint


def check(seed: int) -> Report:
    """Make a call, interrupt the same call, and make it again."""
    random = np.random.default_rng([33, seed])
    call = CALLS[random.integers(len(CALLS))](random)
    report = Report(call.name, (call.name,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        expected = _essence(call.run())
        seconds = time.perf_counter() - begin
        after = float(random.uniform(0, 1.1 * seconds))
        begin = time.perf_counter()
        found = _interrupted(call.run, after)
        took = time.perf_counter() - begin
        words = f"{call.name}, after {1000 * after:.1f} of {1000 * seconds:.1f} ms"
        report.claim("an interrupt is heard soon", took <= after + seconds + LATE, f"{words}: {took:.1f} s")
        report.kinds += ("KeyboardInterrupt" if found is None else _status(found),)
        if found is not None:
            _check_answer(report, call, found, words)
        report.claim("the same call gives the same answer", _essence(call.run()) == expected, words)
    return report


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
    f = sw.IsingPseudoLikelihood(spins, ridge=0.01)
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
    models = [
        lambda: sw.SparseRegressor(5).fit(X, y),
        lambda: sw.SparseRegressor(5, n_restarts=3, random_state=0).fit(X, y),
        lambda: sw.SparseClassifier(3).fit(X, y > np.median(y)),
        lambda: sw.SparseRegressorCV(sizes=range(1, 6), cv=3).fit(X, y),
        lambda: sw.GaussianGraph(2).fit(X[:, :10]),
        lambda: sw.IsingGraph(2).fit(np.sign(X[:, :8])),
    ]
    place = int(random.integers(len(models)))
    return Call(f"estimator {place}", models[place])


CALLS = (_search, _search, _ising, _proof, _packing, _estimator, _estimator)
