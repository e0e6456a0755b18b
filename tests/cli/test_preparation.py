"""What makes numbers of a table for a saved model: only of what was chosen, with errors in words."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import swapwise as sw
from swapwise.checks import unwarned
from swapwise.cli.reading.columns import read_design
from swapwise.cli.reading.preparation import Preparation

ROWS = 30


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((ROWS, 3)), columns=["a", "b", "c"])
    frame.insert(1, "weather", ["rain", "sun", "snow"] * (ROWS // 3))
    frame["town"] = ["Ulm", "Bonn"] * (ROWS // 2)
    return frame.assign(y=2 * frame["a"] + 3 * (frame["weather"] == "sun"))


@pytest.fixture
def design(table):
    with unwarned():
        return read_design(table, "y", classes=False)


def test_columns_are_those_of_the_table_in_its_order(table, design):
    names = ["a", "weather_snow", "weather_sun", "b", "c", "town_Ulm"]
    assert list(design.X.columns) == names == design.transformer.get_feature_names_out().tolist()
    for name in "abc":
        np.testing.assert_array_equal(design.X[name], table[name])
    np.testing.assert_array_equal(design.X["weather_sun"], table["weather"] == "sun")
    np.testing.assert_array_equal(design.X["weather_snow"], table["weather"] == "snow")
    np.testing.assert_array_equal(design.X["town_Ulm"], table["town"] == "Ulm")
    assert set(design.X.dtypes) == {np.dtype(float)}


def test_it_is_a_transformer_like_others(table, design):
    copies = [clone(design.transformer), pickle.loads(pickle.dumps(design.transformer))]
    for copy in [*copies, design.transformer.fit(table)]:
        pd.testing.assert_frame_equal(copy.transform(table[::-1]), design.X[::-1])
    shown = clone(design.transformer).set_output(transform="pandas").fit_transform(table, table["y"])
    pd.testing.assert_frame_equal(shown, design.X)


def test_a_saved_model_needs_only_what_was_chosen(table, design):
    model = sw.SparseRegressor(2, groups=design.variable_of).fit(design.X, table["y"])
    chosen = design.X.columns[model.support_]
    assert list(chosen) == ["a", "weather_snow", "weather_sun"]
    saved = make_pipeline(design.transformer.restricted_to(chosen), model)
    saved = pickle.loads(pickle.dumps(saved))
    expected = model.predict(design.X)
    np.testing.assert_allclose(saved.predict(table[["weather", "a"]]), expected)
    np.testing.assert_allclose(saved.predict(table.assign(b=np.nan, town="Rom", c="x")), expected)
    np.testing.assert_allclose(clone(saved[0]).transform(table[["a", "weather"]])[chosen], design.X[chosen])


def test_one_column_of_a_variable_brings_all_of_it(table, design):
    made = design.transformer.restricted_to(["weather_sun"]).transform(table[["weather"]])
    expected = design.X.copy()
    expected[["a", "b", "c", "town_Ulm"]] = 0.0
    pd.testing.assert_frame_equal(made, expected)
    assert not design.transformer.restricted_to([]).transform(table[["a"]]).to_numpy().any()


def refused(preparation, table, message, kind=ValueError):
    with pytest.raises(kind) as error:
        preparation.transform(table)
    assert str(error.value) == message


def test_what_is_missing_is_named(table, design):
    chosen = design.transformer.restricted_to(["a", "b"])
    message = "the table must have the columns 'a', 'b' that were chosen; 'b' is missing"
    refused(chosen, table.rename(columns={"b": "B"}), f"{message} (did you mean 'B'?)")
    refused(chosen, table[["a", "weather"]], message)
    refused(
        design.transformer,
        table[["a", "weather", "b", "c"]].set_axis(["A", "weather", "B", "c"], axis=1),
        "the table must have the columns 'a', 'weather', 'b', 'c', 'town' of the fit; 'a', 'b', 'town' are "
        "missing (did you mean 'A'?)",
    )
    refused(chosen, table[["a", "b", "b"]], "the table has several columns of the same name: 'b'")


def test_what_is_no_table_is_told(table, design):
    message = "the data must be a pandas DataFrame with names, got "
    refused(design.transformer, table.to_numpy(), f"{message}ndarray", TypeError)
    refused(design.transformer, None, f"{message}NoneType", TypeError)


def test_missing_values_are_counted(table, design):
    table.loc[:2, "a"] = np.nan
    refused(design.transformer, table, "missing values in the column 'a': 3 of 30 rows")
    table.loc[4, "weather"] = None
    message = "missing values in the columns 'a': 3 of 30 rows, 'weather': 1 of 30 rows"
    refused(design.transformer, table, message)


def test_words_that_were_not_in_the_data_are_named(table, design):
    table.loc[[3, 5], "weather"] = ["hail", "fog"]
    refused(
        design.transformer,
        table,
        "the column 'weather' has 'hail', 'fog', which was not in the data of the fit; it had 'rain', "
        "'snow', 'sun'",
    )
    some = design.transformer.transform(table[table["weather"] == "sun"])
    np.testing.assert_array_equal(some["weather_sun"], np.ones(10))


def test_what_is_no_number_is_told(table, design):
    with pytest.raises(ValueError, match=r"the column 'b' must hold numbers .* got '3,5'.*read_table"):
        design.transformer.transform(table.assign(b="3,5"))
    refused(design.transformer, table.assign(c=np.inf), "infinite numbers in the columns 'c'")


@pytest.mark.parametrize("dtype", ["int64", "Int64", "Float64", "object", "bool", "boolean", "int8", "uint8"])
def test_numbers_of_any_type_are_numbers(table, design, dtype):
    bits = pd.Series([1, 0] * (ROWS // 2))
    made = design.transformer.transform(table.assign(b=bits.astype(dtype)))
    np.testing.assert_array_equal(made["b"], bits)


@pytest.mark.parametrize("dtype", ["object", "category", "str"])
def test_words_of_any_type_are_the_same(table, design, dtype):
    for name in ("weather", "town"):
        table[name] = table[name].astype(dtype)
    pd.testing.assert_frame_equal(design.transformer.transform(table), design.X)


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "object", "category", "str"])
def test_numbers_that_were_categories_are(table, dtype):
    kinds = pd.Series([10, 2] * (ROWS // 2), name="kind")
    with unwarned():
        design = read_design(table.assign(kind=kinds.astype("category")), "y", classes=False)
    assert design.X.columns[-1] == "kind_10"  # against 2, which is the smaller number
    made = design.transformer.transform(table.assign(kind=kinds.astype(dtype)))
    np.testing.assert_array_equal(made["kind_10"], kinds == 10)


def test_numbers_beside_words_are_categories(table):
    kinds = pd.Series([2, "b", 10] * (ROWS // 3), dtype=object)
    with pytest.warns(
        UserWarning, match="'kind' becomes columns of 0 and 1, against '2': 'kind_10', 'kind_b'"
    ):
        design = read_design(table[["a", "y"]].assign(kind=kinds), "y", classes=False)
    np.testing.assert_array_equal(design.X["kind_b"], kinds == "b")


def test_names_that_are_numbers_are_names():
    preparation = Preparation(["0", "1"], {})
    np.testing.assert_array_equal(preparation.transform(pd.DataFrame(np.eye(2))), np.eye(2))


def test_no_rows_make_no_rows(table, design):
    assert design.transformer.transform(table[:0]).shape == (0, 6)
