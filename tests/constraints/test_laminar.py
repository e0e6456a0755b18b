import re

import numpy as np
import pytest

from swapwise import Laminar


def test_nested_limits():
    sensors = Laminar(6, [([0, 1, 2, 3], 2), ([0, 1], 1), ([2], 1), ([5], 0)])
    assert sensors.is_independent([0, 2, 4])
    assert not sensors.is_independent([0, 1])
    assert not sensors.is_independent([0, 2, 3])
    assert sensors.loops().tolist() == [5]
    assert sensors.rank() == 3


def test_of_equal_sets_the_smaller_limit_counts():
    for limits in ([([0, 1, 2], 1), ([0, 1, 2], 2)], [([0, 1, 2], 2), ([0, 1, 2], 1)]):
        assert Laminar(3, limits).rank() == 1


def test_no_limits_at_all():
    assert Laminar(4, []).rank() == 4
    assert Laminar(4, [([], 0)]).rank() == 4


def test_shows_its_numbers():
    assert repr(Laminar(4, [([0, 1], 1)])) == "Laminar(n=4, 1 sets)"


def test_names_the_sets_that_cross():
    with pytest.raises(ValueError, match="sets number 0 and 1 overlap without one holding the other"):
        Laminar(4, [([0, 1, 2], 1), ([2, 3], 1)])
    # Set 2 holds both others: it is not the one to blame.
    with pytest.raises(ValueError, match="sets number 0 and 1 overlap without one holding the other"):
        Laminar(5, [([0, 1, 2], 1), ([2, 3], 1), ([0, 1, 2, 3, 4], 3)])


@pytest.mark.parametrize("limit", [[0, 1, 2], ([0, 1],), 3, {0, 1}])
def test_refuses_limits_that_are_no_pairs(limit):
    expected = re.escape(f"limits must be pairs (elements, capacity), got {limit!r} as number 1")
    with pytest.raises(TypeError, match=expected):
        Laminar(4, [([0], 1), limit])


def test_refuses_bad_elements_and_capacities():
    with pytest.raises(ValueError, match=r"set number 0 must hold integers from 0 to 3 \(n = 4\), got 4"):
        Laminar(4, [([0, 4], 1)])
    with pytest.raises(TypeError, match="set number 0 must be a flat collection of integers"):
        Laminar(4, [([0.5], 1)])
    with pytest.raises(ValueError, match="set number 0 must hold every element once"):
        Laminar(4, [([1, 1], 1)])
    with pytest.raises(
        ValueError, match="the capacity of set number 0 must be a non-negative integer, got -1"
    ):
        Laminar(4, [([1], -1)])


def test_deep_nesting_needs_no_recursion():
    n = 3000
    chain = Laminar(n, [(np.arange(size), size - 1 if size > 1 else 1) for size in range(1, n + 1)])
    assert chain.rank() == n - 1
