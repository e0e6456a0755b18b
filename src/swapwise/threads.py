"""How many threads small linear algebra may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

# Factorisations of matrices up to this size take longer with several threads than with one. Up to the smaller
# size OpenBLAS keeps to one by itself, and to limit it would take longer than the factorisation.
ONE_THREAD_UP_TO, ONE_THREAD_ANYWAY = 500, 20


def few_threads(n: int) -> AbstractContextManager[Any]:
    """Return a context in which matrices of size n are factored without needless threads."""
    if not ONE_THREAD_ANYWAY < n <= ONE_THREAD_UP_TO:
        return nullcontext()
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> Any:
    """Return what knows the libraries of linear algebra; to look for them takes milliseconds."""
    import scipy.linalg  # noqa: F401  so that its libraries are among them
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
