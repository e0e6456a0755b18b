"""Certificates: whatever is proven, and whenever it stops, is true of the optimum of exhaustive search."""

import pickle
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.certify import certify, leaf, prover
from swapwise.certify.branching import BranchAndBound
from swapwise.certify.certificate import Certificate, percent
from swapwise.certify.frank_wolfe import FrankWolfeRelaxation
from swapwise.certify.problem import RestrictedProblem
from swapwise.certify.prover import Prover
from swapwise.certify.proximal import ProximalRelaxation
from swapwise.certify.relaxed import RelaxedNode
from swapwise.clock import Clock, OutOfTime
from tests.certify.problem_zoo import (
    GRAPH_CONSTRAINTS,
    OBJECTIVES,
    WAYS,
    check_history,
    enumeration,
    expected_warnings,
    randoms,
    some_objectives,
    spins,
    tolerance,
)
from tests.contracts.constraint_zoo import FAMILIES, SYSTEMS

pytestmark = expected_warnings


def check_certificate(objective, constraint, certificate, best=None):
    """Check all that a certificate says against the optimum."""
    if best is None:
        best = sw.maximize(objective, constraint, "exhaustive").value
    for kind, bound in certificate.bounds.items():
        assert bound >= best - tolerance(objective, best), f"{kind}: {bound} for an optimum of {best}"
    assert certificate.upper_bound == min(certificate.bounds.values(), default=np.inf)
    assert not certificate.bounds or certificate.bounds[certificate.kind] == certificate.upper_bound
    assert certificate.value == objective(certificate.support)
    assert constraint.is_independent(certificate.support)
    assert constraint.is_complete(certificate.support)
    # Two values count as equal if they differ by a few billionths.
    assert certificate.ratio * best <= certificate.value + tolerance(objective, best, 3e-9)
    if certificate.better is not None:
        assert constraint.is_independent(certificate.better)
        assert constraint.is_complete(certificate.better)
        assert certificate.value < objective(certificate.better) <= best + tolerance(objective, best)
    check_history(objective, certificate, best)


def check_certificates(random, constraint, closed_form, count=2):
    """Judge the answer of local search, and a poor one, of several objectives."""
    for objective in some_objectives(random, constraint, count) if constraint.n else []:
        best = sw.maximize(objective, constraint, "exhaustive").value
        poor = constraint.random_set(constraint.forced, random)[: random.integers(3)]
        poor = constraint.completed(poor, np.zeros(constraint.n))
        with enumeration(closed_form):
            check_certificate(objective, constraint, sw.certify(objective, constraint), best)
            check_certificate(objective, constraint, sw.certify(objective, constraint, poor, gap=0.0), best)


@WAYS
@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=3)
@given(data=st.data())
def test_no_bound_is_below_the_optimum_under_a_matroid(family, closed_form, data):
    matroid = data.draw(FAMILIES[family]).matroid
    check_certificates(data.draw(randoms), matroid, closed_form)


@pytest.mark.slow
@WAYS
@pytest.mark.parametrize("family", SYSTEMS)
@settings(max_examples=3)
@given(data=st.data())
def test_no_bound_is_below_the_optimum_under_a_system(family, closed_form, data):
    system = data.draw(SYSTEMS[family]).system
    check_certificates(data.draw(randoms), system, closed_form)


@WAYS
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_no_bound_is_below_the_optimum_of_any_objective(kind, closed_form):
    for seed in range(1 if kind == "ising" else 4):
        objective = OBJECTIVES[kind](np.random.default_rng(seed), 7)
        for constraint in (sw.Uniform(7, 3), sw.Partition(list("aaabbbc"), 1)):
            with enumeration(closed_form):
                certificate = sw.certify(objective, constraint, gap=0.0)
            check_certificate(objective, constraint, certificate)
            assert "all" in certificate.bounds


