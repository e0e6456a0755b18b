from itertools import combinations

import numpy as np
import pytest

import swapwise as sw
from swapwise import Graphic, Intersection, Laminar, Linear, Partition, Uniform, maximize
from swapwise.constraints import intersection as intersections
from swapwise.moves import MoveList

TRIANGLE = [(0, 1), (1, 2), (2, 0)]


def listed(batches) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(move.added, move.dropped) for batch in batches for move in batch.moves()]


def test_p_is_the_number_of_matroids():
    assert Intersection(Uniform(3, 1)).p == 1
    assert Intersection(Uniform(3, 1), Uniform(3, 2), Graphic(TRIANGLE)).p == 3


@pytest.mark.parametrize(
    "matroid",
    [
        Uniform(3, 2),
        Partition(["a", "a", "b"], 1),
        Laminar(3, [([0, 1], 1)]),
        Uniform(3, 2).restrict([0, 2]),
        Partition(["a", "a", "b"], 1).contract([0]).restrict([0, 2]),
    ],
    ids=repr,
)
def test_limits_on_disjoint_groups_have_the_small_neighbourhood(matroid):
    both = Intersection(Uniform(3, 2), matroid)
    assert both.neighbourhood == "exchange"
    assert both.exchange_size(2) == 2 * 2 + 1
    assert Intersection(Uniform(3, 2), matroid, neighbourhood="matroid").exchange_size(2) == 2 * 2 * 3


@pytest.mark.parametrize(
    "matroid",
    [
        Graphic(TRIANGLE),
        Laminar(3, [([0, 1], 1), ([0, 1, 2], 2)]),
        Laminar(3, [([0], 1), ([0, 1], 1)]),
        Partition(["a", "a", "b"], 1).truncate(1),
    ],
    ids=repr,
)
def test_other_matroids_have_the_large_neighbourhood_only(matroid):
    assert Intersection(Uniform(3, 2), matroid).neighbourhood == "matroid"
    with pytest.raises(ValueError, match=r"a guarantee only for p-exchange systems.*use 'auto'"):
        Intersection(Uniform(3, 2), matroid, neighbourhood="exchange")


def test_dropping_the_edge_in_both_circuits_is_enough():
    # Two trees on the same four edges: edge 3 closes the circuit {0, 1} in one and {1, 2} in the other.
    first = Graphic([("a", "b"), ("b", "c"), ("x", "y"), ("a", "c")])
    second = Graphic([("x", "y"), ("a", "b"), ("b", "c"), ("a", "c")])
    both = Intersection(first, second)
    assert listed(both.moves(np.array([0, 1, 2]))) == [((3,), (0, 2)), ((3,), (1,))]


def test_a_larger_neighbourhood_is_that_of_the_packing():
    rng = np.random.default_rng(0)
    parts = [Partition(rng.integers(0, 4, 14).tolist(), 1), Partition(rng.integers(0, 4, 14).tolist(), 2)]
    small, large = Intersection(*parts), Intersection(*parts, neighbourhood="matroid")
    support = small.extend(np.empty(0, dtype=np.intp), rng.permutation(14))
    within = [(a, d) for a, d in listed(large.moves(support)) if len(d) <= 3]
    assert within == listed(small.moves(support, 2))  # add up to 2 and drop up to 2 · 2 − 2 + 1


def test_batches_are_bounded(monkeypatch):
    rng = np.random.default_rng(0)
    complete = [(i, j) for i in range(7) for j in range(i)]
    system = Intersection(Graphic(complete), Partition(rng.integers(0, 3, 21).tolist(), 2))
    support = system.extend(np.empty(0, dtype=np.intp), rng.permutation(21))
    whole = listed(system.moves(support))
    for module in ("algorithms.exchanges", "algorithms.common_moves", "circuits"):
        monkeypatch.setattr(f"swapwise.constraints.{module}.LARGEST_BATCH", 50)
    batches = [part for batch in system.moves(support) for part in batch.parts()]
    assert max(map(len, batches)) <= 50 < len(whole)
    assert all(isinstance(batch, MoveList) for batch in batches)
    assert listed(batches) == whole


def test_what_one_matroid_forces_in_no_other_drives_out():
    left = Partition(["a", "a", "b", "b"], 1).contract([1])
    right = Uniform(4, 2)
    for neighbourhood in ("exchange", "matroid"):
        both = Intersection(left, right, neighbourhood=neighbourhood)
        assert both.forced.tolist() == [1]
        assert not both.is_independent([0])
        assert listed(both.moves(np.array([1, 2]))) == [((3,), (2,))]
        assert maximize(Linear([9.0, 1.0, 2.0, 3.0]), both).support.tolist() == [1, 3]


