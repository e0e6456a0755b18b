"""The compiled searches beyond one matroid, against a plain search that refits for every move."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise import (
    BMatching,
    Conflicts,
    Graphic,
    Hierarchy,
    Intersection,
    Knapsack,
    LeastSquares,
    LinearMatroid,
    Partition,
    SetPacking,
    Transversal,
    Uniform,
)
from swapwise.clock import Budget, Clock, OutOfTime
from swapwise.objectives.least_squares.system_search import compiled_search
from swapwise.paper.plain import PlainLeastSquares

TOL = 1e-10


def partition(rng, n):
    labels = rng.integers(0, 3, n)
    return Partition(labels, {label: int(rng.integers(0, 3)) for label in np.unique(labels).tolist()})


def graphic(rng, n):
    return Graphic([tuple(ends) for ends in rng.integers(0, 4, (n, 2)).tolist()])


def some_matroid(rng, n):
    return [
        partition,
        graphic,
        lambda rng, n: LinearMatroid(rng.integers(-1, 2, (3, n))),
        lambda rng, n: Transversal(n, [np.flatnonzero(rng.random(n) < 0.4) for _ in range(4)]),
        lambda rng, n: Uniform(n, int(rng.integers(1, 5))).restrict(np.flatnonzero(rng.random(n) < 0.8)),
    ][rng.integers(5)](rng, n)


def intersection(rng, n):
    matroids = [some_matroid(rng, n) for _ in range(rng.integers(1, 4))]
    both = Intersection(*matroids, neighbourhood="matroid")
    if rng.random() < 0.4:
        forced = both.random_set(np.empty(0, dtype=np.intp), rng)[:2]
        both = Intersection(matroids[0].contract(forced), *matroids[1:], neighbourhood="matroid")
    return both


def partitions(rng, n):
    first, second = partition(rng, n), partition(rng, n)
    if rng.random() < 0.4:
        forced = Intersection(first, second).random_set(np.empty(0, dtype=np.intp), rng)[:2]
        first = first.contract(forced)
    return Intersection(first, second)


SYSTEMS = {
    "matching": lambda rng, n: BMatching(
        [tuple(rng.permutation(5)[:2].tolist()) for _ in range(n)], int(rng.integers(0, 3))
    ),
    "packing": lambda rng, n: SetPacking([rng.integers(0, 6, rng.integers(0, 5)).tolist() for _ in range(n)]),
    "partitions": partitions,
    "intersection": intersection,
}


def plain_search(plain, system, support):
    """Take the best move that adds one element, by refits of all of them."""
    value, trace = plain.value(support), []
    while True:
        batches = list(system.moves(support))
        moves = list(batches[0].to_list().moves())
        values = [plain.value(move.result(support)) for move in moves]
        if not values or max(values) <= value + TOL * max(1.0, value):
            return trace
        best = int(np.argmax(values))
        support, value = moves[best].result(support), values[best]
        trace.append((moves[best], value))


def some_start(rng, system):
    whole = system.random_set(system.forced, rng)
    kept = whole[rng.random(len(whole)) < rng.choice([0.0, 0.5, 1.0])]
    return np.union1d(system.forced, kept).astype(np.intp)


@pytest.mark.parametrize("kind", SYSTEMS)
@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_the_compiled_search_makes_the_moves_of_the_plain_one(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    X, y, ridge = rng.standard_normal((15, n)), rng.standard_normal(15), float(rng.choice([0.0, 0.5]))
    system, objective = SYSTEMS[kind](rng, n), LeastSquares(X, y, ridge)
    start, elements = some_start(rng, system), np.arange(n) + 100
    search = compiled_search(objective.start([]).model(np.arange(n)), system, TOL, elements)
    steps = search.steps(start, Budget())
    expected = plain_search(PlainLeastSquares(X, y, ridge), system, start)
    shifted = [(tuple(e - 100 for e in s.move.added), tuple(e - 100 for e in s.move.dropped)) for s in steps]
    assert shifted == [(move.added, move.dropped) for move, _ in expected]
    np.testing.assert_allclose([step.value for step in steps], [value for _, value in expected], atol=1e-9)
    assert search.value == pytest.approx(objective(search.support), abs=1e-9)
    assert search.value_at_start == pytest.approx(objective(start), abs=1e-9)


@pytest.mark.parametrize("kind", SYSTEMS)
@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_twins_and_zeros_do_no_harm(kind, seed):
    rng = np.random.default_rng(seed)
    n, samples = int(rng.integers(2, 12)), int(rng.integers(2, 10))
    X, y = rng.integers(-2, 3, (samples, n)).astype(float), rng.standard_normal(samples)
    X[:, rng.integers(0, n, 2)] = X[:, rng.integers(0, n, 2)] * rng.choice([0.0, 1.0, -3.0], 2)
    system, objective = SYSTEMS[kind](rng, n), LeastSquares(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = objective.start([]).model(np.arange(n))
        search = compiled_search(model, system, TOL, np.arange(n))
        steps = search.steps(some_start(rng, system), Budget())
        if steps is None:  # the start has collinear columns
            return
        assert system.is_independent(search.support)
        assert np.isin(system.forced, search.support).all()
        assert search.value == pytest.approx(objective(search.support), abs=1e-8)


@pytest.mark.parametrize("kind", SYSTEMS)
def test_limits_on_moves_and_time_are_kept(kind):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((30, 20)), rng.standard_normal(30)
    system = SYSTEMS[kind](rng, 20)
    model = LeastSquares(X, y).start([]).model(np.arange(20))
    start = np.asarray(system.forced)
    whole = compiled_search(model, system, TOL, np.arange(20)).steps(start, Budget())
    assert len(whole) > 1
    first = compiled_search(model, system, TOL, np.arange(20)).steps(start, Budget(moves=1))
    assert [step.move for step in first] == [whole[0].move]
    budget = Budget(Clock(0.0))
    with pytest.raises(OutOfTime):
        compiled_search(model, system, TOL, np.arange(20)).steps(start, budget)


@pytest.mark.parametrize(
    "constraint",
    [Hierarchy(5, {0: [2], 1: [2]}, size=4), Knapsack(np.ones(5), 4.0), Conflicts(5, [(3, 4)]).contract([2])],
    ids=repr,
)
def test_a_start_of_collinear_columns_is_not_taken_apart(constraint):
    random = np.random.default_rng(0)
    X = random.standard_normal((12, 5))
    X[:, 2] = X[:, 0] + X[:, 1]
    model = LeastSquares(X, random.standard_normal(12)).start(()).model(np.arange(5))
    start = np.array([0, 1, 2])
    search = compiled_search(model, constraint, TOL, np.arange(5))
    assert search.grown(start, np.array([3])).tolist() == start.tolist()
