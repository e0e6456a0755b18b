import re

import numpy as np
import pytest

from swapwise.constraints.algorithms.packing_exchange import ExchangeProgram
from swapwise.constraints.packing import PackingSystem
from swapwise.moves import MoveList


@pytest.fixture
def crowded():
    """300 elements in 3 of 30 groups each, and a maximal set of them."""
    rng = np.random.default_rng(0)
    groups = np.column_stack([rng.integers(10 * c, 10 * (c + 1), 300) for c in range(3)])
    system = PackingSystem(groups, np.full(30, 3))
    return system, system.extend(np.empty(0, dtype=np.intp), rng.permutation(300)), rng


def test_batches_are_bounded_and_cut_nothing_off(crowded, monkeypatch):
    system, support, rng = crowded
    (whole,) = system.moves(support)
    cost = rng.random(300)
    (cheapest,) = system.cheapest_drops(support, cost)
    for module in ("algorithms.exchanges", "packing", "circuits"):
        monkeypatch.setattr(f"swapwise.constraints.{module}.LARGEST_BATCH", 100)
    batches = [part for batch in system.moves(support) for part in batch.parts()]
    assert len(batches) > 10
    assert max(map(len, batches)) <= 100
    np.testing.assert_array_equal(np.concatenate([b.added for b in batches]), whole.added)
    np.testing.assert_array_equal(np.concatenate([b.dropped for b in batches]), whole.dropped)
    (again,) = system.cheapest_drops(support, cost)
    np.testing.assert_array_equal(again.dropped, cheapest.dropped)


def test_cheapest_drops_by_pattern_are_those_of_the_enumeration(crowded):
    system, support, rng = crowded
    cost = rng.random(300)
    (moves,) = system.moves(support)
    listed = moves.cheapest(cost)
    (found,) = system.cheapest_drops(support, cost)
    np.testing.assert_array_equal(found.added, listed.added)
    np.testing.assert_array_equal(found.dropped, listed.dropped)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_best_exchange_is_that_of_the_enumeration_whatever_the_scale(scale):
    rng = np.random.default_rng(1)
    groups = np.column_stack([rng.integers(0, 6, 60), rng.integers(6, 12, 60)])
    system = PackingSystem(groups, np.full(12, 2))
    for _ in range(5):
        support = system.extend(np.empty(0, dtype=np.intp), rng.permutation(60))
        gain, cost = scale * rng.random(60) ** 4, scale * rng.random(60)
        found = system.best_exchange(support, gain, cost, q=2)
        scores = [
            MoveList.sums(b.added, gain) - MoveList.sums(b.dropped, cost) for b in system.moves(support, 2)
        ]
        score = gain[list(found.move(0).added)].sum() - cost[list(found.move(0).dropped)].sum()
        assert score == pytest.approx(np.concatenate(scores).max(), rel=1e-9)


def test_best_exchange_without_values_is_the_first_move():
    system = PackingSystem([[0], [0], [0]], [1])
    found = system.best_exchange(np.array([1]), np.zeros(3), np.zeros(3), q=2)
    assert found.added.tolist() == [[0, -1]]
    assert found.dropped.tolist() == [[1]]


def test_best_exchange_drops_nothing_needlessly(monkeypatch):
    def solve(*args):
        return np.array([2, 3]), np.array([0, 1])

    monkeypatch.setattr(ExchangeProgram, "solve", solve)
    system = PackingSystem([[0], [1], [1], [-1]], [1, 1])
    found = system.best_exchange(np.array([0, 1]), np.ones(4), np.zeros(4), q=2)
    assert found.added.tolist() == [[2, 3]]
    assert found.dropped.tolist() == [[1]]


def test_a_program_that_breaks_a_limit_is_an_error(monkeypatch):
    monkeypatch.setattr(ExchangeProgram, "solve", lambda *args: (np.array([1, 2]), np.array([0])))
    with pytest.raises(RuntimeError, match="returned a set that is not allowed"):
        PackingSystem([[0], [0], [0]], [1]).best_exchange(np.array([0]), np.ones(3), np.ones(3), q=2)


def test_an_unsolved_program_is_an_error(monkeypatch):
    class Unsolved:
        status, message = 1, "time limit"

    monkeypatch.setattr("scipy.optimize.milp", lambda *args, **kwargs: Unsolved)
    program = ExchangeProgram(
        np.array([[0]]), np.array([1, 9]), np.array([], dtype=int), np.ones(1), np.ones(1)
    )
    with pytest.raises(RuntimeError, match="best exchange was not solved: time limit"):
        program.solve(np.array([0]), 2, 1, 0.0)


def test_largest_sizes_that_are_tight():
    assert PackingSystem([[0], [0], [1], [-1]], [1, 5]).max_size() == 3
    assert PackingSystem([[0, 1], [1, 2], [2, 0]], [1, 1, 1]).max_size() == 1
    assert PackingSystem(np.empty((0, 2), dtype=int), [1]).max_size() == 0


@pytest.mark.parametrize(
    ("groups", "capacity", "message"),
    [
        (
            [0, 1],
            [1, 1],
            "at least one column, and capacity an entry for each group; got shapes (2,) and (2,)",
        ),
        ([[0]], [-1], "capacities must not be negative, got -1"),
        ([[0], [2]], [1, 1], "groups must be numbers from 0 to 1, or -1, got 2"),
        ([[0, 1], [1, 1]], [1, 1], "in a group only once, but element 1 is not"),
    ],
)
def test_refuses_what_is_no_packing(groups, capacity, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        PackingSystem(groups, capacity)


def test_shows_its_numbers():
    assert repr(PackingSystem([[0, 1], [1, -1]], [1, 1])) == "PackingSystem(n=2, 2 groups, p=2)"
