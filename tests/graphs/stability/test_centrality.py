"""Centralities are those of networkx."""

import networkx as nx
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import swapwise as sw
from swapwise.graphs.stability.centrality import measure
from tests.graphs.stability.correlation_graph import CorrelationGraph, chain


def by_networkx(weights, n):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    for pair, (u, v) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
        if weights[pair]:
            graph.add_edge(
                int(u), int(v), size=abs(weights[pair]), weight=weights[pair], far=1 / abs(weights[pair])
            )
    return {
        "strength": dict(graph.degree(weight="size")),
        "expected_influence": dict(graph.degree(weight="weight")),
        "closeness": nx.closeness_centrality(graph, distance="far"),
        "betweenness": nx.betweenness_centrality(graph, weight="far", normalized=False),
        "degree": dict(graph.degree()),
    }


@pytest.mark.parametrize("kind", ["any", "few values", "dense", "none"])
def test_measures_against_networkx(kind):
    rng = np.random.default_rng(0)
    for n in (2, 3, 6, 9):
        n_pairs = n * (n - 1) // 2
        weights = rng.standard_normal((8, n_pairs)) * (rng.random((8, n_pairs)) < (kind == "dense" or 0.4))
        if kind == "few values":  # with several shortest paths
            weights = np.sign(weights) * rng.choice([0.1, 0.2], weights.shape)
        elif kind == "none":
            weights[:] = 0
        measured = measure(weights, n)
        for row, graph in enumerate(weights):
            for name, wanted in by_networkx(graph, n).items():
                plain = [wanted[v] for v in range(n)]
                np.testing.assert_allclose(measured[name][row], plain, atol=1e-12, err_msg=name)


def test_many_graphs_are_measured_in_parts(monkeypatch):
    weights = np.random.default_rng(0).standard_normal((7, 10))
    whole = measure(weights, 5)
    monkeypatch.setattr("swapwise.graphs.stability.centrality.ENTRIES_AT_ONCE", 50)
    for name, values in measure(weights, 5).items():
        np.testing.assert_array_equal(values, whole[name])


def test_of_a_fitted_model():
    model = CorrelationGraph().fit(chain(50, 4))
    frame = sw.graphs.centralities(model)
    np.testing.assert_allclose(frame["strength"], np.abs(model.adjacency_).sum(axis=0))
    with pytest.raises(NotFittedError):
        sw.graphs.centralities(CorrelationGraph())
    with pytest.raises(TypeError, match=r"graph estimator, such as IsingGraph, got int$"):
        sw.graphs.centralities(3)