def test_refuses_to_force_in_what_is_not_allowed_together():
    left, right = Uniform(3, 2).contract([0]), Partition(["a", "a", "b"], 1).contract([1])
    with pytest.raises(ValueError, match=r"number 1 does not allow \[0, 1\]"):
        Intersection(left, right)


def test_refuses_what_is_no_intersection():
    with pytest.raises(ValueError, match="needs at least one constraint, got none"):
        Intersection()
    with pytest.raises(TypeError, match=r"made of constraints, got \[Uniform.* as number 1; give them one"):
        Intersection(Uniform(1, 1), [Uniform(1, 1)])
    with pytest.raises(TypeError, match=r"made of constraints, got 3 as number 0; did you mean Uniform"):
        Intersection(3, Uniform(1, 1))
    with pytest.raises(ValueError, match="got n = 2 for number 0 and n = 3 for number 1"):
        Intersection(Uniform(2, 1), Uniform(3, 1))
    with pytest.raises(ValueError, match="must be 'auto', 'exchange' or 'matroid', got 'small'"):
        Intersection(Uniform(2, 1), neighbourhood="small")


def test_shows_its_parts():
    shown = "Intersection(Uniform(n=2, k=1), Uniform(n=2, k=2), neighbourhood='exchange')"
    assert repr(Intersection(Uniform(2, 1), Uniform(2, 2))) == shown


def test_forced_elements_bring_what_they_need_in_either_order():
    products = sw.Hierarchy(3, {2: [0, 1]})
    first = sw.Intersection(sw.Uniform(3, 3).contract([2]), products)
    assert first.forced.tolist() == [0, 1, 2]
    assert sw.Intersection(sw.Uniform(3, 3), products).contract([2]).forced.tolist() == [0, 1, 2]


def test_the_same_weights_lead_to_the_same_set_whatever_was_asked_before():
    random = np.random.default_rng(10)
    edges = [(i, j) for i in range(5) for j in range(i)]
    both = sw.Intersection(sw.Graphic(edges), sw.Knapsack(random.integers(1, 4, 10), 7.0))
    weights = random.integers(0, 4, 10).astype(float)
    before = both.max_weight(weights).support.tolist()
    for _ in range(3):
        both.max_weight(random.random(10))
    sw.certify(sw.Linear(random.random(10)), both, [], max_nodes=3)
    assert both.max_weight(weights).support.tolist() == before


def test_conflicts_without_pairs_go_with_any_family():
    free = sw.Intersection(sw.Conflicts(3, []), sw.Hierarchy(3, {2: [0]}))
    assert sw.maximize(sw.Linear([1.0, 2.0, 3.0]), free).support.tolist() == [0, 1, 2]


def test_groups_of_conflicts_without_pairs_stand_in_the_way_of_no_larger_move():
    first = sw.Hierarchy(6, {1: [2], 3: [2, 5]}, size=3)
    both = sw.Intersection(first, sw.Conflicts(6, []), sw.Hierarchy(6, {0: [4, 2]}, size=4, kind="weak"))
    worth = sw.Linear([9.0, 4.0, 3.0, 8.0, 1.0, 1.0])
    assert sw.maximize(worth, both).value == sw.exact(worth, both).value == 16.0


def test_elements_that_a_matroid_does_not_allow_together_are_ruled_out_of_a_max_weight_set():
    rows = [
        [-1, -1, -1, 0, 1, 1, 1],
        [0, 1, 1, 0, 0, 0, 1],
        [0, -1, -1, 0, -1, 1, 1],
        [0, 1, 0, 0, 0, 1, 0],
    ]
    price = sw.Knapsack([3.0, 3.0, 1.0, 2.0, 3.0, 4.0, 2.0], 8.0)
    groups = sw.FewGroups([1, 0, 0, 1, 1, 0, 1], 2)
    allowed = sw.Intersection(sw.LinearMatroid(np.array(rows, dtype=float)).contract([0]), groups, price)
    weights = np.array([0.0, 1.5, 0.4, 1.9, 1.4, 0.1, 0.4])
    found = allowed.max_weight(weights)
    sets = [s for size in range(8) for s in combinations(range(7), size) if allowed.is_independent(s)]
    assert found.weight == pytest.approx(max(weights[list(s)].sum() for s in sets))
    assert found.exact


def test_lower_limits_that_are_hard_to_meet_do_not_take_for_ever(monkeypatch):
    monkeypatch.setattr(intersections, "COMPLETION_SECONDS", 0.0)
    hard = sw.Intersection(sw.Uniform(4, 4, at_least=2), sw.Knapsack([1.0, 2.0, 3.0, 4.0], 5.0))
    assert hard.n == 4  # whether a set meets the limits is left to the search
