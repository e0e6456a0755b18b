"""What is verified of a family of the user's, and what is said of one that breaks an axiom."""

import copy
import time
from ast import literal_eval
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.constraints import axioms
from swapwise.constraints.axioms import Axioms
from swapwise.constraints.matroid import Matroid
from tests.contracts.constraint_zoo import (
    affordable,
    any_matroid,
    as_array,
    of_one_group,
    part_of_some,
    randoms,
    some_of,
    subsets,
    swap_grid,
)

N = 6


def of_sets(n, allows, kind=sw.OracleMatroid, **options):
    return kind(n, lambda support: bool(allows(frozenset(support.tolist()))), **options)


def is_matroid(n, allows):
    """The definition: the empty set, subsets, and an exchange for every two sets of which one is larger."""
    allowed = {s for s in subsets(range(n)) if allows(s)}
    return is_closed(n, allows) and all(
        len(large) <= len(small) or any(small | {e} in allowed for e in large - small)
        for small in allowed
        for large in allowed
    )


def is_closed(n, allows):
    allowed = {s for s in subsets(range(n)) if allows(s)}
    return frozenset() in allowed and all(s - {e} in allowed for s in allowed for e in s)


def some_sets(random, n):
    """Sets drawn one by one, so that hardly anything holds of them."""
    drawn = {frozenset(some_of(random, n)) for _ in range(random.integers(1, 12))} | {frozenset()}
    return lambda s: s in drawn


RULES = [affordable, of_one_group, part_of_some, some_sets, lambda random, n: any_matroid(random, n).allows]