@pytest.mark.parametrize("constraint", GRAPH_CONSTRAINTS, ids=repr)
@pytest.mark.parametrize("fields", [False, True])
def test_no_bound_is_below_the_optimum_of_an_ising_model(constraint, fields):
    for seed, ridge in enumerate([0.1] if fields else [0.01, 0.1, 1.0]):
        objective = sw.graphs.IsingPseudoLikelihood(spins(np.random.default_rng(seed), 4), ridge, fields)
        check_certificate(objective, constraint, sw.certify(objective, constraint, gap=0.0))
        check_certificate(objective, constraint, sw.certify(objective, constraint, constraint.forced))


def regression(seed=0, n=12, **options):
    random = np.random.default_rng(seed)
    X = random.standard_normal((30, n)) + random.standard_normal((30, 1))
    return sw.LeastSquares(X, X[:, :4].sum(axis=1) + 2 * random.standard_normal(30), **options)


TRIPLES = sw.Uniform(12, 3)


def test_every_kind_of_bound_is_tried_where_it_holds():
    with enumeration(closed_form=False):
        by_relaxation = sw.certify(regression(), TRIPLES, gap=0.0)
    assert set(by_relaxation.bounds) == {"all", "concavity", "relaxation", "branching"}
    assert by_relaxation.fractional.shape == (12,)
    assert by_relaxation.fractional.sum() == pytest.approx(3)
    by_values = sw.certify(sw.FacilityLocation(np.eye(12)), TRIPLES)
    assert set(by_values.bounds) == {"all", "gains"}
    assert by_values.fractional is None


def test_an_answer_that_is_good_enough_is_not_looked_at_further():
    objective = sw.FacilityLocation(np.random.default_rng(0).uniform(size=(30, 12)))
    strict, content = (sw.certify(objective, TRIPLES, gap=gap) for gap in (0.0, 0.9))
    assert strict.ratio == 1
    assert strict.n_nodes >= 1
    assert content.n_nodes == 0
    assert 0.1 <= content.ratio < 1


def test_a_trivial_bound_ends_no_proof_that_is_cheap():
    """Nearly all is explained, so that the value of all columns is close; which of them are best is open."""
    rng = np.random.default_rng(0)
    x, z = rng.uniform(5, 15, (1000, 2)).T
    y = x - z + 0.05 * rng.standard_normal(1000)
    objective = sw.LeastSquares(np.column_stack([x, z, x**2, x * z, z**2, x**3]), y)
    certificate = sw.certify(objective, sw.Uniform(6, 2), [0, 1])
    assert certificate.bounds["all"] - certificate.value < 1e-6
    assert certificate.optimal


@pytest.mark.parametrize(("n", "size"), [(19, 18), (60, 58), (40, 36)])
def test_nearly_all_columns_are_chosen(n, size):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2 * n, n))
    y = X @ rng.standard_normal(n) + 0.1 * rng.standard_normal(2 * n)
    assert sw.certify(sw.LeastSquares(X, y), sw.Uniform(n, size)).optimal


def test_a_bound_that_says_no_more_than_the_trivial_one_ends_no_proof_either():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 100))
    for j in range(1, 100):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]
    objective = sw.LeastSquares(X, X @ rng.standard_normal(100) + 3 * rng.standard_normal(300))
    simple, certificate = (sw.certify(objective, sw.Uniform(100, 97), max_nodes=n) for n in (0, None))
    assert simple.trivial
    assert 0 < simple.gap < 1e-4
    assert certificate.optimal


def test_a_better_set_is_told_if_the_answer_is_not_the_best():
    objective = regression()
    best = sw.maximize(objective, TRIPLES, "exhaustive")
    certificate = sw.certify(objective, TRIPLES, [9, 10, 11], gap=0.0)
    assert certificate.better.tolist() == best.support.tolist()
    assert certificate.ratio == pytest.approx(objective([9, 10, 11]) / best.value, rel=1e-6)
    assert sw.certify(objective, TRIPLES, best).better is None


