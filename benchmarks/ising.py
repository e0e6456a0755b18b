"""Measurements on Ising models: each function measures one thing.

``python -m benchmarks.ising --patterns`` fits a table of patterns with counts, and the samples it stands for;
``--best-known`` says which share of the best value that any search or restart finds is found by default, and
in the first local optimum: ten graphs of 20 vertices, degrees up to b = 1 to 7.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import swapwise as sw
from benchmarks.reference.systems import system_search
from benchmarks.regression import ROUNDS, TOL, timed
from swapwise.clock import Clock
from swapwise.paper.instances import IsingInstance, paper_ising
from swapwise.paper.plain.ising import PlainIsing
from swapwise.search.plan import resolve
from swapwise.search.restarts import RestartProblem, restart

# Differences of a likelihood are known to about 1e-8 when its gradient is numerical: a move that gains
# less is rounding.
NUMERICAL_TOL = 1e-6

# The rules whose restarts look for the best known value
METHODS = ("semi-oblivious", "non-oblivious")

# Values whose ratio is nearer to 1 than this are the same.
SAME = 1e-9


@dataclass(frozen=True)
class AgainstPlain:
    """The oblivious search on one instance: the library against the plain program."""

    trial: int
    gradients: str
    seconds: float
    plain_seconds: float
    value: float
    plain_value: float

    @property
    def ratio(self) -> float:
        """How many times faster the library is."""
        return self.plain_seconds / self.seconds


@dataclass(frozen=True)
class Learned:
    """One method on one instance: time, and the value relative to the refit on the true graph."""

    method: str
    trial: int
    seconds: float
    iterations: int
    ratio: float


@dataclass(frozen=True)
class Recovered:
    """A large graph: time, what was found of the true edges, and memory."""

    seconds: float
    iterations: int
    precision: float
    recall: float
    megabytes_before: float
    megabytes_peak: float


@dataclass(frozen=True)
class Patterns:
    """A table of patterns with counts against the samples it stands for: seconds, and how far fits differ."""

    n_patterns: int
    n_samples: int
    seconds: float
    expanded_seconds: float
    same_graph: bool
    largest_difference: float


@dataclass(frozen=True)
class ShareOfBest:
    """Searches of several graphs within one degree: shares of the best known value, and median seconds."""

    b: int
    shares: list[float]
    plain_shares: list[float]
    seconds: float
    plain_seconds: float


def shares_of_best(
    graphs: int = 10, degrees: Iterable[int] = range(1, 8), restarts: int = 50, n_vertices: int = 20
) -> list[ShareOfBest]:
    """Search by default, and by the same rule from the empty set, which ends at the first local optimum."""
    rows = []
    instances = [paper_ising(n_vertices, 7, random_state=trial) for trial in range(graphs)]
    sw.maximize(
        sw.graphs.IsingPseudoLikelihood(instances[0].spins), sw.BMatching.complete(n_vertices, 1)
    )  # imports
    for b in degrees:
        shares, constraint = [], sw.BMatching.complete(n_vertices, b)
        for instance in instances:
            objective = sw.graphs.IsingPseudoLikelihood(instance.spins)
            found, seconds = timed(1, sw.maximize, objective, constraint)
            plain, plain_seconds = timed(1, partial(sw.maximize, start="empty"), objective, constraint)
            known = [best_of_restarts(objective, constraint, method, restarts) for method in METHODS]
            best = max(found.value, plain.value, *known)
            shares.append((found.value / best, plain.value / best, seconds, plain_seconds))
        share, plain_share, *times = (list(column) for column in zip(*shares, strict=True))
        rows.append(ShareOfBest(b, share, plain_share, *map(median, times)))
    return rows


def best_of_restarts(objective: Any, constraint: Any, method: str, restarts: int) -> float:
    """Return the best value of a search and its restarts."""
    plan, clock = resolve(objective, constraint, method), Clock()
    first = plan.search(objective, constraint, None, clock)
    rng = np.random.default_rng(0)
    return restart(RestartProblem(objective, constraint, plan), first, restarts, rng, clock)[0].value


def against_plain(trials: int = 2, repeats: int = 5, b: int = 3) -> list[AgainstPlain]:
    """Time the oblivious search from the empty set, in the paper's first setting (10 vertices)."""
    rows = []
    for trial in range(trials):
        instance = paper_ising(random_state=trial)
        search(instance, b, "oblivious")  # compiles, which is not to be timed
        result, seconds = timed(repeats, search, instance, b, "oblivious")
        for gradients in ("numerical", "exact"):
            plain, plain_seconds = timed(1, plain_search, instance, b, gradients == "numerical")
            rows.append(AgainstPlain(trial, gradients, seconds, plain_seconds, result.value, plain.value))
    return rows


