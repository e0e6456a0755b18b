"""How many threads small linear algebra may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

# Factorisations of smaller matrices take longer with several threads than with one.
ONE_THREAD_UP_TO = 500


def few_threads(n: int) -> AbstractContextManager[Any]:
    """Return a context in which matrices of size n are factored without needless threads."""
    if n > ONE_THREAD_UP_TO:
        return nullcontext()
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> Any:
    """Return what knows the libraries of linear algebra; to look for them takes milliseconds."""
    import scipy.linalg  # noqa: F401  so that its libraries are among them
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
