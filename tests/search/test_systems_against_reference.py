"""The fast search beyond one matroid against the plain reference, move by move, and against brute force."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.local_search import best_singleton_start
from benchmarks.reference.systems import reachable, system_search
from swapwise import (
    BMatching,
    Coverage,
    Graphic,
    Intersection,
    LeastSquares,
    NonOblivious,
    Partition,
    SetPacking,
    Status,
    Uniform,
    maximize,
)
from swapwise.graphs import IsingPseudoLikelihood
from swapwise.moves import MoveList
from swapwise.paper.instances import paper_regression
from swapwise.paper.plain.ising import PlainIsing
from swapwise.paper.plain.least_squares import PlainLeastSquares
from swapwise.paper.plain.search import arbitrary_start

N = 8
VARIANTS = ["oblivious", "semi-oblivious", "non-oblivious"]
EXCHANGE, MATROIDS = "exchange system", "matroid intersection"
EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4)]
HALVES = Partition([0, 0, 0, 0, 1, 1, 1, 1], 2)
COLUMNS = Partition([0, 1, 2, 3, 0, 1, 2, 3], 1)
TRIPLES = [(0, 1, 2), (2, 3, 4), (4, 5, 0), (1, 3, 5), (6, 0), (1, 6, 7), (7, 4), (2, 7, 5)]

# Name: the constraint, its p, and which definition of q-reachability it goes by.
SYSTEMS = {
    "matching": (BMatching(EDGES, 1), 2, EXCHANGE),
    "2-matching": (BMatching(EDGES, 2), 2, EXCHANGE),
    "degrees": (BMatching(EDGES, {0: 2, 1: 1, 2: 3, 3: 1, 4: 2}), 2, EXCHANGE),
    "two partitions": (Intersection(HALVES, COLUMNS), 2, EXCHANGE),
    "three partitions": (
        Intersection(HALVES, COLUMNS, Partition([0, 1, 1, 0, 2, 2, 0, 1], 1)),
        3,
        EXCHANGE,
    ),
    "triples": (SetPacking(TRIPLES), 3, EXCHANGE),
    "forest of columns": (Intersection(Graphic(EDGES), COLUMNS), 2, MATROIDS),
    "forest of three": (Intersection(Graphic(EDGES), COLUMNS, Uniform(N, 3)), 3, MATROIDS),
}


INDEPENDENT = {
    name: {S for k in range(N + 1) for S in combinations(range(N), k) if constraint.is_independent(S)}
    for name, (constraint, _, _) in SYSTEMS.items()
}


def oracle_of(name):
    return lambda S: tuple(S) in INDEPENDENT[name]


class Remembered:
    """A plain objective that refits every set once: a search visits the same ones again and again."""

    def __init__(self, plain):
        self._value, self._coef, self.gradient = cache(plain.value), cache(plain.coef), plain.gradient

    def value(self, S):
        return self._value(tuple(sorted(S)))

    def coef(self, S):
        return self._coef(tuple(sorted(S)))


@st.composite
def regressions(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.standard_normal((14, N))
    if draw(st.booleans()):
        X += 2 * rng.standard_normal((14, 1))  # correlated columns: more exchanges
    y = X[:, :4] @ rng.standard_normal(4) + rng.standard_normal(14)
    ridge = draw(st.sampled_from([0.0, 1.0]))
    return LeastSquares(X, y, ridge), Remembered(PlainLeastSquares(X, y, ridge))


@cache  # a few models for all tests: what the plain one refits is remembered from test to test
def graphical_model(seed):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((40, 5)) @ rng.standard_normal((5, 5))
    # Without noise many pairs agree equally often, and rounding breaks the ties.
    spins = np.sign(latent) * (1 + 0.1 * rng.standard_normal((40, 5)))
    options = {"ridge": [0.02, 0.2][seed % 2], "fields": seed % 4 >= 2, "edges": EDGES}
    return IsingPseudoLikelihood(spins, **options), Remembered(PlainIsing(spins, **options))


OBJECTIVES = {"least squares": regressions(), "ising": st.integers(0, 11).map(graphical_model)}
problems = st.one_of(*OBJECTIVES.values())


def constants(objective):
    """Return the M that the objective claims for one move."""

    @cache
    def of_move(dropped, added):
        move = MoveList(np.array([added], dtype=np.intp), np.array([dropped], dtype=np.intp))
        return float(objective.start(dropped).move_smoothness(move)[0])

    return of_move


def plain_start(start, plain, oracle):
    if start == "arbitrary":
        return arbitrary_start(oracle, N)
    return best_singleton_start(plain, oracle, N) if start == "best-singleton" else set()


def check_same_path(problem, name, variant, q, start, epsilon=None, smoothness="move"):
    objective, plain = problem
    constraint, p, kind = SYSTEMS[name]
    M = constants(objective) if smoothness == "move" else objective.smoothness(constraint.exchange_size(q))
    expected = system_search(
        plain,
        oracle_of(name),
        N,
        p,
        q,
        kind,
        variant,
        plain_start(start, plain, oracle_of(name)),
        200,
        M=M,
        epsilon=epsilon,
        s=constraint.max_size(),
        tol=1e-9,
        dominated=False,
    )
    method = NonOblivious(smoothness) if variant == "non-oblivious" else variant
    result = maximize(objective, constraint, method, q=q, start=start, epsilon=epsilon, tol=1e-9)
    made = [event for event in result.history if event.strategy == variant]
    moves = [(event.added, event.dropped) for event in made]
    assert moves == [(added, dropped) for added, dropped, _ in expected.trace]
    values = [event.value for event in made]
    np.testing.assert_allclose(values, [value for *_, value in expected.trace], atol=1e-9)
    assert result.support.tolist() == sorted(expected.support)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=30)
@given(data=st.data())
def test_neighbourhoods_equal_the_definition(name, q, data):
    constraint, p, kind = SYSTEMS[name]
    X = data.draw(st.sampled_from(sorted(INDEPENDENT[name])))
    listed = [
        (move.added, move.dropped)
        for batch in constraint.moves(np.array(X, dtype=np.intp), q)
        for move in batch.to_list().moves()
    ]
    assert listed == reachable(set(X), oracle_of(name), N, p, q, kind, dominated=False)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=8)
@given(data=st.data(), start=st.sampled_from(["empty", "arbitrary"]))
def test_same_moves_as_the_reference(objective, name, q, variant, data, start):
    check_same_path(data.draw(OBJECTIVES[objective]), name, variant, q, start)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=8)
@given(
    problem=problems,
    start=st.sampled_from(["best-singleton", "arbitrary"]),
    epsilon=st.sampled_from([0.01, 0.3]),
)
def test_same_moves_under_the_geometric_rule(name, q, variant, problem, start, epsilon):
    check_same_path(problem, name, variant, q, start, epsilon)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=8)
@given(problem=problems, start=st.sampled_from(["empty", "arbitrary"]))
def test_same_moves_with_one_smoothness_for_all(name, q, problem, start):
    check_same_path(problem, name, "non-oblivious", q, start, smoothness="global")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=8)
@given(problem=problems, start=st.sampled_from(["empty", "arbitrary", "greedy", "modular"]))
def test_every_set_on_the_way_is_independent_and_the_trace_rises(name, q, variant, problem, start):
    objective, _ = problem
    result = maximize(objective, SYSTEMS[name][0], variant, q=q, start=start)
    assert all(tuple(event.support.tolist()) in INDEPENDENT[name] for event in result.history)
    assert np.all(np.diff([event.value for event in result.history]) > 0)
    assert result.value == pytest.approx(objective(result.support), abs=1e-9)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=8)
@given(problem=problems, start=st.sampled_from(["empty", "arbitrary"]))
def test_a_local_optimum_has_no_improving_neighbour(name, q, problem, start):
    objective, plain = problem
    constraint, p, kind = SYSTEMS[name]
    result = maximize(objective, constraint, "oblivious", q=q, start=start)
    assert result.status == Status.LOCAL_OPTIMUM
    chosen = set(result.support.tolist())
    values = [
        plain.value(chosen - set(dropped) | set(added))
        for added, dropped in reachable(chosen, oracle_of(name), N, p, q, kind)
    ]
    assert max(values) <= result.value + 1e-8


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(10))
def test_no_search_stops_while_something_can_be_added(seed, variant):
    """Columns of equal length make bounds equal up to rounding, which must not count as worse."""
    rng = np.random.default_rng(seed)
    instance = paper_regression(40, random_state=rng)
    constraint = Intersection(*(Partition(rng.integers(5, size=40), 2) for _ in range(3)))
    result = maximize(LeastSquares(instance.X, instance.y), constraint, variant)
    assert result.status == Status.LOCAL_OPTIMUM
    assert not constraint.addable(result.support).any()


@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=8)
@given(problem=problems)
def test_exhaustive_search_sees_all_independent_sets(name, problem):
    objective, plain = problem
    best = max(plain.value(S) for S in INDEPENDENT[name])
    assert maximize(objective, SYSTEMS[name][0], "exhaustive").value == pytest.approx(best, abs=1e-9)


# -- Theorem 12 ------------------------------------------------------------------------------------


def partitions(n):
    labels = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    return st.builds(Partition, labels, st.integers(1, 2))


@st.composite
def matchings(draw, n):
    pairs = st.sampled_from(list(combinations(range(5), 2)))
    return BMatching(draw(st.lists(pairs, min_size=n, max_size=n)), draw(st.integers(1, 2)))


@st.composite
def packings(draw, n):
    sets = st.frozensets(st.integers(0, 6), min_size=1, max_size=3)
    return SetPacking(draw(st.lists(sets, min_size=n, max_size=n)))


@st.composite
def intersections(draw, n):
    return Intersection(*draw(st.lists(partitions(n), min_size=2, max_size=3)))


@st.composite
def intersections_with_forests(draw, n):
    pairs = st.sampled_from(list(combinations(range(4), 2)))
    forest = Graphic(draw(st.lists(pairs, min_size=n, max_size=n)))
    return Intersection(forest, *draw(st.lists(partitions(n), min_size=1, max_size=2)))


@st.composite
def coverage_under_a_system(draw, n=7):
    family = draw(st.sampled_from([matchings, packings, intersections, intersections_with_forests]))
    items = st.frozensets(st.integers(0, 9), max_size=5)
    return Coverage(draw(st.lists(items, min_size=n, max_size=n))), draw(family(n))


@settings(max_examples=400)
@given(coverage_under_a_system(), st.integers(1, 2), st.sampled_from(["empty", "arbitrary"]))
def test_local_optima_of_coverage_keep_the_ratio(problem, q, start):
    """Theorem 12 with (α, β₁, β₂) = (1, 1, 1): at least 1 / (p + 1/q) of the optimum."""
    objective, constraint = problem
    best = maximize(objective, constraint, "exhaustive").value
    found = maximize(objective, constraint, "oblivious", q=q, start=start).value
    assert found >= best / (constraint.p + 1 / q) - 1e-9


@settings(max_examples=200)
@given(coverage_under_a_system(), st.integers(1, 2), st.sampled_from([0.05, 0.5]))
def test_the_geometric_rule_loses_at_most_epsilon(problem, q, epsilon):
    """Theorem 12's proof with every exchange below δ f(X): f(X*) ≤ (p + 1/q + ε) f(X)."""
    objective, constraint = problem
    best = maximize(objective, constraint, "exhaustive").value
    found = maximize(objective, constraint, "oblivious", q=q, epsilon=epsilon).value
    assert found >= best / (constraint.p + 1 / q + epsilon) - 1e-9
