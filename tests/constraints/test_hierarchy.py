import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import PolynomialFeatures

import swapwise as sw
from swapwise.constraints.terms import parents_of_powers, parents_of_terms


def test_terms_by_name():
    names = ["a", "b", "a:b", "a^2", "a^2:b", "c:c", "c"]
    found = parents_of_terms(names, ":", "^")
    assert found == {"a:b": ["a", "b"], "a^2": ["a"], "a^2:b": ["a:b", "a^2"], "c:c": ["c"]}


def test_a_missing_product_is_passed_over():
    assert parents_of_powers(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])) == {3: [0, 1, 2]}


def test_polynomials_of_scikit_learn():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 3)), columns=["x y", "b", "c"])
    terms = PolynomialFeatures(2).set_output(transform="pandas").fit(X)
    hierarchy = sw.Hierarchy.from_polynomial(terms, size=4)
    assert hierarchy.names[0] == "1"
    assert hierarchy.parents[4] == [1]
    assert hierarchy.parents[5] == [1, 2]
    Z = terms.transform(X)
    y = 5 * X["x y"] * X["b"] + 0.1 * X["c"]
    model = sw.SparseRegressor(hierarchy).fit(Z, y)
    assert {"x y b", "x y", "b"} <= set(model.get_feature_names_out())
    assert model.certify(Z, y).optimal


def test_paths_over_sizes_and_forced_terms():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    X[:, 3], X[:, 4] = X[:, 0] * X[:, 1], X[:, 1] * X[:, 2]
    y = 2 * X[:, 3] + X[:, 2] + 0.1 * rng.standard_normal(60)
    hierarchy = sw.Hierarchy(5, {3: [0, 1], 4: [1, 2]})
    path = sw.SparseRegressorCV(hierarchy, sizes=[1, 2, 3, 4], criterion="bic").fit(X, y)
    assert path.support_.tolist() == [0, 1, 2, 3]
    assert all(hierarchy.is_independent(chosen) for chosen in path.path_supports_)
    forced = sw.SparseRegressor(hierarchy.truncate(4), forced=[4]).fit(X, y)
    assert {1, 2, 4} <= set(forced.support_.tolist())
    restarted = sw.SparseRegressor(hierarchy.truncate(3), n_restarts=4).fit(X, y)
    assert hierarchy.is_independent(restarted.support_)


def test_a_weak_child_is_forced_with_a_parent():
    weak = sw.Hierarchy(["a", "b", "a:b"], {"a:b": ["a", "b"]}, kind="weak")
    with pytest.raises(ValueError, match=r"'a:b' is forced in, but none of its parents is: .* 'a', 'b'"):
        weak.contract([2])
    assert weak.contract([0, 2]).forced.tolist() == [0, 2]


def test_a_parent_makes_room_only_with_its_children():
    strong = sw.Hierarchy(4, {1: [0]}, 2)
    moves = [move for batch in strong.moves(np.array([0, 1])) for move in batch.to_list().moves()]
    assert {(move.added, move.dropped) for move in moves} == {((2,), (1,)), ((3,), (1,))}
    units = strong._units(np.array([0, 1]))
    assert [unit.tolist() for unit in units] == [[0, 1]]


def test_a_newcomer_may_take_the_place_of_a_parent():
    weak = sw.Hierarchy(3, {2: [0, 1]}, 2, kind="weak")
    assert weak._swap_mask(np.array([0, 2]))[1].tolist() == [True, True, False]
    strong = sw.Hierarchy(3, {2: [0]}, 2)
    assert strong._swap_mask(np.array([0, 2]))[1].tolist() == [False, True, False]


def test_two_hierarchies_are_one():
    both = sw.Intersection(sw.Hierarchy(3, {2: [0]}), sw.Hierarchy(3, {2: [1]}, 2), sw.Uniform(3, 3))
    assert [type(part).__name__ for part in both.parts] == ["Uniform", "Hierarchy"]
    assert both.loops().tolist() == [2]
    assert not both.hereditary


@pytest.mark.parametrize(
    ("n", "parents", "options", "error", "message"),
    [
        (3, {0: [1], 1: [0]}, {}, ValueError, "no element may need itself, but these need each other: 0, 1"),
        (3, {0: [3]}, {}, ValueError, "positions from 0 to 2, got 3"),
        (3, {"a": [0]}, {}, TypeError, "by position, or by name, got 'a'"),
        (["a", "b"], {"b": ["c"]}, {}, ValueError, "parents names 'c', which is not an element"),
        (3, [(0, 1)], {}, TypeError, "must be a mapping from element to its parents"),
        (3, {}, {"size": -1}, ValueError, "size must be a non-negative integer"),
        (3, {}, {"kind": "hard"}, ValueError, "kind must be 'strong' or 'weak', got 'hard'"),
    ],
)
def test_refuses_what_is_no_hierarchy(n, parents, options, error, message):
    with pytest.raises(error, match=message):
        sw.Hierarchy(n, parents, **options)


