"""OKRidge: k-sparse ridge regression.

Its loss is ``‖Xw‖² + λ₂‖w‖² − 2yᵀXw``, that is ``‖y − Xw‖² + λ₂‖w‖²`` less ``‖y‖²``: minus ``‖y‖²`` times
swapwise's value, with the same ridge. Its gap is relative to the value, not to the bound.
When its tree is exhausted it calls the gap 0, though parts were dropped that may be better by its tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.proofs.runs.report import Watch, levels, read, tiny


def run(
    folder: str, size: int, ridge: float, seconds: float, gap: float, **_: Any
) -> Iterator[dict[str, Any]]:
    """Report a proof; what its constructor computes (X'X and its eigenvalues) is counted."""
    from okridge.tree import BNBTree

    yield {"doing": "okridge, warming up"}
    BNBTree(*tiny(), lambda2=1.0).solve(2, time_limit=1)
    X, y = read(folder)
    total = float(y @ y)
    yield {"doing": "okridge"}
    watch = Watch()
    tree = BNBTree(X, y, gap_tol=gap, lambda2=ridge)
    left = max(seconds - watch.seconds(), 0.0)
    with levels(lambda loss, bound: watch.reach(-loss / total, min(-bound / total, 1.0))):
        loss, coef, own_gap, bound, _ = tree.solve(size, gap_tol=gap, verbose=True, time_limit=left)
    watch.reach(-loss / total, min(-bound / total, 1.0))
    yield watch.report(np.flatnonzero(coef), own_gap)
