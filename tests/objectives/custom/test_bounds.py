"""Custom objectives with bounds on coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.coefficient_bounds import read_bounds
from swapwise.objectives.custom.check import check_objective
from tests.objectives.bounded import sets_of, value_by_scipy

seeds = st.integers(0, 10**6)


def logistic(seed, *, with_hessian, ridge=None):
    """The same likelihood written by hand and as the library has it, with the same bounds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 5))
    X[:, 1] = X[:, 0] if seed % 3 == 0 else X[:, 1]
    y = (rng.random(20) < 1 / (1 + np.exp(-X @ rng.standard_normal(5)))).astype(float)
    ridge = float(rng.choice([0.0, 0.01])) if ridge is None else ridge

    def value_and_grad(w):
        eta = X @ w
        value = float((y * eta - np.logaddexp(0.0, eta)).mean()) - ridge * w @ w / 2
        return value, X.T @ (y - 1 / (1 + np.exp(-eta))) / 20 - ridge * w

    def hessian(w):
        p = 1 / (1 + np.exp(-X @ w))
        return -(X.T * (p * (1 - p))) @ X / 20 - ridge * np.eye(5)

    lower, upper = rng.choice([0.0, -0.2, -np.inf], 5), rng.choice([0.0, 0.3, 2.0], 5)
    bounds = list(zip(lower, np.where(lower == -np.inf, 2.0, upper), strict=True))
    f = sw.CustomObjective(value_and_grad, 5, hessian=hessian if with_hessian else None, bounds=bounds)
    return f, sw.Logistic(X, y, ridge, fit_intercept=False, bounds=bounds)


@pytest.mark.parametrize("with_hessian", [False, True])
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
@pytest.mark.filterwarnings("ignore:the classes are separable")
def test_fits_are_the_best_within_the_bounds(with_hessian, seed):
    f, likelihood = logistic(seed, with_hessian=with_hessian)
    for chosen in sets_of(5):
        assert f.bounds is None or f.bounds.hold(f.coef(chosen))
        assert f(chosen) == pytest.approx(likelihood(chosen), abs=1e-9)
        assert f(chosen) >= value_by_scipy(f, chosen) - 1e-9
        assert f.upper_bound(np.array(chosen)) >= likelihood(chosen) - 1e-12
    check_objective(f)
    state = f.start([0, 3])
    inside = f.bounds.projected(f.gradient_at(state.coef), state.coef)
    inside[[0, 3]] = 0.0
    np.testing.assert_allclose(state.gradient, inside)


def test_a_function_may_be_undefined_outside_of_the_bounds():
    def value_and_grad(w):  # utilities of amounts, which cost something
        with np.errstate(all="raise"):
            return float(np.sqrt(1e-2 + w).sum() - w.sum()), 0.5 / np.sqrt(1e-2 + w) - 1

    f = sw.CustomObjective(value_and_grad, 3, bounds=(0, 0.1))
    assert f.coef([0, 1]).tolist() == [0.1, 0.1, 0.0]
    check_objective(f)


def test_a_linear_function_has_its_maximum_at_the_bounds():
    slopes = np.array([1.0, -2.0, 0.5])
    for hessian in (None, lambda w: np.zeros((3, 3))):
        f = sw.CustomObjective(lambda w: (slopes @ w, slopes), 3, hessian=hessian, bounds=(-1, 2))
        assert f.coef([0, 1, 2]).tolist() == [2.0, -1.0, 2.0]
        assert sw.maximize(f, sw.Uniform(3, 2)).value == pytest.approx(4.0)


def test_a_fit_outside_of_the_bounds_does_not_pass_the_check():
    class Careless(SparseObjective):
        n, bounds = 2, read_bounds(None, True, 2)

        def _fit(self, support):
            return float(len(support)) / 2, -np.ones(len(support))

        def value_at(self, coef):
            return float(-coef.sum() - coef @ coef / 2)

        def gradient_at(self, coef):
            return -1.0 - coef

    with pytest.raises(ValueError, match="not within the bounds"):
        check_objective(Careless())


def test_a_fit_that_stops_short_of_a_bound_does_not_pass_the_check():
    class Short(SparseObjective):
        n, bounds = 2, read_bounds((0, 1), False, 2)

        def _fit(self, support):
            return 0.5 * len(support), 0.5 * np.ones(len(support))

        def value_at(self, coef):
            return float(coef.sum())

        def gradient_at(self, coef):
            return np.ones(2)

    with pytest.raises(ValueError, match="not a maximum: the slope at coordinate"):
        check_objective(Short())
