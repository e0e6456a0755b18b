"""Structure learners of the literature, for samples of -1 and +1: what the paper's graphs are compared with.

Each gives a weight per ordered pair of vertices; ``procedure`` makes one weight per edge of them and cuts the
graph to the degrees, so that all answers lie under the same constraint as those of the library.
"""

from swapwise.paper.graph_baselines.bresler import bresler
from swapwise.paper.graph_baselines.interaction_screening import log_rise, rise
from swapwise.paper.graph_baselines.nodewise import l1_constrained_logistic, l1_logistic
from swapwise.paper.graph_baselines.procedure import (
    GRAPH_BASELINES,
    Baseline,
    GraphBaseline,
    cut_to_degrees,
    edge_weights,
)
from swapwise.paper.graph_baselines.sparsitron import sparsitron

__all__ = [
    "GRAPH_BASELINES",
    "Baseline",
    "GraphBaseline",
    "bresler",
    "cut_to_degrees",
    "edge_weights",
    "l1_constrained_logistic",
    "l1_logistic",
    "log_rise",
    "rise",
    "sparsitron",
]
