"""The oracle has to be right itself: cases small enough to check by hand."""

from itertools import combinations

import numpy as np
import pytest

from benchmarks.reference.local_search import best_singleton_start, local_search, neighbourhood
from benchmarks.reference.simple import exhaustive, greedy
from swapwise.paper.plain import PlainLeastSquares
from swapwise.paper.plain.search import arbitrary_start, modular, random_residual_greedy

VARIANTS = ["oblivious", "semi-oblivious", "non-oblivious"]


def at_most(k):
    return lambda S: len(S) <= k


def one_of_each_pair(S):
    """0 1 | 2 3 | 4 5 ...: one of each two."""
    return len({x // 2 for x in S}) == len(S)


def random_instance(seed, n=6, samples=8, ridge=0.0):
    rng = np.random.default_rng(seed)
    return PlainLeastSquares(rng.normal(size=(samples, n)), rng.normal(size=samples), ridge)


class TestLeastSquares:
    def test_orthonormal_columns_add_up(self):
        f = PlainLeastSquares(np.eye(4)[:, :3], [3, 2, 1, 1])
        assert f.value([]) == 0
        assert f.value({0}) == pytest.approx(9 / 15)
        assert f.value([2, 0]) == pytest.approx(10 / 15)
        np.testing.assert_allclose(f.coef([0, 2]), [3, 0, 1], atol=1e-12)

    def test_ridge_by_hand(self):
        # One column a = 1 with y = 1 and ridge 1: w = 1/2, and 1 − (1/4 + 1/4) = 1/2.
        f = PlainLeastSquares([[1.0]], [1.0], ridge=1.0)
        assert f.coef([0])[0] == pytest.approx(0.5)
        assert f.value([0]) == pytest.approx(0.5)

    def test_weights_count_as_repetitions(self):
        rng = np.random.default_rng(0)
        A, y = rng.normal(size=(4, 2)), rng.normal(size=4)
        weighted = PlainLeastSquares(A, y, 0.3, sample_weight=[2, 1, 0, 1])
        repeated = PlainLeastSquares(A[[0, 0, 1, 3]], y[[0, 0, 1, 3]], 0.3)
        assert weighted.value([0, 1]) == pytest.approx(repeated.value([0, 1]))
        np.testing.assert_allclose(weighted.coef([0, 1]), repeated.coef([0, 1]))

    def test_no_centring(self):
        assert PlainLeastSquares([[1.0], [1.0]], [5.0, 5.0]).value([0]) == pytest.approx(1)

    @pytest.mark.parametrize("ridge", [0.0, 0.7])
    def test_gradient_is_that_of_u(self, ridge):
        f = random_instance(1, ridge=ridge)
        w = np.random.default_rng(2).normal(size=f.n)
        h = 1e-6
        differences = [(f.u(w + h * e) - f.u(w - h * e)) / (2 * h) for e in np.eye(f.n)]
        np.testing.assert_allclose(f.gradient(w), differences, rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize("ridge", [0.0, 0.7])
    def test_gradient_vanishes_on_the_support(self, ridge):
        f = random_instance(3, ridge=ridge)
        np.testing.assert_allclose(f.gradient(f.coef([1, 4]))[[1, 4]], 0, atol=1e-12)

    def test_smoothness_of_unit_columns(self):
        # Unit columns with inner product 0.6, ‖y‖² = 2: the pair's block is [[1, 0.6], [0.6, 1]].
        f = PlainLeastSquares([[1, 0.6], [0, 0.8]], [1, 1])
        assert f.move_smoothness(None, 1) == pytest.approx(1)
        assert f.move_smoothness(0, 1) == pytest.approx(1.6)


class TestNeighbourhood:
    def test_swaps_only_from_a_maximal_set(self):
        assert neighbourhood({0, 2}, one_of_each_pair, 4) == [(1, 0), (3, 2)]

    def test_additions_come_before_drops(self):
        expected = [(1, 0), (2, None), (2, 0), (3, None), (3, 0)]
        assert neighbourhood({0}, one_of_each_pair, 4) == expected

    def test_without_needless_drops(self):
        expected = [(1, 0), (2, None), (3, None)]
        assert neighbourhood({0}, one_of_each_pair, 4, needless_drops=False) == expected


class TestStarts:
    def test_arbitrary(self):
        assert arbitrary_start(one_of_each_pair, 6) == {0, 2, 4}

    def test_best_singleton_is_completed_in_index_order(self):
        weights = [1, 5, 9, 2]
        assert best_singleton_start(lambda S: sum(weights[x] for x in S), at_most(2), 4) == {0, 2}

    def test_best_singleton_is_independent(self):
        def without_2(S):
            return 2 not in S and len(S) <= 1

        weights = [1, 5, 9, 2]
        assert best_singleton_start(lambda S: sum(weights[x] for x in S), without_2, 4) == {1}


class TestLocalSearch:
    def test_linear_function_by_hand(self):
        weights = [1, 2, 3, 4]
        out = local_search(
            lambda S: sum(weights[x] for x in S), one_of_each_pair, 4, "oblivious", {0, 2}, T=10
        )
        assert out.support == {1, 3}
        assert out.trace == [(1, 0, 5.0), (3, 2, 6.0)]  # both gain 1: the smaller index goes first

    def test_from_the_empty_set(self):
        weights = [1, 2, 3, 4]
        out = local_search(lambda S: sum(weights[x] for x in S), one_of_each_pair, 4, "oblivious", [], T=10)
        assert out.trace == [(3, None, 4.0), (1, None, 6.0)]

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_no_iterations(self, variant):
        f = random_instance(0)
        out = local_search(f, at_most(2), 6, variant, {0, 1}, T=0, M=1)
        assert out == ({0, 1}, f.value([0, 1]), [])

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_orthonormal_columns(self, variant):
        # y = (1, 2, 3, 4) on the unit vectors: gains are squares over 30, and M = 2/30 is exact.
        f = PlainLeastSquares(np.eye(4), [1, 2, 3, 4])
        out = local_search(f, at_most(2), 4, variant, {0, 1}, T=10, M=2 / f.total)
        assert out.support == {2, 3}
        assert [move[:2] for move in out.trace] == [(3, 0), (2, 1)]
        assert [move[2] for move in out.trace] == pytest.approx([20 / 30, 25 / 30])

    def test_semi_oblivious_drops_the_smallest_coefficient(self):
        # w = (3, 1) on the set {0, 1}, but a long column 1 makes it the one worth keeping.
        f = PlainLeastSquares([[1, 0, 0], [0, 10, 0], [0, 0, 1]], [3, 10, 4])
        semi = local_search(f, at_most(2), 3, "semi-oblivious", {0, 1}, T=10)
        assert semi.trace == []  # only dropping 1 is tried, which loses 100 to win 16
        full = local_search(f, at_most(2), 3, "oblivious", {0, 1}, T=10)
        assert [move[:2] for move in full.trace] == [(2, 0)]

    def test_non_oblivious_score_by_hand(self):
        # Orthonormal: g = 2y/30 off the set, w = y on it. With M = 6/30, three times too large,
        # swapping 1 for 3 scores ((8/30)² / (12/30)) − (6/30)/2 · 2² = (64/12 − 12)/30 < 0: no move.
        f = PlainLeastSquares(np.eye(4), [1, 2, 3, 4])
        careful = local_search(f, at_most(1), 4, "non-oblivious", {1}, 10, M=6 / 30)
        assert careful.trace == []
        tight = local_search(f, at_most(1), 4, "non-oblivious", {1}, 10, M=2 / 30)
        assert tight.support == {3}

    def test_non_oblivious_takes_a_constant_for_each_move(self):
        f = random_instance(5)
        out = local_search(f, at_most(3), 6, "non-oblivious", [], T=50, M=f.move_smoothness)
        X, value = set(), 0.0
        for added, dropped, after in out.trace:
            w = f.coef(X)
            M = f.move_smoothness(dropped, added)
            lost = 0.0 if dropped is None else w[dropped] ** 2
            promised = f.gradient(w)[added] ** 2 / (2 * M) - M / 2 * lost
            assert after - value >= promised - 1e-12 > 0  # what the theorem's proof rests on
            X, value = X - {dropped} | {added}, after
        assert out.support == X

    def test_non_oblivious_needs_a_constant(self):
        with pytest.raises(ValueError, match="needs M"):
            local_search(random_instance(0), at_most(1), 6, "non-oblivious", [], T=1)

    def test_unknown_variant(self):
        with pytest.raises(ValueError, match="'best'"):
            local_search(random_instance(0), at_most(1), 6, "best", [], T=1)

    @pytest.mark.parametrize("seed", range(5))
    def test_oblivious_ends_where_no_swap_helps(self, seed):
        f = random_instance(seed)
        X = local_search(f, at_most(3), 6, "oblivious", [], T=100, tol=1e-12).support
        for out, into in ((a, b) for a in X for b in set(range(6)) - X):
            assert f.value(X - {out} | {into}) <= f.value(X) + 1e-12

    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("seed", range(5))
    def test_needless_drops_change_nothing(self, variant, seed):
        f = random_instance(seed)
        runs = [
            local_search(f, one_of_each_pair, 6, variant, [], 50, f.move_smoothness, None, 1e-12, needless)
            for needless in (True, False)
        ]
        assert runs[0] == runs[1]


class TestGeometricRule:
    def test_first_pair_that_is_good_enough(self):
        # f = 1 on {0}; rank 1, so δ = ε. Adding 1 gives 1.3, adding 2 gives 2.
        weights = [1.0, 1.3, 2.0]

        def f(S):
            return sum(weights[x] for x in S)

        assert local_search(f, at_most(1), 3, "oblivious", {0}, 1, epsilon=0.25).support == {1}
        assert local_search(f, at_most(1), 3, "oblivious", {0}, 1, epsilon=0.5).support == {2}
        assert local_search(f, at_most(1), 3, "oblivious", {0}, 1, epsilon=1.5).support == {0}

    def test_delta_is_epsilon_over_the_rank(self):
        # From {0, 1} with f = 10, swapping 2 for 0 gains 1 = δ f(X) exactly when δ = 0.1, ε = 0.2.
        weights = [5.0, 5.0, 6.0]

        def f(S):
            return sum(weights[x] for x in S)

        assert local_search(f, at_most(2), 3, "oblivious", {0, 1}, 1, epsilon=0.19).support == {1, 2}
        assert local_search(f, at_most(2), 3, "oblivious", {0, 1}, 1, epsilon=0.21).support == {0, 1}

    def test_semi_oblivious_and_non_oblivious(self):
        # Orthonormal: gains of swapping are (y'² − y²)/14; M = 2/14 makes the surrogate exact.
        f = PlainLeastSquares(np.eye(3), [1, 2, 3])
        for variant in ("semi-oblivious", "non-oblivious"):
            low = local_search(f, at_most(1), 3, variant, {0}, 1, M=2 / 14, epsilon=2.9)
            high = local_search(f, at_most(1), 3, variant, {0}, 1, M=2 / 14, epsilon=3.1)
            assert (low.support, high.support) == ({1}, {2})


class TestOthers:
    def test_greedy_is_not_modular(self):
        # Columns 0 and 1 are the same, 2 is orthogonal and weaker alone.
        f = PlainLeastSquares([[1, 1, 0], [0, 0, 1]], [2, 1])
        assert greedy(f, at_most(2), 3).support == {0, 2}
        assert modular(f, at_most(2), 3).support == {0, 1}

    def test_modular_respects_the_matroid(self):
        weights = [1, 2, 4, 3]
        assert modular(lambda S: sum(weights[x] for x in S), one_of_each_pair, 4).support == {1, 2}

    def test_random_residual_greedy_keeps_to_heavy_bases(self):
        # Linear weights: in every round the heaviest base of the contraction is what is left of {1, 2}.
        weights = [1, 2, 4, 3]
        orders = set()
        for seed in range(20):
            rng = np.random.default_rng(seed)
            out = random_residual_greedy(lambda S: sum(weights[x] for x in S), one_of_each_pair, 4, rng)
            assert out.support == {1, 2}
            orders.add(tuple(move[0] for move in out.trace))
        assert orders == {(1, 2), (2, 1)}

    def test_exhaustive_by_hand(self):
        weights = [1, 2, 4, 3]
        out = exhaustive(lambda S: sum(weights[x] for x in S), one_of_each_pair, 4)
        assert (out.support, out.value) == ({1, 2}, 6.0)

    @pytest.mark.parametrize("seed", range(5))
    def test_nothing_beats_exhaustive(self, seed):
        f = random_instance(seed)
        best = exhaustive(f, at_most(2), 6)
        assert best.value == pytest.approx(max(f.value(S) for S in combinations(range(6), 2)))
        rng = np.random.default_rng(seed)
        others = [
            greedy(f, at_most(2), 6),
            modular(f, at_most(2), 6),
            random_residual_greedy(f, at_most(2), 6, rng),
            local_search(f, at_most(2), 6, "oblivious", {0, 1}, 50, tol=1e-12),
        ]
        assert all(out.value <= best.value + 1e-12 for out in others)

    def test_exhaustive_refuses_large_ground_sets(self):
        with pytest.raises(ValueError, match="at most 20"):
            exhaustive(len, at_most(1), 21)
