"""``python -m benchmarks.proofs``: what swapwise, OKRidge, l0bnb and El0ps prove, and how soon.

Every program runs in a process of its own, one at a time, on the same data and with as many threads; the
peers run in environments that pip makes for them. The gap is the same for all: what of the bound on the value
is not reached. Stopped and started again with the same ``--store``, the comparison goes on.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.proofs.lines import BEFORE, GROUPS
from benchmarks.proofs.measure import Rules, measure
from benchmarks.proofs.outcomes import Outcome, Store
from benchmarks.proofs.picture import picture
from benchmarks.proofs.programs import PROGRAMS, Places
from benchmarks.proofs.tables import figure, markdown, ratios
from benchmarks.race.apart import Failed, TookTooLong
from benchmarks.race.options import count, positive
from swapwise.paper.store import StoreError

INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table for each group, and return the exit status."""
    options = _parser().parse_args(arguments)
    notes = Console(stderr=True)
    try:
        for group in options.groups or GROUPS:
            _run(group, options, notes)
    except KeyboardInterrupt:
        notes.print("Interrupted; the same command resumes it.")
        return INTERRUPTED
    except (OSError, StoreError, Failed, TookTooLong) as error:
        notes.print(f"python -m benchmarks.proofs: {error}", markup=False)
        return 1
    return 0


def _run(name: str, options: Namespace, notes: Console) -> None:
    group = GROUPS[name]
    programs = options.programs or group.programs
    if options.before is None:
        programs = [program for program in programs if program != BEFORE]
    rules = Rules(
        programs,
        Places(options.environments, options.before),
        options.seconds or group.seconds,
        options.seeds or group.seeds,
        options.threads,
        options.fresh,
    )
    lines = [line for line in group.lines if options.only in str(line)]

    def tell(outcome: Outcome) -> None:
        said = f"{outcome.line}, seed {outcome.seed}, {outcome.program}: {figure(outcome)}"
        notes.print(said, markup=False, highlight=False, soft_wrap=True)

    found = list(measure(lines, rules, Store(options.store), tell))
    print(f"{name}, {rules.seconds:g} s, {rules.seeds} seeds, {rules.threads} threads\n")
    print(ratios(found) if name == "paper" else markdown(found))
    if options.picture:
        place = options.picture
        several = len(options.groups or GROUPS) > 1
        picture(found).savefig(place.with_stem(f"{place.stem}-{name}") if several else place, dpi=120)


def _names(text: str) -> list[str]:
    """Read names of programs with commas between them.

    >>> _names("swapwise,okridge")
    ['swapwise', 'okridge']
    """
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in PROGRAMS:
            raise ArgumentTypeError(f"expected some of {', '.join(PROGRAMS)}; got {name!r}")
    return names


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m benchmarks.proofs", description=__doc__)
    add = parser.add_argument
    add("groups", nargs="*", choices=[[], *GROUPS], metavar="group", help=f"{', '.join(GROUPS)}; all of them")
    add("--seconds", type=positive, help="that a program has; 10 to 60, by group")
    add("--seeds", type=count, help="from which a line is drawn; 3, of large data 1")
    add("--programs", type=_names, help="with commas between them; by default those that suit the group")
    add("--threads", type=count, default=2, help="of every program; 2")
    add("--only", default="", metavar="TEXT", help="lines whose name has this in it")
    add("--before", type=Path, metavar="PATH", help="the src folder of an older swapwise, with its kernels")
    add("--store", type=Path, metavar="DIR", help="the folder of what is measured, to go on from")
    add("--fresh", action="store_true", help="measure what is in the store again")
    add("--environments", type=Path, default=Path("results/peers"), metavar="DIR", help="results/peers")
    add("--picture", type=Path, metavar="FILE", help="draw gaps over time")
    return parser


if __name__ == "__main__":
    sys.exit(main())
