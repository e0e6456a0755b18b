"""Linear regression finds the same in memory, in files, sparse matrices, and Dask arrays and frames."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import swapwise as sw
from swapwise.data import mapped
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ArrayChunks

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(mapped, "CHUNK_BYTES", 1 << 15)


def saved(X, folder, order="C"):
    np.save(folder / "X.npy", np.asarray(X, order=order))
    return np.load(folder / "X.npy", mmap_mode="r")


STORES = {
    "file": lambda X, folder: saved(X, folder),
    "name": lambda X, folder: (saved(X, folder), folder / "X.npy")[1],
    "file by columns": lambda X, folder: saved(X, folder, "F"),
    "sparse": lambda X, folder: csr_array(X),
    "dask array": lambda X, folder: da.from_array(X, chunks=(37, 50)),
    "dask frame": lambda X, folder: dd.from_pandas(pd.DataFrame(X), npartitions=3),
}


def regression(samples, features, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, features)) + rng.standard_normal(features)
    X[:, 1::2] += 0.7 * X[:, ::2][:, : X[:, 1::2].shape[1]]
    X[:, 4] = 2.0
    X[:, 6] = X[:, 7]
    X[:, 9] += 1e5
    coef = rng.standard_normal(features) * (rng.random(features) < 0.1)
    return X, X @ coef + 2 * rng.standard_normal(samples)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("features", [60, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_support_and_coefficients(store, features, weighted, tmp_path):
    X, y = regression(150, features)
    weight = np.random.default_rng(1).integers(0, 3, 150).astype(float) if weighted else None
    constraint = sw.Partition(np.arange(features) % 6, 2)
    plain = sw.SparseRegressor(constraint).fit(X, y, weight)
    other = sw.SparseRegressor(constraint).fit(STORES[store](X, tmp_path), y, weight)
    np.testing.assert_array_equal(other.support_, plain.support_)
    np.testing.assert_allclose(other.coef_, plain.coef_, rtol=1e-8, atol=1e-8)
    assert other.intercept_ == pytest.approx(plain.intercept_, rel=1e-8)
    assert other.result_.value == pytest.approx(plain.result_.value, rel=1e-10)
    assert other.result_.status == plain.result_.status


@pytest.mark.parametrize("options", [{"fit_intercept": False}, {"standardize": False}, {"ridge": 3.0}])
@pytest.mark.parametrize("store", ["file", "dask array"])
def test_options(store, options, tmp_path):
    X, y = regression(120, 250, seed=2)
    plain = sw.SparseRegressor(8, **options).fit(X, y)
    other = sw.SparseRegressor(8, **options).fit(STORES[store](X, tmp_path), y)
    np.testing.assert_array_equal(other.support_, plain.support_)
    np.testing.assert_allclose(other.coef_, plain.coef_, rtol=1e-8, atol=1e-8)


@given(st.integers(0, 10_000))
@settings(max_examples=150, deadline=None)
def test_local_optima_on_small_and_degenerate_data(seed):
    rng = np.random.default_rng(seed)
    samples, features = int(rng.integers(1, 30)), int(rng.choice([1, 3, 8, 20, 230]))
    kind = rng.integers(4)
    X = rng.standard_normal((samples, features))
    if kind == 1:
        X = X[:, rng.integers(features, size=features)]
    elif kind == 2:
        X = rng.integers(-1, 2, X.shape).astype(float)
    elif kind == 3:
        X = X[:, :1] @ rng.standard_normal((1, features))
    y = rng.standard_normal(samples)
    constraint = sw.Partition(rng.integers(0, 4, features), int(rng.integers(0, 3)))
    ridge = float(rng.choice([0.0, 1.0]))
    blocks = ChunkedMatrix(ArrayChunks(X, int(rng.integers(1, samples + 1))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = sw.LeastSquares(X, y, ridge)
        found = sw.maximize(sw.LeastSquares(blocks, y, ridge), constraint)
        # Among many columns of few samples the two may stop at different local optima: is this one?
        further = sw.maximize(plain, constraint, start=found.support)
        if features <= 20:
            assert found.value == pytest.approx(sw.maximize(plain, constraint).value, rel=1e-8, abs=1e-8)
    assert further.value == pytest.approx(found.value, rel=1e-8, abs=1e-8)
    assert plain(found.support) == pytest.approx(found.value, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("method", ["oblivious", "semi-oblivious", "non-oblivious", "greedy", "modular"])
def test_every_method(method, tmp_path):
    X, y = regression(120, 60, seed=3)
    X = X[:, np.r_[0:4, 5, 7, 10:60]]  # two columns that are the same tie, and one of 1e5 is nearly constant
    file, constraint = saved(X, tmp_path), sw.Uniform(X.shape[1], 5)
    plain = sw.maximize(sw.LeastSquares(X, y), constraint, method)
    other = sw.maximize(sw.LeastSquares(file, y), constraint, method)
    np.testing.assert_array_equal(other.support, plain.support)
    assert other.value == pytest.approx(plain.value)
    assert other.n_passes <= 4


def test_intersections(tmp_path):
    X, y = regression(120, 40, seed=4)
    constraint = sw.Intersection(sw.Partition(np.arange(40) % 5, 1), sw.Partition(np.arange(40) // 8, 1))
    plain = sw.maximize(sw.LeastSquares(X, y), constraint)
    other = sw.maximize(sw.LeastSquares(saved(X, tmp_path), y), constraint)
    np.testing.assert_array_equal(other.support, plain.support)


def test_few_passes(tmp_path):
    X, y = regression(400, 500, seed=5)
    X = np.delete(X, 9, axis=1)  # a column far from zero takes one pass more
    model = sw.SparseRegressor(20).fit(saved(X, tmp_path), y)
    assert 3 <= model.result_.n_passes <= 6
    assert model.result_.n_passes == int(model.result_.n_passes)


def counted_reads(monkeypatch):
    """Return a list that grows by the share of the rows of each block that is read of a file."""
    reads = []
    parts = ArrayChunks._parts

    def counting(self):
        for part, block in parts(self):
            reads.append((part.stop - part.start) / self.n_samples)
            yield part, block

    monkeypatch.setattr(ArrayChunks, "_parts", counting)
    return reads


@pytest.mark.parametrize("n_restarts", [0, 3])
@pytest.mark.parametrize("features", [60, 300])
def test_passes_are_what_was_read(features, n_restarts, tmp_path, monkeypatch):
    X, y = regression(150, features)
    X[:, 3] = 0.0  # whether it vanishes or is but small takes a look
    reads = counted_reads(monkeypatch)
    model = sw.SparseRegressor(6, n_restarts=n_restarts).fit(saved(X, tmp_path), y)
    assert model.result_.n_passes == pytest.approx(sum(reads))


def test_one_objective_serves_several_threads(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    X, y = regression(150, 60)
    for kind, target in ((sw.LeastSquares, y), (sw.Logistic, y > 0)):
        objective, plain = kind(saved(X, tmp_path), target, 0.01), kind(X, target, 0.01)
        sets = [np.arange(first, first + 4) * 2 + 10 for first in range(16)]
        with ThreadPoolExecutor(4) as threads:
            values = list(threads.map(objective, sets))
        np.testing.assert_allclose(values, [plain(one) for one in sets], atol=1e-8)


def test_names_of_dask_frames():
    X, y = regression(90, 12, seed=6)
    frame = pd.DataFrame(X, columns=[f"s{number}" for number in range(12)])
    lazy = dd.from_pandas(frame.assign(y=y), npartitions=2)
    model = sw.SparseRegressor(3).fit(lazy[list(frame.columns)], lazy["y"])
    plain = sw.SparseRegressor(3).fit(frame, y)
    assert model.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    np.testing.assert_allclose(model.predict(lazy[list(frame.columns)]), plain.predict(frame))
    assert model.score(lazy[list(frame.columns)], lazy["y"]) == pytest.approx(plain.score(frame, y))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(lazy[["y", *frame.columns[1:]]])


@pytest.mark.parametrize("store", ["file", "file by columns", "dask array", "dask frame"])
def test_cross_validation(store, tmp_path):
    X, y = regression(90, 30, seed=7)
    X = np.delete(X, 9, axis=1)
    weight = np.random.default_rng(1).integers(0, 3, 90).astype(float)
    plain = sw.SparseRegressorCV(sizes=range(1, 5), cv=3).fit(X, y, weight)
    other = sw.SparseRegressorCV(sizes=range(1, 5), cv=3).fit(STORES[store](X, tmp_path), y, weight)
    assert other.size_ == plain.size_
    columns = ["value", "deviance", "bic", "cv_mean", "cv_se"]
    np.testing.assert_allclose(other.path_[columns], plain.path_[columns], rtol=1e-8)
    np.testing.assert_allclose(other.coef_, plain.coef_, atol=1e-8)


def test_restarts_and_certificates(tmp_path):
    X, y = regression(90, 30, seed=8)
    file = saved(X, tmp_path)
    model = sw.SparseRegressor(4, n_restarts=3).fit(file, y)
    plain = sw.SparseRegressor(4, n_restarts=3).fit(X, y)
    assert model.result_.value == pytest.approx(plain.result_.value)
    assert model.certify(file, y).upper_bound == pytest.approx(plain.certify(X, y).upper_bound)


def test_selectors_take_them(tmp_path):
    X, y = regression(90, 30, seed=9)
    chosen = sw.SparseSelector(4).fit(X, y).support_
    np.testing.assert_array_equal(sw.SparseSelector(4).fit(saved(X, tmp_path), y).support_, chosen)
    np.testing.assert_array_equal(
        sw.SparseSelector(4).fit(da.from_array(X), da.from_array(y)).support_, chosen
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda X, y: (np.where(np.arange(90)[:, None] == 50, np.nan, X), y),
            r"got nan at position \(50, 0\)",
        ),
        (lambda X, y: (X, y[1:]), "y must have a value for each of the 90 samples of X, got 89"),
        (lambda X, y: (X, np.where(np.arange(90) == 3, np.inf, y)), "y must be finite, got inf"),
        (lambda X, y: (X, None), "y must be given"),
        (lambda X, y: (X * np.where(np.arange(30) == 3, 1e120, 1.0), y), "column 3 of X has entries of size"),
    ],
)
@pytest.mark.parametrize("store", ["file", "dask array"])
def test_what_is_wrong_is_told(store, change, words, tmp_path):
    X, y = change(*regression(90, 30))
    with pytest.raises(ValueError, match=words):
        sw.SparseRegressor(3).fit(STORES[store](X, tmp_path), y)


def test_groups_are_for_data_in_memory_or_small_files(tmp_path):
    X, y = regression(90, 30)
    model = sw.SparseRegressor(3, groups=np.arange(30) // 2)
    plain = model.fit(X, y).coef_
    np.testing.assert_array_equal(model.fit(saved(X, tmp_path), y).coef_, plain)
    with pytest.raises(TypeError, match="groups need data in memory, got data in chunks"):
        model.fit(da.from_array(X), y)


def test_out_of_time_nothing_is_lost(tmp_path):
    X, y = regression(90, 30)
    with pytest.warns(UserWarning, match="cut short"):
        model = sw.SparseRegressor(3, time_limit=0).fit(saved(X, tmp_path), y)
    assert model.intercept_ == pytest.approx(y.mean())
    assert not model.support_.size


def test_progress_tells_of_passes(tmp_path, capsys):
    X, y = regression(150, 300)
    sw.SparseRegressor(5, progress=True).fit(saved(X, tmp_path), y)
    shown = capsys.readouterr().err
    assert "first look at the data" in shown
    assert "round" in shown
    assert "passes:" in shown
