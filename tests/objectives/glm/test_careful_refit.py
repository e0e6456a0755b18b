"""Likelihoods on data that are hard to fit: values are the true ones, or said not to be."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import swapwise as sw
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ArrayChunks
from swapwise.kernels import glm
from swapwise.moves import MoveList
from swapwise.objectives.glm import careful_refit, fitter, likelihood
from swapwise.objectives.glm.careful_refit import OrthonormalBasis, RefitProblem

# Columns with a mean of a million and no intercept. Newton steps by inner products ended at
# 0.310 for the first and third, at 0.149 for all three; the maxima are 0.436 and 0.437.
MILLIONS = np.array(
    [
        [1000000.5625, 999999.3125, 999999.875],
        [1000000.0625, 999997.625, 999999.125],
        [999998.9375, 999999.0625, 999997.25],
        [1000001.0, 1000000.9375, 1000000.0],
    ]
)
CLASSES = np.array([0.0, 1.0, 1.0, 1.0])


def by_least_squares(X, y, ridge):
    """Return the value of a logistic regression without intercept, by Newton steps that are least squares."""
    n, k = X.shape

    def value(w):
        return float(-np.logaddexp(0.0, np.where(y > 0, -1.0, 1.0) * (X @ w)).mean() - ridge * w @ w / 2)

    w, reached = np.zeros(k), value(np.zeros(k))
    for _ in range(100):
        p = 1 / (1 + np.exp(-X @ w))
        root = np.sqrt(np.maximum(p * (1 - p), 1e-12) / n)
        rows = np.vstack([X * root[:, None], np.sqrt(ridge) * np.eye(k)])
        step = np.linalg.lstsq(rows, np.append((y - p) / n / root, -np.sqrt(ridge) * w), rcond=1e-15)[0]
        while value(w + step) < reached and np.abs(step).max() > 1e-14:
            step /= 2
        w, reached = w + step, max(reached, value(w + step))
    return reached + np.log(2.0)


@pytest.mark.parametrize("in_blocks", [False, True])
def test_columns_with_huge_means_have_their_true_values(in_blocks):
    X = ChunkedMatrix(ArrayChunks(MILLIONS, 2)) if in_blocks else MILLIONS
    f = sw.Logistic(X, CLASSES, ridge=0.001, fit_intercept=False)
    # That columns are known to ten digits is a penalty of its own, (1e-10 · 1e6)², next to the ridge.
    for support in ([0, 2], [0, 1, 2]):
        expected = by_least_squares(MILLIONS[:, support], CLASSES, 0.001 + 1e-8)
        assert f(support) == pytest.approx(expected, abs=1e-8)
    assert f([0, 1, 2]) > f([0, 2]) > 0.43


def test_an_intercept_is_found_where_the_likelihood_is_flat_on_the_way():
    y = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    offset = np.array([30.0, -109.0, 92.0, 235.0, -88.0, 35.0])
    weight = np.array([1e-6, 0.1, 1e-6, 1e-6, 0.1, 1e-7]) / 0.2000031
    f = sw.Logistic(np.eye(6), y, 0.1, sample_weight=weight, offset=offset)
    sign = np.where(y > 0, 1.0, -1.0)
    best = minimize_scalar(
        lambda b: weight @ np.logaddexp(0.0, -sign * (offset + b)), bounds=(90, 150), options={"xatol": 1e-9}
    )
    assert f.likelihood.null == pytest.approx(-best.fun, rel=1e-9)


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-5, 1e-6, 1e-7])
def test_what_near_copies_differ_by_is_fitted(distance):
    rng = np.random.default_rng(0)
    x, d, noise = rng.standard_normal((3, 40))
    y = d + 0.3 * noise
    close = np.column_stack([x, x + distance * d])
    f = sw.LeastSquares(close, y, groups=[0, 1])
    # The second column is rounded to 1e-16, and known to 1e-10.
    expected = sw.LeastSquares(np.column_stack([x, d]), y, groups=[0, 1])([0, 1])
    assert f([0, 1]) == pytest.approx(expected, abs=1e-8 + 1e-19 / distance**2)


def degenerate(rng):
    """Return columns, weights, offset, ridge and whether there is an intercept."""
    n, p = int(rng.integers(3, 14)), 4
    X = rng.standard_normal((n, p))
    if rng.random() < 0.5:
        a, b = rng.choice(p, 2, replace=False)
        X[:, a] = X[:, b] + 10.0 ** -rng.integers(2, 10) * rng.standard_normal(n)
    if rng.random() < 0.4:
        X += 10.0 ** rng.integers(2, 8)
    if rng.random() < 0.2:
        X[:, rng.integers(p)] = rng.choice([0.0, 1.0, 1e6])
    if rng.random() < 0.2:
        X *= 10.0 ** rng.integers(-6, 7, p)
    weight = 10.0 ** -rng.integers(0, 9, n).astype(float) if rng.random() < 0.4 else None
    offset = rng.standard_normal(n) * 10.0 ** rng.integers(-1, 3) if rng.random() < 0.2 else None
    return X, weight, offset, float(rng.choice([0.0, 0.0, 1e-12, 1e-8, 1e-3])), bool(rng.random() < 0.6)


def make(kind, rng):
    X, weight, offset, ridge, fit_intercept = degenerate(rng)
    n = len(X)
    if kind == "groups":
        return sw.LeastSquares(X, rng.standard_normal(n), ridge, sample_weight=weight, groups=[0, 1, 2, 2])
    if kind == "multinomial":
        y = np.append(np.arange(3), rng.integers(0, 3, n - 3))
        return sw.Multinomial(X, y, ridge, sample_weight=weight, fit_intercept=fit_intercept)
    counts = "poisson" in kind
    y = rng.poisson(1.0, n) if counts else rng.integers(0, 2, n)
    data = ChunkedMatrix(ArrayChunks(X, 5)) if "blocks" in kind else X
    family = sw.Poisson if counts else sw.Logistic
    return family(data, y, ridge, sample_weight=weight, offset=offset, fit_intercept=fit_intercept)


# Seeds for which Newton's method on the columns as they are gives a set less than one of its subsets.
SEEDS = {
    "logistic": [1, 13, 25, 27, 28, 39, 41, 43],
    "poisson": [9, 27, 28, 37, 41, 61, 76, 100],
    "multinomial": [0, 1, 9, 13, 27, 31, 49, 76],
    "groups": [13, 20, 27, 38, 44, 60, 76, 77],
    "logistic in blocks": [1, 13, 25, 27, 28, 39, 41, 43],
    "poisson in blocks": [9, 27, 28, 37, 41, 61, 76],
}


@pytest.mark.filterwarnings("ignore:the classes are separable", "ignore:some counts", "ignore:y is explained")
@pytest.mark.filterwarnings("ignore:the fit on the set")
@pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind in SEEDS for seed in SEEDS[kind]])
def test_a_set_is_worth_no_less_than_its_subsets(kind, seed):
    f = make(kind, np.random.default_rng(seed))
    values = {S: f(S) for size in range(f.n + 1) for S in combinations(range(f.n), size)}
    for S, value in values.items():
        for dropped in S:
            assert value >= values[tuple(e for e in S if e != dropped)] - 1e-9 * f.scale


@pytest.mark.parametrize("seed", [3, 5, 6, 7])
def test_spins_of_very_different_sizes_are_fitted(seed):
    rng = np.random.default_rng(seed)
    spins = rng.standard_normal((12, 4)) * [1.0, 0.1, 100.0, 10.0]
    f = sw.graphs.IsingPseudoLikelihood(spins, fields=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the data are separable")
        warnings.filterwarnings("error", message=".* did not converge")
        values = {S: f(S) for size in range(3) for S in combinations(range(f.n), size)}
    for S, value in values.items():
        assert all(value >= values[tuple(e for e in S if e != dropped)] - 1e-12 for dropped in S)


# -- refits that do not converge ------------------------------------------------------------------------


def regression(rng):
    X = rng.standard_normal((60, 5))
    return sw.Logistic(X, rng.random(60) < 1 / (1 + np.exp(-2 * X[:, 0])), 1e-3)


def graph(rng):
    return sw.graphs.IsingPseudoLikelihood(
        np.sign(rng.standard_normal((40, 4)) + rng.standard_normal((40, 1))), 1e-3
    )


@pytest.fixture
def one_step(monkeypatch):
    """Have all refits end after a step or two."""
    monkeypatch.setattr(likelihood, "MAX_STEPS", 1)
    monkeypatch.setattr(fitter, "MAX_STEPS", 1)
    monkeypatch.setattr(careful_refit, "MOST_BASES", 0)
    monkeypatch.setattr("swapwise.graphs.ising.samples.MAX_STEPS", 2)


@pytest.mark.usefixtures("one_step")
@pytest.mark.filterwarnings(r"ignore:the fit on the set \[\]")
@pytest.mark.parametrize(("model", "named"), [(regression, "set"), (graph, "edges")])
def test_a_refit_that_does_not_converge_is_reported_once_with_its_set(model, named):
    f = model(np.random.default_rng(0))
    f._warned_of_convergence = False  # the fit of the intercept alone may have said it of the empty set
    with pytest.warns(
        UserWarning, match=rf"the fit on the {named} \[.+\] did not converge: its value may be"
    ):
        f([0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f([1, 2])


@pytest.mark.usefixtures("one_step")
@pytest.mark.filterwarnings("ignore:the fit on the")
@pytest.mark.parametrize("model", [regression, graph])
def test_a_move_gains_what_it_was_said_to_even_if_refits_do_not_converge(model):
    f = model(np.random.default_rng(0))
    for added, dropped in ((3, -1), (4, 0), (1, 2)):
        state = f.start([0, 2])
        moves = MoveList(np.array([[added]]), np.array([[dropped]]))
        before, gain = state.value, float(state.gains(moves)[0])
        state.apply(moves.move(0))
        assert state.value == before + gain or state.value == pytest.approx(before + gain, abs=1e-15)
    assert sw.maximize(f, sw.Uniform(f.n, 2), "oblivious", start="empty").status is not sw.Status.INTERRUPTED


# -- the basis ------------------------------------------------------------------------------------------


def test_a_basis_changes_coordinates_and_nothing_else():
    rng = np.random.default_rng(0)
    columns = np.vstack([rng.standard_normal((3, 20)) + 1e3, np.ones(20)])
    columns[1] = columns[0] + 1e-4 * columns[1]
    weight, ridge = rng.random(20), np.array([0.1, 0.1, 0.1, 0.0])
    problem = RefitProblem(lambda eta: (0.0, eta, eta), columns, np.zeros((1, 20)), weight, ridge, 1e-14)
    basis = OrthonormalBasis(problem, weight)
    theta = rng.standard_normal((4, 1))
    point = basis.coordinates(theta)
    np.testing.assert_allclose(basis.parameters(point), theta, rtol=1e-9)
    np.testing.assert_allclose(point.T @ basis.columns, theta.T @ columns, rtol=1e-12)
    assert basis.penalty @ point[:, 0] ** 2 == pytest.approx(ridge @ theta[:, 0] ** 2, rel=1e-9)
    inner = (basis.columns * weight) @ basis.columns.T + np.diag(basis.penalty)
    np.testing.assert_allclose(inner, np.eye(4), atol=1e-12)


@pytest.mark.filterwarnings("ignore:the classes are separable")
@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_coefficients_have_the_value_they_come_with_even_if_they_run_away(seed, in_blocks):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((9, 5)), rng.integers(0, 2, 9)
    data = ChunkedMatrix(ArrayChunks(X, 4)) if in_blocks else X
    weight, offset = 10.0 ** -rng.integers(0, 8, 9), 100 * rng.standard_normal(9)
    f = sw.Logistic(data, y, sample_weight=weight, offset=offset)
    assert f.value_at(f.coef(range(5))) == pytest.approx(f(range(5)), rel=1e-9, abs=1e-12)


def test_a_slope_without_curvature_is_not_the_end_of_a_refit():
    # As between two classes that are certain, and wrong: the curvature underflows, the slope does not.
    step, missed = glm.definite_solution(np.diag([2.0, 0.0]), np.array([1.0, 1.0]))
    np.testing.assert_allclose(step, [0.5, 0.0], rtol=1e-15)
    assert missed == np.inf
    assert glm.definite_solution(np.diag([2.0, 0.0]), np.array([1.0, 0.0]))[1] == 0.0


def test_a_copy_of_a_column_misses_nothing_and_a_near_copy_does():
    for apart, is_missed in ((0.0, False), (1e-7, True)):
        columns = np.array([[1.0, 0.0], [1.0, apart]])
        _, missed = glm.definite_solution(columns @ columns.T, columns @ [0.0, 1.0])
        assert (missed > 1e-6) == is_missed
