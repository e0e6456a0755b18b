"""Arrays that NumPy would read as plain numbers: with masks, of complex numbers, of bytes."""

import numpy as np
import pytest

import swapwise as sw

rng = np.random.default_rng(0)
X, y, weight = rng.standard_normal((30, 4)), rng.integers(0, 2, 30).astype(float), np.ones(30)
MODELS = [sw.SparseRegressor(2), sw.SparseClassifier(2), sw.SparseGLMRegressor(2)]
GRAPHS = [sw.GaussianGraph(), sw.IsingGraph(), sw.MixedGraph()]
OBJECTIVES = [sw.LeastSquares, sw.Logistic, sw.Poisson]


def masked(values):
    return np.ma.array(values, mask=np.arange(values.size).reshape(values.shape) == 5)


@pytest.mark.parametrize("model", [*MODELS, *OBJECTIVES])
@pytest.mark.parametrize("name", ["X", "y", "sample_weight"])
def test_masked_entries_are_refused(model, name):
    given = {"X": X, "y": y, "sample_weight": weight}
    given[name] = masked(given[name])
    with pytest.raises(ValueError, match=f"{name} must have no masked entries, got 1; fill them in"):
        (model if isinstance(model, type) else model.fit)(**given)


@pytest.mark.parametrize("single", [False, True])
def test_masked_entries_are_refused_in_any_precision(single):
    given = masked(X.astype(np.float32) if single else X)
    with pytest.raises(ValueError, match="X must have no masked entries"):
        sw.LeastSquares(given, y)


@pytest.mark.parametrize("graph", GRAPHS)
def test_graphs_refuse_them_too(graph):
    with pytest.raises(ValueError, match="X must have no masked entries"):
        graph.fit(masked((X > 0).astype(float)))


@pytest.mark.parametrize("model", MODELS)
def test_masks_of_nothing_change_nothing(model):
    expected = model.fit(X, y).coef_
    np.testing.assert_array_equal(model.fit(np.ma.array(X), np.ma.array(y)).coef_, expected)


@pytest.mark.parametrize("model", [*MODELS, *GRAPHS])
def test_complex_numbers_are_refused_without_all_of_the_data(model):
    with pytest.raises(ValueError, match="Complex data not supported: X must hold real numbers") as refused:
        model.fit(X + 1j, y)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("model", MODELS)
def test_bytes_without_a_type_are_refused(model):
    with pytest.raises(ValueError, match=r"y must hold numbers, got values of type \|V3"):
        model.fit(X, np.array([np.void(b"yes"), np.void(b"no!")] * 15))


@pytest.mark.parametrize("objective", [*OBJECTIVES, sw.NegativeBinomial])
def test_no_samples_are_refused(objective):
    with pytest.raises(ValueError, match="must have at least one"):
        objective(np.empty((0, 3)), np.empty(0))
