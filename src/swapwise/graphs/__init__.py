"""Undirected graphs: pairwise models, their estimators, how stable they are, and their pictures.

Estimators are at the top: ``swapwise.IsingGraph``, ``swapwise.GaussianGraph`` and ``swapwise.MixedGraph``,
and so is ``swapwise.plot_graph``.
"""

from typing import TYPE_CHECKING

from swapwise.lazy import lazily

if TYPE_CHECKING:
    from swapwise.graphs.gaussian.objective import GaussianPseudoLikelihood
    from swapwise.graphs.ising.objective import IsingPseudoLikelihood
    from swapwise.graphs.mixed.objective import MixedPseudoLikelihood
    from swapwise.graphs.pictures.stability import plot_centrality
    from swapwise.graphs.stability.bootstrap import GraphBootstrap, bootstrap_graph
    from swapwise.graphs.stability.case_dropping import CaseDropping, case_dropping
    from swapwise.graphs.stability.centrality import centralities
    from swapwise.graphs.stability.comparison import GraphComparison, compare_graphs

_HOMES = {
    "CaseDropping": "stability.case_dropping",
    "GaussianPseudoLikelihood": "gaussian.objective",
    "GraphBootstrap": "stability.bootstrap",
    "GraphComparison": "stability.comparison",
    "IsingPseudoLikelihood": "ising.objective",
    "MixedPseudoLikelihood": "mixed.objective",
    "bootstrap_graph": "stability.bootstrap",
    "case_dropping": "stability.case_dropping",
    "centralities": "stability.centrality",
    "compare_graphs": "stability.comparison",
    "plot_centrality": "pictures.stability",
}

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "CaseDropping",
    "GaussianPseudoLikelihood",
    "GraphBootstrap",
    "GraphComparison",
    "IsingPseudoLikelihood",
    "MixedPseudoLikelihood",
    "bootstrap_graph",
    "case_dropping",
    "centralities",
    "compare_graphs",
    "plot_centrality",
]
