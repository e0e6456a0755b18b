"""Exactly collinear columns, as in tables of people: sums of others, dummies of all levels, copies."""

import warnings
from itertools import combinations

import numpy as np
import pytest

import swapwise as sw
from swapwise.certify import leaf
from swapwise.certify.frank_wolfe import FrankWolfeRelaxation, ScaledCholesky
from swapwise.certify.root import relaxed_root
from swapwise.constraints.region import Region
from swapwise.objectives.quadratic import Quadratic

CONSTRAINTS = {
    "size": lambda n, k: sw.Uniform(n, k),
    "sizes at least": lambda n, k: sw.Uniform(n, k, at_least=k),
    "groups": lambda n, k: sw.Partition(np.arange(n) % k, 1),
    "costs": lambda n, k: sw.Knapsack(2.0 + np.arange(n) % 2, 2.0 * k + 1.0),
    "pairs": lambda n, k: sw.Intersection(sw.Conflicts(n, [(0, 2), (5, 6), (6, 7)]), sw.Uniform(n, k)),
}


def wages(seed, n=120, n_regions=5, n_others=0):
    """Age is schooling + experience + 6, regions make up the whole, two of them the south; and copies."""
    rng = np.random.default_rng(seed)
    others = rng.standard_normal((n, n_others))
    schooling, age = np.clip(rng.normal(13, 2.5, n).round(), 4, 18), rng.integers(24, 35, n)
    experience, score = age - schooling - 6, rng.normal(100, 15, n)
    regions = (rng.integers(0, n_regions, n)[:, None] == np.arange(n_regions)).astype(float)
    married = (rng.random(n) < 0.7).astype(float)
    south = regions[:, 3] + regions[:, 4]
    X = np.column_stack(
        [
            schooling,
            age,
            experience,
            score,
            2 * score,
            regions,
            south,
            married,
            married**2,
            schooling**2,
            others,
        ]
    )
    y = 0.07 * schooling + 0.08 * experience - 0.05 * south + 0.003 * score + 0.05 * married
    y += 0.04 * regions[:, 1] + rng.normal(0, 0.3, n)
    return (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()


@pytest.mark.parametrize("make", CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_proofs_find_the_best_set(make):
    for seed in range(3):
        X, y = wages(seed)
        f, constraint = sw.LeastSquares(X, y), make(X.shape[1], 4)
        sets = (list(chosen) for size in range(5) for chosen in combinations(range(f.n), size))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of sets that are collinear
            best = max(f(chosen) for chosen in sets if constraint._is_answer(chosen))
        result = sw.exact(f, constraint)
        assert result.status == sw.Status.OPTIMAL
        assert result.value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("make", CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_bounds_hold_where_nothing_is_enumerated(make, monkeypatch):
    for seed in range(3):
        X, y = wages(seed)
        f, constraint = sw.LeastSquares(X, y), make(X.shape[1], 3)
        best = sw.exact(f, constraint).value
        with monkeypatch.context() as without:
            without.setattr(leaf, "MOST_SETS", 0)
            assert sw.certify(f, constraint, max_nodes=1).upper_bound >= best
            result = sw.exact(f, constraint, max_nodes=15)
        assert result.certificate.upper_bound >= best
        assert result.value <= best + 1e-9


@pytest.mark.parametrize("name", ["size", "groups", "costs", "pairs"])
def test_proofs_take_few_parts(name):
    X, y = wages(1, 1000, n_regions=9, n_others=6)
    result = sw.exact(sw.LeastSquares(X, y), CONSTRAINTS[name](X.shape[1], 7), max_nodes=100)
    assert result.status == sw.Status.OPTIMAL


def test_dummies_of_all_levels_leave_a_basis():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (200, 3))
    X = np.column_stack([(factor[:, None] == np.arange(4)).astype(float) for factor in factors.T])
    y = X @ rng.standard_normal(12) + rng.standard_normal(200)
    f, constraint = sw.LeastSquares(X - X.mean(axis=0), y - y.mean()), sw.Uniform(12, 5)
    assert relaxed_root(f, Region.of(constraint)) is not None
    assert sw.exact(f, constraint).status == sw.Status.OPTIMAL


@pytest.mark.parametrize("make", CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_nothing_overflows(make):
    X, y = wages(1, 300, n_regions=9, n_others=6)
    f, constraint = sw.LeastSquares(X, y), make(X.shape[1], 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = sw.maximize(f, constraint)
        assert sw.certify(f, constraint, result, max_nodes=3).upper_bound >= result.value
        sw.exact(f, constraint, max_nodes=3)
        sw.SparseRegressor(constraint).fit(X, y).certify(X, y, max_nodes=3)


def test_products_that_rounding_leaves_indefinite():
    X, y = wages(0)
    H, slope = X.T @ X / len(X), X.T @ y / len(X)
    eigenvalues, vectors = np.linalg.eigh(H)
    tied = vectors[:, eigenvalues < 1e-10]
    objective = Quadratic(H - 1e-13 * tied @ tied.T, slope + tied.sum(axis=1) * 1e-14)
    D = np.where(np.abs(tied).max(axis=1) < 1e-9, 1e-3, 0.0)
    relaxation = FrankWolfeRelaxation(objective, Region.of(sw.Uniform(len(H), 4)), D)
    assert np.abs(relaxation.coef).max() < 10
    assert 0 < relaxation.dual.bound < 0.1


def test_factors_leave_out_what_others_span():
    columns = np.random.default_rng(0).standard_normal((10, 3))
    columns = np.column_stack([columns, columns.sum(axis=1), np.zeros(10)])
    matrix, right = columns.T @ columns, columns.T @ np.arange(10.0)
    solved = ScaledCholesky.of(matrix).solve(right)
    np.testing.assert_allclose(matrix @ solved, right, atol=1e-10)
    assert np.abs(solved).max() < 100
