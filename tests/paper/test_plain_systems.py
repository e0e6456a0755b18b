"""The plain search beyond one matroid, and the plain Ising objective: cases to check by hand."""

from itertools import combinations

import numpy as np
import pytest

from benchmarks.reference.local_search import local_search
from benchmarks.reference.systems import limits, reachable, system_search
from swapwise.paper.plain import PlainMatching, PlainPartition
from swapwise.paper.plain.ising import PlainIsing
from swapwise.paper.plain.least_squares import PlainLeastSquares

VARIANTS = ["oblivious", "semi-oblivious", "non-oblivious"]
KINDS = ["matroid intersection", "exchange system"]
PATH = [(0, 1), (1, 2), (2, 3)]  # three edges in a row: the middle one meets both others


def matching(edges):
    """No two of the chosen edges meet."""

    def is_independent(S):
        ends = [v for e in S for v in edges[e]]
        return len(ends) == len(set(ends))

    return is_independent


def weigh(weights):
    return lambda S: float(sum(weights[x] for x in S))


class TestReachable:
    @pytest.mark.parametrize(
        ("p", "q", "kind", "expected"),
        [
            (2, 1, "matroid intersection", (2, 4)),
            (3, 2, "matroid intersection", (4, 12)),
            (2, 1, "exchange system", (1, 2)),
            (3, 2, "exchange system", (2, 5)),
        ],
    )
    def test_limits(self, p, q, kind, expected):
        assert limits(p, q, kind) == expected

    def test_unknown_kind(self):
        with pytest.raises(ValueError, match="matroid intersection, exchange system; got 'x'"):
            limits(2, 1, "x")

    def test_the_middle_edge_drops_both_others(self):
        moves = reachable({0, 2}, matching(PATH), 3, 2, 1, "exchange system", dominated=False)
        assert moves == [((1,), (0, 2))]

    def test_two_edges_for_one_take_q_2(self):
        one = reachable({1}, matching(PATH), 3, 2, 1, "exchange system", dominated=False)
        assert one == [((0,), (1,)), ((2,), (1,))]
        two = reachable({1}, matching(PATH), 3, 2, 2, "exchange system", dominated=False)
        assert two == [((0,), (1,)), ((2,), (1,)), ((0, 2), (1,))]

    def test_all_pairs_with_needless_drops_in_order(self):
        moves = reachable({0}, matching(PATH), 3, 2, 1, "exchange system")
        assert moves == [((), (0,)), ((1,), (0,)), ((2,), ()), ((2,), (0,))]

    def test_from_the_empty_set_only_additions(self):
        moves = reachable(set(), matching(PATH), 3, 2, 1, "matroid intersection")
        assert moves == [((0,), ()), ((1,), ()), ((2,), ()), ((0, 2), ())]

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("q", [1, 2])
    def test_equals_the_definition(self, kind, q):
        """Go through all subsets instead of all exchanges."""
        edges = list(combinations(range(4), 2))
        X, oracle = {0, 5}, matching(edges)
        most_added, most_dropped = limits(2, q, kind)
        sets = [set(S) for k in range(7) for S in combinations(range(6), k) if oracle(list(S))]
        expected = {
            (tuple(sorted(T - X)), tuple(sorted(X - T)))
            for T in sets
            if T != X and len(T - X) <= most_added and len(X - T) <= most_dropped
        }
        moves = reachable(X, oracle, 6, 2, q, kind)
        assert set(moves) == expected
        assert moves == sorted(moves, key=lambda move: (len(move[0]), move))

        undominated = {
            (A, D) for A, D in expected if not any(B == A and set(E) < set(D) for B, E in expected) and A
        }
        assert set(reachable(X, oracle, 6, 2, q, kind, dominated=False)) == undominated


