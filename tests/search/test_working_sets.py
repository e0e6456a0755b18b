"""Least squares on working sets: what comes out is a local optimum of the whole problem."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from swapwise import (
    BMatching,
    Graphic,
    Intersection,
    Laminar,
    LeastSquares,
    OracleMatroid,
    Partition,
    SetPacking,
    Status,
    Transversal,
    Uniform,
    maximize,
)
from swapwise.clock import Clock, OutOfTime
from swapwise.paper.plain import PlainLeastSquares
from swapwise.search import working_sets


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **kwargs)


def some_edges(rng, n):
    vertices = max(3, n // 3)
    return [tuple(rng.permutation(vertices)[:2].tolist()) for _ in range(n)]


MATROIDS = {
    "uniform": lambda rng, n: Uniform(n, int(rng.integers(1, 5))),
    "partition": lambda rng, n: Partition(rng.integers(0, 4, n), int(rng.integers(1, 3))),
    "laminar": lambda rng, n: Laminar(n, [(range(n // 3), 1), (range(n // 2), 2), (range(n), 4)]),
    "truncated": lambda rng, n: Partition(np.arange(n) % 5, 1).truncate(int(rng.integers(1, 5))),
    "restricted": lambda rng, n: Uniform(n, 3).restrict(np.flatnonzero(rng.random(n) < 0.6)),
    "graphic": lambda rng, n: Graphic(some_edges(rng, n)).truncate(4),
    "oracle": lambda rng, n: OracleMatroid(n, lambda s: len(s) <= 3 and (s % 4 == 0).sum() <= 1),
}


def some_matroid(rng, n, kind):
    matroid = MATROIDS[kind](rng, n)
    if rng.random() < 0.3:
        matroid = matroid.contract(matroid.random_set(np.empty(0, dtype=np.intp), rng)[:2])
    return matroid


def assert_local_optimum(plain, matroid, result, slack):
    """Refit for every addition and swap; to drop what is forced in is no move."""
    support = result.support
    assert matroid.is_independent(support)
    assert np.isin(matroid.forced, support).all()
    assert result.value == pytest.approx(plain.value(support), abs=1e-9)
    for added in np.setdiff1d(np.arange(matroid.n), support):
        for kept in [support, *(support[support != e] for e in np.setdiff1d(support, matroid.forced))]:
            other = np.union1d(kept, [added])
            if matroid.is_independent(other):
                assert plain.value(other) <= result.value + slack


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.sampled_from(list(MATROIDS)), st.integers(1, 4))
def test_no_move_of_the_whole_problem_improves_the_answer(seed, kind, layers):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 31))
    X, y = rng.standard_normal((12, n)), rng.standard_normal(12)
    ridge = float(rng.choice([0.0, 0.3]))
    matroid = some_matroid(rng, n, kind)
    objective = LeastSquares(X, y, ridge)
    with patch.object(working_sets, "FIRST_BASES", layers):
        result = maximize(objective, matroid, start="model")
        again = maximize(LeastSquares(X, y, ridge), matroid, start="model")
    assert result.status is Status.LOCAL_OPTIMUM
    assert_local_optimum(PlainLeastSquares(X, y, ridge), matroid, result, slack=1e-9)
    assert again.support.tolist() == result.support.tolist()
    assert again.value == result.value


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.sampled_from(list(MATROIDS)))
def test_twins_zeros_and_few_samples_do_no_harm(seed, kind):
    rng = np.random.default_rng(seed)
    n, samples = int(rng.integers(4, 20)), int(rng.integers(2, 8))
    X, y = rng.integers(-2, 3, (samples, n)).astype(float), rng.standard_normal(samples)
    X[:, rng.integers(0, n, 3)] = X[:, rng.integers(0, n, 3)] * rng.choice([0.0, 1.0, -3.0], 3)
    matroid = MATROIDS[kind](rng, n)
    result = quiet(maximize, LeastSquares(X, y), matroid, start="model", time_limit=20)
    assert result.status is Status.LOCAL_OPTIMUM
    assert np.isfinite(result.coef).all()
    assert_local_optimum(PlainLeastSquares(X, y), matroid, result, slack=1e-8)


def forest_of_colours(rng, n):
    forest = Graphic(some_edges(rng, n))
    if rng.random() < 0.3:
        forest = forest.contract(forest.random_set(np.empty(0, dtype=np.intp), rng)[:1])
    return Intersection(forest, Partition(rng.integers(0, 4, n), int(rng.integers(1, 3))))


SYSTEMS = {
    "matching": lambda rng, n: BMatching(some_edges(rng, n), int(rng.integers(1, 3))),
    "packing": lambda rng, n: SetPacking([rng.integers(0, 9, rng.integers(1, 4)).tolist() for _ in range(n)]),
    "partitions": lambda rng, n: Intersection(*(Partition(rng.integers(0, 3, n), 2) for _ in range(2))),
    "forest of colours": forest_of_colours,
    "oracle and posts": lambda rng, n: Intersection(
        OracleMatroid(n, lambda s: len(s) <= 3 and (s % 4 == 0).sum() <= 1),
        Transversal(n, [np.flatnonzero(rng.random(n) < 0.5) for _ in range(3)]),
    ),
}


@pytest.mark.parametrize("degenerate", [False, True])
@pytest.mark.parametrize("kind", SYSTEMS)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_no_move_of_a_system_improves_the_answer(kind, degenerate, seed):
    """Moves of all sizes are refitted, those that add two elements and drop four among them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 15))
    X, y = rng.standard_normal((12, n)), rng.standard_normal(12)
    if degenerate:
        X = rng.integers(-1, 2, (int(rng.integers(3, 12)), n)).astype(float)
        y = rng.standard_normal(len(X))
    system, plain = SYSTEMS[kind](rng, n), PlainLeastSquares(X, y)
    with patch.object(working_sets, "FIRST_BASES", 1):
        result = quiet(maximize, LeastSquares(X, y), system, start="model")
    assert result.status is Status.LOCAL_OPTIMUM
    assert system.is_independent(result.support)
    assert np.isin(system.forced, result.support).all()
    for batch in system.moves(result.support):
        for move in batch.to_list().moves():
            assert plain.value(move.result(result.support)) <= result.value + 1e-8


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([np.float32, np.float64]))
def test_searches_among_near_twins_come_to_an_end(seed, kind):
    # Inner products of near twins are mostly rounding: what one search says of a set, another may deny.
    rng = np.random.default_rng(seed)
    n, samples = int(rng.integers(4, 25)), int(rng.integers(20, 40))
    X = rng.standard_normal((samples, 1)) + 10.0 ** rng.uniform(-5, -2) * rng.standard_normal((samples, n))
    X = X.astype(kind)
    objective, k = LeastSquares(X, rng.standard_normal(samples)), int(rng.integers(1, n))
    result = quiet(maximize, objective, Uniform(n, k), start="model", time_limit=20)
    assert result.status is not Status.TIME_LIMIT
    assert len(result.support) <= k


