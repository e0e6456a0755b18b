"""swapwise: the search by default and a certificate of its answer, as far as the time goes.

Only names that all versions have are used, so that an older one can take part.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

import swapwise as sw
from benchmarks.proofs.constraints import constraint_of
from benchmarks.proofs.runs.report import Watch, read, tiny

OBJECTIVES = {"least squares": sw.LeastSquares, "logistic": sw.Logistic, "poisson": sw.Poisson}


def run(
    folder: str,
    model: str,
    constraint: str,
    size: int,
    ridge: float,
    seconds: float,
    gap: float,
    **_: Any,
) -> Iterator[dict[str, Any]]:
    """Report a proof; making the objective from the arrays is counted."""
    yield {"doing": "swapwise, warming up"}
    sw.certify(sw.LeastSquares(*tiny(), ridge=1.0), sw.Uniform(12, 2))
    X, y = read(folder)
    yield {"doing": "swapwise"}
    watch = Watch()
    objective = OBJECTIVES[model](X, y, ridge=ridge)
    where = constraint_of(constraint, objective.n, size)
    earlier = watch.seconds()
    proof = sw.certify(objective, where, time_limit=max(seconds - earlier, 0.0), gap=gap)
    # Versions that keep no record have but the last point.
    for event in getattr(proof, "history", ()):
        if isfinite(event.upper_bound):
            watch.points.append((earlier + event.seconds, float(event.value), float(event.upper_bound)))
    support, value = proof.support, proof.value
    if proof.better is not None and proof.better_value is not None:
        support, value = proof.better, proof.better_value
    # What is closer to the bound than values can be told apart is an optimum.
    bound = proof.upper_bound if proof.upper_bound > value + proof.resolution else value
    watch.reach(value, bound)
    yield watch.report(support, 1.0 - proof.ratio, "trivial" if proof.trivial else "")
