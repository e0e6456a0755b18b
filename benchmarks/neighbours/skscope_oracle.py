"""``python -m benchmarks.neighbours.skscope_oracle``: do sparse methods choose what skscope's solvers choose?

skscope has them for a limit on the number of features only. Both get the same data, the same step sizes and
exact refits, so that sets can be compared; ``pip install '.[peers]'``. Where algorithms differ by design, the
table has a line for each way to read it:

- IHT: skscope stops when the set stays for the first time; that is the first move of ``"iht"``, which refits
  there and goes on.
- GraSP: skscope's next gradient is that of the pruned coefficients, as in CoSaMP. It stops when a merged set
  comes back, and takes the best set by the loss of its pruned coefficients, not of a refit.
- Forward: skscope scores an addition with all other coefficients held, which is ``"omp"`` if columns have
  unit length.
- FoBa: skscope goes on to 2k features, scores a drop without refitting, and cuts back to k at the end;
  ``"foba"`` never leaves the constraint.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import swapwise as sw

FloatArray = NDArray[np.float64]

SAMPLES, FEATURES, SIZE = 60, 100, 6
# Of the largest step for which no round lowers the value
SHARE = 0.9


class Data(NamedTuple):
    """Columns of unit length, a target that some explain, and a step for ``‖y − Xw‖²/2``."""

    X: FloatArray
    y: FloatArray
    step: float

    @classmethod
    def draw(cls, seed: int) -> Data:
        """Draw moderately correlated columns."""
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((SAMPLES, FEATURES)) + 0.5 * rng.standard_normal((SAMPLES, 1))
        X /= np.linalg.norm(X, axis=0)
        y = X[:, :SIZE] @ rng.standard_normal(SIZE) + 0.1 * rng.standard_normal(SAMPLES)
        return cls(X, y, SHARE / float(np.linalg.norm(X, 2) ** 2))


def peer(kind: str, data: Data, **options: Any) -> list[int]:
    """Return what a solver of skscope chooses, with exact refits of the coefficients that it frees."""
    import skscope

    X, y, _ = data

    def loss(w: FloatArray, _: Any = None) -> float:
        return float(np.sum((y - X @ w) ** 2)) / 2

    def gradient(w: FloatArray, _: Any = None) -> FloatArray:
        return X.T @ (X @ w - y)

    def refit(loss_fn: Any, value_and_grad: Any, params: FloatArray, free: Any, data: Any) -> Any:
        w = np.array(params)
        w[free] = 0.0
        w[free] = np.linalg.lstsq(X[:, free], y - X @ w, rcond=None)[0]
        return loss(w), w

    solver = getattr(skscope, kind)(FEATURES, SIZE, SAMPLES, numeric_solver=refit, max_iter=1000, **options)
    solver.solve(loss, gradient=gradient)
    return np.sort(solver.support_set).tolist()


def ours(data: Data, method: Any, **options: Any) -> list[int]:
    """Return what the library chooses."""
    found = sw.maximize(sw.LeastSquares(data.X, data.y), sw.Uniform(FEATURES, SIZE), method, **options)
    return found.support.tolist()


def step_of(data: Data) -> float:
    """Return the step for R² that is the same move of the coefficients."""
    return data.step * float(data.y @ data.y) / 2


Chooses = Callable[[Data], list[int]]
PAIRS: dict[str, tuple[Chooses, Chooses]] = {
    "OMPSolver, omp": (lambda data: peer("OMPSolver", data), lambda data: ours(data, "omp")),
    "ForwardSolver, omp": (lambda data: peer("ForwardSolver", data), lambda data: ours(data, "omp")),
    "ForwardSolver, greedy": (lambda data: peer("ForwardSolver", data), lambda data: ours(data, "greedy")),
    "HTPSolver, htp": (
        lambda data: peer("HTPSolver", data, step_size=data.step),
        lambda data: ours(data, sw.methods.HardThresholdingPursuit(step_of(data))),
    ),
    "IHTSolver, first move of iht": (
        lambda data: peer("IHTSolver", data, step_size=data.step),
        lambda data: ours(data, sw.methods.IterativeHardThresholding(step_of(data)), max_iter=1),
    ),
    "IHTSolver, iht": (
        lambda data: peer("IHTSolver", data, step_size=data.step),
        lambda data: ours(data, sw.methods.IterativeHardThresholding(step_of(data))),
    ),
    "GraspSolver, cosamp": (lambda data: peer("GraspSolver", data), lambda data: ours(data, "cosamp")),
    "GraspSolver, grasp": (lambda data: peer("GraspSolver", data), lambda data: ours(data, "grasp")),
    "FobaSolver, foba by gradients": (
        lambda data: peer("FobaSolver", data),
        lambda data: ours(data, sw.methods.ForwardBackward(forward="gradient")),
    ),
    "FobaSolver, foba": (
        lambda data: peer("FobaSolver", data, use_gradient=False),
        lambda data: ours(data, "foba"),
    ),
}


def main(arguments: list[str] | None = None) -> None:
    """Print in how many instances the sets are equal, and whose value is higher where they are not."""
    parser = ArgumentParser(description="sparse methods beside skscope's")
    parser.add_argument("--instances", type=int, default=40)
    count = parser.parse_args(arguments).instances
    instances = [Data.draw(seed) for seed in range(count)]
    table = Table("skscope, swapwise", "equal", "higher value", "", "ms", "")
    for name, (theirs, mine) in PAIRS.items():
        equal, higher, seconds = 0, [0, 0], [0.0, 0.0]
        for data in instances:
            sets, f = [], sw.LeastSquares(data.X, data.y)
            for place, choose in enumerate((theirs, mine)):
                begin = perf_counter()
                sets.append(choose(data))
                seconds[place] += perf_counter() - begin
            equal += sets[0] == sets[1]
            difference = f(sets[1]) - f(sets[0])
            higher[0] += difference < -1e-9
            higher[1] += difference > 1e-9
        times = [f"{1000 * each / count:.1f}" for each in seconds]
        table.add_row(name, f"{equal} of {count}", *map(str, higher), *times)
    Console().print(table)


if __name__ == "__main__":
    main()
