"""From a seed to an instance: an objective, a constraint, and the answers to compare with.

The seed alone decides, so that ``python -m tests.fuzz --only SEED`` shows a violation again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import sparse

import swapwise as sw
from swapwise.numerics import FLOAT32_PRECISION, FLOAT64_PRECISION
from swapwise.objectives.custom.fit import CONVERGED_SLOPE
from tests.fuzz.designs import Random, some_design, some_weights
from tests.fuzz.families import Edges, Family, some_family
from tests.fuzz.oracles import Likelihood, Regression

#: How well LeastSquares takes columns to be known, relative to their length, by the type of the data
PRECISION = {"f4": FLOAT32_PRECISION, "f8": FLOAT64_PRECISION}
#: What numbers are rounded by, relative to them
EPS = {"f4": 6e-8, "f8": 1.1e-16}


@dataclass(frozen=True)
class Objective:
    """How to make an objective, and what is known of it."""

    name: str
    make: Callable[[], sw.SetFunction]
    what: str = ""
    dtype: str = "f8"
    regression: Regression | None = None
    likelihood: Likelihood | None = None
    #: How well fits are known where no Hessian leads to them: swapwise.objectives.custom.fit.CONVERGED_SLOPE
    fitted_to: float = 0.0
    #: Data small integers, so that rational numbers do not grow
    whole: bool = False
    monotone: bool = True


@dataclass(frozen=True)
class Instance:
    """A problem with few enough elements to look at all sets."""

    seed: int
    n: int
    objective: Objective
    family: Family
    random: Random

    def __str__(self) -> str:
        what = f" ({self.objective.what})" if self.objective.what else ""
        return f"{self.objective.name}{what}, n={self.n}, {self.family.name}"


def instance_of(seed: int) -> Instance:
    """Return the instance of a seed."""
    random = np.random.default_rng([18, seed])
    n = int(random.choice([5, 6, 7, 8, 9], p=[0.3, 0.3, 0.2, 0.1, 0.1]))
    kinds, weights = zip(*KINDS.items(), strict=True)
    kind = kinds[random.choice(len(kinds), p=np.array(weights) / sum(weights))]
    edges = some_edges(random, n, simple=kind is ising)
    objective = kind(random, n, edges)
    return Instance(seed, n, objective, some_family(random, n, edges), random)


def spanned_within(dtype: str, columns: int) -> float:
    """Return how near to the span of others, relative to its length, a column is spanned by any reading.

    Of float32 data, some roundings. Of doubles, what arithmetic in doubles cannot tell from rounding: a
    singular value below 4 √k units in the last place of the largest, which is up to √k, of k columns that are
    up to √k times as far apart; k is that of the largest sets, which proofs look at in place of their parts.
    """
    return 16 * EPS["f4"] if dtype == "f4" else 8 * EPS["f8"] * float(columns**1.5)


def some_edges(random: Random, n: int, simple: bool) -> Edges:
    """Return edges of a graph of four or five vertices; parallel ones and loops unless it is to be simple."""
    pairs = list(combinations(range(5 if n > 6 else 4), 2))
    if simple:
        return [pairs[index] for index in sorted(random.permutation(len(pairs))[:n])]
    return [(int(u), int(v)) for u, v in random.integers(0, 5, (n, 2))]


def least_squares(random: Random, n: int, edges: Edges) -> Objective:
    X, y, what = some_design(random, n)
    ridge = _some_ridge(random, [0.0, 0.0, 0.0, 1e-6, 0.3, 100.0])
    weight = some_weights(random, len(y))
    stored, given, storage = _stored(random, X)
    dtype = "f4" if given.dtype == np.float32 else "f8"
    return Objective(
        "LeastSquares",
        lambda: sw.LeastSquares(stored(), y, ridge, weight),
        f"{what}; {storage}, ridge {ridge:g}{'' if weight is None else ', weights'}",
        dtype,
        Regression(given, y, ridge, weight, precision=PRECISION[dtype]),
        whole=what.endswith("integers"),
    )


def _stored(random: Random, X: np.ndarray) -> tuple[Callable[[], object], np.ndarray, str]:
    """Return what opens the data, the numbers in them, and how they are stored."""
    if random.random() < 0.4:
        X = X.astype(np.float32)
    kind = random.choice(["rows", "columns", "sparse", "file", "integers"], p=[0.5, 0.2, 0.12, 0.12, 0.06])
    name = f"{X.dtype} {kind}"
    if kind == "integers":
        X = np.clip(np.rint(X.astype(float)), -1e12, 1e12).astype(np.int64)
        return lambda: X, X, "integers"
    if kind == "columns":
        X = np.asfortranarray(X)
    if kind == "sparse":
        return lambda: sparse.csc_array(X), X, name
    if kind == "file":
        order = "F" if random.random() < 0.5 else "C"
        return lambda: _mapped(np.asarray(X, order=order)), X, name
    return lambda: X, X, name


def _mapped(X: np.ndarray) -> np.ndarray:
    """Return the data as a file mapped into memory; its name is gone at once, its space when it is closed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        return np.load(path, mmap_mode="r")


