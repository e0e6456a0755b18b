"""``python -m benchmarks.limits``: how far calls overrun their time limit, and how soon they hear Ctrl-C.

Every call is about a problem that would take minutes. It runs in a process of its own, after the same call on
a small problem, so that what is compiled or loaded on first use is not counted. A call that does not return
within 30 seconds of its limit is ended, and shown as "> 30". Seconds are those of the clock on the wall, then
those of the processor: on a busy machine, what is left to do after the limit takes longer.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from select import select
from typing import Any

import numpy as np

import swapwise as sw

# Seconds: when a call is ended that does not return; when Ctrl-C is pressed; the limit of calls that hear it.
PATIENCE, PRESSED_AFTER, LIMIT_OF_INTERRUPTED = 30.0, 3.0, 120.0

Problem = tuple[Any, Any]


def _response(n_samples: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    return X, X[:, :30].sum(axis=1) / 5 + rng.standard_normal(n_samples)


def ising(vertices: int, degree: int = 2, samples: int = 500) -> Problem:
    """Return a graph to learn from noise."""
    spins = np.sign(np.random.default_rng(0).standard_normal((samples, vertices)))
    f = sw.graphs.IsingPseudoLikelihood(spins, ridge=0.01)
    return f, sw.BMatching(f.edges, degree)


def logistic(features: int, size: int = 20, samples: int = 1000) -> Problem:
    """Return a classification in two classes."""
    X, score = _response(samples, features)
    return sw.Logistic(X, score > 0, ridge=0.001), sw.Uniform(features, min(size, features))


def poisson(features: int, size: int = 20, samples: int = 1000) -> Problem:
    """Return a regression of counts."""
    X, score = _response(samples, features)
    counts = np.random.default_rng(1).poisson(np.exp(np.clip(score, -3, 3)))
    return sw.Poisson(X, counts, ridge=0.001), sw.Uniform(features, min(size, features))


def multinomial(features: int, size: int = 15, samples: int = 600) -> Problem:
    """Return a classification in four classes."""
    X, score = _response(samples, features)
    classes = np.digitize(score, [-1, 0, 1])
    return sw.Multinomial(X, classes, ridge=0.001), sw.Uniform(features, min(size, features))


def groups(features: int, size: int = 8, samples: int = 600) -> Problem:
    """Return a classification by groups of five columns."""
    X, score = _response(samples, features)
    f = sw.Logistic(X, score > 0, ridge=0.001, groups=np.arange(features) // 5)
    return f, sw.Uniform(f.n, min(size, f.n))


def regression(features: int, size: int = 12, samples: int = 300) -> Problem:
    """Return a linear regression."""
    X, y = _response(samples, features)
    return sw.LeastSquares(X, y), sw.Uniform(features, min(size, features))


def correlated(features: int, size: int = 15, samples: int = 2000) -> Problem:
    """Return a linear regression whose columns go together."""
    X, y = _response(samples, features)
    X = X + 2 * np.random.default_rng(2).standard_normal((samples, 1))
    return sw.LeastSquares(X, X[:, ::5].sum(axis=1) + y), sw.Uniform(features, min(size, features))


def packing(sets: int, items: int = 100, size: int = 4) -> Problem:
    """Return sets of items, no two of which may share one."""
    rng = np.random.default_rng(0)
    chosen = [set(rng.choice(items, size, replace=False).tolist()) for _ in range(sets)]
    return sw.Linear(rng.random(sets) + 1), sw.SetPacking(chosen)


def wide_packing(sets: int) -> Problem:
    """Return larger sets of more items."""
    return packing(sets, items=max(40, sets // 10), size=6)


def packed_coverage(sets: int) -> Problem:
    """Return a coverage under a packing."""
    rng = np.random.default_rng(1)
    covers = [set(rng.choice(sets, 8, replace=False).tolist()) for _ in range(sets)]
    return sw.Coverage(covers), packing(sets)[1]


def matching(vertices: int) -> Problem:
    """Return weights of the edges of a complete graph, most of which tie."""
    constraint = sw.BMatching.complete(vertices, 3)
    return sw.Linear(np.random.default_rng(0).integers(1, 6, constraint.n).astype(float)), constraint


def _forest(elements: int) -> sw.Graphic:
    rng = np.random.default_rng(3)
    ends = rng.integers(0, max(4, elements // 3), (elements, 2))
    return sw.Graphic([(int(a), int(b) if a != b else int(b) + 1) for a, b in ends])


def two_matroids(elements: int) -> Problem:
    """Return a forest of few colours."""
    rng = np.random.default_rng(0)
    colours = sw.Partition(rng.integers(0, elements // 6, elements), 2)
    return sw.Linear(rng.random(elements)), sw.Intersection(_forest(elements), colours)


def three_matroids(elements: int) -> Problem:
    """Return a forest of few colours and kinds."""
    rng = np.random.default_rng(0)
    parts = [sw.Partition(rng.integers(0, elements // 6, elements), 2) for _ in range(2)]
    return sw.Linear(rng.random(elements)), sw.Intersection(_forest(elements), *parts)


def covered_by_matroids(elements: int) -> Problem:
    """Return a facility location under two matroids."""
    worth = np.random.default_rng(0).random((elements, elements))
    return sw.FacilityLocation(worth), two_matroids(elements)[1]


def coverage(sets: int, size: int = 40) -> Problem:
    """Return a coverage by many sets."""
    rng = np.random.default_rng(0)
    covers = [set(rng.integers(0, 5 * sets, 60).tolist()) for _ in range(sets)]
    return sw.Coverage(covers), sw.Uniform(sets, min(size, sets))


def facilities(sites: int, size: int = 30) -> Problem:
    """Return a facility location with many sites."""
    return sw.FacilityLocation(np.random.default_rng(0).random((sites, sites))), sw.Uniform(sites, size)


def custom(features: int, size: int = 10, samples: int = 2000) -> Problem:
    """Return an objective that is written by its user, with a gradient."""
    X, y = _response(samples, features)

    def log_cosh(w: np.ndarray) -> tuple[float, np.ndarray]:
        rest = y - X @ w
        value = -float(np.logaddexp(rest, -rest).mean()) - 0.005 * float(w @ w)
        return value, X.T @ np.tanh(rest) / samples - 0.01 * w

    return sw.CustomObjective(log_cosh, n=features), sw.Uniform(features, min(size, features))


def slow_values(elements: int) -> Problem:
    """Return a set function that takes a millisecond a value."""
    weights = np.random.default_rng(0).random(elements)

    def root(support: Any) -> float:
        time.sleep(0.001)
        return float(np.sqrt(weights[list(support)].sum()))

    return sw.CustomSetFunction(root, n=elements, submodular=True), sw.Uniform(elements, elements // 10)


def graph_model(vertices: int) -> Problem:
    """Return spins for an estimator."""
    return np.sign(np.random.default_rng(0).standard_normal((400, vertices))), None


def _certify(f: Any, constraint: Any, limit: float) -> str:
    start = constraint.extend(constraint.forced, np.arange(constraint.n))
    return _proven(sw.certify(f, constraint, start, time_limit=limit))


def _proven(certificate: Any) -> str:
    return (
        f"{certificate.status} {certificate.value:.4g} of {certificate.upper_bound:.6g} ({certificate.kind})"
    )


def _exact(f: Any, constraint: Any, limit: float) -> str:
    result = sw.exact(f, constraint, limit)
    return _proven(result.certificate)


def _maximize(method: str, start: str = "empty", **options: Any) -> Callable[[Any, Any, float], str]:
    def call(f: Any, constraint: Any, limit: float) -> str:
        result = sw.maximize(f, constraint, method, start=start, time_limit=limit, **options)
        return f"{result.status} {result.value:.6g}"

    return call


def _max_weight(f: Any, constraint: Any, limit: float) -> str:
    heaviest = constraint.max_weight(f.weights, time_limit=limit)
    return f"{heaviest.weight:.4g} of {heaviest.upper_bound:.6g}"


def _fit_graph(spins: Any, _: Any, limit: float) -> str:
    model = sw.IsingGraph(max_degree=3, time_limit=limit).fit(spins)
    return str(model.result_.status)


@dataclass(frozen=True)
class Case:
    """A call on a problem of one size, which would take minutes; and of another, which takes no time."""

    problem: Callable[..., Problem]
    size: int
    call: Callable[[Any, Any, float], str]
    name: str
    small: int = 30

    def __str__(self) -> str:
        """Return what is called on what."""
        return f"{self.name}, {self.problem.__name__.replace('_', ' ')} {self.size}"


MODULAR, AUTO, OBLIVIOUS = _maximize("modular"), _maximize("auto"), _maximize("oblivious")

CASES = [
    Case(ising, 100, _certify, "certify", 8),
    Case(ising, 150, _certify, "certify", 8),
    Case(ising, 200, _certify, "certify", 8),
    Case(ising, 100, _exact, "exact", 8),
    Case(ising, 200, _exact, "exact", 8),
    Case(ising, 200, OBLIVIOUS, "oblivious", 8),
    Case(ising, 200, MODULAR, "modular", 8),
    Case(graph_model, 300, _fit_graph, "IsingGraph.fit", 8),
    Case(logistic, 1500, _certify, "certify"),
    Case(logistic, 3000, _certify, "certify"),
    Case(logistic, 5000, _certify, "certify"),
    Case(logistic, 5000, _exact, "exact"),
    Case(logistic, 5000, OBLIVIOUS, "oblivious"),
    Case(poisson, 3000, _certify, "certify"),
    Case(poisson, 3000, _exact, "exact"),
    Case(multinomial, 1500, _certify, "certify"),
    Case(multinomial, 3000, AUTO, "semi-oblivious"),
    Case(groups, 3000, _certify, "certify"),
    Case(regression, 1000, _exact, "exact"),
    Case(regression, 3000, _exact, "exact"),
    Case(regression, 20000, _certify, "certify"),
    Case(correlated, 400, _exact, "exact"),
    Case(correlated, 1000, _exact, "exact"),
    Case(packing, 600, _max_weight, "max_weight"),
    Case(packing, 600, MODULAR, "modular"),
    Case(packing, 600, _certify, "certify"),
    Case(packing, 600, _exact, "exact"),
    Case(wide_packing, 3000, _max_weight, "max_weight"),
    Case(wide_packing, 10000, _max_weight, "max_weight"),
    Case(packed_coverage, 1000, _maximize("auto", start="modular"), "start='modular'"),
    Case(packed_coverage, 1000, _certify, "certify"),
    Case(packing, 1000, _maximize("oblivious", q=2), "oblivious q=2"),
    Case(matching, 400, _max_weight, "max_weight", 8),
    Case(matching, 1000, _max_weight, "max_weight", 8),
    Case(two_matroids, 2000, _max_weight, "max_weight"),
    Case(two_matroids, 1000, MODULAR, "modular"),
    Case(three_matroids, 600, _max_weight, "max_weight"),
    Case(three_matroids, 600, _exact, "exact"),
    Case(covered_by_matroids, 500, _certify, "certify"),
    Case(coverage, 5000, _exact, "exact"),
    Case(facilities, 2000, _exact, "exact"),
    Case(custom, 300, _certify, "certify"),
    Case(custom, 300, _exact, "exact"),
    Case(custom, 1000, OBLIVIOUS, "oblivious"),
    Case(slow_values, 2000, _exact, "exact"),
    Case(slow_values, 2000, MODULAR, "modular"),
]


def serve(number: int, limit: float) -> None:
    """Run one case in this process; say when it begins, how long it took and what came of it."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have jobs in the background ignore it
    case = CASES[number]
    case.call(*case.problem(case.small), 5.0)
    problem = case.problem(case.size)
    print("begins", flush=True)
    since, computed = time.perf_counter(), time.process_time()
    try:
        outcome = case.call(*problem, limit)
    except KeyboardInterrupt:
        outcome = "KeyboardInterrupt"
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    seconds, computed = time.perf_counter() - since, time.process_time() - computed
    print(f"{seconds:.2f} {computed:6.2f}  {' '.join(outcome.split())[:100]}", flush=True)


