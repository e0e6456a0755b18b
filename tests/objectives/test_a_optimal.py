from __future__ import annotations

import warnings

import numpy as np
import pytest

import swapwise as sw
from swapwise.moves import Move
from tests.contracts.objective_zoo import subsets


def plain(X: np.ndarray, prior: np.ndarray, noise: float, chosen) -> float:
    after = prior + sum((np.outer(X[i], X[i]) / noise**2 for i in chosen), np.zeros_like(prior))
    return float(np.trace(np.linalg.inv(prior)) - np.trace(np.linalg.inv(after)))


@pytest.mark.parametrize("prior", [1e-3, 2.0, "matrix"])
def test_value_is_the_variance_that_is_gone(prior: float | str) -> None:
    rng = np.random.default_rng(0)
    X, root = rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    precision = root @ root.T + np.eye(3) if prior == "matrix" else prior * np.eye(3)
    f = sw.AOptimal(X, precision if prior == "matrix" else prior, noise=0.5)
    for chosen in subsets(f.n):
        assert f(chosen) == pytest.approx(plain(X, precision, 0.5, chosen), rel=1e-9)


@pytest.mark.parametrize(("prior", "noise"), [(1e-8, 1.0), (1e-3, 1.0), (1.0, 1.0), (1e-6, 1e-8)])
def test_gains_are_differences_however_weak_the_prior(prior: float, noise: float) -> None:
    """With a weak prior or little noise, few experiments have leverages of almost one."""
    rng = np.random.default_rng(1)
    f = sw.AOptimal(rng.normal(size=(9, 4)), prior, noise)
    for size in (1, 3, 4, 6):
        support = np.arange(size)
        state = f.start(support)
        (grid,) = sw.Uniform(9, size).moves(support)
        gains = np.array([f(move.result(support)) - f(support) for move in grid.to_list().moves()])
        np.testing.assert_allclose(state.gains(grid.to_list()), gains, rtol=1e-6, atol=1e-9 * f.scale)
        np.testing.assert_allclose(state.gains(grid), grid.spread(gains), rtol=1e-6, atol=1e-9 * f.scale)
        state.apply(Move((8,), (0,)))
        assert state.value == pytest.approx(f([*range(1, size), 8]))


def left(X: np.ndarray, chosen) -> float:
    """Return the variance that experiments leave where there is no prior."""
    return float(np.trace(np.linalg.inv(X[chosen].T @ X[chosen])))


@pytest.mark.filterwarnings("ignore:the prior is so weak")
@pytest.mark.parametrize("prior", [1e-8, 1e-10, 1e-12, 1e-14])
def test_designs_are_as_good_however_weak_the_prior(prior: float) -> None:
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((30, 4))
        weak, strong = (
            sw.maximize(sw.AOptimal(X, each), sw.Uniform(30, 6)).support for each in (prior, 1e-4)
        )
        assert left(X, weak) <= 1.01 * left(X, strong)


@pytest.mark.parametrize("size", [4, 5, 7])
def test_swaps_keep_the_digits_of_what_is_left(size: int) -> None:
    """Also of as many experiments as parameters, where a drop by itself would leave one to the prior."""
    X = np.random.default_rng(3).standard_normal((9, 4))
    support = np.arange(size)
    state = sw.AOptimal(X, 1e-12).start(support)
    (grid,) = sw.Uniform(9, size).moves(support)
    listed = grid.to_list()
    lost = [left(X, support) - left(X, move.result(support)) for move in listed.moves()]
    np.testing.assert_allclose(state.gains(grid), grid.spread(np.array(lost)), rtol=1e-6)
    np.testing.assert_allclose(state.gains(listed), lost, rtol=1e-6)


def test_a_prior_that_leaves_proofs_few_digits_is_named() -> None:
    X = np.random.default_rng(1).standard_normal((10, 3))
    with pytest.warns(UserWarning, match=r"values of designs are known to ±0\.027 only, .* but proofs take"):
        sw.AOptimal(X, 1e-13)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.AOptimal(X, 1e-9)


def test_no_poor_design_is_proven_optimal_however_weak_the_prior() -> None:
    X = np.random.default_rng(1).standard_normal((10, 3))
    for prior in (1e-4, 1e-7, 1e-10):
        f, four = sw.AOptimal(X, prior), sw.Uniform(10, 4)
        best = sw.exact(f, four)
        assert best.status == "OPTIMAL"
        assert left(X, best.support) == pytest.approx(
            min(left(X, list(S)) for S in subsets(10) if len(S) == 4)
        )
        poor = sw.certify(f, four, [0, 1, 2, 3])
        assert left(X, [0, 1, 2, 3]) > 1.1 * left(X, best.support)
        assert not poor.optimal
        np.testing.assert_array_equal(poor.better, best.support)


def test_it_is_not_submodular() -> None:
    f = sw.AOptimal([[1.0, -2.0], [-2.0, 1.0], [-1.0, 1.0]])
    assert f([0, 1, 2]) - f([1, 2]) > f([0, 2]) - f([2]) + 0.08
    assert not f.submodular


def test_wrong_input_is_named() -> None:
    X = np.eye(2)
    with pytest.raises(ValueError, match="prior must be a number or of shape"):
        sw.AOptimal(X, np.eye(3))
    with pytest.raises(ValueError, match="positive definite"):
        sw.AOptimal(X, [[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="symmetric"):
        sw.AOptimal(X, [[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(ValueError, match="noise"):
        sw.AOptimal(X, noise=0.0)
    with pytest.raises(ValueError, match="prior"):
        sw.AOptimal(X, prior=0.0)


def test_searches_find_the_best_design_of_small_problems() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        f, matroid = sw.AOptimal(rng.normal(size=(9, 3))), sw.Partition(np.arange(9) % 3, 1)
        best = sw.maximize(f, matroid, "exhaustive").value
        for method in ("oblivious", "distorted"):
            assert 0.9 * best <= sw.maximize(f, matroid, method).value <= best + 1e-12
