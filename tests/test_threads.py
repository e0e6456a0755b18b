"""How many threads kernels may use, and what becomes of processes that were forked after they were used."""

import os
import subprocess
import sys

import pytest
import scipy.linalg  # noqa: F401  whose library is limited, too
from threadpoolctl import ThreadpoolController, threadpool_limits

from swapwise.threads import few_threads, kernel_threads, n_kernel_threads


@pytest.mark.parametrize(("given", "expected"), [("3", 3), ("2,1", 2), (" 5 ", 5)])
def test_the_environment_says_how_many(monkeypatch, given, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert n_kernel_threads() == expected
    with kernel_threads(7):
        assert n_kernel_threads() == 7
        with kernel_threads(1):
            assert n_kernel_threads() == 1
        assert n_kernel_threads() == 7
    assert n_kernel_threads() == expected


@pytest.mark.parametrize("given", [None, "", "0", "many"])
def test_otherwise_all_cores_are_used(monkeypatch, given):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if given is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert 1 <= n_kernel_threads() <= os.cpu_count()


FORKED = """
import os
import numpy as np
from swapwise.kernels import ising

tail, head = np.triu_indices(6, 1)
spins = np.random.default_rng(0).choice([-1.0, 1.0], (6, 50))
samples = spins, spins, np.empty(0), np.empty(0, dtype=int), np.empty(0)
problem = samples, tail, head, 0.1, np.full(15, 2.0), np.full(6, 2.0)
chosen, added = np.arange(5), np.repeat(np.arange(5, 15), 10)[:, None]

def values():
    return ising.values_after(problem, chosen, np.zeros(5), added, -np.ones_like(added), 1e-13, 100, 4)[0]

before = values()
child = os.fork()
if child == 0:
    os._exit(0 if (values() == before).all() else 1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_forked_processes_can_use_threads_too():
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=100)


def test_blas_gets_its_threads_back_whoever_leaves_first():
    controller = ThreadpoolController()

    def threads():
        return {library["num_threads"] for library in controller.info() if library["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        first, second = few_threads(100), few_threads(100)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == {2}
