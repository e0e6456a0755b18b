"""Undirected graphs: pairwise models, their estimators, how stable they are, and their pictures.

Estimators are at the top: ``swapwise.IsingGraph``, ``swapwise.GaussianGraph`` and ``swapwise.MixedGraph``,
and so is ``swapwise.plot_graph``.
"""

from swapwise.lazy import lazily

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


__all__ = sorted(_HOMES)
