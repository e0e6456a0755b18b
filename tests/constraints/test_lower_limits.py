"""Lower limits: what is refused, and what is made of them. That they are matroids, the contracts test."""

import pickle

import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from tests.contracts.constraint_zoo import subsets

NOTHING = np.empty(0, dtype=np.intp)
SITES = sw.Partition([*"aaabbc"], 3, {"a": 2, "b": 1}, size=4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sw.Partition([*"aab"], 1, 2), "'a' has at_least 2, capacity 1"),
        (
            lambda: sw.Partition([*"aab"], 2, 2),
            "at least 2 elements of 'b' must be .* there are only 1",
        ),
        (lambda: sw.Partition([*"aab"], {"a": 0, "b": 1}, 1), "'a' has at_least 1, capacity 0"),
        (lambda: sw.Partition([*"aab"], 2, {"z": 1}), "at_least names 'z', a label that no element has"),
        (lambda: sw.Partition([*"aab"], 2, {"a": 2, "b": 1}, 2), "size must be at least 3, .* got 2"),
        (lambda: sw.Partition([*"aab"], 2, {"a": -1}), "at_least of 'a' must be a non-negative .* got -1"),
        (lambda: sw.Partition([*"aab"], 2, -1), "at_least must be a non-negative integer, got -1"),
        (lambda: sw.Partition([*"aab"], 2, size=-1), "size must be a non-negative integer, got -1"),
        (lambda: sw.Uniform(4, 2, 3), "at_least must be no larger than k = 2, got 3"),
        (lambda: sw.Uniform(2, 5, 3), "at_least must be no larger than n = 2, got 3"),
        (lambda: SITES.truncate(2), "size must be at least 3, as the lower limits need that many"),
        (lambda: SITES.contract([5]).truncate(3), "at least 4, as what is forced in and the lower limits"),
        (lambda: SITES.restrict([0, 3, 4, 5]), "keep have only 1 of 'a', of which at least 2 must be chosen"),
        (lambda: sw.Uniform(4, 3, 3).restrict([1, 2]), "have only 2 of the elements, of which at least 3"),
        (
            lambda: sw.Intersection(SITES, sw.Knapsack([4, 2, 2, 1, 1, 1], 4)),
            "no set .* meets all lower limits: at least 2 of 'a' and at least 1 of 'b' exclude each other",
        ),
        (
            lambda: sw.Intersection(SITES, sw.Conflicts(6, [(0, 3), (0, 4)])).contract([0]),
            "no set .* at least 1 of 'b' must be chosen, but they allow only 0",
        ),
    ],
)
def test_what_no_set_could_meet_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_limits_are_numbers_by_label_or_for_all():
    with pytest.raises(TypeError, match=r"at_least must be a non-negative integer, or .* got 1\.5"):
        sw.Partition([*"ab"], 1, 1.5)
    by_series = sw.Partition([*"aabb"], pd.Series({"a": 2, "b": 1}), pd.Series({"b": 1}))
    assert by_series.at_least == {"a": 0, "b": 1}
    columns = sw.Partition.from_columns(["a_1", "a_2", "b_1"], at_least={"b": 1}, capacity=2, size=2)
    assert (columns.at_least, columns.size) == ({"a": 0, "b": 1}, 2)
    by_name = sw.Partition.from_columns(["x1", "x2"], label=lambda name: "x", at_least=1, capacity=2)
    assert by_name.at_least == {"x": 1}


def test_they_are_shown():
    assert repr(SITES) == "Partition(n=6, 3 labels, capacity=3, at_least={'a': 2, 'b': 1, 'c': 0}, size=4)"
    assert repr(sw.Partition([*"ab"], 1, 1)) == "Partition(n=2, 2 labels, capacity=1, at_least=1)"
    assert repr(sw.Uniform(4, 3, 3)) == "Uniform(n=4, k=3, at_least=3)"
    assert repr(SITES.truncate(3)).endswith("size=3)")


def test_names_are_kept():
    by_name = sw.Partition({"x": "a", "y": "a", "z": "b"}, 2, {"a": 1})
    for kept in (by_name.truncate(2), by_name.contract([1]).truncate(2), by_name.induced(np.arange(3))):
        assert kept.names == ["x", "y", "z"]
    by_name = sw.Uniform(2, 2, 1)
    by_name.names = ["x", "y"]
    assert by_name.truncate(1).names == ["x", "y"]


@pytest.mark.parametrize("whole", [SITES, sw.Uniform(6, 3, 2), SITES.contract([5]), SITES.restrict(range(5))])
def test_they_survive_pickling_and_another_order(whole):
    names = [f"x{e}" for e in range(6)]
    whole = pickle.loads(pickle.dumps(whole))
    whole.names = names
    turned = whole.aligned_to(names[::-1])
    for subset in subsets(range(6)):
        mirrored = np.array(sorted(5 - e for e in subset), dtype=np.intp)
        assert whole.is_independent(subset) == turned.is_independent(mirrored)
        support = np.array(sorted({*subset, *whole.forced.tolist()}), dtype=np.intp)
        assert whole.is_complete(support) == turned.is_complete(np.sort(5 - support))


