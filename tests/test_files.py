"""A file is there in whole or as it was before."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from swapwise.files import make_empty, write_atomically, write_new


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


def test_each_of_many_writers_at_once_has_a_file_of_its_own(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda n: write_new(tmp_path / "a.json", str(n).encode()), range(40)))
    assert [int(name.read_bytes()) for name in names] == list(range(40))
    assert len(list(tmp_path.iterdir())) == 40


def test_a_new_file_needs_no_hard_links(tmp_path, monkeypatch):
    def refuses(*_):
        raise PermissionError("no links on this disk")

    monkeypatch.setattr(os, "link", refuses)
    assert [write_new(tmp_path / "a", b"text").name for _ in range(3)] == ["a", "a-2", "a-3"]
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"text"] * 3


def test_a_link_where_a_new_file_is_wanted_is_not_followed(tmp_path):
    victim, link = tmp_path / "victim", tmp_path / "a"
    link.symlink_to(victim)
    assert write_new(link, b"text").name == "a-2"
    assert not victim.exists()


def test_unfinished_files_are_not_opened_through_links(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    tokens = iter(["guessed", "guessed", "another", "guessed", "third"])
    monkeypatch.setattr("swapwise.files.secrets.token_hex", lambda size: next(tokens))
    (tmp_path / ".a.guessed.unfinished").symlink_to(victim)
    (tmp_path / f".a.{os.getpid()}.unfinished").symlink_to(victim)
    write_atomically(tmp_path / "a", b"text")
    assert make_empty(tmp_path, "a").name == ".a.third.unfinished"
    assert victim.read_text() == "mine"
    assert (tmp_path / "a").read_bytes() == b"text"