@pytest.mark.parametrize("loss", [1e-3, 1e-5, 1e-7])
def test_an_answer_a_little_below_the_optimum_is_not_called_optimal(loss):
    certificate = sw.certify(sw.Linear([1.0, 1.0 - loss, 0.5]), sw.Uniform(3, 1), [1], gap=0.0)
    assert certificate.ratio == pytest.approx(1 - loss, abs=1e-8)
    assert not certificate.optimal
    assert certificate.better.tolist() == [0]


def test_forced_elements_join_the_answer():
    constraint = TRIPLES.contract([11])
    certificate = sw.certify(regression(), constraint, [0])
    assert certificate.support.tolist() == [0, 11]
    check_certificate(regression(), constraint, certificate)


def test_the_value_of_a_result_is_computed_anew():
    objective = regression()
    result = replace(sw.maximize(objective, TRIPLES), value=99.0)
    assert sw.certify(objective, TRIPLES, result).value == objective(result.support) < 1


@pytest.mark.parametrize("constraint", [sw.Uniform(3, 0), sw.Uniform(3, 2).restrict([])], ids=repr)
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_where_nothing_can_be_chosen_nothing_is_the_optimum(kind, constraint):
    certificate = sw.certify(OBJECTIVES[kind](np.random.default_rng(0), 3), constraint)
    assert certificate.ratio == 1
    assert certificate.support.tolist() == []


@pytest.mark.parametrize(
    "objective", [sw.Linear([]), sw.Coverage([]), sw.CustomSetFunction(len, 0, monotone=True)]
)
def test_an_empty_ground_set_has_an_optimum(objective):
    assert sw.certify(objective, sw.Uniform(0, 2)).optimal


def test_a_zero_response_has_an_optimum_of_zero():
    with pytest.warns(UserWarning, match="y is zero"):
        objective = sw.LeastSquares(np.eye(4), np.zeros(4))
    certificate = sw.certify(objective, sw.Uniform(4, 2))
    assert certificate.value == 0
    assert certificate.optimal


# Stopped early


def stop_at(patch, target, name, k, error):
    """Have the k-th call of a method raise an error, and those after it too if time is what is out."""
    original, calls = getattr(target, name), []

    def counted(self, *arguments, **options):
        calls.append(None)
        if len(calls) == k or (len(calls) > k and error is OutOfTime):
            raise error
        return original(self, *arguments, **options)

    patch.setattr(target, name, counted)
    return calls


ANYTIME = [
    (sw.LeastSquares(np.random.default_rng(1).standard_normal((9, 8)), np.arange(9.0)), sw.Uniform(8, 3)),
    (OBJECTIVES["tall"](np.random.default_rng(5), 6), sw.BMatching.complete(4, [1, 2, 1, 2])),
    (OBJECTIVES["wide"](np.random.default_rng(2), 8), sw.Partition(list("aabbccdd"), 1)),
    (OBJECTIVES["logistic"](np.random.default_rng(3), 6), sw.Uniform(6, 3)),
    (OBJECTIVES["facility_location"](np.random.default_rng(4), 8), sw.Uniform(8, 3)),
    (OBJECTIVES["monotone"](np.random.default_rng(6), 6), sw.Partition(list("aabbcc"), 1)),
]


@WAYS
@pytest.mark.parametrize(("objective", "constraint"), ANYTIME)
@pytest.mark.parametrize("time_limit", [0, 1e-9, 1e-3])
def test_what_is_proven_in_no_time_is_true(objective, constraint, closed_form, time_limit):
    with enumeration(closed_form):
        certificate = sw.certify(objective, constraint, time_limit=time_limit, gap=0.0)
    check_certificate(objective, constraint, certificate)
    if not objective.submodular:
        assert np.isfinite(certificate.upper_bound)


