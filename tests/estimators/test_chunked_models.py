"""Classifiers and Poisson regressors on files, Dask arrays and frames: the same as in memory."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise.data import mapped

SAMPLES, FEATURES = 240, 60
ONE_EACH = sw.Partition(np.arange(FEATURES) % 12, 1).truncate(5)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let files be read in blocks of about fifty rows."""
    monkeypatch.setattr(mapped, "CHUNK_BYTES", 50 * 8 * FEATURES)


def problem():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((SAMPLES, FEATURES)) * rng.uniform(0.1, 10, FEATURES) + rng.normal(0, 3, FEATURES)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    eta = scaled[:, [3, 8, 22, 41, 54]] @ [1.0, -1.2, 1.5, 1.1, -0.9]
    X[:, 8] += 1e5  # far from zero
    X[:, 11] = 4.0  # constant
    y = np.where(rng.random(SAMPLES) < 1 / (1 + np.exp(-eta)), "yes", "no")
    hours = rng.uniform(1, 5, SAMPLES)
    weight = rng.integers(0, 3, SAMPLES).astype(float)
    return X, y, rng.poisson(hours * np.exp(0.5 * eta)), np.log(hours), weight


X, CLASSES, COUNTS, OFFSET, WEIGHT = problem()


def stored(kind, folder, X=X):
    """Return X as it is stored there."""
    if kind == "dask array":
        return da.from_array(X, chunks=(100, 25))
    if kind == "dask frame":
        return dd.from_pandas(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), npartitions=3)
    path = folder / "X.npy"
    np.save(path, np.asfortranarray(X) if kind == "file by columns" else X)
    return path if kind == "path" else np.load(path, mmap_mode="r")


KINDS = ["file", "path", "file by columns", "dask array", "dask frame"]
OPTIONS = [
    {},
    {"ridge": 0.0},
    {"fit_intercept": False},
    {"standardize": False},
    {"fit_intercept": False, "standardize": False, "ridge": 0.01},
]


def same(found, expected):
    assert found.support_.tolist() == expected.support_.tolist()
    for name in ("coef_", "intercept_"):
        ours, theirs = np.atleast_1d(getattr(found, name)), np.atleast_1d(getattr(expected, name))
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())
    assert found.result_.n_passes > 1


