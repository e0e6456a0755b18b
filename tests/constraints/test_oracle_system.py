"""Downward-closed families that are not matroids: searched, bounded and proven, without a theorem."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.constraints import oracle_system as oracles
from tests.contracts.constraint_zoo import SYSTEMS, as_array, randoms, starting_sets

PRICE = np.array([4.0, 3.0, 5.0, 2.0, 1.0])


def affordable(support):
    return PRICE[support].sum() <= 7


def budget(random, n, share=0.3, size=None):
    price = random.integers(1, 10, n)
    return sw.OracleSystem(n, lambda s: price[s].sum() <= share * price.sum(), size)


def of_one_group(labels, most):
    return sw.OracleSystem(len(labels), lambda s: len(set(labels[s])) <= 1 and len(s) <= most)


def best_by_enumeration(objective, system):
    sets = (as_array(s) for size in range(system.n + 1) for s in combinations(range(system.n), size))
    return max(objective(s) for s in sets if system._is_independent(s))


def test_a_budget_that_a_matroid_would_get_wrong():
    system, worth = sw.OracleSystem(5, affordable), sw.Linear([5.0, 4.0, 6.0, 2.5, 1.0])
    found = sw.maximize(worth, system)
    assert found.value == 8.5  # a local optimum: [0, 1] is worth 9
    assert found.guarantee.by_theorem.vacuous
    assert "no theorem is known for constraints" in found.guarantee.by_theorem.reason
    certificate = sw.certify(worth, system, found)
    assert certificate.upper_bound == pytest.approx(9.0)
    assert certificate.ratio == pytest.approx(8.5 / 9)
    assert sw.exact(worth, system).support.tolist() == [0, 1]
    exhaustive = sw.maximize(worth, system, "exhaustive")
    assert (exhaustive.value, exhaustive.guarantee.by_theorem.ratio) == (9.0, 1.0)


def test_moves_drop_the_least_that_must_go():
    system = sw.OracleSystem(5, affordable)
    (moves,) = system.moves(np.array([0, 3, 4]))  # 7 in all
    assert [(move.added, move.dropped) for move in moves.moves()] == [
        ((1,), (0,)),
        ((1,), (3, 4)),
        ((2,), (0, 3)),
        ((2,), (0, 4)),
    ]
    (moves,) = system.moves(np.array([0, 3, 4]), candidates=np.array([2]))
    assert set(moves.added[:, 0].tolist()) == {2}


@settings(max_examples=40)
@given(data=st.data())
def test_where_there_are_too_many_drops_some_minimal_ones_are_listed(data):
    specimen = data.draw(SYSTEMS["oracle system"])
    support, system = data.draw(starting_sets(specimen)), specimen.system
    cost = data.draw(randoms).random(system.n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracles, "MOST_TRIED", 1)
        (moves,) = system.moves(support)
        (cheapest,) = system.cheapest_drops(support, cost)
    current = frozenset(support.tolist())
    for move in moves.moves():
        (added,) = move.added
        assert specimen.allows(current - set(move.dropped) | {added})
        for back in move.dropped:  # nothing is dropped needlessly
            assert not specimen.allows(current - set(move.dropped) | {added, back})
    possible = [e for e in range(system.n) if e not in current and specimen.allows(frozenset({e}))]
    assert sorted(set(moves.added[:, 0].tolist())) == cheapest.added[:, 0].tolist() == possible
    for move in cheapest.moves():
        listed = [m.dropped for m in moves.moves() if m.added == move.added]
        assert cost[list(move.dropped)].sum() <= min(cost[list(d)].sum() for d in listed) + 1e-12


@settings(max_examples=60)
@given(data=st.data(), name=st.sampled_from(["oracle system", "large oracle system"]))
def test_no_set_is_heavier_than_the_bound(data, name):
    specimen = data.draw(SYSTEMS[name])
    weights = np.round(data.draw(randoms).normal(size=specimen.system.n), 1)
    heavy = specimen.system.max_weight(weights)
    largest = max(weights[as_array(s)].sum() for s in specimen.independent_sets())
    assert specimen.allows(frozenset(heavy.support.tolist()))
    assert heavy.weight == pytest.approx(weights[heavy.support].sum())
    assert heavy.upper_bound >= largest - 1e-12
    assert heavy.weight >= heavy.factor * largest - 1e-12
    if heavy.exact:
        assert heavy.weight == pytest.approx(largest)
    if name == "oracle system":
        assert heavy.exact


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_thirteen_elements_are_proven_without_a_table(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 13)), rng.standard_normal(30)
    for system in (budget(rng, 13), of_one_group(np.arange(13) % 4, 3)):
        assert system._axioms.maximal is None
        for objective in (
            sw.LeastSquares(X, y),
            sw.Coverage([set(rng.integers(0, 12, 3)) for _ in range(13)]),
        ):
            best = best_by_enumeration(objective, system)
            exact = sw.exact(objective, system)
            assert exact.status is sw.Status.OPTIMAL
            assert exact.value == pytest.approx(best, abs=1e-9)
            assert exact.certificate.assumptions == system.assumptions != ()
            assert sw.certify(objective, system, max_nodes=0).upper_bound >= best - 1e-9


def test_every_method_works_but_the_one_for_matroids():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 13))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(60)
    system, objective = budget(rng, 13, size=4), sw.LeastSquares(X, y)
    for method in ("auto", "oblivious", "semi-oblivious", "non-oblivious", "greedy", "modular", "random"):
        result = sw.maximize(objective, system, method)
        assert system.is_independent(result.support)
        assert result.guarantee.by_theorem.vacuous
    for start in ("arbitrary", "greedy", "modular", "best-singleton", "relaxation", "model"):
        assert sw.maximize(objective, system, start=start).status is sw.Status.LOCAL_OPTIMUM
    assert sw.maximize(objective, system, epsilon=0.1).guarantee.by_theorem.vacuous
    assert sw.maximize(objective, system, "exhaustive").value >= result.value
    with pytest.raises(TypeError, match="random-residual-greedy needs a matroid"):
        sw.maximize(objective, system, "random-residual-greedy")
    with pytest.raises(ValueError, match=r"adding one element at a time, q = 1; got q = 2"):
        sw.maximize(objective, system, q=2)
    both = sw.Intersection(sw.Uniform(13, 2), system)
    assert sw.exact(objective, both).value == sw.maximize(objective, both, "exhaustive").value


def test_with_a_p_moves_are_the_paper_s_and_so_is_the_theorem():
    """No drop is left out, however many there are: with 8 in each of 3 full groups, 512 make room."""
    k = n_shared = 8
    group = np.repeat([0, 1, 2], k)

    def fits(support):
        own = support[support < 3 * k]
        return bool((np.bincount(group[own], minlength=3) + len(support) - len(own) <= k).all())

    worth = np.full(3 * k + n_shared, 1e-6)
    worth[[0, k - 1, k, 2 * k - 1, 2 * k, 3 * k - 1]], worth[3 * k :] = 1.0, 2.9
    for method in ("oblivious", "greedy"):
        system = sw.OracleSystem(len(worth), fits, p=3)
        found = sw.maximize(
            sw.Linear(worth), system, method, start=range(3 * k) if method == "oblivious" else "empty"
        )
        assert found.guarantee.by_theorem.ratio == pytest.approx(1 / 3)
        assert f"that {system!r} is a 3-exchange system" in found.guarantee.by_theorem.assumptions
        assert found.value >= worth[3 * k :].sum() / 3


@pytest.mark.parametrize("q", [1, 2, 3])
def test_exchanges_of_several_elements_reach_what_the_theorem_says(q):
    rng = np.random.default_rng(q)
    for p in (2, 3):
        packing = sw.SetPacking([set(rng.choice(7, rng.integers(1, p + 1), replace=False)) for _ in range(9)])
        system = sw.OracleSystem(9, packing._is_independent, p=p)
        worth = sw.Linear(rng.random(9))
        found = sw.maximize(worth, system, "oblivious", q=q, start=system.random_set(np.array([], int), rng))
        assert found.value == pytest.approx(
            sw.maximize(worth, packing, "oblivious", q=q, start=found.support).value
        )
        assert found.value / sw.exact(worth, system).value >= found.guarantee.by_theorem.ratio
        assert found.guarantee.by_theorem.ratio == pytest.approx(1 / (p - 1 + 1 / q))
        assert found.guarantee.by_theorem.assumptions == ()


def test_a_p_that_is_too_small_is_refused():
    def apart(support):
        return 6 not in support or {0, 2, 4}.isdisjoint(support.tolist())

    message = r"is not a 2-exchange system: for S = \[0, 2, 4\] and T = \[6\], .* sw\.theory\.smallest_p"
    with pytest.raises(ValueError, match=message):
        sw.OracleSystem(7, apart, p=2)
    system = sw.OracleSystem(7, apart)
    system.p = 2
    with pytest.raises(ValueError, match=message):
        sw.maximize(sw.Linear(np.ones(7)), system)
    assert sw.OracleSystem(7, apart, p=3).assumptions == ()
    with pytest.raises(ValueError, match="p must be at least 1, got 0"):
        sw.OracleSystem(7, apart, p=0)
    for n in (7, 20):  # all sets are verified, and some
        with pytest.raises(ValueError, match=r"p = 1 is too small\. sw\.theory\.smallest_p finds the p"):
            sw.OracleSystem(n, apart, p=1)


def test_estimators_take_it():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 20))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(60)
    system = budget(rng, 20)
    model = sw.SparseRegressor(system).fit(X, y)
    assert system.is_independent(model.support_)
    assert model.result_.guarantee.by_theorem.vacuous
    assert model.certify(X, y, time_limit=1).assumptions == system.assumptions
    assert system.is_independent(sw.SparseClassifier(system).fit(X, y > 0).support_)


def test_size_is_a_limit_of_its_own():
    asked = []

    def anything(support):
        asked.append(len(support))
        return True

    system = sw.OracleSystem(40, anything, size=3)
    assert system.max_size() == 3
    assert not system.is_independent([0, 1, 2, 3])
    assert max(asked) == 3
    assert sw.maximize(sw.Linear(np.arange(40.0)), system).support.tolist() == [37, 38, 39]
    assert system.max_weight(np.arange(40.0)).exact


def test_the_size_of_sets_is_bounded():
    rng = np.random.default_rng(2)
    labels = np.arange(20) % 5
    assert of_one_group(labels, 10).max_size() == 4  # two blocks of ten, each with at most two of a group
    assert sw.OracleSystem(5, affordable).max_size() == 3
    assert budget(rng, 30).max_size() >= len(budget(rng, 30).extend(np.array([], dtype=int), range(30)))
    assert sw.OracleSystem(0, lambda s: True).max_size() == 0


def test_a_slow_function_only_costs_the_bound(monkeypatch):
    system = of_one_group(np.arange(20) % 5, 10)
    monkeypatch.setattr(oracles, "SECONDS", 0.0)
    assert system.max_size() == 20
    assert system.max_weight(np.ones(20)).upper_bound == 20


def test_pickles_without_what_it_was_told():
    system = sw.OracleSystem(5, affordable)
    copy = pickle.loads(pickle.dumps(system))
    assert copy._answers == {}
    assert copy.is_independent([0, 1])
    assert not copy.is_independent([0, 2])
    assert repr(copy) == "OracleSystem(n=5, affordable)"


@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_forced_in_stays_in(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 7))
    costs, forced = random.integers(1, 5, n), int(random.integers(n))
    system = sw.OracleSystem(n, lambda support: costs[support].sum() <= 7).contract([forced])
    f = sw.Linear(random.random(n))
    affordable = [
        {forced, *others}
        for size in range(n + 1)
        for others in combinations(range(n), size)
        if costs[sorted({forced, *others})].sum() <= 7
    ]
    best = max(f(sorted(chosen)) for chosen in affordable)
    for found in (sw.maximize(f, system), sw.exact(f, system)):
        assert set(found.support.tolist()) in affordable
    assert found.value == pytest.approx(best)


class Chain(sw.Constraint):
    """Each element only after all before it, three at most."""

    def __init__(self, n):
        self.n = n

    def _is_independent(self, support):
        return len(support) <= 3 and support.tolist() == list(range(len(support)))


def test_a_family_of_ones_own_need_not_hold_all_subsets():
    f, chain = sw.Linear([1.0, 2.0, 3.0, 9.0]), Chain(4)
    found = sw.maximize(f, chain)
    assert found.support.tolist() == [0, 1, 2]
    proof = sw.certify(f, chain, found)
    assert proof.optimal
    assert proof.assumptions == ("that all sets of Chain(n=4) can be built one by one",)
