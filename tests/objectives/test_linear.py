from __future__ import annotations

import numpy as np
import pytest

from swapwise import Linear
from swapwise.moves import Move, MoveList, SwapGrid


def test_value_is_the_sum_of_weights() -> None:
    f = Linear([3, 1, 2])
    assert f.n == 3
    assert f([0, 2]) == 5.0
    assert f([]) == 0.0
    assert f.scoring == "closed form"


def test_grid_of_gains() -> None:
    feasible = np.array([[1, 0], [0, 0], [1, 1]], dtype=bool)
    gains = Linear([3, 1, 2]).start([1]).gains(SwapGrid(np.array([1]), feasible))
    np.testing.assert_array_equal(gains, [[2, -np.inf], [-np.inf, -np.inf], [-np.inf, 2]])


def test_moves_of_any_size_need_no_refit(monkeypatch: pytest.MonkeyPatch) -> None:
    f = Linear([3, 1, 2, 7])
    state = f.start([1, 3])
    monkeypatch.setattr(f, "_value", lambda support: pytest.fail("a refit"))
    moves = MoveList(added=np.array([[0, 2], [0, -1]]), dropped=np.array([[1, 3], [-1, -1]]))
    np.testing.assert_array_equal(state.gains(moves), [-3, 3])


def test_later_changes_of_the_array_do_not_matter() -> None:
    weights = np.array([1.0, 2.0])
    f = Linear(weights)
    weights[0] = 100
    assert f([0]) == 1


def test_apply() -> None:
    state = Linear([3, 1, 2]).start([1])
    state.apply(Move(added=(0, 2), dropped=(1,)))
    assert state.support.tolist() == [0, 2]
    assert state.value == 5


def test_negative_weights_are_refused() -> None:
    with pytest.raises(ValueError, match=r"weights must be non-negative, got -2\.0 at position 1"):
        Linear([1, -2, -3])


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0, np.nan], ValueError, "weights must be finite, got nan at position 1"),
        ([np.inf], ValueError, "weights must be finite, got inf at position 0"),
        ([[1.0, 2.0], [3.0, 4.0]], ValueError, r"one-dimensional, got shape \(2, 2\)"),
        (3.0, ValueError, r"one-dimensional, got shape \(\)"),
        (["heavy"], TypeError, "weights must hold real numbers"),
    ],
)
def test_other_bad_weights(weights: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Linear(weights)


def test_elements_outside_the_ground_set() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Linear([1, 2])([2])
    with pytest.raises(ValueError, match="the start"):
        Linear([1, 2]).start([5])