def learned(trials: int = 3, b: int = 7) -> list[Learned]:
    """Run three methods in the paper's second setting (20 vertices of degree 7)."""
    rows = []
    for method in ("oblivious", "non-oblivious", "modular"):
        search(paper_ising(random_state=0), 2, method)  # compiles, which is not to be timed
        for trial in range(trials):
            instance = paper_ising(20, 7, random_state=trial)
            result, seconds = timed(1, search, instance, b, method)
            ratio = result.value / sw.graphs.IsingPseudoLikelihood(instance.spins)(instance.edges)
            rows.append(Learned(method, trial, seconds, result.n_iter, ratio))
    return rows


def search(instance: IsingInstance, b: int, method: str) -> Any:
    """Run the library from the data to the answer."""
    objective = sw.graphs.IsingPseudoLikelihood(instance.spins)
    constraint = sw.BMatching.complete(instance.spins.shape[1], b)
    if method == "modular":
        return sw.maximize(objective, constraint, method)
    return sw.maximize(objective, constraint, method, start="empty", max_iter=ROUNDS, tol=TOL)


def plain_search(instance: IsingInstance, b: int, numerical: bool) -> Any:
    """Run the plain program on the same problem; the paper's own had numerical gradients."""
    f = PlainIsing(instance.spins, numerical=numerical)
    return system_search(
        f,
        within_degree(f.edges, b),
        f.n,
        2,
        1,
        "exchange system",
        "oblivious",
        start=[],
        T=ROUNDS,
        tol=NUMERICAL_TOL if numerical else TOL,
        dominated=False,
    )


def within_degree(edges: list[tuple[int, int]], b: int) -> Callable[[list[int]], bool]:
    """Return the independence oracle of b-matchings."""

    def is_independent(S: list[int]) -> bool:
        return all(degree <= b for degree in Counter(v for e in S for v in edges[e]).values())

    return is_independent


def recover(n_vertices: int, n_samples: int, degree: int, b: int, seed: int) -> Recovered:
    """Learn a large sparse graph by the non-oblivious rule; memory is that of this process."""
    search(paper_ising(6, 3, n_samples=50, random_state=0), 2, "non-oblivious")  # compiles
    instance = paper_ising(n_vertices, degree, n_samples=n_samples, random_state=seed, thin=100)
    before = peak_megabytes()
    result, seconds = timed(1, search, instance, b, "non-oblivious")
    found = len(np.intersect1d(result.support, instance.edges))
    return Recovered(
        seconds,
        result.n_iter,
        found / max(1, len(result.support)),
        found / len(instance.edges),
        before,
        peak_megabytes(),
    )


def recovered(n_vertices: int = 200, n_samples: int = 2000, degree: int = 4, b: int = 4) -> Recovered:
    """Run :func:`recover` in a new process, whose peak of memory is its own."""
    call = f"recover({n_vertices}, {n_samples}, {degree}, {b}, 0)"
    code = (
        "import json, dataclasses; from benchmarks.ising import recover; "
        f"print(json.dumps(dataclasses.asdict({call})))"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, cwd=root)
    return Recovered(**json.loads(done.stdout))