def group_least_squares(random: Random, n: int, edges: Edges) -> Objective:
    X, y, what = some_design(random, n + 2)
    groups = [*range(n), *random.integers(0, n, 2).tolist()]
    ridge, weight = _some_ridge(random, [0.0, 0.0, 1e-6, 0.3]), some_weights(random, len(y))
    return Objective(
        "LeastSquares with groups",
        lambda: sw.LeastSquares(X, y, ridge, weight, groups=groups),
        f"{what}, ridge {ridge:g}{'' if weight is None else ', weights'}",
        regression=Regression(X, y, ridge, weight, _members(groups, n)),
    )


def _members(groups: list[int], n: int) -> list[list[int]]:
    return [[column for column, group in enumerate(groups) if group == label] for label in range(n)]


def _some_ridge(random: Random, choices: list[float]) -> float:
    return float(random.choice(choices))


def _likelihood(kind: str, random: Random, n: int) -> Objective:
    maker = {"logistic": sw.Logistic, "poisson": sw.Poisson, "multinomial": sw.Multinomial}[kind]
    grouped = random.random() < 0.15
    X, signal, what = some_design(random, n + 2 if grouped else n)
    groups = [*range(n), *random.integers(0, n, 2).tolist()] if grouped else None
    y = _target(random, kind, signal)
    ridge, weight = _some_ridge(random, [0.0, 0.0, 1e-3, 0.1]), some_weights(random, len(y))
    intercept = bool(random.random() < 0.7)
    in_file = not grouped and kind != "multinomial" and random.random() < 0.08
    omega = np.full(len(y), 1.0 / len(y)) if weight is None else weight / weight.sum()
    free = np.ones((len(y), int(intercept)))
    return Objective(
        maker.__name__,
        lambda: maker(
            _mapped(X) if in_file else X,
            y,
            ridge,
            sample_weight=weight,
            fit_intercept=intercept,
            groups=groups,
        ),
        f"{what}, ridge {ridge:g}{'' if weight is None else ', weights'}"
        f"{'' if intercept else ', no intercept'}"
        f"{', groups' if grouped else ''}{', file' if in_file else ''}",
        likelihood=Likelihood(
            kind,
            X,
            y,
            ridge,
            omega,
            free,
            None if groups is None else _members(groups, n),
            classes=max(2, int(y.max(initial=0)) + 1) if kind == "multinomial" else 2,
        ),
    )


def _target(random: Random, kind: str, signal: np.ndarray) -> np.ndarray:
    """Return classes or counts that follow a signal; a third of them without noise, so that they separate."""
    spread = signal.std() or 1.0
    noise = random.choice([0.0, 1.0, 2.0]) * random.standard_normal(len(signal))
    score = (signal - signal.mean()) / spread + noise
    if kind == "logistic":
        return (score > 0).astype(float)
    if kind == "poisson":
        return random.poisson(np.exp(np.clip(score, -5.0, 3.0))).astype(float)
    return np.unique(np.digitize(score, [-0.5, 0.5]), return_inverse=True)[1].astype(float)


def logistic(random: Random, n: int, edges: Edges) -> Objective:
    return _likelihood("logistic", random, n)


def poisson(random: Random, n: int, edges: Edges) -> Objective:
    return _likelihood("poisson", random, n)


def multinomial(random: Random, n: int, edges: Edges) -> Objective:
    return _likelihood("multinomial", random, n)


