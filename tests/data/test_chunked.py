"""Data in chunks say what the same data in memory say: files by rows and columns, Dask arrays and frames."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise.data import mapped
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.dense import DenseMatrix
from swapwise.data.mapped import ArrayChunks, ColumnFile, MappedFile
from swapwise.data.open import open_matrix

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(mapped, "CHUNK_BYTES", 1 << 10)


def matrix_of(rng, samples, features):
    X = rng.standard_normal((samples, features)) + 3 * rng.standard_normal(features)
    X[:, rng.random(features) < 0.2] = 2.5
    return X


def by_rows(X, folder):
    np.save(folder / "rows.npy", np.ascontiguousarray(X))
    return open_matrix(np.load(folder / "rows.npy", mmap_mode="r"))


def by_name(X, folder):
    np.save(folder / "name.npy", np.ascontiguousarray(X))
    return open_matrix(folder / "name.npy")


def by_columns(X, folder):
    np.save(folder / "columns.npy", np.asfortranarray(X))
    return open_matrix(np.load(folder / "columns.npy", mmap_mode="r"))


def as_slice(X, folder):
    wide = np.zeros((len(X) + 5, X.shape[1] + 3))
    wide[5:, 2:-1] = X
    np.save(folder / "wide.npy", wide)
    return open_matrix(np.load(folder / "wide.npy", mmap_mode="r")[5:, 2:-1])


def as_dask(X, folder):
    return open_matrix(da.from_array(X, chunks=(7, 3)))


def as_frame(X, folder):
    return open_matrix(dd.from_pandas(pd.DataFrame(X), npartitions=3))


KINDS = [by_rows, by_name, by_columns, as_slice, as_dask, as_frame]


@pytest.mark.parametrize("store", KINDS)
@pytest.mark.parametrize(("samples", "features"), [(50, 6), (9, 20), (1, 1)])
def test_same_answers_as_in_memory(store, samples, features, tmp_path):
    rng = np.random.default_rng(samples)
    X = matrix_of(rng, samples, features)
    matrix, plain = store(X, tmp_path), DenseMatrix(X)
    weight, vectors = rng.random(samples), rng.standard_normal((3, samples))
    some, others = rng.permutation(features)[:4], rng.permutation(features)[:2]
    assert matrix.shape == X.shape
    np.testing.assert_array_equal(matrix.columns(some), plain.columns(some))
    np.testing.assert_allclose(matrix.products(vectors), vectors @ X, atol=1e-12)
    coef = rng.standard_normal(features) * (rng.random(features) < 0.5)
    np.testing.assert_allclose(matrix.combine(coef), X @ coef, atol=1e-12)
    both = np.column_stack([coef, np.zeros(features)])
    np.testing.assert_allclose(matrix.combine(both), X @ both, atol=1e-12)
    for found, expected in zip(matrix.moments(weight), plain.moments(weight), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        matrix.gram(some, others, weight), (X[:, some].T * weight) @ X[:, others], atol=1e-12
    )
    np.testing.assert_array_equal(matrix.largest_entries(some), np.abs(X[:, some]).max(axis=0))
    matrix.require_finite()


@pytest.mark.parametrize("store", KINDS)
def test_some_of_the_samples(store, tmp_path):
    rng = np.random.default_rng(1)
    X = matrix_of(rng, 40, 5)
    rows = np.sort(rng.permutation(40)[:11])
    some = store(X, tmp_path).take(rows)
    vectors, weight = rng.standard_normal((2, 11)), rng.random(11)
    np.testing.assert_array_equal(some.columns(np.arange(5)), X[rows].T)
    np.testing.assert_allclose(some.products(vectors), vectors @ X[rows], atol=1e-12)
    for found, expected in zip(some.moments(weight), DenseMatrix(X[rows]).moments(weight), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("store", KINDS)
@pytest.mark.parametrize("in_memory", [0, 1 << 20])
def test_some_of_the_columns(store, in_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "MOST_IN_MEMORY", in_memory)
    X = matrix_of(np.random.default_rng(2), 60, 8)
    few = np.array([6, 1, 3])
    restricted = store(X, tmp_path).restricted(few)
    np.testing.assert_array_equal(restricted.columns(np.arange(3)), X[:, few].T)
    rows = np.array([0, 5, 59])
    np.testing.assert_array_equal(restricted.take(rows).columns(np.arange(3)), X[rows][:, few].T)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 9))
@settings(max_examples=60)
def test_moments_do_not_depend_on_the_blocks(seed, samples, step):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, 3)) * [1.0, 1e-3, 1e4] + [0.0, 1e6, -5.0]
    weight = rng.integers(0, 3, samples).astype(float)
    weight[rng.integers(samples)] = 1.0
    found = ChunkedMatrix(ArrayChunks(X, step)).moments(weight)
    mean = weight @ X / weight.sum()
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12, atol=1e-12)
    spread = weight @ (X - mean) ** 2
    np.testing.assert_allclose(found.spread, spread, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool])
def test_other_numbers_are_read_as_doubles(dtype, tmp_path):
    X = (np.random.default_rng(3).standard_normal((30, 4)) * 3).astype(dtype)
    for store in (by_rows, by_columns, as_dask):
        columns = store(X, tmp_path).columns(np.arange(4))
        assert columns.dtype == np.float64
        np.testing.assert_array_equal(columns, X.T.astype(float))


def test_shifted_blocks():
    X = np.random.default_rng(4).standard_normal((20, 3))
    matrix = ChunkedMatrix(ArrayChunks(X, 6)).shifted(np.array([1.0, 0.0, 2.0]))
    np.testing.assert_allclose(matrix.columns(np.arange(3)), (X - [1.0, 0.0, 2.0]).T)
    again = matrix.shifted(np.ones(3)).restricted(np.array([2]))
    np.testing.assert_allclose(again.columns(np.array([0])), X[:, [2]].T - 3.0)


@pytest.mark.parametrize("store", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_named(store, value, tmp_path):
    X = matrix_of(np.random.default_rng(5), 40, 5)
    X[23, 2] = value
    matrix = store(X, tmp_path)
    with pytest.raises(ValueError, match=rf"X must be finite, got {value} at position \(23, 2\)"):
        matrix.require_finite()


def test_chunks_are_named():
    X = np.ones((20, 3))
    X[13, 1] = np.nan
    with pytest.raises(ValueError, match=r"in chunk 2 \(rows 10 to 14\)"):
        open_matrix(da.from_array(X, chunks=(5, 3))).require_finite()


def lying_chunk(X, shape):
    from dask import delayed

    return da.concatenate([da.ones((4, shape[1])), da.from_delayed(delayed(X), shape, float)])


def test_a_chunk_of_the_wrong_shape_or_type_is_named():
    narrow = open_matrix(lying_chunk(np.ones((5, 2)), (5, 3)))
    with pytest.raises(
        ValueError, match=r"chunk 1 of X \(rows 4 to 8\) must have shape \(5, 3\), got \(5, 2\)"
    ):
        narrow.products(np.ones((1, 9)))
    text = open_matrix(lying_chunk(np.full((5, 3), "a"), (5, 3)))
    with pytest.raises(
        TypeError, match=r"chunk 1 of X \(rows 4 to 8\) must hold real numbers, got values of type <U1"
    ):
        text.products(np.ones((1, 9)))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (lambda: da.ones(5), "must be two-dimensional"),
        (lambda: da.ones((0, 3)), "at least one sample"),
        (lambda: da.from_array(np.full((4, 2), "a")), "must hold real numbers"),
        (lambda: dd.from_pandas(pd.DataFrame({"a": [1.0], "b": ["x"]}), npartitions=1), "in column 'b'"),
    ],
)
def test_what_cannot_be_read_is_refused(X, words):
    with pytest.raises((TypeError, ValueError), match=words):
        open_matrix(X())


def test_chunks_of_unknown_length_are_counted():
    X = np.arange(20.0).reshape(10, 2)
    lazy = da.from_array(X, chunks=(4, 2))
    some = open_matrix(lazy[lazy[:, 0] > 5])
    np.testing.assert_array_equal(some.columns(np.array([0])), X[X[:, 0] > 5][:, [0]].T)


def test_sparse_chunks_are_made_dense_one_by_one():
    from scipy.sparse import csr_array

    X = np.eye(6)
    lazy = da.from_array(X, chunks=(2, 6)).map_blocks(csr_array)
    np.testing.assert_array_equal(open_matrix(lazy).columns(np.arange(6)), X)


def test_a_file_travels_by_its_name(tmp_path):
    X = matrix_of(np.random.default_rng(6), 300, 4)
    for store in (by_rows, as_slice, by_columns):
        matrix = store(X, tmp_path)
        sent = pickle.dumps(matrix)
        assert len(sent) < 1000
        np.testing.assert_array_equal(pickle.loads(sent).columns(np.arange(4)), X.T)


def test_a_file_that_was_turned_round_travels_too(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(12.0).reshape(4, 3))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for turned in (mapped[::-1], mapped[:, ::-1], mapped[::-2, 1:], mapped.T[::-1]):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(MappedFile(turned))).array, turned)


def test_parquet(tmp_path):
    X = matrix_of(np.random.default_rng(8), 40, 3)
    frame = pd.DataFrame(X, columns=list("abc"))
    dd.from_pandas(frame, npartitions=4).to_parquet(tmp_path / "table")
    matrix = open_matrix(dd.read_parquet(tmp_path / "table"))
    np.testing.assert_array_equal(matrix.columns(np.arange(3)), X.T)
    assert matrix.passes_to_open == 1


def test_where_in_its_file_a_slice_begins(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(12.0).reshape(4, 3))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    first = MappedFile(mapped).offset()
    assert (tmp_path / "x.npy").stat().st_size == first + 12 * 8
    assert MappedFile(mapped[2:, 1:]).offset() == first + 7 * 8


def test_private_copies_of_files_are_in_memory(tmp_path):
    # What was written to them would be lost if their pages were given back.
    np.save(tmp_path / "x.npy", np.zeros((4, 3)))
    private = np.load(tmp_path / "x.npy", mmap_mode="c")
    private[1, 1] = 5.0
    matrix = open_matrix(private)
    assert isinstance(matrix, DenseMatrix)
    assert matrix.columns(np.array([1]))[0, 1] == 5.0


def test_changes_that_a_file_shares_are_kept(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 3)))
    shared = np.load(tmp_path / "x.npy", mmap_mode="r+")
    shared[1, 1] = 5.0
    assert open_matrix(shared).columns(np.array([1]))[0, 1] == 5.0
    assert shared[1, 1] == 5.0


def test_files_by_columns_are_read_by_columns(tmp_path):
    matrix = by_columns(np.random.default_rng(7).standard_normal((50, 4)), tmp_path)
    assert isinstance(matrix, ColumnFile)
