"""Parquet files and arrays of numpy: every array or field is a column, or refused with a reason."""

import warnings

import numpy as np
import pandas as pd
import pytest

from swapwise.app.cli.checking.cells import not_numbers
from swapwise.app.cli.checking.diagnostics import require_usable
from swapwise.app.cli.checking.targets import require_target
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.reading.tables import read_table


@pytest.fixture
def stored(tmp_path):
    def stored(table):
        pytest.importorskip("pyarrow")
        table.to_parquet(tmp_path / "t.parquet")
        return read_table(tmp_path / "t.parquet")

    return stored


@pytest.fixture
def saved(tmp_path):
    def saved(**arrays):
        np.savez(tmp_path / "t.npz", **arrays)
        return read_table(tmp_path / "t.npz")

    return saved


TABLE = pd.DataFrame({"k": [3, 1, 2], "m": ["a", "b", "c"], "y": [0.5, 1.5, 2.5]})


@pytest.mark.parametrize("names", [["k"], ["m"], ["k", "m"], []])
def test_an_index_with_a_name_is_a_column(stored, names):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = stored(TABLE.set_index(names) if names else TABLE)
    order = [*names, *TABLE.columns.drop(names)]
    pd.testing.assert_frame_equal(table, TABLE[order], check_dtype=False, check_column_type=False)


def test_other_indices_are_names_of_rows(stored):
    with pytest.warns(UserWarning, match="index of .* has no name, and is taken as the names of the rows"):
        table = stored(TABLE.set_axis([7, 7, 7]).assign(k=["1", "2O", "3"]))
    assert list(table.columns) == ["k", "m", "y"]
    assert not_numbers(table["k"]).fact == "'k' has text in 1 of 3 rows: '2O' in row 2"


def test_an_index_with_the_name_of_a_column_is_reported(stored):
    with pytest.raises(BadInput, match="several columns of the same name: 'y'"):
        stored(TABLE.set_axis(pd.Index([1, 2, 3], name="y")))


@pytest.mark.parametrize("cells", [[[1, 2], [3], []], [{"a": 1}, {"a": 2}, None]])
@pytest.mark.parametrize("one_hot", [True, False])
def test_lists_are_reported(stored, cells, one_hot):
    table = stored(TABLE.drop(columns="m").assign(parts=pd.Series(cells)))
    with pytest.raises(BadInput, match=r"the column 'parts' holds lists or the like.* by --force-out"):
        require_usable(table, "y", one_hot=one_hot, drop_missing=True)
    for classes in (True, False):
        with pytest.raises(BadInput, match="the target 'parts' holds lists or the like"):
            require_target(table["parts"], classes=classes)


def test_arrays_of_other_machines_are_read(saved):
    table = saved(X=np.arange(6.0).reshape(3, 2).astype(">f8"), y=np.arange(3).astype(">i4"))
    assert table.to_dict("list") == {"X_0": [0, 2, 4], "X_1": [1, 3, 5], "y": [0, 1, 2]}
    assert all(dtype.isnative for dtype in table.dtypes)


@pytest.mark.parametrize("names", [["é", "b"], ["é".encode(), b"b"]])
def test_names_may_be_bytes(saved, names):
    assert list(saved(X=np.eye(2), columns=names, y=[1, 2]).columns) == ["é", "b", "y"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "must hold arrays, got none"),
        ({"columns": ["a"]}, "must hold arrays, got none"),
        ({"X": np.eye(2), "columns": "ab"}, "'columns' of .* must be a row of names, got 0 dimensions"),
        ({"X": np.eye(2), "columns": np.eye(2)}, "must be a row of names, got 2 dimensions"),
        ({"X": np.array([None, "a"], dtype=object)}, "objects in it; store numbers or text"),
    ],
)
def test_arrays_that_are_no_table_are_reported(saved, arrays, message):
    with pytest.raises(BadInput, match=message):
        saved(**arrays)


def test_other_files_are_not_called_arrays(tmp_path):
    (tmp_path / "t.npz").write_text("a,y\n1,2\n")
    with pytest.raises(BadInput, match=r"t\.npz is no \.npz file, whatever its name says"):
        read_table(tmp_path / "t.npz")
    np.save(tmp_path / "t.npy", np.eye(2))
    (tmp_path / "t.npy").rename(tmp_path / "t.npz")
    with pytest.raises(BadInput, match=r"t\.npz is no \.npz file, whatever its name says"):
        read_table(tmp_path / "t.npz")
