"""Maximum likelihood on a graph, against optimisation by another method, closed forms and scikit-learn."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import graphical_lasso

from swapwise.graphs.gaussian.likelihood import GaussianFit, NoMaximum, fit_correlations


def covariance_drawn(n, seed, n_samples=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples or 3 * n, n)) @ rng.standard_normal((n, n))
    return np.cov(X.T, bias=True) * 1.0


def covariance_selection(S, edges, ridge=0.0):
    """Return the fit to a covariance matrix."""
    deviations = np.sqrt(np.diag(S))
    scales = np.outer(deviations, deviations)
    tail, head = np.sort(np.array(edges, dtype=np.intp).reshape(-1, 2), axis=1).T
    fit = fit_correlations(S / scales, tail, head, ridge)
    likelihood = fit.log_likelihood - np.log(deviations).sum()
    return GaussianFit(fit.precision / scales, fit.covariance * scales, likelihood, fit.converged)


def optimised(S, edges):
    """Return the largest likelihood by L-BFGS-B on the entries of the precision matrix."""
    n, (tail, head) = len(S), np.array(edges, dtype=int).reshape(-1, 2).T

    def loss(entries):
        precision = np.diag(entries[:n])
        precision[tail, head] = precision[head, tail] = entries[n:]
        values, vectors = np.linalg.eigh(precision)
        if values[0] <= 0:
            return np.inf, np.zeros_like(entries)
        slope = S - vectors / values @ vectors.T
        value = 0.5 * ((S * precision).sum() - np.log(values).sum() + n * np.log(2 * np.pi))
        return value, np.append(0.5 * np.diag(slope), slope[tail, head])

    start = np.append(1 / np.diag(S), np.zeros(len(tail)))
    found = scipy.optimize.minimize(
        loss, start, jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 2000}
    )
    return -found.fun


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_likelihoods_are_the_largest(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    S = covariance_drawn(n, seed, 8 * n)
    S /= np.sqrt(np.outer(np.diag(S), np.diag(S)))
    pairs = list(combinations(range(n), 2))
    edges = [pairs[e] for e in rng.permutation(len(pairs))[: rng.integers(0, len(pairs) + 1)]]
    fit = covariance_selection(S, edges)
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(optimised(S, edges), abs=1e-5)
    np.testing.assert_allclose(fit.precision @ fit.covariance, np.eye(n), atol=1e-8)
    absent = [pair for pair in pairs if pair not in edges]
    assert all(fit.precision[pair] == 0 for pair in absent)
    for pair in [*edges, *((v, v) for v in range(n))]:
        assert fit.covariance[pair] == pytest.approx(S[pair], abs=1e-7)


def test_chordal_graphs_have_a_closed_form():
    """The precision is the sum of those of the cliques less those of their intersections."""
    S = covariance_drawn(5, 1)
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)]
    expected = np.zeros((5, 5))
    for clique, sign in (([0, 1, 2], 1), ([1, 2, 3], 1), ([3, 4], 1), ([1, 2], -1), ([3], -1)):
        expected[np.ix_(clique, clique)] += sign * np.linalg.inv(S[np.ix_(clique, clique)])
    np.testing.assert_allclose(covariance_selection(S, edges).precision, expected, rtol=1e-6, atol=1e-9)


def test_a_complete_graph_is_the_graphical_lasso_without_penalty():
    S = covariance_drawn(4, 2, 100)
    S /= np.sqrt(np.outer(np.diag(S), np.diag(S)))
    S = 0.7 * S + 0.3 * np.eye(4)
    fit = covariance_selection(S, list(combinations(range(4), 2)))
    np.testing.assert_allclose(fit.precision, np.linalg.inv(S), rtol=1e-6)
    np.testing.assert_allclose(fit.precision, graphical_lasso(S, alpha=1e-8, tol=1e-8)[1], rtol=1e-3)


def test_no_edges():
    S = covariance_drawn(3, 3)
    fit = covariance_selection(S, [])
    np.testing.assert_allclose(fit.covariance, np.diag(np.diag(S)))
    normal = scipy.stats.norm.logpdf
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 3))
    X -= X.mean(axis=0)
    fit = covariance_selection(X.T @ X / 9, [])
    mean = sum(normal(X[:, v], scale=X[:, v].std()).mean() for v in range(3))
    assert fit.log_likelihood == pytest.approx(mean)


def test_fewer_samples_than_vertices():
    graph = nx.cycle_graph(30)
    fit = covariance_selection(covariance_drawn(30, 4, 12), list(graph.edges))
    assert fit.converged


def test_where_there_is_no_maximum_a_ridge_makes_one():
    S = np.array([[1.0, 1.0, 0.3], [1.0, 1.0, 0.3], [0.3, 0.3, 1.0]])
    with pytest.raises(NoMaximum, match=r"vertex 1 is a linear combination .* ridge such as 0\.01"):
        covariance_selection(S, [(0, 1)])
    fit = covariance_selection(S, [(0, 1)], ridge=0.01)
    assert fit.covariance[0, 1] == pytest.approx(1 / 1.01)
    likelihood = np.linalg.slogdet(fit.precision)[1] - (S * fit.precision).sum() - 3 * np.log(2 * np.pi)
    assert fit.log_likelihood == pytest.approx(likelihood / 2)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [0, 2, 1]])
def test_copies_that_no_edge_joins_do_no_harm(order):
    """In whatever order the vertices come, with a neighbour of both copies first or last."""
    S = np.array([[1.0, 1.0, 0.3], [1.0, 1.0, 0.3], [0.3, 0.3, 1.0]])[np.ix_(order, order)]
    a, b, c = (order.index(v) for v in range(3))
    fit = covariance_selection(S, [(a, c), (b, c)])
    assert fit.converged
    assert fit.covariance[a, b] == pytest.approx(0.09)
