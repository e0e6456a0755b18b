"""l0bnb: least squares with penalties on the size and on squares, by its tree for one penalty.

Its loss is ``½‖y − Xw‖² + λ₂‖w‖² + λ₀‖w‖₀`` with all ``|w_j| ≤ M``. X and y are scaled
as its own paths do, but all columns by the same number, so that the problem stays the same. The loss is then
``½ (1 − value) + λ₀·size``, and λ₂ is half the ridge. Its gap is relative to that loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.proofs.runs.penalised import Start, note
from benchmarks.proofs.runs.report import Watch, levels, read, tiny

#: How far coefficients may exceed the largest of the start: what its own paths allow.
M_MULTIPLIER = 1.2


def run(
    folder: str, size: int, ridge: float, seconds: float, gap: float, **_: Any
) -> Iterator[dict[str, Any]]:
    """Report a proof at the penalty that gives the size."""
    vars(np).setdefault("Inf", np.inf)  # which it asks for, and numpy 2 has no more
    from l0bnb import BNBTree

    yield {"doing": "l0bnb, warming up"}
    BNBTree(*tiny()).solve(1.0, 0.1, 2.0, time_limit=60)
    X, y = read(folder)
    start = Start.read(folder)
    yield {"doing": "l0bnb"}
    watch = Watch()
    long, unit = np.linalg.norm(y), np.sqrt(len(y))
    X /= unit
    first = start.vector(X.shape[1], unit / long)
    l0, l2 = start.penalty / 2, ridge / (2 * unit**2)

    def value_of(loss: float) -> float:
        """Return the value of which this is the loss, if it is one of sets of the size."""
        return 1.0 - 2.0 * (loss - l0 * size)

    tree = BNBTree(X, y / long)
    with levels(lambda loss, bound: watch.reach(value_of(loss), min(value_of(bound), 1.0))):
        found = tree.solve(
            l0,
            l2,
            M_MULTIPLIER * np.abs(first).max(),
            gap_tol=start.tolerance(gap, 1.0),
            warm_start=first,
            verbose=True,
            time_limit=max(seconds - watch.seconds(), 0.0),
        )
    bound = found.cost - found.gap * abs(found.cost)
    support = np.flatnonzero(found.beta)
    value = value_of(found.cost) - 2.0 * l0 * (size - len(support))
    watch.reach(value, min(value_of(bound), 1.0))
    yield watch.report(support, found.gap, note(len(support), size))
