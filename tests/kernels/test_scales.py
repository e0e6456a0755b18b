"""Shift and scale of columns, against the columns that they make."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swapwise.kernels import moments

CONSTANT = 1e-13


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans())
def test_columns_are_those_of_the_formula(seed, centre, standardize, weighted):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 5)) + rng.integers(-9, 10, 5)
    X[:, 1] = 3.0
    exponent = rng.integers(-3, 4, 5)
    weight = rng.uniform(0.5, 2.0, 12) if weighted else np.ones(12)
    total, unit = float(weight.sum()), np.ldexp(1.0, exponent)
    mean = weight @ X / total
    spread = weight @ (X - mean) ** 2
    mean[1], spread[1] = 3.0, 0.0
    found = moments.scales(mean, spread, exponent, total, CONSTANT, centre, standardize)
    shift, scale, step, factor, square, offset = found

    is_constant, stored = np.arange(5) == 1, X * unit
    deviation = np.where(is_constant, 1.0, np.sqrt(spread / total))
    columns = (stored - shift) / scale
    divided = np.where(is_constant, 1.0, deviation * unit) if standardize else np.ones(5)
    np.testing.assert_allclose(scale, divided, rtol=1e-12)
    np.testing.assert_allclose(shift, mean * unit if centre else np.zeros(5), rtol=1e-12)
    np.testing.assert_allclose((stored - shift) * factor, columns, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(step, factor * unit, rtol=1e-12)
    np.testing.assert_allclose(square, weight @ columns**2, rtol=1e-9, atol=1e-12)
    expected = np.where(is_constant, 0.0, np.abs(mean) / deviation) if centre else np.zeros(5)
    np.testing.assert_allclose(offset, expected, rtol=1e-12)
    assert (factor[1] == 0) == centre


def test_what_varies_in_its_last_digits_only_is_constant():
    mean, exponent = np.array([1.0, 1.0]), np.zeros(2, dtype=np.int64)
    spread = 10 * np.array([0.5e-13, 2e-13]) ** 2
    scale = moments.scales(mean, spread, exponent, 10.0, CONSTANT, True, True)[1]
    np.testing.assert_allclose(scale, [1.0, 2e-13])