def test_places_are_kept_for_elements_that_are_left_out():
    few = SITES.induced(np.array([5, 3, 0]))  # one a of two, one b, one c
    assert few.is_independent([0, 1, 2])  # with the other a there are four
    assert few.max_size() == 3
    alone = SITES.induced(np.array([5]))
    assert (alone.max_size(), alone.is_complete(np.array([0]))) == (1, False)
    crowded = sw.Partition([*"aaabbc"], 3, {"a": 2, "b": 1}, size=3).induced(np.array([5, 0]))
    assert crowded.loops().tolist() == [0]
    assert SITES.induced(NOTHING).max_size() == 0
    unlimited = sw.Partition([*"aaabbc"], 3, {"a": 2, "b": 1}).induced(np.array([5]))
    assert unlimited.is_independent([0])
    assert sw.Uniform(4, 3, 3).induced(np.array([2])).extend(NOTHING, [0]).tolist() == [0]


def test_sizes_are_truncations_where_nothing_must_be_chosen():
    labels = [*"aabbc"]
    by_size, truncated = sw.Partition(labels, 1, size=2), sw.Partition(labels, 1).truncate(2)
    for subset in subsets(range(5)):
        assert by_size.is_independent(subset) == truncated.is_independent(subset)


def test_exactly_so_many_of_each():
    pairs = sw.Partition([*"aaabbb"], 2, at_least=2)
    bases = [s for s in subsets(range(6)) if pairs.is_complete(np.array(sorted(s), dtype=np.intp))]
    assert {s for s in bases if pairs.is_independent(s)} == {s for s in bases if len(s) == 4}
    assert pairs.rank() == 4


def test_extremes():
    assert sw.Partition([], 1, 1).is_complete(NOTHING)
    assert sw.Partition([], 1, 1).completed(NOTHING, np.empty(0)).tolist() == []
    assert sw.Uniform(0, 0, 0).is_complete(NOTHING)
    one = sw.Partition(["a"] * 4, 4, 4, size=4)
    assert one.completed(np.array([2]), np.zeros(4)).tolist() == [0, 1, 2, 3]
    full = sw.Partition([*"aabbcc"], 2, {"a": 1, "b": 1}, size=2)  # all places are kept
    assert full.loops().tolist() == [4, 5]
    assert full.rank() == 2


def test_forced_elements_count():
    forced = SITES.contract([0, 1, 3])
    assert forced.is_complete(NOTHING)
    assert forced.is_complete(forced.forced)
    assert sw.Intersection(forced, sw.Uniform(6, 4)).p == 2  # nothing is left to meet
    assert SITES.contract([0]).completed(NOTHING, np.arange(6.0)).tolist() == [0, 2, 4]


@pytest.mark.xfail(
    strict=True, reason="needs the one form of limits: whether several constraints can be met together"
)
def test_every_set_on_the_way_can_be_completed_within_all_limits():
    one_even = sw.Partition([0, 1, 0, 1], 2, at_least={0: 1})
    both = sw.Intersection(one_even, sw.Knapsack([1.0, 1.0, 4.0, 4.0], 5.0))
    found, chosen = sw.maximize(sw.Linear([4.0, 5.0, 7.0, 8.0]), both, "greedy"), set()
    for step in found.history:
        chosen = chosen - {*step.dropped} | {*step.added}
        assert chosen <= {0, 1} or chosen <= {0, 3} or chosen <= {1, 2}, chosen


LIMITED = [
    sw.Uniform(3, 2, at_least=2),
    sw.Partition([0, 0, 1], 2, {0: 1}),
    sw.Partition([0, 0, 1], 2, {0: 1}, size=2).truncate(1),
    sw.Uniform(3, 3, at_least=2).restrict([0, 1]),
    sw.Intersection(sw.Uniform(3, 2, at_least=2), sw.Knapsack([1.0, 1.0, 1.0], 3.0)),
]


@pytest.mark.parametrize("constraint", LIMITED, ids=repr)
@pytest.mark.parametrize("weights", [[-5.0, -3.0, 4.0], [-5.0, -3.0, -4.0], [0.0, 0.0, 4.0], [1.0, 2.0, 3.0]])
def test_max_weight_sets_meet_lower_limits_whatever_they_weigh(constraint, weights):
    sets = [np.flatnonzero(mask) for mask in np.ndindex(2, 2, 2)]
    complete = [s for s in sets if constraint.is_independent(s) and constraint.is_complete(s)]
    best = max(np.array(weights)[s].sum() for s in complete)
    found = constraint.max_weight(weights)
    assert constraint.is_complete(found.support)
    assert found.weight == pytest.approx(best)
    assert found.upper_bound == pytest.approx(best)