@pytest.mark.parametrize(("objective", "constraint"), ANYTIME)
def test_what_is_proven_when_the_time_is_out_is_true(objective, constraint):
    best = sw.maximize(objective, constraint, "exhaustive").value
    for k in (1, 2, 3, 5, 8, 13, 21, 34):
        with enumeration(closed_form=False) as patch:
            stop_at(patch, Clock, "check", k, OutOfTime)
            certificate = sw.certify(objective, constraint, constraint.forced, gap=0.0)
        check_certificate(objective, constraint, certificate, best)


def test_an_interrupt_of_the_search_is_told(monkeypatch):
    empty = sw.maximize(regression(), TRIPLES, start=[], max_iter=0)
    monkeypatch.setattr(certify, "_first_search", lambda *_: replace(empty, status="INTERRUPTED"))
    assert sw.certify(regression(), TRIPLES).status == "INTERRUPTED"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "name"),
    [
        (ProximalRelaxation, "improve"),
        (ProximalRelaxation, "_settle"),
        (FrankWolfeRelaxation, "improve"),
        (FrankWolfeRelaxation, "_fit"),
        (RelaxedNode, "_fix"),
        (RelaxedNode, "_raise_diagonal"),
        (RestrictedProblem, "among"),
        (BranchAndBound, "_split"),
        (BranchAndBound, "_try"),
        (Prover, "_simple_bounds"),
    ],
)
@pytest.mark.parametrize(("objective", "constraint"), ANYTIME)
def test_what_is_proven_before_an_interrupt_is_true(objective, constraint, target, name):
    best = sw.maximize(objective, constraint, "exhaustive").value
    for k in (1, 2, 4, 7):
        with enumeration(closed_form=False) as patch:
            stop_at(patch, target, name, k, KeyboardInterrupt)
            certificate = sw.certify(objective, constraint, constraint.forced, gap=0.0)
        check_certificate(objective, constraint, certificate, best)


def test_more_time_never_proves_less():
    with enumeration(closed_form=False) as patch:
        bounds = []
        for k in range(1, 60, 4):
            stop_at(patch, Clock, "check", k, OutOfTime)
            bounds.append(sw.certify(regression(), TRIPLES, [9, 10, 11], gap=0.0).upper_bound)
            patch.undo()
            patch.setattr(leaf, "MOST_SETS", 0)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < bounds[0]


NODE_LIMITS = range(6)


@WAYS
@pytest.mark.parametrize("kind", OBJECTIVES)
@settings(max_examples=3)
@given(random=randoms)
def test_what_is_proven_by_few_parts_is_true_and_more_never_prove_less(kind, closed_form, random):
    objective, constraint = OBJECTIVES[kind](random, 7), sw.Uniform(7, 3)
    best = sw.maximize(objective, constraint, "exhaustive").value
    with enumeration(closed_form):
        proven = [limited(objective, constraint, most) for most in NODE_LIMITS]
    for most, certificate in zip(NODE_LIMITS, proven, strict=True):
        check_certificate(objective, constraint, certificate, best)
        assert certificate.n_nodes <= most
        if certificate.status != "ITERATION_LIMIT":
            assert certificate.status == "COMPLETE"
            assert certificate.upper_bound <= best + tolerance(objective, best, 2e-9)
    for fewer, more in pairwise(proven):
        # What is no better than the best set by more than a billionth is dropped, wherever its bound was.
        assert more.upper_bound <= fewer.upper_bound + tolerance(objective, best, 2e-9)
        assert more.n_nodes >= fewer.n_nodes
        assert fewer.status == "ITERATION_LIMIT" or more.upper_bound == fewer.upper_bound


def limited(objective, constraint, max_nodes):
    """Judge a poor answer with no limit but that on the parts looked at."""
    return sw.certify(objective, constraint, constraint.forced, time_limit=None, gap=0.0, max_nodes=max_nodes)


@pytest.mark.parametrize(("objective", "constraint"), ANYTIME)
def test_a_limit_on_parts_gives_the_same_bounds_on_every_run(objective, constraint):
    with enumeration(closed_form=False):
        for most in NODE_LIMITS:
            first, second = (limited(objective, constraint, most) for _ in range(2))
            for name in ("upper_bound", "bounds", "n_nodes", "status"):
                assert getattr(first, name) == getattr(second, name)