@pytest.mark.parametrize("start", ["empty", "greedy", "model"])
@pytest.mark.parametrize("factor", [0.0, 1.0])
@pytest.mark.parametrize("n", [8, 300])
def test_forced_elements_stay_though_others_span_them(n, factor, start):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((50, n))
    y = X[:, 2] - X[:, 5] + 0.1 * rng.standard_normal(50)
    X[:, 1] = factor * X[:, 0]
    matroid = Uniform(n, 4).contract([0, 1])
    result = quiet(maximize, LeastSquares(X, y), matroid, start=start)
    assert result.support.tolist() == [0, 1, 2, 5]


@pytest.mark.parametrize("n", [8, 300])
def test_starts_with_columns_that_explain_nothing_keep_within_the_limits(n):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((50, n))
    X[:, 1] = 0.0
    y = X[:, 2] - X[:, 5] + 0.1 * rng.standard_normal(50)
    result = quiet(maximize, LeastSquares(X, y), Uniform(n, 4), start=[1])
    assert {2, 5} <= set(result.support.tolist())
    assert len(result.support) == 4


@pytest.mark.parametrize("n", [8, 300])
@pytest.mark.parametrize("case", ["no room", "loops only", "zero", "orthogonal"])
def test_nothing_is_chosen_where_nothing_is_gained(n, case):
    X, y = np.random.default_rng(7).standard_normal((50, n)), np.ones(50)
    X[-1] = 0.0
    y = {"zero": 0 * y, "orthogonal": np.eye(50)[-1]}.get(case, y)
    matroid = {"no room": Uniform(n, 0), "loops only": Uniform(n, 3).restrict([])}.get(case, Uniform(n, 3))
    result = quiet(maximize, quiet(LeastSquares, X, y), matroid, start="model")
    assert len(result.support) == 0
    assert result.value == 0.0


