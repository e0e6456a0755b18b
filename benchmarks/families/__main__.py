"""``python -m benchmarks.families``: the constraints beyond plain matroids.

``small`` holds searches and proofs under every family, and every pair of families, to enumeration: 200
instances of 8 to 10 elements each, least squares and coverage. ``large`` times fits of 2000 features, beside
one under a plain size limit, and shows what is proven in 20 seconds.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from joblib import Parallel, delayed

from benchmarks.families.large import timings
from benchmarks.families.small import OBJECTIVES, row_of
from benchmarks.families.zoo import families_and_pairs


def small(instances: int, n_jobs: int) -> int:
    """Print a table of all families and pairs; return how many claims were wrong."""
    jobs = (
        delayed(row_of)(names, objective, instances)
        for names in families_and_pairs()
        for objective in OBJECTIVES
    )
    print(f"{'family':42} {'objective':14} {'share':>7} {'worst':>7} {'optimal':>8} wrong")
    wrong: list[str] = []
    for row in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
        numbers = f"{row.share:7.4f} {row.worst:7.4f} {row.optimal:8.1%} {len(row.wrong):5}"
        print(f"{row.names:42} {row.objective:14} {numbers}", flush=True)
        wrong += row.wrong
    print(*wrong, sep="\n")
    return len(wrong)


def large(seeds: int, proof_seconds: float) -> None:
    """Print a table of times and proofs."""
    print(
        f"{'constraint':34} {'ridge':>5} {'seconds':>8} {'ratio':>6} {'value':>7} {'size':>4} {'proven':>7}"
    )
    for seed in range(seeds):
        for ridge in (5.0, 50.0):
            for row in timings(seed, ridge, proof_seconds):
                times = f"{row.seconds:8.3f} {row.ratio:6.1f} {row.value:7.4f} {row.size:4}"
                print(f"{row.name:34} {ridge:5g} {times} {row.proven:7.1%} {row.status}", flush=True)


def main() -> int:
    """Run what the command line asks for."""
    parser = ArgumentParser(prog="python -m benchmarks.families", description=__doc__)
    parser.add_argument("what", choices=["small", "large"])
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--proof-seconds", type=float, default=20.0)
    asked = parser.parse_args()
    if asked.what == "small":
        return min(1, small(asked.instances, asked.jobs))
    large(asked.seeds, asked.proof_seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
