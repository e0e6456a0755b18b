"""``python -m benchmarks.networks``: how many edges, and which: swapwise's criteria beside other programs.

Binary samples of Ising models of degree 3, and Gaussian samples of sparse precision matrices. Precision is
the share of the edges found that are there, recall the share of those there that are found, the Hamming
distance the number of edges wrong or missed; all are means over the simulated sets. IsingFit's recipe is
nodewise logistic regression with an L1 penalty by EBIC, and edges that both ends choose; it is written
plainly in ``swapwise.paper.graph_baselines``, and knows that there are no fields. gglasso is run if it
is there.
"""

from __future__ import annotations

import warnings
from argparse import ArgumentParser
from collections.abc import Callable
from importlib.util import find_spec
from statistics import mean, median
from time import perf_counter
from typing import NamedTuple

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table

import swapwise as sw
from swapwise.checks import BoolArray, FloatArray
from swapwise.graphs.estimators.spins import gibbs_samples
from swapwise.paper.graph_baselines.nodewise import l1_logistic
from swapwise.paper.measure import one_core

#: Kind, vertices, edges and samples
SETTINGS = (
    ("ising", 15, 14, 300),
    ("ising", 15, 14, 1000),
    ("ising", 15, 14, 5000),
    ("ising", 50, 50, 300),
    ("ising", 50, 50, 1000),
    ("ising", 50, 50, 5000),
    ("gaussian", 30, 40, 100),
    ("gaussian", 30, 40, 300),
    ("gaussian", 30, 40, 1000),
)

DEGREE = 3

#: From samples to which pairs are edges
Learner = Callable[[FloatArray], BoolArray]


class Simulated(NamedTuple):
    """Samples, and which pairs are edges."""

    samples: FloatArray
    truth: BoolArray


class Score(NamedTuple):
    """How near a graph is to the true one, and the seconds that it took."""

    precision: float
    recall: float
    distance: int
    seconds: float


def random_graph(n_vertices: int, n_edges: int, rng: np.random.Generator) -> nx.Graph:
    """Return a graph with edges at random, as long as no vertex has more than three.

    >>> graph = random_graph(15, 14, np.random.default_rng(0))
    >>> graph.number_of_edges(), max(dict(graph.degree).values()) <= DEGREE
    (14, True)
    """
    graph = nx.empty_graph(n_vertices)
    while graph.number_of_edges() < n_edges:
        u, v = rng.choice(n_vertices, 2, replace=False).tolist()
        if max(graph.degree(u), graph.degree(v)) < DEGREE:
            graph.add_edge(u, v)
    return graph


def signed_weights(graph: nx.Graph, low: float, high: float, rng: np.random.Generator) -> FloatArray:
    """Return a symmetric matrix with weights of both signs where the graph has edges."""
    weights = np.zeros((len(graph), len(graph)))
    for u, v in graph.edges:
        weights[u, v] = weights[v, u] = rng.choice([-1.0, 1.0]) * rng.uniform(low, high)
    return weights


def simulate(kind: str, n_vertices: int, n_edges: int, n_samples: int, seed: int) -> Simulated:
    """Return samples of a random model.

    >>> simulate("gaussian", 5, 4, 10, 0).samples.shape
    (10, 5)
    """
    rng = np.random.default_rng(seed)
    graph = random_graph(n_vertices, n_edges, rng)
    if kind == "ising":
        weights = signed_weights(graph, 0.3, 0.7, rng)
        samples = gibbs_samples(weights, np.zeros(n_vertices), n_samples, 200, rng)
    else:
        # Partial correlations of 0.2 to 0.33: three of them per vertex leave the matrix positive definite.
        weights = signed_weights(graph, 0.2, 0.33, rng)
        covariance = np.linalg.inv(np.eye(n_vertices) - weights)
        samples = rng.multivariate_normal(np.zeros(n_vertices), covariance, n_samples)
    return Simulated(samples, weights != 0)


