"""Fits on a cluster of processes, with a worker that dies in the middle, and what stays in memory here."""

import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import swapwise as sw

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster

SAMPLES, FEATURES, CHUNK = 1200, 260, 100


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    dask.config.set({"distributed.comm.timeouts.connect": "3s"})  # for calls to a worker that is dead
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def regression():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((SAMPLES, FEATURES))
    return X, X[:, ::26] @ np.linspace(1, 2, 10) + 3 * rng.standard_normal(SAMPLES)


def in_chunks(read, *args):
    from dask import delayed

    chunks = [
        da.from_delayed(delayed(read)(begin, *args), (CHUNK, FEATURES), float)
        for begin in range(0, SAMPLES, CHUNK)
    ]
    return da.concatenate(chunks)


def rows_of(begin, path):
    return np.array(np.load(path, mmap_mode="r")[begin : begin + CHUNK])


def rows_of_a_mortal(begin, path, folder):
    """Read rows; the worker that reads the fifth chunk for the second time dies of it, once."""
    if begin == 4 * CHUNK:
        times = len(list(Path(folder).glob("read-*")))
        Path(folder, f"read-{times}").touch()
        if times == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    return rows_of(begin, path)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "X.npy", regression()[0])
    return str(tmp_path / "X.npy")


CONSTRAINT = sw.Partition(np.arange(FEATURES) % 5, 2)


def same(model, other):
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-8)
    assert model.intercept_ == pytest.approx(other.intercept_, abs=1e-8)


def test_same_answer_on_a_cluster(client, path):
    X, y = regression()
    plain = sw.SparseRegressor(CONSTRAINT).fit(X, y)
    spread = sw.SparseRegressor(CONSTRAINT).fit(in_chunks(rows_of, path), da.from_array(y, chunks=CHUNK))
    same(spread, plain)
    same(sw.SparseRegressor(CONSTRAINT).fit(in_chunks(rows_of, path).persist(), y), plain)


def test_cross_validation_within_joblibs_context(client, path):
    from joblib import parallel_config

    X, y = regression()
    plain = sw.SparseRegressorCV(sizes=[1, 3], cv=2).fit(X, y)
    with parallel_config(backend="dask"):
        spread = sw.SparseRegressorCV(sizes=[1, 3], cv=2).fit(in_chunks(rows_of, path), y)
    same(spread, plain)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [sw.SparseRegressor, sw.SparseClassifier])
def test_a_lost_worker_costs_no_more_than_time(kind, client, path, tmp_path):
    X, y = regression()
    y = y if kind is sw.SparseRegressor else y > 0
    before = set(client.run(os.getpid).values())
    model = kind(CONSTRAINT).fit(in_chunks(rows_of_a_mortal, path, str(tmp_path)), y)
    assert len(list(tmp_path.glob("read-*"))) > 2  # it was read again after it had killed
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != before
    same(model, kind(CONSTRAINT).fit(X, y))


def test_a_bad_chunk_is_named_on_a_cluster(client, path):
    X, y = regression()
    X[450, 3] = np.nan
    np.save(path, X)
    with pytest.raises(ValueError, match=r"got nan at position \(450, 3\), in chunk 4 \(rows 400 to 499\)"):
        sw.SparseRegressor(CONSTRAINT).fit(in_chunks(rows_of, path), y)


def test_little_comes_to_this_process(client):
    X = da.random.default_rng(0).standard_normal((100_000, FEATURES), chunks=(10_000, FEATURES))
    y = np.random.default_rng(0).standard_normal(len(X))

    def fit(rows):
        sw.SparseRegressor(CONSTRAINT).fit(X[:rows], y[:rows])
        sw.SparseClassifier(CONSTRAINT).fit(X[:rows], y[:rows] > 0)

    fit(500)  # so that what is loaded once is not counted
    tracemalloc.start()
    fit(len(X))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes / 4  # some vectors, also as messages: the scheduler is in this process


FIT_FROM_FILE = """
import sys
from pathlib import Path
import numpy as np
import swapwise as sw
from swapwise.data import mapped

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(dict(line.split(":", 1) for line in lines)["VmHWM"].split()[0])

mapped.CHUNK_BYTES = 1 << 22
X = np.load(sys.argv[1], mmap_mode="r")
y = np.array(X[:, 0]) + np.arange(len(X)) % 7
sw.SparseRegressor(10).fit(X[:1000], y[:1000])
before = peak()
sw.SparseRegressor(10).fit(X, y)
print(peak() - before, X.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is told by Linux only")
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_is_never_resident_as_a_whole(order, tmp_path):
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", float, (50_000, 400), fortran_order=order == "F")
    X[:] = rng.standard_normal((50_000, 1)) + rng.standard_normal(400)
    X[np.arange(400) * 3, np.arange(400)] += 1.0
    X.flush()
    command = [sys.executable, "-c", FIT_FROM_FILE, str(tmp_path / "X.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    grown, size = map(int, done.stdout.split())
    assert grown < size / 2
