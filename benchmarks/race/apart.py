"""Measures in processes of their own: with so many threads, and stopped when they take too long.

Threads have to be set before numpy is imported, compiled code cannot be interrupted from within, and peak
memory is that of a process: hence the processes. ``python -m benchmarks.race.apart`` is the inner side.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

ROOT = Path(__file__).parents[2]

#: What a measure reports: {"doing": what} before anything that may take long, and its results.
Message = dict[str, Any]
Measure = Callable[..., Iterator[Message]]


class TookTooLong(RuntimeError):
    """A measure was stopped; ``doing`` is what it was at."""

    def __init__(self, doing: str, limit: float) -> None:
        super().__init__(f"{doing} took over {limit:g} s")
        self.doing = doing


class Failed(RuntimeError):
    """A measure ended with an error, or was killed; ``doing`` is what it was at."""

    def __init__(self, doing: str, reason: str) -> None:
        super().__init__(f"{doing}: {reason}")
        self.doing, self.reason = doing, reason


def environment(threads: int, ahead: Sequence[str] = ()) -> dict[str, str]:
    """Return the variables that give every library the same number of threads.

    Folders that come ``ahead`` are where packages are looked for first.

    >>> environment(1)["OMP_NUM_THREADS"], environment(1)["XLA_FLAGS"]
    ('1', '--xla_cpu_multi_thread_eigen=false')
    """
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "BLIS")
    variables = {f"{name}_NUM_THREADS": str(threads) for name in names}
    path = os.pathsep.join(filter(None, [*ahead, str(ROOT), os.environ.get("PYTHONPATH")]))
    flags = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"} if threads == 1 else {}
    return {**os.environ, **variables, **flags, "PYTHONPATH": path}


def apart(measure: Measure, options: dict[str, Any], threads: int, limit: float) -> Iterator[Message]:
    """Run a measure, a function at the top of a module, in a new process, and yield its results.

    ``limit`` is for everything between two messages, in seconds.
    """
    yield from apart_in(
        sys.executable, (measure.__module__, measure.__name__), options, environment(threads), limit
    )


def apart_in(
    python: str, measure: tuple[str, str], options: dict[str, Any], variables: dict[str, str], limit: float
) -> Iterator[Message]:
    """Run a measure, given by its module and name, by another interpreter that has what it imports."""
    call = json.dumps([*measure, options])
    with tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(
            [python, "-m", "benchmarks.race.apart", call],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        )
        try:
            doing = yield from _results(process, limit)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            complaints.seek(0)
            last = complaints.read().strip().rpartition("\n")[2].strip()
            raise Failed(doing, last or f"ended by signal {-process.returncode}")


def _results(process: subprocess.Popen[str], limit: float) -> Generator[Message, None, str]:
    """Yield results until there are no more; return what was done last."""
    lines: Queue[str] = Queue()
    doing = "start"

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        process.wait()
        lines.put("")

    Thread(target=listen, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=limit)
        except Empty:
            raise TookTooLong(doing, limit) from None
        if not line:
            return doing
        message = json.loads(line)
        if "doing" in message:
            doing = message["doing"]
        else:
            yield message


def main() -> None:
    """Run the measure that the first argument names; its messages are all that is on standard output."""
    module, name, options = json.loads(sys.argv[1])
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)  # some programs print
        for message in getattr(import_module(module), name)(**options):
            out.write(json.dumps(message) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
