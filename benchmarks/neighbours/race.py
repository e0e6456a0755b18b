"""``python -m benchmarks.neighbours.race``: the sparse methods beside skscope's solvers, and abess.

Least squares with a limit on the number of features, since the peers have nothing else; ``pip install
'.[peers]'``. A method and its peer take turns in one process with one thread, each as its documentation
advises; what is compiled is compiled before. R² is that of a refit on the features chosen. Time ratios are of
one process, and stay the same on another machine where seconds do not.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.neighbours.tables import markdown
from benchmarks.race import programs
from benchmarks.race.apart import Failed, Message, TookTooLong, apart_in, environment
from benchmarks.race.designs import Instance, Setting
from swapwise.checks import FloatArray, IndexArray

#: Samples, features and size of the support.
SHAPES = ((200, 500, 10), (500, 1000, 10), (1000, 5000, 20))
DESIGN, SIGNAL = "ar-0.7", 3.0

#: The library's methods, each with the solver of skscope that is closest to it; "abess" is that package.
RIVALS = {
    "greedy": "ForwardSolver",
    "omp": "OMPSolver",
    "foba": "FobaSolver",
    "iht": "IHTSolver",
    "htp": "HTPSolver",
    "grasp": "GraspSolver",
    "auto": "abess",
}

# By name: run as a program, this module has another.
MEASURE = ("benchmarks.neighbours.race", "measure")

Select = Callable[[FloatArray, FloatArray, int], IndexArray]


def ours(method: str) -> Select:
    """Return a method of the library, from data to support."""
    import swapwise as sw

    def select(X: FloatArray, y: FloatArray, size: int) -> IndexArray:
        return sw.maximize(sw.LeastSquares(X, y), sw.Uniform(X.shape[1], size), method).support

    return select


def theirs(name: str) -> Select:
    """Return a solver of skscope on centred data, or abess."""
    if name == "abess":
        return programs.abess
    import jax.numpy as jnp
    import skscope

    value, slope = programs.squared_loss()

    def loss(params: Any, data: Any) -> Any:  # plain functions: it counts their arguments
        return value(params, data)

    def gradient(params: Any, data: Any) -> Any:
        return slope(params, data)

    def select(X: FloatArray, y: FloatArray, size: int) -> IndexArray:
        data = jnp.asarray(X - X.mean(axis=0)), jnp.asarray(y - y.mean())
        solver = getattr(skscope, name)(X.shape[1], size)
        return np.flatnonzero(solver.solve(loss, data=data, gradient=gradient))

    return select


def measure(method: str, shape: Sequence[int], seed: int, laps: int) -> Iterator[Message]:
    """Let a method and its rival take turns; yield the median seconds and R² of both."""
    import swapwise as sw

    samples, features, size = shape
    instance: Instance = Setting(DESIGN, SIGNAL, samples, features, size, seed).draw()
    both = {"ours": ours(method), "theirs": theirs(RIVALS[method])}
    seconds: dict[str, list[float]] = {name: [] for name in both}
    found: dict[str, IndexArray] = {}
    for lap in range(laps + 1):
        for name, select in both.items():
            yield {"doing": method if name == "ours" else RIVALS[method]}
            begin = perf_counter()
            found[name] = programs.chosen(select(instance.X, instance.y, size))
            if lap:  # the first one compiles
                seconds[name].append(perf_counter() - begin)
    f = sw.LeastSquares(instance.X, instance.y)
    yield {
        "seconds": {name: median(times) for name, times in seconds.items()},
        "value": {name: float(f(support)) for name, support in found.items()},
    }


def line(method: str, shape: Sequence[int], trials: int, laps: int, limit: float) -> list[str]:
    """Return seconds, ratio of times and difference of R², over some instances, as texts."""
    results = []
    for seed in range(trials):
        options = {"method": method, "shape": list(shape), "seed": seed, "laps": laps}
        try:
            results += list(apart_in(sys.executable, MEASURE, options, environment(1), limit))
        except (TookTooLong, Failed) as error:
            return [RIVALS[method], "", "", str(error), ""]
    own = median(result["seconds"]["ours"] for result in results)
    ratio = median(result["seconds"]["ours"] / result["seconds"]["theirs"] for result in results)
    leads = [result["value"]["ours"] - result["value"]["theirs"] for result in results]
    R2 = np.mean([result["value"]["ours"] for result in results])
    return [
        RIVALS[method],
        f"{own:.2g}",
        f"{ratio:.2g}",
        f"{R2:.4f}",
        f"{min(leads):+.4f} to {max(leads):+.4f}",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table per shape."""
    parser = ArgumentParser(prog="python -m benchmarks.neighbours.race", description=__doc__)
    parser.add_argument("--trials", type=int, default=3, help="instances of each shape")
    parser.add_argument("--laps", type=int, default=3, help="turns of each program, after the first")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one turn")
    parser.add_argument("--shapes", nargs="+", default=["x".join(map(str, shape)) for shape in SHAPES])
    parser.add_argument("--methods", nargs="+", choices=list(RIVALS), default=list(RIVALS))
    options = parser.parse_args(arguments)
    heads = ["swapwise", "rival", "seconds", "time / rival's", "R²", "R² − rival's"]
    for shape in options.shapes:
        sizes = [int(number) for number in shape.split("x")]
        lines = {
            method: line(method, sizes, options.trials, options.laps, options.limit)
            for method in options.methods
        }
        print(f"\n{shape}, {DESIGN}, signal to noise {SIGNAL:g}\n\n{markdown(heads, lines)}", flush=True)


if __name__ == "__main__":
    main()
