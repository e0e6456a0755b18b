"""Constraints beyond matroids in estimators: names find their columns, and paths grow."""

import numpy as np
import pandas as pd
import pytest

import swapwise as sw

NAMES = ["a", "b", "c", "d", "a:b", "c:d", "e", "f"]
PRICES = dict(zip(NAMES, [3.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0], strict=True))
PANELS = dict(zip(NAMES, [*"xxyyxyzz"], strict=True))
FAMILIES = {
    "conflicts": sw.Conflicts(NAMES, [("a", "b"), ("c", "e")]),
    "few groups": sw.FewGroups(PANELS, 2),
    "budget": sw.Knapsack(PRICES, 6.0),
    "two budgets": sw.Knapsack([PRICES, PRICES | {"a": 1.0}], [6.0, 5.0]),
    "strong hierarchy": sw.Hierarchy.from_names(NAMES, size=4),
    "weak hierarchy": sw.Hierarchy.from_names(NAMES, size=4, kind="weak"),
    "at least": sw.Partition(PANELS, 2, at_least=1),
    "hierarchy within a budget": sw.Intersection(sw.Hierarchy.from_names(NAMES), sw.Knapsack(PRICES, 6.0)),
    "at least within a budget": sw.Intersection(
        sw.Partition(PANELS, 3, at_least=1), sw.Knapsack(PRICES, 6.0)
    ),
}
each_family = pytest.mark.parametrize("constraint", FAMILIES.values(), ids=list(FAMILIES))


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.standard_normal((60, len(NAMES))), columns=NAMES)
    frame["a:b"], frame["c:d"] = frame["a"] * frame["b"], frame["c"] * frame["d"]
    y = frame["a"] + 2.0 * frame["a:b"] - frame["e"] + 0.5 * frame["f"] + 0.3 * random.standard_normal(60)
    return frame, y


def positions(model) -> np.ndarray:
    """Return the chosen features by their positions in the constraint."""
    return np.array(sorted(NAMES.index(name) for name in model.get_feature_names_out()), dtype=np.intp)


@each_family
def test_names_find_their_columns(constraint, data):
    frame, y = data
    model = sw.SparseRegressor(constraint).fit(frame, y)
    shuffled = sw.SparseRegressor(constraint).fit(frame[NAMES[::-1]], y)
    assert constraint.is_independent(positions(model))
    assert constraint.is_complete(positions(model))
    assert not constraint.is_independent(range(len(NAMES)))  # it does limit something
    assert positions(shuffled).tolist() == positions(model).tolist()
    assert model.predict(frame) == pytest.approx(shuffled.predict(frame[NAMES[::-1]]), abs=1e-8)


@each_family
def test_paths_grow_within_the_constraint(constraint, data):
    frame, y = data
    model = sw.SparseRegressorCV(constraint, sizes=range(3, 6), criterion="bic").fit(frame, y)
    assert list(model.path_["size"]) == [3, 4, 5][: len(model.path_)]
    assert model.path_["deviance"].is_monotonic_decreasing
    assert len(positions(model)) <= model.size_
    assert constraint.is_independent(positions(model))
    assert constraint.is_complete(positions(model))


@pytest.mark.parametrize("kind", ["strong", "weak"])
def test_a_forced_product_comes_with_what_it_cannot_do_without(kind, data):
    frame, y = data
    products = sw.Hierarchy.from_names(NAMES, kind=kind)
    forced = ["c:d"] if kind == "strong" else ["c:d", "d"]
    model = sw.SparseRegressorCV(products, sizes=range(1, 6), criterion="bic", forced=forced)
    with pytest.warns(UserWarning, match="leave no room for what is forced in"):
        model.fit(frame, y)
    assert {"c:d", "d"} <= set(model.get_feature_names_out())
    assert list(model.path_["size"]) == ([3, 4, 5] if kind == "strong" else [2, 3, 4, 5])
    assert products.is_independent(positions(model))


def test_names_that_the_data_lack_are_an_error(data):
    frame, y = data
    with pytest.raises(ValueError, match="the constraint names 'f', which the data do not have"):
        sw.SparseRegressor(FAMILIES["budget"]).fit(frame.rename(columns={"f": "z"}), y)