class TestSystemSearch:
    def test_q_decides_how_far_a_matching_gets(self):
        # One heavy edge in the middle: 3 against 2 + 2. Only q = 2 sees both others at once.
        f = weigh([2, 3, 2])
        near = system_search(f, matching(PATH), 3, 2, 1, "exchange system", "oblivious", [], T=10)
        assert near == ({1}, 3.0, [((1,), (), 3.0)])
        far = system_search(f, matching(PATH), 3, 2, 2, "exchange system", "oblivious", {1}, T=10)
        assert far == ({0, 2}, 4.0, [((0, 2), (1,), 4.0)])

    def test_both_neighbours_leave_for_the_middle_edge(self):
        out = system_search(
            weigh([2, 5, 2]), matching(PATH), 3, 2, 1, "exchange system", "oblivious", {0, 2}, 10
        )
        assert out.trace == [((1,), (0, 2), 5.0)]

    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("q", [1, 2])
    def test_orthonormal_columns(self, variant, q):
        # Gains of columns are their squares over ‖y‖², and M = 2/‖y‖² is exact: all variants agree.
        f = PlainLeastSquares(np.eye(3), [2, 3, 2])
        out = system_search(
            f, matching(PATH), 3, 2, q, "exchange system", variant, {0, 2}, T=10, M=2 / f.total
        )
        assert out.support == {1}
        assert out.value == pytest.approx(9 / 17)

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_no_iterations(self, variant):
        f = PlainLeastSquares(np.eye(3), [2, 3, 2])
        out = system_search(f, matching(PATH), 3, 2, 1, "exchange system", variant, {0}, T=0, M=1)
        assert out == ({0}, f.value([0]), [])

    def test_semi_oblivious_drops_the_smallest_coefficients(self):
        # A long column 1: w_1 is small, yet it is the one worth keeping.
        f = PlainLeastSquares([[1, 0, 0], [0, 10, 0], [0, 0, 1]], [3, 10, 4])

        def at_most_two(S):
            return len(S) <= 2

        full = system_search(f, at_most_two, 3, 2, 1, "exchange system", "oblivious", {0, 1}, 10, tol=1e-9)
        assert [move[:2] for move in full.trace] == [((2,), (0,))]
        semi = system_search(f, at_most_two, 3, 2, 1, "exchange system", "semi-oblivious", {0, 1}, 10)
        assert semi.trace == []

    def test_non_oblivious_takes_a_constant_for_each_move(self):
        f = PlainLeastSquares(np.eye(3), [2, 3, 2])
        asked = []

        def constant(dropped, added):
            asked.append((dropped, added))
            return 2 / f.total

        system_search(
            f,
            matching(PATH),
            3,
            2,
            1,
            "exchange system",
            "non-oblivious",
            {0, 2},
            1,
            constant,
            dominated=False,
        )
        assert asked == [((0, 2), (1,))]

    def test_the_geometric_rule_takes_the_first_that_is_good_enough(self):
        f = weigh([4, 5, 1])

        def anything(S):
            return len(S) <= 1

        def go(epsilon):
            return system_search(
                f, anything, 3, 2, 1, "exchange system", "oblivious", {2}, 10, epsilon=epsilon, s=1
            ).support

        assert go(0.1) == {1}  # 1 → 4 → 5
        assert go(1.0) == {0}  # from 4, a gain of 1 is less than 1.0 · 4
        assert go(3.5) == {1}  # from 1, 4 gains 3 < 3.5 and 5 gains 4
        assert go(5.0) == {2}

    def test_what_is_missing_is_named(self):
        f = PlainLeastSquares(np.eye(3), [2, 3, 2])
        args = (f, matching(PATH), 3, 2, 1, "exchange system")
        with pytest.raises(ValueError, match="needs M"):
            system_search(*args, "non-oblivious", [], 1)
        with pytest.raises(ValueError, match="needs s"):
            system_search(*args, "oblivious", [], 1, epsilon=0.1)
        with pytest.raises(ValueError, match="unknown variant 'x'"):
            system_search(*args, "x", [], 1)

    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("dominated", [True, False])
    @pytest.mark.parametrize("seed", range(5))
    def test_one_matroid_is_the_case_p_1(self, variant, dominated, seed):
        """With p = q = 1 an exchange system's moves are swaps: Algorithm 4 is Algorithm 3."""
        rng = np.random.default_rng(seed)
        f = PlainLeastSquares(rng.normal(size=(9, 6)), rng.normal(size=9))

        def one_of_each_pair(S):
            return len({x // 2 for x in S}) == len(S)

        M = 2 / f.total * np.linalg.norm(f.A, 2) ** 2
        swaps = local_search(f, one_of_each_pair, 6, variant, {0, 2}, 50, M=M, tol=1e-10)
        system = system_search(
            f,
            one_of_each_pair,
            6,
            1,
            1,
            "exchange system",
            variant,
            {0, 2},
            50,
            M=M,
            tol=1e-10,
            dominated=dominated,
        )
        as_tuples = [((added,), () if dropped is None else (dropped,)) for added, dropped, _ in swaps.trace]
        assert [move[:2] for move in system.trace] == as_tuples
        assert system.support == swaps.support


def spins(seed, samples=40, vertices=4):
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=(samples, vertices))


def differences(u, w, h=1e-5):
    return [(u(w + h * e) - u(w - h * e)) / (2 * h) for e in np.eye(len(w))]


class TestIsing:
    def test_one_edge_in_closed_form(self):
        # Two spins that agree in 3 of 4 samples: σ(2w) = 3/4, and both ends tell the same.
        f = PlainIsing([[1, 1], [1, 1], [-1, -1], [1, -1]])
        entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
        assert f.coef([0])[0] == pytest.approx(np.log(3) / 2, abs=1e-7)
        assert f.value([0]) == pytest.approx(2 * (np.log(2) - entropy), abs=1e-12)

    def test_one_edge_with_ridge(self):
        # The slope 2 · 2 (3/4 − σ(2w)) equals ridge · w at the best coupling.
        f = PlainIsing([[1, 1], [1, 1], [-1, -1], [1, -1]], ridge=0.5)
        w = f.coef([0])[0]
        assert 4 * (0.75 - 1 / (1 + np.exp(-2 * w))) == pytest.approx(0.5 * w, abs=1e-8)

    def test_one_edge_with_fields(self):
        # Two spins with all four states: pseudo-likelihood is exact conditionals of each spin, with
        # counts 4, 2, 1, 3 of (++, +-, -+, --). Its best w and θ make the slopes vanish.
        data = [[1, 1]] * 4 + [[1, -1]] * 2 + [[-1, 1]] * 1 + [[-1, -1]] * 3
        f = PlainIsing(data, fields=True)
        w, theta = f.fit([0])
        by_coupling, by_field = f.slopes(w, theta)
        np.testing.assert_allclose([*by_coupling, *by_field], 0, atol=1e-7)
        fields_only = PlainIsing(data, fields=True).best_fields(np.zeros(1))
        np.testing.assert_allclose(fields_only, np.arctanh(np.mean(data, axis=0)), atol=1e-7)

    def test_elements_are_pairs_in_order(self):
        f = PlainIsing(spins(0))
        assert f.edges == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        few = PlainIsing(spins(0), edges=[(1, 3), (0, 2)])
        assert few.n == 2
        assert few.value([0]) == pytest.approx(f.value([4]), abs=1e-12)
        assert few.value([0, 1]) == pytest.approx(f.value([1, 4]), abs=1e-12)

    @pytest.mark.parametrize("fields", [False, True])
    @pytest.mark.parametrize("ridge", [0.0, 0.3])
    def test_zero_at_nothing_and_rising(self, fields, ridge):
        f = PlainIsing(spins(1), ridge, fields)
        assert f.value([]) == 0
        assert f.u(np.zeros(f.n)) == 0
        values = [f.value(range(k)) for k in range(f.n + 1)]
        assert np.all(np.diff(values) > 0)

    @pytest.mark.parametrize("fields", [False, True])
    @pytest.mark.parametrize("ridge", [0.0, 0.3])
    def test_gradient_is_that_of_u(self, fields, ridge):
        f = PlainIsing(spins(2) + 0.1 * np.random.default_rng(0).normal(size=(40, 4)), ridge, fields)
        w = np.random.default_rng(3).normal(size=f.n)
        np.testing.assert_allclose(f.gradient(w), differences(f.u, w), rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize("fields", [False, True])
    def test_gradient_vanishes_on_the_support(self, fields):
        f = PlainIsing(spins(7), fields=fields)
        w = f.coef([1, 4])
        np.testing.assert_allclose(f.gradient(w)[[1, 4]], 0, atol=1e-7)
        assert set(np.flatnonzero(w)) == {1, 4}
        assert f.u(w) == pytest.approx(f.value([1, 4]), abs=1e-12)

    def test_numerical_gradients_reach_the_same_value(self):
        exact, numerical = PlainIsing(spins(5)), PlainIsing(spins(5), numerical=True)
        assert numerical.value(range(6)) == pytest.approx(exact.value(range(6)), abs=1e-6)

    def test_disjoint_edges_add_up(self):
        f = PlainIsing(spins(6))  # (0, 1) and (2, 3) share no vertex
        assert f.value([0, 5]) == pytest.approx(f.value([0]) + f.value([5]), abs=1e-12)


def test_constraints_by_hand():
    assert [PlainPartition([0, 0, 1], 1)(S) for S in ([0, 2], [0, 1])] == [True, False]
    matching = PlainMatching(4, 1)
    assert [matching(S) for S in ([0, 5], [0, 1])] == [True, False]
    assert matching.exchanges({0, 5})[0] == ((1,), (0, 5))  # the edge (0, 2) for (0, 1) and (2, 3)


@pytest.mark.parametrize(
    "constraint", [PlainPartition([0, 0, 0, 1, 1, 2], 2), PlainMatching(4, 1), PlainMatching(4, 2)]
)
class TestConstraints:
    def test_moves_are_those_in_reach_without_needless_drops(self, constraint):
        sets = [set(S) for k in range(7) for S in combinations(range(6), k) if constraint(S)]
        assert len(sets) > 5
        for X in sets:
            wanted = reachable(X, constraint, 6, 2, 1, "exchange system", dominated=False)
            assert constraint.exchanges(X) == wanted

    def test_the_heaviest_set_is_that_of_enumeration(self, constraint):
        sets = [S for k in range(7) for S in combinations(range(6), k) if constraint(S)]
        for seed in range(10):
            weight = dict(enumerate(np.random.default_rng(seed).random(6)))
            best = max(sets, key=lambda S: sum(weight[x] for x in S))
            assert constraint.heaviest(weight) == set(best)
