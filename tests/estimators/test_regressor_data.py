"""Regression on data however they are stored: the same answer, and no copy of them."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LinearRegression, Ridge

from swapwise import Partition, SparseRegressor, SparseRegressorCV

STORAGES = {
    "columns": np.asfortranarray,
    "view": lambda X: np.repeat(X, 2, axis=0)[::2],
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "frame": lambda X: pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
    "single": lambda X: X.astype(np.float32),
    "single columns": lambda X: np.asfortranarray(X, dtype=np.float32),
    "single frame": lambda X: pd.DataFrame(X.astype(np.float32)).rename(columns=str),
}


def problem(seed=0, n_samples=60, n_features=12, offset=0.0):
    """Return data with zeros among them that single precision holds, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * (rng.random((n_samples, n_features)) < 0.6)
    X = (X * rng.uniform(0.1, 30, n_features) + offset).astype(np.float32).astype(np.float64)
    y = X[:, :4] @ np.array([3.0, -2.0, 1.0, 0.5]) + 2 * rng.standard_normal(n_samples) + 7
    return X, y, rng.integers(1, 4, n_samples).astype(float)


@settings(max_examples=100)
@given(
    seed=st.integers(0, 200),
    storage=st.sampled_from(list(STORAGES)),
    weighted=st.booleans(),
    fit_intercept=st.booleans(),
    standardize=st.booleans(),
    ridge=st.sampled_from([None, 2.0]),
)
def test_storage_does_not_matter(seed, storage, weighted, fit_intercept, standardize, ridge):
    X, y, weight = problem(seed)
    weight = weight if weighted else None
    model = SparseRegressor(4, fit_intercept=fit_intercept, standardize=standardize, ridge=ridge)
    expected = model.fit(X, y, weight)
    support, coef, intercept = expected.support_, expected.coef_, expected.intercept_
    stored = STORAGES[storage](X)
    found = model.fit(stored, y, weight)
    tolerance = 1e-4 if storage.startswith("single") else 1e-8
    assert found.support_.tolist() == support.tolist()
    np.testing.assert_allclose(found.coef_, coef, rtol=tolerance, atol=0)
    assert found.intercept_ == pytest.approx(intercept, rel=tolerance, abs=tolerance)
    np.testing.assert_allclose(found.predict(stored), X @ coef + intercept, rtol=1e-4, atol=10 * tolerance)


@pytest.mark.parametrize("storage", ["rows", *STORAGES])
@pytest.mark.parametrize("n_features", [12, 300])
def test_coefficients_are_those_of_a_refit(storage, n_features):
    X, y, weight = problem(3, n_features=n_features)
    stored = X if storage == "rows" else STORAGES[storage](X)
    model = SparseRegressor(4).fit(stored, y, weight)
    refit = LinearRegression().fit(X[:, model.support_], y, weight)
    np.testing.assert_allclose(model.coef_[model.support_], refit.coef_, rtol=1e-6)
    assert model.intercept_ == pytest.approx(refit.intercept_, rel=1e-6)
    assert model.support_.tolist()[:3] == [0, 1, 2]


@pytest.mark.parametrize("storage", ["csr", "csc", "single", "columns"])
def test_the_ridge_is_that_of_scikit_learn_on_all_storages(storage):
    X, y, weight = problem(4)
    model = SparseRegressor(3, ridge=7.5, standardize=False).fit(STORAGES[storage](X), y, weight)
    refit = Ridge(alpha=7.5).fit(X[:, model.support_], y, weight)
    np.testing.assert_allclose(model.coef_[model.support_], refit.coef_, rtol=1e-6)


@pytest.mark.parametrize("storage", ["csr", "csc", "coo", "columns"])
@pytest.mark.parametrize("criterion", ["cv", "bic"])
def test_sizes_are_chosen_alike(storage, criterion):
    X, y, weight = problem(5)
    model = SparseRegressorCV(criterion=criterion, sizes=range(1, 7))
    expected = model.fit(X, y, weight)
    size, support, coef = expected.size_, expected.support_.tolist(), expected.coef_
    found = model.fit(STORAGES[storage](X), y, weight)
    assert (found.size_, found.support_.tolist()) == (size, support)
    np.testing.assert_allclose(found.coef_, coef, rtol=1e-8)


def test_frames_are_matched_by_name_without_a_look_at_their_order():
    X, y, _ = problem(6)
    frame = pd.DataFrame(X, columns=[f"{'ab'[j % 2]}_{j}" for j in range(12)])
    one_a_kind = Partition.from_columns(frame.columns[::-1], sep="_", capacity=1)
    model = SparseRegressor(one_a_kind).fit(frame, y)
    assert model.get_feature_names_out().tolist() == ["a_0", "b_1"]