def test_all_parts_that_are_allowed_are_looked_at():
    with enumeration(closed_form=False):
        whole = limited(regression(), TRIPLES, None)
        assert whole.n_nodes > 3
        for most in range(whole.n_nodes):
            certificate = limited(regression(), TRIPLES, most)
            assert (certificate.n_nodes, certificate.status) == (most, "ITERATION_LIMIT")
            assert certificate.upper_bound > whole.upper_bound
        for most in (whole.n_nodes, whole.n_nodes + 1):
            certificate = limited(regression(), TRIPLES, most)
            assert (certificate.n_nodes, certificate.status) == (whole.n_nodes, "COMPLETE")
            assert certificate.bounds == whole.bounds


def test_no_parts_means_simple_bounds_and_one_means_the_whole(monkeypatch):
    with enumeration(closed_form=False):
        root, two = (set(limited(regression(), TRIPLES, most).bounds) for most in (1, 2))
    monkeypatch.setattr(prover, "root_node", None)  # not even made
    none = set(limited(regression(), TRIPLES, 0).bounds)
    assert none == {"all", "concavity"}
    assert root == none | {"relaxation"}
    assert two == root | {"branching"}


def test_what_simple_bounds_prove_needs_no_parts():
    certificate = sw.certify(sw.FacilityLocation(np.eye(12)), TRIPLES, max_nodes=0)
    assert (certificate.ratio, certificate.status) == (1, "COMPLETE")


# What is refused


@pytest.mark.parametrize("function", [sw.certify, sw.exact])
@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((sw.CustomSetFunction(len, 12), TRIPLES), {}, TypeError, r"not known to be monotone.*monotone=True"),
        ((len, TRIPLES), {}, TypeError, "objective must be a SetFunction.*CustomSetFunction"),
        ((sw.Linear(np.ones(12)), 3), {}, TypeError, r"did you mean sw.Uniform\(12, 3\)"),
        ((sw.Linear(np.ones(5)), TRIPLES), {}, ValueError, "same ground set"),
        ((sw.Linear(np.ones(12)), TRIPLES), {"time_limit": -1}, ValueError, "time_limit must be"),
        ((sw.Linear(np.ones(12)), TRIPLES), {"time_limit": "1"}, TypeError, "time_limit must be"),
        ((sw.Linear(np.ones(12)), TRIPLES), {"time_limit": np.nan}, ValueError, "time_limit must be"),
        (
            (sw.Linear(np.ones(12)), TRIPLES),
            {"max_nodes": -1},
            ValueError,
            "max_nodes must be a non-negative integer, got -1",
        ),
        ((sw.Linear(np.ones(12)), TRIPLES), {"gap": -0.1}, ValueError, "gap must be"),
        ((sw.Linear(np.ones(12)), TRIPLES), {"gap": 1.0}, ValueError, "gap must be at least 0 and below 1"),
        ((sw.Linear(np.ones(12)), TRIPLES), {"gap": "small"}, TypeError, "gap must be"),
        ((sw.Linear(np.ones(12)), TRIPLES), {"max_nodes": 1.0}, TypeError, "max_nodes must be.*got 1.0"),
        ((sw.Linear(np.ones(12)), TRIPLES), {"max_nodes": "1"}, TypeError, "max_nodes must be.*got '1'"),
        ((sw.Linear(np.ones(12)), TRIPLES), {"max_nodes": True}, TypeError, "max_nodes must be.*got True"),
    ],
)
def test_what_certify_and_exact_refuse(function, arguments, options, error, message, monkeypatch):
    monkeypatch.setattr(certify, "search_by_default", None)  # before any work
    with pytest.raises(error, match=message):
        function(*arguments, **options)


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        ([0, 1, 2, 3], ValueError, r"\[0, 1, 2, 3\] is not allowed by Uniform"),
        ([12], ValueError, "from 0 to 11"),
        ([0, 0], ValueError, "repeated"),
        ([0.5], TypeError, "integers"),
        (3, TypeError, "got 3"),
        ("greedy", TypeError, "a SearchResult or an independent set, got 'greedy'"),
    ],
)
def test_what_certify_refuses(result, error, message):
    with pytest.raises(error, match=message):
        sw.certify(sw.Linear(np.ones(12)), TRIPLES, result)


