"""The saved model: a pipeline of scikit-learn, which needs only what was chosen."""

import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

import swapwise as sw
from swapwise.app.cli.checking.columns import read_dataset
from swapwise.app.cli.saving import saved_model
from swapwise.checks import unwarned
from tests.app.cli.running import select

ROWS = 60


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((ROWS, 3)), columns=["a", "b", "c"])
    frame.insert(1, "weather", ["rain", "sun", "snow"] * (ROWS // 3))
    frame["town"] = ["Ulm", "Bonn"] * (ROWS // 2)
    y = 2 * frame["a"] + 3 * (frame["weather"] == "sun") + 0.1 * rng.standard_normal(ROWS)
    return frame.assign(y=y)


def saved(table, model, kind=None, y=None, offset=None):
    """Return a model as it is saved, and the one that was fitted, with the columns that it was fitted to."""
    with unwarned():
        dataset = read_dataset(table, "y", classes=False)
        model.set_params(groups=dataset.variable_of)
        y = table["y"].to_numpy() if y is None else y
        how = {} if offset is None else {"offset": offset}
        model.fit(dataset.X, y, **how)
        return saved_model(model, kind or type(model), dataset, y, offset), model, dataset.X


def test_it_is_a_pipeline_of_scikit_learn(table):
    pipeline, model, X = saved(table, sw.SparseRegressor(2))
    assert type(pipeline) is Pipeline
    assert type(pipeline[0]) is ColumnTransformer
    assert pipeline.feature_names_in_.tolist() == ["a", "weather"]
    assert pipeline[:-1].get_feature_names_out().tolist() == ["a", "weather_snow", "weather_sun"]
    last = pipeline[-1]
    assert last.support_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(last.coef_, model.coef_[model.support_])
    np.testing.assert_allclose(pipeline.predict(table), model.predict(X))


@pytest.mark.parametrize("library", [pd.DataFrame, lambda frame: pl.DataFrame(frame.to_dict("list"))])
def test_only_what_was_chosen_must_be_there(table, library):
    pipeline, model, X = saved(table, sw.SparseRegressor(2))
    expected = model.predict(X)
    np.testing.assert_allclose(pipeline.predict(library(table[["weather", "a"]])), expected)
    np.testing.assert_allclose(pipeline.predict(library(table.assign(b=np.nan, town="Rom", c="x"))), expected)
    with pytest.raises(ValueError, match=r"columns are missing: \{'weather'\}"):
        pipeline.predict(library(table[["a", "b"]]))
    with pytest.raises(ValueError, match=r"unknown categories .*hail"):
        pipeline.predict(library(table.assign(weather="hail")))


@pytest.mark.parametrize("dtype", ["int64", "float64", "object", "category"])
def test_numbers_that_were_categories_are(table, dtype):
    kinds = pd.Series([10, 2] * (ROWS // 2))
    table = table[["b"]].assign(kind=kinds.astype("category"), y=kinds + 0.1 * table["c"])
    pipeline, model, X = saved(table, sw.SparseRegressor(1))
    assert pipeline.feature_names_in_.tolist() == ["kind"]
    raw = pd.DataFrame({"kind": kinds.astype(dtype)})
    np.testing.assert_allclose(pipeline.predict(raw), model.predict(X))


FAMILIES = {
    "path": (sw.SparseRegressorCV(sizes=range(1, 4)), sw.SparseRegressor),
    "classes": (sw.SparseClassifier(2), None),
    "counts": (sw.SparseGLMRegressor(2), None),
    "dispersion": (sw.SparseGLMRegressor(2, family="negative-binomial"), None),
    "bounds": (sw.SparseRegressor(3, bounds={"a": (-1, 1), "c": (0, 2)}), None),
    "positive": (sw.SparseRegressor(3, positive=True), None),
    "forced": (sw.SparseRegressor(3, forced=["b", "town"]), None),
    "one by one": (sw.SparseRegressor(2, method="modular"), None),
    "nothing": (sw.SparseRegressor(0), None),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_all_kinds_of_models_predict_the_same(table, family):
    model, kind = FAMILIES[family]
    rng = np.random.default_rng(1)
    if family in ("bounds", "positive"):  # which text does not go with
        table = table.drop(columns=["weather", "town"])
    y = {
        "classes": np.where(table["y"] > 1, "high", "low").astype(object),
        "counts": rng.poisson(np.exp(0.5 * table["a"])),
        "dispersion": rng.poisson(np.exp(0.5 * table["a"]) * rng.gamma(2, 0.5, ROWS)),
    }.get(family)
    offset = 0.1 * table["b"].to_numpy() if family == "counts" else None
    pipeline, fitted, X = saved(table, model, kind, y, offset)
    how = {} if offset is None else {"offset": offset}
    expected = fitted.predict(X, **how)
    predicted = pipeline[-1].predict(pipeline[0].transform(table), **how)
    if family == "classes":
        np.testing.assert_array_equal(predicted, expected)
        np.testing.assert_allclose(pipeline.predict_proba(table), fitted.predict_proba(X))
    else:
        np.testing.assert_allclose(predicted, expected)
    assert getattr(pipeline[-1], "alpha_", None) == getattr(fitted, "alpha_", None)


def test_loading_needs_nothing_of_the_command_line(tmp_path, table):
    table.to_csv(tmp_path / "t.csv", index=False)
    done = select(tmp_path / "t.csv", "-t", "y", "--size", 2, "--one-hot", "--save", tmp_path / "m.joblib")
    assert done.exit_code == 0, done.output
    code = f"""
import sys, joblib, pandas as pd
model = joblib.load({str(tmp_path / "m.joblib")!r})
table = pd.read_csv({str(tmp_path / "t.csv")!r})
print(model.score(table, table["y"]) > 0.9)
print([name for name in sys.modules if name.startswith("swapwise.app.cli")])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[:2] == ["True", "[]"]
    assert joblib.load(tmp_path / "m.joblib").feature_names_in_.tolist() == ["a", "weather"]
