"""``python -m benchmarks.bounds``: coefficients that may not be negative, or that have bounds.

``small`` holds searches and proofs to an exhaustive search whose fits are SciPy's, ``nnls`` for coefficients
that may not be negative and ``lsq_linear`` for bounds of other kinds. ``large`` fits 2500 samples of 5000
features, 50 chosen, with bounds and without, and beside abess with ``beta_low=0`` where that is installed:
all in one thread, every answer refitted within the bounds by the same program.
"""

from __future__ import annotations

import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from itertools import combinations
from time import perf_counter
from typing import NamedTuple

import numpy as np
import scipy
from threadpoolctl import threadpool_limits

import swapwise as sw
from benchmarks.race.hard import autoregression

#: Values that differ by less are the same: SciPy's fits are not exact
EXACT = 1e-6

N_SAMPLES, N_FEATURES, SIZE = 2500, 5000, 50


class Small(NamedTuple):
    """A regression of few columns, with bounds on their coefficients."""

    X: np.ndarray
    y: np.ndarray
    ridge: float
    lower: np.ndarray
    upper: np.ndarray
    constraint: sw.Constraint

    @classmethod
    def draw(cls, seed: int) -> Small:
        """Draw bounds of any kind; in every other instance, no coefficient may be negative."""
        random = np.random.default_rng(seed)
        n = int(random.integers(5, 9))
        X = random.standard_normal((12, n))
        y = X @ random.standard_normal(n) + random.standard_normal(12)
        lower, upper = np.zeros(n), np.full(n, np.inf)
        if seed % 2:
            lower, upper = -random.choice([0.0, 0.3, np.inf], n), random.choice([0.2, 1.0, np.inf], n)
        constraint: sw.Constraint = sw.Uniform(n, int(random.integers(1, n)))
        if random.random() < 0.5:
            constraint = sw.Partition(random.integers(0, 3, n).tolist(), 1)
        return cls(X, y, float(random.choice([0.0, 0.5])), lower, upper, constraint)

    @property
    def objective(self) -> sw.LeastSquares:
        """The library's objective."""
        pairs = list(zip(self.lower, self.upper, strict=True))
        return sw.LeastSquares(self.X, self.y, self.ridge, bounds=pairs)

    def value(self, support: Iterable[int]) -> float:
        """Return R² of SciPy's fit."""
        chosen = list(support)
        if not chosen:
            return 0.0
        A = np.vstack([self.X[:, chosen], np.sqrt(self.ridge) * np.eye(len(chosen))])
        target, lower, upper = (
            np.append(self.y, np.zeros(len(chosen))),
            self.lower[chosen],
            self.upper[chosen],
        )
        if not lower.any() and np.isinf(upper).all():
            fits = [scipy.optimize.nnls(A, target)[0]]
        else:  # neither way is always at the optimum
            fits = [
                scipy.optimize.lsq_linear(A, target, (lower, upper), method=method, tol=1e-13).x
                for method in ("bvls", "trf")
            ]
        left = min(((target - A @ np.clip(coef, lower, upper)) ** 2).sum() for coef in fits)
        return float(1 - left / (self.y @ self.y))


def small(instances: int) -> int:
    """Print the share of the optimum that searches find; return how many claims were wrong."""
    shares, wrong = [], 0
    for seed in range(instances):
        instance = Small.draw(seed)
        f, constraint, n = instance.objective, instance.constraint, len(instance.lower)
        every = (set_ for size in range(n + 1) for set_ in combinations(range(n), size))
        best = max(instance.value(set_) for set_ in every if constraint.is_independent(set_))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = sw.maximize(f, constraint)
            proven = sw.exact(f, constraint)
            bound = sw.certify(f, constraint, found, max_nodes=seed % 4).upper_bound
        shares.append(found.value / best if best > 0 else 1.0)
        is_fitted = abs(found.value - instance.value(found.support)) <= EXACT
        is_best = proven.status is sw.Status.OPTIMAL and abs(proven.value - best) <= EXACT
        if not (is_fitted and is_best and bound >= best - EXACT):
            wrong += 1
            values = f"{found.value:.9g}, exact {proven.value:.9g}, bound {bound:.9g}, best {best:.9g}"
            print(f"seed {seed}: {values}")
    optimal = np.mean(np.array(shares) > 1 - EXACT)
    found_it = f"share of the optimum {np.mean(shares):.5f}, found {optimal:.1%}"
    print(f"{instances} instances: {wrong} wrong; {found_it}")
    return wrong


def abess_positive(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the features that abess chooses if no coefficient may be negative."""
    from abess.linear import LinearRegression

    model = LinearRegression(support_size=SIZE, thread=1).fit(X, y, beta_low=0.0)
    return np.flatnonzero(model.coef_)


def large(seeds: int, repeats: int = 3) -> None:
    """Print seconds, and R² within the bounds."""
    programs: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
        "no bounds": lambda X, y: sw.SparseRegressor(SIZE).fit(X, y).support_,
        "positive": lambda X, y: sw.SparseRegressor(SIZE, positive=True).fit(X, y).support_,
        "abess, beta_low=0": abess_positive,
        "within ±0.8": lambda X, y: sw.SparseRegressor(SIZE, bounds=(-0.8, 0.8)).fit(X, y).support_,
    }
    print(f"{'correlation':11} {'signs':8} {'seed':>4} {'program':18} {'seconds':>8} {'ratio':>6} {'R²':>8}")
    for seed in range(seeds):
        for correlation in (0.3, 0.9):
            for signs in ("mixed", "positive"):
                X, y = _large_problem(seed, correlation, signs)
                for line in _compared(programs, X, y, repeats):
                    print(f"{correlation:<11} {signs:8} {seed:4} {line}", flush=True)


def _large_problem(seed: int, correlation: float, signs: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = autoregression(random.standard_normal((N_SAMPLES, N_FEATURES)), correlation)
    coef = random.uniform(0.5, 1.5, SIZE) * random.choice([-1.0, 1.0] if signs == "mixed" else [1.0], SIZE)
    signal = X[:, random.choice(N_FEATURES, SIZE, replace=False)] @ coef
    return X, signal + signal.std() / np.sqrt(3) * random.standard_normal(N_SAMPLES)


def _compared(
    programs: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]],
    X: np.ndarray,
    y: np.ndarray,
    repeats: int,
) -> Iterable[str]:
    centred = X - X.mean(axis=0)
    judges = {
        "no bounds": sw.LeastSquares(centred, y - y.mean()),
        "within ±0.8": sw.LeastSquares(centred, y - y.mean(), bounds=(-0.8, 0.8)),
    }
    positive, first = sw.LeastSquares(centred, y - y.mean(), positive=True), None
    for name, select in programs.items():
        seconds = []
        try:
            for _ in range(repeats):
                begin = perf_counter()
                chosen = select(X, y)
                seconds.append(perf_counter() - begin)
        except ModuleNotFoundError:
            continue
        first = first or min(seconds)
        value = judges.get(name, positive)(chosen)
        yield f"{name:18} {min(seconds):8.3f} {min(seconds) / first:6.2f} {value:8.5f}"


def main() -> int:
    """Run what the command line asks for."""
    parser = ArgumentParser(prog="python -m benchmarks.bounds", description=__doc__)
    parser.add_argument("what", choices=["small", "large"])
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    with threadpool_limits(1):
        if asked.what == "small":
            return min(1, small(asked.instances))
        large(asked.seeds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