def patterns(
    n_patterns: int = 250_000, n_samples: int = 500_000, n_vertices: int = 60, b: int = 3
) -> Patterns:
    """Fit a graph to patterns with counts, and to the samples as often as they were seen."""
    rng = np.random.default_rng(0)
    up = distinct_patterns(n_patterns, n_vertices, rng)
    counts = 1 + rng.multinomial(n_samples - n_patterns, np.full(n_patterns, 1 / n_patterns))
    expanded = np.repeat(up, counts, axis=0)
    sw.IsingGraph(b).fit(up[:3000], sample_weight=counts[:3000])  # compiles, which is not to be timed
    here, seconds = timed(1, sw.IsingGraph(b).fit, up, None, counts)
    there, expanded_seconds = timed(1, sw.IsingGraph(b).fit, expanded)
    differences = [np.abs(here.coupling_ - there.coupling_), np.abs(here.field_ - there.field_)]
    return Patterns(
        n_patterns,
        n_samples,
        seconds,
        expanded_seconds,
        np.array_equal(here.support_, there.support_),
        max(float(difference.max()) for difference in differences),
    )


def distinct_patterns(n_patterns: int, n_vertices: int, rng: np.random.Generator) -> Any:
    """Return different rows of booleans, most of which are passed on along a binary tree."""
    n_drawn = n_patterns + n_patterns // 50  # with 60 vertices, about one in a thousand is there twice
    up = rng.random((n_drawn, n_vertices)) < 0.5
    for v in range(1, n_vertices):
        up[:, v] = np.where(rng.random(n_drawn) < 0.7, up[:, (v - 1) // 2], up[:, v])
    _, first = np.unique(np.packbits(up, axis=1), axis=0, return_index=True)
    if len(first) < n_patterns:
        raise ValueError(f"{n_vertices} vertices gave {len(first)} different patterns, not {n_patterns}")
    return up[np.sort(first)[:n_patterns]]


def peak_megabytes() -> float:
    """Return the most memory that this process has held so far."""
    import resource  # only where there is one: not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what was measured."""
    parser = ArgumentParser(prog="python -m benchmarks.ising", description="Time graphs.")
    parser.add_argument("--patterns", action="store_true", help="patterns with counts against their samples")
    parser.add_argument("--best-known", action="store_true", help="share of the best known value")
    parser.add_argument("--restarts", type=int, default=50, help="that look for the best known value; 50")
    options = parser.parse_args(arguments)
    if options.best_known:
        Console(width=110).print(best_known_table(shares_of_best(restarts=options.restarts)))
    elif options.patterns:
        print_patterns(patterns())
    else:
        parser.error("say what is to be measured: --patterns or --best-known")


def best_known_table(rows: list[ShareOfBest]) -> Table:
    """Show shares in percent."""
    names = "b", "default %", "least", "at best", "first optimum %", "least", "at best", "s", "s of first"
    table = Table(*names, title="Share of the best known value", title_justify="left")
    for row in rows:
        cells = []
        for shares in (row.shares, row.plain_shares):
            at_best = sum(share >= 1 - SAME for share in shares)
            cells += [f"{100 * mean(shares):.3f}", f"{100 * min(shares):.3f}", f"{at_best} of {len(shares)}"]
        table.add_row(str(row.b), *cells, f"{row.seconds:.2f}", f"{row.plain_seconds:.2f}")
    return table


def print_patterns(row: Patterns) -> None:
    """Print what patterns with counts take."""
    print(f"{row.n_patterns} patterns with counts: {row.seconds:.2f} s")
    print(f"{row.n_samples} samples: {row.expanded_seconds:.2f} s")
    print(
        f"same graph: {row.same_graph}; couplings and fields differ by {row.largest_difference:.1e} at most"
    )


if __name__ == "__main__":
    main()
