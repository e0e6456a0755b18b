"""Bounds on one vertex at a time: from patterns, against those from the samples."""

from itertools import combinations

import numpy as np
import pytest

import swapwise as sw
from swapwise.graphs.ising.many_neighbours import best_shares
from swapwise.kernels import neighbourhoods

pytestmark = pytest.mark.filterwarnings("ignore:.*separable", "ignore:.*never changes sign")


def spins_with_twins(random, n_samples):
    """Return spins of seven vertices: one is constant, two are equal, two opposite."""
    spins = np.sign(random.standard_normal((n_samples, 7)) + random.standard_normal((n_samples, 1)))
    spins[:, 1], spins[:, 3], spins[:, 5] = 1.0, spins[:, 2], -spins[:, 4]
    return spins


@pytest.mark.parametrize("ridge", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("fields", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_patterns_and_samples_prove_the_same(ridge, fields, weighted):
    random = np.random.default_rng(3)
    weight = random.integers(0, 3, 60) if weighted else None
    spins = spins_with_twins(random, 60)
    objective = sw.graphs.IsingPseudoLikelihood(spins, ridge, fields, sample_weight=weight)
    for summand in objective.summands(objective.coef([0, 4, 9])):
        for size in range(1, 5):
            sets = np.array(list(combinations(range(6), size)))
            by_patterns, by_samples = summand.bounds(sets), summand._bounds(sets)
            # Twins predict each other without error: there is no maximum then without ridge.
            has_maximum = np.abs(by_samples + summand._at_zero) > 1e-6
            assert has_maximum.any() or summand._at_zero > -1e-6 or ridge == 0
            np.testing.assert_allclose(by_patterns[has_maximum], by_samples[has_maximum], atol=1e-8)


def test_patterns_prove_no_less_than_the_fit():
    """The fit of one vertex, by many steps along the gradient, comes up to the bound."""
    random = np.random.default_rng(0)
    objective = sw.graphs.IsingPseudoLikelihood(spins_with_twins(random, 30), ridge=0.1, fields=True)
    summand = objective.summands(objective.coef([0, 3]))[2]
    sets = np.array(list(combinations(range(6), 3)))
    for subset, bound in zip(sets, summand.bounds(sets), strict=True):
        (signals,), (prices,), ridge = summand._design(subset[None])
        beta = np.zeros(4)
        for _ in range(3000):
            wrong = 1 / (1 + np.exp(2 * beta @ signals))
            beta += 0.3 * (2 * signals @ wrong / 30 - ridge / 2 * beta + prices)
        value = -np.logaddexp(0, -2 * beta @ signals).mean() - ridge @ beta**2 / 4 + prices @ beta
        assert value - summand._at_zero == pytest.approx(bound, abs=1e-7)


def test_other_numbers_and_large_sets_are_fitted_to_the_samples():
    random = np.random.default_rng(1)
    spins = np.sign(random.standard_normal((40, 14)))
    size = neighbourhoods.MOST_SIGNALS + 1
    plain, halved = (
        sw.graphs.IsingPseudoLikelihood(each, ridge=0.1).summands(np.zeros(91))[0]
        for each in (spins, spins / 2)
    )
    assert halved._negative is None
    for summand in (plain, halved):
        sets = np.arange(size)[None]
        np.testing.assert_array_equal(summand.bounds(sets), summand._bounds(sets))


@pytest.mark.parametrize("total", range(6))
def test_shares_are_the_best(total):
    """No small exchange between two shares lowers the sum of squares over shares."""
    sizes = np.array([3.0, 0.1, 2.0, 0.7, 0.7])
    shares = best_shares(sizes, total)
    assert shares.sum() == pytest.approx(total, abs=1e-3)
    if total:
        cost = (sizes**2 / shares).sum()
        for i, j in combinations(range(5), 2):
            for step in (-1e-3, 1e-3):
                moved = shares + step * (np.eye(5)[i] - np.eye(5)[j])
                if moved.min() > 0 and moved.max() <= 1:
                    assert (sizes**2 / moved).sum() >= cost - 1e-9


@pytest.mark.filterwarnings("ignore:.*separable", "ignore:.*never changes sign")
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_a_spin_that_a_field_explains_is_bounded_by_a_perfect_prediction(ridge):
    """It cannot be predicted any better; probabilities of 1e-12 of being wrong are rounding."""
    spins = np.ones((5, 4))
    spins[0, 1:] = -1.0
    summand = sw.graphs.IsingPseudoLikelihood(spins, ridge, fields=True).summands(np.zeros(6))[0]
    bound, _ = summand.bound_among(np.array([], dtype=np.intp), np.arange(3), (0, 2), np.zeros(3))
    assert bound >= -1e-15