@pytest.mark.parametrize("storage", [np.asfortranarray, np.float32, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("matroid", [Uniform(400, 12), Partition(np.arange(400) % 40, 1).truncate(12)])
def test_many_rounds_on_every_kind_of_data(storage, matroid):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 400)).astype(np.float32).astype(np.float64)
    y = X[:, :30] @ rng.standard_normal(30) + rng.standard_normal(80)
    with patch.object(working_sets, "FIRST_BASES", 1):
        result = maximize(LeastSquares(storage(X), y), matroid, start="model")
    expected = LeastSquares(X, y)
    (grid,) = matroid.moves(result.support)
    least = 1e-9 if storage is not np.float32 else 1e-5
    assert expected.start(result.support).gains(grid).max() <= least
    assert result.value == pytest.approx(expected(result.support), abs=1e-9)


def test_data_are_read_a_few_times_only():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100, 2000))
    y = X[:, :5] @ np.ones(5) + 0.1 * rng.standard_normal(100)
    objective = LeastSquares(X, y)
    assert maximize(objective, Uniform(2000, 5), start="model").support.tolist() == [0, 1, 2, 3, 4]
    assert objective.design.passes < 10


@pytest.mark.parametrize("n", [10, 500])
def test_no_time_at_all_is_no_error(n):
    X = np.random.default_rng(3).standard_normal((20, n))
    matroid = Uniform(n, 4).contract([1])
    result = maximize(LeastSquares(X, X[:, 0]), matroid, start="model", time_limit=0)
    assert result.status is Status.TIME_LIMIT
    assert 1 in result.support
    assert matroid.is_independent(result.support)


def test_forced_elements_stay_though_they_explain_nothing():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 300))
    y = X[:, :6] @ np.ones(6)
    matroid = Partition(np.arange(300) % 10, 1).contract([290, 291])
    result = maximize(LeastSquares(X, y), matroid, start="model")
    assert {290, 291} <= set(result.support.tolist())
    assert matroid.is_independent(result.support)


def test_a_search_cut_short_among_the_few_keeps_its_moves(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 300))
    looks = []

    def tick(self):
        looks.append(1)
        if len(looks) > 12:
            raise OutOfTime

    monkeypatch.setattr("swapwise.objectives.least_squares.gram_search.WORK_PER_CALL", 1)
    monkeypatch.setattr(Clock, "check", tick)
    result = maximize(LeastSquares(X, X[:, :40].sum(axis=1)), Uniform(300, 30), max_iter=1000)
    assert 0 < len(result.support) < 30
    assert result.value > 0


def test_objectives_can_be_shared_by_threads():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 400))
    y = X[:, :10] @ rng.standard_normal(10) + rng.standard_normal(100)
    shared = LeastSquares(X, y)
    sizes = list(range(3, 23))

    def value_of(objective, size):
        return maximize(objective, Uniform(400, size), start="model").value

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(partial(value_of, shared), sizes))
    np.testing.assert_allclose(found, [value_of(LeastSquares(X, y), size) for size in sizes], rtol=1e-10)


@pytest.mark.parametrize("start", ["empty", "model"])
def test_nearly_collinear_columns_in_single_precision(start):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 1)) + 5e-3 * rng.standard_normal((60, 30))
    single = X.astype(np.float32)
    y = (single[:, 3].astype(float) - single[:, 7]) * 200 + 0.1 * rng.standard_normal(60)
    result = maximize(LeastSquares(single, y), Uniform(30, 2), start=start)
    assert result.support.tolist() == [3, 7]
