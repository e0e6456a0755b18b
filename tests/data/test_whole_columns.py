"""What likelihoods ask of a design: all columns at once, their weighted squares, their largest entries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.design import Design
from swapwise.data.mapped import ArrayChunks
from swapwise.data.open import open_design, open_matrix
from tests.data.test_design import STORAGES, explicit, problems


def unscaled(problem):
    """Return a design without row weights, its columns spelled out, and the weights."""
    storage, X, weight, centre, standardize = problem
    design = Design(open_matrix(STORAGES[storage](X)), weight, centre, standardize, scale_rows=False)
    A, _, scale, _ = explicit(X, weight, centre, standardize)
    w = np.ones(len(X)) if weight is None else weight
    sizes = np.abs(X).max(axis=0) / scale
    return design, A / np.sqrt(w)[:, None], w, sizes


@given(problems())
def test_rows_are_left_as_they_are_but_inner_products_are_weighted(problem):
    design, A, w, sizes = unscaled(problem)
    every = np.arange(A.shape[1])
    close = 1e-9 * (sizes + 1e-3) * len(A)
    assert design.row_scale is None
    assert (np.abs(design.columns(every) - A.T) <= close[:, None]).all()
    assert (np.abs(design.combine(np.ones(len(every))) - A.sum(axis=1)) <= 1e-5 * sizes.sum() * len(A)).all()
    gram, tolerance = (A.T * w) @ A, 1e-5 * w.sum() * np.outer(sizes + 1e-3, sizes + 1e-3)
    for found in (design.gram(every, every), design.cross(every), design.products(every)):
        assert (np.abs(found - gram) <= tolerance).all()
    assert (np.abs(design.squared_norms - np.diag(gram)) <= np.diag(tolerance)).all()
    smallest, largest = design.extreme_eigenvalues()
    true = np.linalg.eigvalsh(gram)
    assert smallest <= max(true[0], 0) + 1e-9 * tolerance.sum()
    assert largest >= true[-1] - 1e-9 * tolerance.sum()


@given(problems(), st.integers(0, 10**6), st.booleans())
def test_weighted_squares_are_those_of_the_columns(problem, seed, scale_rows):
    storage, X, weight, centre, standardize = problem
    design = Design(open_matrix(STORAGES[storage](X)), weight, centre, standardize, scale_rows=scale_rows)
    v = np.random.default_rng(seed).random(len(X))
    columns = design.columns(np.arange(X.shape[1]))
    np.testing.assert_allclose(design.weighted_squares(v), columns**2 @ v, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(
        super(Design, design).weighted_squares(v), columns**2 @ v, rtol=1e-12, atol=1e-300
    )


@given(problems(), st.booleans())
def test_largest_entries_are_those_of_the_columns(problem, scale_rows):
    storage, X, weight, centre, standardize = problem
    design = Design(open_matrix(STORAGES[storage](X)), weight, centre, standardize, scale_rows=scale_rows)
    columns = design.columns(np.arange(X.shape[1]))
    np.testing.assert_array_equal(design.largest_entries, np.abs(columns).max(axis=1))


@given(st.integers(0, 10_000), st.integers(1, 40), st.booleans(), st.booleans())
def test_chunks_say_the_same(seed, step, weighted, centre):
    rng = np.random.default_rng(seed)
    samples, n = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    X = rng.standard_normal((samples, n)) + rng.choice([0.0, 1.0, 1e5], n)
    X[:, rng.random(n) < 0.2] = 3.0
    y, weight = rng.standard_normal(samples), rng.random(samples) + 0.1 if weighted else None
    plain = Design(open_matrix(X), weight, centre, True, scale_rows=False)
    chunked = Design(ChunkedMatrix(ArrayChunks(X, step)), weight, centre, True, target=y, scale_rows=False)
    every, v = np.arange(n), rng.random(samples)
    w = np.ones(samples) if weight is None else weight
    columns = plain.columns(every)
    size = {"rtol": 1e-8, "atol": 1e-8 * samples * max(1.0, np.abs(columns).max())}
    np.testing.assert_allclose(chunked.columns(every), columns, **size)
    np.testing.assert_allclose(chunked.with_target, columns @ (w * y), **size)
    np.testing.assert_allclose(chunked.weighted_squares(v), plain.weighted_squares(v), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(chunked.largest_entries, plain.largest_entries, rtol=1e-8, atol=1e-8)
    large = {"rtol": 1e-8, "atol": size["atol"] * max(1.0, np.abs(columns).max())}
    np.testing.assert_allclose(chunked.gram(every, every), (columns * w) @ columns.T, **large)
    shown, target = chunked.view(every)
    np.testing.assert_allclose(shown @ shown.T, (columns * w) @ columns.T, **large)
    np.testing.assert_allclose(shown @ target, columns @ (w * y), **large)
    some = chunked.scaled(every[::-1])
    np.testing.assert_allclose(some.of(X - chunked.origin, None), columns[::-1], **size)
    held = np.arange(n)[n // 2 :]
    some = chunked.scaled(held[::-1], held)
    np.testing.assert_allclose(some.of((X - chunked.origin)[:, held], None), columns[held[::-1]], **size)


@given(problems(), st.integers(0, 10**6))
def test_coefficients_lead_back_to_the_data(problem, seed):
    storage, X, weight, centre, standardize = problem
    design = Design(open_matrix(STORAGES[storage](X)), weight, centre, standardize, scale_rows=False)
    coef = np.random.default_rng(seed).standard_normal((2, X.shape[1])) * (design.factor != 0)
    plain, intercept = design.original(coef, np.array([1.0, 2.0]))
    A = explicit(X, weight, centre, standardize)[0]
    A = A if weight is None else A / np.sqrt(weight)[:, None]
    size = np.abs(plain) @ np.abs(X).max(axis=0) + 1.0
    error = np.abs(plain @ X.T + intercept[:, None] - (coef @ A.T + np.array([[1.0], [2.0]])))
    assert (error <= 1e-9 * size[:, None]).all()


def test_files_by_columns_are_opened_by_rows_if_asked(tmp_path):
    X, y = np.random.default_rng(0).standard_normal((20, 3)), np.arange(20.0)
    np.save(tmp_path / "x.npy", np.asfortranarray(X))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    v, every = np.arange(20.0), np.arange(3)
    for by_rows in (False, True):
        design = open_design(mapped, y, centre=True, scale_rows=False, by_rows=by_rows)
        assert design.sequential == by_rows
        expected = design.columns(every)
        np.testing.assert_allclose(expected, (X - X.mean(axis=0)).T, atol=1e-14)
        np.testing.assert_allclose(design.weighted_squares(v), expected**2 @ v, rtol=1e-12)
        np.testing.assert_allclose(design.largest_entries, np.abs(expected).max(axis=1), rtol=1e-14)


@pytest.mark.parametrize("centre", [False, True])
def test_coefficients_lead_back_to_data_in_chunks_that_are_far_from_zero(centre):
    rng = np.random.default_rng(0)
    X, coef = rng.standard_normal((50, 3)) + np.array([0.0, 5.0, 1e6]), rng.standard_normal(3)
    design = Design(ChunkedMatrix(ArrayChunks(X, 7)), None, centre, True)
    assert design.origin.any() == centre
    plain, intercept = design.original(coef, 2.0)
    np.testing.assert_allclose(X @ plain + intercept, design.combine(coef) + 2.0, atol=1e-6)
