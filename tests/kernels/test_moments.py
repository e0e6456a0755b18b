"""Sums over the samples in one pass, against sums in more digits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise.data.dense import DenseMatrix
from swapwise.kernels import moments

LAYOUTS = {"rows": np.ascontiguousarray, "columns": np.asfortranarray}


def sums_of(X, layout, weight, origin, first, last):
    """Return the two sums that a kernel fills in, with NaN where it fills in nothing."""
    sums, squares = np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    if layout == "rows":
        moments.by_rows(np.ascontiguousarray(X), weight, origin, first, last, sums, squares)
    else:
        moments.by_columns(np.ascontiguousarray(X.T), weight, origin, first, last, sums, squares)
    return sums, squares


def plain_sums(X, weight, origin):
    rest, w = X.astype(np.longdouble) - origin, weight.astype(np.longdouble)[:, None]
    return (w * rest).sum(axis=0), (w * rest**2).sum(axis=0), (w * np.abs(rest)).sum(axis=0)


@settings(max_examples=100)
@given(
    seed=st.integers(0, 10**6),
    samples=st.integers(1, 14),
    n=st.integers(1, 6),
    layout=st.sampled_from(list(LAYOUTS)),
    kind=st.sampled_from([np.float64, np.float32]),
    data=st.data(),
)
def test_sums_are_those_of_the_formula(seed, samples, n, layout, kind, data):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((samples, n)) * 10.0 ** rng.integers(-3, 4, n)).astype(kind)
    weight, origin = rng.random(samples) * 10.0 ** rng.integers(-9, 3), rng.standard_normal(n)
    first = data.draw(st.integers(0, n))
    last = data.draw(st.integers(first, n))
    sums, squares = sums_of(X, layout, weight, origin, first, last)
    expected, expected_squares, size = plain_sums(X, weight, origin)
    inside = (np.arange(n) >= first) & (np.arange(n) < last)
    assert (np.abs(sums - expected)[inside] <= 1e-14 * size[inside]).all()
    np.testing.assert_allclose(squares[inside], expected_squares[inside].astype(float), rtol=1e-13)
    assert np.isnan(sums[~inside]).all()
    assert np.isnan(squares[~inside]).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_more_columns_than_a_block_holds(layout, extra):
    n = 2 * moments.BLOCK + extra
    X = np.random.default_rng(0).integers(-9, 10, (5, n)).astype(float)
    weight, origin = np.arange(1.0, 6.0), np.arange(n) % 7.0
    sums, squares = sums_of(X, layout, weight, origin, 0, n)
    expected, expected_squares, _ = plain_sums(X, weight, origin)
    np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(squares, expected_squares)


@given(
    st.integers(0, 10**6), st.integers(2, 12), st.sampled_from(list(LAYOUTS)), st.sampled_from([0, 1e3, 1e8])
)
def test_offsets_do_no_harm_to_the_spread(seed, samples, layout, offset):
    rng = np.random.default_rng(seed)
    X = offset + rng.integers(-20, 21, (samples, 4)) / 4
    weight = rng.uniform(0.1, 2, samples)
    mean, spread = DenseMatrix(LAYOUTS[layout](X)).moments(weight)
    w = weight.astype(np.longdouble)
    true = w @ X / w.sum()
    np.testing.assert_allclose(mean, true.astype(float), rtol=1e-15, atol=1e-14)
    # Entries are quarters: what the oracle makes of a constant column is the rounding of its mean.
    np.testing.assert_allclose(spread, (w @ (X - true) ** 2).astype(float), rtol=1e-12, atol=1e-15)
    assert not spread[np.ptp(X, axis=0) == 0].any()
