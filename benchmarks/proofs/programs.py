"""Who takes part: in which environment each program runs, and on which lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import swapwise
from benchmarks.proofs.environments import PEERS
from benchmarks.proofs.lines import BEFORE, OWN, Line
from benchmarks.race.apart import Message, apart_in, environment

SOURCE = Path(swapwise.__file__).parents[1]


@dataclass(frozen=True)
class Program:
    """A program: the module of its run, and which problems it can state."""

    name: str
    module: str
    models: tuple[str, ...]
    any_constraint: bool = False
    penalised: bool = False  # whether it has a penalty on the size instead of a limit

    def why_not(self, line: Line) -> str:
        """Say why the program cannot be asked; nothing if it can.

        >>> line = Line("constraints", 100, 50, 5, 1.0, constraint="graphic")
        >>> PROGRAMS["okridge"].why_not(line), PROGRAMS["swapwise"].why_not(line)
        ('knows no such constraint', '')
        """
        if line.model not in self.models:
            return f"knows no {line.model}"
        if line.constraint != "uniform" and not self.any_constraint:
            return "knows no such constraint"
        return ""


@dataclass(frozen=True)
class Places:
    """Where programs are: the environments of peers, and the sources of an older swapwise."""

    environments: Path
    before: Path | None = None

    def run(self, program: Program, job: dict[str, Any], threads: int, limit: float) -> Iterator[Message]:
        """Run a program in a process of its own and yield its results.

        Raises :class:`CannotInstall` if it is not there and cannot be.
        """
        if program.name in PEERS:
            python, ahead = str(PEERS[program.name].python(self.environments)), []
        else:
            source = self.before if program.name == BEFORE else SOURCE
            python, ahead = sys.executable, [str(source)]
        measure = f"benchmarks.proofs.runs.{program.module}", "run"
        return apart_in(python, measure, job, environment(threads, ahead), limit)


EVERY_MODEL = ("least squares", "logistic", "poisson")
PROGRAMS = {
    program.name: program
    for program in (
        Program(OWN, "swapwise", EVERY_MODEL, any_constraint=True),
        Program(BEFORE, "swapwise", EVERY_MODEL, any_constraint=True),
        Program("okridge", "okridge", ("least squares",)),
        Program("l0bnb", "l0bnb", ("least squares",), penalised=True),
        Program("el0ps", "el0ps", ("least squares", "logistic"), penalised=True),
    )
}
