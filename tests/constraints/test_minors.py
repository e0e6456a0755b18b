import numpy as np
import pytest

from swapwise import Graphic, Partition, Uniform
from tests.contracts.constraint_zoo import swap_grid

TRIANGLE_AND_LOOP = Graphic([(0, 1), (1, 2), (2, 0), (3, 3)])


def test_nobody_is_forced_at_first():
    assert Uniform(3, 2).forced.tolist() == []
    assert Uniform(3, 2).truncate(1).restrict([0]).forced.tolist() == []


def test_forced_elements_add_up():
    matroid = Uniform(6, 4).contract([4]).restrict([0, 1, 2, 4]).contract([1]).truncate(3)
    assert matroid.forced.tolist() == [1, 4]
    assert matroid.loops().tolist() == [3, 5]
    assert matroid.is_independent([0])
    assert not matroid.is_independent([0, 2])


def test_forced_elements_are_not_swapped_out_of_a_full_set():
    matroid = Uniform(4, 4).contract([0]).truncate(2)
    grid = swap_grid(matroid, [0, 1])
    assert grid.feasible.tolist() == [
        [False, False, False],
        [False, False, False],
        [False, True, False],
        [False, True, False],
    ]


def test_truncation_keeps_what_comes_first():
    matroid = Partition(["a", "a", "b", "b", "c"], 1).truncate(2)
    assert matroid.extend(np.array([3]), [2, 4, 0]).tolist() == [3, 4]
    assert matroid.max_weight([5, 1, 1, 2, 3]).support.tolist() == [0, 4]


def test_truncation_keeps_the_places_of_forced_elements():
    matroid = Uniform(4, 4).contract([0]).truncate(2)
    assert matroid.extend(np.array([], dtype=np.intp), [1, 2, 0]).tolist() == [0, 1]


def test_contraction_adds_forced_elements_only_when_asked():
    matroid = Uniform(5, 3).contract([0, 4])
    assert matroid.extend(np.array([], dtype=np.intp), [1, 2]).tolist() == [1]
    assert matroid.extend(np.array([], dtype=np.intp), [1, 4, 2]).tolist() == [1, 4]


def test_names_a_loop_that_is_to_be_forced_in():
    with pytest.raises(ValueError, match="element 3 is a loop: it can never be chosen"):
        TRIANGLE_AND_LOOP.contract([0, 3])
    with pytest.raises(ValueError, match="element 2 is a loop: it can never be chosen"):
        Uniform(3, 2).restrict([0, 1]).contract([2])
    with pytest.raises(ValueError, match="element 2 is a loop: it can never be chosen"):
        TRIANGLE_AND_LOOP.contract([0, 1]).contract([2])


def test_forced_elements_must_be_allowed_together():
    with pytest.raises(ValueError, match=r"must be allowed together, got \[0, 1, 2\], which are not"):
        TRIANGLE_AND_LOOP.contract([2, 1, 0])


def test_truncation_must_leave_room_for_forced_elements():
    with pytest.raises(ValueError, match="room for the 2 elements that are forced in, got 1"):
        Uniform(4, 3).contract([0, 1]).truncate(1)
    assert Uniform(4, 3).contract([0, 1]).truncate(2).rank() == 2


@pytest.mark.parametrize("size", [1.5, "2", None])
def test_truncation_needs_an_integer(size):
    with pytest.raises(TypeError, match="size must be a non-negative integer"):
        Uniform(4, 3).truncate(size)


def test_truncation_refuses_negative_sizes():
    with pytest.raises(ValueError, match="size must be a non-negative integer, got -1"):
        Uniform(4, 3).truncate(-1)


def test_restriction_must_keep_forced_elements():
    with pytest.raises(ValueError, match="element 1 is forced in, so it must be among the elements to keep"):
        Uniform(4, 3).contract([0, 1]).restrict([0, 2])


def test_show_how_they_were_made():
    matroid = Uniform(4, 3).contract([1]).restrict([0, 1, 2]).truncate(2)
    assert repr(matroid) == "Uniform(n=4, k=3).contract([1]).restrict([0, 1, 2]).truncate(2)"
