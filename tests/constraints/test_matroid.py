"""What the base class checks, once for all families."""

import numpy as np
import pytest

from swapwise import Uniform
from swapwise.constraints.matroid import Matroid

matroid = Uniform(4, 2)


def test_refuses_longer_swaps():
    expected = "a single matroid is searched by one-for-one swaps, q = 1; got q = 2"
    with pytest.raises(ValueError, match=expected):
        list(matroid.moves(np.array([0]), q=2))
    with pytest.raises(ValueError, match=expected):
        next(matroid.cheapest_drops(np.array([0]), np.ones(4), q=2))
    with pytest.raises(ValueError, match=expected):
        next(Matroid.cheapest_drops(matroid, np.array([0]), np.ones(4), q=2))


@pytest.mark.parametrize("ask", [matroid.is_independent, matroid.rank, matroid.restrict, matroid.contract])
def test_refuses_what_is_no_set_of_elements(ask):
    with pytest.raises(ValueError, match=r"must hold integers from 0 to 3 \(n = 4\), got 4"):
        ask([0, 4])
    with pytest.raises(ValueError, match=r"must hold integers from 0 to 3 \(n = 4\), got -1"):
        ask([-1])
    with pytest.raises(TypeError, match="must be a flat collection of integers from 0 to 3"):
        ask([0.0, 1.0])
    with pytest.raises(TypeError, match="must be a flat collection of integers from 0 to 3"):
        ask(np.array([True, False, True, False]))
    with pytest.raises(ValueError, match="must hold every element once, but some are repeated"):
        ask([1, 2, 1])


def test_takes_sets_of_any_kind_and_order():
    for given in ([3, 0], (0, 3), {0, 3}, range(0, 4, 3), np.array([3, 0], dtype=np.uint8)):
        assert matroid.is_independent(given)
    assert isinstance(matroid.is_independent([0]), bool)


def test_refuses_bad_weights():
    with pytest.raises(ValueError, match="weights must have length 4, got length 3"):
        matroid.max_weight([1, 2, 3])
    with pytest.raises(ValueError, match="weights must be finite, got nan at position 1"):
        matroid.max_weight([1, np.nan, 3, 4])


def test_a_heaviest_set_leaves_out_what_weighs_nothing():
    heaviest = Uniform(3, 3).max_weight([0.0, -1.0, 2.0])
    assert heaviest.support.tolist() == [2]
    assert heaviest.weight == heaviest.upper_bound == 2.0


def test_of_equal_weights_the_first_win():
    assert Uniform(4, 2).max_weight([1.0, 1.0, 1.0, 1.0]).support.tolist() == [0, 1]