@pytest.mark.parametrize("storage", ["rows", *STORAGES])
def test_sparse_and_dense_predictions_agree(storage):
    X, y, _ = problem(7)
    model = SparseRegressor(3).fit(X, y)
    stored = X if storage == "rows" else STORAGES[storage](X)
    if storage.endswith("frame"):
        model = model.fit(stored, y)
    np.testing.assert_allclose(model.predict(stored), X @ model.coef_ + model.intercept_, rtol=1e-12)
    assert model.score(stored, y) == pytest.approx(model.result_.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("storage", ["rows", *STORAGES])
@pytest.mark.parametrize("estimator", [SparseRegressor(2), SparseRegressorCV(cv=2)])
def test_what_is_not_finite_is_named(bad, storage, estimator):
    X, y, _ = problem()
    model = SparseRegressor(2).fit(X, y)
    X[3, 2] = bad
    stored = X if storage == "rows" else STORAGES[storage](X)
    word = "NaN" if np.isnan(bad) else "infinity"
    with pytest.raises(ValueError, match=f"Input X contains {word}"):
        estimator.fit(stored, y)
    with (
        pytest.raises(ValueError, match=f"Input X contains {word}"),
        warnings.catch_warnings(action="ignore", category=UserWarning),  # fit has seen no names
    ):
        model.predict(stored)
    with pytest.raises(ValueError, match=f"Input y contains {word}"):
        estimator.fit(problem()[0], np.where(np.arange(60) == 5, bad, y))


@pytest.mark.parametrize("storage", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_large_means_cost_no_features(storage, offset):
    X, y, weight = problem(8)
    near = SparseRegressor(3).fit(X, y, weight)
    support, coef = near.support_.tolist(), near.coef_
    far = SparseRegressor(3).fit(storage(X + offset), y, weight)
    assert far.support_.tolist() == support
    np.testing.assert_allclose(far.coef_, coef, rtol=1e-7)


@pytest.mark.parametrize("storage", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("size", [1e-120, 1e-90, 1e90, 1e120, 1e170])
def test_columns_whose_squares_leave_floating_point_are_fitted(storage, size):
    X, y, _ = problem(9)
    expected = SparseRegressor(3).fit(X, y)
    support, coef = expected.support_.tolist(), expected.coef_
    factor = np.where(np.arange(12) % 2 == 0, size, 1.0)
    found = SparseRegressor(3).fit(storage(X * factor), y)
    assert found.support_.tolist() == support
    np.testing.assert_allclose(found.coef_ * factor, coef, rtol=1e-9)


@pytest.mark.parametrize("storage", ["rows", "csr", "single"])
@pytest.mark.parametrize("n_features", [12, 300])
def test_where_nothing_can_be_gained_there_is_the_intercept_alone(storage, n_features):
    X, y, weight = problem(14, n_features=n_features)
    stored = X if storage == "rows" else STORAGES[storage](X)
    for model in (SparseRegressor(0), SparseRegressor(3)):
        target = y if model.constraint == 0 else np.full(60, 7.0)
        with pytest.warns(UserWarning, match="intercept"):
            model.fit(stored, target, weight)
        assert len(model.support_) == 0
        assert model.intercept_ == pytest.approx(np.average(target, weights=weight))


@pytest.mark.parametrize("storage", ["rows", *STORAGES])
def test_data_are_left_as_they_are(storage):
    X, y, weight = problem(10, n_features=250)
    stored = X.copy() if storage == "rows" else STORAGES[storage](X)
    before = stored.copy()
    SparseRegressor(5).fit(stored, y, weight)
    difference = before - stored
    assert not (difference.toarray() if sparse.issparse(difference) else np.asarray(difference)).any()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("storage", [np.ascontiguousarray, np.asfortranarray])
def test_dense_data_are_not_copied(kind, storage):
    rng = np.random.default_rng(11)
    X = storage(rng.standard_normal((2000, 1500)), dtype=kind)
    y = X[:, :5].sum(axis=1) + rng.standard_normal(2000)
    SparseRegressor(3).fit(X[:50], y[:50])  # what is compiled and imported on the way is no copy of the data
    tracemalloc.start()
    try:
        SparseRegressor(5).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.4 * 8 * X.size * (1 if kind is np.float64 else 0.5)


def test_sparse_data_are_not_made_dense():
    X = sparse.random_array((3000, 2000), density=0.01, format="csr", rng=np.random.default_rng(12))
    y = X[:, [3, 700, 1500]].sum(axis=1) + 0.01 * np.random.default_rng(13).standard_normal(3000)
    SparseRegressor(3).fit(X[:50], y[:50])
    tracemalloc.start()
    try:
        model = SparseRegressor(3).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.support_.tolist() == [3, 700, 1500]
    assert peak < 0.25 * 8 * 3000 * 2000


@pytest.mark.parametrize("scale", [1e-50, 1e50])
def test_targets_of_any_size_are_fitted_in_single_precision(scale):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 8))
    y = X[:, 2] - X[:, 5] + 0.1 * rng.standard_normal(50)
    model = SparseRegressor(2).fit(X.astype(np.float32), y * scale)
    assert model.support_.tolist() == [2, 5]


@pytest.mark.parametrize(("dtype", "scale"), [("f", 1e20), ("f", 1e-25), ("d", 1e-170)])
def test_columns_of_any_size_are_fitted(dtype, scale):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 8))
    y = X[:, 2] - X[:, 5] + 0.1 * rng.standard_normal(50)
    assert SparseRegressor(2).fit((X * scale).astype(dtype), y).support_.tolist() == [2, 5]


def test_missing_values_count_even_in_samples_of_weight_zero():
    X, y, weight = np.ones((4, 2)), np.arange(4.0), [0, 1, 1, 1]
    X[0, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SparseRegressor(1).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("container", [np.asarray, lambda X: X.astype(np.float32), sparse.csr_array])
def test_the_place_of_a_missing_value_is_told(container):
    X = np.ones((4, 3))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"got nan at position \(2, 1\).*Input X contains NaN"):
        SparseRegressor(1).fit(container(X), np.arange(4.0))
