"""Line by line and seed by seed: the data are drawn once, and programs run on them one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.proofs.data import drawn
from benchmarks.proofs.environments import CannotInstall
from benchmarks.proofs.lines import GAP, Line
from benchmarks.proofs.outcomes import Outcome, Store
from benchmarks.proofs.programs import PROGRAMS, Places
from benchmarks.race.apart import Failed, TookTooLong, apart

#: How long drawing may take, and how long a program may go on after its limit, in seconds.
DRAWING, GRACE = 1800.0, 300.0

#: Values that the program claims and those of plain linear algebra may differ by this.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Rules:
    """Who takes part, where programs are, how long each has, with how many threads, from how many seeds."""

    programs: Sequence[str]
    places: Places
    seconds: float
    seeds: int = 3
    threads: int = 2
    fresh: bool = False


def measure(
    lines: Sequence[Line], rules: Rules, store: Store, observe: Callable[[Outcome], None] = lambda done: None
) -> Iterator[Outcome]:
    """Yield the outcomes of all programs on all lines; what is in the store is not measured again."""
    for line in lines:
        for seed in range(rules.seeds):
            wanted = [Outcome(line, seed, name, rules.seconds, rules.threads) for name in rules.programs]
            known = {} if rules.fresh else {one.name: found for one in wanted if (found := store.find(one))}
            left = [one for one in wanted if one.name not in known]
            for outcome in _measured(left, rules.places) if left else ():
                store.add(outcome)
                observe(outcome)
                known[outcome.name] = outcome
            yield from (known[one.name] for one in wanted)


def _measured(wanted: Sequence[Outcome], places: Places) -> Iterator[Outcome]:
    """Draw the data of a line and yield what comes of each run on them."""
    first = wanted[0]
    reasons = {one.program: PROGRAMS[one.program].why_not(first.line) for one in wanted}
    penalised = any(PROGRAMS[name].penalised and not why_not for name, why_not in reasons.items())
    with TemporaryDirectory() as folder:
        options = {"line": asdict(first.line), "seed": first.seed, "folder": folder, "penalised": penalised}
        if not all(reasons.values()):
            list(apart(drawn, options, first.threads, DRAWING))
        for one in wanted:
            why_not = reasons[one.program]
            yield replace(one, note=why_not) if why_not else _run(one, places, folder)


def _run(wanted: Outcome, places: Places, folder: str) -> Outcome:
    """Run a program on data that are there."""
    line = wanted.line
    job = {**asdict(line), "seconds": wanted.limit, "gap": GAP, "folder": folder}
    try:
        (found,) = places.run(PROGRAMS[wanted.program], job, wanted.threads, wanted.limit + GRACE)
    except CannotInstall as error:
        return replace(wanted, note=str(error))
    except TookTooLong:
        return replace(wanted, note=f"did not stop within {wanted.limit + GRACE:g} s")
    except Failed as error:
        return replace(wanted, note=f"crashed: {error.reason}")
    outcome = Outcome.from_json({**asdict(wanted), **found})
    return _checked(outcome, folder) if line.model == "least squares" else outcome


def _checked(outcome: Outcome, folder: str) -> Outcome:
    """Compute the value of the answer plainly, and say so if the program claims another."""
    y = np.load(Path(folder) / "y.npy")
    columns = np.load(Path(folder) / "X.npy", mmap_mode="r")[:, list(outcome.support)]
    gram = columns.T @ columns + outcome.line.ridge * np.eye(columns.shape[1])
    coef = np.linalg.solve(gram, columns.T @ y)
    rest = y - columns @ coef
    plain = 1.0 - float(rest @ rest + outcome.line.ridge * coef @ coef) / float(y @ y)
    note = outcome.note
    if outcome.value is not None and abs(plain - outcome.value) > TOLERANCE:
        note = f"claims a value of {outcome.value:.6f}, which is {plain:.6f}; {note}".rstrip("; ")
    return replace(outcome, plain=plain, note=note)