def measure(number: int, limit: float, press: bool) -> tuple[float, str]:
    """Return the seconds that a case took, from Ctrl-C on if that is pressed, and what came of it."""
    command = [sys.executable, "-m", "benchmarks.limits", "--serve", str(number), "--limit", str(limit)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        since = time.perf_counter()
        if press and not select([process.stdout], [], [], PRESSED_AFTER)[0]:
            since = time.perf_counter()
            process.send_signal(signal.SIGINT)
        elif press:
            process.kill()
            return 0.0, "     ?  ended before"
        if not select([process.stdout], [], [], PATIENCE + (0 if press else limit))[0]:
            process.kill()
            return np.inf, "     ?  ended from outside"
        seconds, _, outcome = process.stdout.readline().strip().partition(" ")
        process.kill()
        return (time.perf_counter() - since if press else float(seconds)), outcome


def main() -> None:
    """Print how long every case took at each limit, the worst overrun, and how soon Ctrl-C was heard."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=int, help="run one case, by its number, in this process")
    parser.add_argument("--limit", type=float, help="only this limit, in seconds")
    parser.add_argument("--only", default="", help="only cases whose description holds this")
    parser.add_argument("--press", action="store_true", help="only press Ctrl-C")
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve, options.limit)
        return
    limits = () if options.press else (options.limit,) if options.limit else (1.0, 2.0)
    chosen = [number for number, case in enumerate(CASES) if options.only in str(case)]
    for limit in limits:
        _show(f"limit of {limit:g} s", chosen, limit, press=False)
    if options.press or not options.limit:
        _show(f"Ctrl-C after {PRESSED_AFTER:g} s", chosen, LIMIT_OF_INTERRUPTED, press=True)


def _show(title: str, chosen: list[int], limit: float, *, press: bool) -> None:
    print(f"\n{title}\n{'call':<40} {'seconds':>8} {'CPU':>6}  outcome")
    overruns = []
    for number in chosen:
        seconds, outcome = measure(number, limit, press)
        overruns.append(seconds - (0.0 if press else limit))
        shown = "> 30" if np.isinf(seconds) else f"{seconds:.2f}"
        print(f"{CASES[number]!s:<40} {shown:>8} {outcome}", flush=True)
    worst = max(overruns, default=0.0)
    late = sum(overrun > 1 for overrun in overruns)
    print(f"{len(overruns)} calls, worst overrun {worst:.2f} s, {late} of more than 1 s")


if __name__ == "__main__":
    main()