def test_no_limit_on_time_is_none_or_infinity():
    for time_limit in (None, np.inf):
        assert sw.certify(regression(), TRIPLES, time_limit=time_limit, gap=0.0).optimal


# What a certificate says


def certificate(value, upper_bound, kind="branching", **options):
    bounds = {"all": 2 * upper_bound + 1, kind: upper_bound}
    return Certificate(upper_bound, value, kind, bounds, np.array([0]), **options)


@pytest.mark.parametrize(
    ("value", "upper_bound", "words"),
    [
        (0.99996, 1.0, "at least 99.996% of the optimum: value 0.99996, upper bound 1, by branching"),
        (0.9999999, 1.0, "at least 99.999990% of the optimum: value 0.9999999, upper bound 1, by branching"),
        (0.85199, 1.0, "at least 85.1% of the optimum: value 0.85199, upper bound 1, by branching"),
        (2.0, 4.0, "at least 50.0% of the optimum: value 2, upper bound 4, by branching"),
        (0.0, 4.0, "at least 0.0% of the optimum: value 0, upper bound 4, by branching"),
        (0.0, np.inf, "nothing proven: value 0, and no upper bound on the optimum"),
        (4.0, 4.0, "proven optimal: value 4, by branching"),
        (0.0, 0.0, "proven optimal: value 0, by branching"),
    ],
)
def test_no_more_is_said_than_is_proven(value, upper_bound, words):
    assert repr(certificate(value, upper_bound)) == f"Certificate({words})"


def trivially(value, upper_bound, most=1.0, kind="branching"):
    return Certificate(upper_bound, value, kind, {"all": most, kind: upper_bound}, np.array([0]))


@pytest.mark.parametrize(
    ("proven", "trivial"),
    [
        (trivially(0.893, 1.0, kind="all"), True),
        (trivially(0.893, 1.0), True),  # branching that came no further
        (trivially(0.893, 0.9995), True),
        (trivially(0.893, 0.99), False),
        (trivially(0.9, 0.9, 0.9, kind="all"), False),  # all elements together are no better: it is optimal
        (trivially(0.9999, 0.99995), False),  # half of a small gap is closed
        (trivially(0.9, np.inf, np.inf), True),
        (trivially(0.5, 0.9, np.inf), False),
        (trivially(-1.0, 2.0, 2.0), True),
        (replace(trivially(0.893, 1.0), bounds={}, upper_bound=np.inf), True),
    ],
)
def test_a_trivial_bound_is_called_trivial(proven, trivial):
    assert proven.trivial is trivial
    assert ("at least" not in repr(proven)) == (proven.trivial or proven.optimal)
    assert ("trivial" in repr(proven)) == (proven.trivial and np.isfinite(proven.upper_bound))


def test_the_trivial_bound_of_a_wide_regression_is_not_told_as_a_share():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 60))
    objective, constraint = sw.LeastSquares(X, rng.standard_normal(20)), sw.Uniform(60, 8)
    for max_nodes in (0, 1, 30):  # branching has not got anywhere by then
        proven = sw.certify(objective, constraint, time_limit=None, max_nodes=max_nodes)
        assert proven.trivial
        assert repr(proven).startswith(
            "Certificate(nothing proven beyond the trivial bound: "
            f"value {proven.value:.6g}, at most 1 by all elements together"
        )
        assert proven.ratio == pytest.approx(proven.value)
    few = sw.certify(objective, sw.Uniform(60, 2))
    assert few.optimal
    assert not few.trivial


