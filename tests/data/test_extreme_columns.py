"""Columns whose squares leave floating point: in memory a design rescales them, in chunks it refuses them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import swapwise as sw
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.design import Design
from swapwise.data.mapped import ArrayChunks
from swapwise.data.open import open_matrix

STORAGES = {"rows": np.ascontiguousarray, "columns": np.asfortranarray, "sparse": sparse.csr_array}
EXPONENTS = [-1050, -1000, -664, -300, 0, 300, 664, 1000, 1015]


@st.composite
def problems(draw):
    """Return a matrix, the powers of two of its columns, weights, and the two switches."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    samples, n = int(rng.integers(3, 12)), int(rng.integers(1, 6))
    X = rng.integers(-20, 21, (samples, n)) / 4 + rng.choice([0.0, 0.0, 300.0], n)
    X[:, rng.random(n) < 0.2] = rng.choice([0.0, 3.0])
    weight = rng.uniform(0.1, 3, samples) if draw(st.booleans()) else None
    return X, rng.choice(EXPONENTS, n), weight, draw(st.booleans()), draw(st.sampled_from(list(STORAGES)))


@given(problems(), st.booleans())
def test_standardised_they_are_what_they_are_at_size_one(problem, scale_rows):
    X, exponents, weight, centre, storage = problem
    if not centre:  # constant columns are not divided by their deviation
        exponents = np.where(np.ptp(X, axis=0) == 0, 0, exponents)
    plain = Design(open_matrix(X), weight, centre, True, scale_rows=scale_rows)
    given_X = STORAGES[storage](np.ldexp(X, exponents))
    design = Design(open_matrix(given_X), weight, centre, True, scale_rows=scale_rows)
    rng, every = np.random.default_rng(0), np.arange(X.shape[1])
    V, coef, v = rng.standard_normal((2, len(X))), rng.standard_normal(len(every)), rng.random(len(X))
    size = {"rtol": 1e-9, "atol": 1e-9 * max(1.0, np.abs(plain.columns(every)).max()) ** 2 * len(X)}
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_allclose(design.columns(every), plain.columns(every), **size)
        np.testing.assert_allclose(design.squared_norms, plain.squared_norms, **size)
        np.testing.assert_allclose(design.dots(V), plain.dots(V), **size)
        np.testing.assert_allclose(design.combine(coef), plain.combine(coef), **size)
        np.testing.assert_allclose(design.gram(every, every), plain.gram(every, every), **size)
        np.testing.assert_allclose(design.products(every), plain.products(every), **size)
        np.testing.assert_allclose(design.weighted_squares(v), plain.weighted_squares(v), **size)
        np.testing.assert_allclose(design.largest_entries, plain.largest_entries, **size)
    coef[np.abs(exponents) >= 1000] = 0.0  # their coefficients are no numbers
    coef[np.ptp(X, axis=0) == 0] = 0.0  # what is constant has no deviation to be divided by
    found, expected = design.original(coef, 0.0)[0], plain.original(coef, 0.0)[0]
    np.testing.assert_allclose(np.ldexp(found, exponents), expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-200, 1e-100, 1e100, 1e200])
@pytest.mark.parametrize("storage", list(STORAGES))
def test_as_they_are_they_are_refused(size, storage):
    X = np.random.default_rng(0).standard_normal((9, 3))
    X[:, 1] *= size
    with pytest.raises(
        ValueError, match=r"column 1 of X has entries of size .*e[+-][12]0.*whose squares leave"
    ):
        Design(open_matrix(STORAGES[storage](X)))
    with pytest.raises(ValueError, match="column 1 of X has entries of size"):
        sw.LeastSquares(STORAGES[storage](X), np.ones(9))
    X[:, 1] = size
    assert not Design(open_matrix(STORAGES[storage](X)), centre=True).squared_norms[1]
    with pytest.raises(ValueError, match="column 1 of X has entries of size"):
        Design(open_matrix(STORAGES[storage](X)), standardize=True)


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize("order", ["C", "F"])
def test_where_copies_may_not_fit_they_are_refused(size, order, tmp_path):
    X = np.random.default_rng(0).standard_normal((9, 3))
    X[:, 1] *= size
    np.save(tmp_path / "x.npy", np.asarray(X, order=order))
    for matrix in (ChunkedMatrix(ArrayChunks(X, 4)), open_matrix(tmp_path / "x.npy")):
        with pytest.raises(ValueError, match="column 1 of X has entries of size"):
            Design(matrix, standardize=True, centre=True)


@pytest.mark.parametrize("model", [sw.SparseRegressor(3), sw.SparseClassifier(3), sw.SparseGLMRegressor(3)])
def test_coefficients_that_leave_floating_point_are_refused(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = (X[:, 1] + rng.standard_normal(40) > 0).astype(float)
    X[:, 1] *= 1e-310
    with pytest.raises(ValueError, match=r"column 1 of X varies by no more than .*e-31.*rescale it"):
        model.fit(X, y)
