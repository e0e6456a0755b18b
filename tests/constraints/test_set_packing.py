import re

import numpy as np
import pytest

from swapwise import SetPacking


def test_p_is_the_size_of_the_largest_set():
    assert SetPacking([{1, 2, 3}, {4}]).p == 3
    assert SetPacking([set(), set()]).p == 1
    assert SetPacking([]).n == 0


def test_empty_sets_are_free():
    packing = SetPacking([[], [1], [1], []])
    assert packing.is_independent([0, 1, 3])
    assert packing.addable(np.array([1])).tolist() == [True, False, False, True]
    assert packing.max_size() == 3


def test_an_item_named_twice_by_a_set_counts_once():
    packing = SetPacking([["a", "a"], ["b"]])
    assert packing.p == 1
    assert packing.is_independent([0, 1])


def test_collections_of_any_kind():
    for sets in (
        [(1, 2), (2, 3)],
        [{1, 2}, {2, 3}],
        np.array([[1, 2], [2, 3]]),
        iter([iter([1, 2]), [2, 3]]),
    ):
        assert not SetPacking(sets).is_independent([0, 1])


def test_one_set_may_drive_out_many():
    packing = SetPacking([{1}, {2}, {3}, {1, 2, 3}])
    (moves,) = packing.moves(np.array([0, 1, 2]))
    assert [(move.added, move.dropped) for move in moves.moves()] == [((3,), (0, 1, 2))]
    # With q = 2 a move may drop 3·2 − 2 + 1 = 5.
    assert next(packing.moves(np.array([0, 1, 2]), 2)).dropped.shape == (1, 5)


@pytest.mark.parametrize(
    ("sets", "error", "message"),
    [
        (["ab"], TypeError, "sets must be collections of items, got 'ab' as number 0"),
        ([{1}, 7], TypeError, "sets must be collections of items, got 7 as number 1"),
        ([[[1]]], TypeError, "items must be hashable, got [1] in set number 0"),
        ([{1}, [None]], ValueError, "items must not be missing, got None in set number 1"),
    ],
)
def test_refuses_what_is_no_set(sets, error, message):
    with pytest.raises(error, match=re.escape(message)):
        SetPacking(sets)


def test_shows_its_numbers():
    assert repr(SetPacking([{1, 2}, {2}])) == "SetPacking(n=2, 2 items, p=2)"
