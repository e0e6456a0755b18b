"""Constraints that know the names of their elements, and data that have theirs in another order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise import Intersection, OracleMatroid, Partition, Uniform

KIND = {"height": "size", "width": "size", "age": "time", "born": "time", "name": "text"}
OTHER_ORDER = ["name", "age", "width", "born", "height"]


def test_labels_are_read_from_columns():
    columns = pd.DataFrame(columns=["radius_mean", "radius_worst", "area_mean", "id"]).columns
    by_feature = Partition.from_columns(columns)
    assert by_feature.labels == ["radius", "area", "id"]
    assert by_feature.capacity == {"radius": 1, "area": 1, "id": 1}
    assert by_feature.names == list(columns)
    by_statistic = Partition.from_columns(columns, part=-1, capacity={"mean": 2, "worst": 0, "id": 1})
    assert by_statistic.labels == ["mean", "worst", "id"]
    assert by_statistic.is_independent([0, 2, 3])
    assert not by_statistic.is_independent([1])


def test_another_separator_and_a_part_in_the_middle():
    assert Partition.from_columns(["a::x::1", "b::x::2"], sep="::", part=1).labels == ["x"]


def test_labels_by_a_function():
    columns = ["blood_type_A", "blood_type_B", "sex_f"]
    made = Partition.from_columns(columns, label=lambda name: name.rsplit("_", 1)[0], capacity=2)
    assert made.labels == ["blood_type", "sex"]
    assert made.names == columns
    assert made.rank() == 3
    with pytest.raises(TypeError, match="label must be a function of a column's name, got 'sex'"):
        Partition.from_columns(columns, label="sex")


def test_a_separator_in_no_column_is_warned_about(recwarn):
    Partition.from_columns(["a_1", "b"])
    Partition.from_columns(["a", "b"], label=str.upper)
    assert not recwarn.list
    with pytest.warns(UserWarning, match="no column has '__' in its name, so every column is a label"):
        assert Partition.from_columns(["a_1", "a_2"], sep="__").labels == ["a_1", "a_2"]


def test_from_columns_says_what_is_wrong():
    with pytest.raises(TypeError, match="names must be strings, got 3 at position 1"):
        Partition.from_columns(["a_1", 3])
    with pytest.raises(TypeError, match="columns must be names of columns, got 'a_1'"):
        Partition.from_columns("a_1")
    with pytest.raises(ValueError, match="sep must be a string that is not empty, got ''"):
        Partition.from_columns(["a_1"], sep="")
    with pytest.raises(ValueError, match="'a_1' has only 2 parts between '_', so no part 2"):
        Partition.from_columns(["a_1"], part=2)
    with pytest.raises(ValueError, match="names must differ, got 'a_1' again at position 2"):
        Partition.from_columns(["a_1", "b_1", "a_1"])


def test_a_mapping_or_a_series_brings_names_along():
    for labels in (KIND, pd.Series(KIND)):
        named = Partition(labels, 1)
        assert named.names == list(KIND)
        assert named.labels == ["size", "time", "text"]
        assert not named.is_independent([0, 1])


def test_numbers_for_an_index_are_no_names():
    assert Partition(pd.Series(["a", "a", "b"]), 1).names is None
    by_position = {2: "a", 0: "a", 1: "b"}
    for labels in (by_position, pd.Series(by_position), {np.int64(k): v for k, v in by_position.items()}):
        shuffled = Partition(labels, 1)
        assert shuffled.names is None
        assert shuffled.element_labels == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        (range(100, 110), "100, 101, 102, …"),
        ([1, 2, 3], "1, 2, 3"),
        ([0.0, 1.0], "0.0, 1.0"),
        ([0, "b"], "0, 'b'"),
        ([np.int64(7)], "7"),
        ([False, True], "False, True"),
    ],
)
def test_other_numbers_are_neither_names_nor_positions(keys, shown):
    message = (
        rf"labels must be by name \(strings\) or by position \(0 to {len(keys) - 1} in any order, each once\)"
        rf", got labels for {shown}; for labels in the order of the features, hand in a list"
    )
    labels = dict.fromkeys(keys, "a")
    with pytest.raises(ValueError, match=message):
        Partition(labels, 1)
    with pytest.raises(ValueError, match=message):
        Partition(pd.Series("a", index=pd.Index(list(keys))), 1)


def test_positions_must_differ():
    with pytest.raises(ValueError, match=r"each once.*, got labels for 0, 0, 1;"):
        Partition(pd.Series(["a", "b", "c"], index=[0, 0, 1]), 1)


@pytest.mark.parametrize("features", [["age", "sex"], {"age"}, np.array(["age"])])
def test_labels_and_features_the_wrong_way_round(features):
    with pytest.raises(TypeError, match=r"expected feature → label, got label → features \('demo' → "):
        Partition({"demo": features}, 1)


def test_names_of_mappings_must_differ():
    with pytest.raises(ValueError, match="names must differ, got 'x' again at position 1"):
        Partition(pd.Series(["a", "b"], index=["x", "x"]), 1)


def test_constraints_without_names_only_have_to_have_as_many_elements():
    unnamed = Uniform(3, 1)
    assert unnamed.names is None
    assert unnamed.aligned_to(["a", "b", "c"]) is unnamed
    with pytest.raises(ValueError, match="the constraint has n = 3 elements, but the data have 2 names"):
        unnamed.aligned_to(["a", "b"])


def test_nothing_is_made_anew_if_the_order_is_the_same():
    named = Partition(KIND, 1)
    assert named.aligned_to(pd.Index(KIND)) is named


def test_names_that_do_not_match_are_named():
    named = Partition(KIND, 1)
    with pytest.raises(ValueError, match="the constraint names 'born', 'name', which the data do not have"):
        named.aligned_to(["height", "width", "age"])
    with pytest.raises(ValueError, match="the data have 'weight', which the constraint does not name"):
        named.aligned_to([*KIND, "weight"])
    with pytest.raises(ValueError, match="the constraint names 'a', 'b', 'c' and 2 more, which"):
        Partition(dict.fromkeys("abcde", 0), 1).aligned_to(["x"])
    with pytest.raises(ValueError, match="the data have 'age' twice"):
        named.aligned_to([*KIND, "age"])


def made_of(partition):
    """Constraints of several kinds that rest on a named partition."""
    return [
        partition,
        partition.truncate(2),
        partition.restrict([0, 2, 4]),
        partition.contract([1]),
        partition.contract([1, 2]).truncate(3).restrict([0, 1, 2, 4]),
        Intersection(partition, Partition(["x", "y", "y", "x", "x"], 1)),
        Intersection(partition, Partition(["x", "y", "y", "x", "x"], 1).truncate(2).contract([3])),
    ]


@pytest.mark.parametrize("case", range(len(made_of(Partition(KIND, 1)))))
@given(subset=st.sets(st.sampled_from(list(KIND))), order=st.permutations(list(KIND)))
def test_the_same_sets_of_names_are_allowed_in_any_order(case, subset, order):
    constraint = made_of(Partition(KIND, 1))[case]
    moved = constraint.aligned_to(order)
    assert moved.names == order
    before = [list(KIND).index(name) for name in subset]
    after = [order.index(name) for name in subset]
    assert moved.is_independent(after) == constraint.is_independent(before)
    assert {order[e] for e in moved.forced} == {list(KIND)[e] for e in constraint.forced}


def test_the_neighbourhood_of_an_intersection_stays():
    both = Intersection(Partition(KIND, 1), Partition(KIND, 2), neighbourhood="matroid")
    assert both.aligned_to(OTHER_ORDER).neighbourhood == "matroid"


def test_capacities_stay_with_their_labels():
    named = Partition(KIND, {"size": 2, "time": 1, "text": 0}).aligned_to(OTHER_ORDER)
    assert named.capacity == {"text": 0, "time": 1, "size": 2}
    assert named.loops().tolist() == [0]


def test_an_intersection_puts_its_parts_into_one_order():
    turned = Partition({name: KIND[name] for name in OTHER_ORDER}, 1)
    both = Intersection(Partition(KIND, 5), Uniform(5, 5), turned)
    assert both.names == list(KIND)
    assert not both.is_independent([0, 1])
    assert both.is_independent([0, 2, 4])


def test_an_intersection_wants_the_same_names_throughout():
    other = {**dict.fromkeys(list(KIND)[:4], 0), "weight": 0}
    with pytest.raises(ValueError, match=r"number 2 and those before differ in 'name', 'weight'"):
        Intersection(Partition(KIND, 1), Uniform(5, 2), Partition(other, 1))


def test_what_is_known_by_a_function_only_is_reordered_too():
    early = OracleMatroid(5, lambda support: len(support) < 3 and (support < 2).sum() < 2)
    both = Intersection(Partition(KIND, 5), early)
    assert both.aligned_to(list(KIND)) is both
    moved = both.aligned_to(OTHER_ORDER)
    assert moved.names == OTHER_ORDER
    assert not moved.is_independent([2, 4])  # width and height, the first two
    assert moved.is_independent([0, 4])
    assert not moved.is_independent([0, 1, 3])


def test_names_stay_through_minors():
    named = Partition(KIND, 1)
    for made in (named.truncate(1), named.restrict([0]), named.contract([0])):
        assert made.names == list(KIND)
    assert np.array_equal(named.contract([0]).aligned_to(OTHER_ORDER).forced, [4])
