import numpy as np
import pytest

from swapwise import Uniform


def test_limits_the_size():
    assert Uniform(5, 2).rank() == 2
    assert Uniform(2, 5).rank() == 2
    assert Uniform(3, 0).loops().tolist() == [0, 1, 2]
    assert Uniform(0, 0).rank() == 0


def test_shows_its_numbers():
    assert repr(Uniform(5, 2)) == "Uniform(n=5, k=2)"


@pytest.mark.parametrize("bad", [-1, np.int64(-2)])
def test_refuses_negative_sizes(bad):
    with pytest.raises(ValueError, match=r"k must be a non-negative integer, got -"):
        Uniform(3, bad)
    with pytest.raises(ValueError, match=r"n must be a non-negative integer, got -"):
        Uniform(bad, 3)


@pytest.mark.parametrize("bad", [2.0, "2", None, True])
def test_refuses_sizes_that_are_no_integers(bad):
    with pytest.raises(TypeError, match=r"k must be a non-negative integer, got "):
        Uniform(3, bad)


def test_takes_integers_of_any_kind():
    assert Uniform(np.int32(3), np.uint8(1)).rank() == 1
