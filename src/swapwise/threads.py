"""The number of threads of small linear algebra and of kernels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Factorisations of matrices up to this size take longer with several threads than with one. Up to the smaller
# size OpenBLAS keeps to one by itself, and to limit it would take longer than the factorisation.
ONE_THREAD_UP_TO, ONE_THREAD_ANYWAY = 500, 20

# Products of fewer multiplications take a few milliseconds; with threads they take far longer where other
# programs use the cores, as these wait for each other.
PRODUCT_WORTH_THREADS = 5e7

_kernel_threads: ContextVar[int | None] = ContextVar("kernel_threads", default=None)


def few_threads(n: int) -> AbstractContextManager[Any]:
    if not ONE_THREAD_ANYWAY < n <= ONE_THREAD_UP_TO:
        return nullcontext()
    return _one_thread()


def product(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    is_small = first.size * second.shape[1] < PRODUCT_WORTH_THREADS
    with _one_thread() if is_small else nullcontext():
        found: NDArray[np.float64] = first @ second
    return found


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit BLAS to one thread in the whole process, until the last such context ends."""
    with _limited.lock:
        if _limited.count == 0:
            _limited.limits = _controller().limit(limits=1, user_api="blas")
        _limited.count += 1
    try:
        yield
    finally:
        with _limited.lock:
            _limited.count -= 1
            if _limited.count == 0:
                _limited.limits.restore_original_limits()


class _Limited:
    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self.limits: Any = None


_limited = _Limited()


@cache
def _controller() -> Any:  # cached: finding the libraries takes milliseconds
    import scipy.linalg  # noqa: F401  so that its libraries are among them
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def kernel_threads(n: int) -> Iterator[None]:
    token = _kernel_threads.set(n)
    try:
        yield
    finally:
        _kernel_threads.reset(token)


def n_kernel_threads() -> int:
    """Return the number of threads of a kernel: that of :func:`kernel_threads`, or all cores of this process.

    ``OMP_NUM_THREADS`` takes precedence over the number of cores: the workers of joblib and Dask have it set,
    so that together they do not use more threads than there are cores.
    """
    limit = _kernel_threads.get()
    if limit is None:
        given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()  # a list is for nested loops
        limit = int(given) if given.isdecimal() else 0
    return limit or _n_cores()


@cache
def _n_cores() -> int:
    """The number of cores that this process may use, as its container or batch system limits it."""
    from joblib import cpu_count

    return int(cpu_count())
