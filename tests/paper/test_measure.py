"""A row depends on its own coordinates, and says what a direct call of the library says."""

import dataclasses
import sys
import time
from itertools import product

import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise import checks
from swapwise.paper.grid import cells
from swapwise.paper.measure import COLUMNS, ENOUGH_RUNS, instance_of, measure, one_core, to_frame
from swapwise.paper.procedures import LOCAL_SEARCHES, STARTS, Interrupted, Optimum, Plain, Proof, Search
from swapwise.paper.settings import ISING_10, REGRESSION_200, REGRESSION_1000
from swapwise.search.result import Status
from swapwise.threads import n_kernel_threads

pytestmark = pytest.mark.experiments


def row_of(setting, method, size, trial=0, flavour="default", seed=0):
    (cell,) = (
        cell
        for cell in cells(trial + 1, seed, flavour, only=[setting, method])
        if cell.key[2:5] == (method, size, trial)
    )
    return measure(cell)


def times_aside(row):
    """All else; sums of a refit may be rounded another way where arrays lie elsewhere in memory."""
    return {
        name: pytest.approx(figure, rel=1e-13) if isinstance(figure, float) else figure
        for name, figure in row.items()
        if name != "seconds"
    }


@pytest.mark.parametrize(
    ("setting", "method"),
    [("regression-200", "random-residual-greedy"), ("ising-10", "random"), ("ising-10", "semi-oblivious")],
)
def test_same_coordinates_same_row(setting, method):
    first = row_of(setting, method, 2, trial=1)
    row_of(setting, "modular", 1, trial=0)  # what else is run does not matter
    instance_of.cache_clear()
    again = row_of(setting, method, 2, trial=1)
    assert {**again, "seconds": None} == {**times_aside(first), "seconds": None}
    assert tuple(first) == COLUMNS


@pytest.mark.parametrize("change", [{"trial": 1}, {"seed": 1}])
def test_other_coordinates_other_rows(change):
    assert row_of("ising-10", "random", 2)["value"] != row_of("ising-10", "random", 2, **change)["value"]


def test_both_flavours_have_the_same_instances():
    default, published = (
        row_of("regression-200", "modular", 3, flavour=flavour) for flavour in ("default", "as-published")
    )
    assert default["value"] == published["value"]


def test_regression_row_is_that_of_a_direct_call():
    row = row_of("regression-200", "oblivious", 3)
    instance, _ = instance_of(REGRESSION_200, 0, 0)
    problem = sw.LeastSquares(instance.X, instance.y), sw.Partition(instance.labels, 3)
    result = sw.maximize(*problem, "oblivious", start="empty")
    assert row["quality"] == row["value"] == pytest.approx(result.value, rel=1e-12)
    assert (row["n_iter"], row["status"]) == (result.n_iter, "LOCAL_OPTIMUM")
    assert row["seconds"] > 0


@pytest.mark.parametrize("start", ["greedy", "modular"])
def test_moves_are_those_of_the_method_and_not_of_its_start(start):
    row = row_of("regression-200", f"oblivious from {start}", 3)
    instance, _ = instance_of(REGRESSION_200, 0, 0)
    problem = sw.LeastSquares(instance.X, instance.y), sw.Partition(instance.labels, 3)
    result = sw.maximize(*problem, "oblivious", start=start)
    assert row["n_iter"] == sum(event.strategy == "oblivious" for event in result.history)
    assert 0 < row["n_iter"] < result.n_iter


@pytest.mark.parametrize("run", [Search("oblivious").run, Proof(ridge=0.1, max_nodes=1).run])
def test_searches_begin_with_the_empty_set_unless_their_name_says_where(monkeypatch, run):
    starts = []

    def spy(*problem, start, **options):
        starts.append(start)
        return sw.maximize(*problem, start=start, **options)

    monkeypatch.setattr("swapwise.paper.procedures.maximize", spy)
    instance, _ = instance_of(REGRESSION_200, 0, 0)
    run(REGRESSION_200, instance, 1, "default", 0)
    assert starts == ["empty"]


