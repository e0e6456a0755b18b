from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from swapwise import CustomSetFunction
from swapwise.clock import Budget
from swapwise.moves import Move, MoveList, SwapGrid

DIPS = {(): 0.0, (0,): 2.0, (1,): 1.0, (0, 1): 1.5}


def dipping() -> CustomSetFunction:
    """Make a function that falls when 1 joins 0."""
    return CustomSetFunction(lambda chosen: DIPS[tuple(chosen.tolist())], n=2)


def test_value_at_the_empty_set_is_subtracted() -> None:
    f = CustomSetFunction(lambda chosen: 7 + 2 * len(chosen), n=3)
    assert f([]) == 0
    assert f([0, 2]) == 4
    assert f.scoring == "refit"


def test_what_the_offset_rounds_away_is_a_tie() -> None:
    state = CustomSetFunction(lambda chosen: 1e9 + 0.1 * len(chosen) + 1e-6 * (1 in chosen), n=2).start()
    found = state.find_best([SwapGrid(state.support, np.ones((2, 1), dtype=bool))], 0.0, Budget())
    assert found.move == Move(added=(0,))


def test_function_is_given_a_sorted_integer_array_of_its_own() -> None:
    seen = []

    def spoil(chosen: np.ndarray) -> int:
        seen.append(chosen.copy())
        size = len(chosen)
        chosen[:] = 0
        return size

    state = CustomSetFunction(spoil, n=4).start([3, 1])
    state.apply(Move(added=(0,)))
    assert state.support.tolist() == [0, 1, 3]
    assert [chosen.tolist() for chosen in seen] == [[], [1, 3], [0, 1, 3]]
    assert all(np.issubdtype(chosen.dtype, np.integer) for chosen in seen)


@pytest.mark.parametrize(
    "number", [3, 3.0, True, np.float32(3), np.int8(3), np.bool_(True), np.array(3.0), Fraction(3)]
)
def test_what_counts_as_a_number(number: object) -> None:
    f = CustomSetFunction(lambda chosen: number if len(chosen) else 0, n=1)
    assert f([0]) == float(number)


@pytest.mark.parametrize("value", [None, "3", [3.0], np.array([3.0]), 3j, np.complex128(3)])
def test_values_that_are_no_numbers(value: object) -> None:
    f = CustomSetFunction(lambda chosen: value if len(chosen) else 0, n=3)
    with pytest.raises(TypeError, match=r"function must return a number, got .* for the set \[0, 2\]"):
        f([2, 0])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(value: float) -> None:
    f = CustomSetFunction(lambda chosen: value if 2 in chosen else 0.0, n=3)
    with pytest.raises(ValueError, match=rf"function must be finite, got {value} for the set \[1, 2\]"):
        f.start([1]).gains(MoveList(added=np.array([[2]]), dropped=np.array([[-1]])))


def test_a_bad_value_at_the_empty_set_is_found_at_once() -> None:
    with pytest.raises(ValueError, match=r"got -inf for the set \[\]"):
        CustomSetFunction(lambda chosen: -np.inf, n=3)


def test_function_must_be_callable() -> None:
    with pytest.raises(TypeError, match=r"function must be a callable .* got 3"):
        CustomSetFunction(3, n=2)


@pytest.mark.parametrize(("n", "error"), [(-1, ValueError), (2.5, TypeError), ("2", TypeError)])
def test_n_must_be_a_count(n: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="n must be a non-negative integer"):
        CustomSetFunction(len, n=n)


def test_falling_value_warns_once_when_scored() -> None:
    state = dipping().start([0])
    grid = SwapGrid(np.array([0]), np.array([[0, 0], [0, 1]], dtype=bool))
    message = r"not monotone: adding element 1 to the set \[0\] changes it by -0\.5"
    with pytest.warns(UserWarning, match=message):
        state.gains(grid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state.gains(grid)
        state.objective.start([0]).gains(grid)
        state.apply(Move(added=(1,)))


def test_falling_value_warns_once_when_taken() -> None:
    f = dipping()
    with pytest.warns(UserWarning, match=r"adding element 1 to the set \[0\]"):
        f.start([0]).apply(Move(added=(1,)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f.start([0]).apply(Move(added=(1,)))


def test_two_falling_values_in_one_batch_warn_once() -> None:
    f = CustomSetFunction(lambda chosen: -float(len(chosen)), n=4)
    with pytest.warns(UserWarning, match="adding element 1 to") as seen:
        f.start([2]).gains(MoveList(added=np.array([[1], [3]]), dropped=np.array([[-1], [-1]])))
    assert len(seen) == 1


def test_every_instance_warns_for_itself() -> None:
    for _ in range(2):
        with pytest.warns(UserWarning, match="not monotone"):
            dipping().start([0]).apply(Move(added=(1,)))


def test_several_elements_are_all_named() -> None:
    f = CustomSetFunction(lambda chosen: -float(len(chosen)), n=4)
    with pytest.warns(UserWarning, match=r"adding elements \[1, 3\] to the set \[2\]"):
        f.start([2]).gains(MoveList(added=np.array([[1, 3]]), dropped=np.array([[-1]])))


def test_moves_that_also_drop_and_rounding_do_not_warn() -> None:
    shrinking = CustomSetFunction(lambda chosen: 1e6 - 1e-6 * len(chosen), n=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shrinking.start().apply(Move(added=(0, 1)))
        state = dipping().start([0])
        assert state.gains(MoveList(added=np.array([[1]]), dropped=np.array([[0]]))).tolist() == [-1]
        state.apply(Move(added=(1,), dropped=(0,)))
