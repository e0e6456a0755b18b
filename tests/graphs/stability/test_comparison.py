"""The permutation test finds what differs, and not more often than it says where nothing does."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import swapwise as sw
from tests.graphs.stability.correlation_graph import CorrelationGraph, UnweightedGraph, chain


def test_p_values_are_those_of_a_plain_loop():
    one, other = chain(40, 3), chain(50, 3, seed=1, noise=1.6)
    found = sw.graphs.compare_graphs(CorrelationGraph(), one, other, 400)
    both, rng, pairs = np.vstack([one, other]), np.random.default_rng(5), np.triu_indices(3, 1)

    def weights(X):
        return CorrelationGraph().fit(X).adjacency_[pairs]

    np.testing.assert_allclose(found.first, weights(one))
    np.testing.assert_allclose(found.second, weights(other))
    plain = []
    for _ in range(400):
        order = rng.permutation(90)
        plain.append([weights(both[order[:40]]), weights(both[order[40:]])])
    plain = np.array(plain)
    seen = found.first - found.second
    edge = (np.abs(plain[:, 0] - plain[:, 1]) >= np.abs(seen)).mean(axis=0)
    np.testing.assert_allclose(found.edges["p_value"], edge, atol=0.1)
    largest = (np.abs(plain[:, 0] - plain[:, 1]).max(axis=1) >= np.abs(seen).max()).mean()
    assert found.tests.loc["largest edge difference", "p_value"] == pytest.approx(largest, abs=0.1)
    assert found.edges["p_max"].min() == found.tests.loc["largest edge difference", "p_value"]
    strength = np.abs(plain).sum(axis=2)
    total = (np.abs(strength[:, 0] - strength[:, 1]) >= abs(found.tests["difference"].iloc[0])).mean()
    assert found.tests.loc["global strength", "p_value"] == pytest.approx(total, abs=0.1)


def test_p_values_are_about_uniform_where_nothing_differs():
    p = np.array(
        [
            sw.graphs.compare_graphs(CorrelationGraph(0.0), X[:30], X[30:], 19, random_state=seed).tests[
                "p_value"
            ]
            for seed in range(100)
            for X in [chain(60, 3, seed=seed)]
        ]
    )
    assert (np.abs((p <= 0.25).mean(axis=0) - 0.25) < 0.12).all()
    assert (np.abs((p <= 0.5).mean(axis=0) - 0.5) < 0.15).all()
    assert (p >= 1 / 20).all()


def test_a_difference_is_found_where_it_is():
    one, other = chain(150, 4), chain(150, 4, seed=1)
    other[:, 3] = np.random.default_rng(2).standard_normal(150)
    one, other = (pd.DataFrame(X, columns=list("abcd")) for X in (one, other))
    found = sw.graphs.compare_graphs(CorrelationGraph(), one, other, 99, n_jobs=2)
    different = found.edges[found.edges["p_max"] <= 0.05]
    assert set(different["target"]) == {"d"}
    assert len(different) == 3
    strength = found.centralities.query("measure == 'strength'").set_index("vertex")
    assert strength["p_holm"]["d"] <= 0.05
    again = sw.graphs.compare_graphs(CorrelationGraph(), one, other, 99)
    np.testing.assert_array_equal(found.permuted, again.permuted)
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["tests"][0]["test"] == "global strength"


def test_counts_are_what_repeated_rows_are():
    X1, X2 = chain(20, 3).round(), chain(20, 3, seed=1).round()
    counts = np.arange(20) % 4
    table = sw.graphs.compare_graphs(CorrelationGraph(), X1, X2, 300, sample_weight1=counts)
    rows = sw.graphs.compare_graphs(CorrelationGraph(), np.repeat(X1, counts, axis=0), X2, 300)
    np.testing.assert_allclose(table.first, rows.first)
    np.testing.assert_allclose(table.edges["p_value"], rows.edges["p_value"], atol=0.12)
    unweighted = sw.graphs.compare_graphs(UnweightedGraph(), X1, X2, 300, sample_weight1=counts)
    np.testing.assert_allclose(unweighted.permuted, table.permuted, atol=1e-12)
    survey = sw.graphs.compare_graphs(CorrelationGraph(), X1, X2, 5, sample_weight2=np.full(20, 0.5))
    np.testing.assert_allclose(survey.second, rows.second)


def test_sparse_tables():
    rng = np.random.default_rng(0)
    X1, X2 = rng.integers(2, size=(2, 40, 3))
    dense = sw.graphs.compare_graphs(sw.IsingGraph(1), X1, X2, 3)
    sparse = sw.graphs.compare_graphs(sw.IsingGraph(1), csr_matrix(X1), csr_matrix(X2), 3)
    np.testing.assert_allclose(dense.permuted, sparse.permuted)


def test_nothing_to_compare():
    ones = np.ones((10, 3))
    found = sw.graphs.compare_graphs(CorrelationGraph(), ones, ones, 9)
    assert (found.edges["p_value"] == 1).all()
    assert (found.tests["p_value"] == 1).all()
    assert (found.centralities["p_holm"] == 1).all()


def test_groups_that_do_not_match_are_refused():
    X = chain(30, 3)
    frame = pd.DataFrame(X, columns=list("abc"))
    for other, message in [
        (X[:, :2], "got 3 and 2 of them"),
        (frame, "both be frames or both be arrays"),
        (X[0], "X2 must be two-dimensional"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            sw.graphs.compare_graphs(CorrelationGraph(), X, other, 2)
    with pytest.raises(ValueError, match="only one of them has c, d"):
        sw.graphs.compare_graphs(CorrelationGraph(), frame, frame.rename(columns={"c": "d"}), 2)
    with pytest.raises(ValueError, match=r"same order; try X2\[X1.columns\]"):
        sw.graphs.compare_graphs(CorrelationGraph(), frame, frame[["b", "a", "c"]], 2)
    with pytest.raises(ValueError, match="sample_weight2 must have length 30"):
        sw.graphs.compare_graphs(CorrelationGraph(), X, X, 2, sample_weight2=[1])
    with pytest.raises(ValueError, match="n_permutations must be at least 1"):
        sw.graphs.compare_graphs(CorrelationGraph(), X, X, 0)
