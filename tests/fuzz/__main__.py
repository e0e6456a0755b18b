"""Run the fuzzer: ``python -m tests.fuzz [--campaign NAME] [--minutes 5] [--instances 20000] [--resume]``.

Every campaign makes instances from seeds and checks every claim about them. Progress goes to stderr; counts,
and a table with the command that repeats each violation, to stdout. The exit code is 1 if anything was
violated. ``--only SEED`` shows one instance; ``--resume`` goes on where the same command stopped, after a
look at what was violated before.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.campaign import CAMPAIGNS, Progress, Totals, run

#: Seconds between two looks at the progress, which is on disk then
OFTEN = 5.0
#: Instances of one --seed
MOST = 10**7
FOLDER = Path("build") / "fuzz"


def show(name: str, seed: int) -> int:
    """Check one instance and print all that is known of it."""
    report = CAMPAIGNS[name](seed)
    print(f"{name} {seed}: {report.words}")
    for words, count in [*report.claims.items(), *report.refusals.items()]:
        print(f"  {count:4}  {words}")
    for claim, words in report.violations:
        print(f"VIOLATED: {claim}\n  {words}")
    return int(bool(report.violations))


def table(progress: Progress) -> str:
    """Return one line per campaign, and below it how to repeat what was violated."""
    lines = [f"{'campaign':14}{'tried':>10}{'claims':>12}{'violations':>12}{'seconds':>9}"]
    for name, totals in progress.of.items():
        claims = sum(totals.claims.values())
        lines.append(
            f"{name:14}{totals.instances:10,}{claims:12,}{len(totals.broken):12,}{totals.seconds:9.0f}"
        )
    return "\n".join([*lines, *(line for name, totals in progress.of.items() for line in totals.shown(name))])


def go_on(name: str, progress: Progress, options: argparse.Namespace) -> None:
    """Run a campaign from where it is, as long as it may, and write how far it has come."""
    totals = progress.of.setdefault(name, Totals())
    totals.check_again(CAMPAIGNS[name])
    begin, start, before = options.seed * MOST, time.monotonic(), totals.seconds
    told, seeds = start, range(begin + totals.instances, begin + options.instances)
    try:
        for row in run(name, seeds, options.jobs, 60 * options.minutes):
            totals.add(row)
            if time.monotonic() > told + OFTEN:
                told = time.monotonic()
                totals.seconds = before + told - start
                progress.save(name)
                said = f"{name}: {totals.instances} instances, {len(totals.broken)} violations"
                print(said, file=sys.stderr)
    finally:
        totals.seconds = before + time.monotonic() - start
        progress.save(name)


def parsed() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="A fuzzer of what is claimed.")
    parser.add_argument("--campaign", choices=list(CAMPAIGNS), help="one of them only (all)")
    parser.add_argument("--seed", type=int, default=0, help="instances of another seed differ (0)")
    parser.add_argument("--minutes", type=float, default=1.0, help="stop each campaign after this long (1)")
    parser.add_argument("--instances", type=int, default=MOST, help="how many to check of each, in all")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--resume", action="store_true", help="go on from where a run of this seed stopped")
    parser.add_argument("--only", type=int, metavar="SEED", help="check one instance (of searches)")
    return parser.parse_args()


def main() -> int:
    """Run what is asked for, print the table; return the exit code."""
    options = parsed()
    if options.only is not None:
        return show(options.campaign or "searches", options.only)
    names = [options.campaign] if options.campaign else list(CAMPAIGNS)
    progress = Progress(FOLDER, options.seed, () if options.resume else names)
    try:
        for name in names:
            go_on(name, progress, options)
            print(progress.of[name].told(name), end="\n\n", flush=True)
    except KeyboardInterrupt:
        print("interrupted: --resume goes on from here", file=sys.stderr)
    print(table(progress))
    return int(any(totals.broken for totals in progress.of.values()))


if __name__ == "__main__":
    sys.exit(main())