def test_assumptions_and_doubts_are_told():
    taken = ("that Fits(n=40) is a matroid: 2,000 random exchanges were verified, not all", "that f rises")
    because = "the value of [1, 2] is only known to lie between 0.4 and 0.6"
    proven = certificate(1.0, 1.0, assumptions=taken, doubt=because)
    assert repr(proven) == (
        "Certificate(proven optimal: value 1, by branching; assuming that Fits(n=40) is a matroid: "
        "2,000 random exchanges were verified, not all; and that f rises)"
    )
    better = {"better": np.array([1]), "better_value": 0.5}
    proven = certificate(0.4, 0.6, doubt=because, **better)
    assert repr(proven) == (
        "Certificate(at least 66.6% of the optimum: value 0.4, upper bound 0.6, by branching; a better set, "
        f"0.5, was found; and {because})"
    )
    assert repr(certificate(0.4, np.inf, doubt=because)).endswith(f"; not more because {because})")


def test_the_statuses_of_a_certificate_are_listed():
    listed = re.search(r"status : .*?resolution :", Certificate.__doc__, re.DOTALL)[0]
    assert set(re.findall(r"[A-Z_]{5,}", listed)) == {
        "COMPLETE",
        "TIME_LIMIT",
        "ITERATION_LIMIT",
        "INTERRUPTED",
    }


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_the_percentage_is_never_rounded_up(value, upper_bound):
    proven = certificate(value, upper_bound)
    shown = float(percent(proven.ratio))
    assert proven.optimal or f"at least {shown:.1f}%" in repr(proven)
    assert shown <= 100 * proven.ratio + 1e-9
    assert shown >= 100 * proven.ratio - 0.1 - 1e-9
    assert (shown == 100) == proven.optimal


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1))
def test_the_gap_closes_exactly_when_the_answer_is_optimal(value, upper_bound, resolution):
    proven = certificate(value, upper_bound, resolution=resolution)
    assert proven.optimal == (upper_bound <= value + resolution) == (proven.gap == 0)
    assert 0 <= proven.ratio <= 1
    if not proven.optimal:
        assert proven.gap == pytest.approx(min(1, (upper_bound - value) / upper_bound))
        assert proven.ratio == value / upper_bound


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e-3))
def test_the_gap_is_about_what_is_left_below_the_ceiling(value, upper_bound, resolution):
    proven = certificate(value, upper_bound, resolution=resolution, ceiling=1.0)
    assert proven.optimal == (upper_bound <= value + resolution) == (proven.gap == 0)
    assert 1 - proven.ratio <= proven.gap * (1 + 1e-12) <= 1 + 1e-12
    if not proven.optimal:
        assert proven.gap >= (upper_bound - value) / (1 - value) * (1 - 1e-12)
    assert certificate(value, 1.0, ceiling=1.0).gap == (value < 1)


def test_less_than_nothing_is_no_share_of_the_optimum():
    assert certificate(-1.0, 2.0).ratio == 0
    assert certificate(-1.0, 2.0).gap == 1


def test_a_certificate_survives_pickling():
    proven = sw.certify(regression(), TRIPLES)
    copy = pickle.loads(pickle.dumps(proven))
    assert repr(copy) == repr(proven)
    assert copy.bounds == proven.bounds
    assert copy.resolution == proven.resolution
    assert copy.history == proven.history
    assert copy.n_passes == proven.n_passes
    assert copy.support.tolist() == proven.support.tolist()


def test_a_bound_that_a_better_set_reaches_is_no_trivial_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 7))
    f = sw.LeastSquares(X, X[:, :3].sum(axis=1) + 0.3 * rng.standard_normal(25))
    proven = sw.certify(f, sw.Uniform(7, 4), [0, 5], gap=0)
    assert not proven.trivial
    assert proven.verdict == "at least 61.2% of the optimum"
    assert repr(proven).endswith("a better set, 0.981698, is optimal)")
