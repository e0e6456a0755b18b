"""Whatever happens to the program or to the file, no row is lost, doubled or taken for what it is not."""

import os
import signal
import sqlite3
from contextlib import closing, suppress

import pytest

from swapwise.paper.measure import COLUMNS
from swapwise.paper.store import FORMAT, Store, StoreError

pytestmark = pytest.mark.experiments


def row(trial, **figures):
    coordinates = {"setting": "ising-10", "part": "paper", "method": "random", "size": 1, "trial": trial}
    known = {**coordinates, "flavour": "default", "seed": 0, "value": 0.1 + trial, "alone": trial == 1}
    return {**dict.fromkeys(COLUMNS), **known, **figures}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "folder" / "results.sqlite"
    with Store(path) as store:
        for trial in range(3):
            store.add(row(trial))
    return path


def rows_in(path):
    with Store(path) as store:
        return list(store.rows.values())


def change(path, statement):
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(statement)


def test_what_goes_in_comes_out(path):
    assert rows_in(path) == [row(0), row(1), row(2)]
    assert [one["alone"] for one in rows_in(path)] == [False, True, False]


def test_the_file_is_a_table_that_others_can_read(path):
    with closing(sqlite3.connect(path)) as file:
        found = file.execute("SELECT trial, value FROM rows ORDER BY trial").fetchall()
    assert found == [(0, 0.1), (1, 1.1), (2, 2.1)]
    assert [name.name for name in path.parent.iterdir()] == ["results.sqlite"]


def test_rows_outlive_a_writer_that_is_killed(tmp_path):
    for trial in range(3):
        child = os.fork()
        if child == 0:
            with Store(tmp_path / "results.sqlite") as store:
                store.add(row(trial))
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
    assert rows_in(tmp_path / "results.sqlite") == [row(0), row(1), row(2)]


def test_a_file_that_was_cut_is_damaged_unless_no_row_was_there(path):
    whole, found = path.read_bytes(), []
    for length in range(97, len(whole), 97):
        path.write_bytes(whole[:length])
        with suppress(StoreError):
            found.append(rows_in(path))
    assert all(rows == [row(0), row(1), row(2)] for rows in found)
    assert 0 < len(found) < len(whole) // 97 // 3
    path.write_bytes(b"")
    assert rows_in(path) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.replace(b"random", b"rundom", 1),
        lambda data: data.replace(b"ising-10", b"ising-20", 1),
        lambda data: data[: len(data) // 2],
        lambda data: b"{}\n" * 2000,
        lambda data: data[:4096] + b"\x00" * (len(data) - 4096),
        lambda data: data.replace(b"ising", b"isin\xff"),
    ],
)
def test_a_damaged_file_is_detected(path, damage):
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StoreError, match=r"results.sqlite is damaged .*Delete it to start again"):
        rows_in(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rows SET value = 1.2 WHERE trial = 1",
        "UPDATE rows SET trial = 7 WHERE trial = 1",
        "UPDATE rows SET checksum = NULL WHERE trial = 2",
        "UPDATE rows SET alone = NULL WHERE trial = 1",
    ],
)
def test_a_row_that_was_changed_is_detected(path, statement):
    change(path, statement)
    with pytest.raises(StoreError, match=r"results.sqlite is damaged \(the row of \['ising-10', .* changed"):
        rows_in(path)


@pytest.mark.parametrize(
    "statement", [f"PRAGMA user_version = {FORMAT + 1}", "ALTER TABLE rows ADD COLUMN more"]
)
def test_other_formats_are_refused(path, statement):
    change(path, statement)
    with pytest.raises(StoreError, match=r"another version of swapwise.*--out"):
        rows_in(path)


@pytest.mark.parametrize("name", ["rows.jsonl", "manifest.json"])
def test_folders_of_earlier_versions_are_refused(path, name):
    (path.parent / name).write_text("")
    with pytest.raises(StoreError, match=rf"{name} was written by another version of swapwise.*--out"):
        rows_in(path)


def test_a_cell_cannot_be_added_twice(path):
    with Store(path) as store, pytest.raises(StoreError, match="has a row for"):
        store.add(row(1, value=3.0))
    assert len(rows_in(path)) == 3


def test_what_is_no_number_is_refused_before_anything_is_written(path):
    with Store(path) as store, pytest.raises(ValueError, match="not JSON compliant"):
        store.add(row(5, value=float("nan")))
    assert len(rows_in(path)) == 3


def test_two_runs_at_a_time_are_refused(path):
    with Store(path), pytest.raises(StoreError, match="another run is writing to"), Store(path):
        pass
    assert len(rows_in(path)) == 3  # and the lock is gone with its owner


def test_interrupted_while_it_is_written_a_row_counts(tmp_path, monkeypatch):
    insert = Store._insert

    def interrupted(*given):
        insert(*given)
        raise KeyboardInterrupt

    with Store(tmp_path / "results.sqlite") as store:
        monkeypatch.setattr(Store, "_insert", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.add(row(0))
        assert len(store.rows) == 1
    assert len(rows_in(tmp_path / "results.sqlite")) == 1


def test_sessions_have_an_end_unless_they_were_killed(path):
    with Store(path) as store:
        store.begin({"seed": 1})
        assert not store.manifest["complete"]
    with Store(path) as store:
        store.begin({"seed": 2})
        store.end(1.25, made=0, stored=3, wanted=3)
        manifest = store.manifest
    assert (manifest["complete"], manifest["rows"], manifest["wanted"]) == (True, 3, 3)
    assert [session["rows"] for session in manifest["sessions"]] == [None, 0]
    assert [session["options"] for session in manifest["sessions"]] == [{"seed": 1}, {"seed": 2}]
