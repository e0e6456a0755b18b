"""Independent jobs: wherever joblib is told to make them, or here, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from joblib import Parallel

from swapwise.clock import plain_interrupts


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


def results_so_far(
    jobs: Sequence[Any], *, here: bool, n_jobs: int | None, progress: bool
) -> tuple[list[Any], bool]:
    """Return what delayed calls return, of those that ended before an interrupt, and whether there was one.

    >>> from joblib import delayed
    >>> results_so_far([delayed(abs)(-1), delayed(abs)(2)], here=True, n_jobs=None, progress=False)
    ([1, 2], False)
    """
    found: Iterable[Any] = results_of(jobs, here=here, n_jobs=n_jobs)
    if progress and jobs:
        from rich.console import Console
        from rich.progress import track

        found = track(found, "cross-validation", total=len(jobs), console=Console(stderr=True))
    results: list[Any] = []
    try:
        with plain_interrupts():
            for result in found:
                results.append(result)
    except KeyboardInterrupt:
        return results, True
    return results, False
