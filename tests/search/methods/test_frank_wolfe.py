"""Frank–Wolfe equals its plain version, and its gap bounds all that the ball allows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import swapwise as sw
from benchmarks.reference.neighbours_continuous import frank_wolfe, independent_sets
from swapwise.search.methods import frank_wolfe as module
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


@pytest.mark.parametrize("kind", CONSTRAINTS)
@settings(max_examples=10)
@given(SEEDS)
def test_it_equals_the_plain_version(kind, seed):
    rng = np.random.default_rng(seed)
    constraint = kind(7, rng)
    f, plain = regression(rng, constraint.n)
    radius = float(rng.uniform(0.2, 3))
    result = sw.maximize(f, constraint, sw.methods.FrankWolfe(radius))
    check_record(result, f)
    expected = frank_wolfe(plain, constraint.is_independent, radius, module.MOST_ROUNDS)
    assert set(result.support.tolist()) == expected.support


def best_in_ball(f, constraint, radius):
    """The largest u(w) with independent support and length up to the radius, by a general solver."""
    best = 0.0
    for S in independent_sets(constraint.is_independent, f.n):
        chosen = list(S)
        coef = f.coef(chosen)
        if np.linalg.norm(coef) > radius:

            def whole(w, chosen=chosen):
                full = np.zeros(f.n)
                full[chosen] = w
                return full

            room = {"type": "ineq", "fun": lambda w: radius**2 - w @ w, "jac": lambda w: -2 * w}
            found = minimize(
                lambda w, whole=whole: -f.value_at(whole(w)),
                coef[chosen] * radius / np.linalg.norm(coef),
                jac=lambda w, whole=whole, chosen=chosen: -f.gradient_at(whole(w))[chosen],
                method="SLSQP",
                constraints=[room],
            )
            length = max(1.0, float(np.linalg.norm(found.x)) / radius)
            coef = whole(found.x / length)
        best = max(best, f.value_at(coef))
    return best


@pytest.mark.parametrize("kind", CONSTRAINTS)
@settings(max_examples=3)
@given(SEEDS)
def test_the_bound_holds_within_the_ball(kind, seed):
    rng = np.random.default_rng(seed)
    constraint = kind(6, rng)
    if seed % 3 == 0:
        X = rng.standard_normal((30, constraint.n))
        f = sw.Logistic(X, X[:, 0] + rng.standard_normal(30) > 0, ridge=0.1)
    else:
        f, _ = regression(rng, constraint.n)
    radius = float(rng.uniform(0.2, 3))
    details = sw.maximize(f, constraint, sw.methods.FrankWolfe(radius)).strategies[-1].details
    assert details["radius"] == radius
    assert details["upper_bound"] >= best_in_ball(f, constraint, radius) - 1e-7
    default = sw.maximize(f, constraint, "frank-wolfe")
    details = default.strategies[-1].details
    if default.status is not sw.Status.ITERATION_LIMIT:
        assert np.linalg.norm(default.coef) <= details["radius"] * (1 + 1e-9)
        assert details["upper_bound"] >= default.value - 1e-9


def test_the_bound_is_tight_where_the_hull_adds_nothing():
    # With all elements allowed, the hull is the ball, and the gap closes to 1 % of the value.
    f, _ = regression(np.random.default_rng(3))
    radius = 2 * float(np.linalg.norm(f.coef(range(7))))
    result = sw.maximize(f, sw.Uniform(7, 7), sw.methods.FrankWolfe(radius))
    assert result.strategies[-1].details["upper_bound"] == pytest.approx(f(range(7)), rel=0.02)
    assert result.support.tolist() == list(range(7))


def test_an_inexact_oracle_still_gives_a_bound():
    rng = np.random.default_rng(5)
    constraint = sw.Intersection(
        *(sw.Partition(rng.integers(0, 3, 6), 1) for _ in range(3)),
        sw.Graphic([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 3)]),
    )
    f, _ = regression(rng, 6)
    details = sw.maximize(f, constraint, sw.methods.FrankWolfe(1.0)).strategies[-1].details
    assert details["upper_bound"] >= best_in_ball(f, constraint, 1.0) - 1e-7


def test_it_works_everywhere():
    check_everywhere("frank-wolfe")
    check_everywhere(sw.methods.FrankWolfe(0.5))


@settings(max_examples=8)
@given(SEEDS)
def test_degenerate_data(seed):
    rng = np.random.default_rng(seed)
    constraint = CONSTRAINTS[seed % len(CONSTRAINTS)](7, rng)
    f = degenerate(rng, constraint.n)
    check_record(sw.maximize(f, constraint, "frank-wolfe"), f)


def test_options_are_checked():
    refuses(sw.methods.FrankWolfe, {"radius": 0.0}, {"radius": -1.0}, {"radius": "a"}, {"radius": np.inf})
    with pytest.raises(TypeError, match="coefficients and gradients"):
        sw.maximize(sw.Linear([1.0]), sw.Uniform(1, 1), "frank-wolfe")
