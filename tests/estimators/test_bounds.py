"""Bounds on coefficients, as estimators take them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import swapwise as sw


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    spread = [1.0, 5.0, 0.1, 1.0, 2.0, 3.0]
    X = pd.DataFrame(random.standard_normal((120, 6)) * spread + 3.0, columns=list("abcdef"))
    y = 2.0 * X["a"] - X["b"] + 10.0 * X["c"] + random.standard_normal(120)
    return X, y


def test_coefficients_that_may_not_be_negative_are_those_of_scikit_learn(table):
    X, y = table
    model = sw.SparseRegressor(3, positive=True).fit(X, y)
    known = LinearRegression(positive=True).fit(X.iloc[:, model.support_], y)
    np.testing.assert_allclose(model.coef_[model.support_], known.coef_, atol=1e-7)
    assert model.intercept_ == pytest.approx(known.intercept_, abs=1e-6)
    assert "b" not in model.get_feature_names_out()


@pytest.mark.parametrize("standardize", [True, False])
def test_bounds_are_in_the_units_of_the_data(table, standardize):
    X, y = table
    bounds = {"a": (0, 1.5), "c": (None, 4)}
    model = sw.SparseRegressor(3, bounds=bounds, standardize=standardize).fit(X, y)
    assert list(model.get_feature_names_out()) == ["a", "b", "c"]
    assert model.coef_[0] == 1.5
    assert model.coef_[2] == 4.0
    assert model.result_.at_bound.tolist() == [0, 2]
    left = y - 1.5 * X["a"] - 4.0 * X["c"]
    slope = LinearRegression().fit(X[["b"]], left)
    assert model.coef_[1] == pytest.approx(slope.coef_[0])
    assert model.intercept_ == pytest.approx(slope.intercept_)
    proof = model.certify(X, y)
    assert proof.optimal


def test_bounds_by_position_by_name_and_for_all_are_the_same(table):
    X, y = table
    by_name = sw.SparseRegressor(3, bounds=dict.fromkeys(X, (-1, 1))).fit(X, y)
    for bounds in ((-1, 1), [(-1, 1)] * 6, dict.fromkeys(range(6), (-1, 1))):
        other = sw.SparseRegressor(3, bounds=bounds).fit(X, y)
        np.testing.assert_array_equal(other.coef_, by_name.coef_)


@pytest.mark.parametrize("criterion", ["cv", "bic"])
def test_paths_keep_to_bounds(table, criterion):
    X, y = table
    model = sw.SparseRegressorCV(positive=True, criterion=criterion).fit(X, y)
    assert (model.coef_ >= 0).all()
    assert model.coef_[0] > 0


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (sw.SparseClassifier, lambda y: (y > y.median()).astype(int)),
        (sw.SparseGLMRegressor, lambda y: np.maximum(y.round(), 0)),
        (sw.SparseGLMRegressor, lambda y: np.abs(y) + 0.1),
    ],
)
def test_likelihoods_keep_to_bounds(table, kind, target):
    X, y = table
    model = kind(3, positive=True).fit(X, target(y))
    assert (model.coef_ >= 0).all()
    free = kind(3).fit(X, target(y))
    assert model.result_.value < free.result_.value
    assert model.certify(X, target(y), time_limit=20).ratio > 0.9


def test_a_selector_hands_bounds_on(table):
    X, y = table
    kept = sw.SparseSelector(2, positive=True, loss="squared").fit(X, y)
    np.testing.assert_array_equal(kept.support_, sw.SparseRegressor(2, positive=True).fit(X, y).support_)


def test_what_bounds_do_not_go_with_is_named(table):
    X, y = table
    with pytest.raises(ValueError, match="chosen one by one: leave out groups"):
        sw.SparseRegressor(2, positive=True, groups=list("aabbcc")).fit(X, y)
    with pytest.raises(ValueError, match="for two classes, got 3"):
        sw.SparseClassifier(2, positive=True).fit(X, pd.qcut(y, 3, labels=False))
    with pytest.raises(ValueError, match="bounds names 'z', which the data do not have"):
        sw.SparseRegressor(2, bounds={"z": (0, 1)}).fit(X, y)
