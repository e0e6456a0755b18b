"""A run makes what is missing, whatever was made before, beside what else, and however it was stopped."""

import dataclasses
import os
import signal

import pytest

from swapwise.paper import run as runs
from swapwise.paper.grid import cells
from swapwise.paper.procedures import Interrupted, Procedure
from swapwise.paper.run import WorkerDied, run
from swapwise.paper.store import Store

pytestmark = pytest.mark.experiments


@dataclasses.dataclass(frozen=True)
class Deadly(Procedure):
    """Kills the process that it runs in."""

    name = "deadly"
    part = "starts"

    def run(self, setting, instance, size, flavour, seed):
        os.kill(os.getpid(), signal.SIGKILL)


GRID = cells(2, only=["regression", "modular"])


def rows_of(grid, path, **options):
    with Store(path) as store:
        return [{**row, "seconds": None} for row in run(grid, store, **options)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return rows_of(GRID, tmp_path_factory.mktemp("whole") / "results.sqlite", jobs=1)


def test_rows_come_in_the_order_of_the_grid(whole):
    assert [(row["setting"], row["size"], row["trial"]) for row in whole] == [
        (cell.key[0], cell.size, cell.trial) for cell in GRID
    ]


def test_side_by_side_gives_the_same_rows(whole, tmp_path):
    assert rows_of(GRID, tmp_path / "results.sqlite", jobs=2) == whole


def test_a_subset_is_the_subset(whole, tmp_path):
    some = cells(1, only=["regression-1000", "modular"])
    keys = {cell.key for cell in some}
    wanted = [row for row, cell in zip(whole, GRID, strict=True) if cell.key in keys]
    assert rows_of(some, tmp_path / "results.sqlite") == wanted


def test_what_is_there_is_not_made_again(whole, tmp_path, monkeypatch):
    path = tmp_path / "results.sqlite"
    rows_of(GRID[::3], path, jobs=1)
    made = []
    measure = runs.measure
    monkeypatch.setattr(runs, "measure", lambda cell: made.append(cell.key) or measure(cell))
    monkeypatch.setattr(runs, "warm_up", lambda cells: None)
    seen = []
    assert rows_of(GRID, path, jobs=1, observe=lambda cell: seen.append(cell.key)) == whole
    assert sorted(made) == sorted({cell.key for cell in GRID} - {cell.key for cell in GRID[::3]})
    assert sorted(seen) == sorted(made)


def test_interrupted_it_keeps_what_is_done(whole, tmp_path, monkeypatch):
    path = tmp_path / "results.sqlite"
    measure = runs.measure

    def interrupted(cell):
        if cell.key == GRID[7].key:
            raise Interrupted
        return measure(cell)

    monkeypatch.setattr(runs, "warm_up", lambda cells: None)
    monkeypatch.setattr(runs, "measure", interrupted)
    with Store(path) as store, pytest.raises(KeyboardInterrupt):
        run(GRID, store, jobs=1)
    monkeypatch.setattr(runs, "measure", measure)
    with Store(path) as store:
        assert len(store.rows) == 7
    assert rows_of(GRID, path, jobs=1) == whole


def test_a_worker_that_dies_is_told_and_rows_are_kept(tmp_path):
    deadly = dataclasses.replace(GRID[-1].block, procedure=Deadly())
    grid = [GRID[0], dataclasses.replace(GRID[-1], block=deadly)]
    with Store(tmp_path / "results.sqlite") as store:
        with pytest.raises(WorkerDied, match="a worker process was killed"):
            run(grid, store, jobs=2)
        assert list(store.rows) == [GRID[0].key]


def test_timed_cells_run_by_themselves_and_first(tmp_path, monkeypatch):
    order = []
    measure = runs.measure
    monkeypatch.setattr(runs, "measure", lambda cell: order.append(cell.is_timed) or measure(cell))
    monkeypatch.setattr(runs, "warm_up", lambda cells: None)
    rows_of(GRID[::-1], tmp_path / "results.sqlite", jobs=1)
    assert order == sorted(order, reverse=True)


def test_all_methods_are_timed_on_an_instance_before_the_next(tmp_path, monkeypatch):
    """A machine that is slower for a while is slower for all of them, and ratios stay."""
    order = []
    monkeypatch.setattr(runs, "measure", lambda cell: order.append(cell) or dict.fromkeys(cell.key))
    monkeypatch.setattr(runs, "warm_up", lambda cells: None)
    grid = cells(2, only=["regression-200", "modular", "oblivious", "non-oblivious"])
    list(runs._measured(grid, 1))
    instances = [(cell.trial, cell.size) for cell in order if cell.is_timed]
    assert instances == sorted(instances)
    assert {cell.block.procedure.name for cell in order[:3]} == {"modular", "oblivious", "non-oblivious"}


def test_warm_up_covers_every_compiled_method_once_for_the_smallest_and_the_largest_size(monkeypatch):
    warmed = []
    monkeypatch.setattr(runs, "measure", lambda cell: warmed.append((cell.key[2], cell.size)))
    runs.warm_up(cells(2, only=["regression-200", "oblivious", "modular", "plain modular"]))
    methods = ["modular", "oblivious", "oblivious from arbitrary"]
    assert sorted(warmed) == [(method, size) for method in methods for size in (1, 10)]
