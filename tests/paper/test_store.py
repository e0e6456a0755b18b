"""Whatever happens to the program or to the file, no row is lost, doubled or taken for what it is not."""

import json
import os

import pytest

from swapwise.paper.store import Store, StoreError

pytestmark = pytest.mark.experiments


def row(trial, **figures):
    coordinates = {"setting": "ising-10", "part": "paper", "method": "random", "size": 1, "trial": trial}
    return {**coordinates, "flavour": "default", "seed": 0, "value": 0.1 + trial, "seconds": None, **figures}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "folder" / "rows.jsonl"
    with Store(path) as store:
        for trial in range(3):
            store.add(row(trial))
    return path


def rows_in(path):
    with Store(path) as store:
        return list(store.rows.values())


def test_what_goes_in_comes_out(path):
    assert rows_in(path) == [row(0), row(1), row(2)]


def test_rows_are_on_disk_as_soon_as_they_are_added(tmp_path):
    with Store(tmp_path / "rows.jsonl") as store:
        for trial in range(3):
            store.add(row(trial))
            assert (tmp_path / "rows.jsonl").read_bytes().count(b"\n") == trial + 1


def test_cut_off_anywhere_only_the_last_row_is_missing(path):
    whole = path.read_bytes()
    ends = [index + 1 for index, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with Store(path) as store:
            left = sum(end <= length for end in ends)
            assert [r["trial"] for r in store.rows.values()] == list(range(left))
            assert store.was_cut == (length not in (0, *ends))
            for trial in range(left, 3):
                store.add(row(trial))
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line.replace(b"1.1", b"1.2"),
        lambda line: line.replace(b'"trial": 1', b'"trial": 7'),
        lambda line: line[: len(line) // 2],
        lambda line: b"",
        lambda line: b"\x00" * len(line),
        lambda line: b"[]",
        lambda line: b'{"row": {}, "check": "00000000"}',
    ],
)
def test_a_damaged_line_is_detected(path, damage):
    first, second, third = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first, damage(second), third, b""]))
    with pytest.raises(StoreError, match=r"line 2 of .*rows.jsonl is damaged.*Delete the line"):
        rows_in(path)


def test_a_line_without_coordinates_is_detected(path):
    from swapwise.paper.store import _line

    path.write_bytes(_line({"value": 1.0}))
    with pytest.raises(StoreError, match="line 1 of"):
        rows_in(path)


def test_rows_with_times_of_the_clock_are_refused(path):
    """Until format 2 seconds were not processor time, and lines had no format."""
    first, *others = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first.replace(b', "format": 2', b""), *others, b""]))
    with pytest.raises(StoreError, match=r"another version of swapwise \(format 1.*processor time.*--out"):
        rows_in(path)


def test_a_second_row_for_the_same_cell_is_detected(path):
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(StoreError, match=r"line 4 of .* is a second row for"):
        rows_in(path)


def test_a_cell_cannot_be_added_twice(path):
    with Store(path) as store, pytest.raises(StoreError, match="has a row for"):
        store.add(row(1, value=3.0))
    assert len(rows_in(path)) == 3


def test_what_is_no_number_is_refused_before_anything_is_written(path):
    before = path.read_bytes()
    with Store(path) as store, pytest.raises(ValueError, match="not JSON compliant"):
        store.add(row(5, value=float("nan")))
    assert path.read_bytes() == before


def test_two_runs_at_a_time_are_refused(path):
    pytest.importorskip("fcntl")
    with Store(path), pytest.raises(StoreError, match="another run is writing to"), Store(path):
        pass
    assert len(rows_in(path)) == 3  # and the lock is gone with its owner


def test_interrupted_while_it_is_written_a_row_counts(tmp_path, monkeypatch):
    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with Store(tmp_path / "rows.jsonl") as store:
        with pytest.raises(KeyboardInterrupt):
            store.add(row(0))
        assert len(store.rows) == 1
    assert len(rows_in(tmp_path / "rows.jsonl")) == 1


def test_lines_are_plain_json(path):
    assert [json.loads(line)["row"]["trial"] for line in path.read_text().splitlines()] == [0, 1, 2]
