import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

from swapwise import Partition


def test_one_capacity_for_all_labels():
    teams = Partition(["a", "b", "a", "b", "a"], 1)
    assert teams.labels == ["a", "b"]
    assert teams.capacity == {"a": 1, "b": 1}
    assert teams.is_independent([0, 1])
    assert not teams.is_independent([0, 4])


def test_a_capacity_for_each_label():
    teams = Partition(np.array([7, 7, 7, 8]), {7: 2, 8: 0})
    assert teams.max_weight([1, 2, 3, 9]).support.tolist() == [1, 2]
    assert teams.loops().tolist() == [3]


def test_shows_its_numbers():
    assert repr(Partition(["a", "b", "a"], 2)) == "Partition(n=3, 2 labels, capacity=2)"
    assert (
        repr(Partition(["a", "b"], {"a": 1, "b": 2})) == "Partition(n=2, 2 labels, capacity={'a': 1, 'b': 2})"
    )


@pytest.mark.parametrize("missing", [None, float("nan"), np.float64("nan")])
def test_refuses_missing_labels(missing):
    with pytest.raises(ValueError, match=r"every element needs a label, got (None|.*nan.*) at position 1"):
        Partition(["a", missing], 1)


def test_refuses_a_string_for_a_list_of_labels():
    with pytest.raises(TypeError, match="one label for each element, got a str"):
        Partition("aab", 1)


def test_refuses_bad_capacities():
    with pytest.raises(ValueError, match="capacity must be a non-negative integer, got -1"):
        Partition(["a"], -1)
    with pytest.raises(TypeError, match=r"capacity must be a non-negative integer, or a mapping .* got 1\.5"):
        Partition(["a"], 1.5)
    with pytest.raises(ValueError, match="the capacity of 'b' must be a non-negative integer, got -3"):
        Partition(["a", "b"], {"a": 1, "b": -3})


def test_names_a_label_without_a_capacity():
    with pytest.raises(ValueError, match="capacity must name every label, but has none for 'b'"):
        Partition(["a", "b"], {"a": 1})


def test_warns_of_a_capacity_without_elements():
    with pytest.warns(UserWarning, match="no element has the label 'z'") as caught:
        Partition(["a"], {"a": 1, "z": 2})
    assert caught[0].filename == __file__  # the caller's line, not one of the library


def test_says_nothing_when_labels_and_capacities_agree():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limits = Partition(["a", "b"], {"b": 1, "a": 2})
    assert limits.capacity == {"a": 2, "b": 1}


def test_refuses_what_would_be_read_as_other_labels():
    with pytest.raises(TypeError, match="got a DataFrame"):
        Partition(pd.DataFrame({"label": ["a", "b"]}), 1)
    with pytest.raises(TypeError, match="got a int"):
        Partition(3, 1)
    with pytest.raises(TypeError, match=r"labels must be hashable, got \[1\] at position 0"):
        Partition([[1], [2]], 1)


def test_takes_a_series_or_a_defaultdict_of_capacities():
    labels = pd.Series(["a", "a", "b"])
    assert Partition(labels, pd.Series({"a": 2, "b": 1})).rank() == 3
    assert Partition(labels, defaultdict(lambda: 1)).rank() == 2
