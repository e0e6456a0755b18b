"""Processes of all kinds: forked after a fit, joblib's, and those that may write nowhere."""

import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest

import swapwise as sw

SPINS = np.sign(np.random.default_rng(0).standard_normal((300, 22)))


def fitted_edges():
    return sorted(sw.IsingGraph(max_degree=2).fit(SPINS).graph_.edges)


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is forked there")
@pytest.mark.parametrize("threads", [1, 4])
def test_children_of_a_process_that_fitted_a_graph_live(threads):
    # In a process of its own, for this one may have threads of other libraries.
    code = (
        "import multiprocessing as mp, sys, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "from tests.test_processes import fitted_edges\n"
        "edges = fitted_edges()\n"
        "check = lambda: sys.exit(0 if fitted_edges() == edges else 3)\n"
        "child = mp.get_context('fork').Process(target=check)\n"
        "child.start(); child.join(60); sys.exit(4 if child.exitcode is None else child.exitcode)\n"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("backend", ["multiprocessing", "loky", "threading"])
def test_folds_and_restarts_go_wherever_joblib_is_told_to(backend):
    X = np.random.default_rng(0).standard_normal((50, 5))
    y = X[:, 0] + 0.1 * X[:, 3]
    here = sw.SparseRegressorCV(cv=3, n_restarts=2, random_state=0).fit(X, y)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        there = sw.SparseRegressorCV(cv=3, n_restarts=2, random_state=0).fit(X, y)
        graph = sw.IsingGraphCV(criterion="cv", cv=3).fit(SPINS[:, :5])
    assert there.support_.tolist() == here.support_.tolist()
    np.testing.assert_array_equal(there.coef_, here.coef_)
    assert graph.n_edges_ == sw.IsingGraphCV(criterion="cv", cv=3).fit(SPINS[:, :5]).n_edges_


def test_nothing_has_to_be_writable(tmp_path):
    package = tmp_path / "site" / "swapwise"
    shutil.copytree(Path(sw.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    before = set(package.rglob("*"))
    environment = {**os.environ, "HOME": os.devnull, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-B", "-m", "swapwise", "select", "--demo"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    for folder in folders:
        folder.chmod(0o755)
    assert (done.returncode, "texture_worst" in done.stdout) == (0, True), done.stderr
    assert set(package.rglob("*")) == before  # root could have written


def test_spawned_processes_give_the_same_answer():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(fitted_edges) == fitted_edges()


def test_threads_give_the_answers_of_one():
    rng = np.random.default_rng(0)
    tables = rng.standard_normal((4, 200, 60))
    problems = [(X, X[:, :3] @ [3, 2, 1] + rng.standard_normal(200)) for X in tables]

    def fit(problem):
        X, y = problem
        classifier = sw.SparseClassifier(3).fit(X, y > 0)
        return sw.SparseRegressor(3).fit(X, y).coef_.tolist(), classifier.coef_.tolist(), fitted_edges()

    answers = {}
    threads = [
        threading.Thread(target=lambda place=place: answers.update({place: fit(problems[place])}))
        for place in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[place] for place in range(4)] == [fit(problem) for problem in problems]


def test_threads_share_an_objective(monkeypatch):
    monkeypatch.setattr(
        "swapwise.data.design.QUICK_GRAM", 0
    )  # inner products are filled in as they are needed
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 120))
    y = X[:, :12].sum(axis=1) + 4 * rng.standard_normal(300)
    starts = [rng.choice(120, 8, replace=False).tolist() for _ in range(8)]

    def search(objective, start):
        result = sw.maximize(objective, sw.Uniform(120, 8), "oblivious", start=start)
        return result.support.tolist(), result.value

    plain = [search(sw.LeastSquares(X, y), start) for start in starts]
    for _ in range(5):
        shared = sw.LeastSquares(X, y)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda start, shared=shared: search(shared, start), starts))
        assert [support for support, _ in found] == [support for support, _ in plain]
        np.testing.assert_allclose([value for _, value in found], [value for _, value in plain], rtol=1e-12)
