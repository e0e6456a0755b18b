"""Nearly collinear columns: values, local optima and proofs follow one convention, in both precisions."""

from itertools import combinations

import numpy as np
import pytest

import swapwise as sw
from swapwise.data.open import open_design
from swapwise.numerics import FLOAT32_PRECISION, FLOAT64_PRECISION

pytestmark = pytest.mark.filterwarnings("ignore:.*linearly independent", "ignore:.*chosen columns span")

DISTANCES = [1e-2, 3e-4, 1e-4, 1e-5, 1e-6, 1.2e-7, 6e-8, 5e-8, 1e-8, 1e-9]
PRECISIONS = [np.float32, np.float64]
PAIRS = list(combinations(range(6), 2))


def near_duplicates(seed, distance, precision):
    """Two columns that are all but the same, and a response along their difference."""
    rng = np.random.default_rng(seed)
    first, along = rng.standard_normal((2, 40))
    X = np.column_stack([first, first + distance * along, rng.standard_normal((40, 4))]).astype(precision)
    return X, along + 0.3 * rng.standard_normal(40)


def long_double_value(X, y, chosen, precision):
    """R² of columns that are known up to ``precision``, by Gram–Schmidt in long doubles."""
    y, columns = y.astype(np.longdouble), X[:, list(chosen)].astype(np.longdouble)
    below = np.diag(precision * np.sqrt((columns**2).sum(axis=0)))
    rest, basis = np.append(y, np.zeros(len(chosen), dtype=np.longdouble)), []
    for column in np.vstack([columns, below]).T:
        for _ in range(2):
            for unit in basis:
                column = column - unit * (unit @ column)
        basis.append(column / np.sqrt(column @ column))
        rest = rest - basis[-1] * (basis[-1] @ rest)
    return float(1 - rest @ rest / (y @ y))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("distance", DISTANCES)
def test_values_are_those_of_long_doubles(precision, distance):
    for seed in range(4):
        X, y = near_duplicates(seed, distance, precision)
        f = sw.LeastSquares(X, y)
        known = FLOAT32_PRECISION if precision == np.float32 else FLOAT64_PRECISION
        for pair in PAIRS:
            expected = long_double_value(X, y, pair, known)
            assert f(pair) == pytest.approx(expected, abs=1e-16 / distance + 1e-12)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("distance", DISTANCES)
def test_no_proof_contradicts_a_value(precision, distance):
    constraint = sw.Uniform(6, 2)
    for seed in range(8):
        X, y = near_duplicates(seed, distance, precision)
        f = sw.LeastSquares(X, y)
        best = max(map(f, PAIRS))
        result = sw.exact(f, constraint)
        assert result.value == pytest.approx(best, rel=1e-8)
        assert result.status == "OPTIMAL" or result.certificate.doubt
        # Nor what the columns would explain if every digit of theirs counted, which f does not say.
        at_their_word = max(long_double_value(X, y, pair, 1e-14) for pair in PAIRS)
        for certificate in (result.certificate, sw.certify(f, constraint, [2, 3])):
            assert certificate.upper_bound >= best * (1 - 2e-9)
            assert certificate.upper_bound >= at_their_word * (1 - 1e-6)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("start", ["empty", "arbitrary", [2, 3]])
def test_no_local_optimum_has_a_better_neighbour(precision, distance, start):
    for seed in range(8):
        X, y = near_duplicates(seed, distance, precision)
        f = sw.LeastSquares(X, y)
        result = sw.maximize(f, sw.Uniform(6, 2), "oblivious", start=start)
        assert result.status == "LOCAL_OPTIMUM"
        neighbours = [pair for pair in PAIRS if len({*pair} & {*result.support.tolist()}) == 1]
        least = 4e-6 if precision == np.float32 else 1e-8
        assert max(map(f, neighbours)) <= result.value + least


