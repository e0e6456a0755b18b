"""How many threads small linear algebra may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

# Factorisations of smaller matrices take longer with several threads than with one.
ONE_THREAD_UP_TO = 500


def few_threads(n: int) -> AbstractContextManager[Any]:
    """Return a context in which matrices of size n are factored without needless threads."""
    if n > ONE_THREAD_UP_TO:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits
