"""A graph with at most three neighbours per variable, beside nodewise L1 regressions (IsingFit's recipe)."""

from __future__ import annotations

import numpy as np

import swapwise as sw
from benchmarks.networks import DEGREE, isingfit, score, simulate
from benchmarks.structure.case import WITH, WITHOUT, Case

VERTICES, EDGES, ROWS = 20, 28, 200


def few_neighbours(repeats: int = 20) -> Case:
    """Count edges that are wrong or missing, of graphs whose number of edges EBIC chooses."""
    learners = {
        WITHOUT: lambda samples: sw.IsingGraphCV().fit(samples).adjacency_ != 0,
        WITH: lambda samples: sw.IsingGraphCV(DEGREE).fit(samples).adjacency_ != 0,
        "nodewise L1": isingfit,
    }
    sets = [simulate("ising", VERTICES, EDGES, ROWS, seed) for seed in range(repeats)]
    errors = {
        name: np.array([[float(score(learner, each).distance) for each in sets]])
        for name, learner in learners.items()
    }
    return Case(
        "Which variables depend on each other?",
        f"simulated Ising models, {VERTICES} variables, {EDGES} edges, {ROWS} rows",
        f"at most {DEGREE} neighbours per variable",
        "edges wrong or missed",
        errors,
    )
