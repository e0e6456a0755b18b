"""``python -m benchmarks.peers``: sparse logistic, Poisson and Gamma regression beside abess and skscope.

The peers are for this page only: ``pip install '.[peers]'``. All get the same data in the same process and
one thread; every answer is refitted by the same program, so that deviances compare supports and nothing else.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import swapwise as sw

SIZES = ((500, 1000, 10), (2500, 5000, 50))
CORRELATION = 0.3

Selector = Callable[[np.ndarray, np.ndarray, int], Any]


@dataclass(frozen=True)
class Instance:
    """A design of equally correlated Gaussian columns, and which of them matter."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray

    @classmethod
    def draw(cls, model: str, samples: int, features: int, size: int, seed: int) -> Instance:
        """Draw coefficients that can be told from noise, and targets from the model."""
        rng = np.random.default_rng([seed, samples])
        common = rng.standard_normal((samples, 1))
        X = (
            np.sqrt(1 - CORRELATION) * rng.standard_normal((samples, features))
            + np.sqrt(CORRELATION) * common
        )
        truth = np.sort(rng.choice(features, size, replace=False))
        strength = {"logistic": (1.0, 1.5), "poisson": (0.3, 0.4), "gamma": (0.3, 0.4)}[model]
        coef = rng.choice([-1.0, 1.0], size) * rng.uniform(*strength, size) / np.sqrt(size / 10)
        eta = X[:, truth] @ coef
        if model == "logistic":
            return cls(X, (rng.random(samples) < 1 / (1 + np.exp(-eta))).astype(float), truth)
        if model == "gamma":
            return cls(X, rng.gamma(2.0, np.exp(eta) / 2.0), truth)
        return cls(X, rng.poisson(np.exp(eta)).astype(float), truth)


def swapwise_logistic(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Fit the library's estimator as a user would, without a ridge as the peers have none."""
    return sw.SparseClassifier(size, ridge=0.0).fit(X, y).support_


def swapwise_poisson(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Fit the library's estimator as a user would, without a ridge as the peers have none."""
    return sw.SparseGLMRegressor(size, ridge=0.0).fit(X, y).support_


def swapwise_gamma(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Fit the library's estimator as a user would, without a ridge as the peers have none."""
    return sw.SparseGLMRegressor(size, family="gamma", ridge=0.0).fit(X, y).support_


def abess_logistic(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Fit abess with the size given."""
    from abess import LogisticRegression

    return np.flatnonzero(LogisticRegression(support_size=size).fit(X, y).coef_)


def abess_poisson(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Fit abess with the size given."""
    from abess import PoissonRegression

    return np.flatnonzero(PoissonRegression(support_size=size).fit(X, y).coef_)


def abess_gamma(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Fit abess with the size given; its means are reciprocals of the linear predictor, not exponentials."""
    from abess import GammaRegression

    return np.flatnonzero(GammaRegression(support_size=size).fit(X, y).coef_)


def skscope_logistic(X: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Solve by skscope, with an intercept that is always chosen."""
    import jax.numpy as jnp
    from skscope import ScopeSolver

    design = jnp.hstack([jnp.ones((len(X), 1)), jnp.asarray(X)])

    def loss(params: Any) -> Any:
        eta = design @ params
        return jnp.mean(jnp.logaddexp(0.0, eta) - y * eta)

    solver = ScopeSolver(design.shape[1], size + 1, preselect=[0])
    params = solver.solve(loss, jit=True)
    return np.setdiff1d(np.flatnonzero(params), [0]) - 1


PEERS: dict[str, dict[str, Selector]] = {
    "logistic": {"swapwise": swapwise_logistic, "abess": abess_logistic, "skscope": skscope_logistic},
    "poisson": {"swapwise": swapwise_poisson, "abess": abess_poisson},
    "gamma": {"swapwise": swapwise_gamma, "abess": abess_gamma},
}
OBJECTIVES = {"logistic": sw.Logistic, "poisson": sw.Poisson, "gamma": sw.Gamma}


def compare(model: str, samples: int, features: int, size: int, trials: int, console: Console) -> None:
    """Print one table: a row for each trial and program."""
    title = f"{model}, {samples} samples, {features} features, {size} chosen"
    table = Table(
        "trial", "program", "seconds", "mean deviance", "recovered", title=title, title_justify="left"
    )
    seconds: dict[str, list[float]] = {}
    for trial in range(trials):
        instance = Instance.draw(model, samples, features, size, trial)
        objective = OBJECTIVES[model](instance.X, instance.y)
        for name, select in PEERS[model].items():
            if trial == 0:
                select(instance.X, instance.y, size)  # compiles, which is not to be timed
            begin = perf_counter()
            support = select(instance.X, instance.y, size)
            seconds.setdefault(name, []).append(perf_counter() - begin)
            deviance = 2 * (objective.upper_bound() - objective(support))
            recovered = len(np.intersect1d(support, instance.truth))
            table.add_row(
                str(trial), name, f"{seconds[name][-1]:.3f}", f"{deviance:.8f}", f"{recovered} of {size}"
            )
    console.print(table)
    own = median(seconds["swapwise"])
    ratios = ", ".join(f"{name} {median(times) / own:.2f}" for name, times in seconds.items())
    console.print(f"median seconds, relative to swapwise: {ratios}\n")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5)
    trials = parser.parse_args().trials
    with threadpool_limits(1):
        for model in PEERS:
            for size in SIZES:
                compare(model, *size, trials, Console(width=100))