def test_refuses_names_and_polynomials_that_make_no_sense():
    with pytest.raises(ValueError, match="sep and power must be strings that are not empty"):
        sw.Hierarchy.from_names(["a"], sep="")
    with pytest.raises(TypeError, match="must be a PolynomialFeatures that has been fitted"):
        sw.Hierarchy.from_polynomial(PolynomialFeatures())
    with pytest.raises(ValueError, match="size must leave room for the 2 elements that are forced in, got 1"):
        sw.Hierarchy(2, {1: [0]}).contract([1]).truncate(1)


def test_what_lacks_a_parent_that_is_forced_out_is_a_loop():
    products = sw.Hierarchy(5, {2: [0, 1], 3: [0], 4: [3]})
    assert products.restrict([1, 2, 3, 4]).loops().tolist() == [0, 2, 3, 4]
    assert sw.Intersection(products, sw.Knapsack([9, 1, 1, 1, 1], 4)).loops().tolist() == [0, 2, 3, 4]


def test_newcomers_take_the_place_of_what_others_need():
    # 2 needs 0 or 1, and 1 comes with 3.
    either = sw.Hierarchy(5, {2: [0, 1], 3: [1]}, 3, kind="weak")
    moves = [move for batch in either.moves(np.array([0, 2, 4])) for move in batch.to_list().moves()]
    assert sw.extending.Move((1, 3), (0, 4)) in moves
    apart = sw.Intersection(either, sw.Conflicts(5, [(0, 3)]))
    moves = [move for batch in apart.moves(np.array([0, 2])) for move in batch.to_list().moves()]
    assert sw.extending.Move((1, 3), (0,)) in moves


def test_a_parent_of_negative_weight_is_chosen_where_its_child_is_worth_it():
    weights = [339653.8, -36516.1]
    found = sw.Hierarchy(2, {0: [1]}, 2, kind="weak").max_weight(weights)
    assert (found.support.tolist(), found.exact, found.upper_bound) == ([0, 1], True, pytest.approx(303137.7))
    assert sw.Hierarchy(2, {0: [1]}, 2).max_weight([1.0, -2.0]).support.tolist() == []


def test_so_is_an_element_of_negative_weight_where_a_lower_limit_needs_it():
    both = sw.Intersection(sw.Partition([0, 0, 1], 2, at_least={0: 1}), sw.Knapsack([1.0, 2.0, 3.0], 4.0))
    found = both.max_weight([-5.0, -3.0, 4.0])
    assert (found.support.tolist(), found.weight, found.exact) == ([0, 2], -1.0, True)


@pytest.mark.xfail(
    strict=True, raises=ValueError, reason="needs the one form of limits: sets that no addition leads to"
)
def test_elements_that_need_each_other_are_chosen_together():
    both = sw.Intersection(sw.Hierarchy(3, {0: [1]}), sw.Hierarchy(3, {1: [0]}))
    assert both.is_independent([0, 1])
    assert not both.is_independent([0])
    worth = sw.Linear([1.0, 2.0, 1.0])
    for method in ("auto", "exhaustive"):
        assert sw.maximize(worth, both, method).support.tolist() == [0, 1, 2]


def test_what_an_element_that_is_forced_in_cannot_do_without_is_forced_in_too():
    budget, parent = sw.Knapsack([2.0, 3.0, 3.0, 1.0], 7.0), sw.Hierarchy(4, {2: [1]}, 2, kind="weak")
    both = sw.Intersection(budget.contract([2]), parent)
    assert both.forced.tolist() == [1, 2]
    assert both.is_independent([])  # as {1, 2} is, with what it needs
    assert not both.is_independent([0])


class InARow(sw.Constraint):
    """Each element only after the one before."""

    n = 3

    def _is_independent(self, support):
        return support.tolist() == list(range(len(support)))


def test_a_class_of_ones_own_has_a_bound_that_no_set_exceeds():
    found = InARow().max_weight([-1.0, 2.0, 3.0])
    assert found.upper_bound >= 4.0
    assert InARow().is_independent(found.support)
