"""Random problems with so few elements that all independent sets can be looked at: the seed alone decides.

Most of what is drawn comes from the fuzzer in ``tests/fuzz``: degenerate designs, constraints with their
definition written out again, and criteria in other arithmetic. Here are the objectives that it leaves out,
larger ground sets, on which bounds have more to do, and how each instance is to be proven.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

import swapwise as sw
from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.kernels import glm
from swapwise.objectives.base import Groups, embed, read_groups, rows_of
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.override import override
from tests.certify.bounded_zoo import BoundedLeastSquares, BoundedLogistic
from tests.fuzz import families, instances
from tests.fuzz.designs import some_design, some_weights
from tests.fuzz.families import Edges, Family
from tests.fuzz.instances import Instance, Objective

Random = np.random.Generator
Set = tuple[int, ...]
Builder = Callable[[Random, int, Edges], Objective]

#: What the tree may spend: nothing but simple bounds, the root alone, a few nodes, as many as it takes
NODES = (0, 1, 4, 15, None)


@dataclass(frozen=True)
class Way:
    """How an instance is proven."""

    #: Whether small regions of least squares are gone through in closed form: bounds then have little to do
    closed_form: bool
    #: Whether it is proven as if it had too many elements for matrices of all of them
    as_if_large: bool
    #: Whether the tree keeps the set that it was given: targets stay below the best, so that fixing can err
    stubborn: bool
    max_nodes: int | None
    gap: float
    #: As if it were large: up to how many coefficients least squares are replaced by their products
    products_up_to: int = 0
    #: As if it were large: up to how many samples working sets are columns, and not their products
    columns_up_to: int = 0
    #: How long a proof may take: bounds of one that is cut short are checked just the same
    seconds: float = 2.0

    def __str__(self) -> str:
        how = "closed form" if self.closed_form else "branching only"
        if self.as_if_large:
            how += f", as if large (products up to {self.products_up_to}, columns up to {self.columns_up_to})"
        how += ", stubborn" if self.stubborn else ""
        return f"{how}, max_nodes={self.max_nodes}, gap={self.gap:g}"


@dataclass(frozen=True)
class SmallInstance(Instance):
    """An objective, a constraint, and how to prove what is best."""

    way: Way

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.way}"


def instance_of(seed: int, largest: int = 14) -> SmallInstance:
    """Return the instance of a seed, with no more than so many elements.

    >>> instance_of(3).n == instance_of(3).n
    True
    """
    random = np.random.default_rng([23, seed])
    kinds, weights = zip(*KINDS.items(), strict=True)
    kind = kinds[random.choice(len(kinds), p=np.array(weights) / sum(weights))]
    n = min(largest, _some_size(random, kind))
    edges = _some_edges(random, n, simple=kind is instances.ising)
    objective = _some_objective(random, kind, n, edges)
    family = _some_family(random, n, edges)
    large = n >= LARGE
    way = Way(
        closed_form=bool(random.random() < (0.2 if large else 0.5)),
        as_if_large=bool(random.random() < 0.3),
        stubborn=bool(random.random() < 0.6),
        max_nodes=NODES[random.choice(5, p=[0.05, 0.2, 0.15, 0.2, 0.4])],
        gap=float(random.choice([0.0, 1e-4, 0.05], p=[0.5, 0.4, 0.1])),
        # By the data to the end, by products once enough elements are ruled out, by products at once
        products_up_to=int(random.choice([0, n // 2, n - 1, 3000], p=[0.4, 0.15, 0.15, 0.3])),
        columns_up_to=int(random.choice([0, 5000])),
    )
    if large and way.max_nodes is None:
        way = replace(way, max_nodes=30)
    return SmallInstance(seed, n, objective, family, random, way)


#: Ground sets of this size and more are for objectives that are evaluated quickly
LARGE = 11


def _some_size(random: Random, kind: Builder) -> int:
    if kind in PLAIN and random.random() < 0.2:
        return int(random.integers(0, 4))
    if random.random() < 0.04:
        return 3 if kind in WIDE else int(random.integers(1, 4))
    if kind in QUICK and random.random() < 0.2:
        return int(random.choice([12, 13, 14]))
    return int(random.choice([4, 5, 6, 7, 8, 9, 10], p=[0.05, 0.1, 0.2, 0.2, 0.2, 0.15, 0.1]))


def _some_edges(random: Random, n: int, simple: bool) -> Edges:
    """Return edges of a graph of some vertices; parallel ones and loops unless it is to be simple."""
    pairs = list(combinations(range(5 if n > 6 else 4), 2))
    if simple:
        return [pairs[index] for index in sorted(random.permutation(len(pairs))[:n])]
    return [(int(u), int(v)) for u, v in random.integers(0, 6 if n > 10 else 5, (n, 2))]


def _some_objective(random: Random, kind: Builder, n: int, edges: Edges) -> Objective:
    """Return an objective that is known to be monotone: without that there are no bounds."""
    while True:
        objective = kind(random, n, edges)
        if objective.monotone:
            return objective


# -- constraints ------------------------------------------------------------------------------------------


def _some_family(random: Random, n: int, edges: Edges) -> Family:
    """Return a constraint that is what it says of itself."""
    if n < 4:
        return _TINY[random.integers(len(_TINY))](random, n, edges)
    while True:
        builders = [*families.FAMILIES, *_ROOMY] if n >= LARGE else families.FAMILIES
        family = builders[random.integers(len(builders))](random, n, edges)
        if family.honest:
            return family


def _few(random: Random, n: int, edges: Edges) -> Family:
    k = int(random.integers(0, n + 2))
    return Family("uniform", lambda: sw.Uniform(n, k), lambda s: len(s) <= k)


def _blocks(random: Random, n: int, edges: Edges) -> Family:
    labels, capacity = random.integers(0, 2, n).tolist(), int(random.integers(0, 3))
    return Family(
        "partition",
        lambda: sw.Partition(labels, capacity),
        lambda s: all(sum(labels[e] == label for e in s) <= capacity for label in (0, 1)),
    )


def _both(random: Random, n: int, edges: Edges) -> Family:
    parts = [_few(random, n, edges), _blocks(random, n, edges)]
    return Family(
        "intersection of 2",
        lambda: sw.Intersection(*(part.make() for part in parts)),
        lambda s: all(part.allows(s) for part in parts),
    )


#: For fewer elements than the families of the fuzzer need, down to none
_TINY = [_few, _blocks, _both, families.graphic, families.set_packing]


def _four(random: Random, n: int, edges: Edges) -> Family:
    return Family("uniform", lambda: sw.Uniform(n, 4), lambda s: len(s) <= 4)


def _one_of_each(random: Random, n: int, edges: Edges) -> Family:
    labels = (np.arange(n) % 4).tolist()
    return Family(
        "partition",
        lambda: sw.Partition(labels, 1),
        lambda s: len({labels[e] for e in s}) == len(s),
    )


def _nested(random: Random, n: int, edges: Edges) -> Family:
    limits = [(list(range(4)), 1), (list(range(8)), 2), (list(range(n)), 4)]
    return Family(
        "laminar",
        lambda: sw.Laminar(n, limits),
        lambda s: all(sum(e in members for e in s) <= limit for members, limit in limits),
    )


#: Room for four elements: the tree has work to do
_ROOMY = [_four, _four, _four, _one_of_each, _one_of_each, _nested, _nested]


def independent_sets(instance: SmallInstance) -> list[Set]:
    """Return every allowed set that holds what is forced in, smaller ones first, by the definition alone."""
    held = tuple(sorted(instance.family.forced))
    rest = [element for element in range(instance.n) if element not in held]
    layer: list[tuple[int, ...]] = [()] if instance.family.allows(frozenset(held)) else []
    found: list[Set] = []
    while layer:
        found += [tuple(sorted((*held, *more))) for more in layer]
        # Parts of allowed sets are allowed, so that every one comes from what it is without its last element.
        layer = [
            (*more, element)
            for more in layer
            for element in rest
            if (not more or element > more[-1]) and instance.family.allows(frozenset((*held, *more, element)))
        ]
    return found


# -- objectives -------------------------------------------------------------------------------------------


class Quadratic(sw.SparseObjective):
    """``u(w) = ⟨b, w⟩ − wᵀHw / 2``, as a user would write it who knows that H is all of the curvature."""

    curvature_is = "hessian"

    def __init__(self, A: FloatArray, y: FloatArray, ridge: float) -> None:
        self.n = A.shape[1]
        self._b, self._H = A.T @ y, A.T @ A + ridge * np.eye(self.n)
        self._ridge, self.scale = ridge, float(y @ y) / 2

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        H, b = self._H[np.ix_(support, support)], self._b[support]
        coef: FloatArray = np.linalg.lstsq(H, b, rcond=1e-12)[0].astype(float)
        return float(b @ coef - coef @ H @ coef / 2), coef

    @override
    def value_at(self, coef: FloatArray) -> float:
        return float(self._b @ coef - coef @ self._H @ coef / 2)

    @override
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        slope: FloatArray = self._b - self._H @ coef
        return slope

    @override
    def curvature(self, columns: IndexArray) -> FloatArray:
        return self._H[:, columns]

    @override
    def strong_concavity(self, t: int) -> float:
        return self._ridge


def quadratic(random: Random, n: int, edges: Edges) -> Objective:
    """Return a quadratic function of coefficients, well-conditioned or with a ridge."""
    samples = int(random.choice([max(1, n // 2), n + 5, 30]))
    A = random.standard_normal((samples, n)) + random.choice([0.0, 1.0]) * random.standard_normal(
        (samples, 1)
    )
    ridge = float(random.choice([0.0, 0.01, 1.0])) if samples > n else float(random.choice([0.01, 1.0]))
    A = A * 10.0 ** random.integers(-2, 3)
    y = A[:, : max(1, n // 3)].sum(axis=1) + random.standard_normal(samples)
    return Objective("Quadratic", lambda: Quadratic(A, y, ridge), f"{samples} samples, ridge {ridge:g}")


class SeveralResponses(sw.SparseObjective):
    """``u(W) = ⟨B, W⟩ − tr(WᵀHW) / 2``: responses that curve alike, a column of W for each."""

    curvature_is = "hessian"

    def __init__(self, A: FloatArray, Y: FloatArray, ridge: float, groups: Groups) -> None:
        self.n, self.groups = len(groups.begin) - 1, groups
        self._B, self._H = A.T @ Y, A.T @ A + ridge * np.eye(A.shape[1])
        self._ridge, self.scale = ridge, float((Y**2).sum()) / 2

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        rows = rows_of(self, support)
        H, B = self._H[np.ix_(rows, rows)], self._B[rows]
        coef: FloatArray = np.linalg.lstsq(H, B, rcond=1e-12)[0].astype(float)
        return float((coef * (B - H @ coef / 2)).sum()), coef

    @override
    def value_at(self, coef: FloatArray) -> float:
        return float((coef * (self._B - self._H @ coef / 2)).sum())

    @override
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        slope: FloatArray = self._B - self._H @ coef
        return slope

    @override
    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        return self.scale if support is None else self._value(support)

    @override
    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        rows = rows_of(self, elements)
        return self._H[np.ix_(rows, rows)]

    @override
    def strong_concavity(self, t: int) -> float:
        return self._ridge


def several_responses(random: Random, n: int, edges: Edges) -> Objective:
    """Return a regression of several responses at once, some of its elements with more than one column."""
    samples, responses = int(random.choice([n + 5, 30])), int(random.integers(1, 4))
    more = int(random.choice([0, 2]))
    A = random.standard_normal((samples, n + more)) + random.choice([0.0, 1.0]) * random.standard_normal(
        (samples, 1)
    )
    Y = A[:, : max(1, n // 3)] @ random.standard_normal((max(1, n // 3), responses))
    Y = Y + random.choice([0.1, 1.0]) * random.standard_normal(Y.shape)
    ridge = float(random.choice([0.0, 0.01, 1.0]))
    groups = read_groups([*range(n), *random.integers(0, n, more).tolist()], n + more)[0]
    what = f"{responses} of {samples} samples, ridge {ridge:g}{', groups' if more else ''}"
    return Objective("several responses", lambda: SeveralResponses(A, Y, ridge, groups), what)


def second_order_model(random: Random, n: int, edges: Edges) -> Objective:
    """Return the model of a likelihood around one of its fits, as the search uses it."""
    samples = int(random.choice([8, 20, 40]))
    X, ridge = random.standard_normal((samples, n)), float(random.choice([0.01, 0.3]))
    if n > 3 and random.random() < 0.3:
        X[:, 1] = -X[:, 0]
    y = (X[:, : max(1, n // 3)].sum(axis=1) + random.standard_normal(samples) > 0).astype(float)
    y[0], y[-1] = 0.0, 1.0
    start = random.permutation(n)[: random.integers(0, 3)]

    def make() -> sw.SetFunction:
        model = sw.Logistic(X, y, ridge).start(start).model(np.arange(n))
        return Quadratic(X, y, ridge) if model is None else model

    return Objective("second-order model", make, f"{samples} samples, ridge {ridge:g}")


def _with_offset(maker: Callable[..., sw.SetFunction], random: Random, n: int) -> Objective:
    """Return a likelihood of any kind of data, with offsets as often as not."""
    grouped = n > 0 and random.random() < 0.15
    X, signal, what = some_design(random, max(n + 2 if grouped else n, 3))
    X = X if grouped else X[:, :n]
    score = (signal - signal.mean()) / (signal.std() or 1.0)
    score = score + random.choice([0.0, 1.0]) * random.standard_normal(len(score))
    if maker is sw.Gamma:
        y = np.exp(np.clip(score, -5.0, 4.0)) * random.choice([1e-6, 1.0, 1e6], p=[0.1, 0.8, 0.1])
    elif maker is sw.Logistic:
        y = (score > 0).astype(float)
    else:
        y = random.poisson(np.exp(np.clip(score, -5.0, 3.0))).astype(float)
    options: dict[str, Any] = {
        "ridge": float(random.choice([0.0, 1e-6, 1e-2, 0.3])),
        "sample_weight": some_weights(random, len(y)),
        "fit_intercept": bool(random.random() < 0.7),
    }
    if random.random() < 0.5:
        options["offset"] = random.choice([0.1, 2.0]) * random.standard_normal(len(y))
    if grouped:
        options["groups"] = [*range(n), *random.integers(0, n, X.shape[1] - n).tolist()]
    if maker is sw.NegativeBinomial:
        options["alpha"] = float(random.choice([1e-3, 0.5, 3.0]))
    if random.random() < 0.2:
        X = X.astype(np.float32)
    known = ", ".join(f"{key}" if np.ndim(value) else f"{key}={value}" for key, value in options.items())
    return Objective(maker.__name__, lambda: maker(X, y, **options), f"{what}; {X.dtype}, {known}")


def gamma(random: Random, n: int, edges: Edges) -> Objective:
    """Return a gamma regression."""
    return _with_offset(sw.Gamma, random, n)


def negative_binomial(random: Random, n: int, edges: Edges) -> Objective:
    """Return a negative binomial regression of known dispersion."""
    return _with_offset(sw.NegativeBinomial, random, n)


def offset_logistic(random: Random, n: int, edges: Edges) -> Objective:
    """Return a logistic regression, perhaps with offsets and in single precision."""
    return _with_offset(sw.Logistic, random, n)


def offset_poisson(random: Random, n: int, edges: Edges) -> Objective:
    """Return a Poisson regression, perhaps with offsets and in single precision."""
    return _with_offset(sw.Poisson, random, n)


def hard_regression(random: Random, n: int, edges: Edges) -> Objective:
    """Return least squares whose bounds are loose: correlated columns and much noise, so that trees grow."""
    samples = int(random.choice([n, 2 * n, 40]))
    shared = random.choice([0.0, 0.5, 2.0])
    X = random.standard_normal((samples, n)) + shared * random.standard_normal((samples, 1))
    y = X[:, : max(1, n // 3)] @ random.choice([-1.0, 1.0], max(1, n // 3)) + 2 * random.standard_normal(
        samples
    )
    ridge = float(random.choice([0.0, 1e-3, 0.1, 1.0])) * samples
    return Objective(
        "LeastSquares", lambda: sw.LeastSquares(X, y, ridge), f"hard, {samples} samples, ridge {ridge:g}"
    )


# -- bounds on coefficients -------------------------------------------------------------------------------


def some_bounds(random: Random, n: int) -> CoefficientBounds:
    """Return bounds: of signs, the same for all, or any mixture of tight, wide and no bounds."""
    kind = random.choice(["positive", "signs", "narrow", "mixed"])
    if kind == "narrow":
        most = float(random.choice([0.01, 0.2, 1.0]))
        return CoefficientBounds(np.full(n, -most * random.integers(2)), np.full(n, most))
    ends = [0.0, np.inf] if kind == "signs" else [0.0, 0.01, 0.1, 0.5, 3.0, 1e3, np.inf]
    lower, upper = -random.choice(ends, n), random.choice(ends, n)
    if kind == "positive":
        lower, upper = np.zeros(n), np.full(n, np.inf)
    return CoefficientBounds(lower, upper)


def bounded_regression(random: Random, n: int, edges: Edges) -> Objective:
    """Return least squares with bounds on coefficients, perhaps with columns that are multiples of others."""
    samples = int(random.choice([max(2, n // 2), n + 3, 40]))
    X = random.standard_normal((samples, n)) + random.choice([0.0, 1.0]) * random.standard_normal(
        (samples, 1)
    )
    for first, second in random.integers(0, n, (2 * (random.random() < 0.4), 2)):
        X[:, first] = X[:, second] * random.choice([1.0, -2.0, 1e3])
    if random.random() < 0.3:
        X = X * 10.0 ** random.integers(-1, 2, n)
    y = X @ (random.standard_normal(n) * (random.random(n) < 0.5))
    y = y + random.choice([0.1, 2.0]) * random.standard_normal(samples)
    ridge = float(random.choice([0.0, 0.0, 1e-3, 1.0])) * samples
    bounds = some_bounds(random, n)
    what = f"{samples} samples, ridge {ridge:g}, from {bounds.lower} to {bounds.upper}"
    if random.random() < 0.5:
        return Objective("LeastSquares", lambda: sw.LeastSquares(X, y, ridge, bounds=bounds), what)
    plain = partial(BoundedLeastSquares, X, y, ridge, bounds.lower, bounds.upper)
    return Objective("bounded LeastSquares", plain, what)


def bounded_logistic(random: Random, n: int, edges: Edges) -> Objective:
    """Return a logistic regression with a ridge and bounds on coefficients."""
    X = random.standard_normal((30, n)) + random.choice([0.0, 1.0]) * random.standard_normal((30, 1))
    signs = np.sign(X @ random.standard_normal(n) + random.standard_normal(30))
    ridge, bounds = float(random.choice([0.01, 0.3])), some_bounds(random, n)
    what = f"ridge {ridge:g}, from {bounds.lower} to {bounds.upper}"
    return Objective("bounded Logistic", lambda: BoundedLogistic(X, signs, ridge, bounds), what)


class BoundedGroups(SeveralResponses):
    """One response, elements with several coefficients, and bounds on these."""

    def __init__(
        self, A: FloatArray, y: FloatArray, ridge: float, groups: Groups, bounds: CoefficientBounds
    ) -> None:
        super().__init__(A, y, ridge, groups)
        self.bounds = bounds

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        rows = rows_of(self, support)
        assert self.bounds is not None
        ends = (end[rows] for end in self.bounds.ends)
        coef = glm.box_maximum(self._H[np.ix_(rows, rows)], self._B[rows], *ends)[0]
        return self.value_at(embed(self, support, coef)), coef


def bounded_groups(random: Random, n: int, edges: Edges) -> Objective:
    """Return a regression with bounds, some of whose elements have more than one column."""
    A = random.standard_normal((30, n + 2))
    y = A @ random.standard_normal(n + 2) + random.standard_normal(30)
    ridge, bounds = float(random.choice([0.0, 1.0])), some_bounds(random, n + 2)
    groups = read_groups([*range(n), *random.integers(0, n, 2).tolist()], n + 2)[0]
    what = f"ridge {ridge:g}, from {bounds.lower} to {bounds.upper}"
    return Objective("bounded groups", lambda: BoundedGroups(A, y, ridge, groups, bounds), what)


#: How often each kind is drawn
KINDS: dict[Builder, int] = {
    instances.least_squares: 24,
    hard_regression: 16,
    instances.group_least_squares: 6,
    instances.logistic: 5,
    offset_logistic: 4,
    instances.poisson: 4,
    offset_poisson: 4,
    gamma: 5,
    negative_binomial: 4,
    instances.multinomial: 4,
    instances.ising: 6,
    instances.coverage: 3,
    instances.facility_location: 3,
    instances.linear: 3,
    instances.custom_set_function: 3,
    instances.custom_objective: 3,
    quadratic: 6,
    second_order_model: 4,
    several_responses: 5,
    bounded_regression: 16,
    bounded_logistic: 3,
    bounded_groups: 4,
}
#: Those that make do without any element
PLAIN = (instances.coverage, instances.linear, instances.facility_location, instances.custom_set_function)
#: Those that need three columns to spoil
WIDE = (
    instances.least_squares,
    instances.logistic,
    instances.poisson,
    instances.multinomial,
    instances.custom_objective,
)
#: Those whose values take microseconds, so that there can be thousands
QUICK = (instances.least_squares, hard_regression, quadratic, instances.coverage, instances.facility_location)
