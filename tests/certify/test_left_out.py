"""Sets of nearly all columns, enumerated by those that are left out: none is missed, and few are too many."""

from itertools import combinations

import numpy as np
import pytest

import swapwise as sw
from swapwise.certify.left_out import sets_left_out
from tests.certify.problem_zoo import enumeration


def products(rng, n, share):
    """Return the products of columns of which so much is common, and of a response, all of length 1."""
    X = (1 - share) * rng.standard_normal((3 * n, n)) + share * rng.standard_normal((3 * n, 1))
    y = X @ rng.standard_normal(n) + rng.standard_normal(3 * n)
    X, y = X / np.linalg.norm(X, axis=0), y / np.linalg.norm(y)
    return X.T @ X, X.T @ y


def explained(gram, slope, kept):
    return slope[kept] @ np.linalg.solve(gram[np.ix_(kept, kept)], slope[kept])


@pytest.mark.parametrize("share", [0.0, 0.9, 0.99])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4])
def test_those_above_the_floor_are_found(size, share):
    rng = np.random.default_rng(size)
    gram, slope = products(rng, 9, share)
    may_leave = rng.random(9) < 0.8
    values = {
        left: explained(gram, slope, np.setdiff1d(np.arange(9), left))
        for left in combinations(np.flatnonzero(may_leave).tolist(), size)
    }
    for floor in np.quantile(list(values.values()), [0.0, 0.5, 0.9]) - 1e-9:
        found = sets_left_out(gram, slope, may_leave, size, floor, 1e-13, lambda: None)
        found = [tuple(left.tolist()) for left in found]
        assert {left for left in values if values[left] > floor} <= set(found)
        most = 1.06 * (explained(gram, slope, np.arange(9)) - floor)
        assert all(explained(gram, slope, np.arange(9)) - values[left] <= most for left in found)
        assert len(set(found)) == len(found)


def test_collinear_columns_are_left_to_others():
    gram, slope = products(np.random.default_rng(0), 5, 0.5)
    gram[:, 1], slope[1] = gram[:, 0], slope[0]
    gram[1] = gram[0]
    gram[1, 1] = 1.0 - 1e-15
    assert sets_left_out(gram, slope, np.ones(5, dtype=bool), 1, 0.0, 1e-13, lambda: None) is None


@pytest.mark.parametrize("noise", [1e-3, 1e-4, 1e-5])
def test_of_nearly_collinear_columns_no_set_is_lost(noise):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 7)) @ rng.standard_normal((7, 10)) + noise * rng.standard_normal(
            (30, 10)
        )
        y = X @ rng.standard_normal(10) + 0.01 * rng.standard_normal(30)
        objective = sw.LeastSquares(X, y)
        best = max(objective(chosen) for chosen in combinations(range(10), 7))
        found = sw.exact(objective, sw.Uniform(10, 7))
        assert found.value >= best - 2e-9 or not found.certificate.optimal


def hardly_different(n, seed=1):
    """Return columns that are sums of those before, with a trend: hard for bounds."""
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.standard_normal((3 * n, n)), axis=1) + 20 * np.linspace(0, 1, 3 * n)[:, None]
    return sw.LeastSquares(X, X @ rng.standard_normal(n) + 20 * rng.standard_normal(3 * n))


def test_nearly_all_of_many_columns_are_chosen_at_once():
    """There are 1,313,400 sets of 197 columns out of 200, and few of them lose little."""
    certificate = sw.certify(hardly_different(200), sw.Uniform(200, 197), max_nodes=1, time_limit=None)
    assert certificate.optimal


@pytest.mark.parametrize("constraint", [sw.Uniform(14, 11), sw.Partition(np.arange(14) % 2, 6)])
def test_it_is_the_best_of_all_sets(constraint):
    objective = hardly_different(14)
    best = sw.maximize(objective, constraint, "exhaustive")
    found = sw.exact(objective, constraint)
    with enumeration(closed_form=False):
        branched = sw.exact(objective, constraint)
    assert found.status == branched.status == "OPTIMAL"
    assert found.value == pytest.approx(best.value, rel=1e-8)
    assert branched.value == pytest.approx(best.value, rel=1e-8)
