"""The best move that adds two elements, against a list of all of them."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise import Graphic, Intersection, LeastSquares, Partition
from swapwise.clock import Budget, Clock, OutOfTime
from swapwise.objectives.base import State
from swapwise.objectives.least_squares import pair_search
from swapwise.objectives.least_squares.pair_search import PairSearch, can_pair
from tests.objectives.least_squares.test_system_search import intersection, some_start


def columns(rng, n, kind):
    """Return columns and a response, nearly or quite collinear if asked for."""
    X, y = rng.standard_normal((12, n)), rng.standard_normal(12)
    if kind == "correlated":
        X += 3 * rng.standard_normal((12, 1))
    twins = rng.permutation(n)[: 2 * (n // 2)].reshape(2, -1)
    if kind in ("copies", "near copies"):
        X[:, twins[1]] = X[:, twins[0]] * rng.choice([1.0, -2.0])
    if kind == "near copies":
        X[:, twins[1]] += 10.0 ** rng.uniform(-9, -2) * rng.standard_normal((12, n // 2))
    if kind == "zeros":
        X[:, rng.random(n) < 0.3] = 0.0
    return X, y


def larger_moves(system, support):
    return next(batch for batch in system.moves(support) if batch.n_added == 2)


def check(X, y, ridge, system, support, share):
    state = LeastSquares(X, y, ridge).start(support)
    larger = larger_moves(system, support)
    if not can_pair(state, larger):
        return None
    listed = larger.to_list()
    gains = State.gains(state, listed)  # by refits
    # Up to a share of what can be gained, so that bars of all heights are tried.
    bar = share * max(float(gains.max(initial=0.0)), 0.0)
    found = PairSearch(state, larger).best(bar, Budget())
    best = float(gains.max(initial=-np.inf))
    if best <= bar + 1e-10:
        assert found is None or found.score <= bar + 1e-9
        return found
    assert found.score == pytest.approx(best, abs=1e-9)
    moves = {(move.added, move.dropped): k for k, move in enumerate(listed.moves())}
    assert gains[moves[found.move.added, found.move.dropped]] == pytest.approx(best, abs=1e-9)
    return found


@pytest.mark.parametrize("kind", ["gaussian", "correlated", "copies", "near copies", "zeros"])
@settings(max_examples=80)
@given(seed=st.integers(0, 10**6))
def test_the_best_pair_is_that_of_the_list(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 11))
    X, y = columns(rng, n, kind)
    system = intersection(rng, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(
            X,
            y,
            float(rng.choice([0.0, 1e-3, 0.5])),
            system,
            some_start(rng, system),
            rng.choice([0, 0.9, 1]),
        )


def test_most_of_these_problems_have_a_pair_to_find():
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = columns(rng, 9, "correlated")
        system = intersection(rng, 9)
        found.append(check(X, y, 0.0, system, some_start(rng, system), 0.9))
    assert sum(move is not None for move in found) > 20
    assert any(move is not None and len(move.move.dropped) > 1 for move in found)


@pytest.fixture
def improvable():
    """A state and larger moves from it, of which some improve."""
    rng = np.random.default_rng(4)
    X, y = columns(rng, 12, "near copies")
    edges = [(u, v) for u in range(5) for v in range(u)]
    system = Intersection(Graphic([*edges, (0, 1), (2, 3)]), Partition(np.arange(12) % 3, 1))
    support = system.random_set(system.forced, rng)
    return LeastSquares(X, y).start(support), larger_moves(system, support)


def test_few_rows_at_a_time_lead_to_the_same(improvable, monkeypatch):
    whole = PairSearch(*improvable).best(0.0, Budget())
    assert whole is not None
    for name, few in (("AT_ONCE", 3), ("MOST_MOVES", 1), ("CLOSE_NUMBERS", 1)):
        monkeypatch.setattr(pair_search, name, few)
        assert PairSearch(*improvable).best(0.0, Budget()).move == whole.move


def test_the_clock_is_looked_at_and_what_was_found_is_kept(improvable, monkeypatch):
    with pytest.raises(OutOfTime):
        PairSearch(*improvable).best(0.0, Budget(Clock(0.0)))
    budget = Budget()
    found = PairSearch(*improvable).best(0.0, budget)
    assert budget.kept[0].move == found.move
