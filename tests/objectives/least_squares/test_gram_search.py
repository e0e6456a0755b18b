"""The compiled search, against the plain search that refits for every move."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.local_search import local_search
from swapwise import Laminar, LeastSquares, Partition, Uniform
from swapwise.clock import Budget
from swapwise.objectives.least_squares.gram_search import GramSearch
from swapwise.paper.plain import PlainLeastSquares

TOL = 1e-10


def some_matroid(rng, n, share_of_forcing=0.4):
    """Return a matroid of nested limits, which may force elements in."""
    labels = rng.integers(0, 3, n)
    third = max(1, n // 3)
    matroid = [
        Uniform(n, int(rng.integers(1, n + 1))),
        Partition(labels, {label: int(rng.integers(0, 3)) for label in np.unique(labels).tolist()}),
        Laminar(n, [(range(third), 1), (range(2 * third), 2), (range(n), int(rng.integers(1, n + 1)))]),
        Laminar(n, [(range(third), 2), (range(third, n), 2)]).truncate(3),
    ][rng.integers(4)]
    if rng.random() < share_of_forcing:
        matroid = matroid.contract(matroid.random_set(np.empty(0, dtype=np.intp), rng)[:2])
    return matroid


def problem(rng):
    """Gaussian data: no ties, and rounding is far below what separates two moves."""
    n = int(rng.integers(2, 9))
    X, y = rng.standard_normal((15, n)), rng.standard_normal(15)
    return X, y, float(rng.choice([0.0, 0.5]))


def search(objective, matroid, start):
    """Return where the compiled search leads, and the value there."""
    every = np.arange(objective.n)
    model = objective.start(matroid.forced).model(every)
    found = GramSearch(model, matroid, TOL, every)
    steps = found.steps(start, Budget())
    support = start
    for step in steps:
        support = step.move.result(support)
        assert step.value == pytest.approx(objective(support), abs=1e-9)
    assert support.tolist() == found.support.tolist()
    assert found.value_at_start == pytest.approx(objective(start), abs=1e-9)
    return found.support, found.value


def some_start(rng, matroid):
    """Return a random independent set, from nothing but the forced elements to a maximal one."""
    whole = matroid.random_set(matroid.forced, rng)
    return np.union1d(matroid.forced, whole[rng.random(len(whole)) < rng.choice([0.0, 0.5, 1.0])]).astype(
        np.intp
    )


@settings(max_examples=150)
@given(st.integers(0, 10**6))
def test_moves_are_those_of_the_plain_search(seed):
    rng = np.random.default_rng(seed)
    X, y, ridge = problem(rng)
    matroid = some_matroid(rng, X.shape[1])
    start = some_start(rng, matroid)
    objective, plain = LeastSquares(X, y, ridge), PlainLeastSquares(X, y, ridge)
    found, value = search(objective, matroid, start)
    expected = local_search(
        plain, matroid.is_independent, objective.n, "oblivious", start.tolist(), T=1000, tol=TOL
    )
    assert found.tolist() == sorted(expected.support)
    assert value == pytest.approx(expected.value, abs=1e-9)
    assert value == pytest.approx(objective(found), abs=1e-9)
    assert np.isin(matroid.forced, found).all()


@settings(max_examples=150)
@given(st.integers(0, 10**6))
def test_ends_where_no_move_improves_even_with_twins_among_the_columns(seed):
    rng = np.random.default_rng(seed)
    X, y, ridge = problem(rng)
    n = X.shape[1]
    X[:, rng.integers(n)] = X[:, rng.integers(n)] * rng.choice([0.0, 1.0, -2.0])
    matroid = some_matroid(rng, n, share_of_forcing=0)
    plain = PlainLeastSquares(X, y, ridge)
    found, value = search(LeastSquares(X, y, ridge), matroid, np.empty(0, dtype=np.intp))
    assert matroid.is_independent(found)
    assert value == pytest.approx(plain.value(found), abs=1e-9)
    for added in np.setdiff1d(np.arange(n), found):
        for kept in [found, *(found[found != dropped] for dropped in found)]:
            other = np.union1d(kept, [added])
            if matroid.is_independent(other):
                assert plain.value(other) <= value + 1e-8


def test_a_column_that_was_dropped_can_come_back():
    # Each order of adding leads over a set that the best one replaces piece by piece.
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((12, 10)), rng.standard_normal(12)
        objective = LeastSquares(X, y)
        for start in ([0, 1, 2, 3], [6, 7, 8, 9]):
            found, value = search(objective, Uniform(10, 4), np.array(start))
            gains = objective.start(found).gains(next(Uniform(10, 4).moves(found)))
            assert gains.max() <= 1e-9
            assert value == pytest.approx(objective(found), abs=1e-9)


def test_no_columns_fit_and_nothing_to_explain():
    X = np.eye(3)
    nothing = np.array([], dtype=int)
    assert len(search(LeastSquares(X, [1.0, 2.0, 3.0]), Uniform(3, 0), nothing)[0]) == 0
    far = LeastSquares(np.eye(4)[:, :3], [0.0, 0.0, 0.0, 1.0])
    found, value = search(far, Uniform(3, 2), nothing)
    assert (found.tolist(), value) == ([], 0.0)


def test_long_searches_are_the_same_in_pieces(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 40)), rng.standard_normal(60)
    objective, matroid = LeastSquares(X, y), Partition(np.arange(40) % 8, 2)
    start = np.arange(16)
    whole = search(objective, matroid, start)
    monkeypatch.setattr("swapwise.objectives.least_squares.gram_search.WORK_PER_CALL", 1)
    pieces = search(objective, matroid, start)
    assert whole[0].tolist() == pieces[0].tolist()
    assert whole[1] == pytest.approx(pieces[1], abs=1e-12)