@pytest.mark.parametrize("kind", KINDS)
def test_classifier(kind, tmp_path):
    data = stored(kind, tmp_path)
    expected = sw.SparseClassifier(ONE_EACH).fit(X, CLASSES, WEIGHT)
    found = sw.SparseClassifier(ONE_EACH).fit(data, CLASSES, WEIGHT)
    same(found, expected)
    assert found.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(found.decision_function(data), expected.decision_function(X), atol=1e-7)
    assert found.predict(data).tolist() == expected.predict(X).tolist()
    np.testing.assert_allclose(found.predict_proba(data), expected.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_poisson(kind, tmp_path):
    data = stored(kind, tmp_path)
    expected = sw.SparseGLMRegressor(ONE_EACH).fit(X, COUNTS, WEIGHT, OFFSET)
    found = sw.SparseGLMRegressor(ONE_EACH).fit(data, COUNTS, WEIGHT, OFFSET)
    same(found, expected)
    np.testing.assert_allclose(found.predict(data, OFFSET), expected.predict(X, OFFSET), rtol=1e-7)
    assert found.score(data, COUNTS, offset=OFFSET) == pytest.approx(expected.score(X, COUNTS, offset=OFFSET))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(options, tmp_path):
    data = stored("file", tmp_path)
    for estimator, y in ((sw.SparseClassifier, CLASSES), (sw.SparseGLMRegressor, COUNTS)):
        same(estimator(5, **options).fit(data, y), estimator(5, **options).fit(X, y))


def test_targets_in_chunks_and_weights_of_classes(tmp_path):
    data, y = stored("dask array", tmp_path), CLASSES == "yes"
    balanced = sw.SparseClassifier(4, class_weight="balanced", n_restarts=2)
    found = balanced.fit(data, da.from_array(y, chunks=100))
    same(found, sw.SparseClassifier(4, class_weight="balanced", n_restarts=2).fit(X, y))


def test_names_of_a_frame(tmp_path):
    model = sw.SparseClassifier(3, forced=["x7"]).fit(stored("dask frame", tmp_path), CLASSES)
    assert "x7" in model.get_feature_names_out()


def test_single_precision_is_read_as_it_is(tmp_path):
    narrow = X.astype(np.float32)
    found = sw.SparseClassifier(4).fit(stored("file", tmp_path, narrow), CLASSES)
    same(found, sw.SparseClassifier(4).fit(narrow.astype(float), CLASSES))


def test_sizes_chosen_by_a_criterion(tmp_path):
    data, sizes = stored("file", tmp_path), range(1, 8)
    expected = sw.SparseGLMRegressorCV(sizes=sizes, criterion="ebic").fit(X, COUNTS, offset=OFFSET)
    found = sw.SparseGLMRegressorCV(sizes=sizes, criterion="ebic").fit(data, COUNTS, offset=OFFSET)
    assert found.size_ == expected.size_
    same(found, expected)


def test_sizes_chosen_by_cross_validation(tmp_path):
    data, sizes = stored("file", tmp_path), (2, 4, 5)
    expected = sw.SparseClassifierCV(sizes=sizes, cv=3).fit(X, CLASSES, WEIGHT)
    found = sw.SparseClassifierCV(sizes=sizes, cv=3).fit(data, CLASSES, WEIGHT)
    np.testing.assert_allclose(found.path_["cv_mean"], expected.path_["cv_mean"], rtol=1e-7)
    same(found, expected)


@pytest.mark.parametrize("estimator", [sw.SparseClassifier(3), sw.SparseGLMRegressor(3)])
def test_a_chunk_with_a_missing_number_is_named(estimator, tmp_path):
    holed = X.copy()
    holed[130, 7] = np.nan
    y = COUNTS > 2
    with pytest.raises(ValueError, match=r"got nan at position \(130, 7\), in chunk 1 \(rows 100 to 199\)"):
        estimator.fit(stored("dask array", tmp_path, holed), y)
    with pytest.raises(ValueError, match=r"got nan at position \(130, 7\)"):
        estimator.fit(stored("file", tmp_path, holed), y)


def never(block):
    raise AssertionError("nothing is to be read")


class TestRefusals:
    unread = da.from_array(X, chunks=(100, FEATURES)).map_blocks(never, dtype=float, meta=np.empty((0, 0)))

    def test_several_classes(self):
        with pytest.raises(TypeError, match="more than two classes need data in memory, got data in chunks"):
            sw.SparseClassifier(3).fit(self.unread, np.arange(SAMPLES) % 3)

    def test_groups(self):
        with pytest.raises(TypeError, match="groups need data in memory, got data in chunks"):
            sw.SparseGLMRegressor(3, groups=["a"] * FEATURES).fit(self.unread, COUNTS)

    def test_zeros_only(self):
        with pytest.raises(ValueError, match="y must have a positive entry"):
            sw.SparseGLMRegressor(3).fit(self.unread, np.zeros(SAMPLES))


def test_proofs_for_many_features_are_those_of_data_in_memory(tmp_path):
    wide = np.tile(X, 9)
    data = stored("file", tmp_path, wide)
    model = sw.SparseClassifier(2, ridge=0.1).fit(data, CLASSES)
    chunked, plain = (model.certify(where, CLASSES, gap=0.3) for where in (data, wide))
    assert chunked.upper_bound == pytest.approx(plain.upper_bound)
    assert 0.7 < chunked.ratio < 1
    assert chunked.kind == "relaxation"
    assert chunked.n_passes > 1