def test_graphs_are_compared_with_the_true_one():
    row = row_of("ising-10", "modular", 5)
    instance, yardstick = instance_of(ISING_10, 0, 0)
    with one_core():  # which keeps the warning that the data are separable to itself
        value = sw.graphs.IsingPseudoLikelihood(instance.spins)(instance.edges)
    assert yardstick == pytest.approx(value, rel=1e-12)
    assert row["quality"] == pytest.approx(row["value"] / yardstick, rel=1e-12)


def test_as_published_is_one_constant_for_all_moves(monkeypatch):
    calls = []

    def spy(objective, constraint, method, **options):
        calls.append((method, options))
        return sw.maximize(objective, constraint, method, **options)

    monkeypatch.setattr("swapwise.paper.procedures.maximize", spy)
    first = {}
    for method, flavour in product(("non-oblivious", "random"), ("default", "as-published")):
        calls.clear()
        row_of("ising-10", method, 1, flavour=flavour)
        first[method, flavour] = calls[0]
    non_oblivious, published = first["non-oblivious", "default"], first["non-oblivious", "as-published"]
    assert non_oblivious[0] == "non-oblivious"
    assert published[0].smoothness == pytest.approx(4 * 10**1.5)
    # The paper states no limit of moves.
    assert non_oblivious[1] == published[1]
    assert "max_iter" not in published[1]


def test_the_published_constant_of_regression_is_two_for_unit_vectors():
    instance, _ = instance_of(REGRESSION_1000, 0, 0)
    objective, _ = REGRESSION_1000.problem(instance, 1)
    total = float(instance.y @ instance.y)
    # u = 1 - |y - Xw|²/|y|² with |x|² = 100: 2·100/|y|² times that of half a square of unit vectors.
    assert REGRESSION_1000.published_smoothness(objective) == pytest.approx(2 * 2 * 100 / total)


@pytest.mark.parametrize(("method", "start"), [*product(LOCAL_SEARCHES, STARTS), ("modular", "empty")])
@pytest.mark.parametrize(("setting", "size"), [(REGRESSION_200, 3), (ISING_10, 2)])
def test_the_plain_program_ends_where_the_library_does(monkeypatch, setting, size, method, start):
    monkeypatch.setitem(sys.modules, "benchmarks", None)  # which an installed package does not have
    instance, _ = instance_of(setting, 0, 0)
    plain, compiled = (kind(method, start) for kind in (Plain, Search))
    with one_core():
        value = compiled.run(setting, instance, size, "as-published", 0)["value"]
        assert plain.run(setting, instance, size, "default", 0)["value"] == pytest.approx(value, rel=1e-6)


def test_the_plain_random_residual_greedy_runs():
    instance, _ = instance_of(REGRESSION_200, 0, 0)
    figures = Plain("random-residual-greedy").run(REGRESSION_200, instance, 1, "default", 0)
    assert 0 < figures["value"] < 1
    assert figures["n_iter"] == 5


def test_a_proof_is_above_all_that_is_known():
    instance, _ = instance_of(ISING_10, 0, 0)
    proof = Proof(ridge=0.01, max_nodes=5).run(ISING_10, instance, 3, "default", 0)
    objective, constraint = ISING_10.problem(instance, 3, ridge=0.01)
    best = max(sw.maximize(objective, constraint, q=q, start="greedy").value for q in (1, 2))
    assert proof["upper_bound"] >= best - 1e-9
    assert 0 < proof["promised"] <= proof["proven"] <= 1
    assert proof["proven"] == pytest.approx(proof["value"] / proof["upper_bound"])
    assert proof["status"] == "ITERATION_LIMIT"


def test_no_method_is_above_the_bound_on_the_optimum():
    instance, _ = instance_of(ISING_10, 0, 0)
    with one_core():
        found = Optimum(max_nodes=20).run(ISING_10, instance, 1, "default", 0)
        best = Search("auto", "auto").run(ISING_10, instance, 1, "default", 0)["value"]
    assert best <= found["value"] + 1e-9 <= found["upper_bound"] + 2e-9
    assert found["proven"] == pytest.approx(found["value"] / found["upper_bound"])


