import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.kernels import knapsack


def test_sums_that_differ_in_their_last_digits_keep_the_budget():
    assert sw.Knapsack([0.1, 0.2, 0.3], 0.3).is_independent([0, 1])
    assert not sw.Knapsack([0.1, 0.2, 0.3], 0.3).is_independent([0, 2])


def test_names_come_from_mappings_and_frames():
    costs = pd.Series({"a": 3.0, "b": 1.0})
    assert sw.Knapsack(costs, 3).names == ["a", "b"]
    both = sw.Knapsack([{"a": 3.0, "b": 1.0}, {"b": 5.0, "a": 0.0}], [3, 5])
    assert both.costs.tolist() == [[3.0, 1.0], [0.0, 5.0]]
    assert both.aligned_to(["b", "a"]).costs.tolist() == [[1.0, 3.0], [5.0, 0.0]]


def test_estimators_match_costs_with_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((50, 3)), columns=["a", "b", "c"])
    y = 3 * X["a"] + 2 * X["b"] + X["c"]
    affordable = sw.Knapsack({"c": 1.0, "b": 1.0, "a": 5.0}, 2.0)
    assert sw.SparseRegressor(affordable).fit(X, y).get_feature_names_out().tolist() == ["b", "c"]
    forced = sw.SparseRegressor(sw.Knapsack({"c": 1.0, "b": 1.0, "a": 5.0}, 6.0), forced=["a"]).fit(X, y)
    assert forced.get_feature_names_out().tolist() == ["a", "b"]
    path = sw.SparseRegressorCV(affordable, sizes=[1, 2], criterion="bic").fit(X, y)
    assert path.size_ == 2


def test_nothing_can_be_paid_for_and_everything_can():
    assert sw.Knapsack([1.0, 2.0], 0.0).loops().tolist() == [0, 1]
    assert sw.Knapsack([0.0, 2.0], 0.0).loops().tolist() == [1]
    assert sw.Knapsack([1.0, 2.0], 9.0).max_weight([1.0, 1.0]).support.tolist() == [0, 1]
    assert sw.Knapsack([], 1.0).max_size() == 0


@pytest.mark.parametrize(
    ("costs", "budget", "error", "message"),
    [
        ([1.0, -2.0], 3.0, ValueError, "finite and not negative, got -2 for element 1"),
        ({"a": 1.0, "b": np.nan}, 3.0, ValueError, "finite and not negative, got nan for 'b'"),
        ([1.0, "x"], 3.0, TypeError, "costs must be numbers, one for each element"),
        ([[[1.0]]], 3.0, ValueError, r"a row of these per budget, got shape \(1, 1, 1\)"),
        ([1.0, 2.0], -1.0, ValueError, "budget must be a non-negative number, got -1"),
        ([1.0, 2.0], [1.0, 2.0], ValueError, "one number for each of the 1 rows of costs, got 2 numbers"),
        ([[1.0, 2.0], [1.0, 1.0]], 1.0, ValueError, "each of the 2 rows of costs, got 1 numbers"),
        ([{"a": 1.0}, {"b": 1.0}], [1, 1], ValueError, "but number 1 names others than number 0"),
    ],
)
def test_refuses_what_is_no_budget(costs, budget, error, message):
    with pytest.raises(error, match=message):
        sw.Knapsack(costs, budget)


def test_q_is_one():
    f = sw.Linear([1.0, 2.0])
    with pytest.raises(ValueError, match="Knapsack is searched by adding one element at a time"):
        sw.maximize(f, sw.Knapsack([1.0, 1.0], 1.0), q=2)


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.integers(1, 10))
def test_branch_and_bound_is_right(seed, n):
    rng = np.random.default_rng(seed)
    weights, costs = rng.integers(1, 6, n).astype(float), rng.integers(1, 6, n).astype(float)
    if rng.random() < 0.5:
        weights, costs = rng.random(n) + 0.01, rng.random(n) + 0.01
    budget = float(costs.max() + rng.random() * costs.sum())
    masks = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    best = max(weights @ mask for mask in masks if costs @ mask <= budget)
    chosen, finished = knapsack.heaviest(weights, costs, budget, 10**6)
    assert finished
    assert costs[chosen].sum() <= budget + 1e-12
    assert weights[chosen].sum() == pytest.approx(best, abs=1e-9)
    few, finished = knapsack.heaviest(weights, costs, budget, 1)
    assert costs[few].sum() <= budget + 1e-12


