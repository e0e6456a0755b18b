"""Covariance selection, against the same in plain NumPy."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise import kernels
from swapwise.kernels import _baseline


def plain_selection(S, neighbours, sweeps):
    graph = nx.Graph([(v, v) for v in range(len(S))])
    graph.add_edges_from((v, u) for v, near in enumerate(neighbours) for u in near)
    W, precision = np.zeros_like(S), np.zeros_like(S)
    for part in map(list, nx.connected_components(graph)):
        W[np.ix_(part, part)] = S[np.ix_(part, part)]
    for _ in range(sweeps):
        for v, near in enumerate(neighbours):
            weights = np.linalg.solve(W[np.ix_(near, near)], S[near, v])
            others = np.arange(len(S)) != v
            W[others, v] = W[v, others] = W[np.ix_(others, near)] @ weights
            precision[v, v] = 1 / (1 - weights @ S[near, v])
            precision[v, near] = -weights * precision[v, v]
    return W, precision


@pytest.mark.parametrize("level", [kernels._compiled, _baseline])
@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 4))
def test_sweeps_are_those_of_plain_numpy(level, seed, n, sweeps):
    rng = np.random.default_rng(seed)
    S = np.corrcoef(rng.standard_normal((n + 20, n)).T).reshape(n, n)
    joined = np.triu(rng.random((n, n)) < 0.5, 1)
    neighbours = [np.flatnonzero(row) for row in joined | joined.T]
    begin = np.append(0, np.cumsum([len(near) for near in neighbours]))
    W, precision = S.copy(), np.zeros((n, n))
    turns, moved, dependent = level.gaussian.select(
        W, precision, begin, np.concatenate(neighbours), 0.0, sweeps
    )
    expected_W, expected = plain_selection(S, neighbours, sweeps)
    assert dependent == -1
    assert turns == sweeps or moved == 0
    np.testing.assert_allclose(W, expected_W, atol=1e-10)
    np.testing.assert_allclose(precision, expected, rtol=1e-9, atol=1e-10)


def test_vertices_without_a_maximum_are_named():
    S, precision = np.ones((2, 2)), np.zeros((2, 2))
    begin, neighbours = np.array([0, 1, 2]), np.array([1, 0])
    assert kernels.gaussian.select(S, precision, begin, neighbours, 1e-9, 100)[2] == 1
