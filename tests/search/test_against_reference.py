"""The fast search against the plain reference, move by move, and against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.local_search import (
    _non_oblivious,
    _oblivious,
    _semi_oblivious,
    best_singleton_start,
    local_search,
    neighbourhood,
)
from benchmarks.reference.simple import exhaustive, greedy
from swapwise import (
    Graphic,
    Laminar,
    LeastSquares,
    LinearMatroid,
    NonOblivious,
    OracleMatroid,
    Partition,
    Status,
    Transversal,
    Uniform,
    maximize,
)
from swapwise.paper.plain.least_squares import PlainLeastSquares
from swapwise.paper.plain.search import arbitrary_start, modular

N = 8
MATROIDS = {
    "uniform": Uniform(N, 3),
    "partition": Partition([0, 0, 0, 1, 1, 1, 2, 2], 1),
    "laminar": Laminar(N, [([0, 1, 2], 1), ([3, 4], 1), (range(6), 2)]),
    "graphic": Graphic([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (0, 1), (3, 4), (4, 4)]),
    "transversal": Transversal(N, [[0, 1, 2], [2, 3, 4], [4, 5, 6, 7]]),
    "linear": LinearMatroid(np.random.default_rng(0).integers(-1, 2, size=(3, N))),
    "oracle": OracleMatroid(N, lambda S: len(S) <= 3 and (S < 2).sum() <= 1),
    "minor": Uniform(N, 4).contract([2]).restrict([0, 1, 2, 3, 4, 5]).truncate(3),
}
WITHOUT_FORCED = [name for name, matroid in MATROIDS.items() if not len(matroid.forced)]
VARIANTS = ["oblivious", "semi-oblivious", "non-oblivious"]


@st.composite
def regressions(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.standard_normal((12, N))
    if draw(st.booleans()):
        X += 2 * rng.standard_normal((12, 1))  # correlated columns: more swaps
    ridge = draw(st.sampled_from([0.0, 1.0]))
    return X, X[:, :4] @ rng.standard_normal(4) + rng.standard_normal(12), ridge


def pair_smoothness(X, y, ridge):
    gram = (X.T @ X + ridge * np.eye(N)) * 2 / (y @ y)

    def largest_eigenvalue(dropped, added):
        block = [added] if dropped is None else [added, dropped]
        return np.linalg.eigvalsh(gram[np.ix_(block, block)])[-1]

    return largest_eigenvalue


def after_start(result):
    """The moves that the method itself made."""
    return [event for event in result.history if event.strategy == result.strategies[-1].name]


def as_moves(result):
    return [(*event.added, event.dropped[0] if event.dropped else None) for event in after_start(result)]


def plain_start(start, plain, oracle, forced):
    if start == "arbitrary":
        return arbitrary_start(oracle, N, forced)
    return best_singleton_start(plain, oracle, N) if start == "best-singleton" else set(forced)


def check_same_path(problem, matroid, variant, start, epsilon=None, smoothness="move"):
    X, y, ridge = problem
    plain = PlainLeastSquares(X, y, ridge)
    objective = LeastSquares(X, y, ridge)
    oracle = matroid.is_independent
    constant = {"move": pair_smoothness(X, y, ridge), "global": objective.smoothness(2)}.get(
        smoothness, smoothness
    )
    method = NonOblivious(smoothness) if variant == "non-oblivious" else variant
    expected = local_search(
        plain,
        oracle,
        N,
        variant,
        plain_start(start, plain, oracle, matroid.forced.tolist()),
        200,
        M=constant,
        epsilon=epsilon,
        tol=1e-10,
        needless_drops=False,
    )
    result = maximize(objective, matroid, method, start=start, epsilon=epsilon)
    assert as_moves(result) == [(added, dropped) for added, dropped, _ in expected.trace]
    np.testing.assert_allclose(
        [event.value for event in after_start(result)], [value for *_, value in expected.trace], atol=1e-10
    )
    assert result.support.tolist() == sorted(expected.support)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", MATROIDS)
@settings(max_examples=25)
@given(problem=regressions(), start=st.sampled_from(["empty", "arbitrary"]))
def test_same_moves_as_the_reference(name, variant, problem, start):
    check_same_path(problem, MATROIDS[name], variant, start)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", WITHOUT_FORCED)
@settings(max_examples=15)
@given(problem=regressions(), epsilon=st.sampled_from([0.01, 0.3]))
def test_same_moves_under_the_geometric_rule(name, variant, problem, epsilon):
    check_same_path(problem, MATROIDS[name], variant, "best-singleton", epsilon)


@pytest.mark.parametrize("smoothness", ["global", 3.0])
@settings(max_examples=25)
@given(problem=regressions(), name=st.sampled_from(["uniform", "partition", "graphic"]))
def test_same_moves_with_one_smoothness_for_all(smoothness, problem, name):
    X, y, _ = problem
    if smoothness == 3.0:  # in units in which every column has length 1 and ‖y‖² is 2
        problem = X / np.linalg.norm(X, axis=0), np.sqrt(2) * y / np.linalg.norm(y), 0.0
    check_same_path(problem, MATROIDS[name], "non-oblivious", "empty", smoothness=smoothness)


@pytest.mark.parametrize("name", WITHOUT_FORCED)
@settings(max_examples=20)
@given(problem=regressions())
def test_other_methods_equal_the_reference(name, problem):
    X, y, ridge = problem
    matroid, plain, objective = MATROIDS[name], PlainLeastSquares(X, y, ridge), LeastSquares(X, y, ridge)
    oracle = matroid.is_independent
    assert maximize(objective, matroid, "greedy").support.tolist() == sorted(greedy(plain, oracle, N).support)
    assert maximize(objective, matroid, "modular").support.tolist() == sorted(
        modular(plain, oracle, N).support
    )
    best = exhaustive(plain, oracle, N)
    assert maximize(objective, matroid, "exhaustive").value == pytest.approx(best.value, abs=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", MATROIDS)
@settings(max_examples=20)
@given(problem=regressions(), start=st.sampled_from(["empty", "arbitrary", "greedy", "modular"]))
def test_every_set_on_the_way_is_independent_and_the_trace_rises(name, variant, problem, start):
    X, y, ridge = problem
    matroid, objective = MATROIDS[name], LeastSquares(X, y, ridge)
    result = maximize(objective, matroid, variant, start=start)
    values = [event.value for event in result.history]
    assert all(matroid.is_independent(event.support) for event in result.history)
    assert np.all(np.diff(values) > 0)
    assert result.value == pytest.approx(objective(result.support), abs=1e-12)
    assert set(matroid.forced) <= set(result.support)


def best_score(variant, plain, chosen, pairs, M):
    """The best score that a rule gives to any of the pairs, by its definition in the reference."""
    value = plain.value(sorted(chosen))
    if variant == "non-oblivious":
        scored = _non_oblivious(plain, chosen, pairs, M)
    else:
        rule = _oblivious if variant == "oblivious" else _semi_oblivious
        scored = rule(plain, chosen, value, pairs)
    return max(score for _, score in scored)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", MATROIDS)
@settings(max_examples=15)
@given(problem=regressions())
def test_a_local_optimum_has_no_move_that_its_rule_would_take(name, variant, problem):
    matroid, plain = MATROIDS[name], PlainLeastSquares(*problem)
    result = maximize(LeastSquares(*problem), matroid, variant)
    assert result.status == Status.LOCAL_OPTIMUM
    chosen = set(result.support.tolist())
    pairs = neighbourhood(chosen, matroid.is_independent, N, needless_drops=False)
    assert pairs  # otherwise nothing is compared
    assert best_score(variant, plain, chosen, pairs, pair_smoothness(*problem)) <= 1e-9
