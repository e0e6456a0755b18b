"""``python -m benchmarks.graph_intervals``: how often bootstrap intervals of edge weights hold the truth.

Samples of Ising models on 15 vertices with 14 edges, at most three per vertex, and couplings of 0.3 to 0.6
of either sign. An interval holds the truth if the true coupling lies within it, which is 0 for pairs that
are no edge. If the true graph is given, nothing is selected: what is lacking there is for the ridge and the
bootstrap.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import swapwise as sw
from swapwise.checks import FloatArray
from swapwise.graphs.estimators.spins import gibbs_samples
from swapwise.paper.measure import one_core

N_VERTICES, N_EDGES, DEGREE = 15, 14, 3

#: The sizes of couplings
SIZES = 0.3, 0.6

#: Sweeps of the Gibbs chain of each sample; couplings this weak are forgotten within a few dozen.
BURN_IN = 200

#: From the true couplings to the estimator that is bootstrapped.
MODELS: dict[str, Callable[[FloatArray], Any]] = {
    "the true graph given": lambda truth: sw.IsingGraph(DEGREE, edges=np.argwhere(np.triu(truth))),
    "IsingGraph, true degree": lambda truth: sw.IsingGraph(DEGREE),
    "IsingGraphCV, EBIC": lambda truth: sw.IsingGraphCV(),
}


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals, and of bootstrap samples, for one model on one sample."""

    model: str
    #: Intervals that hold the truth: of true edges, those of them in the sample's graph, other pairs, and
    #: those of them in it
    covered: tuple[float, float, float, float]
    #: How often true edges, and other pairs, are edges of bootstrap samples
    inclusion: tuple[float, float]
    seconds: float


def random_couplings(rng: np.random.Generator, sizes: tuple[float, float] = SIZES) -> FloatArray:
    """Return couplings of a random graph within the degree.

    >>> couplings = random_couplings(np.random.default_rng(0))
    >>> int((couplings != 0).sum()) // 2, int((couplings != 0).sum(axis=0).max())
    (14, 3)
    """
    couplings = np.zeros((N_VERTICES, N_VERTICES))
    pairs = np.argwhere(np.triu(np.ones_like(couplings), 1))
    n_edges = 0
    for u, v in rng.permutation(pairs):
        if n_edges < N_EDGES and max((couplings[[u, v]] != 0).sum(axis=1)) < DEGREE:
            couplings[u, v] = couplings[v, u] = rng.choice([-1, 1]) * rng.uniform(*sizes)
            n_edges += 1
    return couplings


def coverage(
    name: str,
    n_samples: int,
    trial: int,
    *,
    n_boots: int,
    sizes: tuple[float, float] = SIZES,
    n_jobs: int | None = None,
) -> Coverage:
    """Bootstrap one model on one sample."""
    rng = np.random.default_rng([trial, n_samples])
    truth = random_couplings(rng, sizes)
    X = gibbs_samples(truth, np.zeros(N_VERTICES), n_samples, BURN_IN, rng)
    begin = perf_counter()
    boot = sw.graphs.bootstrap_graph(MODELS[name](truth), X, n_boots, n_jobs=n_jobs)
    seconds = perf_counter() - begin
    true = truth[np.triu_indices(N_VERTICES, 1)]
    edges = boot.edges
    holds = ((edges["lower"] <= true + 1e-12) & (true - 1e-12 <= edges["upper"])).to_numpy()
    inclusion, is_edge, chosen = edges["inclusion"].to_numpy(), true != 0, boot.sample != 0
    groups = is_edge, is_edge & chosen, ~is_edge, ~is_edge & chosen
    covered = [float(holds[group].mean()) if group.any() else np.nan for group in groups]
    often = [float(inclusion[group].mean()) for group in (is_edge, ~is_edge)]
    return Coverage(name, (covered[0], covered[1], covered[2], covered[3]), (often[0], often[1]), seconds)


def coverage_table(rows: Sequence[Coverage], title: str) -> Table:
    """Show means over the trials in per cent."""
    names = "true edges", "found ones", "other pairs", "wrong edges", "true incl.", "other incl.", "seconds"
    table = Table("intervals of", title=title, title_justify="left")
    for name in names:
        table.add_column(name, justify="right")
    for model in dict.fromkeys(row.model for row in rows):
        own = [row for row in rows if row.model == model]
        shares = np.array([row.covered + row.inclusion for row in own]).T
        cells = ["-" if np.isnan(share).all() else f"{100 * np.nanmean(share):.1f}" for share in shares]
        table.add_row(model, *cells, f"{mean(row.seconds for row in own):.1f}")
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table per number of samples."""
    parser = ArgumentParser(prog="python -m benchmarks.graph_intervals", description="Coverage of intervals.")
    parser.add_argument("--trials", type=int, default=20, help="samples of each size; 20")
    parser.add_argument("--boots", type=int, default=200, help="bootstrap samples of each; 200")
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 1000], help="sizes; 500 1000")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--couplings", type=float, nargs=2, default=SIZES, help="their sizes; 0.3 0.6")
    parser.add_argument("--jobs", type=int, default=None, help="processes; 1")
    options = parser.parse_args(arguments)
    with one_core():
        for n_samples in options.samples:
            rows = [
                coverage(
                    name,
                    n_samples,
                    trial,
                    n_boots=options.boots,
                    sizes=tuple(options.couplings),
                    n_jobs=options.jobs,
                )
                for name in options.models
                for trial in range(options.trials)
            ]
            title = f"{n_samples} samples, {options.trials} trials, {options.boots} bootstrap samples: in %"
            Console(width=120).print(coverage_table(rows, title))


if __name__ == "__main__":
    main()
