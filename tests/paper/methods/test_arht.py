"""ARHT equals its plain version under a size limit; fits with a ridge are best."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from benchmarks.reference.neighbours_continuous import arht, coef_with_ridge
from swapwise.clock import Budget
from swapwise.objectives.base import element_norms2, embed
from swapwise.paper.methods.arht import fit_with_ridge
from tests.search.methods.method_zoo import (
    CONSTRAINTS,
    check_everywhere,
    degenerate,
    refuses,
    regression,
)
from tests.search.test_record import check_record

pytestmark = pytest.mark.filterwarnings("ignore:.*allows only the empty set")

SEEDS = st.integers(0, 10**6)


@settings(max_examples=60)
@given(SEEDS, st.integers(0, 5))
def test_it_equals_the_plain_version(seed, size):
    rng = np.random.default_rng(seed)
    f, plain = regression(rng, 8)
    result = sw.maximize(f, sw.Uniform(8, size), "arht", random_state=seed)
    check_record(result, f)
    expected = arht(plain, size, f.smoothness(2), np.random.default_rng(seed))
    assert set(result.support.tolist()) == expected.support


@settings(max_examples=30)
@given(SEEDS)
def test_fits_with_a_ridge(seed):
    rng = np.random.default_rng(seed)
    f, plain = regression(rng, ridge=float(rng.integers(0, 2)))
    support = np.flatnonzero(rng.random(7) < 0.6)
    ridge = rng.random(7) * rng.integers(0, 2, 7)
    value, coef = fit_with_ridge(f, support, ridge, np.zeros(7), Budget())
    expected = coef_with_ridge(plain, set(support.tolist()), ridge)
    np.testing.assert_allclose(coef, expected, atol=1e-9)
    assert value == pytest.approx(plain.u(expected) - ridge @ expected**2 / 2, abs=1e-10)


def problems():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 6))
    y = X @ rng.standard_normal(6) + rng.standard_normal(60)
    spins = np.where(rng.random((50, 4)) < 0.5, -1.0, 1.0)
    yield sw.Logistic(X, y > 0)
    yield sw.Poisson(X, np.exp(0.3 * y).round())
    yield sw.Multinomial(X, np.digitize(y, [-1, 1]), ridge=0.1)
    yield sw.LeastSquares(X, y, groups=np.arange(6) // 2)
    yield sw.graphs.IsingPseudoLikelihood(spins)
    yield sw.CustomObjective(lambda w: (w[2] - (w**4).sum(), np.eye(5)[2] - 4 * w**3), n=5)


@pytest.mark.parametrize("f", list(problems()), ids=lambda f: type(f).__name__)
def test_fits_of_any_objective_with_a_ridge_are_stationary(f):
    support, ridge = np.array([0, 2]), np.zeros(f.n)
    ridge[0] = 0.7
    value, coef = fit_with_ridge(f, support, ridge, np.zeros_like(f.coef([0])), Budget())
    rows = embed(f, support, np.ones_like(f._fit(support)[1])) != 0
    of_row = np.zeros(len(coef))
    of_row[
        (embed(f, np.array([0]), np.ones_like(f._fit(np.array([0]))[1])) != 0).reshape(len(coef), -1)[:, 0]
    ] = 0.7
    slope = f.gradient_at(coef) - of_row.reshape(-1, *(1,) * (coef.ndim - 1)) * coef
    assert np.abs(slope[rows]).max() < 1e-5
    assert not coef[~rows].any()
    assert value == pytest.approx(f.value_at(coef) - ridge @ element_norms2(f, coef) / 2, abs=1e-9)
    assert value <= f(support) + 1e-9


@pytest.mark.parametrize("kind", CONSTRAINTS)
@settings(max_examples=10)
@given(SEEDS)
def test_it_ends_with_a_maximal_set(kind, seed):
    rng = np.random.default_rng(seed)
    constraint = kind(7, rng)
    f, _ = regression(rng, constraint.n)
    result = sw.maximize(f, constraint, "arht", random_state=seed)
    check_record(result, f)
    assert not constraint.addable(result.support).any()
    assert result.strategies[-1].details["regularised"] == 0


def test_it_works_everywhere():
    check_everywhere("arht")


def test_the_same_seed_gives_the_same_answer():
    f, _ = regression(np.random.default_rng(0), 8)
    first, second = (sw.maximize(f, sw.Uniform(8, 3), "arht") for _ in range(2))
    assert [event.added for event in first.history] == [event.added for event in second.history]


@settings(max_examples=20)
@given(SEEDS)
def test_degenerate_data(seed):
    rng = np.random.default_rng(seed)
    constraint = CONSTRAINTS[seed % len(CONSTRAINTS)](7, rng)
    f = degenerate(rng, constraint.n)
    check_record(sw.maximize(f, constraint, "arht"), f)


def test_options_are_checked():
    refuses(sw.methods.ARHT, {"smoothness": 0.0}, {"smoothness": "local"}, {"smoothness": None})
    unknown = sw.CustomObjective(lambda w: (w[0] - w @ w / 2, np.eye(3)[0] - w), n=3)
    with pytest.raises(TypeError, match=r"ARHT\(smoothness=...\)"):
        sw.maximize(unknown, sw.Uniform(3, 1), "arht")
    result = sw.maximize(unknown, sw.Uniform(3, 1), sw.methods.ARHT(smoothness=1.0))
    assert result.support.tolist() == [0]
