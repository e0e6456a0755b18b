"""The data of a line: drawn from a seed and written to a folder, where every program reads the same.

They are drawn in a process of its own (``drawn`` is run ``apart``), so that no process that proves holds them
twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import swapwise as sw
from benchmarks.proofs.constraints import PAPER_CATEGORIES, constraint_of
from benchmarks.proofs.lines import Line
from benchmarks.proofs.runs.penalised import Start
from benchmarks.race.apart import Message
from benchmarks.race.hard import autoregression
from swapwise.checks import FloatArray, IndexArray
from swapwise.paper.instances import paper_regression

SNR = 5.0
#: The size of ten weights of a likelihood: they can be told from noise, and classes are not separable.
STRENGTHS = {"logistic": 1.0, "poisson": 0.35}

PENALISED = {"least squares": sw.LeastSquares, "logistic": sw.Logistic}


def drawn(line: dict[str, Any], seed: int, folder: str, penalised: bool) -> Iterator[Message]:
    """Write X and y of a line, and for programs with a penalty on the size what these start from."""
    yield {"doing": "data"}
    problem = Line(**line)
    X, y = draw(problem, seed)
    np.save(Path(folder) / "X.npy", X)
    np.save(Path(folder) / "y.npy", y)
    if penalised:
        yield {"doing": "the penalty"}
        start_of(problem, X, y).write(folder)


def draw(line: Line, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return X and y: autocorrelated columns of variance 1, a feasible truth with weights ±1, noise.

    >>> X, y = draw(Line("table", 100, 20, 3, 0.001, 0.9), seed=0)
    >>> X.shape, bool(0.8 < X.var() < 1.25), bool(np.corrcoef(X[:, 0], X[:, 1])[0, 1] > 0.8)
    ((100, 20), True, True)
    """
    if line.constraint == "paper":
        categories = PAPER_CATEGORIES[line.features]
        # The paper's settings have as many true features in each category as there are categories.
        paper = paper_regression(line.features, line.samples, categories, categories, random_state=seed)
        return paper.X, paper.y
    rng = np.random.default_rng([seed, line.samples, line.features])
    X = autoregression(rng.standard_normal((line.samples, line.features)), line.correlation)
    signal = X[:, _truth(line, rng)] @ rng.choice([-1.0, 1.0], line.size)
    if line.model == "least squares":
        return X, signal + np.sqrt(signal.var() / SNR) * rng.standard_normal(line.samples)
    eta = signal * STRENGTHS[line.model] / np.sqrt(line.size / 10)
    if line.model == "logistic":
        return X, (rng.random(line.samples) < 1 / (1 + np.exp(-eta))).astype(float)
    return X, rng.poisson(np.exp(eta)).astype(float)


def _truth(line: Line, rng: np.random.Generator) -> IndexArray:
    """Return an independent set of the size of the line, grown from the empty set in random order."""
    constraint = constraint_of(line.constraint, line.features, line.size)
    chosen: list[int] = []
    for element in rng.permutation(line.features).tolist():
        if constraint.is_independent([*chosen, element]):
            chosen.append(element)
        if len(chosen) == line.size:
            break
    return np.sort(chosen)


def start_of(line: Line, X: FloatArray, y: FloatArray) -> Start:
    """Search for sets of the size of the line, of one element less and of one more.

    The penalty is the geometric mean of what the last element gains and what one more would: in between, the
    best set has the size of the line, as far as the searches know.
    """
    free = {} if line.model == "least squares" else {"fit_intercept": False}
    objective = PENALISED[line.model](X, y, ridge=line.ridge, **free)
    less, same, more = (
        sw.maximize(objective, sw.Uniform(line.features, line.size + step)) for step in (-1, 0, 1)
    )
    penalty = np.sqrt((same.value - less.value) * max(more.value - same.value, 0.0))
    assert same.coef is not None
    coef = same.coef[same.support].tolist()
    return Start(float(penalty), same.value, same.support.tolist(), coef)
