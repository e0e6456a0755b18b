"""Estimators under lower limits: what is chosen, what is said of it, and which sizes are tried."""

from html import unescape

import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise.app.report.selection import selection_report

pytestmark = pytest.mark.filterwarnings("ignore:.* chosen columns (only|span)")


def data():
    """Return columns of two signals: those of the second are the first ones of the first, or nothing."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, 7)), columns=["a_0", "a_1", "a_2", "a_3", "b_0", "b_1", "b_2"])
    y = 2 * X["a_0"] - X["a_1"] + X["a_2"] + 0.1 * rng.standard_normal(60)
    X["b_0"], X["b_1"], X["b_2"] = X["a_3"], 0.0, 0.0
    return X, y


def of_each(at_least, size=None, capacity=4):
    return sw.Partition.from_columns(data()[0].columns, capacity=capacity, at_least=at_least, size=size)


def test_a_feature_that_adds_nothing_is_chosen_and_named():
    X, y = data()
    with pytest.warns(UserWarning, match="'b_1' adds nothing, and was chosen only to meet a lower limit"):
        model = sw.SparseRegressor(of_each({"b": 2}, 5, capacity=3)).fit(X, y)
    assert list(model.get_feature_names_out()) == ["a_0", "a_1", "a_2", "b_0", "b_1"]
    assert model.result_.filled.tolist() == [5]
    assert model.coef_[5] == 0
    page = unescape(selection_report(model, X, y))
    assert "'b_1' adds nothing, and was chosen only to meet a lower limit." in page
    assert model.certify(X, y).optimal
    plain = sw.SparseRegressor(2).fit(X, y)
    assert "lower limit" not in selection_report(plain, X, y)


def test_groups_of_columns_are_named_by_their_labels():
    X, y = data()
    groups = [name[0] if name != "b_2" else "none" for name in X.columns]
    with pytest.warns(UserWarning, match="'b', 'none' add nothing, and were chosen only"):
        model = sw.SparseRegressor(sw.Uniform(3, 3, 3), groups=groups).fit(X, y)
    assert "'b', 'none' add nothing" in unescape(selection_report(model, X, y))
    assert len(model.support_) == 7


def test_sizes_that_miss_a_lower_limit_are_left_out():
    X, y = data()
    with pytest.warns(UserWarning, match=r"the sizes \[1, 2\] are left out, as they are below 3"):
        model = sw.SparseRegressorCV(of_each({"a": 2, "b": 1}), sizes=range(1, 6), criterion="bic").fit(X, y)
    assert model.path_["size"].tolist() == [3, 4, 5]
    for support, size in zip(model.path_supports_, [3, 4, 5], strict=True):
        assert len(support) <= size
        assert (support >= 4).sum() >= 1
    by_default = sw.SparseRegressorCV(of_each({"a": 2, "b": 1}), criterion="bic").fit(X, y)
    assert by_default.path_["size"].tolist() == [3, 4, 5, 6, 7]
    with pytest.raises(ValueError, match=r"the sizes \[1, 2\] are all below 3, as many as all lower limits"):
        sw.SparseRegressorCV(of_each({"a": 2, "b": 1}), sizes=[1, 2]).fit(X, y)
    exactly = sw.SparseRegressorCV(sw.Uniform(7, 4, 4), criterion="bic").fit(X, y)
    assert exactly.path_["size"].tolist() == [4]


def test_capacities_below_a_lower_limit_are_left_out():
    X, y = data()
    X["b_1"] = np.sign(X["b_0"])
    with pytest.warns(UserWarning, match=r"the capacities \[1\] are left out, as they are below 2"):
        model = sw.SparseRegressorCV(
            of_each({"b": 2}, size=6), sizes=[1, 2, 3], along="capacity", criterion="bic"
        ).fit(X, y)
    assert model.path_["size"].tolist() == [2, 3]
    assert model.constraint_.at_least == {"a": 0, "b": 2}
    assert model.constraint_.size == 6


def test_forced_features_count():
    X, y = data()
    model = sw.SparseRegressor(of_each({"b": 1}, 3), forced=["b_2"]).fit(X, y)
    assert list(model.get_feature_names_out()) == ["a_0", "a_2", "b_2"]
    assert model.result_.filled.tolist() == []  # nobody asked for less
    path = sw.SparseRegressorCV(of_each({"b": 1}), forced=["b_2"], criterion="bic", sizes=[1, 2]).fit(X, y)
    assert [support.tolist() for support in path.path_supports_] == [[6], [0, 6]]


@pytest.mark.parametrize("model", [sw.SparseClassifier, sw.SparseGLMRegressor])
def test_likelihoods(model):
    X, y = data()
    fitted = model(of_each({"b": 1}, 3)).fit(X, (y > 0).astype(int))
    assert (fitted.support_ >= 4).sum() >= 1
    assert fitted.certify(X, (y > 0).astype(int)).ratio > 0.9
