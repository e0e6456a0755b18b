"""The tables of the methods around the paper, and the race beside other packages, on what is quick."""

import pandas as pd
import pytest

from benchmarks.neighbours import __main__ as neighbours
from benchmarks.neighbours import race
from benchmarks.neighbours.tables import markdown
from swapwise.paper.panels import methods_of, starts_of
from swapwise.paper.settings import REGRESSION_200
from swapwise.search.methods import METHODS

QUICK = {"auto", "oblivious", "modular", "greedy", "htp", "oblivious from greedy", "oblivious from htp"}


@pytest.fixture(scope="module")
def rows():
    found = neighbours.cells_of(["regression-200"], trials=1)
    quick = (cell for cell in found if cell.key[2] in QUICK and cell.size == 3)
    return pd.DataFrame([neighbours.row_of(cell) for cell in quick])


def test_every_method_and_start_has_the_same_instances():
    found = neighbours.cells_of(["regression-200"], trials=2)
    by_method = {}
    for cell in found:
        by_method.setdefault(cell.key[2], set()).add((cell.size, cell.trial))
    assert set(by_method) == {*methods_of(REGRESSION_200), *starts_of(REGRESSION_200)}
    assert len({frozenset(instances) for instances in by_method.values()}) == 1


def test_methods_and_starts_have_a_line_each(rows):
    methods = neighbours.table(rows, ["regression-200"], methods_of, "method").splitlines()
    assert methods[0] == "| method | regression-200 | s |"
    assert [line.split()[1] for line in methods[2:]] == ["auto", "oblivious", "modular", "greedy", "htp"]
    starts = neighbours.table(rows, ["regression-200"], starts_of, "start").splitlines()
    assert [line.split()[1] for line in starts[2:]] == ["auto", "empty", "greedy", "htp"]
    assert "1.00000" in "".join(starts)


def test_promises_are_of_methods_only(rows):
    found = neighbours.table_of_promises(rows, ["regression-200"]).splitlines()
    assert {line.split()[1] for line in found[2:]} == {"auto", "oblivious", "modular", "greedy", "htp"}
    assert rows["promised"].dropna().between(0, 1).all()
    assert (rows["beyond"].dropna() <= rows["promised"].dropna()).all()


def test_empty_cells_of_a_table():
    assert markdown(["a", "b"], {"x": [""]}).splitlines()[2] == "| x |  |"


class TestRace:
    def test_every_method_is_there(self):
        assert set(race.RIVALS) <= {"auto", *METHODS}

    def test_a_method_beside_itself(self, monkeypatch):
        monkeypatch.setattr(race, "theirs", lambda name: race.ours("omp"))
        *doing, found = race.measure("omp", (40, 30, 3), seed=0, laps=1)
        assert [message["doing"] for message in doing] == ["omp", "OMPSolver"] * 2
        assert found["value"]["ours"] == found["value"]["theirs"] > 0
        assert min(found["seconds"].values()) > 0

    def test_a_line_of_ratios(self, monkeypatch):
        seconds, value = {"ours": 1.0, "theirs": 4.0}, {"ours": 0.75, "theirs": 0.5}
        monkeypatch.setattr(race, "apart_in", lambda *given: iter([{"seconds": seconds, "value": value}]))
        line = race.line("htp", (40, 30, 3), trials=2, laps=1, limit=1.0)
        assert line == ["HTPSolver", "1", "0.25", "0.7500", "+0.2500 to +0.2500"]

    def test_a_rival_that_fails_is_told(self, monkeypatch):
        def failing(*given):
            raise race.Failed("start", "no module named skscope")

        monkeypatch.setattr(race, "apart_in", failing)
        assert "no module named skscope" in race.line("htp", (40, 30, 3), 1, 1, 1.0)[3]
