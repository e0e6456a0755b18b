"""All cells of a run: timed ones one after the other, then the others side by side."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext

from swapwise.paper.grid import Cell, Row
from swapwise.paper.measure import measure
from swapwise.paper.procedures import Interrupted
from swapwise.paper.store import Store


class WorkerDied(RuntimeError):
    """A process that measured cells was killed; the rows made so far are stored."""


def run(
    cells: Sequence[Cell], store: Store, jobs: int = -1, observe: Callable[[Cell], None] = lambda cell: None
) -> list[Row]:
    """Measure the cells that the store does not have, and return the rows of all cells, in their order.

    Rows are stored as they are made, so that a run that was stopped continues from there.

    ``jobs`` processes measure side by side what is not timed; -1 for one per core. Within a context such as
    ``joblib.parallel_config(backend="dask")`` the workers of that cluster do it. ``observe`` is called with
    every cell that was measured.
    """
    todo = [cell for cell in cells if cell.key not in store.rows]
    with warnings.catch_warnings(), closing(_measured(todo, jobs)) as measured:
        warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
        try:
            for cell, row in measured:
                store.add(row)
                observe(cell)
        except Interrupted:
            raise KeyboardInterrupt from None
        except BrokenProcessPool as broken:
            raise WorkerDied("a worker process was killed, or ran out of memory") from broken
    return stored(cells, store)


def stored(cells: Iterable[Cell], store: Store) -> list[Row]:
    return [store.rows[cell.key] for cell in cells if cell.key in store.rows]


def _measured(todo: Sequence[Cell], jobs: int) -> Generator[tuple[Cell, Row], None, None]:
    # All methods on an instance, one after the other: a machine that is slower for a while slows all of them.
    timed = sorted((cell for cell in todo if cell.is_timed), key=_instance)
    warm_up(timed)
    for cell in timed:
        yield cell, measure(cell)
    yield from _side_by_side([cell for cell in todo if not cell.is_timed], jobs)


def _instance(cell: Cell) -> tuple[str, int, int]:
    return cell.block.setting.name, cell.trial, cell.size


def warm_up(cells: Iterable[Cell]) -> None:
    """Run every procedure for a small and a large size, so that what a process does once is not timed."""
    by_block: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        by_block.setdefault(cell.key[:1] + cell.key[2:3], []).append(cell)
    for some in by_block.values():
        if some[0].block.procedure.part != "plain":
            for size in {min(cell.size for cell in some), max(cell.size for cell in some)}:
                measure(next(cell for cell in some if cell.size == size))


def _side_by_side(cells: Sequence[Cell], jobs: int) -> Iterator[tuple[Cell, Row]]:
    from joblib import Parallel, delayed

    # Long ones first: at the end all processes have something to do.
    ordered = sorted(cells, key=lambda cell: -cell.seconds)
    with _context_of_jobs():
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
        with _children_ignore_interrupts():
            rows = parallel(delayed(_with_row)(cell) for cell in ordered)
        yield from rows


def _context_of_jobs() -> AbstractContextManager[object]:
    """Return the context of the jobs: the one that users are in, or else processes of this machine."""
    from joblib import parallel_config
    from joblib.parallel import BACKENDS, get_active_backend

    if not isinstance(get_active_backend()[0], BACKENDS["loky"]):
        return nullcontext()
    # Workers whose run was killed finish their cell and then go away by themselves.
    return parallel_config(backend="loky", inner_max_num_threads=1, idle_worker_timeout=10)


@contextmanager
def _children_ignore_interrupts() -> Iterator[None]:
    """Let processes that begin within ignore Ctrl-C from their first moment: their parent ends them."""
    if threading.current_thread() is not threading.main_thread():  # others cannot
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _with_row(cell: Cell) -> tuple[Cell, Row]:
    return cell, measure(cell)
