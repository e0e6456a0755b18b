import numpy as np
import pytest

from swapwise import OracleMatroid
from tests.contracts.constraint_zoo import swap_grid


def test_asks_with_sorted_integer_arrays():
    asked = []

    def at_most_two(support):
        asked.append(support)
        return len(support) <= 2

    matroid = OracleMatroid(4, at_most_two)
    assert matroid.is_independent([3, 1])
    assert not matroid.is_independent({2, 0, 1})
    swap_grid(matroid, [1, 3])
    matroid.rank([3, 0])
    for support in asked:
        assert isinstance(support, np.ndarray)
        assert np.issubdtype(support.dtype, np.integer)
        assert support.tolist() == sorted(support.tolist())


def test_a_function_that_changes_its_argument_does_no_harm():
    def greedy_fingers(support):
        support[:] = 0
        return True

    support = np.array([1, 2])
    OracleMatroid(3, greedy_fingers)._is_independent(support)
    assert support.tolist() == [1, 2]


def test_numpy_booleans_are_fine():
    assert OracleMatroid(3, lambda s: (s < 2).all()).loops().tolist() == [2]


@pytest.mark.parametrize("answer", [None, 1, "yes", np.array([True])])
def test_refuses_answers_that_are_not_yes_or_no(answer):
    with pytest.raises(TypeError, match=r"must return True or False, got .* for the set \[0, 1\]"):
        OracleMatroid(3, lambda s: True if len(s) < 2 else answer)


def test_refuses_what_cannot_be_called():
    with pytest.raises(TypeError, match=r"is_independent must be callable, got \[\[0\], \[1\]\]"):
        OracleMatroid(3, [[0], [1]])


def test_the_empty_set_must_be_allowed():
    with pytest.raises(ValueError, match="must allow the empty set, but returned False for it"):
        OracleMatroid(3, lambda s: len(s) == 1)


def test_refuses_a_bad_size():
    with pytest.raises(TypeError, match=r"n must be a non-negative integer, got 2\.5"):
        OracleMatroid(2.5, lambda s: True)


def test_shows_its_numbers():
    def small(support):
        return True

    assert repr(OracleMatroid(3, small)) == "OracleMatroid(n=3, small)"
