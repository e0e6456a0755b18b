import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge

from swapwise import Intersection, Partition, SparseRegressor, SparseRegressorCV


def problem(seed=0, n_samples=60, n_features=7):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * rng.uniform(0.1, 50, n_features) + rng.uniform(
        -9, 9, n_features
    )
    y = X @ rng.standard_normal(n_features) + 5 * rng.standard_normal(n_samples) + 20
    return X, y, rng.integers(0, 4, n_samples).astype(float)


@settings(max_examples=50)
@given(
    seed=st.integers(0, 99),
    size=st.integers(1, 7),
    weighted=st.booleans(),
    fit_intercept=st.booleans(),
    standardize=st.booleans(),
    by_group=st.booleans(),
)
def test_coefficients_are_those_of_a_plain_refit(seed, size, weighted, fit_intercept, standardize, by_group):
    X, y, weight = problem(seed)
    model = SparseRegressor(
        size,
        fit_intercept=fit_intercept,
        standardize=standardize,
        groups=list("aabcdee") if by_group else None,
    ).fit(X, y, weight if weighted else None)
    chosen = model.support_
    refit = LinearRegression(fit_intercept=fit_intercept)
    refit.fit(X[:, chosen], y, weight if weighted else None)
    np.testing.assert_allclose(model.coef_[chosen], refit.coef_, rtol=1e-6, atol=1e-9)
    assert model.intercept_ == pytest.approx(refit.intercept_, rel=1e-6, abs=1e-6)
    assert not np.delete(model.coef_, chosen).any()
    np.testing.assert_allclose(model.predict(X), refit.predict(X[:, chosen]), rtol=1e-6)


@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_ridge_is_that_of_scikit_learn(weighted, by_group):
    X, y, weight = problem()
    weight = weight if weighted else np.ones(len(y))
    groups = list("aabcdee") if by_group else None
    model = SparseRegressor(3, ridge=7.5, standardize=False, groups=groups).fit(X, y, weight)
    refit = Ridge(alpha=7.5).fit(X[:, model.support_], y, weight)
    np.testing.assert_allclose(model.coef_[model.support_], refit.coef_, rtol=1e-6)
    assert model.intercept_ == pytest.approx(refit.intercept_)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_ridge_is_on_standardised_columns(fit_intercept):
    X, y, weight = problem()
    model = SparseRegressor(3, ridge=7.5, fit_intercept=fit_intercept).fit(X, y, weight)
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    refit = Ridge(alpha=7.5, fit_intercept=fit_intercept)
    refit.fit((X / deviation)[:, model.support_], y, weight)
    np.testing.assert_allclose((model.coef_ * deviation)[model.support_], refit.coef_, rtol=1e-6)
    assert model.intercept_ == pytest.approx(refit.intercept_)


def test_units_do_not_matter():
    X, y, _ = problem()
    factor = 10.0 ** np.array([-90, -3, 0, 2, 90, 5, -6])
    model, same = SparseRegressor(3, ridge=2.0).fit(X, y), SparseRegressor(3, ridge=2.0).fit(X * factor, y)
    assert same.support_.tolist() == model.support_.tolist()
    np.testing.assert_allclose(same.coef_ * factor, model.coef_, rtol=1e-9)


def test_columns_far_from_zero_lose_no_digits():
    X = 1e8 + np.random.default_rng(0).standard_normal((20000, 3))
    y = X[:, 1] - 1e8
    np.testing.assert_allclose(SparseRegressor(1).fit(X, y).predict(X), y, rtol=0, atol=1e-7)


def test_score_is_r_squared_and_result_agrees():
    X, y, weight = problem()
    model = SparseRegressor(3).fit(X, y, weight)
    assert model.score(X, y, weight) == pytest.approx(model.result_.value)


def test_weights_of_zero_are_samples_left_out():
    X, y, weight = problem()
    kept = weight > 0
    wild = X.copy()
    wild[~kept] = 1e60
    model = SparseRegressor(3).fit(wild, y, weight)
    np.testing.assert_allclose(model.coef_, SparseRegressor(3).fit(X[kept], y[kept], weight[kept]).coef_)


def test_constant_columns_are_never_chosen():
    X, y, weight = problem(n_samples=1000)
    X[:, [0, 3]] = [0.1, 1e6 / 3]
    with pytest.warns(UserWarning, match="5 chosen columns span all"):
        model = SparseRegressor(7).fit(X, y, weight + 0.1)
    assert model.support_.tolist() == [1, 2, 4, 5, 6]


def test_a_constant_target_needs_no_features():
    X, _, _ = problem()
    with pytest.warns(UserWarning, match="y is constant: no feature adds anything") as caught:
        # With these weights the mean of 0.7 is not 0.7 to the last digit.
        model = SparseRegressor(3).fit(X, np.full(len(X), 0.7), np.arange(1, 61) / 7)
    assert [str(w.message)[:13] for w in caught] == ["y is constant"]
    assert model.support_.tolist() == []
    assert model.result_.value == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.predict(X), 0.7)


def test_the_search_is_told_how():
    X, y, _ = problem()
    assert len(SparseRegressor(3, tol=2.0).fit(X, y).support_) == 0
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        assert len(SparseRegressor(3, max_iter=1).fit(X, y).support_) == 1
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        begun = SparseRegressor(3, start=[0, 1, 2], max_iter=0).fit(X, y)
    assert begun.support_.tolist() == [0, 1, 2]
    assert SparseRegressor(3, method="semi-oblivious").fit(X, y).result_.method == "semi-oblivious"
    for kind in (SparseRegressor, SparseRegressorCV):
        with pytest.raises(ValueError, match=r"leave q at 1: under a number of features or .*; got q = 2"):
            kind(3, q=2).fit(X, y)
    rows_and_columns = Intersection(Partition(list("aabbccc"), 1), Partition(list("abababa"), 1))
    assert len(SparseRegressor(rows_and_columns, q=2).fit(X, y).support_) == 2


def test_chooses_the_best_by_r_squared():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 5)) + 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SparseRegressor(2).fit(X, 3 * X[:, 2] - X[:, 0] + 7)
    assert model.support_.tolist() == [0, 2]
    np.testing.assert_allclose(model.coef_, [-1, 0, 3, 0, 0], atol=1e-9)
    assert model.intercept_ == pytest.approx(7)
    assert model.n_iter_ == model.result_.n_iter == 2
