"""Definition 3 of the paper: for which p a family is a p-exchange system."""

from itertools import product

import numpy as np
import pytest

import swapwise as sw
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.axioms import axioms_of
from swapwise.constraints.exchange_property import pair_without_map, table_of
from tests.contracts.constraint_zoo import some_of, subsets


def has_map(allowed, S, T, p):
    """The definition, with every map tried."""
    new, gone = sorted(T - S), S - T
    small = [part for part in subsets(sorted(gone)) if len(part) <= p]
    return any(
        all(sum(u in part for part in phi) <= p for u in gone)
        and all(
            (S - frozenset().union(*(phi[i] for i in X))) | {new[i] for i in X} in allowed
            for X in subsets(range(len(new)))
        )
        for phi in product(small, repeat=len(new))
    )


def is_exchange_system(allowed, p):
    return all(has_map(allowed, S, T, p) for S in allowed for T in allowed)


def some_family(random):
    """Return the size of a ground set, and a few random sets with all of their subsets."""
    n = int(random.integers(1, 6))
    largest = [frozenset(some_of(random, n)) for _ in range(random.integers(1, 6))]
    return n, {part for whole in largest for part in subsets(whole)}


@pytest.mark.parametrize(
    "seeds", np.array_split(np.arange(200), 4), ids=lambda seeds: f"{seeds[0]} to {seeds[-1]}"
)
def test_the_smallest_p_is_that_of_the_definition(seeds):
    for seed in seeds:
        n, allowed = some_family(np.random.default_rng(seed))
        system = sw.OracleSystem(n, lambda s, allowed=allowed: frozenset(s.tolist()) in allowed)
        found = sw.theory.smallest_p(system)
        assert is_exchange_system(allowed, found.p)
        if found.p == 1:
            assert found.S is found.T is None
            continue
        S, T = frozenset(found.S), frozenset(found.T)
        assert {S, T} <= allowed
        assert not has_map(allowed, S, T, found.p - 1)
        assert all(has_map(allowed, S - {e}, T, found.p - 1) for e in S)
        assert all(has_map(allowed, S, T - {e}, found.p - 1) for e in T)


def test_families_of_which_p_is_known():
    assert sw.theory.smallest_p(sw.Uniform(6, 3)).p == 1
    assert sw.theory.smallest_p(sw.BMatching.complete(5, 2)).p == 2
    assert sw.theory.smallest_p(sw.SetPacking([{0}, {1}, {2}, {0, 1, 2}])).p == 3
    k4 = sw.Graphic([(a, b) for b in range(4) for a in range(b)])
    assert sw.theory.smallest_p(k4).p == 2  # a matroid that is not strongly base orderable
    assert sw.theory.smallest_p(sw.Uniform(0, 0)).p == 1


def test_what_it_cannot_look_at_is_refused():
    with pytest.raises(TypeError, match="expected a constraint, got 3"):
        sw.theory.smallest_p(3)
    with pytest.raises(
        ValueError, match=r"feasible up to 12 elements; got Uniform\(n=13, k=2\)\. On some of"
    ):
        sw.theory.smallest_p(sw.Uniform(13, 2))
    with pytest.raises(ValueError, match="only if every subset of an allowed set is allowed"):
        sw.theory.smallest_p(sw.Hierarchy(2, {0: [1]}, 2))


class OfThree(sw.IndependenceSystem):
    """Three groups of two places; the last element takes one of each."""

    n, p = 7, 3
    groups = np.array([[1, 1, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 1, 1, 1]])

    def _is_independent(self, support):
        return bool((self.groups[:, support].sum(axis=1) <= 2).all())


WORTH = sw.Linear([1, 1, 1, 1, 1, 1, 100.0])


def test_the_moves_of_a_class_with_a_p_are_those_that_the_theorem_is_about():
    for system in (OfThree(), OfThree().induced(np.arange(7))):
        found = sw.maximize(WORTH, system, "oblivious", start=[0, 1, 2, 3, 4, 5])
        assert found.value == 103.0  # three had to go for it
        assert found.guarantee.by_theorem.ratio == pytest.approx(1 / 3)
        assert found.guarantee.by_theorem.assumptions == ()
    for method in ("semi-oblivious", "non-oblivious"):
        X, y = np.eye(7), np.sqrt(WORTH.weights)
        found = sw.maximize(sw.LeastSquares(X, y), OfThree(), method, start=range(6))
        assert 6 in found.support


def test_the_p_of_a_class_is_verified():
    class OfTwo(OfThree):
        p = 2

    with pytest.raises(ValueError, match="is not a 2-exchange system"):
        sw.maximize(WORTH, OfTwo())


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (0, ValueError, "p must be at least 1, got 0"),
        (1.5, TypeError, "p must be a non-negative integer, got 1.5"),
    ],
)
def test_a_p_that_no_family_has_is_refused(wrong, error, message):
    class Odd(OfThree):
        p = wrong

    for run in (sw.maximize, sw.exact):
        with pytest.raises(error, match=message):
            run(WORTH, Odd())


def test_p_is_for_families_that_hold_all_subsets():
    class Chain(sw.Constraint):
        n, p = 4, 2

        def _is_independent(self, support):
            return support.tolist() == list(range(len(support)))

    with pytest.raises(ValueError, match="has p = 2, but is not hereditary"):
        sw.maximize(sw.Linear(np.ones(4)), Chain())


def test_moves_of_a_class_of_ones_own_are_taken_on_trust():
    class WithMoves(OfThree):
        p = 2

        def moves(self, support, q=1, candidates=None):
            yield from sw.IndependenceSystem.moves(self, support, q, candidates)

    assert WithMoves().assumptions == (
        "that WithMoves(n=7) is an intersection of matroids or an exchange system with p = 2, and that its "
        "moves lead to all q-reachable sets, as the paper defines them for it",
    )


def test_the_clock_is_looked_at_while_maps_of_two_sets_are_tried():
    class Steps(Clock):
        left = 10

        def check(self):
            self.left -= 1
            if self.left < 0:
                raise OutOfTime

    either = sw.OracleSystem(8, lambda s: bool((s < 4).all() or (s >= 4).all()))
    with pytest.raises(OutOfTime):
        pair_without_map(table_of(either, Clock()), 3, Steps())


def test_a_class_with_a_p_is_asked_about_each_set_once():
    asked = []

    class Counting(OfThree):
        def _is_independent(self, support):
            asked.append(tuple(support))
            return super()._is_independent(support)

    assert axioms_of(Counting()).assumptions == ()
    assert len(asked) == 2**7 + 1  # and once more about the empty set
