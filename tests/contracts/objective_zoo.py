"""Small random instances of every objective, for the contract tests.

To put a new objective under contract, write a strategy that makes small instances of it (degenerate
ones included) and append a ``Kind`` to ``ZOO``. Keep the numbers in it few and simple: then two gains are
either apart by far more than ``tolerance`` or equal up to rounding, and it is clear which moves tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from swapwise import (
    AOptimal,
    Coverage,
    CustomObjective,
    CustomSetFunction,
    FacilityLocation,
    Gamma,
    LeastSquares,
    Linear,
    Logistic,
    Multinomial,
    NegativeBinomial,
    Poisson,
)
from swapwise.graphs import GaussianPseudoLikelihood, IsingPseudoLikelihood, MixedPseudoLikelihood
from swapwise.moves import NOTHING, Move, MoveList, SwapGrid
from swapwise.objectives.base import SetFunction

MAX_N = 5

# Zeros and equal values are frequent, and 0.1 + 0.2 ties with 0.3 only up to rounding.
SIMPLE = (0.0, 0.1, 0.2, 0.3, 1.0, 2.5)


@dataclass(frozen=True)
class Kind:
    """A kind of objective: how to draw one, and what is known about all of them."""

    name: str
    instances: st.SearchStrategy[SetFunction]
    submodular: bool = False
    tolerance: float = 1e-10


def simple_numbers(*shape: int) -> st.SearchStrategy[np.ndarray]:
    size = math.prod(shape)
    numbers = st.lists(st.sampled_from(SIMPLE), min_size=size, max_size=size)
    return numbers.map(lambda values: np.array(values, dtype=float).reshape(shape))


def linear() -> st.SearchStrategy[SetFunction]:
    return st.integers(0, MAX_N).flatmap(simple_numbers).map(Linear)


@st.composite
def coverage(draw: st.DrawFn) -> SetFunction:
    items = "abcdef"
    sets = draw(st.lists(st.frozensets(st.sampled_from(items), max_size=4), max_size=MAX_N))
    weights = draw(st.none() | simple_numbers(len(items)).map(lambda w: dict(zip(items, w, strict=True))))
    return Coverage(sets, weights)


@st.composite
def facility_location(draw: st.DrawFn) -> SetFunction:
    shape = draw(st.tuples(st.integers(0, 5), st.integers(0, MAX_N)))
    return FacilityLocation(draw(simple_numbers(*shape)))


@st.composite
def a_optimal(draw: st.DrawFn) -> SetFunction:
    """Few simple experiments, with a weak or a strong prior: useless and repeated ones are frequent."""
    shape = draw(st.tuples(st.integers(0, MAX_N), st.integers(1, 3)))
    prior = draw(st.sampled_from([1e-4, 1.0, np.diag([1.0, 2.0, 4.0])[: shape[1], : shape[1]]]))
    return AOptimal(draw(simple_numbers(*shape)), prior, draw(st.sampled_from([0.5, 1.0])))


# Monotone functions of a sum of weights: concave, convex, and neither.
SHAPES: tuple[Callable[[float], float], ...] = (np.sqrt, np.square, np.ceil)


@st.composite
def custom(draw: st.DrawFn) -> SetFunction:
    n = draw(st.integers(0, MAX_N))
    weights, shape, offset = (
        draw(simple_numbers(n)),
        draw(st.sampled_from(SHAPES)),
        draw(st.sampled_from([0, -7])),
    )
    # Rounded, since a step or a root makes much of an accident in the last digit of its argument.
    return CustomSetFunction(lambda chosen: offset + shape(round(weights[chosen].sum(), 6)), n)


@st.composite
def least_squares(draw: st.DrawFn) -> SetFunction:
    """Few samples and simple numbers: zero, repeated and collinear columns are frequent."""
    samples, n = draw(st.integers(1, 5)), draw(st.integers(1, MAX_N))
    X, y = draw(simple_numbers(samples, n)), draw(simple_numbers(samples).filter(np.any))
    weight = draw(st.none() | st.just(np.linspace(0.5, 2.0, samples)))
    return LeastSquares(X - draw(st.sampled_from([0.0, 1.0])), y, draw(st.sampled_from([0.0, 0.5])), weight)


@st.composite
def ising(draw: st.DrawFn) -> SetFunction:
    """Few vertices and samples, with a ridge that keeps couplings finite; equal vertices are frequent.

    In half of them some entries are missing, though none of the last sample.
    """
    samples, vertices = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    signs = draw(masks(samples * vertices)).reshape(samples, vertices)
    fields, weight = draw(st.booleans()), draw(st.none() | st.just(np.linspace(0.0, 2.0, samples)))
    spins = np.where(signs, 1.0, -1.0)
    if draw(st.booleans()):
        spins[:-1][draw(masks((samples - 1) * vertices)).reshape(samples - 1, vertices)] = np.nan
    return IsingPseudoLikelihood(spins, 0.1, fields, sample_weight=weight)


@st.composite
def gaussian(draw: st.DrawFn) -> SetFunction:
    """Few vertices and samples: constant, repeated and collinear variables are frequent."""
    samples, vertices = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    weight = draw(st.none() | st.just(np.linspace(0.5, 2.0, samples)))
    diagonal = draw(st.none() | st.just(np.linspace(0.5, 2.0, vertices)))
    X, ridge = draw(simple_numbers(samples, vertices)), draw(st.sampled_from([0.0, 0.1]))
    return GaussianPseudoLikelihood(X, ridge, diagonal=diagonal, sample_weight=weight)


@st.composite
def mixed(draw: st.DrawFn) -> SetFunction:
    """Columns of any family, constant ones among them; in half of the instances some entries are missing."""
    samples, vertices = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    families = draw(
        st.lists(st.sampled_from(["binary", "gaussian", "counts"]), min_size=vertices, max_size=vertices)
    )
    numbers = draw(simple_numbers(samples, vertices))
    signs = draw(masks(samples * vertices)).reshape(samples, vertices)
    columns = {"binary": np.where(signs, 1.0, -1.0), "gaussian": numbers, "counts": np.round(2 * numbers)}
    X = np.column_stack([columns[family][:, v] for v, family in enumerate(families)])
    if draw(st.booleans()):
        X[:-1][draw(masks((samples - 1) * vertices)).reshape(samples - 1, vertices)] = np.nan
    weight = draw(st.none() | st.just(np.linspace(0.0, 2.0, samples)))
    return MixedPseudoLikelihood(X, families, 0.1, sample_weight=weight)


def some_bounds(n: int) -> st.SearchStrategy[list[tuple[float | None, float | None]]]:
    """Lower and upper ends of n coefficients; those that are fixed at zero, or free, are frequent."""
    pairs = st.tuples(st.sampled_from([0.0, -0.1, None]), st.sampled_from([None, 0.2, 0.0]))
    return st.lists(pairs, min_size=n, max_size=n)


@st.composite
def custom_objective(draw: st.DrawFn, *, bounded: bool = False) -> SetFunction:
    """Robust regression by a smooth loss, with and without its Hessian."""
    samples, n = draw(st.integers(1, 5)), draw(st.integers(0, MAX_N))
    X, y = draw(simple_numbers(samples, n)), draw(simple_numbers(samples))

    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        r = y - X @ w
        return float(-np.hypot(1.0, r).sum() - 0.1 * w @ w), X.T @ (r / np.hypot(1.0, r)) - 0.2 * w

    def hessian(w: np.ndarray) -> np.ndarray:
        return -(X.T * np.hypot(1.0, y - X @ w) ** -3) @ X - 0.2 * np.eye(n)

    known = draw(st.sampled_from([None, hessian]))
    bounds = draw(some_bounds(n)) if bounded else None
    constants = {"smoothness": 100.0, "strong_concavity": 0.2}
    return CustomObjective(value_and_grad, n, hessian=known, bounds=bounds, **constants)


@st.composite
def generalized_linear(
    draw: st.DrawFn, kind: type[SetFunction], *, grouped: bool, bounded: bool = False
) -> SetFunction:
    """Few samples and simple numbers, with a ridge; equal columns are frequent."""
    samples = draw(st.integers(3, 6))
    columns = draw(st.integers(1, MAX_N - 1))
    X = draw(simple_numbers(samples, columns))
    if kind is Multinomial:
        y = [0, 1, 2, *draw(st.lists(st.integers(0, 2), min_size=samples - 3, max_size=samples - 3))]
    else:
        y = [1, *draw(st.lists(st.integers(0, 1), min_size=samples - 1, max_size=samples - 1))]
        y[1] = 0
    if kind is Gamma:
        y = [0.5 + value for value in y]
    options: dict[str, object] = {"ridge": draw(st.sampled_from([0.05, 0.5]))}
    if kind is not LeastSquares:
        options["fit_intercept"] = draw(st.booleans())
    if kind in (Logistic, Poisson, Gamma, NegativeBinomial):
        options["offset"] = draw(st.none() | simple_numbers(samples))
    if grouped:
        options["groups"] = draw(st.lists(st.sampled_from("abc"), min_size=columns, max_size=columns))
    if bounded:
        options["bounds"], options["positive"] = draw(some_bounds(columns)), draw(st.booleans())
    weight = draw(st.none() | st.just(np.linspace(0.5, 2.0, samples)))
    return kind(X, y, sample_weight=weight, **options)


def several_coefficients() -> st.SearchStrategy[SetFunction]:
    """Groups of columns, classes, and both at once."""
    return st.one_of(
        generalized_linear(Logistic, grouped=True),
        generalized_linear(Multinomial, grouped=False),
        generalized_linear(Multinomial, grouped=True),
        generalized_linear(LeastSquares, grouped=True),
    )


def within_bounds() -> st.SearchStrategy[SetFunction]:
    """Likelihoods whose coefficients have bounds, of columns and of groups."""
    kinds = (Logistic, Poisson, Gamma, NegativeBinomial)
    return st.one_of(
        *(generalized_linear(kind, grouped=False, bounded=True) for kind in kinds),
        generalized_linear(Logistic, grouped=True, bounded=True),
    )


ZOO = [
    Kind("linear", linear(), submodular=True),
    Kind("coverage", coverage(), submodular=True),
    Kind("facility location", facility_location(), submodular=True),
    Kind("a-optimal", a_optimal(), tolerance=1e-7),
    Kind("custom", custom()),
    Kind("least squares", least_squares(), tolerance=1e-7),
    Kind("ising", ising(), tolerance=1e-7),
    Kind("gaussian", gaussian(), tolerance=1e-7),
    Kind("mixed graph", mixed(), tolerance=1e-7),
    Kind("custom objective", custom_objective(), tolerance=1e-7),
    Kind("logistic", generalized_linear(Logistic, grouped=False), tolerance=1e-7),
    Kind("poisson", generalized_linear(Poisson, grouped=False), tolerance=1e-7),
    Kind("gamma", generalized_linear(Gamma, grouped=False), tolerance=1e-7),
    Kind("negative binomial", generalized_linear(NegativeBinomial, grouped=False), tolerance=1e-7),
    Kind("several coefficients an element", several_coefficients(), tolerance=1e-7),
    Kind("likelihoods within bounds", within_bounds(), tolerance=1e-7),
    Kind("custom objective within bounds", custom_objective(bounded=True), tolerance=1e-7),
]


def subsets(n: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(n + 1) for chosen in combinations(range(n), size)]


def masks(size: int) -> st.SearchStrategy[np.ndarray]:
    return st.integers(0, 2**size - 1).map(
        lambda bits: np.array([bits >> j & 1 for j in range(size)], dtype=bool)
    )


def supports(n: int) -> st.SearchStrategy[np.ndarray]:
    return masks(n).map(np.flatnonzero)


def sub_arrays(elements: np.ndarray) -> st.SearchStrategy[np.ndarray]:
    return supports(len(elements)).map(lambda chosen: elements[chosen])


def outside(n: int, support: np.ndarray) -> np.ndarray:
    return np.setdiff1d(np.arange(n), support)


@st.composite
def grids(draw: st.DrawFn, n: int, support: np.ndarray) -> SwapGrid:
    """Any mask at all, but for elements that are already in; usually all of the support can be dropped."""
    drops = draw(st.just(support) | sub_arrays(support))
    shape = (n, len(drops) + 1)
    feasible = draw(masks(shape[0] * shape[1])).reshape(shape)
    feasible[support] = False
    return SwapGrid(drops, feasible)


@st.composite
def lists_of_swaps(draw: st.DrawFn, n: int, support: np.ndarray) -> MoveList:
    """Swaps, additions, drops and moves that do nothing, in any order; an empty column may be left out."""
    added = st.sampled_from([NOTHING, *outside(n, support).tolist()])
    dropped = st.sampled_from([NOTHING, *support.tolist()])
    rows = draw(st.lists(st.tuples(added, dropped), max_size=8))
    columns = np.array(rows, dtype=np.intp).reshape(-1, 2)
    return MoveList(*(_maybe_without(draw, columns[:, [side]]) for side in (0, 1)))


def _maybe_without(draw: st.DrawFn, column: np.ndarray) -> np.ndarray:
    return column[:, :0] if (column == NOTHING).all() and draw(st.booleans()) else column


@st.composite
def moves(draw: st.DrawFn, n: int, support: np.ndarray) -> Move:
    """Any move at all: some of what is outside comes in, some of what is inside goes out."""
    added, dropped = draw(sub_arrays(outside(n, support))), draw(sub_arrays(support))
    return Move(tuple(added.tolist()), tuple(dropped.tolist()))


@st.composite
def lists_of_moves(draw: st.DrawFn, n: int, support: np.ndarray) -> MoveList:
    """Moves of all sizes, padded to the largest and a bit beyond."""
    chosen = draw(st.lists(moves(n, support), max_size=6))
    padding = draw(st.integers(0, 1))
    return MoveList(
        _padded([move.added for move in chosen], padding), _padded([move.dropped for move in chosen], padding)
    )


def _padded(rows: list[tuple[int, ...]], padding: int) -> np.ndarray:
    width = max(map(len, rows), default=0) + padding
    filled = [[*row, *[NOTHING] * (width - len(row))] for row in rows]
    return np.array(filled, dtype=np.intp).reshape(len(rows), width)
