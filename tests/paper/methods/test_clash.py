"""CLASH equals its plain version; fits within the ball are best there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from benchmarks.reference.neighbours_continuous import clash, coef_in_ball
from benchmarks.reference.neighbours_continuous import onto_l1_ball as plain_projection
from swapwise.clock import Budget
from swapwise.paper.methods.clash import fit_in_ball, onto_l1_ball
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


@settings(max_examples=100)
@given(st.lists(st.floats(-10, 10), max_size=8), st.floats(0, 30))
def test_the_projection_onto_the_ball(values, radius):
    z = np.array(values)
    found = onto_l1_ball(z, radius)
    np.testing.assert_allclose(found, plain_projection(z, radius), atol=1e-9)
    assert np.abs(found).sum() <= radius * (1 + 1e-12) + 1e-12


def test_the_projection_is_nearest():
    rng = np.random.default_rng(0)
    for _ in range(50):
        z, radius = rng.standard_normal(5), float(rng.uniform(0.1, 2))
        found = onto_l1_ball(z, radius)
        others = rng.standard_normal((200, 5))
        others *= radius * rng.random((200, 1)) / np.abs(others).sum(axis=1, keepdims=True)
        assert ((z - found) ** 2).sum() <= ((z - others) ** 2).sum(axis=1).min() + 1e-12
    shaped = onto_l1_ball(rng.standard_normal((3, 2)), 0.5)
    assert shaped.shape == (3, 2)
    assert np.abs(shaped).sum() == pytest.approx(0.5)


@settings(max_examples=30)
@given(SEEDS, st.floats(0.01, 2.0))
def test_fits_within_the_ball_are_best(seed, share):
    rng = np.random.default_rng(seed)
    f, plain = regression(rng)
    support = np.flatnonzero(rng.random(7) < 0.7)
    radius = share * float(np.abs(f.coef(support)).sum())
    found = fit_in_ball(f, support, radius, np.zeros(7), f.start(), Budget())
    assert set(np.flatnonzero(found)) <= set(support)
    assert np.abs(found).sum() <= radius * (1 + 1e-9)
    expected = coef_in_ball(plain, support, radius)
    assert f.value_at(found) >= plain.u(expected) - 1e-8
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_fits_of_likelihoods_within_the_ball_are_stationary():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 6))
    f = sw.Logistic(X, X[:, 0] + 0.5 * rng.standard_normal(80) > 0)
    support = np.arange(5)
    radius = 0.5 * float(np.abs(f.coef(support)).sum())
    found = fit_in_ball(f, support, radius, np.zeros(6), f.start(), Budget())
    gradient = f.gradient_at(found)[support]
    # No vertex of the ball is better along the gradient than the point itself.
    assert radius * np.abs(gradient).max() <= gradient @ found[support] + 1e-6


@pytest.mark.parametrize("kind", CONSTRAINTS)
@settings(max_examples=15)
@given(SEEDS)
def test_it_equals_the_plain_version(kind, seed):
    rng = np.random.default_rng(seed)
    constraint = kind(7, rng)
    f, plain = regression(rng, constraint.n)
    radius = [None, np.inf, float(rng.uniform(0.1, 3))][seed % 3]
    result = sw.maximize(f, constraint, sw.methods.Clash(radius))
    check_record(result, f)
    expected = clash(plain, constraint.is_independent, radius)
    assert set(result.support.tolist()) == expected.support


def test_it_works_everywhere():
    check_everywhere("clash")
    check_everywhere(sw.methods.Clash(0.3))


@settings(max_examples=20)
@given(SEEDS)
def test_degenerate_data(seed):
    rng = np.random.default_rng(seed)
    constraint = CONSTRAINTS[seed % len(CONSTRAINTS)](7, rng)
    f = degenerate(rng, constraint.n)
    check_record(sw.maximize(f, constraint, "clash"), f)


def test_options_are_checked():
    refuses(sw.methods.Clash, {"radius": -1.0}, {"radius": 0.0}, {"radius": "a"}, {"radius": np.nan})
    assert repr(sw.methods.Clash(np.inf)) == "Clash(radius=inf)"
    with pytest.raises(TypeError, match="coefficients and gradients"):
        sw.maximize(sw.Linear([1.0]), sw.Uniform(1, 1), "clash")
