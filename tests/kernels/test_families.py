"""Likelihood families against formulas in plain NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_expit, log_softmax, softmax, xlog1py

from swapwise.kernels import _baseline, _compiled

VERSIONS = {"baseline": _baseline.families, "best": _compiled.families}
SINGLE = ["LOGISTIC", "POISSON", "GAMMA", "NEGATIVE_BINOMIAL"]
ALPHA = 0.7

versions = pytest.mark.parametrize("families", VERSIONS.values(), ids=VERSIONS)
single = pytest.mark.parametrize("name", SINGLE)


def derivatives(families, number, eta, target, weight, basis=None):
    levels, samples = eta.shape
    slope, curve = np.full((levels, samples), np.nan), np.full((levels, levels, samples), np.nan)
    basis = np.ones((1, 1)) if basis is None else basis
    value = families.derivatives((number, ALPHA), eta, target, weight, basis, slope, curve)
    return value, slope, curve


def plain_single(name, eta, y):
    """Return the log-likelihood of each sample, its slope, and minus its curvature."""
    p, q = expit(eta), expit(-eta)
    if name == "LOGISTIC":
        return y * log_expit(eta) + (1 - y) * log_expit(-eta), y * q - (1 - y) * p, p * q
    if name == "POISSON":
        mean = np.exp(np.minimum(eta, 500))
        return y * eta - mean, y - mean, mean
    if name == "GAMMA":
        ratio = y * np.exp(np.minimum(-eta, 500))
        return -ratio - eta, ratio - 1, ratio
    odds, trials = eta + np.log(ALPHA), y + 1 / ALPHA
    p, q = expit(odds), expit(-odds)
    return y * eta + trials * log_expit(-odds), y * q - p / ALPHA, trials * p * q


def targets(rng, name, samples):
    draws = {
        "LOGISTIC": lambda: rng.integers(0, 2, samples).astype(float),
        "GAMMA": lambda: rng.gamma(2.0, size=samples),
    }
    return draws.get(name, lambda: rng.poisson(2.0, samples).astype(float))()


def weights(rng, samples):
    return rng.random(samples) * rng.integers(0, 2, samples)


def class_basis(n_classes):
    """Return orthonormal columns that sum to zero, half of whose entries are zero."""
    basis = np.zeros((n_classes, n_classes - 1))
    for level in range(n_classes - 1):
        basis[: level + 1, level], basis[level + 1, level] = -1.0, level + 1.0
    return basis / np.linalg.norm(basis, axis=0)


@versions
@single
@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    samples=st.integers(1, 13),
    spread=st.sampled_from([0.0, 1.0, 30.0, 1000.0]),
)
def test_derivatives_are_those_of_the_formula(families, name, seed, samples, spread):
    rng = np.random.default_rng(seed)
    y, w, eta = targets(rng, name, samples), weights(rng, samples), spread * rng.standard_normal(samples)
    value, slope, curve = derivatives(families, getattr(families, name), eta[None], y, w)
    terms, slopes, curves = plain_single(name, eta, y)
    size = (w * (np.abs(terms) + np.abs(y * eta))).sum()
    assert value == pytest.approx((w * terms).sum(), rel=0, abs=1e-14 * size)
    np.testing.assert_allclose(slope[0], w * slopes, rtol=1e-14, atol=1e-14 * (w * y).max())
    np.testing.assert_allclose(curve[0, 0], w * curves, rtol=1e-14, atol=1e-300)


@versions
@given(
    seed=st.integers(0, 10**6),
    samples=st.integers(1, 13),
    n_classes=st.integers(2, 6),
    spread=st.sampled_from([0.0, 1.0, 100.0]),
)
def test_derivatives_of_classes_are_those_of_the_formula(families, seed, samples, n_classes, spread):
    rng = np.random.default_rng(seed)
    basis, w = class_basis(n_classes), weights(rng, samples)
    y, eta = rng.integers(0, n_classes, samples), spread * rng.standard_normal((n_classes - 1, samples))
    value, slope, curve = derivatives(families, families.MULTINOMIAL, eta, y.astype(float), w, basis)
    scores = basis @ eta
    p = softmax(scores, axis=0)
    terms = w * log_softmax(scores, axis=0)[y, np.arange(samples)]
    assert value == pytest.approx(terms.sum(), rel=1e-14, abs=1e-14)
    mean = basis.T @ p
    np.testing.assert_allclose(slope, w * (basis[y].T - mean), atol=1e-14)
    plain = w * (np.einsum("ka,kb,ks->abs", basis, basis, p) - mean[:, None] * mean[None])
    upper = np.triu_indices(n_classes - 1)
    np.testing.assert_allclose(curve[upper], plain[upper], atol=1e-14)


@versions
@single
def test_slopes_are_those_of_differences(families, name):
    rng = np.random.default_rng(0)
    y, w, eta = targets(rng, name, 8), rng.random(8), rng.standard_normal(8)
    number, step = getattr(families, name), 1e-5
    _, slope, curve = derivatives(families, number, eta[None], y, w)
    for s, unit in enumerate(np.eye(8)):
        (up, above, _), (down, below, _) = (
            derivatives(families, number, (eta + sign * step * unit)[None], y, w) for sign in (1, -1)
        )
        assert slope[0, s] == pytest.approx((up - down) / (2 * step), abs=1e-8)
        assert curve[0, 0, s] == pytest.approx((below - above)[0, s] / (2 * step), abs=1e-8)


@versions
def test_exponentials_are_right_to_the_last_digits(families):
    eta = np.concatenate([np.linspace(-760, 500, 100_001), np.linspace(-1, 1, 100_001), [-np.inf, 0.0]])
    _, _, curve = derivatives(families, families.POISSON, eta[None], np.zeros_like(eta), np.ones_like(eta))
    expected = np.exp(eta.astype(np.longdouble))
    assert (np.abs(curve[0, 0] - expected) <= 1.2 * np.spacing(expected.astype(float))).all()


@versions
def test_logarithms_are_right_to_the_last_digits(families):
    eta = -np.concatenate([np.geomspace(1e-20, 700, 5001), np.linspace(0, 2, 5001), [0.881373587019543]])
    target, one = np.zeros(8), np.eye(8)[0]  # of eight samples together, one counts
    found = [-derivatives(families, families.LOGISTIC, np.full((1, 8), each), target, one)[0] for each in eta]
    expected = np.log1p(np.exp(eta.astype(np.longdouble)))
    assert (np.abs(np.array(found) - expected) <= 3 * np.spacing(expected.astype(float))).all()


@versions
@single
def test_a_predictor_that_is_no_number_does_not_pass_for_one(families, name):
    eta, y, w = np.array([[0.5, np.nan, -0.5, 0.1, 0.2]]), np.ones(5), np.full(5, 0.2)
    assert np.isnan(derivatives(families, getattr(families, name), eta, y, w)[0])


def test_a_family_needs_a_kernel():
    zeros, cube = np.zeros((1, 2)), np.zeros((1, 1, 2))
    families = _compiled.families
    with pytest.raises(ValueError, match="a family without a kernel"):
        families.derivatives((99, 0.0), zeros, np.zeros(2), np.ones(2), np.ones((1, 1)), zeros, cube)
    with pytest.raises(ValueError, match="a family without a divergence"):
        families.divergences(
            (families.MULTINOMIAL, 0.0), np.zeros(2), np.zeros(2), np.ones(2), np.zeros((1, 2))
        )


def plain_divergences(name, eta, y, w, steps):
    def of_mean(share, z):
        return share * np.where(z <= -1, np.inf, xlog1py(1 + z, np.maximum(z, -1)) - z)

    if name == "POISSON":
        terms = of_mean(np.exp(eta), steps)
    elif name == "GAMMA":
        terms = of_mean(y * np.exp(-eta), -steps)
    else:
        odds, trials = (eta, 1.0) if name == "LOGISTIC" else (eta + np.log(ALPHA), y + 1 / ALPHA)
        p, q = expit(odds), expit(-odds)
        up, down = q * steps, -p * steps
        terms = p * xlog1py(1 + up, np.maximum(up, -1)) + q * xlog1py(1 + down, np.maximum(down, -1))
        terms = trials * np.where((up <= -1) | (down <= -1), np.inf, terms)
    return np.where(w == 0, 0.0, np.where(w == 0, 0.0, terms) * w).sum(axis=1)


@versions
@single
@given(
    seed=st.integers(0, 10**6),
    samples=st.integers(1, 13),
    rows=st.integers(0, 3),
    length=st.sampled_from([0.1, 1.0, 5.0]),
)
def test_divergences_are_those_of_the_formula(families, name, seed, samples, rows, length):
    rng = np.random.default_rng(seed)
    y, w, eta = targets(rng, name, samples), weights(rng, samples), rng.standard_normal(samples)
    steps = length * rng.standard_normal((rows, samples))
    found = families.divergences((getattr(families, name), ALPHA), eta, y, w, steps)
    np.testing.assert_allclose(found, plain_divergences(name, eta, y, w, steps), rtol=1e-12, atol=1e-13)


def test_a_mean_next_to_nothing_cannot_fall_below_nothing():
    families = _compiled.families
    eta, w, steps = np.array([-1e4]), np.ones(1), np.array([[-2.0], [-0.5]])
    found = families.divergences((families.POISSON, 0.0), eta, np.zeros(1), w, steps)
    assert found[0] == np.inf
    assert 0 <= found[1] < 1e-300


def class_steps(seed, samples, n_classes, rows, length):
    rng = np.random.default_rng(seed)
    p = softmax(rng.standard_normal((n_classes, samples)), axis=0)
    steps = length * rng.standard_normal((rows, n_classes - 1, samples))
    return rng, p, class_basis(n_classes), steps


some_steps = given(
    seed=st.integers(0, 10**6),
    samples=st.integers(1, 13),
    n_classes=st.integers(2, 5),
    rows=st.integers(0, 3),
    length=st.sampled_from([0.01, 0.3, 3.0]),
)


@versions
@some_steps
def test_divergences_of_classes_are_bounded(families, seed, samples, n_classes, rows, length):
    rng, p, basis, steps = class_steps(seed, samples, n_classes, rows, length)
    w = weights(rng, samples)
    found = families.class_divergences(p, w, basis, steps)
    scores = np.einsum("ka,ras->rks", basis, steps)
    d = scores - (p * scores).sum(axis=1, keepdims=True)
    exact = np.where(d <= -1, np.inf, xlog1py(1 + d, np.maximum(d, -1)) - d)
    true = np.where(w == 0, 0.0, w * p * np.where(w == 0, 0.0, exact)).sum(axis=(1, 2))
    assert ((found >= true * (1 - 1e-12) - 1e-16) | (found > 1e100)).all()
    if length < 0.1:
        np.testing.assert_allclose(found, true, rtol=1e-3, atol=1e-16)


@versions
@some_steps
def test_steps_are_shortened_where_outcomes_move_too_far(families, seed, samples, n_classes, rows, length):
    rng, p, basis, steps = class_steps(seed, samples, n_classes, rows, length)
    levels, limit, most_rise = n_classes - 1, 0.5, 3.0
    curve = rng.standard_normal((levels, levels, samples))
    chosen, columns = rng.standard_normal((2, samples)), rng.standard_normal((2 * rows, samples))
    begin, given_steps = np.arange(0, 2 * rows + 1, 2), steps.copy()
    lost, lost_own, is_shorter = families.shorten_steps(
        p, basis, curve, chosen, columns, begin, np.arange(rows), steps, limit, most_rise
    )
    scores = np.einsum("ka,ras->rks", basis, given_steps)
    d = scores - (p * scores).sum(axis=1, keepdims=True)
    farthest = np.maximum(-d.min(axis=1), d.max(axis=1) / most_rise)
    share = np.minimum(1.0, limit / farthest)
    np.testing.assert_allclose(steps, given_steps * share[:, None], rtol=1e-12, atol=1e-15)
    assert is_shorter == (farthest > limit).any()
    full = np.triu(curve.transpose(2, 0, 1)).transpose(1, 2, 0)
    full = full + np.triu(curve.transpose(2, 0, 1), 1).transpose(2, 1, 0)
    missing = np.einsum("abs,rbs->ras", full, given_steps) * (1 - share[:, None])
    np.testing.assert_allclose(lost, np.einsum("ras,ks->rak", missing, chosen), atol=1e-11)
    for row in range(rows):
        own = columns[begin[row] : begin[row + 1]]
        np.testing.assert_allclose(lost_own[begin[row] : begin[row + 1]], own @ missing[row].T, atol=1e-11)
