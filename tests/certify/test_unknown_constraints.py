"""A constraint that does not say what it is gets no theorem, and nothing that is false is said of it."""

from itertools import combinations
from time import perf_counter, sleep

import numpy as np
import pytest

import swapwise as sw
from swapwise.constraints.base import MaxWeight
from swapwise.moves import MoveList
from swapwise.search.methods.exhaustive import enumerate_sets
from swapwise.theory.localizable import Localizability
from tests.contracts.constraint_zoo import as_array, subsets


class Knapsack(sw.IndependenceSystem):
    """A budget as a user writes it: swaps of one for one, and the heaviest set by trying all."""

    def __init__(self, price, budget):
        self.price, self.budget, self.n = np.asarray(price, dtype=float), budget, len(price)

    def _is_independent(self, support):
        return bool(self.price[support].sum() <= self.budget)

    def moves(self, support, q=1, candidates=None):
        rows = []
        for added in np.setdiff1d(np.arange(self.n), support).tolist():
            if self._is_independent(np.append(support, added)):
                rows.append((added, -1))
                continue
            rest = [
                (added, i) for i in support if self._is_independent(np.append(support[support != i], added))
            ]
            rows += rest
        pairs = np.array(rows, dtype=np.intp).reshape(-1, 2)
        yield MoveList(pairs[:, :1], pairs[:, 1:])

    def _max_weight(self, weights, clock):
        allowed = (as_array(s) for s in subsets(range(self.n)) if self._is_independent(as_array(s)))
        heaviest = max(allowed, key=lambda s: weights[s].sum())
        return MaxWeight(heaviest, float(weights[heaviest].sum()))


KNAPSACK, WORTH = Knapsack([4, 3, 5, 2, 1], 7), sw.Linear([5.0, 4.0, 6.0, 2.5, 1.0])


def test_a_knapsack_of_the_users_gets_no_theorem():
    for method in ("oblivious", "greedy", "modular", "random"):
        result = sw.maximize(WORTH, KNAPSACK, method)
        assert result.guarantee.by_theorem.vacuous, method
        assert result.status is not sw.Status.OPTIMAL
    assert sw.maximize(WORTH, KNAPSACK).value == 8.5
    assert (
        "if yours is a p-exchange system, set its p"
        in sw.maximize(WORTH, KNAPSACK).guarantee.by_theorem.reason
    )
    submodular = Localizability(1.0, 1.0, 1.0, s=5, t=5)
    assert sw.guarantee("oblivious", KNAPSACK, submodular).vacuous
    assert sw.guarantee("greedy", KNAPSACK, submodular).vacuous
    assert KNAPSACK.exchange_size() == 5


def test_exhaustive_search_is_exact_and_says_so():
    result = sw.maximize(WORTH, KNAPSACK, "exhaustive")
    assert (result.value, result.guarantee.ratio, result.guarantee.theorem) == (
        9.0,
        1.0,
        "exhaustive search",
    )


def test_proofs_name_what_they_take_from_the_class():
    certificate = sw.certify(WORTH, KNAPSACK, [2, 3])
    assert certificate.upper_bound == pytest.approx(9.0)
    assert certificate.assumptions == ("that _max_weight of Knapsack(n=5) is right",)
    assert sw.exact(WORTH, KNAPSACK).certificate.assumptions == certificate.assumptions


def test_sparse_objectives_get_none_either():
    rng = np.random.default_rng(0)
    objective = sw.LeastSquares(rng.standard_normal((30, 5)), rng.standard_normal(30))
    for method in (
        "oblivious",
        "semi-oblivious",
        "non-oblivious",
        sw.NonOblivious("global"),
        "greedy",
        "modular",
    ):
        assert sw.maximize(objective, KNAPSACK, method).guarantee.by_theorem.vacuous
    constants = sw.theory.restricted_constants(objective, 5, 5)
    for method in ("oblivious", "semi-oblivious", "greedy", "modular"):
        assert "no theorem is known for constraints" in sw.guarantee(method, KNAPSACK, constants).reason


def test_a_class_that_says_its_p_is_believed_and_that_is_said():
    class Pairs(Knapsack):
        p = 2

    pairs = Pairs([1, 1, 1, 1], 2)
    stated = sw.maximize(sw.Linear([3, 1, 2, 1]), pairs).guarantee.by_theorem
    assert (stated.theorem, stated.constants["p"]) == ("Theorem 12 of Fujii 2020", 2)
    assert any("with p = 2" in sentence for sentence in stated.assumptions)