def test_the_grey_zone_is_named():
    X, y = near_duplicates(0, 5e-8, np.float64)
    f, constraint = sw.LeastSquares(X, y), sw.Uniform(6, 2)
    certificate = sw.certify(f, constraint, [2, 3])
    assert not certificate.optimal
    assert certificate.doubt.startswith("the value of [0, 1] is only known to lie between")
    coef = np.zeros(6)
    coef[:2] = np.linalg.lstsq(X[:, :2], y, rcond=None)[0]
    assert f.value_at(coef) <= certificate.upper_bound


def test_coefficients_that_live_on_missing_digits_are_not_worth_more_than_the_value():
    for distance in (1e-6, 5e-8, 1e-9):
        X, y = near_duplicates(0, distance, np.float64)
        f = sw.LeastSquares(X, y)
        coef = np.zeros(6)
        coef[:2] = np.linalg.lstsq(X[:, :2], y, rcond=None)[0]
        assert f.value_at(coef) <= f([0, 1]) + 1e-7


def test_the_estimator_proves_nothing_false_in_single_precision():
    X, y = near_duplicates(8, 1e-4, np.float32)
    best = sw.SparseRegressor(2, start=[0, 1]).fit(X, y).score(X, y)
    model = sw.SparseRegressor(2).fit(X, y)
    certificate = model.certify(X, y)
    assert certificate.upper_bound >= best * (1 - 1e-6)
    assert not certificate.optimal or model.score(X, y) >= best - 1e-6


@pytest.mark.parametrize("noise", [3e-4, 1e-4])
def test_smooth_spectra_in_single_precision(noise):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        grid, peaks = np.linspace(0, 1, 25), rng.random(6)
        shapes = np.exp(-((grid - peaks[:, None]) ** 2) / 0.05)
        X = (rng.random((60, 6)) @ shapes + noise * rng.standard_normal((60, 25))).astype(np.float32)
        y = X[:, [3, 9, 15, 21]] @ rng.standard_normal(4) + 0.01 * rng.standard_normal(60)
        f, constraint = sw.LeastSquares(X, y - y.mean()), sw.Uniform(25, 4)
        result = sw.exact(f, constraint, time_limit=5)
        starts = ("empty", "arbitrary", "greedy")
        found = max(sw.maximize(f, constraint, start=start).value for start in starts)
        assert result.certificate.upper_bound >= found * (1 - 2e-9)
        assert result.status != "OPTIMAL" or result.value >= found * (1 - 2e-9)


def test_exact_duplicates_and_dummies_are_still_proven():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8))
    X[:, 1], X[:, 4] = 3 * X[:, 0], X[:, 2] + X[:, 3]
    f = sw.LeastSquares(X, rng.standard_normal(30))
    for size in (2, 3, 4):
        assert sw.exact(f, sw.Uniform(8, size)).status == "OPTIMAL"


def test_proofs_do_not_rely_on_products_that_a_search_made_in_single_precision():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6)).astype(np.float32)
    f = sw.LeastSquares(X, rng.standard_normal(200), sample_weight=rng.random(200))
    f.design.products(np.arange(6))  # as a search does that looks at every column
    exact = sw.LeastSquares(X.astype(float), f.design.target, sample_weight=f.design._weight)
    H = f.hessian_at(np.zeros(6), np.arange(6)) * f.total / 2
    np.testing.assert_allclose(H, exact.design.gram_of_all(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e4, 4e7])
def test_shifted_columns_are_no_copies_while_their_digits_differ(shift):
    first, along = np.random.default_rng(0).standard_normal((2, 40))
    others = np.random.default_rng(1).standard_normal((40, 3))
    X = np.column_stack([first, first + 3e-8 * along, others]) + shift
    apart = (X[:, 1] - X[:, 0]) / 3e-8
    design = open_design(X, apart - apart.mean(), centre=True, standardize=True)
    f = sw.LeastSquares.of_design(design)
    for result in (sw.exact(f, sw.Uniform(5, 2)), sw.exact(f, sw.Uniform(5, 2), max_nodes=0)):
        assert result.certificate.upper_bound >= f([0, 1]) > 0.9
    assert f.copies().tolist() == list(range(5))
