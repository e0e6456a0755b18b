"""Correlation matrices, against pandas, and against plain maximum likelihood."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm

from swapwise.graphs.estimators.correlation import correlations, nearest
from swapwise.graphs.estimators.polychoric import polychoric


def data(n_samples=40, n=4, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((n_samples, n)) @ (np.eye(n) + rng.uniform(-0.4, 0.4, (n, n)))
    X = mixed * [1e-3, 1.0, 10.0, 1e4][:n] + 50.0
    X[rng.random(X.shape) < missing] = np.nan
    return X


TURNED = {
    "pearson": lambda r: r,
    "spearman": lambda r: 2 * np.sin(np.pi * r / 6),
    "kendall": lambda r: np.sin(np.pi * r / 2),
}


@pytest.mark.parametrize("method", TURNED)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_correlations_are_those_of_pandas(method, missing):
    X = data(missing=missing)
    X[:, 2] = np.round(X[:, 2] / 5)  # ties
    found = correlations(X, method)
    expected = TURNED[method](pd.DataFrame(X).corr(method).to_numpy())
    np.testing.assert_allclose(found.matrix, expected, atol=1e-10)
    known = ~np.isnan(X)
    assert found.n_observed.tolist() == (known.T.astype(int) @ known).tolist()
    np.testing.assert_allclose(found.means, np.nanmean(X, axis=0))
    np.testing.assert_allclose(found.deviations, np.nanstd(X, axis=0))


def test_weights_count_samples():
    X, weight = data(12, missing=0.1), np.arange(12) % 3
    found, repeated = correlations(X, weight=weight * 1.0), correlations(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(found.matrix, repeated.matrix, atol=1e-12)
    np.testing.assert_allclose(found.deviations, repeated.deviations)


@pytest.mark.parametrize("method", ["spearman", "kendall", "polychoric"])
def test_weights_need_pearson(method):
    with pytest.raises(ValueError, match="sample_weight needs correlation='pearson'"):
        correlations(data(), method, np.arange(40.0))


def plain_polychoric(x, y):
    """Return the correlation that makes the table of x and y most likely, given their margins."""
    table = pd.crosstab(x, y).to_numpy() / len(x)
    cuts = [norm.ppf(np.append(0, np.cumsum(table.sum(axis=axis)))).clip(-8, 8) for axis in (1, 0)]

    def loss(r):
        normal = multivariate_normal([0, 0], [[1, r], [r, 1]])
        below = np.array([[normal.cdf([h, k]) for k in cuts[1]] for h in cuts[0]])
        return -(table * np.log(np.maximum(np.diff(np.diff(below, axis=0), axis=1), 1e-12))).sum()

    return minimize_scalar(loss, bounds=(-0.999, 0.999), method="bounded", options={"xatol": 1e-5}).x


def test_polychoric_correlations_are_the_most_likely():
    rng = np.random.default_rng(0)
    normal = rng.multivariate_normal([0, 0, 0], [[1, 0.6, -0.3], [0.6, 1, 0.2], [-0.3, 0.2, 1]], 300)
    X = np.column_stack(
        [np.digitize(normal[:, v], cuts) for v, cuts in enumerate([[0], [-1, 0.5], [-1, 0, 1]])]
    )
    found = correlations(X * 1.0, "polychoric").matrix
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert found[i, j] == pytest.approx(plain_polychoric(X[:, i], X[:, j]), abs=1e-3)
    missing = X * 1.0
    missing[:50, 0] = np.nan
    again = correlations(missing, "polychoric").matrix
    assert again[0, 1] == pytest.approx(correlations(X[50:] * 1.0, "polychoric").matrix[0, 1])
    assert again[1, 2] == pytest.approx(found[1, 2])


@pytest.mark.parametrize("sign", [-1, 1])
def test_tables_with_empty_cells_have_a_correlation(sign):
    codes = np.array([[0, 0], [1, 1], [2, 2]] * 20)
    codes[:, 1] = codes[:, 1] if sign > 0 else 2 - codes[:, 1]
    found = polychoric(codes, np.array([0]), np.array([1]))
    assert sign * found[0] > 0.99


def test_polychoric_refuses_real_numbers():
    with pytest.raises(ValueError, match=r"column 'b' has 40 values; try correlation='spearman'"):
        correlations(np.column_stack([np.arange(40) % 2, np.arange(40.0)]), "polychoric", names=["a", "b"])


def test_columns_that_never_vary_are_told():
    X = data()
    X[:, 1] = 0.1 + 0.2
    for method in ("pearson", "spearman", "kendall"):
        with pytest.warns(UserWarning, match="constant columns, from which nothing can be learnt: 'b'"):
            found = correlations(X, method, names=list("abcd"))
        assert found.varies.tolist() == [True, False, True, True]
        assert found.matrix[1].tolist() == [0, 1, 0, 0]


def test_columns_never_observed_together_are_told():
    X = data(10, 3)
    X[:5, 0] = X[5:, 1] = np.nan
    for method in ("pearson", "spearman", "kendall"):
        with pytest.warns(UserWarning, match="fewer than two samples, and have no edge: 0 and 1"):
            assert correlations(X, method).matrix[0, 1] == 0


def test_the_nearest_correlation_matrix():
    given = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    with pytest.warns(UserWarning, match=r"eigenvalue -0\.8\), .* no correlation moves by more than 0\.4"):
        found = nearest(given)
    assert np.linalg.eigvalsh(found)[0] >= 0
    assert np.diag(found).tolist() == [1, 1, 1]
    # By symmetry, the nearest has equal absolute correlations: at most 1/2.
    np.testing.assert_allclose(np.abs(found[[0, 0, 1], [1, 2, 2]]), 0.5, atol=1e-3)


@pytest.mark.filterwarnings("ignore:the correlations of pairs")
def test_the_nearest_correlation_matrix_of_higham():
    """The example of his paper, which alternating projections without correction do not solve."""
    found = nearest(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]))
    np.testing.assert_allclose(found[[0, 0, 1], [1, 2, 2]], [0.7607, 0.1573, 0.7607], atol=5e-4)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="correlation must be one of pearson, spearman, kendall, polychoric"):
        correlations(data(), "cosine")


def test_kendall_warns_of_ties():
    with pytest.warns(UserWarning, match="'kendall' is for numbers without ties, and too large for 0, 1"):
        correlations(np.digitize(data()[:, :2], [np.median(data())]).astype(float), "kendall")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        correlations(data(), "kendall")


def test_information_of_categories_is_what_simulations_see():
    """Under independence, a polychoric correlation varies as Pearson's of so many fewer samples does."""
    rng = np.random.default_rng(0)
    cuts, n = [0.8, 1.5], 500
    X = np.digitize(rng.normal(size=(400, n, 2)), cuts).astype(float)
    found = [correlations(each, "polychoric") for each in X]
    spread = np.std([one.matrix[0, 1] for one in found])
    expected = np.mean([one.information for one in found])
    assert 1 / (n * spread**2) == pytest.approx(expected, rel=0.15)
    assert correlations(X[0], "spearman").information == 1.0
