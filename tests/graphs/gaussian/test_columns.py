"""Edges as columns: products through the covariance matrix, against columns written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise.data.columns import Columns
from swapwise.graphs.gaussian.columns import EdgeColumns


def drawn(seed):
    rng = np.random.default_rng(seed)
    n_vertices, rank = rng.integers(2, 6), rng.integers(1, 6)
    pairs = np.stack(np.triu_indices(n_vertices, 1))
    pairs = pairs[:, rng.permutation(pairs.shape[1])[: rng.integers(1, pairs.shape[1] + 1)]]
    roots = rng.standard_normal((n_vertices, rank))
    return EdgeColumns(roots, rng.uniform(0.5, 2.0, n_vertices), *pairs), rng


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_products_are_those_of_the_columns(seed):
    edges, rng = drawn(seed)
    every = np.arange(edges.n_features)
    some = rng.permutation(every)[: rng.integers(0, len(every) + 1)]
    columns = edges.columns(every)
    gram = columns @ columns.T
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(edges.squared_norms, np.diag(gram), **close)
    np.testing.assert_allclose(edges.with_target, columns @ edges.target, **close)
    np.testing.assert_allclose(edges.products(some), gram[some], **close)
    np.testing.assert_allclose(edges.cross(some), gram[some], **close)
    np.testing.assert_allclose(edges.gram(some, every[::-1]), gram[some][:, ::-1], **close)
    np.testing.assert_allclose(edges.gram_of_all(), gram, **close)
    np.testing.assert_allclose(edges.gram(every, some), gram[:, some], **close)
    for part, block in edges.product_parts(some):
        np.testing.assert_allclose(block, gram[some][:, part], **close)
    coef, weight = rng.standard_normal(len(every)), rng.random(edges.n_samples)
    np.testing.assert_allclose(edges.combine(coef), coef @ columns, **close)
    np.testing.assert_allclose(edges.dots(columns), gram, **close)
    np.testing.assert_allclose(edges.cross(some, weight), columns[some] * weight @ columns.T, **close)
    if len(some):
        np.testing.assert_allclose(edges.restricted(some).columns(np.arange(len(some))), columns[some])


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_views_keep_inner_products(seed):
    edges, rng = drawn(seed)
    if rng.random() < 0.5:
        edges = edges.aimed_at(rng.standard_normal(edges.n_samples))
    some = rng.permutation(edges.n_features)[: rng.integers(0, edges.n_features + 1)]
    columns, target = edges.view(some)
    whole = np.vstack([columns, target])
    expected = np.vstack([edges.columns(some), edges.target])
    np.testing.assert_allclose(whole @ whole.T, expected @ expected.T, rtol=1e-9, atol=1e-9)
    first, second, target = edges.view_of_both(some[:1], some[1:])
    np.testing.assert_allclose(np.vstack([first, second]), columns)


@pytest.mark.parametrize("seed", range(3))
def test_curvature_of_moves_is_bounded_by_eigenvalues(seed):
    edges, rng = drawn(seed)
    sets = rng.integers(-1, edges.n_features, (6, 3))
    sets = sets[[len(set(row[row >= 0])) == (row >= 0).sum() for row in sets]]
    penalty = np.full(edges.n_features, 0.1)
    expected = Columns.curvature_bounds(edges, sets, penalty)
    np.testing.assert_allclose(edges.curvature_bounds(sets, penalty), expected, atol=1e-9)
