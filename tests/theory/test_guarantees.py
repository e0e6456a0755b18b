"""What each guarantee is made of, and where the paper's printed forms are mended."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swapwise as sw
from swapwise.theory.constants import Constant, RestrictedConstants, restricted_constants
from swapwise.theory.guarantees import (
    drops_per_addition,
    guarantee,
    iterations_for,
    local_search_ratio,
)
from swapwise.theory.localizable import Localizability
from swapwise.theory.ratios import SubmodularityRatios

pytestmark = pytest.mark.filterwarnings("ignore:.*allows only the empty set", "ignore:.*linearly independent")

SUBMODULAR, LINEAR = Localizability(1.0, 1.0, 1.0), Localizability(1.0, 1.0, 0.0)
COMPLETE = [(i, j) for i in range(4) for j in range(i + 1, 4)]


def constants(s=2, t=2, m=0.5, M=1.0, M_rule=None):
    """Constants of an objective that curves by m at least and M at most."""
    low, high = Constant(m, "lower bound"), Constant(M, "upper bound")
    return RestrictedConstants(s, t, low, low, low, high, high, high, Constant(M_rule or M, "upper bound"))


def test_the_ratio_is_what_the_recursion_of_the_proofs_leads_to():
    for beta, s, T in [(0.5, 4, 3), (2.0, 5, 4), (3.0, 2, 3), (1.0, 1, 1)]:
        value = 0.0
        for _ in range(T):
            value = max(value, value + max(0.0, (0.8 - beta * value) / s))
        ratio = local_search_ratio((0.8, beta, 0.0), s, T=T)
        assert ratio <= min(1.0, value) + 1e-12
        if beta <= s:
            assert ratio == pytest.approx(min(1.0, value))


@given(
    st.tuples(*[st.floats(0.01, 3)] * 3),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(0, 9),
)
def test_ratios_grow_with_iterations_up_to_their_limit(triple, s, p, q, T):
    now, later, limit = (local_search_ratio(triple, s, p, q, T=i) for i in (T, T + 1, None))
    assert 0 <= now <= later <= limit <= 1
    rate = (triple[1] * drops_per_addition(p, q) + triple[2]) / s
    assert now >= min(1.0, triple[0] / (rate * s) * (1 - exp(-rate * T))) - 1e-12
    assert local_search_ratio(triple, s, p, q, epsilon=0.1) < limit or limit == 1


def test_slip_1_the_exponent_is_negative():
    """Table 1 and Theorem 12 print 1 − exp(+…): less than nothing."""
    stated = guarantee("oblivious", sw.BMatching.complete(4, 1), SUBMODULAR, T=4)
    assert stated.constants == {"alpha": 1, "beta1": 1, "beta2": 1, "p": 2, "q": 1, "s": 2, "T": 4}
    assert 1 / 3 * (1 - exp(+3 * 4 / 2)) < 0
    assert 1 / 3 * (1 - exp(-3 * 4 / 2)) <= stated.ratio <= 1 / 3


def overlapping(rho):
    """Return a path 0, 2, 1 of edges with equal correlations, at which dropping 0 and 1 for 2 is a loss.

    Its Hessian H has ones on the diagonal and rho elsewhere. From w = (1, 1, 0), the best that smoothness
    along all three guarantees is the direction (1, 1, 1), H's first eigenvector: there the bound is tight.
    """
    H = np.full((3, 3), rho) + (1 - rho) * np.eye(3)
    root = np.linalg.cholesky(H).T
    y = np.linalg.solve(root.T, np.array([1 + rho, 1 + rho, -1.0]))
    return sw.LeastSquares(root, y), sw.BMatching([(0, 1), (2, 3), (1, 2)], 1)


def test_slip_2_pairs_are_not_enough_for_larger_moves():
    """Table 1 and the proof of Theorem 14 have M_{s,2}: with it the rule goes downhill."""
    objective, path = overlapping(0.8)
    pairs, triples = (restricted_constants(objective, 2, t).M_st for t in (2, 3))
    assert pairs < triples
    start = objective.start([0, 1])
    np.testing.assert_allclose(start.coef, [1, 1, 0])
    bounds = [start.gradient[2] ** 2 / (2 * M) - M * (start.coef**2).sum() / 2 for M in (pairs, triples)]
    gain = objective([2]) - objective([0, 1])
    assert gain == pytest.approx(bounds[1])
    assert bounds[0] > 0 > gain
    with pytest.warns(UserWarning, match="did not raise the value"):
        failed = sw.maximize(objective, path, sw.NonOblivious(pairs), start=[0, 1])
    assert "less than M_st" in repr(failed.guarantee.by_theorem)
    sound = sw.maximize(objective, path, sw.NonOblivious(triples), start=[0, 1])
    assert sound.status == "LOCAL_OPTIMUM"
    assert sound.guarantee.by_theorem.constants["M"] == pytest.approx(triples)


def test_slip_3_reachable_sets_may_differ_in_more_than_the_printed_t():
    """A new element that is in the way of two old ones, six times: q = 3 of two matroids."""
    p, q = 2, 3
    first = [*range(6), *range(6, 12), *range(6)]
    second = [*range(6, 12), *range(6), *range(6)]
    system = sw.Intersection(sw.Partition(first, 1), sw.Partition(second, 1), neighbourhood="matroid")
    S, T = set(range(12)), set(range(12, 18))
    assert system.is_independent(S)
    assert system.is_independent(T)
    assert not any(system.is_independent({*T, old}) for old in S)
    assert len(T - S) <= 2 * q
    assert len(S - T) <= 2 * p * q
    assert len(S ^ T) == system.exchange_size(q) > 2 * p * (q + 1)
    with pytest.raises(ValueError, match=r"t = 18, but they are for s = 12 and t = 16"):
        guarantee("oblivious", system, constants(12, 2 * p * (q + 1)), q=q)


def test_slip_5_fewer_iterations_suffice():
    """The appendix has s M/m for s m/M: enough too, but (M/m)² times as many."""
    for s, m, M, epsilon in [(10, 0.5, 1.0, 0.01), (30, 0.2, 1.0, 0.001), (5, 1.0, 1.0, 0.1)]:
        limit = (m / M) ** 2
        needed, printed = iterations_for(epsilon, s, m, M), s * M / m * log(limit / epsilon)
        assert needed <= np.ceil(printed)
        assert limit * (1 - exp(-M * needed / (s * m))) >= limit - epsilon
        assert limit * (1 - exp(-M * (needed - 1) / (s * m))) < limit - epsilon
        assert local_search_ratio((m / M, M / m, 0.0), s, T=needed) >= limit - epsilon
    assert iterations_for(0.01, 10, 0.5, 1.0) < 10 / 0.5 * log(0.25 / 0.01) / 3
    assert iterations_for(0.5, 10, 0.5, 1.0) == 0
    assert iterations_for(0.01, 10, 0.5, 1.0, p=2) < iterations_for(0.01, 10, 0.5, 1.0)


def test_slip_6_the_best_element_may_not_be_allowed():
    """Algorithm 5 begins at the element of largest value, whether it is independent or not; and δ is ε/s."""
    objective, matroid = sw.Linear([1.0, 9.0, 2.0, 2.1]), sw.Partition(list("abcc"), {"a": 1, "b": 0, "c": 1})
    begun = sw.maximize(objective, matroid, "oblivious", start="best-singleton", epsilon=0.1)
    assert not matroid.is_independent([1])
    assert begun.history[0].added == (0, 3)
    # The swap of 2 for 3 gains 0.1 of 3: more than δ = ε/n with ε = 0.12, and less than ε/s.
    n, s, epsilon = 4, 2, 0.12
    for rate, stays in [(epsilon, True), (epsilon * s / n, False)]:
        found = sw.maximize(objective, matroid, "oblivious", start=[0, 2], epsilon=rate)
        assert (found.support.tolist() == [0, 2]) == stays


def test_slip_7_a_rate_above_one_leads_straight_to_the_limit():
    """(1 − c)^T with c = 5 would be −64 or 16: a ratio above 1, or below 0."""
    c, limit = 5.0, 1 / 25
    assert limit * (1 - (1 - c) ** 3) > 1
    assert limit * (1 - (1 - c) ** 2) < 0
    for T in (1, 2, 3):
        stated = guarantee("semi-oblivious", sw.Uniform(4, 1), constants(1, 2, m=0.2, M=1.0), T=T)
        assert stated.ratio == pytest.approx(limit)


ALL_METHODS = ["oblivious", "greedy", "random-residual-greedy", "modular", "random", "exhaustive"]


@pytest.mark.parametrize(
    ("method", "given_constants", "options", "words"),
    [
        ("oblivious", LINEAR, {}, "the optimum (Theorem 9 of Fujii 2020: α/(β₁ + β₂))"),
        ("semi-oblivious", constants(), {}, "at least 0.25 of the optimum (Theorem 13 of Fujii 2020: m²/M²)"),
        ("auto", constants(), {}, "at least 0.25 of the optimum (Theorem 9 of Fujii 2020: m²/M²)"),
        (
            "non-oblivious",
            constants(M_rule=2.0),
            {},
            "at least 0.0625 of the optimum (Theorem 13 of Fujii 2020: m²/M²)",
        ),
        (
            sw.NonOblivious(1.25),
            constants(),
            {},
            "at least 0.16 of the optimum (Theorem 13 of Fujii 2020: m²/M²)",
        ),
        (
            "semi-oblivious",
            constants(m=0.8),
            {"T": 1},
            "at least 0.4 of the optimum (Theorem 13 of Fujii 2020: m²/M² · (1 − max(0, 1 − (M/m)/s)^T))",
        ),
        (
            "oblivious",
            constants(),
            {"epsilon": 0.5},
            "at least 0.2 of the optimum within 7 moves (Theorem 23 of Fujii 2020: (m/M)/(M/m + ε))",
        ),
        (
            "oblivious",
            SUBMODULAR,
            {"epsilon": 0.5},
            "at least 0.4 of the optimum (after Theorem 23 of Fujii 2020: α/(β₁ + β₂ + ε))",
        ),
        (
            "modular",
            constants(),
            {},
            "at least 0.25 of the optimum (Proposition 25 of Fujii 2020: m_1 m_s/(M_1 M_s))",
        ),
        (
            "greedy",
            constants(),
            {},
            "at least 0.4375 of the optimum (Elenberg et al. 2018: 1 − (1 − m_2s/(s M_1))^T)",
        ),
        (
            "random-residual-greedy",
            constants(),
            {},
            "at least 0.2 of the optimum in expectation (Thiery and Ward 2022: 1/(1 + (M_1/m_s)²))",
        ),
        ("exhaustive", constants(), {}, "the optimum (exhaustive search: all sets were seen)"),
        ("random", constants(), {}, "vacuous (the set is drawn at random)"),
        ("oblivious", constants(), {"T": 0}, "vacuous (no iteration was completed)"),
        ("greedy", constants(), {"T": 0}, "vacuous (no iteration was completed)"),
        ("exhaustive", constants(), {"T": 9}, "vacuous (exhaustive did not come to its end)"),
        ("modular", constants(), {"T": 0}, "vacuous (modular did not come to its end)"),
        (
            "random-residual-greedy",
            constants(),
            {"T": 1},
            "vacuous (random-residual-greedy did not come to its end)",
        ),
        (
            "greedy",
            SUBMODULAR,
            {},
            "vacuous (localizability gives no guarantee for greedy; RestrictedConstants or "
            "SubmodularityRatios may)",
        ),
        (
            "oblivious",
            constants(m=0.0),
            {},
            "vacuous (m_2s is 0 (more features than samples, collinear columns, or too many for more than a "
            "rough bound): "
            "a ridge makes it positive)",
        ),
        (
            "oblivious",
            constants(M=np.inf),
            {},
            "vacuous (it is not known how smooth the objective is)",
        ),
        (
            "oblivious",
            constants(),
            {"epsilon": 0.5, "T": 3},
            "vacuous (the geometric rule guarantees nothing before it stops by itself)",
        ),
        (
            sw.NonOblivious(0.9),
            constants(),
            {},
            "vacuous (NonOblivious(smoothness=0.9) is less than M_st = 1: nothing is guaranteed)",
        ),
        ("oblivious", Localizability(0.0, 1.0, 1.0), {}, "vacuous (the constants, or tol, leave nothing)"),
    ],
)
def test_a_guarantee_in_words(method, given_constants, options, words):
    stated = guarantee(method, sw.Uniform(5, 2), given_constants, **options)
    assert str(stated) == repr(stated) == words
    assert stated.vacuous == words.startswith("vacuous")


def test_less_than_the_optimum_does_not_read_as_the_optimum():
    almost = sw.Guarantee(1 - 1e-12, "along the run", "f(S)/f(all elements)", trivial=True)
    assert repr(almost).startswith("at least 0.9999 of the optimum")
    assert repr(sw.Guarantee(1.0, "along the run", "1")).startswith("the optimum")


def test_only_a_guarantee_of_nothing_has_a_reason():
    stated = [
        guarantee("oblivious", sw.Uniform(5, 2), constants(m=m), **options)
        for m in (0.0, 0.5)
        for options in ({}, {"T": 0}, {"T": 2}, {"epsilon": 0.1})
    ]
    run = sw.maximize(sw.Coverage([{1, 2}, {2, 3}, {4}]), sw.Uniform(3, 2), "greedy").guarantee
    for each in (*stated, run, *run.others):
        assert each.vacuous == (each.reason != "")
    assert any(each.vacuous for each in stated)
    assert any(not each.vacuous for each in stated)


def test_an_objective_in_place_of_its_constants_is_told_what_they_are():
    f = sw.Coverage([{1, 2}, {2, 3}, {4}])
    with pytest.raises(TypeError, match=r"theory\.Localizability\(1, 1, 1\) of a submodular one") as caught:
        guarantee("oblivious", sw.Uniform(3, 2), f)
    assert repr(f) in str(caught.value)
    assert guarantee("oblivious", sw.Uniform(3, 2), sw.theory.Localizability(1, 1, 1)).ratio == 0.5


@pytest.mark.parametrize("name", ["greedy", "modular", "random-residual-greedy"])
def test_flat_objectives_guarantee_nothing(name):
    assert "a ridge makes it positive" in repr(guarantee(name, sw.Uniform(5, 2), constants(m=0.0)))


def test_larger_exchanges_are_worth_more_under_systems_only():
    matching, known = sw.BMatching.complete(6, 1), constants(3, 9)
    ratios = [guarantee("semi-oblivious", matching, known, q=q).ratio for q in (1, 2, 4)]
    assert ratios == pytest.approx([0.25 / 2, 0.25 / 1.5, 0.25 / 1.25])
    assert repr(guarantee("semi-oblivious", matching, known)).endswith(
        "(Theorem 14 of Fujii 2020: m²/((p − 1 + 1/q) M²))"
    )
    assert guarantee("oblivious", matching, known).theorem == "Theorem 12 of Fujii 2020"
    assert guarantee("oblivious", matching, known, epsilon=0.1).theorem == "after Remark 24 of Fujii 2020"
    alone = sw.Intersection(sw.Partition(list("aabbcc"), 1))
    assert guarantee("oblivious", alone, known, q=4).ratio == 0.25


def test_modular_guarantees_less_where_the_heaviest_set_is_not_found_for_certain():
    parts = [sw.Graphic(COMPLETE), sw.Partition(list("aabbcc"), 1), sw.Partition(list("abcabc"), 1)]
    assert guarantee("modular", sw.Intersection(*parts[:2]), constants(3, 99)).ratio == 0.25
    assert guarantee("modular", sw.Intersection(*parts), constants(3, 99)).ratio == pytest.approx(0.25 / 3)


def test_modular_counts_the_curvature_of_what_is_forced_in():
    m_1, m_s, M = Constant(0.9, "exact"), Constant(0.5, "exact"), Constant(1.0, "exact")
    known = RestrictedConstants(2, 2, m_1, m_s, m_s, M, M, M, M)
    assert guarantee("modular", sw.Uniform(5, 2), known).ratio == pytest.approx(0.45)
    assert guarantee("modular", sw.Uniform(5, 2).contract([1]), known).ratio == pytest.approx(0.25)


def test_greedy_without_a_size_limit():
    partition, matching = sw.Partition(list("aabbcc"), 1), sw.BMatching.complete(4, 1)
    assert guarantee("greedy", partition, constants(3)).vacuous
    submodular, linear = SubmodularityRatios.of_submodular(), SubmodularityRatios.of_submodular(linear=True)
    assert guarantee("greedy", partition, submodular).ratio == 0.5
    assert guarantee("greedy", matching, submodular).ratio == pytest.approx(1 / 3)
    assert guarantee("greedy", matching, linear).ratio == 0.5
    assert guarantee("greedy", partition, linear).ratio == 1
    assert guarantee("greedy", partition, submodular, T=2).vacuous
    assert guarantee("greedy", sw.Uniform(6, 3), submodular, T=1).ratio == pytest.approx(1 / 3)


@pytest.mark.parametrize("constraint", [sw.Uniform(0, 3), sw.Uniform(3, 0)])
@pytest.mark.parametrize("method", ALL_METHODS)
def test_where_nothing_can_be_chosen_the_optimum_is_found(method, constraint):
    assert guarantee(method, constraint, constants(m=0.0)).ratio == 1
    assert sw.maximize(sw.Linear(np.ones(constraint.n)), constraint, method).guarantee.ratio == 1


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("best", sw.Uniform(5, 2), constants()), {}, ValueError, "one of auto, oblivious.*got 'best'"),
        ((sw.Oblivious, sw.Uniform(5, 2), constants()), {}, ValueError, "must be a pivot rule"),
        (
            ("oblivious", sw.Uniform(5, 2), 0.5),
            {},
            TypeError,
            "restricted_constants.*got 0.5",
        ),
        (("oblivious", sw.Uniform(5, 3), constants()), {}, ValueError, "s = 3 .*t = 2, but.*s = 2 and t = 2"),
        (("oblivious", sw.BMatching.complete(5, 1), constants()), {}, ValueError, "t = 3"),
        (("oblivious", sw.Uniform(5, 2), Localizability(1, 1, 1, 1, 2)), {}, ValueError, "for s = 1 and"),
        (("oblivious", sw.Uniform(5, 2), constants()), {"q": 2}, ValueError, "q = 1; got q = 2"),
        (("oblivious", sw.BMatching.complete(5, 1), constants()), {"q": 0}, ValueError, "at least 1, got 0"),
        (("oblivious", sw.Uniform(5, 2), constants()), {"T": -1}, ValueError, "T must be"),
        (("oblivious", sw.Uniform(5, 2), constants()), {"epsilon": 0}, ValueError, "epsilon must be"),
        (("greedy", sw.Uniform(5, 2), constants()), {"epsilon": 0.1}, ValueError, "greedy does not use"),
        (("auto", sw.Uniform(5, 2), SUBMODULAR), {}, ValueError, "name one"),
        (("semi-oblivious", sw.Uniform(5, 2), SUBMODULAR), {}, TypeError, "needs RestrictedConstants"),
        ((sw.NonOblivious("global"), sw.Uniform(5, 2), constants()), {}, ValueError, "objective.smoothness"),
        (
            ("random-residual-greedy", sw.BMatching.complete(5, 1), constants()),
            {},
            TypeError,
            "for a matroid",
        ),
    ],
)
def test_what_is_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        guarantee(*arguments, **options)


def test_a_number_is_no_constraint():
    with pytest.raises(TypeError, match=r"did you mean sw.Uniform\(n, 2\)"):
        guarantee("oblivious", 2, Localizability(1.0, 1.0, 0.0, None, None))
