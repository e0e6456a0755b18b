"""A file is there in whole or as it was before."""

import os

import pytest

from swapwise.files import write_atomically


def test_files_are_replaced_in_whole(tmp_path, monkeypatch):
    path = tmp_path / "new" / "file"
    write_atomically(path, b"old")

    def fails(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "file"
    path.touch(mode=0o600)
    write_atomically(path, b"new")
    assert path.stat().st_mode & 0o777 == 0o600
