"""Closed streams, links in a circle, control characters in names: an answer, or a line with the reason."""

import json
import os
import subprocess
import sys

import pytest

from swapwise.app.cli.terminal import LONGEST_LINE, printable
from tests.app.cli.running import graph, refused, select

TABLE = "a,b,y\n1,2,1\n2,1,2\n4,5,3\n3,3,5\n5,1,4\n"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.skipif(os.name != "posix", reason="shells that close streams")
@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_closed_streams_lose_no_answer(tmp_path, data, closed):
    command = f'"{sys.executable}" -m swapwise select data.csv -t y --json out.json {closed}'
    assert subprocess.run(command, shell=True, cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "out.json").read_text())["chosen"]


@pytest.fixture
def circle(tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.symlink_to(second)
    second.symlink_to(first)
    return first


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_links_in_a_circle_are_not_written_to(data, circle, force):
    refused(select(data, "-t", "y", "--json", circle, *force), "links lead in a circle")


def test_links_in_a_circle_are_not_read(circle):
    refused(select(circle, "-t", "y"), "first.csv")
    refused(graph(circle), "first.csv")


def test_a_link_to_nothing_is_followed_by_force_only(tmp_path, data):
    link, elsewhere = tmp_path / "link.json", tmp_path / "elsewhere"
    link.symlink_to(elsewhere)
    refused(select(data, "-t", "y", "--json", link), "link.json exists already; --force overwrites it")
    assert not elsewhere.exists()
    assert select(data, "-t", "y", "--json", link, "--force").exit_code == 0
    assert json.loads(elsewhere.read_text())["chosen"]


OBEYED = "\x1b]0;title\x07"


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (f'"{OBEYED}",y\n1,1\n2,2\n4,3\n', ["-t", "y"]),
        (f'a,"{OBEYED}"\n1,1\n2,2\n4,3\n', ["-t", OBEYED]),
        (f'a,y\n1,"{OBEYED}"\n2,no\n4,no\n3,"{OBEYED}"\n', ["-t", "y", "--family", "logistic"]),
        (f'"{OBEYED}",y\nx,1\nz,2\nx,3\n', ["-t", "y", "--one-hot"]),
        (f'"{OBEYED}",y\nx,1\nz,2\nx,3\n', ["-t", "y"]),
        (TABLE, ["-t", OBEYED]),
    ],
)
def test_a_terminal_is_sent_nothing_that_it_obeys(tmp_path, table, options):
    (tmp_path / "data.csv").write_text(table)
    done = select(tmp_path / "data.csv", *options)
    assert "\\x1b]0;title" in done.output
    assert not set(done.output) & {"\x1b", "\x07"}


def test_a_terminal_is_sent_no_names_of_columns_that_it_obeys(tmp_path):
    rows = "\n".join(f"{n % 2},{n % 2},{n // 2 % 2}" for n in range(40))
    (tmp_path / "data.csv").write_text(f'"{OBEYED}",b,c\n{rows}\n')
    done = graph(tmp_path / "data.csv", "--max-degree", 1, "--criterion", "none")
    assert "\\x1b]0;title" in done.output
    assert not set(done.output) & {"\x1b", "\x07"}


@pytest.mark.parametrize("cell", ["4", "text"])
def test_endless_names_make_no_endless_messages(tmp_path, cell):
    name = "n" * 100_000
    (tmp_path / "data.csv").write_text(f"{name},b,y\n1,2,3\n{cell},3,4\n5,6,8\n")
    done = select(tmp_path / "data.csv", "-t", "y")
    assert "(100000" in done.output  # a table may break the line after it
    assert len(done.output) < 5000


def test_lines_have_an_end():
    assert len(printable("two words " * 10_000)) < LONGEST_LINE + 100
    assert printable("--force-out " + ",".join(map(str, range(1000)))).endswith(",999")


def test_too_little_memory_is_a_line(data, monkeypatch):
    def too_large(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr("swapwise.app.cli.selection.select_features", too_large)
    refused(select(data, "-t", "y"), "out of memory (Unable to allocate 9 TiB)")


EMPTY, UNENDED = "data.csv is empty", "data.csv: a cell of line 1 does not end"
NOTHING = {'"': UNENDED, '\ufeff"': UNENDED, '""\n""\n': EMPTY, "\n \n": EMPTY, "\ufeff": EMPTY}


@pytest.mark.parametrize("text", NOTHING)
def test_a_table_of_quotes_and_blanks_is_refused(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text)
    refused(select(path, "-t", "y"), NOTHING[text])
