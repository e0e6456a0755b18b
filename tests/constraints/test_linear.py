import numpy as np
import pytest

from swapwise import LinearMatroid
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from tests.contracts.constraint_zoo import swap_grid

RNG = np.random.default_rng(5)
NOTHING = np.empty(0, dtype=np.intp)


def low_rank(rows: int, rank: int, n: int) -> np.ndarray:
    return RNG.standard_normal((rows, rank)) @ RNG.standard_normal((rank, n))


def test_rank_is_that_of_the_matrix():
    assert LinearMatroid(low_rank(30, 12, 60)).rank() == 12
    assert LinearMatroid(low_rank(5, 5, 60)).rank() == 5


def test_rank_of_columns_that_are_nearly_parallel():
    near = np.ones((50, 30)) + 1e-6 * RNG.standard_normal((50, 30))
    matroid = LinearMatroid(np.hstack([near, near @ RNG.standard_normal((30, 5))]))
    assert matroid.rank() == len(IndependenceSystem.extend(matroid, NOTHING, range(35))) == 30


def test_swaps_agree_with_the_test_when_columns_are_far_from_orthogonal():
    # Columns within 1e-4 of one direction, of which some are sums of others.
    near = np.ones((8, 1)) + 1e-4 * RNG.standard_normal((8, 5))
    matrix = np.hstack([near, near[:, :2].sum(axis=1, keepdims=True), near[:, 1:4] @ [[1.0], [2.0], [-1.0]]])
    matroid = LinearMatroid(matrix)
    for support in (np.arange(3), np.arange(4), np.arange(5), np.array([0, 2, 5])):
        expected = Matroid._swap_mask(matroid, support)
        expected[support] = False
        np.testing.assert_array_equal(swap_grid(matroid, support).feasible, expected)
    order = np.array([6, 5, 1, 0, 2, 3, 4])
    assert (
        matroid.extend(NOTHING, order).tolist() == IndependenceSystem.extend(matroid, NOTHING, order).tolist()
    )


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e300])
def test_units_do_not_matter(scale):
    matroid = LinearMatroid(np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]]) * [scale, 1.0, scale, 1.0])
    assert matroid.is_independent([0, 2])
    assert matroid.rank() == 2
    assert matroid.loops().tolist() == [3]


def test_the_tolerance_is_on_columns_of_length_one():
    def nearly_parallel(distance):
        return LinearMatroid([[1.0, 1.0], [0.0, distance]])

    assert nearly_parallel(2e-8).is_independent([0, 1])
    assert swap_grid(nearly_parallel(2e-8), [0]).free[1]
    assert nearly_parallel(2e-8).rank() == 2
    assert not nearly_parallel(5e-9).is_independent([0, 1])
    assert not swap_grid(nearly_parallel(5e-9), [0]).free[1]
    assert nearly_parallel(5e-9).rank() == 1


def test_matrices_without_columns_or_rows():
    assert LinearMatroid(np.empty((3, 0))).rank() == 0
    assert LinearMatroid(np.empty((0, 3))).loops().tolist() == [0, 1, 2]


def test_does_not_change_the_matrix():
    matrix = np.array([[2.0, 0.0], [0.0, 3.0]])
    LinearMatroid(matrix)
    assert matrix.tolist() == [[2.0, 0.0], [0.0, 3.0]]


def test_refuses_what_is_no_matrix():
    with pytest.raises(ValueError, match=r"matrix must be two-dimensional .*, got shape \(2,\)"):
        LinearMatroid([1.0, 2.0])
    with pytest.raises(ValueError, match=r"matrix must be finite, got nan at position \(0, 1\)"):
        LinearMatroid([[1.0, np.nan]])
    with pytest.raises(TypeError, match="matrix must hold real numbers"):
        LinearMatroid([[1.0, 1j]])


def test_shows_its_numbers():
    assert repr(LinearMatroid(np.eye(3, 4))) == "LinearMatroid(n=4, 3 rows)"
