"""Jobs of joblib on a Dask cluster of two processes: the same answers as in this one."""

import os
import re
import time
from collections import Counter
from contextlib import contextmanager
from uuid import uuid4

import joblib
import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise.paper import run as runs
from swapwise.paper.grid import cells
from swapwise.paper.store import Store
from swapwise.search.restarts import BATCH
from tests.search.searching import best_of_searches

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster

RESTARTS = 2 * BATCH + 3


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    where = {"dashboard_address": ":0", "local_directory": str(tmp_path_factory.mktemp("dask"))}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **where) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert os.getpid() not in client.run(os.getpid).values()
        yield client


@contextmanager
def on_cluster(client, context=joblib.parallel_config):
    """Yield how many jobs of each function the workers did, counted at the end."""
    done = Counter()
    with distributed.get_task_stream(client) as stream, context("dask"):
        yield done
    for task in stream.data:
        name, count = re.match(r"batch_of_(\w+)_(\d+)_calls", task["key"]).groups()
        done[name] += int(count)


def correlated(n_features=60):
    rng = np.random.default_rng(1)
    common = rng.standard_normal((60, 5)) @ rng.standard_normal((5, n_features))
    X = common + rng.standard_normal((60, n_features))
    return X, X[:, :8].sum(axis=1) + 5 * rng.standard_normal(60)


def assert_same(there, here):
    assert there.best.support.tolist() == here.best.support.tolist()
    assert there.best.value == pytest.approx(here.best.value, rel=1e-12)
    assert there.best.status == here.best.status
    np.testing.assert_array_equal(there.frequency, here.frequency)


@pytest.mark.parametrize("context", [joblib.parallel_config, joblib.parallel_backend])
def test_folds(client, context):
    X, y = correlated()
    model = sw.SparseRegressorCV(sizes=range(1, 5), cv=4)
    here = model.fit(X, y).path_
    with on_cluster(client, context) as done:
        there = model.fit(X, y).path_
    pd.testing.assert_frame_equal(there, here, rtol=1e-12)
    assert done == {"_fold_losses": 4}


def test_folds_of_weighted_classes(client):
    X, y = correlated(10)
    model = sw.SparseClassifierCV(sizes=[1, 2], cv=3)
    weight = np.arange(60) % 4 / 2
    here = model.fit(X, y > 0, weight).path_
    with on_cluster(client) as done:
        there = model.fit(X, y > 0, weight).path_
    pd.testing.assert_frame_equal(there, here, rtol=1e-12)
    assert done == {"_fold_losses": 3}


def test_paths_of_graphs_with_restarts_of_their_own(client):
    spins = np.where(np.random.default_rng(0).random((80, 5)) < 0.5, -1, 1)
    model = sw.IsingGraphCV(2, criterion="cv", cv=2, n_restarts=2)
    here = model.fit(spins).path_
    with on_cluster(client) as done:
        there = model.fit(spins).path_
    pd.testing.assert_frame_equal(there, here, rtol=1e-12)
    # Restarts are made with the number of edges that the folds have chosen.
    assert done == {"_fold_scores": 2, "search_again": 2}


@pytest.mark.parametrize("start", ["empty", "model"])
def test_restarts(client, start):
    X, y = correlated(250)
    constraint = sw.Uniform(250, 6)

    def search(n_restarts):
        objective = sw.LeastSquares(X, y, ridge=1.0)
        return best_of_searches(objective, constraint, start=start, n_restarts=n_restarts)

    here = search(RESTARTS)
    # With perturbations, the first answer is hard to beat; without, the best one comes from a worker.
    assert here.best.value > search(0).best.value or start == "model"
    with on_cluster(client) as done:
        there = search(RESTARTS)
    assert_same(there, here)
    assert there.best.guarantee.ratio == pytest.approx(here.best.guarantee.ratio)
    assert done == {"search_again": RESTARTS}


def test_restarts_of_a_method_that_draws(client):
    X, y = correlated()
    objective, constraint = sw.LeastSquares(X, y), sw.Uniform(60, 4)
    here = best_of_searches(objective, constraint, "random", n_restarts=3)
    with on_cluster(client):
        assert_same(best_of_searches(objective, constraint, "random", n_restarts=3), here)


def test_both_workers_restart(client, tmp_path):
    this_process = os.getpid()

    def value(support):
        """Wait, in a worker, for the other worker to come here too."""
        if os.getpid() != this_process:
            (tmp_path / str(os.getpid())).touch()
            give_up = time.monotonic() + 60
            while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < give_up:
                time.sleep(0.01)
        return float(len(support))

    with on_cluster(client):
        best_of_searches(sw.CustomSetFunction(value, 4), sw.Uniform(4, 2), n_restarts=BATCH)
    assert {int(path.name) for path in tmp_path.iterdir()} == set(client.run(os.getpid).values())


def test_a_worker_gets_the_problem_with_a_batch_and_not_with_every_job(client, tmp_path):
    this_process = os.getpid()

    class Counted(sw.Linear):
        def __setstate__(self, state):
            self.__dict__.update(state)
            if os.getpid() != this_process:
                (tmp_path / uuid4().hex).touch()

    with on_cluster(client):
        best_of_searches(Counted(np.arange(5.0)), sw.Uniform(5, 2), n_restarts=BATCH)
    assert 1 <= len(list(tmp_path.iterdir())) <= 2


def test_what_goes_wrong_in_a_worker_is_told_here(client):
    this_process = os.getpid()

    def value(support):
        if os.getpid() != this_process:
            raise ArithmeticError("not in a worker")
        return float(len(support))

    with on_cluster(client), pytest.raises(ArithmeticError, match="not in a worker"):
        best_of_searches(sw.CustomSetFunction(value, 4), sw.Uniform(4, 2), n_restarts=2)


def test_the_limit_on_time_is_for_all_restarts_together(client):
    X, y = correlated()
    with on_cluster(client):
        found = best_of_searches(sw.LeastSquares(X, y), sw.Uniform(60, 4), n_restarts=10**6, time_limit=0.3)
    assert found.best.status == sw.Status.TIME_LIMIT
    assert len(found.best.support) == 4


def test_cells_of_experiments_but_for_timed_ones(client, tmp_path, monkeypatch):
    grid = cells(1, only=["ising-20", "modular"]) + cells(1, only=["regression-200", "modular"])[:2]
    timed = [cell.key for cell in grid if cell.is_timed]
    assert 0 < len(timed) < len(grid)
    with Store(tmp_path / "here.sqlite") as store:
        here = runs.run(grid, store, jobs=1)
    made, measure = [], runs.measure
    monkeypatch.setattr(runs, "warm_up", lambda cells: None)
    monkeypatch.setattr(runs, "measure", lambda cell: made.append(cell.key) or measure(cell))
    with on_cluster(client) as done, Store(tmp_path / "there.sqlite") as store:
        there = runs.run(grid, store)
    assert made == timed
    assert done == {"_with_row": len(grid) - len(timed)}
    assert [{**row, "seconds": None} for row in there] == [{**row, "seconds": None} for row in here]
