"""Line searches may step far: values are then very low, and nothing is not a number."""

import numpy as np
import pytest

import swapwise as sw

KINDS = [sw.Logistic, sw.Poisson, sw.Gamma, sw.NegativeBinomial, sw.Multinomial]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("length", [30.0, 700.0, 1e4, 1e10, 1e60])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_numbers(kind, fit_intercept, length):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), rng.permutation(np.arange(30) % 3)
    y = y > 0 if kind is sw.Logistic else y + 0.5 if kind is sw.Gamma else y
    f = kind(X, y, 0.01, fit_intercept=fit_intercept)
    coef = length * rng.standard_normal(f.coef([]).shape)
    value, gradient = f.value_and_gradient_at(coef)
    assert value == pytest.approx(f.value_at(coef))
    assert value < 0
    assert np.isfinite(gradient).all()
    assert (gradient * (coef / length)).sum() < 0  # which leads back
    hessian = f.hessian_at(coef, np.arange(4))
    assert np.isfinite(hessian).all()
    assert np.linalg.eigvalsh(hessian)[0] >= 0.01 - 1e-9 * np.abs(hessian).max()