def isingfit(samples: FloatArray) -> BoolArray:
    """Learn by nodewise regressions with an L1 penalty, and keep edges that both ends choose."""
    theta = l1_logistic(samples)
    return (theta != 0) & (theta.T != 0)


def graphical_lasso(samples: FloatArray) -> BoolArray:
    """Learn by scikit-learn's graphical lasso, the penalty chosen by cross-validation."""
    from sklearn.covariance import GraphicalLassoCV

    precision = GraphicalLassoCV().fit(samples).precision_
    return np.asarray((precision != 0) & ~np.eye(len(precision), dtype=bool))


def gglasso(samples: FloatArray) -> BoolArray:
    """Learn by gglasso's graphical lasso, the penalty chosen by EBIC."""
    from gglasso.problem import glasso_problem

    problem = glasso_problem(np.corrcoef(samples.T), len(samples), do_scaling=False)
    problem.model_selection(
        modelselect_params={"lambda1_range": np.geomspace(1.0, 0.01, 30)}, method="eBIC", gamma=0.5
    )
    precision = problem.solution.precision_
    return np.asarray((np.abs(precision) > 1e-8) & ~np.eye(len(precision), dtype=bool))


def learners(kind: str) -> dict[str, Learner]:
    """Return all programs by name.

    >>> list(learners("ising"))[0]
    'EBIC'
    """
    family = sw.IsingGraphCV if kind == "ising" else sw.GaussianGraphCV
    found: dict[str, Learner] = {
        "EBIC": lambda samples: family().fit(samples).adjacency_ != 0,
        f"EBIC, degree {DEGREE}": lambda samples: family(DEGREE).fit(samples).adjacency_ != 0,
        "BIC": lambda samples: family(criterion="bic").fit(samples).adjacency_ != 0,
        "CV, one standard error": lambda samples: (
            family(criterion="cv", one_standard_error=True).fit(samples).adjacency_ != 0
        ),
    }
    if kind == "ising":
        full = f"IsingGraph, degree {DEGREE}"
        return (
            found
            | {full: lambda samples: sw.IsingGraph(DEGREE).fit(samples).adjacency_ != 0}
            | {"IsingFit's recipe": isingfit}
        )
    found["GraphicalLassoCV"] = graphical_lasso
    return found | ({"gglasso, EBIC": gglasso} if find_spec("gglasso") else {})


def score(learner: Learner, simulated: Simulated) -> Score:
    """Learn a graph and compare it with the true one."""
    begin = perf_counter()
    with warnings.catch_warnings(action="ignore"):
        found = learner(simulated.samples)
    seconds = perf_counter() - begin
    above = np.triu_indices(len(found), 1)
    found, truth = found[above], simulated.truth[above]
    right, n_found = int((found & truth).sum()), int(found.sum())
    precision = right / n_found if n_found else 1.0
    return Score(precision, right / int(truth.sum()), int((found != truth).sum()), seconds)


def run(setting: tuple[str, int, int, int], n_trials: int) -> Table:
    """Return a table of all programs in one setting."""
    kind, n_vertices, n_edges, n_samples = setting
    title = f"{kind}, {n_vertices} vertices, {n_edges} edges, {n_samples} samples, {n_trials} sets"
    table = Table("program", "precision", "recall", "Hamming distance", "seconds", title=title)
    sets = [simulate(*setting, seed) for seed in range(n_trials)]
    for name, learner in learners(kind).items():
        scores = [score(learner, each) for each in sets]
        precision, recall, distance = (mean(column) for column in list(zip(*scores, strict=True))[:3])
        seconds = median(each.seconds for each in scores)
        table.add_row(name, f"{precision:.3f}", f"{recall:.3f}", f"{distance:.2f}", f"{seconds:.3f}")
    return table


def main() -> None:
    """Print one table per setting."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--only", default="", help="settings whose kind, vertices and samples hold this text")
    options = parser.parse_args()
    console = Console()
    with one_core():
        for setting in SETTINGS:
            if options.only in f"{setting[0]}-{setting[1]}-{setting[3]}":
                console.print(run(setting, options.trials))


if __name__ == "__main__":
    main()
