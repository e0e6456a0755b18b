"""The fit on a few columns, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise.kernels import fits

MOST = 1e3


def problem(seed, size, samples, penalty):
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((size, samples)) * 10.0 ** rng.integers(-3, 4, size)[:, None]
    squares = (columns**2).sum(axis=1)
    return columns, rng.standard_normal(samples), squares, penalty * squares


@given(st.integers(0, 10**6), st.integers(1, 9), st.sampled_from([0.0, 1e-20, 0.3]))
def test_the_fit_is_that_of_the_normal_equations(seed, size, penalty):
    columns, y, squares, penalty = problem(seed, size, 60, penalty)
    inverse, weights, rest = fits.by_products(columns, y, squares + penalty, penalty, MOST)
    units = np.diag(1.0 / np.sqrt(squares))
    expected = units @ np.linalg.inv(units @ (columns @ columns.T + np.diag(penalty)) @ units) @ units
    np.testing.assert_allclose(inverse, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    augmented = np.hstack([columns, np.diag(np.sqrt(penalty))]).T
    lengths = np.sqrt(squares)
    solution = np.linalg.lstsq(augmented / lengths, np.append(y, np.zeros(size)), rcond=None)[0] / lengths
    np.testing.assert_allclose(weights * lengths, solution * lengths, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rest, np.append(y, np.zeros(size)) - augmented @ weights, rtol=0, atol=1e-12)


def test_a_step_of_refinement_makes_up_for_the_condition_of_the_products():
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((6, 100))
    columns[1] = columns[0] + 1e-4 * columns[1]
    y = columns.sum(axis=0)
    _, weights, _ = fits.by_products(columns, y, (columns**2).sum(axis=1), np.zeros(6), 1e10)
    np.testing.assert_allclose(weights, 1.0, rtol=0, atol=1e-11)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 0.01])
def test_nothing_where_rounding_would_spoil_it(noise):
    rng = np.random.default_rng(1)
    columns = rng.standard_normal((3, 40))
    columns[2] = columns[0] + noise * columns[2]
    squares = (columns**2).sum(axis=1)
    assert fits.by_products(columns, columns[0], squares, np.zeros(3), MOST) is None
    assert (fits.by_products(columns, columns[0], squares, np.zeros(3), 1e6) is None) == (noise < 0.01)


def test_a_column_of_zeros_has_no_fit():
    columns = np.vstack([np.ones(4), np.zeros(4)])
    assert fits.by_products(columns, np.ones(4), np.array([4.0, 0.0]), np.zeros(2), MOST) is None
