"""El0ps: least squares or logistic regression with penalties on the size and on squares, for one penalty.

Its loss is ``f(Xw) + β‖w‖² + λ‖w‖₀``, where f is ``½‖y − Xw‖²`` or the log-loss summed over samples, without
an intercept. β is half the ridge, times the samples for log-losses, since swapwise takes their mean.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.proofs.runs.penalised import Start, note
from benchmarks.proofs.runs.report import Watch, read, tiny

# One process is all it gets, but what it builds on fails where mpi4py is installed and MPI is not.
sys.modules.setdefault("mpi4py", None)  # type: ignore[arg-type]


def run(
    folder: str, model: str, size: int, ridge: float, seconds: float, gap: float, **_: Any
) -> Iterator[dict[str, Any]]:
    """Report a proof at the penalty that gives the size."""
    import pybnb
    from el0ps.datafit import Leastsquares, Logistic
    from el0ps.penalty import L2norm
    from el0ps.solver import BnbSolver

    class Solver(BnbSolver):
        """Its solver, which keeps the bound that results of its own do not have."""

        def __init__(self, **limits: Any) -> None:
            with patch.object(pybnb, "Solver", partial(pybnb.Solver, comm=None)):
                super().__init__(**limits)

        def package_results(self, problem: Any, results: Any) -> Any:
            self.bound = results.bound
            return super().package_results(problem, results)

    yield {"doing": "el0ps, warming up"}
    squares = model == "least squares"
    X, y = tiny()
    datafit = Leastsquares if squares else Logistic
    Solver().solve(datafit(y if squares else np.sign(y)), L2norm(1.0), np.asfortranarray(X), 1.0)
    X, y = read(folder)
    start = Start.read(folder)
    yield {"doing": "el0ps"}
    watch = Watch()
    # Losses are divided by this to be values, and that of no feature is the first of the pair.
    nothing, unit = (y @ y / 2, y @ y / 2) if squares else (len(y) * np.log(2), float(len(y)))
    penalty = start.penalty * unit
    beta = ridge / 2 if squares else len(y) * ridge / 2
    target = datafit(y if squares else 2 * y - 1)
    tolerance = start.tolerance(gap, nothing / unit)
    solver = Solver(time_limit=max(seconds - watch.seconds(), 0.0), relative_gap=tolerance)
    found = solver.solve(target, L2norm(beta), np.asfortranarray(X), penalty, start.vector(X.shape[1]))
    support = np.flatnonzero(found.x)
    value = (nothing - (found.objective_value - penalty * len(support))) / unit
    bound = (nothing - (solver.bound - penalty * size)) / unit
    watch.reach(value, min(bound, nothing / unit))
    own_gap = (found.objective_value - solver.bound) / abs(found.objective_value)
    said = [note(len(support), size), "" if squares else "no intercept"]
    yield watch.report(support, own_gap, ", ".join(filter(None, said)))