def test_a_budget_that_takes_too_long_is_left_to_linear_programs(monkeypatch):
    monkeypatch.setattr("swapwise.constraints.knapsack.MOST_ITERATIONS", 1)
    rng = np.random.default_rng(0)
    affordable = sw.Knapsack(rng.random(12), 2.0)
    weights = rng.random(12)
    found = affordable.max_weight(weights)
    monkeypatch.undo()
    assert found.weight == pytest.approx(affordable.max_weight(weights).weight)


def test_starts_by_gain_and_by_gain_per_cost():
    f = sw.Linear([5.0, 3.0, 3.0])
    affordable = sw.Knapsack([4.0, 2.0, 2.0], 4.0)
    assert sw.maximize(f, affordable, "greedy").support.tolist() == [0]
    assert sw.maximize(f, affordable, "density").support.tolist() == [1, 2]
    assert sw.maximize(f, affordable, "cost-benefit").support.tolist() == [1, 2]
    assert sw.maximize(f, affordable, "oblivious", start="density").strategies[0].name == "density"
    assert sw.maximize(sw.Linear([9.0, 3.0, 3.0]), affordable, "cost-benefit").support.tolist() == [0]
    with pytest.raises(TypeError, match=r"density needs a budget, such as a Knapsack, got Uniform"):
        sw.maximize(f, sw.Uniform(3, 2), "density")
    guarantee = sw.maximize(sw.Coverage([{1, 2}, {2, 3}, {4}]), affordable, "cost-benefit").guarantee
    assert guarantee.by_theorem.ratio == pytest.approx((1 - np.exp(-1)) / 2)


def test_costs_are_by_name_or_by_position():
    by_position = sw.Knapsack({2: 3.0, 0: 1.0, 1: 2.0}, 4.0)
    assert by_position.names is None
    assert by_position.costs.tolist() == [[1.0, 2.0, 3.0]]
    assert sw.Knapsack(pd.Series([1.0, 2.0]), 4.0).names is None
    with pytest.raises(ValueError, match=r"by name .* or by position \(0 to 1, .* got some for 1, 2"):
        sw.Knapsack({1: 3.0, 2: 1.0}, 4.0)
    with pytest.raises(ValueError, match="number 1 names others"):
        sw.Knapsack([{"a": 3.0, "b": 1.0}, {"a": 3.0, "c": 1.0}], [4.0, 4.0])
    with pytest.raises(TypeError, match="got a frame: hand in one of its columns"):
        sw.Knapsack(pd.DataFrame({"a": [1.0, 2.0]}), 4.0)


def test_weights_that_hardly_differ_are_told_apart():
    two = sw.Knapsack([[1 - 4e-7, 1.0], [1.0, 1.0]], [1.0, 9.0])
    found = two.max_weight([1.0, 1 + 3e-7])
    assert found.support.tolist() == [1]
    assert found.upper_bound >= 1 + 3e-7


@pytest.mark.parametrize("constraint", [sw.Knapsack([1, 1, 1], 2), sw.FewGroups([0, 1, 2], 2)], ids=repr)
def test_what_is_forced_in_is_part_of_a_max_weight_set(constraint):
    found = constraint.contract([0]).max_weight([5.0, 1.0, 2.0])
    assert found.support.tolist() == [0, 2]
    assert found.weight == 7.0


def test_an_empty_ground_set_has_one_set():
    empty = sw.Hierarchy(0, {})
    assert len(empty.max_weight([]).support) == 0
    assert sw.exact(sw.Linear([]), empty).status is sw.Status.OPTIMAL


def test_what_is_forced_in_is_paid_for_by_all_sets_that_are_weighed():
    costs = [[3.0, 2.0, 0.0, 4.0, 3.0], [1.0, 0.0, 0.0, 3.0, 0.0]]
    both = sw.Intersection(sw.Uniform(5, 4), sw.Knapsack(costs, [5.0, 5.0])).contract([0])
    found = both.max_weight([8.0, 1.0, -1.0, 3.0, 7.0])  # the fifth does not fit beside the first
    assert (found.support.tolist(), found.weight, found.exact) == ([0, 1], 9.0, True)
