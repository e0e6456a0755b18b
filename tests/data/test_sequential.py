"""A design that is read chunk by chunk says what the same design in memory says, in few passes."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.columns import ColumnSubset
from swapwise.data.dense import DenseMatrix
from swapwise.data.design import Design
from swapwise.data.mapped import ArrayChunks
from swapwise.data.reductions import Dots


def both(rng, samples, features, step, weighted, centre, standardize):
    X = rng.standard_normal((samples, features)) * rng.uniform(0.1, 10, features)
    X += rng.choice([0.0, 1.0, 1e5], features) * rng.standard_normal(features)
    X[:, rng.random(features) < 0.1] = 4.0
    if features > 2:
        X[:, 1] = X[:, 0] * 2
        X[:, 2] = X[:, 0] + 1e-7 * rng.standard_normal(samples)
    y = rng.standard_normal(samples)
    weight = rng.random(samples) + 0.1 if weighted else None
    plain = Design(DenseMatrix(X), weight, centre, standardize)
    chunks = ChunkedMatrix(ArrayChunks(X, step))
    return plain, Design(chunks, weight, centre, standardize, target=y), y


@given(
    st.integers(0, 10_000),
    st.integers(3, 30),
    st.integers(1, 12),
    st.integers(1, 40),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=150)
def test_same_as_in_memory(seed, samples, features, step, weighted, centre, standardize):
    rng = np.random.default_rng(seed)
    plain, chunked, y = both(rng, samples, features, step, weighted, centre, standardize)
    y = plain.rows(y, "y")
    scale = np.sqrt(plain.squared_norms)
    near = {"rtol": 1e-9, "atol": 1e-9 * max(1.0, scale.max()) * max(1.0, np.abs(y).max()) * samples}
    # What is left of a nearly constant column is rounded by its mean.
    np.testing.assert_allclose(chunked.squared_norms, plain.squared_norms, rtol=1e-7, atol=near["atol"])
    np.testing.assert_allclose(chunked.scale, plain.scale, rtol=1e-7)
    np.testing.assert_allclose(chunked.origin + chunked.shift, plain.shift, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(chunked.with_target, plain.correlate(y), **near)
    some = rng.permutation(features)[: rng.integers(1, features + 1)]
    np.testing.assert_allclose(chunked.columns(some), plain.columns(some), **near)
    large = {"rtol": 1e-9, "atol": 1e-9 * max(1.0, scale.max()) ** 2}
    np.testing.assert_allclose(chunked.products(some), plain.products(some), **large)
    coef = rng.standard_normal(features)
    np.testing.assert_allclose(chunked.combine(coef), plain.combine(coef), **near)
    vectors = rng.standard_normal((2, samples))
    np.testing.assert_allclose(chunked.dots(vectors), plain.dots(vectors), **near)


@given(st.integers(0, 10_000), st.integers(3, 40), st.integers(1, 9), st.booleans())
@settings(max_examples=150)
def test_views_have_the_inner_products_of_the_columns(seed, samples, features, centre):
    rng = np.random.default_rng(seed)
    plain, chunked, y = both(rng, samples, features, 7, False, centre, True)
    for _ in range(3):
        some = rng.permutation(features)[: rng.integers(0, features + 1)]
        columns, target = chunked.view(some)
        expected = plain.columns(some)
        np.testing.assert_allclose(columns @ columns.T, expected @ expected.T, atol=1e-9 * samples)
        np.testing.assert_allclose(columns @ target, expected @ y, atol=1e-9 * samples)
        assert target @ target == pytest.approx(y @ y)


def test_nearly_collinear_columns_keep_their_digits():
    # What is left of the second column is a millionth of its length: its square is lost in inner products.
    rng = np.random.default_rng(0)
    first, rest, y = rng.standard_normal((3, 200))
    X = np.column_stack([first, first + 1e-6 * rest])
    chunked = Design(ChunkedMatrix(ArrayChunks(X, 30)), target=y)
    columns, target = chunked.view(np.array([0, 1]))
    expected = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(np.linalg.lstsq(columns.T, target, rcond=None)[0], expected, rtol=1e-8)


def design_of(rng, samples=100, features=30):
    X, y = rng.standard_normal((samples, features)), rng.standard_normal(samples)
    return Design(ChunkedMatrix(ArrayChunks(X, 30)), centre=True, target=y)


def test_passes_are_counted():
    design = design_of(np.random.default_rng(1))
    assert design.passes == 1
    design.products(np.array([3, 4]))
    assert design.passes == 2
    design.products(np.array([4, 3]))
    design.view(np.array([3, 4]))
    design.gram(np.array([3]), np.array([7]))
    assert design.passes == 2
    design.products(np.array([5]), likely=lambda: np.array([9, 10]))
    assert design.passes == 3
    design.view(np.array([9, 10, 3]))
    assert design.passes == 3
    design.columns(np.array([3]))
    design.combine(np.ones(30))
    design.dots(np.ones((1, 100)))
    assert design.passes == 6


def test_what_is_likely_is_not_read_for_its_own_sake():
    design = design_of(np.random.default_rng(2))
    design.products(np.array([3]))
    design.products(np.array([3]), likely=lambda: np.array([9]))
    assert design.passes == 2


def test_columns_far_from_zero_take_one_more_pass():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((80, 4)), rng.standard_normal(80)
    X += np.array([0.0, 1e6, 0.0, 1e9])
    chunked = Design(ChunkedMatrix(ArrayChunks(X, 30)), centre=True, target=y)
    assert chunked.passes == 2
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(chunked.gram(np.arange(4), np.arange(4)), centred.T @ centred, rtol=1e-6)


@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_another_target_is_not_ignored(seed, weighted, nearly_collinear):
    rng = np.random.default_rng(seed)
    X, y, other = rng.standard_normal((40, 5)), *rng.standard_normal((2, 40))
    if nearly_collinear:
        X[:, 1] = X[:, 0] + 1e-5 * rng.standard_normal(40)
    weight = rng.random(40) + 0.1 if weighted else None
    design = Design(ChunkedMatrix(ArrayChunks(X, 7)), weight, centre=True, target=y)
    some = np.array([0, 1, 3])
    design.view(some)
    before, passes = design.with_target.copy(), design.passes
    aimed = design.aimed_at(other)
    np.testing.assert_allclose(
        aimed.with_target, Design(DenseMatrix(X), weight, True, target=other).with_target
    )
    assert (aimed.passes, design.passes) == (passes + 1, passes + 1)  # of the same data
    columns, target = aimed.view(some)
    np.testing.assert_allclose(columns @ target, aimed.with_target[some], atol=1e-10)
    np.testing.assert_array_equal(design.with_target, before)
    assert design.aimed_at(y) is design
    expected = sw.LeastSquares(Design(DenseMatrix(X), weight, centre=True), other)
    for made in (design, aimed):
        assert sw.LeastSquares(made, other)([0, 1, 3]) == pytest.approx(expected([0, 1, 3]), abs=1e-9)


@given(st.integers(0, 10_000), st.booleans())
def test_some_columns_of_another_target(seed, is_chunked):
    rng = np.random.default_rng(seed)
    X, y, other = rng.standard_normal((30, 6)), *rng.standard_normal((2, 30))
    weight, few = rng.random(30) + 0.1, np.array([1, 2, 5])
    matrix = ChunkedMatrix(ArrayChunks(X, 7)) if is_chunked else DenseMatrix(X)
    design = Design(matrix, weight, target=y)
    subset = ColumnSubset(design, few, design.gram(few, few))
    assert subset.aimed_at(design.target) is subset
    aimed, root = subset.aimed_at(design.rows(other, "y")), np.sqrt(weight)
    np.testing.assert_allclose(aimed.with_target, (X[:, few].T * weight) @ other, atol=1e-10)
    columns, target = aimed.view(np.array([0, 2]))
    np.testing.assert_allclose(columns @ target, (X[:, [1, 5]].T * weight) @ other, atol=1e-10)
    assert target @ target == pytest.approx((root * other) @ (root * other))


def test_columns_without_a_target_say_so():
    with pytest.raises(ValueError, match="must have a target, got none: give one by aimed_at"):
        Design(ChunkedMatrix(ArrayChunks(np.eye(3), 2))).with_target  # noqa: B018


def test_least_squares_refuses_a_design_without_scaled_rows():
    design = Design(DenseMatrix(np.eye(3)), np.arange(1.0, 4.0), scale_rows=False)
    with pytest.raises(ValueError, match="rows are scaled by their weights, got scale_rows=False"):
        sw.LeastSquares(design, np.ones(3))
    sw.LeastSquares(Design(DenseMatrix(np.eye(3)), scale_rows=False), np.ones(3))


@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_other_weights_in_products(seed, is_chunked, scale_rows):
    rng = np.random.default_rng(seed)
    X, weight, v = rng.standard_normal((25, 4)) + 1, rng.random(25) + 0.1, rng.random(25)
    matrix = ChunkedMatrix(ArrayChunks(X, 7)) if is_chunked else DenseMatrix(X)
    design = Design(matrix, weight, centre=True, scale_rows=scale_rows)
    some, columns = np.array([3, 0]), design.columns(np.arange(4))
    np.testing.assert_allclose(design.cross(some, v), (columns[some] * v) @ columns.T, atol=1e-11)


def test_reductions_of_some_columns_count_as_their_share():
    X, y = np.random.default_rng(0).standard_normal((20, 8)), np.ones(20)
    design = Design(ChunkedMatrix(ArrayChunks(X, 6)), target=y)
    few = np.array([1, 4])
    (found,) = design.reduce_some(few, lambda held: Dots(), y[None])
    np.testing.assert_allclose(found, y[None] @ X[:, few])
    assert design.passes == 1 + 1 + 2 / 8
    design.reduce_some(few, lambda held: Dots(), y[None])
    assert design.passes == 1 + 1 + 4 / 8
    (found,) = design.reduce(Dots(), y[None])
    np.testing.assert_allclose(found, y[None] @ X)
    assert design.passes == 2 + 1 + 4 / 8


def test_columns_that_fits_are_made_of_are_read_once(monkeypatch):
    X = np.random.default_rng(0).standard_normal((40, 10))
    design = Design(ChunkedMatrix(ArrayChunks(X, 7)), centre=True)
    coef, before = np.zeros(10), design.passes
    coef[[2, 5]] = 1.0, -1.0
    for _ in range(3):
        np.testing.assert_allclose(design.combine(coef), (X - X.mean(axis=0)) @ coef, atol=1e-12)
    assert design.passes == before + 1
    monkeypatch.setattr("swapwise.data.design.KEPT_COLUMNS_ENTRIES", 0)  # room for none
    design = Design(ChunkedMatrix(ArrayChunks(X, 7)), centre=True)
    np.testing.assert_allclose(design.combine(coef), (X - X.mean(axis=0)) @ coef, atol=1e-12)
    some, few = np.array([2, 5]), np.array([7, 5])
    expected = np.cov(X.T, bias=True)[np.ix_(some, few)] * 40
    np.testing.assert_allclose(design.gram(some, few, exact=True), expected, atol=1e-12)


def test_reads_of_some_columns_count_as_their_share_of_the_whole():
    design = Design(ChunkedMatrix(ArrayChunks(np.random.default_rng(0).standard_normal((40, 10)), 7)))
    before = design.passes
    few = design.restricted(np.array([1, 4]))
    assert design.passes == before + 1
    few.dots(np.ones((1, 40)))
    assert few.passes == 1
    assert design.passes == pytest.approx(before + 1.2)


def test_designs_travel():
    X, y = np.random.default_rng(0).standard_normal((20, 4)), np.arange(20.0)
    for matrix in (ChunkedMatrix(ArrayChunks(X, 6)), DenseMatrix(X)):
        design = Design(matrix, centre=True, target=y)
        design.view(np.array([0, 2]))
        sent = pickle.loads(pickle.dumps(design.aimed_at(y + X[:, 0])))
        columns, target = sent.view(np.array([1, 3]))
        centred = X - X.mean(axis=0)
        np.testing.assert_allclose(columns @ target, centred[:, [1, 3]].T @ (y + X[:, 0]), atol=1e-9)