def ising(random: Random, n: int, edges: Edges) -> Objective:
    vertices = 1 + max(v for edge in edges for v in edge)
    samples = int(random.choice([3, 10, 25]))
    turns = np.where(random.random((samples, vertices)) < random.choice([0.0, 0.25, 0.5]), -1.0, 1.0)
    spins = np.cumprod(turns, axis=1) * np.where(random.random((samples, 1)) < 0.5, 1.0, -1.0)
    ridge, fields = _some_ridge(random, [0.0, 1e-3, 0.05, 0.5]), bool(random.integers(2))
    # From a generator of its own, so that instances without missing entries are what they were; and with a
    # ridge, for the oracle does not come to the end of separable data.
    missing = np.random.default_rng([samples, n, vertices]).random(spins.shape) < 0.25 * (
        ridge in (1e-3, 0.5)
    )
    missing[:, 0] = False  # no sample is without any answer
    own, given = np.where(missing, 0.0, spins), np.where(missing, np.nan, spins)
    means = own.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1) * fields
    seen = np.where(missing, means, spins)
    # Every vertex and sample is an observation of class 1, with the margin 2 x_v h_v as predictor.
    X, free = np.zeros((vertices, samples, n)), np.zeros((vertices, samples, vertices * fields))
    for element, (a, b) in enumerate(edges):
        X[a, :, element], X[b, :, element] = 2 * own[:, a] * seen[:, b], 2 * own[:, b] * seen[:, a]
    for vertex in range(vertices * fields):
        free[vertex, :, vertex] = 2 * own[:, vertex]
    rows = vertices * samples
    return Objective(
        "IsingPseudoLikelihood",
        lambda: sw.graphs.IsingPseudoLikelihood(given, ridge, fields, edges),
        f"ridge {ridge:g}{', fields' if fields else ''}{', missing' if missing.any() else ''}",
        likelihood=Likelihood(
            "logistic",
            X.reshape(rows, n),
            np.ones(rows),
            ridge,
            np.full(rows, 1.0 / samples),
            free.reshape(rows, -1),
        ),
    )


def coverage(random: Random, n: int, edges: Edges) -> Objective:
    sets = [random.permutation(8)[: random.integers(0, 5)].tolist() for _ in range(n)]
    weights = {item: float(random.choice([0.0, 0.1, 0.2, 0.3, 1.0, 1e6])) for item in range(8)}
    known = weights if random.random() < 0.5 else None
    return Objective("Coverage", lambda: sw.Coverage(sets, known))


def facility_location(random: Random, n: int, edges: Edges) -> Objective:
    similarity = random.choice([0.0, 0.1, 0.2, 0.3, 1.0], (5, n)) * 10.0 ** random.integers(-6, 7)
    return Objective("FacilityLocation", lambda: sw.FacilityLocation(similarity))


def linear(random: Random, n: int, edges: Edges) -> Objective:
    weights = random.choice([0.0, 0.1, 0.2, 0.3, 1.0, 2.5, 1e-9, 1e9], n)
    return Objective("Linear", lambda: sw.Linear(weights))


def custom_set_function(random: Random, n: int, edges: Edges) -> Objective:
    """Concave, convex or neither in a sum of weights; monotone or not, and far from 0 on the empty set."""
    weights = random.integers(0, 5, (3, n)).astype(float)
    kind = random.integers(4)
    if kind == 0:
        return Objective(
            "CustomSetFunction",
            lambda: sw.CustomSetFunction(
                lambda s: float(np.sqrt(weights[:, s].sum(axis=1)).sum()), n, submodular=True
            ),
            "submodular",
        )
    if kind == 1:
        return Objective(
            "CustomSetFunction",
            lambda: sw.CustomSetFunction(
                lambda s: float(-7.0 + np.ceil(weights[0, s].sum() / 3) ** 2), n, monotone=True
            ),
            "monotone",
        )
    signs = np.where(random.random(n) < 0.3, -1.0, 1.0) if kind == 2 else np.ones(n)
    return Objective(
        "CustomSetFunction",
        lambda: sw.CustomSetFunction(lambda s: float((weights[0] * signs)[s].sum() ** 3), n),
        "not known to be monotone",
        monotone=False,
    )


def custom_objective(random: Random, n: int, edges: Edges) -> Objective:
    """Robust regression by a smooth loss, with and without its Hessian and what is known of its curvature."""
    X, y, what = some_design(random, n)
    X, y = X / max(1.0, np.abs(X).max()), y / max(1.0, np.abs(y).max())
    ridge = float(random.choice([0.0, 0.01, 0.2]))

    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        r = y - X @ w
        return float(-np.hypot(1.0, r).sum() - ridge * w @ w / 2), X.T @ (r / np.hypot(1.0, r)) - ridge * w

    def hessian(w: np.ndarray) -> np.ndarray:
        return -(X.T * np.hypot(1.0, y - X @ w) ** -3) @ X - ridge * np.eye(n)

    known = hessian if random.random() < 0.5 else None
    return Objective(
        "CustomObjective",
        lambda: sw.CustomObjective(value_and_grad, n, hessian=known, smoothness=None, strong_concavity=ridge),
        f"{what}, ridge {ridge:g}{'' if known is None else ', Hessian'}",
        fitted_to=CONVERGED_SLOPE if known is None else 0.0,
    )


#: How often each objective is drawn: most defects of proofs were found in least squares
KINDS = {
    least_squares: 50,
    group_least_squares: 6,
    logistic: 10,
    poisson: 7,
    multinomial: 5,
    ising: 6,
    coverage: 3,
    facility_location: 3,
    linear: 3,
    custom_set_function: 4,
    custom_objective: 3,
}
