"""Products that are kept: the right ones, whatever is asked for in whatever order."""

import pickle
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise.data import cache
from swapwise.data.cache import GramRows, VectorCache


class Source:
    """Products that tell which element they are of, and a record of what was computed."""

    def __init__(self, n):
        self.table = np.arange(n)[:, None] * 1000.0 + np.arange(n)
        self.asked = []

    def compute(self, elements):
        self.asked.append(elements.tolist())
        return self.table[elements].copy()


def kept_products(n, room):
    """Return what keeps products, with room for some columns, or for all in order if None is given."""
    source = Source(n)
    if room is None:
        return GramRows(n, 2), source
    return VectorCache(n, room, 128), source


@st.composite
def requests(draw):
    n = draw(st.integers(1, 9))
    subset = st.lists(st.integers(0, n - 1), unique=True).map(lambda chosen: np.array(chosen, dtype=np.intp))
    return n, draw(st.none() | st.integers(1, n + 2)), draw(st.lists(subset, max_size=25))


@given(requests())
def test_rows_are_those_of_the_elements_asked_for(case):
    n, room, wanted = case
    kept, source = kept_products(n, room)
    for elements in wanted:
        np.testing.assert_array_equal(kept.of(elements, source.compute), source.table[elements])


@given(requests())
def test_blocks_are_parts_of_the_same_rows(case):
    n, room, wanted = case
    kept, source = kept_products(n, room)
    for elements in wanted:
        rows = np.full((len(elements), n), np.nan)
        with patch.object(cache, "NUMBERS_AT_ONCE", 2):
            for part, block in kept.parts(elements, source.compute):
                assert np.isnan(rows[:, part]).all()
                rows[:, part] = block
        np.testing.assert_array_equal(rows, source.table[elements])


@given(requests())
def test_nothing_is_computed_twice_in_a_row_or_twice_at_once(case):
    n, room, wanted = case
    kept, source = kept_products(n, room)
    for elements in wanted:
        source.asked.clear()
        kept.of(elements, source.compute)
        asked = [element for batch in source.asked for element in batch]
        assert len(set(asked)) == len(asked)
        assert set(asked) <= set(elements.tolist())
        source.asked.clear()
        kept.of(elements[::-1], source.compute)
        assert source.asked == []


@given(requests())
def test_with_room_for_all_nothing_is_ever_computed_twice(case):
    n, room, wanted = case
    kept, source = kept_products(n, room if room is None else n)
    for elements in wanted:
        kept.of(elements, source.compute)
    asked = [element for batch in source.asked for element in batch]
    assert sorted(asked) == sorted({element for elements in wanted for element in elements.tolist()})


@given(requests())
def test_what_is_handed_out_may_be_written_to(case):
    n, room, wanted = case
    kept, source = kept_products(n, room)
    for elements in wanted:
        rows = kept.of(elements, source.compute)
        rows[:] = np.nan
        np.testing.assert_array_equal(kept.of(elements, source.compute), source.table[elements])


def test_the_oldest_make_room():
    kept, source = kept_products(5, 2)
    for element in (0, 1, 2, 1, 0):
        kept.of(np.array([element]), source.compute)
    assert source.asked == [[0], [1], [2], [0]]


def test_an_interrupted_request_leaves_nothing_wrong_behind():
    interrupted = [False]

    def compute(elements):
        if interrupted[0]:
            raise KeyboardInterrupt
        return np.eye(100)[elements]

    kept = VectorCache(100, 10, 128)
    kept.of(np.arange(32), compute)
    interrupted[0] = True
    with pytest.raises(KeyboardInterrupt):
        kept.of(np.arange(32, 64), compute)
    interrupted[0] = False
    for elements in (np.arange(32), np.arange(40, 60), np.arange(32)):
        np.testing.assert_array_equal(kept.of(elements, compute), np.eye(100)[elements])


def test_rows_of_a_gram_matrix_lie_where_they_belong():
    kept, source = kept_products(5, None)
    kept.know(np.array([3, 1, 3]), source.compute)
    assert kept.elements().tolist() == [1, 3]
    assert 3 in kept
    assert 0 not in kept
    np.testing.assert_array_equal(kept.matrix[[1, 3]], source.table[[1, 3]])
    again = pickle.loads(pickle.dumps(kept))
    assert not again.is_known.any()
    np.testing.assert_array_equal(again.of(np.array([4, 0]), source.compute), source.table[[4, 0]])


def test_nothing_is_computed_of_a_gram_matrix_that_is_known():
    kept, source = kept_products(4, None)
    kept.fill(source.table.copy())
    np.testing.assert_array_equal(kept.of(np.arange(4), source.compute), source.table)
    assert source.asked == []