@pytest.mark.filterwarnings("ignore:.*no strong-concavity bound")
def test_a_trivial_bound_is_no_proven_share():
    instance, _ = instance_of(REGRESSION_200, 0, 0)
    proof = Proof(ridge=0.0, max_nodes=1).run(REGRESSION_200, instance, 3, "default", 0)
    assert proof["upper_bound"] == pytest.approx(1)
    assert proof["proven"] is None


@pytest.mark.parametrize("procedure", [Search("oblivious"), Proof(0.0, 1)])
def test_interrupted_figures_are_no_figures(monkeypatch, procedure):
    instance, _ = instance_of(REGRESSION_200, 0, 0)

    def interrupted(*args, **options):
        result = sw.maximize(*args, **options)
        object.__setattr__(result, "status", Status.INTERRUPTED)
        return result

    monkeypatch.setattr("swapwise.paper.procedures.maximize", interrupted)
    with pytest.raises(Interrupted):
        procedure.run(REGRESSION_200, instance, 1, "default", 0)


def test_a_search_that_goes_wrong_is_no_interrupt(monkeypatch):
    def broken(*args, **options):
        checks.warn("Move(...) did not raise the value 0.5 as it promised: the gradient is wrong")
        raise AssertionError("not reached")

    monkeypatch.setattr("swapwise.paper.procedures.maximize", broken)
    with pytest.raises(RuntimeError, match=r"search of \('regression-200', .* did not raise the value 0.5"):
        row_of("regression-200", "oblivious", 1)


def test_a_bound_that_is_not_finite_is_none():
    (cell,) = (cell for cell in cells(1, only=["regression-200", "modular"]) if cell.size == 1)
    procedure = Unbounded("modular")
    row = measure(dataclasses.replace(cell, block=dataclasses.replace(cell.block, procedure=procedure)))
    assert row["upper_bound"] is None


class Unbounded(Search):
    def run(self, *args):
        return {**super().run(*args), "upper_bound": float("inf")}


def test_cells_that_are_not_timed_alone_say_so():
    timed, other = row_of("regression-200", "modular", 1), row_of("regression-1000", "modular", 1)
    assert (timed["alone"], other["alone"]) == (True, False)
    assert other["seconds"] > 0


@dataclasses.dataclass(frozen=True)
class Waiting(Search):
    """A search that waits for a processor which others use."""

    calls: list = dataclasses.field(default_factory=list, compare=False)
    works: float = 0.0

    def run(self, *args):
        self.calls.append(args)
        time.sleep(0.01)
        end = time.thread_time() + self.works
        while time.thread_time() < end:
            pass
        return {"value": 1.0}


def measured_with(procedure):
    (cell,) = (cell for cell in cells(1, only=["regression-200", "modular"]) if cell.size == 1)
    return measure(dataclasses.replace(cell, block=dataclasses.replace(cell.block, procedure=procedure)))


def test_seconds_are_those_of_the_processor():
    assert measured_with(Waiting("modular"))["seconds"] < 0.005
    assert measured_with(Waiting("modular", works=0.02))["seconds"] == pytest.approx(0.02, rel=0.2)


def test_what_takes_little_time_runs_more_often():
    short, middling, long = (
        Waiting("modular"),
        Waiting("modular", works=0.004),
        Waiting("modular", works=0.04),
    )
    for procedure in (short, middling, long):
        measured_with(procedure)
    assert len(short.calls) == ENOUGH_RUNS
    assert short.repeats < len(middling.calls) < ENOUGH_RUNS
    assert len(long.calls) == long.repeats


def test_counts_stay_whole_numbers_in_a_frame():
    rows = [row_of("regression-200", method, 2) for method in ("modular", "plain modular")]
    frame = to_frame(rows)
    assert frame["n_evaluations"].tolist() == [rows[0]["n_evaluations"], pd.NA]
    assert ".0" not in frame[["n_iter", "n_evaluations"]].to_csv()


def test_one_core_is_given_back():
    before = n_kernel_threads()
    with one_core():
        assert n_kernel_threads() == 1
        np.ones((2, 2)) @ np.ones((2, 2))
    assert n_kernel_threads() == before