@pytest.fixture(autouse=True, scope="module")
def time_to_verify():
    """Let numbers of questions end verifications, and not a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(axioms, "SECONDS", 60.0)
        yield


@settings(max_examples=300)
@given(random=randoms, rule=st.sampled_from(RULES))
def test_up_to_twelve_elements_exactly_the_matroids_pass(random, rule):
    allows = rule(random, N)
    if is_matroid(N, allows):
        assert of_sets(N, allows).assumptions == ()
        return
    with pytest.raises(ValueError, match=r"is not a matroid|is not downward closed") as refused:
        of_sets(N, allows)
    check_counterexample(str(refused.value), allows)


@settings(max_examples=200)
@given(random=randoms, rule=st.sampled_from(RULES))
def test_up_to_twelve_elements_exactly_the_closed_families_pass(random, rule):
    allows = rule(random, N)
    if is_closed(N, allows):
        assert of_sets(N, allows, sw.OracleSystem).assumptions == ()
        return
    with pytest.raises(ValueError, match=r"is not downward closed") as refused:
        of_sets(N, allows, sw.OracleSystem)
    check_counterexample(str(refused.value), allows)


def check_counterexample(message, allows):
    """Whether the sets that the message shows break the axiom that it names."""
    shown = [frozenset(literal_eval(text.split("]")[0] + "]")) for text in _lists(message)]
    if "is not downward closed" in message:
        whole, part = shown[:2]
        assert part < whole
        assert allows(whole)
        assert not allows(part)
    else:
        small, large, rest, again = shown[:4]
        assert len(large) == len(small) + 1
        assert allows(small)
        assert allows(large)
        assert rest == large - small
        assert again == small
        assert not any(allows(small | {e}) for e in rest)


def _lists(message):
    return ["[" + piece for piece in message.split("[")[1:]]


def budget(random, n):
    price = random.uniform(1, 10, n)
    most = random.uniform(0.1, 0.6) * price.sum()
    return lambda s: sum(price[e] for e in s) <= most


def one_group(random, n):
    label = np.arange(n) % random.integers(2, 6)
    return lambda s: len({label[e] for e in s}) <= 1


def main_effects_first(random, n):
    return lambda s: len(s) <= 5 and (n - 1 not in s or 0 in s)


def two_conflicts(random, n):
    first, middle, last = random.permutation(n)[:3]
    return lambda s: len(s) <= 4 and not ({first, middle} <= s or {middle, last} <= s)


def even(random, n):
    return lambda s: len(s) % 2 == 0


@pytest.mark.parametrize("n", [13, 40, 60, 200])
@pytest.mark.parametrize("rule", [budget, one_group, main_effects_first, two_conflicts, even])
def test_typical_families_of_many_elements_are_refused(rule, n):
    for seed in range(3):
        allows = rule(np.random.default_rng([seed, n]), n)
        if rule in (main_effects_first, two_conflicts) and n > axioms.MOST_PAIRED:
            continue  # one pair of 19,900 that breaks the rule need not be met
        with pytest.raises(ValueError, match=r"is not a matroid|is not downward closed") as refused:
            of_sets(n, allows)
        check_counterexample(str(refused.value), allows)


def test_the_message_says_what_to_use_instead():
    with pytest.raises(
        ValueError, match=r"allows \[0\] and \[1, 2\], but none of \[1, 2\] can be added to \[0\]"
    ):
        sw.OracleMatroid(3, lambda s: np.array([2, 1, 1])[s].sum() <= 2)
    with pytest.raises(ValueError, match=r"Use sw\.OracleSystem\(n, is_independent\)"):
        sw.OracleMatroid(3, lambda s: np.array([2, 1, 1])[s].sum() <= 2)
    for kind in (sw.OracleMatroid, sw.OracleSystem):
        with pytest.raises(ValueError, match=r"allows \[0, 1\], but not its subset \[1\]\. .* sw.Hierarchy"):
            kind(2, lambda s: 1 not in s or 0 in s)


def test_what_was_not_verified_in_full_is_an_assumption():
    def few(support):
        return len(support) <= 2

    (sentence,) = sw.OracleMatroid(13, few).assumptions
    assert sentence.startswith("that OracleMatroid(n=13, few) is a matroid: ")
    assert sentence.endswith(" exchanges were verified, not all")
    (sentence,) = sw.OracleSystem(13, few).assumptions
    assert sentence.startswith("that OracleSystem(n=13, few) is downward closed: ")
    assert sw.OracleMatroid(12, few).assumptions == sw.OracleSystem(12, few).assumptions == ()


def test_minors_and_intersections_take_on_trust_what_their_parts_do():
    def few(support):
        return len(support) <= 3

    matroid = sw.OracleMatroid(20, few)
    parts = [matroid.truncate(2), matroid.restrict(range(15)), matroid.contract([3])]
    for minor in [*parts, parts[0].contract([1]), matroid.induced(np.arange(18))]:
        assert minor.assumptions == matroid.assumptions
    both = sw.Intersection(sw.Partition(np.arange(20) % 4, 1), matroid, matroid.truncate(2))
    assert both.assumptions == matroid.assumptions
    assert sw.Intersection(sw.Uniform(20, 2), sw.Partition(np.arange(20) % 4, 1)).assumptions == ()


def hidden(n, k=3):
    """At most k elements, and one set of one more: a matroid but for that."""
    stray = frozenset(range(n - k - 1, n))
    return lambda s: len(s) <= k or s == stray


def test_a_set_that_a_search_meets_is_looked_at():
    n = 30
    matroid = of_sets(n, hidden(n))  # one of 27,405 sets of four: not met at random
    assert matroid.assumptions
    weights = np.zeros(n)
    weights[-4:] = 1.0
    with pytest.raises(ValueError, match=r"is not a matroid: it allows .* and \[26, 27, 28, 29\]"):
        sw.maximize(sw.Linear(weights + 0.1), matroid)
    matroid = of_sets(n, hidden(n))
    matroid.extend(np.empty(0, dtype=np.intp), np.arange(n))  # a maximal set of three
    with pytest.raises(ValueError, match="is not a matroid"):
        matroid.extend(np.empty(0, dtype=np.intp), np.arange(n)[::-1])  # and one of four


def test_swaps_that_a_matroid_would_have_are_missed():
    n = 40
    # Element 0 goes with nothing but 1: a swap for it drops two, where a matroid has one to drop.
    matroid = of_sets(n, lambda s: len(s) <= 3)
    matroid._oracle = lambda s: len(s) <= 3 and (0 not in s or set(s.tolist()) <= {0, 1})
    matroid._answers.clear()
    with pytest.raises(ValueError, match=r"it allows \[0\] and \[2, 3\]"):
        swap_grid(matroid, [2, 3, 4])


def test_a_subset_that_is_not_allowed_is_met():
    for kind in (sw.OracleMatroid, sw.OracleSystem):
        system = of_sets(40, lambda s: len(s) <= 3, kind)
        system._oracle = lambda s: len(s) <= 3 and s.tolist() != [5, 7]
        system._answers.clear()
        with pytest.raises(ValueError, match=r"allows \[5, 7, 9\], but not its subset \[5, 7\]"):
            next(system.moves(np.array([5, 7, 9])))


class Mine(Matroid):
    """A matroid as a user writes it; ``allows`` says which sets."""

    def __init__(self, n, allows):
        self.n, self.allows = n, allows

    def _is_independent(self, support):
        return self.allows(frozenset(support.tolist()))


def test_a_matroid_of_the_users_is_verified_before_a_search():
    price = [2, 1, 1]
    for run in (sw.maximize, sw.certify, sw.exact):
        with pytest.raises(ValueError, match=r"Mine\(n=3\) is not a matroid: it allows \[0\] and \[1, 2\]"):
            run(sw.Linear([1.9, 1, 1]), Mine(3, lambda s: sum(price[e] for e in s) <= 2))
    small, large = Mine(8, lambda s: len(s) <= 2), Mine(30, lambda s: len(s) <= 2)
    assert small.assumptions == ()
    assert large.assumptions == small.truncate(1).assumptions + large.assumptions
    assert "that Mine(n=30) is a matroid" in large.assumptions[0]
    assert sw.certify(sw.Linear(np.ones(30)), large).assumptions == large.assumptions
    assert "assuming that Mine(n=30) is a matroid" in repr(
        sw.maximize(sw.Linear(np.ones(30)), large).guarantee
    )


def test_what_a_class_of_the_users_answers_itself_is_an_assumption():
    class Quick(Mine):
        def extend(self, support, order):
            return super().extend(support, order)

    assert Quick(5, lambda s: len(s) <= 2).assumptions == ("that extend of Quick(n=5) is right",)


def test_copies_are_verified_and_say_what_they_assume():
    for whole in (Mine(30, lambda s: len(s) <= 2), of_sets(30, lambda s: len(s) <= 2)):
        said = whole.assumptions
        for other in (copy.copy(whole), copy.deepcopy(whole)):
            assert other.assumptions == said
            assert other.induced(np.arange(9)).assumptions == said
    changed = copy.copy(whole)
    changed._oracle, changed._answers = lambda s: len(s) != 1, {}
    with pytest.raises(ValueError, match="is not downward closed"):
        sw.maximize(sw.Linear(np.ones(30)), changed)


def test_what_a_class_keeps_for_itself_is_none_of_its_parts():
    class Composed(Mine):
        def __init__(self, n, allows):
            super().__init__(n, allows)
            self._parts = self.parts = ["a", "b"]

    assert Composed(5, lambda s: len(s) <= 2).assumptions == ()


def test_a_search_meets_sets_of_a_class_of_the_users_too():
    matroid = Mine(30, hidden(30))
    with pytest.raises(ValueError, match=r"is not a matroid: it allows .* and \[26, 27, 28, 29\]"):
        sw.maximize(sw.Linear(np.arange(30.0)), matroid)


@pytest.mark.parametrize("n", [12, 40])
def test_a_slow_function_is_not_asked_for_long(n, monkeypatch):
    monkeypatch.setattr(axioms, "SECONDS", 0.05)

    def slow(support):
        time.sleep(0.005)
        return len(support) <= 2

    before = time.perf_counter()
    matroid = sw.OracleMatroid(n, slow)
    assert time.perf_counter() - before < 2.0
    assert matroid.assumptions


def test_no_more_questions_than_said():
    asked = []

    def few(support):
        asked.append(support)
        return len(support) <= 3

    for n in (12, 13, 60, 500):
        asked.clear()
        sw.OracleMatroid(n, few)
        assert len(asked) <= axioms.MOST_QUESTIONS + 3 * n


def test_the_largest_and_smallest_of_families():
    for n in (0, 1, 12, 13):
        for size in (0, 1, n):
            assert of_sets(n, lambda s, size=size: len(s) <= size).rank() == min(size, n)


def test_maximal_sets_are_kept_where_all_were_asked_about():
    pairs = [as_array(pair) for pair in combinations(range(4), 2)]
    maximal = Axioms(sw.Uniform(4, 2), p=1).maximal
    assert sorted(np.flatnonzero(row).tolist() for row in maximal) == [pair.tolist() for pair in pairs]
