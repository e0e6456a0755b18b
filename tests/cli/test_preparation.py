"""What makes numbers of a table for a saved model: only of what was chosen, with errors in words."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import swapwise as sw
from swapwise.checks import unwarned
from swapwise.cli.reading.columns import read_dataset
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
def dataset(table):
    with unwarned():
        return read_dataset(table, "y", classes=False)


def test_columns_are_those_of_the_table_in_its_order(table, dataset):
    names = ["a", "weather_snow", "weather_sun", "b", "c", "town_Ulm"]
    assert list(dataset.X.columns) == names == dataset.transformer.get_feature_names_out().tolist()
    for name in "abc":
        np.testing.assert_array_equal(dataset.X[name], table[name])
    np.testing.assert_array_equal(dataset.X["weather_sun"], table["weather"] == "sun")
    np.testing.assert_array_equal(dataset.X["weather_snow"], table["weather"] == "snow")
    np.testing.assert_array_equal(dataset.X["town_Ulm"], table["town"] == "Ulm")
    assert set(dataset.X.dtypes) == {np.dtype(float)}


def test_it_is_a_transformer_like_others(table, dataset):
    copies = [clone(dataset.transformer), pickle.loads(pickle.dumps(dataset.transformer))]
    for copy in [*copies, dataset.transformer.fit(table)]:
        pd.testing.assert_frame_equal(copy.transform(table[::-1]), dataset.X[::-1])
    shown = clone(dataset.transformer).set_output(transform="pandas").fit_transform(table, table["y"])
    pd.testing.assert_frame_equal(shown, dataset.X)


def test_a_saved_model_needs_only_what_was_chosen(table, dataset):
    model = sw.SparseRegressor(2, groups=dataset.variable_of).fit(dataset.X, table["y"])
    chosen = dataset.X.columns[model.support_]
    assert list(chosen) == ["a", "weather_snow", "weather_sun"]
    saved = make_pipeline(dataset.transformer.restricted_to(chosen), model)
    saved = pickle.loads(pickle.dumps(saved))
    expected = model.predict(dataset.X)
    np.testing.assert_allclose(saved.predict(table[["weather", "a"]]), expected)
    np.testing.assert_allclose(saved.predict(table.assign(b=np.nan, town="Rom", c="x")), expected)
    np.testing.assert_allclose(clone(saved[0]).transform(table[["a", "weather"]])[chosen], dataset.X[chosen])


def test_one_column_of_a_variable_brings_all_of_it(table, dataset):
    made = dataset.transformer.restricted_to(["weather_sun"]).transform(table[["weather"]])
    expected = dataset.X.copy()
    expected[["a", "b", "c", "town_Ulm"]] = 0.0
    pd.testing.assert_frame_equal(made, expected)
    assert not dataset.transformer.restricted_to([]).transform(table[["a"]]).to_numpy().any()


def refused(preparation, table, message, kind=ValueError):
    with pytest.raises(kind) as error:
        preparation.transform(table)
    assert str(error.value) == message


def test_what_is_missing_is_named(table, dataset):
    chosen = dataset.transformer.restricted_to(["a", "b"])
    message = "the table must have the columns 'a', 'b' that were chosen; 'b' is missing"
    refused(chosen, table.rename(columns={"b": "B"}), f"{message} (did you mean 'B'?)")
    refused(chosen, table[["a", "weather"]], message)
    refused(
        dataset.transformer,
        table[["a", "weather", "b", "c"]].set_axis(["A", "weather", "B", "c"], axis=1),
        "the table must have the columns 'a', 'weather', 'b', 'c', 'town' of the fit; 'a', 'b', 'town' are "
        "missing (did you mean 'A'?)",
    )
    refused(chosen, table[["a", "b", "b"]], "the table has several columns of the same name: 'b'")


def test_what_is_no_table_is_told(table, dataset):
    message = "the data must be a pandas DataFrame with names, got "
    refused(dataset.transformer, table.to_numpy(), f"{message}ndarray", TypeError)
    refused(dataset.transformer, None, f"{message}NoneType", TypeError)


def test_missing_values_are_counted(table, dataset):
    table.loc[:2, "a"] = np.nan
    refused(dataset.transformer, table, "missing values in the column 'a': 3 of 30 rows")
    table.loc[4, "weather"] = None
    message = "missing values in the columns 'a': 3 of 30 rows, 'weather': 1 of 30 rows"
    refused(dataset.transformer, table, message)


def test_words_that_were_not_in_the_data_are_named(table, dataset):
    table.loc[[3, 5], "weather"] = ["hail", "fog"]
    refused(
        dataset.transformer,
        table,
        "the column 'weather' has 'hail', 'fog', which was not in the data of the fit; it had 'rain', "
        "'snow', 'sun'",
    )
    some = dataset.transformer.transform(table[table["weather"] == "sun"])
    np.testing.assert_array_equal(some["weather_sun"], np.ones(10))


def test_what_is_no_number_is_told(table, dataset):
    with pytest.raises(ValueError, match=r"the column 'b' must hold numbers .* got '3,5'.*read_table"):
        dataset.transformer.transform(table.assign(b="3,5"))
    refused(dataset.transformer, table.assign(c=np.inf), "infinite numbers in the columns 'c'")


@pytest.mark.parametrize("dtype", ["int64", "Int64", "Float64", "object", "bool", "boolean", "int8", "uint8"])
def test_numbers_of_any_type_are_numbers(table, dataset, dtype):
    bits = pd.Series([1, 0] * (ROWS // 2))
    made = dataset.transformer.transform(table.assign(b=bits.astype(dtype)))
    np.testing.assert_array_equal(made["b"], bits)


@pytest.mark.parametrize("dtype", ["object", "category", "str"])
def test_words_of_any_type_are_the_same(table, dataset, dtype):
    for name in ("weather", "town"):
        table[name] = table[name].astype(dtype)
    pd.testing.assert_frame_equal(dataset.transformer.transform(table), dataset.X)


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "object", "category", "str"])
def test_numbers_that_were_categories_are(table, dtype):
    kinds = pd.Series([10, 2] * (ROWS // 2), name="kind")
    with unwarned():
        dataset = read_dataset(table.assign(kind=kinds.astype("category")), "y", classes=False)
    assert dataset.X.columns[-1] == "kind_10"  # against 2, which is the smaller number
    made = dataset.transformer.transform(table.assign(kind=kinds.astype(dtype)))
    np.testing.assert_array_equal(made["kind_10"], kinds == 10)


def test_numbers_beside_words_are_categories(table):
    kinds = pd.Series([2, "b", 10] * (ROWS // 3), dtype=object)
    with pytest.warns(
        UserWarning, match="'kind' is one-hot encoded, reference level '2': 'kind_10', 'kind_b'"
    ):
        dataset = read_dataset(table[["a", "y"]].assign(kind=kinds), "y", classes=False)
    np.testing.assert_array_equal(dataset.X["kind_b"], kinds == "b")


def test_names_that_are_numbers_are_names():
    preparation = Preparation(["0", "1"], {})
    np.testing.assert_array_equal(preparation.transform(pd.DataFrame(np.eye(2))), np.eye(2))


def test_no_rows_make_no_rows(table, dataset):
    assert dataset.transformer.transform(table[:0]).shape == (0, 6)
