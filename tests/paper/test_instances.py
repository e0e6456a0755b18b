"""The generators of instances make what they say, and the same from the same seed."""

import numpy as np
import pytest

from swapwise.paper.instances import pairs, paper_ising, paper_regression

pytestmark = pytest.mark.experiments


def degrees(instance, n_vertices):
    tail, head = pairs(n_vertices)
    ends = np.concatenate([tail[instance.edges], head[instance.edges]])
    return np.bincount(ends, minlength=n_vertices)


def boltzmann(n_vertices, couplings):
    """Return all states and their probabilities, the states in binary order."""
    tail, head = pairs(n_vertices)
    states = 1.0 - 2.0 * np.array(list(np.ndindex(*(2,) * n_vertices)))
    weights = np.exp((states[:, tail] * states[:, head]) @ couplings)
    return states, weights / weights.sum()


class TestRegression:
    def test_shapes_and_true_features(self):
        instance = paper_regression(random_state=0)
        assert instance.X.shape == (50, 200)
        assert instance.y.shape == (50,)
        assert np.bincount(instance.labels).tolist() == [40] * 5
        assert np.bincount(instance.labels[instance.support]).tolist() == [5] * 5
        assert np.flatnonzero(instance.coef).tolist() == instance.support.tolist()

    def test_features_are_standardised(self):
        X = paper_regression(random_state=1).X
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(X.std(axis=0), 1)

    def test_without_noise_the_truth_explains_everything(self):
        instance = paper_regression(noise=0.0, random_state=2)
        np.testing.assert_allclose(instance.X @ instance.coef, instance.y)

    def test_noise_has_the_wanted_size(self):
        instance = paper_regression(10, 20_000, n_true=1, noise=0.7, random_state=3)
        assert np.std(instance.y - instance.X @ instance.coef) == pytest.approx(0.7, rel=0.03)

    def test_seeds(self):
        first, again, other = (paper_regression(random_state=seed) for seed in (7, 7, 8))
        assert np.array_equal(first.X, again.X)
        assert np.array_equal(first.y, again.y)
        assert not np.array_equal(first.y, other.y)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_features": 201}, "n_features must be divisible by n_categories.*201 features and 5"),
            ({"n_features": 0}, "at least 1, got 0 and 5"),
            ({"n_categories": 0}, "at least 1, got 200 and 0"),
            ({"n_true": 41}, "n_true must be at most the size of a category, 40; got 41"),
            ({"n_samples": 1}, "n_samples must be at least 2.*got 1"),
            ({"noise": -1}, "noise must be a non-negative number, got -1"),
            ({"n_samples": -3}, "n_samples must be a non-negative integer, got -3"),
        ],
    )
    def test_errors(self, options, message):
        with pytest.raises(ValueError, match=message):
            paper_regression(**options)


class TestPairs:
    @pytest.mark.parametrize("n_vertices", [0, 1, 2, 7])
    def test_lexicographic_order(self, n_vertices):
        tail, head = pairs(n_vertices)
        listed = list(zip(tail.tolist(), head.tolist(), strict=True))
        assert listed == [(i, j) for i in range(n_vertices) for j in range(i + 1, n_vertices)]


class TestIsing:
    @pytest.mark.parametrize(("n_vertices", "degree"), [(10, 5), (20, 7), (9, 4), (6, 5), (5, 0), (1, 0)])
    def test_every_vertex_has_the_degree(self, n_vertices, degree):
        for seed in range(5):
            instance = paper_ising(n_vertices, degree, n_samples=3, random_state=seed, burn_in=1, thin=1)
            assert degrees(instance, n_vertices).tolist() == [degree] * n_vertices
            assert np.array_equal(instance.edges, np.unique(instance.edges))
            assert instance.spins.shape == (3, n_vertices)

    def test_couplings_are_on_the_edges_and_of_both_signs(self):
        instance = paper_ising(20, 7, coupling=0.3, random_state=0)
        assert np.flatnonzero(instance.couplings).tolist() == instance.edges.tolist()
        values, counts = np.unique(instance.couplings[instance.edges], return_counts=True)
        assert values.tolist() == [-0.3, 0.3]
        assert counts.min() > 20  # of 70

    def test_spins_are_signs(self):
        spins = paper_ising(random_state=0).spins
        assert spins.shape == (100, 10)
        assert set(np.unique(spins)) == {-1.0, 1.0}

    def test_seeds(self):
        first, again, other = (paper_ising(random_state=seed) for seed in (7, 7, 8))
        for name in ("spins", "edges", "couplings"):
            assert np.array_equal(getattr(first, name), getattr(again, name))
            assert not np.array_equal(getattr(first, name), getattr(other, name))

    def test_graphs_differ_and_all_pairs_occur(self):
        seen = {tuple(paper_ising(6, 3, n_samples=0, random_state=seed).edges) for seed in range(40)}
        assert len(seen) > 20  # of the 70 graphs on six named vertices
        assert set().union(*seen) == set(range(15))

    def test_long_chains_are_cut_into_stretches(self):
        """2500 sweeps in one go, or as 1000 + 1000 + 500: the random numbers are the same."""
        whole = paper_ising(4, 3, n_samples=1, random_state=0, burn_in=2500, thin=1)
        parts = paper_ising(4, 3, n_samples=2501, random_state=0, burn_in=0, thin=1)
        assert np.array_equal(whole.spins[0], parts.spins[2500])

    @pytest.mark.parametrize(("n_vertices", "degree"), [(2, 1), (3, 2), (4, 3)])
    @pytest.mark.parametrize("coupling", [0.5, 1.0])
    def test_gibbs_samples_follow_the_boltzmann_law(self, n_vertices, degree, coupling):
        instance = paper_ising(n_vertices, degree, coupling, n_samples=20_000, random_state=1, thin=20)
        states, probability = boltzmann(n_vertices, instance.couplings)
        binary = (instance.spins < 0) @ (1 << np.arange(n_vertices)[::-1])
        counts = np.bincount(binary, minlength=len(states))
        # Four standard deviations of independent counts, doubled since samples are nearly so only.
        bound = 8 * np.sqrt(probability * (1 - probability) / 20_000)
        assert np.all(np.abs(counts / 20_000 - probability) < bound)

    def test_spins_without_coupling_are_coins(self):
        spins = paper_ising(10, 3, coupling=0.0, n_samples=4000, random_state=0, thin=1).spins
        assert np.abs(spins.T @ spins / 4000 - np.eye(10)).max() < 0.08

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_vertices": 9}, "degree times n_vertices must be even.*got degree 5 and 9 vertices"),
            ({"degree": 10}, "degree must be below n_vertices; got degree 10 and 10 vertices"),
            ({"n_vertices": 0, "degree": 0}, "degree must be below n_vertices; got degree 0 and 0"),
            ({"thin": 0}, "thin must be at least 1.*got 0"),
            ({"coupling": -0.5}, "coupling must be a non-negative number, got -0.5"),
            ({"burn_in": -1}, "burn_in must be a non-negative integer, got -1"),
        ],
    )
    def test_errors(self, options, message):
        with pytest.raises(ValueError, match=message):
            paper_ising(**options)
