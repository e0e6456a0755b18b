"""Frames of pandas, polars and pyarrow: names are kept, and columns that hold no numbers are named."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import swapwise as sw
from swapwise.estimators.frames import require_numbers

ROWS = 60


@pytest.fixture
def frame():
    return pd.DataFrame(np.random.default_rng(0).standard_normal((ROWS, 4)), columns=list("abcd"))


@pytest.fixture
def y(frame):
    return frame["a"] + 2 * frame["c"]


def as_polars(frame):
    return pl.DataFrame(frame.to_dict("list"))


LIBRARIES = {"pandas": pd.DataFrame, "polars": as_polars, "pyarrow": pa.Table.from_pandas}


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_are_kept(frame, y, library):
    X = LIBRARIES[library](frame)
    rooms = sw.Partition({"a": "roof", "b": "roof", "c": "hall", "d": "hall"}, 1)
    model = sw.SparseRegressor(rooms, forced=["c"], bounds={"a": (0, 5)}).fit(X, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.get_feature_names_out().tolist() == ["a", "c"]
    np.testing.assert_allclose(model.predict(X), y)
    assert model.certify(X, y).optimal


def test_targets_weights_and_offsets_may_be_series_of_polars(frame, y):
    X, ones = as_polars(frame), pl.Series(np.ones(ROWS))
    assert sw.SparseRegressor(2).fit(X, pl.Series(y.to_numpy())).score(X, pl.Series(y.to_numpy())) > 0.99
    classes = pl.Series(np.where(y > 0, "high", "low").tolist())
    assert set(sw.SparseClassifier(2).fit(X, classes, sample_weight=ones).predict(X)) == {"high", "low"}
    counts = pl.Series(np.arange(ROWS) % 3)
    shifted = sw.SparseGLMRegressor(2).fit(X, counts, offset=ones)
    plain = sw.SparseGLMRegressor(2).fit(frame, counts.to_numpy(), offset=np.ones(ROWS))
    np.testing.assert_allclose(shifted.coef_, plain.coef_)


def test_what_is_kept_is_a_frame_of_polars_if_asked(frame, y):
    X = as_polars(frame)
    selector = sw.SparseSelector(2).set_output(transform="polars").fit(X, y)
    kept = selector.transform(X)
    assert isinstance(kept, pl.DataFrame)
    assert kept.columns == ["a", "c"]


@pytest.mark.parametrize("graph", [sw.IsingGraph, sw.GaussianGraph, sw.MixedGraph])
def test_graphs_take_frames_of_polars(frame, graph):
    table = frame if graph is sw.GaussianGraph else (frame > 0).replace({True: "yes", False: "no"})
    table = table.mask(np.random.default_rng(1).random(table.shape) < 0.05)
    if graph is sw.MixedGraph:
        table["d"] = frame["d"]
    polars = pl.DataFrame(
        {name: [None if pd.isna(value) else value for value in column] for name, column in table.items()}
    )
    expected = graph(2).fit(table.astype(object) if graph is not sw.GaussianGraph else table)
    pd.testing.assert_frame_equal(graph(2).fit(polars).to_frame(), expected.to_frame())


DAYS = pd.date_range("2024-01-01", periods=ROWS)
COLUMNS = {
    "text": (["East", "West"] * (ROWS // 2), r"text in 't' \(such as 'East'\); .*OneHotEncoder.*, or leave"),
    "dates": (
        DAYS,
        r"dates or times in 't' \(such as '2024-01-01.*'\); make numbers of dates",
    ),
    "durations": (DAYS - DAYS[0], r"dates or times in 't' \(such as '0"),
    "numbers as text": (["1.5", "2"] * (ROWS // 2), r"numbers as text in 't' \(such as '1.5'\); convert"),
    "categories": (pd.Categorical(["x", "y"] * (ROWS // 2)), r"text in 't' \(such as 'x'\)"),
    "mixed": ([1, "x"] * (ROWS // 2), r"text in 't' \(such as 'x'\)"),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "model",
    [sw.SparseRegressor(2), sw.SparseClassifier(2), sw.SparseRegressorCV(), sw.SparseSelector(2)],
    ids=lambda model: type(model).__name__,
)
def test_columns_without_numbers_are_named(frame, y, kind, library, model):
    if library == "polars" and kind == "mixed":
        pytest.skip("there are no such columns")
    cells, message = COLUMNS[kind]
    X = frame.assign(t=cells)
    if library == "polars":
        plain = [getattr(cell, "to_pytimedelta", lambda cell=cell: cell)() for cell in pd.Series(cells)]
        X = as_polars(frame).with_columns(pl.Series("t", plain))
    target = np.where(y > 0, 1, 0) if isinstance(model, sw.SparseClassifier) else y
    with pytest.raises(ValueError, match=f"^X must hold numbers, got {message}"):
        model.fit(X, target)
    fitted = sw.SparseRegressor(2).fit(frame.assign(t=0.5), y)
    with pytest.raises(ValueError, match=f"^X must hold numbers, got {message}"):
        fitted.predict(X)


def test_all_columns_are_named_at_once(frame, y):
    X = frame.assign(town="Ulm", day=DAYS, kind="b")
    named = r"text in 'town' .*, 'kind' .*; dates or times in 'day' .*or leave the columns out"
    with pytest.raises(ValueError, match=named):
        sw.SparseRegressor(2).fit(X, y)
    with pytest.raises(ValueError, match=r"text in 't' \(such as 'x'\); ordered categories"):
        sw.GaussianGraph(2).fit(frame.assign(t=["x", "y", "z"] * (ROWS // 3)))


@pytest.mark.parametrize(
    "cells",
    [
        pd.Categorical([1, 2] * (ROWS // 2)),
        pd.Series([True, False] * (ROWS // 2), dtype="boolean"),
        pd.Series([1, 2] * (ROWS // 2), dtype="Int64"),
        pd.Series([10**25, 1] * (ROWS // 2), dtype=object),
    ],
)
def test_numbers_of_any_type_are_numbers(frame, y, cells):
    assert sw.SparseRegressor(2).fit(frame.assign(t=cells), y).score(frame.assign(t=cells), y) > 0.99


def test_columns_without_values_are_named_by_their_type(frame):
    with pytest.raises(ValueError, match="got dates or times in 't'; make numbers"):
        require_numbers(frame.assign(t=pd.Series([pd.NaT] * ROWS)))
    require_numbers(frame.assign(t=pd.Series([None] * ROWS, dtype=object)))


def test_arrays_of_text_are_told():
    with pytest.raises(ValueError, match=r"got text in 1 \(such as 'x'\)"):
        require_numbers(np.array([["1.5", "x"], ["2", "y"]], dtype=object))
    require_numbers(np.array([["1.5"], [2]], dtype=object))


@pytest.mark.parametrize("model", [sw.SparseRegressor(2), sw.SparseGLMRegressor(2), sw.SparseRegressorCV()])
def test_targets_without_numbers_are_told(frame, model):
    for y, message in (
        (["no", "yes"] * (ROWS // 2), "text such as 'no'; SparseClassifier is for classes"),
        (DAYS, "dates or times such as '2024-01-01.*; make numbers of dates"),
        (["1.5", "2"] * (ROWS // 2), "numbers as text such as '1.5'; convert"),
    ):
        for target in (pd.Series(y), pl.Series(pd.Series(y).tolist())):
            with pytest.raises(ValueError, match=f"^y must hold numbers, got {message}"):
                model.fit(frame, target)
