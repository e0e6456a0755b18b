"""The pseudo-likelihood of Gaussian graphs, against its formula in plain NumPy."""

from itertools import combinations

import numpy as np
import pytest

import swapwise as sw
from swapwise.graphs.gaussian.objective import covariance_of


def samples_of(n_samples, n_vertices, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_samples, n_vertices)) @ rng.standard_normal((n_vertices, n_vertices)) + 3.0


def plain_value(X, weight, diagonal, ridge, edges, coef):
    """Return u by going through samples and vertices."""
    weight = weight / weight.sum()
    X = X - weight @ X
    W = np.zeros((X.shape[1], X.shape[1]))
    for (i, j), w in zip(edges, coef, strict=True):
        W[i, j] = W[j, i] = w
    total = -ridge * coef @ coef / 2
    for v, d in enumerate(diagonal):
        total -= 0.5 / d * weight @ (d * X[:, v] + X @ W[:, v]) ** 2
    return total


def plain_best(covariance, diagonal, ridge, ends):
    """Return the largest share on a set of edges, by the normal equations."""
    n = len(ends)
    gram = ridge * np.eye(n)
    for a, b in np.ndindex(n, n):
        for shared in set(ends[a]) & set(ends[b]):
            (far,), (other,) = set(ends[a]) - {shared}, set(ends[b]) - {shared}
            gram[a, b] += covariance[far, other] / diagonal[shared]
    slope = np.array([-2 * covariance[u, v] for u, v in ends])
    return slope @ np.linalg.solve(gram, slope) / (diagonal @ np.diag(covariance)) if n else 0.0


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("given", [False, True])
def test_values_and_gradients_are_those_of_the_formula(ridge, given):
    X, rng = samples_of(12, 4), np.random.default_rng(1)
    weight = rng.integers(0, 3, 12) * 1.0 if given else np.ones(12)
    edges = [(3, 0), (1, 2), (0, 2), (1, 3)] if given else list(combinations(range(4), 2))
    diagonal = rng.uniform(0.5, 2.0, 4) if given else 1 / np.diag(covariance_of(X))
    f = sw.graphs.GaussianPseudoLikelihood(
        X, ridge, edges if given else None, diagonal if given else None, weight if given else None
    )
    assert f.edges == [tuple(sorted(edge)) for edge in edges]
    scale = 2 / (diagonal @ np.diag(covariance_of(X, weight)))

    def u(coef):
        return scale * plain_value(X, weight, diagonal, ridge, edges, coef)

    coef = rng.standard_normal(f.n)
    value, gradient = f.value_and_gradient_at(coef)
    assert value == pytest.approx(u(coef) - u(0 * coef), rel=1e-9)
    steps = 1e-5 * np.eye(f.n)
    slopes = [(u(coef + step) - u(coef - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(f.gradient_at(coef), gradient)
    bent = [-(f.gradient_at(coef + step) - f.gradient_at(coef - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(f.curvature(np.arange(f.n)), bent, rtol=1e-5, atol=1e-6)
    likelihood = 0.5 * np.log(diagonal).sum() + plain_value(X, weight, diagonal, ridge, edges, coef)
    assert f.pseudo_log_likelihood(coef) == pytest.approx(likelihood)


@pytest.mark.parametrize("n_samples", [3, 20])
def test_the_best_graph_is_that_of_enumeration(n_samples):
    X = samples_of(n_samples, 4, seed=2)
    f = sw.graphs.GaussianPseudoLikelihood(X, ridge=0.1)
    for b in (1, 2):
        within = [
            chosen
            for size in range(7)
            for chosen in combinations(range(6), size)
            if np.bincount([v for e in chosen for v in f.edges[e]], minlength=4).max() <= b
        ]
        plain = {
            chosen: plain_best(f.covariance, f.diagonal, 0.1, [f.edges[e] for e in chosen])
            for chosen in within
        }
        for chosen, value in plain.items():
            assert f(chosen) == pytest.approx(value, abs=1e-9)
        best = max(plain.values())
        assert sw.exact(f, sw.BMatching(f.edges, b=b)).value == pytest.approx(best, abs=1e-9)
        assert sw.maximize(f, sw.BMatching(f.edges, b=b)).value <= best + 1e-9


def test_large_graphs_are_searched_as_small_ones_are():
    """Beyond the sizes of kept inner products, by the same rules."""
    X = samples_of(200, 30, seed=3)
    f = sw.graphs.GaussianPseudoLikelihood(X)
    degrees = sw.BMatching(f.edges, b=2)
    found = sw.maximize(f, degrees, start="greedy")
    plain = sw.LeastSquares(f.design.columns(np.arange(f.n)).T, f.design.target)
    expected = sw.maximize(plain, degrees, start="greedy")
    assert found.support.tolist() == expected.support.tolist()
    assert found.value == pytest.approx(expected.value, abs=1e-10)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-8)


def test_values_do_not_depend_on_units():
    X = samples_of(50, 5)
    f, g = (
        sw.graphs.GaussianPseudoLikelihood(X),
        sw.graphs.GaussianPseudoLikelihood(X * [1e-3, 1.0, 5.0, 1e4, 2.0]),
    )
    for chosen in ([0], [1, 4, 7], range(10)):
        assert f(chosen) == pytest.approx(g(chosen), rel=1e-9)


def test_weights_count_samples():
    X, weight = samples_of(6, 3), np.array([1, 0, 2, 1, 3, 1])
    weighted = sw.graphs.GaussianPseudoLikelihood(X, sample_weight=weight)
    repeated = sw.graphs.GaussianPseudoLikelihood(np.repeat(X, weight, axis=0))
    assert weighted([0, 2]) == pytest.approx(repeated([0, 2]), rel=1e-12)


def test_the_best_diagonal_has_no_slope():
    f = sw.graphs.GaussianPseudoLikelihood(samples_of(40, 4))
    coef = f.coef([0, 3, 4])

    def at(diagonal):
        other = sw.graphs.GaussianPseudoLikelihood.from_covariance(f.covariance, diagonal=diagonal)
        return other.pseudo_log_likelihood(coef)

    best = f.best_diagonal(coef)
    for v in range(4):
        for factor in (0.999, 1.001):
            nearby = best.copy()
            nearby[v] *= factor
            assert at(nearby) < at(best)


def test_constants_and_copies_of_variables():
    X = samples_of(30, 4)
    X[:, 1], X[:, 3] = 7.1, -2 * X[:, 0]
    f = sw.graphs.GaussianPseudoLikelihood(X)
    assert f([0]) == pytest.approx(0.0, abs=1e-9)  # nothing is explained by a constant
    assert f.total == pytest.approx(3.0)
    result = sw.maximize(f, sw.BMatching(f.edges, b=1))
    assert [f.edges[e] for e in result.support] == [(0, 3)]
    assert result.value == pytest.approx(2 / 3)
    assert (f.best_diagonal(result.coef) > 0).all()


@pytest.mark.parametrize(("X", "edges"), [(np.ones((4, 1)), None), (np.eye(4), []), (np.zeros((3, 3)), None)])
def test_graphs_without_anything_to_gain(X, edges):
    f = sw.graphs.GaussianPseudoLikelihood(X, edges=edges)
    result = sw.maximize(f, sw.Uniform(f.n, f.n))
    assert result.value == pytest.approx(0.0, abs=1e-12)


def test_certificates_hold():
    """The best set is known by enumeration; the proof of another one must leave room for it."""
    f = sw.graphs.GaussianPseudoLikelihood(samples_of(100, 5, seed=5))
    degrees = sw.BMatching(f.edges, b=1)
    best = max(f([a, b]) for a, b in combinations(range(10), 2) if not {*f.edges[a]} & {*f.edges[b]})
    for support in ([], [0], sw.maximize(f, degrees).support):
        proof = sw.certify(f, degrees, support, max_nodes=0)
        assert proof.upper_bound >= best - 1e-9
    assert sw.exact(f, degrees).value == pytest.approx(best)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "positive semidefinite"),
        ([[1.0, 0.0]], "symmetric"),
        ([[1.0, 0.5], [0.1, 1.0]], "symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], "finite"),
    ],
)
def test_what_is_no_covariance_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        sw.graphs.GaussianPseudoLikelihood.from_covariance(values)


def test_other_mistakes_are_named():
    with pytest.raises(ValueError, match="diagonal must be positive, got -1"):
        sw.graphs.GaussianPseudoLikelihood(np.eye(3), diagonal=[1, -1, 1])
    with pytest.raises(ValueError, match="zeros only"):
        sw.graphs.GaussianPseudoLikelihood(np.eye(3), sample_weight=[0, 0, 0])
    with pytest.raises(ValueError, match="at least one sample"):
        sw.graphs.GaussianPseudoLikelihood(np.empty((0, 3)))
    with pytest.raises(ValueError, match="finite"):
        sw.graphs.GaussianPseudoLikelihood([[1.0, np.nan]])


@pytest.mark.parametrize("seed", range(10))
def test_some_edges_by_themselves_score_moves_as_all_of_them_do(seed):
    """Few samples: as many coordinates show a set as there are samples of all vertices, or fewer, or more."""
    rng = np.random.default_rng(seed)
    f = sw.graphs.GaussianPseudoLikelihood(
        rng.standard_normal((rng.integers(2, 4), rng.integers(3, 6))), ridge=0.01
    )
    kept = np.sort(rng.permutation(f.n)[: rng.integers(2, f.n + 1)])
    support = np.sort(rng.permutation(len(kept))[: rng.integers(1, len(kept) + 1)])
    part, whole = f.restricted(kept).start(support), f.start(kept[support])
    assert part.gradient == pytest.approx(whole.gradient[kept], abs=1e-8)
    (moves,) = sw.Uniform(len(kept), len(support)).moves(support)
    listed = moves.to_list()
    values = [f(kept[move.result(support)]) - whole.value for move in listed.moves()]
    assert part.gains(listed) == pytest.approx(np.array(values), abs=1e-8)
