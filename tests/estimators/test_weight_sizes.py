"""Weights of any size that can be summed; others are refused, and not blamed on the target."""

import numpy as np
import pytest

import swapwise as sw

MODELS = [sw.SparseRegressor(2), sw.SparseRegressorCV(cv=3), sw.SparseClassifierCV(cv=3)]


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).standard_normal((60, 4))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("size", [1e17, 1e-60, 1e60])
def test_the_size_of_weights_does_not_matter(model, size, data):
    X, y = data
    expected = model.fit(X, y, sample_weight=np.ones(60)).support_.tolist()
    assert model.fit(X, y, sample_weight=np.full(60, size)).support_.tolist() == expected


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("size", [1e-300, 1e200, 1e308])
def test_weights_that_leave_floating_point_are_named(model, size, data):
    with pytest.raises(ValueError, match=r"sample_weight must have its largest entry .* divide it"):
        model.fit(*data, sample_weight=np.full(60, size))
