"""``python -m benchmarks.graphs``: the paper's graphs by local search and by other structure learners.

All answers lie within the true degree and are refitted by the same program, so that values compare graphs and
nothing else. A share is that of the best value that any program of the table found on the instance; right and
wrong edges are those in the true graph and those that are not. Programs that have to be told the width of the
true model, or the degree, are told.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean, median
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import swapwise as sw
from swapwise.checks import IndexArray
from swapwise.paper.graph_baselines import GRAPH_BASELINES
from swapwise.paper.graph_baselines.procedure import true_width
from swapwise.paper.instances import IsingInstance, pairs, paper_ising
from swapwise.paper.measure import one_core
from swapwise.paper.procedures import LOCAL_SEARCHES

#: Vertices, degree and samples: the paper's two settings, and the same with ten times as many samples.
SETTINGS = ((10, 5, 100), (10, 5, 1000), (20, 7, 100), (20, 7, 1000))

#: From an instance and a degree to edges.
Learner = Callable[[IsingInstance, int], IndexArray]


@dataclass(frozen=True)
class Answer:
    """One program's graph on one instance."""

    program: str
    trial: int
    value: float
    share: float
    right: int
    wrong: int
    missed: int
    seconds: float


def search(instance: IsingInstance, degree: int, method: str, start: str) -> IndexArray:
    """Search by a method of the paper from a start, or as the library does by default."""
    constraint = sw.BMatching.complete(instance.spins.shape[1], degree)
    return sw.maximize(
        sw.graphs.IsingPseudoLikelihood(instance.spins), constraint, method, start=start
    ).support


def estimator(instance: IsingInstance, degree: int) -> IndexArray:
    """Fit the estimator as a user would: with fields and its ridge."""
    chosen = sw.IsingGraph(degree).fit(instance.spins).support_
    number = {edge: e for e, edge in enumerate(zip(*pairs(instance.spins.shape[1]), strict=True))}
    return np.array([number[u, v] for u, v in chosen], dtype=np.intp)


def baseline(instance: IsingInstance, degree: int, name: str) -> IndexArray:
    """Learn, symmetrise and cut to the degree."""
    constraint = sw.BMatching.complete(instance.spins.shape[1], degree)
    return GRAPH_BASELINES[name].edges(instance.spins, constraint, true_width(instance))


def learners() -> dict[str, Learner]:
    """Return all programs by name."""
    return {
        **{method: partial(search, method=method, start="empty") for method in LOCAL_SEARCHES},
        "auto": partial(search, method="auto", start="auto"),
        "IsingGraph": estimator,
        **{name: partial(baseline, name=name) for name in GRAPH_BASELINES},
        "the true graph": lambda instance, degree: instance.edges,
    }


def compare(n_vertices: int, degree: int, n_samples: int, trials: int) -> list[Answer]:
    """Run all programs on some instances of one setting."""
    answers = []
    for trial in range(trials):
        instance = paper_ising(n_vertices, degree, n_samples=n_samples, random_state=trial)
        objective, found = sw.graphs.IsingPseudoLikelihood(instance.spins), {}
        for program, learn in learners().items():
            begin = perf_counter()
            edges = learn(instance, degree)
            found[program] = edges, perf_counter() - begin
        values = {program: objective(edges) for program, (edges, _) in found.items()}
        best = max(values.values())
        for program, (edges, seconds) in found.items():
            right = len(np.intersect1d(edges, instance.edges))
            wrong, missed = len(edges) - right, len(instance.edges) - right
            value = values[program]
            answers.append(Answer(program, trial, value, value / best, right, wrong, missed, seconds))
    return answers


def graph_table(answers: Sequence[Answer], title: str) -> Table:
    """Show means over the instances, and median seconds."""
    names = "share of best %", "right edges", "wrong", "missed", "seconds"
    table = Table("program", title=title, title_justify="left")
    for name in names:
        table.add_column(name, justify="right")
    for program in dict.fromkeys(answer.program for answer in answers):
        own = [answer for answer in answers if answer.program == program]
        table.add_row(
            program,
            f"{100 * mean(answer.share for answer in own):.2f}",
            f"{mean(answer.right for answer in own):.1f}",
            f"{mean(answer.wrong for answer in own):.1f}",
            f"{mean(answer.missed for answer in own):.1f}",
            f"{median(answer.seconds for answer in own):.3f}",
        )
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table per setting."""
    parser = ArgumentParser(prog="python -m benchmarks.graphs", description="Compare structure learners.")
    parser.add_argument("--trials", type=int, default=3, help="instances of each setting; 3")
    parser.add_argument("--vertices", type=int, choices=[10, 20], help="one of the two sizes only")
    parser.add_argument("--samples", type=int, choices=[100, 1000], help="one of the two numbers only")
    options = parser.parse_args(arguments)
    with one_core():
        compare(6, 3, 50, 1)  # imports, which are not to be timed
        for n_vertices, degree, n_samples in SETTINGS:
            if options.vertices in (None, n_vertices) and options.samples in (None, n_samples):
                title = f"{n_vertices} vertices of degree {degree}, {n_samples} samples"
                answers = compare(n_vertices, degree, n_samples, options.trials)
                Console(width=100).print(graph_table(answers, f"{title}, {options.trials} instances"))


if __name__ == "__main__":
    main()
