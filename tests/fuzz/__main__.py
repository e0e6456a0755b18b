"""Run the fuzzer: ``python -m tests.fuzz --instances 20000 --seed 0 --jobs 2 --minutes 30``.

Progress goes to stderr; counts and violations, each with the seed that shows it again, to stdout. The exit
code is 1 if anything was violated. ``--only SEED`` runs one instance; ``--first`` resumes.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.campaign import Totals, run
from tests.fuzz.checks import check


def show(seed: int) -> int:
    """Check one instance and print all that is known of it."""
    report = check(seed)
    print(f"{seed}: {report.instance}")
    for words, count in [*report.claims.items(), *report.refusals.items()]:
        print(f"  {count:4}  {words}")
    for claim, words in report.violations:
        print(f"VIOLATED: {claim}\n  {words}")
    return int(bool(report.violations))


def main() -> int:
    """Read the options, run, print the summary; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="A fuzzer of proofs.")
    parser.add_argument("--instances", type=int, default=20000, help="how many to check (20000)")
    parser.add_argument("--seed", type=int, default=0, help="campaign: instances of another one differ (0)")
    parser.add_argument("--first", type=int, default=0, help="the first instance, to resume (0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--minutes", type=float, default=5.0, help="stop after this long (5)")
    parser.add_argument("--only", type=int, metavar="SEED", help="check the instance of one seed")
    options = parser.parse_args()
    if options.only is not None:
        return show(options.only)
    begin = options.seed * 10**7 + options.first
    totals, start = Totals(), time.monotonic()
    told = start
    for row in run(range(begin, begin + options.instances), options.jobs, 60 * options.minutes):
        totals.add(row)
        if time.monotonic() > told + 5:
            told = time.monotonic()
            print(f"{totals.instances} instances, {totals.violations} violations", file=sys.stderr)
    print(totals.told(time.monotonic() - start))
    if totals.instances < options.instances:
        print(f"out of time: go on with --first {options.first + totals.instances}")
    return int(bool(totals.violations))


if __name__ == "__main__":
    sys.exit(main())
