"""One fit, alone in a process: ``python -m benchmarks.outgrown.fits file|cluster|loss folder size``."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np

import swapwise as sw
from benchmarks.outgrown.data import labels
from swapwise.events import subscribe

MEMORY_OF_A_WORKER = "2GB"
ROWS_OF_A_CHUNK = 1250


def fit(X: Any, y: Any, size: int) -> dict[str, Any]:
    """Fit two features a group, and return the answer and what it cost."""
    constraint = sw.Partition(labels(X.shape[1], size // 2), 2)
    begin = time.perf_counter()
    model = sw.SparseRegressor(constraint).fit(X, y)
    return {
        "seconds": time.perf_counter() - begin,
        "passes": model.result_.n_passes,
        "r2": model.result_.value,
        "support": model.support_.tolist(),
        "coef": model.coef_[model.support_].tolist(),
    }


def from_file(folder: Path, size: int) -> dict[str, Any]:
    """Fit from a memory-mapped file."""
    X, y = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy")
    before = _bytes_from_disk()
    found = fit(X, y, size)
    return found | {"disk": _bytes_from_disk() - before, "peak": _peak()}


def on_cluster(folder: Path, size: int, lose_a_worker: bool) -> dict[str, Any]:
    """Fit on two worker processes; one of them is killed soon after the first pass if asked for."""
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster

    shape, y = np.load(folder / "X.npy", mmap_mode="r").shape, np.load(folder / "y.npy")
    chunks = [
        da.from_delayed(
            delayed(read_rows)(str(folder / "X.npy"), begin, min(begin + ROWS_OF_A_CHUNK, shape[0])),
            (min(ROWS_OF_A_CHUNK, shape[0] - begin), shape[1]),
            np.float64,
        )
        for begin in range(0, shape[0], ROWS_OF_A_CHUNK)
    ]
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": MEMORY_OF_A_WORKER}
    with (
        LocalCluster(processes=True, dashboard_address=None, **options) as cluster,
        Client(cluster) as client,
    ):
        workers = client.run(os.getpid)
        with _one_lost(next(iter(workers.values()))) if lose_a_worker else _nothing_lost() as lost:
            found = fit(da.concatenate(chunks), y, size)
        peaks = client.run(_peak)
        survivors = set(client.run(os.getpid).values()) & set(workers.values())
        return found | {
            "peak": _peak(),
            "peaks of workers": list(peaks.values()),
            "killed": lost,
            "workers left of the first": len(survivors),
        }


def read_rows(path: str, begin: int, end: int) -> Any:
    """Return some rows of a file as an array in memory."""
    return np.array(np.load(path, mmap_mode="r")[begin:end])


@contextmanager
def _one_lost(pid: int) -> Iterator[list[int]]:
    """Kill a process two seconds after the second pass has begun."""
    lost: list[int] = []

    def kill() -> None:
        os.kill(pid, signal.SIGKILL)
        lost.append(pid)

    def hear(news: dict[str, float]) -> None:
        if news.get("rounds") == 1:
            Timer(2.0, kill).start()

    with subscribe(hear):
        yield lost


@contextmanager
def _nothing_lost() -> Iterator[list[int]]:
    yield []


def _bytes_from_disk() -> int:
    """Return how many bytes this process had fetched from storage, as Linux counts them."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])


def _peak() -> int:
    """Return the largest resident memory of this process so far, in bytes, as Linux counts it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(dict(line.split(":", 1) for line in lines)["VmHWM"].split()[0])


if __name__ == "__main__":
    kind, where, how_many = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    answer = from_file(where, how_many) if kind == "file" else on_cluster(where, how_many, kind == "loss")
    print(json.dumps(answer))
