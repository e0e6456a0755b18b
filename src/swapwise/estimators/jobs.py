"""Independent jobs: wherever joblib is told to make them, or here, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from joblib import Parallel


def results_of(
    jobs: Iterable[Any], *, here: bool, n_jobs: int | None = None, **options: Any
) -> Iterator[Any]:
    """Yield what delayed calls return, in their order.

    Jobs on data in blocks are made ``here``: each has the whole cluster work for it, and a job that waits for
    other jobs on the same cluster may wait for ever.

    >>> from joblib import delayed
    >>> list(results_of([delayed(abs)(-1), delayed(abs)(2)], here=True))
    [1, 2]
    """
    if here:
        return (function(*args, **kwargs) for function, args, kwargs in jobs)
    found: Iterator[Any] = Parallel(n_jobs=n_jobs, return_as="generator", **options)(jobs)
    return found
