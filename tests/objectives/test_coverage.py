from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from swapwise import Coverage
from swapwise.moves import Move, MoveList, SwapGrid
from tests.contracts.objective_zoo import subsets

SETS = [["a", "b"], ["b", "c"], [("d", 1)], [], ["c", 0, "e", "a", None]]
WEIGHTS = {"a": 1, "b": 2, "c": 4, ("d", 1): 0.5, 0: 0, "e": 8, None: 16}


def test_value_is_the_weight_of_the_union() -> None:
    f, counted = Coverage(SETS, WEIGHTS), Coverage(SETS)
    for chosen in subsets(f.n):
        union = {item for j in chosen for item in SETS[j]}
        assert f(chosen) == sum(WEIGHTS[item] for item in union)
        assert counted(chosen) == len(union)
    assert f.scoring == "closed form"


def test_an_item_named_twice_counts_once() -> None:
    assert Coverage([["a", "a"], ["a"]])([0, 1]) == 1


def test_sets_may_come_from_generators() -> None:
    f = Coverage(iter([(c for c in "ab"), range(3)]))
    assert f.n == 2
    assert f([0, 1]) == 5


def test_weights_of_items_in_no_set_do_not_matter() -> None:
    assert Coverage([["a"]], {"a": 2, "unused": -1})([0]) == 2


def test_swaps_need_no_refit(monkeypatch: pytest.MonkeyPatch) -> None:
    f = Coverage(SETS[:4], WEIGHTS)
    state = f.start([0])
    monkeypatch.setattr(f, "_value", lambda support: pytest.fail("a refit"))
    feasible = np.array([[0, 0], [1, 0], [1, 1], [1, 0]], dtype=bool)
    gains = state.gains(SwapGrid(np.array([0]), feasible))
    np.testing.assert_array_equal(gains, [[-np.inf, -np.inf], [3, -np.inf], [-np.inf, 0.5], [-3, -np.inf]])
    moves = MoveList(added=np.array([[1], [2], [-1]]), dropped=np.array([[0], [-1], [0]]))
    np.testing.assert_array_equal(state.gains(moves), [3, 0.5, -3])
    state.apply(Move(added=(1, 2), dropped=(0,)))
    assert state.value == 6.5


def test_no_sets_and_no_items() -> None:
    assert Coverage([]).n == 0
    assert Coverage([])([]) == 0
    assert Coverage([[], []], weights={})([0, 1]) == 0


def test_missing_weight_names_the_item() -> None:
    with pytest.raises(ValueError, match=r"every item.*\('d', 1\) is missing"):
        Coverage(SETS[:3], {"a": 1, "b": 2, "c": 3})


@pytest.mark.parametrize(
    ("weight", "error"), [(-1, ValueError), (np.nan, ValueError), (np.inf, ValueError), ("x", TypeError)]
)
def test_bad_weight_names_the_item(weight: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"the weight of item 'b' must be a non-negative number, got"):
        Coverage([["a", "b"]], {"a": 1, "b": weight})


def test_weights_must_be_a_mapping() -> None:
    with pytest.raises(
        TypeError, match=r"weights must be a mapping from item to weight, or None, got \[1, 2\]"
    ):
        Coverage([["a", "b"]], [1, 2])


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (3, "sets must be a collection of items to cover, got 3"),
        ([["a"], 7], r"sets\[1\] must be a collection of items to cover, got 7"),
        ([["a"], [["b"]]], r"sets\[1\] must hold hashable items, got \['b'\]"),
    ],
)
def test_bad_sets(sets: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Coverage(sets)


def test_refuses_what_would_be_read_as_other_sets():
    with pytest.raises(TypeError, match=r"for an incidence matrix, give \[np.flatnonzero"):
        Coverage(np.eye(3, dtype=bool))
    with pytest.raises(TypeError, match="sets must be a collection of items to cover"):
        Coverage({"a": [1, 2]})
    with pytest.raises(TypeError, match=r"sets\[0\] must be a collection of items to cover, got 'abc'"):
        Coverage(["abc"])


def test_takes_a_series_of_weights():
    assert Coverage([{1}, {2}], pd.Series({1: 1.0, 2: 2.5}))([1]) == 2.5