def test_a_family_that_is_not_closed_is_refused_before_a_search():
    class WithMain(Knapsack):
        def _is_independent(self, support):
            return 1 not in support or 0 in support

    with pytest.raises(ValueError, match=r"WithMain\(n=2\) is not downward closed: it allows \[0, 1\]"):
        sw.maximize(sw.Linear([1, 1]), WithMain([0, 0], 1))


def budget_oracle(rng, n=8):
    price = rng.integers(1, 6, n)
    return lambda support: bool(price[support].sum() <= 8)


def test_forty_budgets_as_matroids_are_refused_and_as_systems_right():
    """As matroids on trust, 3 of these 40 were called OPTIMAL below the best."""
    refused = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        objective = sw.LeastSquares(rng.standard_normal((20, 8)), rng.standard_normal(20))
        rule = budget_oracle(rng)
        sets = (as_array(s) for size in range(9) for s in combinations(range(8), size))
        best = max(objective(s) for s in sets if rule(s))
        answers = [sw.exact(objective, sw.OracleSystem(8, rule))]
        try:
            answers.append(sw.exact(objective, sw.OracleMatroid(8, rule)))  # some budgets are matroids
        except ValueError:
            refused += 1
        for exact in answers:
            assert exact.status is sw.Status.OPTIMAL
            assert exact.value == pytest.approx(best, abs=1e-9)
            assert exact.certificate.assumptions == ()
    assert refused > 30


def test_at_most_one_group_touched():
    """As a matroid on trust, such a family was called OPTIMAL below the best for some data."""
    rng = np.random.default_rng(0)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    X = rng.standard_normal((30, 8))
    y = X[:, 3:].sum(axis=1) + 3 * X[:, 0] + 0.1 * rng.standard_normal(30)

    def one_group(support):
        return len(set(labels[support].tolist())) <= 1

    with pytest.raises(ValueError, match="is not a matroid"):
        sw.OracleMatroid(8, one_group)
    exact = sw.exact(sw.LeastSquares(X, y), sw.OracleSystem(8, one_group))
    groups = [sw.LeastSquares(X, y)(np.flatnonzero(labels == group)) for group in (0, 1)]
    assert exact.status is sw.Status.OPTIMAL
    assert exact.value == pytest.approx(max(groups))


def test_exhaustive_search_does_not_rely_on_axioms_that_were_not_verified():
    pair = {28, 29}  # maximal by themselves, where all other maximal sets have three elements
    matroid = sw.OracleMatroid(30, lambda s: len(s) <= 3 and (len(s) < 3 or not pair <= set(s.tolist())))
    assert matroid.assumptions
    found = {tuple(s.tolist()) for s in enumerate_sets(matroid, maximal=True)}
    assert tuple(sorted(pair)) in found
    assert (0, 1, 2) in found


def test_a_p_of_one_is_verified_however_it_is_set():
    class Claimed(Knapsack):
        p = 1

    on_instance = Knapsack([4, 3, 5, 2, 1], 7)
    on_instance.p = 1
    oracle = sw.OracleSystem(5, lambda support: np.array([4, 3, 5, 2, 1])[support].sum() <= 7)
    oracle.p = 1
    for false in (Claimed([4, 3, 5, 2, 1], 7), on_instance, oracle):
        with pytest.raises(ValueError, match="is not a matroid"):
            sw.maximize(WORTH, false)


def test_a_set_that_a_class_of_the_users_does_not_allow_is_no_answer():
    class Wrong(Knapsack):
        def moves(self, support, q=1, candidates=None):
            others = np.setdiff1d(np.arange(self.n), support)[:, None]
            yield MoveList(others, np.full((len(others), 1), -1))

    with pytest.raises(ValueError, match="which its _is_independent does not allow"):
        sw.maximize(WORTH, Wrong([4, 3, 5, 2, 1], 7))


def test_a_slow_oracle_keeps_the_limit():
    def slow(support):
        sleep(0.001)
        return len(support) <= 3

    system = sw.OracleSystem(100, slow)
    begin = perf_counter()
    heavy = system.max_weight(np.arange(100.0), time_limit=0.3)
    assert perf_counter() - begin < 2.0
    assert heavy.upper_bound >= 99 + 98 + 97
    assert ": 0 subsets" not in system.assumptions[0]
