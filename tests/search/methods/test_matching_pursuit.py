"""Orthogonal matching pursuit beside its plain version and scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import OrthogonalMatchingPursuit

import swapwise as sw
from benchmarks.reference import neighbours
from tests.search.methods.problems import (
    CONSTRAINTS,
    MATROIDS,
    OBJECTIVES,
    Plain,
    degenerate,
    family_of,
    problem,
)

pytestmark = pytest.mark.filterwarnings("ignore:of .* chosen columns only")


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_it_is_the_plain_version(objective, constraint, seed):
    f, system = problem(seed, objective, constraint)
    expected = neighbours.omp(Plain(f), family_of(system))
    assert sw.maximize(f, system, "omp").support.tolist() == list(expected)


@pytest.mark.parametrize("constraint", MATROIDS)
@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_forced_elements_and_ties(constraint, seed):
    rng = np.random.default_rng(seed)
    f = sw.LeastSquares(*degenerate(rng))
    system = CONSTRAINTS[constraint](rng, f.n)
    free = np.setdiff1d(np.arange(f.n), system.loops())
    for held in (system, system.contract([int(rng.choice(free))])):
        expected = neighbours.omp(Plain(f), family_of(held))
        assert sw.maximize(f, held, "omp").support.tolist() == list(expected)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_it_is_scikit_learns(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 20)) + 0.5 * rng.standard_normal((30, 1))
    X /= np.linalg.norm(X, axis=0)
    y = X[:, :4] @ rng.standard_normal(4) + 0.1 * rng.standard_normal(30)
    peer = OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False).fit(X, y)
    result = sw.maximize(sw.LeastSquares(X, y), sw.Uniform(20, k), "omp")
    assert result.support.tolist() == np.flatnonzero(peer.coef_).tolist()
    assert result.coef == pytest.approx(peer.coef_, abs=1e-8)


def test_it_ends_when_all_is_explained():
    f = sw.LeastSquares(np.eye(4), [1.0, 0.0, 2.0, 0.0])
    assert sw.maximize(f, sw.Uniform(4, 4), "omp").support.tolist() == [0, 2]
