"""What users hand in as data in chunks: files by name, frames of many kinds of columns, and what is wrong."""

import numpy as np
import pandas as pd
import pytest

import swapwise as sw

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

SAMPLES = 60


def regression():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((SAMPLES, 8))
    return X, X[:, 2] - X[:, 5] + 0.1 * rng.standard_normal(SAMPLES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = regression()
    np.save("X.npy", X)
    np.save("y.npy", y)
    return tmp_path


def test_target_and_data_by_name(folder):
    assert sw.SparseRegressor(2).fit("X.npy", "y.npy").support_.tolist() == [2, 5]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "data.csv",
            b"a,b",
            r"X must be the name of a \.npy file, got 'data\.csv'; for CSV or Parquet give a Dask",
        ),
        ("text.npy", b"hello", r"'text\.npy' cannot be read: it does not begin as such files do"),
        ("empty.npy", b"", r"'empty\.npy' cannot be read"),
    ],
)
def test_files_that_are_none(folder, name, content, words):
    (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=words):
        sw.SparseRegressor(2).fit(name, regression()[1])


def test_a_file_that_was_cut_off_is_named(folder):
    (folder / "cut.npy").write_bytes((folder / "X.npy").read_bytes()[:500])
    with pytest.raises(ValueError, match=r"'cut\.npy' cannot be read"):
        sw.SparseRegressor(2).fit("cut.npy", "y.npy")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npy"):
        sw.SparseRegressor(2).fit("nowhere.npy", "y.npy")
    with pytest.raises(ValueError, match=r"X must be two-dimensional .* got shape \(60,\)"):
        sw.SparseRegressor(2).fit("y.npy", "y.npy")
    with pytest.raises(ValueError, match="y must have a value for each of the 60 samples of X, got 59"):
        sw.SparseRegressor(2).fit("X.npy", regression()[1][1:])


def mixed_frame():
    X, y = regression()
    frame = pd.DataFrame(X, columns=[f"s{number}" for number in range(8)])
    whole = pd.array(np.arange(SAMPLES), dtype="Int64")
    return frame.assign(flag=X[:, 0] > 0, whole=whole, part=pd.array(X[:, 1], dtype="Float64")), y


def test_columns_of_many_kinds(folder):
    frame, y = mixed_frame()
    lazy = sw.SparseRegressor(3).fit(dd.from_pandas(frame, npartitions=2), y)
    plain = sw.SparseRegressor(3).fit(frame, y)
    assert lazy.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    np.testing.assert_allclose(lazy.coef_, plain.coef_, atol=1e-8)


def test_what_is_missing_is_named_by_its_column():
    frame, y = mixed_frame()
    frame.loc[7, "whole"] = pd.NA
    with pytest.raises(ValueError, match=r"got nan at position \(7, 9\), in chunk 0 .* of column 'whole'"):
        sw.SparseRegressor(3).fit(dd.from_pandas(frame, npartitions=2), y)


def test_predictions_are_finite_or_refused(folder):
    X, y = regression()
    model = sw.SparseRegressor(2).fit(X, y)
    X[4, 5] = np.nan
    np.save("X.npy", X)
    for data in ("X.npy", da.from_array(X)):
        with pytest.raises(ValueError, match=r"got nan at position \(4, 5\)"):
            model.predict(data)


def test_selectors(folder):
    X, y = regression()
    frame = pd.DataFrame(X, columns=[f"s{number}" for number in range(8)])
    selector = sw.SparseSelector(2).fit("X.npy", "y.npy")
    assert selector.get_support(indices=True).tolist() == [2, 5]
    np.testing.assert_array_equal(selector.transform("X.npy"), X[:, [2, 5]])
    lazy = selector.transform(da.from_array(X))
    assert hasattr(lazy, "compute")
    np.testing.assert_array_equal(lazy, X[:, [2, 5]])
    named = sw.SparseSelector(2).fit(dd.from_pandas(frame, npartitions=2), y)
    assert named.get_feature_names_out().tolist() == ["s2", "s5"]
    kept = named.transform(dd.from_pandas(frame, npartitions=2))
    assert kept.columns.tolist() == ["s2", "s5"]
    with pytest.raises(ValueError, match="feature names should match"):
        named.transform(dd.from_pandas(frame.rename(columns={"s1": "z"}), npartitions=2))


def test_small_files_serve_what_needs_memory(folder):
    X, y = regression()
    grouped = sw.SparseRegressor(1, groups=np.arange(8) // 2)
    np.testing.assert_array_equal(grouped.fit("X.npy", y).coef_, grouped.fit(X, y).coef_)
    classes = np.digitize(y, [-1, 1])
    np.testing.assert_array_equal(
        sw.SparseClassifier(2).fit("X.npy", classes).support_, sw.SparseClassifier(2).fit(X, classes).support_
    )
    np.save("spins.npy", np.sign(X))
    assert sw.IsingGraph(1).fit("spins.npy").certify("spins.npy").ratio > 0
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        sw.SparseClassifier(2).fit("X.npy", y)


def test_an_early_end_is_told(folder):
    with pytest.warns(UserWarning, match="cut short by time_limit=0: it had found nothing yet"):
        sw.SparseRegressor(2, time_limit=0).fit("X.npy", "y.npy")


@pytest.mark.filterwarnings("ignore:Sending large graph")
def test_files_that_dask_would_send_are_warned_of(folder, monkeypatch):
    monkeypatch.setattr("swapwise.data.dask.MOST_SENT", 1000)
    lazy = da.from_array(np.load("X.npy", mmap_mode="r"), chunks=(20, 8))
    y = regression()[1]
    sw.SparseRegressor(2).fit(lazy, y)  # threads share the file
    options = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster),
        pytest.warns(UserWarning, match="memory-mapped file of 0 MB, which Dask sends"),
    ):
        sw.SparseRegressor(2).fit(lazy, y)
