import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise.constraints.algorithms.few_groups import FewGroupsProblem


def test_a_group_as_a_whole_makes_room_for_another():
    weights = np.array([2.0, 2.0, 3.0, 3.5])
    panels = sw.FewGroups(["a", "a", "b", "b"], 1)
    moves = [move for batch in panels.moves(np.array([0, 1])) for move in batch.to_list().moves()]
    assert (moves[0].added, moves[0].dropped) == ((2,), (0, 1))
    found = sw.maximize(sw.Linear(weights), panels, "oblivious", start=[0, 1])
    assert found.support.tolist() == [0, 1]  # 3.5 alone is less than 4
    assert sw.maximize(sw.Linear([2.0, 2.0, 3.0, 4.5]), panels, start=[0, 1]).support.tolist() == [2, 3]


def test_names_are_matched_with_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((50, 4)), columns=["a_1", "a_2", "b_1", "c_1"])
    y = X["a_1"] + X["a_2"] + 1.2 * X["b_1"] + 0.1 * X["c_1"]
    few = sw.FewGroups({"c_1": "c", "b_1": "b", "a_1": "a", "a_2": "a"}, 2)
    model = sw.SparseRegressor(few).fit(X, y)
    assert model.get_feature_names_out().tolist() == ["a_1", "a_2", "b_1"]
    one = sw.SparseRegressor(sw.FewGroups(few.element_labels, 1), forced=[0]).fit(X[few.names], y)
    assert one.get_feature_names_out().tolist() == ["c_1"]
    assert sw.SparseRegressorCV(few, sizes=[1, 2, 3], criterion="bic").fit(X, y).size_ == 3


def test_limits_of_all_kinds():
    assert sw.FewGroups(["a", "b"], 0).loops().tolist() == [0, 1]
    assert sw.FewGroups(["a", "a", "b"], 1, {"a": 1, "b": 0}).max_size() == 1
    assert sw.FewGroups(["a", "a", "b"], 2, size=2).truncate(1).max_size() == 1
    assert sw.FewGroups([], 2).max_size() == 0
    assert repr(sw.FewGroups(["a", "a", "b"], 1, size=2)) == "FewGroups(n=3, 1 of 2 groups, size=2)"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["a", "b"], -1), ValueError, "groups must be a non-negative integer, got -1"),
        ((["a", "b"], 1, 1.5), TypeError, "capacity must be a non-negative integer, or a mapping"),
        ((["a", None], 1), ValueError, "every element needs a label, got None at position 1"),
        ((["a", "b"], 1, None, -2), ValueError, "size must be a non-negative integer, got -2"),
        (("ab", 1), TypeError, "labels must be a flat collection"),
    ],
)
def test_refuses_what_makes_no_sense(arguments, error, message):
    with pytest.raises(error, match=message):
        sw.FewGroups(*arguments)


def test_a_dynamic_programme_decides_where_no_price_does():
    # Two groups of three, or one of five: no price for an element tells which.
    weights = np.array([10.0, 1.0, 1.0, 9.0, 2.0, 2.0, 5.0, 5.0, 5.0])
    group = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    problem = FewGroupsProblem(weights, group, np.full(3, 3), np.zeros(3, dtype=bool), n_groups=2, size=4)
    assert weights[problem.heaviest()].sum() == 25.0
