"""Exact solutions: the optimum of exhaustive search, with a proof, or what is known when it stops."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.certify import branching, certify
from swapwise.certify.branching import BranchAndBound
from swapwise.certify.leaf import enumerate_leaf
from swapwise.certify.proximal import ProximalRelaxation
from swapwise.certify.root import root_node
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.region import Region
from swapwise.paper.instances import paper_ising
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

EQUAL = 2e-9  # values closer than this, relative to their size, count as equal


def check_exact(objective, constraint, result):
    best = sw.maximize(objective, constraint, "exhaustive").value
    assert abs(result.value - best) <= tolerance(objective, best, EQUAL)
    assert result.value == objective(result.support)
    assert result.status is sw.Status.OPTIMAL
    assert result.certificate.optimal
    assert result.certificate.value == result.value
    assert result.certificate.support.tolist() == result.support.tolist()
    assert constraint.is_independent(result.support)
    assert constraint.is_complete(result.support)
    check_history(objective, result.certificate, best)
    assert np.isin(constraint.forced, result.support).all()
    if isinstance(objective, sw.SparseObjective):
        assert result.coef.tolist() == objective.coef(result.support).tolist()


def check_from_the_worst(objective, constraint):
    """Run branch and bound alone, with no local search to begin or go on with."""
    best = sw.maximize(objective, constraint, "exhaustive").value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BranchAndBound, "_improve", keep)
        forced = constraint.forced
        tree = rooted(objective, constraint, forced)
        tree.run(Clock())
    assert not tree.is_open or tree.upper_bound <= tree.cutoff
    assert abs(tree.value - best) <= tolerance(objective, best, EQUAL)
    assert tree.upper_bound >= best - tolerance(objective, best)
    assert constraint.is_independent(tree.support)
    assert tree.value == pytest.approx(objective(tree.support), abs=1e-12)


def rooted(objective, constraint, support):
    """Return branch and bound before its first step, with a set as the best so far."""
    tree = BranchAndBound(objective, constraint, support, objective(support))
    tree.set_root(root_node(objective, Region.of(constraint), support, Clock()))
    return tree


def keep(self, support, value, clock):
    if value > self.cutoff:
        self.support, self.value = support, value


@WAYS
@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=3)
@given(data=st.data())
def test_the_best_set_of_a_matroid_is_found(family, closed_form, data):
    matroid = data.draw(FAMILIES[family].filter(lambda specimen: specimen.matroid.n > 0)).matroid
    random = data.draw(randoms)
    for objective in some_objectives(random, matroid, 2):
        with enumeration(closed_form):
            check_exact(objective, matroid, sw.exact(objective, matroid))
            check_from_the_worst(objective, matroid)


@pytest.mark.slow
@WAYS
@pytest.mark.parametrize("family", SYSTEMS)
@settings(max_examples=2)
@given(data=st.data())
def test_the_best_set_of_a_system_is_found(family, closed_form, data):
    system = data.draw(SYSTEMS[family].filter(lambda specimen: specimen.system.n > 0)).system
    random = data.draw(randoms)
    for objective in some_objectives(random, system, 1):
        with enumeration(closed_form):
            check_exact(objective, system, sw.exact(objective, system))
            check_from_the_worst(objective, system)


@WAYS
@pytest.mark.parametrize("kind", [kind for kind in OBJECTIVES if kind != "ising"])
def test_the_best_set_of_any_objective_is_found(kind, closed_form):
    for seed in range(3):
        objective = OBJECTIVES[kind](np.random.default_rng(seed), 7)
        constraint = sw.Partition(list("aaabbbc"), 1)
        with enumeration(closed_form):
            check_exact(objective, constraint, sw.exact(objective, constraint))
            check_from_the_worst(objective, constraint)


@pytest.mark.parametrize("constraint", GRAPH_CONSTRAINTS, ids=repr)
@pytest.mark.parametrize("fields", [False, True])
def test_the_best_graph_is_found(constraint, fields):
    objective = sw.graphs.IsingPseudoLikelihood(spins(np.random.default_rng(3), 4), 0.1, fields)
    check_exact(objective, constraint, sw.exact(objective, constraint))
    if not fields:
        check_from_the_worst(objective, constraint)


def test_a_graph_whose_bound_comes_down_to_its_value_is_proven():
    """A slack of rounding fixes all that could be better; the bound is then what it was fixed against."""
    samples = paper_ising(8, 4, random_state=6, burn_in=200, thin=20).spins
    objective, constraint = sw.graphs.IsingPseudoLikelihood(samples), sw.BMatching.complete(8, 1)
    check_exact(objective, constraint, sw.exact(objective, constraint))


@pytest.mark.filterwarnings("ignore:.*separable")
@pytest.mark.parametrize(("trial", "b"), [(0, 2), (2, 3), (3, 5)])
def test_graphs_are_proven_although_some_have_couplings_without_a_maximum(trial, b):
    seed = np.random.SeedSequence([2020, trial, *b"ising-10"])
    objective = sw.graphs.IsingPseudoLikelihood(paper_ising(10, 5, random_state=seed).spins)
    result = sw.exact(objective, sw.BMatching.complete(10, b))
    assert result.status is sw.Status.OPTIMAL
    assert result.certificate.upper_bound >= sw.maximize(objective, sw.BMatching.complete(10, b)).value


@pytest.mark.slow
@WAYS
@pytest.mark.parametrize("ridge", [0.0, 2.0])
@pytest.mark.parametrize(
    "constraint",
    [
        sw.Partition(np.arange(15) % 5, 1),
        sw.Uniform(15, 5),
        sw.Intersection(sw.Partition(np.arange(15) % 5, 1), sw.Partition(np.arange(15) // 5, 2)),
    ],
    ids=repr,
)
def test_the_best_of_thousands_of_sets_is_found(constraint, ridge, closed_form):
    random = np.random.default_rng(1)
    X = random.standard_normal((25, 15)) + 0.5 * random.standard_normal((25, 1))
    objective = sw.LeastSquares(X, X @ random.standard_normal(15) + 4 * random.standard_normal(25), ridge)
    with enumeration(closed_form):
        check_exact(objective, constraint, sw.exact(objective, constraint))
        check_from_the_worst(objective, constraint)


@WAYS
def test_what_is_forced_in_or_out_stays_there(closed_form):
    objective = OBJECTIVES["tall"](np.random.default_rng(0), 8)
    free = sw.maximize(objective, sw.Uniform(8, 3), "exhaustive").support
    unwanted = [e for e in range(8) if e not in free][:1]
    constraint = sw.Uniform(8, 3).contract(unwanted).restrict([*range(1, 8), *unwanted])
    with enumeration(closed_form):
        result = sw.exact(objective, constraint)
    check_exact(objective, constraint, result)
    assert unwanted[0] in result.support
    assert unwanted[0] == 0 or 0 not in result.support


@pytest.mark.parametrize("constraint", [sw.Uniform(4, 0), sw.Uniform(4, 2).restrict([])], ids=repr)
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_where_nothing_can_be_chosen_the_empty_set_is_optimal(kind, constraint):
    result = sw.exact(OBJECTIVES[kind](np.random.default_rng(0), 4), constraint)
    assert result.support.tolist() == []
    assert (result.value, result.status) == (0, "OPTIMAL")


@pytest.mark.parametrize("objective", [sw.Linear([]), sw.Coverage([]), sw.FacilityLocation(np.empty((2, 0)))])
def test_an_empty_ground_set_is_solved(objective):
    result = sw.exact(objective, sw.Uniform(0, 0))
    assert (result.support.tolist(), result.status) == ([], "OPTIMAL")


def test_everything_may_be_forced_in():
    objective = OBJECTIVES["tall"](np.random.default_rng(0), 3)
    result = sw.exact(objective, sw.Uniform(3, 3).contract([0, 1, 2]))
    assert result.support.tolist() == [0, 1, 2]
    assert result.status == "OPTIMAL"


# Stopped early


def problem():
    return OBJECTIVES["tall"](np.random.default_rng(11), 9), sw.Uniform(9, 3)


def worst_first(patch):
    """Have the search begin, and stay, with nothing: then there is much to prove."""
    stay = lambda objective, constraint, clock, start=(), observers=(): sw.maximize(  # noqa: E731
        objective, constraint, start=constraint.forced if isinstance(start, str) else start, max_iter=0
    )
    patch.setattr(certify, "search_by_default", stay)
    patch.setattr(branching, "search_by_default", stay)


def check_stopped(objective, constraint, result, status):
    best = sw.maximize(objective, constraint, "exhaustive").value
    certificate = result.certificate
    assert result.status == (sw.Status.OPTIMAL if certificate.optimal else status)
    assert certificate.upper_bound >= best - tolerance(objective, best)
    assert certificate.value == result.value == objective(result.support) <= best + 1e-12
    assert (1 - certificate.gap) * best <= result.value + tolerance(objective, best, EQUAL)
    assert constraint.is_independent(result.support)
    check_history(objective, certificate, best)


@pytest.mark.parametrize("kind", ["tall", "wide", "logistic", "coverage", "monotone"])
def test_with_no_time_at_all_the_gap_is_true(kind):
    objective, constraint = OBJECTIVES[kind](np.random.default_rng(1), 8), sw.Uniform(8, 3)
    result = sw.exact(objective, constraint, time_limit=0)
    assert result.status == "TIME_LIMIT"
    check_stopped(objective, constraint, result, "TIME_LIMIT")
    assert 0 <= result.certificate.ratio < 1


def test_when_the_time_is_out_the_gap_is_true():
    objective, constraint = problem()
    statuses = set()
    for k in range(1, 40, 3):
        with enumeration(closed_form=False) as patch:
            worst_first(patch)
            calls = []

            def check(clock, calls=calls, k=k):
                calls.append(clock)
                if len(calls) > k:
                    raise OutOfTime

            patch.setattr(Clock, "check", check)
            result = sw.exact(objective, constraint)
        check_stopped(objective, constraint, result, "TIME_LIMIT")
        statuses.add(result.status)
    assert "TIME_LIMIT" in statuses


@pytest.mark.slow
@WAYS
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_when_no_more_parts_are_allowed_the_gap_is_true(kind, closed_form):
    objective, constraint = OBJECTIVES[kind](np.random.default_rng(1), 8), sw.Uniform(8, 3)
    for most in range(6):
        with enumeration(closed_form) as patch:
            worst_first(patch)
            result, again = (sw.exact(objective, constraint, max_nodes=most) for _ in range(2))
        check_stopped(objective, constraint, result, "ITERATION_LIMIT")
        assert result.certificate.n_nodes <= most
        assert result.certificate.n_nodes == again.certificate.n_nodes
        assert result.certificate.upper_bound == again.certificate.upper_bound
        assert result.support.tolist() == again.support.tolist()


def test_a_limit_on_parts_that_suffices_changes_nothing():
    objective, constraint = problem()
    with enumeration(closed_form=False) as patch:
        worst_first(patch)
        whole = sw.exact(objective, constraint)
        parts = whole.certificate.n_nodes
        assert parts > 2
        enough, short = (sw.exact(objective, constraint, max_nodes=most) for most in (parts, parts - 1))
    check_exact(objective, constraint, enough)
    assert enough.certificate.n_nodes == parts
    assert enough.certificate.bounds == whole.certificate.bounds
    assert (short.status, short.certificate.status) == ("ITERATION_LIMIT", "ITERATION_LIMIT")
    assert short.certificate.n_nodes == parts - 1


def test_whichever_limit_comes_first_is_told():
    objective, constraint = problem()
    assert sw.exact(objective, constraint, time_limit=0, max_nodes=99).status == "TIME_LIMIT"
    assert sw.exact(objective, constraint, time_limit=600, max_nodes=0).status == "ITERATION_LIMIT"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "name"),
    [(ProximalRelaxation, "improve"), (BranchAndBound, "_split"), (BranchAndBound, "_try")],
)
def test_an_interrupt_keeps_what_was_found(target, name):
    objective, constraint = problem()
    statuses = []
    for k in range(1, 12):
        original, calls = getattr(target, name), []

        def interrupted(self, *arguments, original=original, calls=calls, k=k):
            calls.append(None)
            if len(calls) == k:
                raise KeyboardInterrupt
            return original(self, *arguments)

        with enumeration(closed_form=False) as patch:
            worst_first(patch)
            patch.setattr(target, name, interrupted)
            result = sw.exact(objective, constraint)
        check_stopped(objective, constraint, result, "INTERRUPTED")
        statuses.append(result.status)
    assert statuses[0] == "INTERRUPTED"


def test_an_interrupted_part_stays_open():
    objective, constraint = problem()
    with enumeration(closed_form=False) as patch:
        tree = rooted(objective, constraint, np.array([8]))
        for _ in range(3):
            tree.step(Clock())
        before, bound = tree.n_open, tree.upper_bound
        patch.setattr(ProximalRelaxation, "improve", interrupt)
        with pytest.raises(KeyboardInterrupt):
            tree.step(Clock())
    assert tree.n_open == before
    assert tree.upper_bound <= bound


def interrupt(self, *arguments):
    raise KeyboardInterrupt


FULL = [
    (OBJECTIVES["tall"](np.random.default_rng(11), 9), sw.Uniform(9, 3)),
    (OBJECTIVES["wide"](np.random.default_rng(2), 8), sw.Partition(list("aabbccdd"), 1)),
    (OBJECTIVES["tall"](np.random.default_rng(5), 6), sw.BMatching.complete(4, [1, 2, 1, 2])),
    (OBJECTIVES["logistic"](np.random.default_rng(3), 7), sw.Uniform(7, 3)),
    (OBJECTIVES["monotone"](np.random.default_rng(6), 8), sw.Uniform(8, 3)),
]


@pytest.mark.parametrize(("objective", "constraint"), FULL)
@pytest.mark.parametrize("most_bytes", [0, 3 * branching.BYTES_PER_PART])
def test_a_tree_that_is_full_goes_on_at_its_end_and_comes_to_the_same(objective, constraint, most_bytes):
    best = sw.maximize(objective, constraint, "exhaustive").value
    slack = tolerance(objective, best)
    with enumeration(closed_form=False) as patch:
        patch.setattr(BranchAndBound, "_improve", keep)
        patch.setattr(branching, "MOST_BYTES", most_bytes)
        tree, bound = rooted(objective, constraint, constraint.forced), np.inf
        largest = 0
        while tree.is_open and tree.cutoff < tree.upper_bound:
            tree.step(Clock())
            largest = max(largest, tree.n_open)
            assert best - slack <= tree.upper_bound <= bound + slack
            assert tree.value <= best + slack
            bound = tree.upper_bound
    assert abs(tree.value - best) <= tolerance(objective, best, EQUAL)
    # From there on it is depth first: beside each part on the way down only its other half is open.
    assert largest <= most_bytes // branching.BYTES_PER_PART + constraint.n + 1


def test_a_full_tree_looks_at_parts_of_small_bounds_first():
    objective, constraint = problem()
    looked_at = []
    with enumeration(closed_form=False) as patch:
        split = BranchAndBound._split
        patch.setattr(BranchAndBound, "_improve", keep)
        patch.setattr(
            BranchAndBound,
            "_split",
            lambda tree, node, clock: looked_at.append(node) or split(tree, node, clock),
        )
        tree = rooted(objective, constraint, constraint.forced)
        while tree.n_open < 3:
            tree.step(Clock())
        patch.setattr(branching, "MOST_BYTES", 0)
        last, highest = tree._open[-1][-1], tree.upper_bound
        tree.step(Clock())
    assert looked_at[-1] is last
    assert tree.upper_bound == highest > last.bound


@pytest.mark.parametrize("most_bytes", [0, branching.MOST_BYTES])
@pytest.mark.parametrize(("objective", "constraint"), FULL)
def test_the_part_that_is_being_looked_at_counts(objective, constraint, most_bytes):
    """Whenever the bound is asked for: a part that was taken out has not been proven yet."""
    best = sw.maximize(objective, constraint, "exhaustive").value
    bounds = []
    with enumeration(closed_form=False) as patch:
        patch.setattr(branching, "MOST_BYTES", most_bytes)
        patch.setattr(BranchAndBound, "_improve", keep)
        tree = rooted(objective, constraint, constraint.forced)
        for name in ("_split", "_try", "_evaluate", "_put"):
            patch.setattr(BranchAndBound, name, asking(tree, getattr(BranchAndBound, name), bounds))
        for name in ("split", "tighten", "part"):
            kind = type(tree._open[0][-1])
            patch.setattr(kind, name, asking(tree, getattr(kind, name), bounds))
        tree.run(Clock())
    assert len(bounds) > 2
    assert min(bounds) >= best - tolerance(objective, best)


def asking(tree, method, bounds):
    """Return a method that asks for the bound of the tree before and after its work."""

    def asked(*arguments, **options):
        bounds.append(tree.upper_bound)
        answer = method(*arguments, **options)
        bounds.append(tree.upper_bound)
        return answer

    return asked


# The closed form for small regions


@settings(max_examples=60)
@given(randoms)
def test_the_closed_form_finds_the_best_set_of_a_region(random):
    n = 7
    objective = OBJECTIVES[random.choice(["tall", "wide", "degenerate", "integers"])](random, n)
    constraint = [
        sw.Uniform(n, 3),
        sw.Partition(list("aabbccc"), 1),
        sw.Intersection(sw.Partition(list("aabbccc"), 1), sw.Partition(list("abababa"), 2)),
        # Maximal sets of different sizes: those of two are parts of sets that are not allowed.
        sw.BMatching([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)], 1),
    ][random.integers(4)]
    region = Region.of(constraint)
    for element in random.permutation(n)[: random.integers(3)]:
        if not region.outside[element]:
            region = region.with_inside(int(element))
    region = region.with_outside(random.permutation(region.open)[:1])
    usable = [*region.held, *region.open]
    best = sw.maximize(objective, Only(constraint, region.held, usable), "exhaustive").value
    for target in (best - 1e-3, best - 1e-8, best + 1e-8):
        finished = enumerate_leaf(objective, region, target)
        for support in finished or ():
            assert constraint.is_independent(support)
            assert np.isin(region.held, support).all()
            assert not region.outside[support].any()
        if finished is not None and best > target:
            assert max(map(objective, finished)) == pytest.approx(best, abs=1e-12)


class Only(sw.IndependenceSystem):
    """A constraint with elements forced in and others left out, asked one set at a time."""

    def __init__(self, inner, forced, usable):
        self.inner, self.forced, self.usable = inner, np.asarray(forced, dtype=np.intp), usable
        self.n, self.p = inner.n, max(2, inner.p)

    def _is_independent(self, support):
        kept = np.union1d(support, self.forced).astype(np.intp)
        return bool(np.isin(kept, self.usable).all()) and self.inner.is_independent(kept)

    def moves(self, support, q=1, candidates=None):
        raise NotImplementedError


def test_the_closed_form_is_for_small_regions_of_quadratic_objectives():
    region = Region.of(sw.Uniform(7, 3))
    assert enumerate_leaf(OBJECTIVES["tall"](np.random.default_rng(0), 7), region, 0.0) is not None
    few = enumerate_leaf(OBJECTIVES["logistic"](np.random.default_rng(0), 7), region, 0.0)
    assert few is not None
    assert len(few) == 35  # all of them are fitted, one by one
    larger = Region.of(sw.Uniform(20, 4))
    assert enumerate_leaf(OBJECTIVES["logistic"](np.random.default_rng(0), 20), larger, 0.0) is None
    assert enumerate_leaf(OBJECTIVES["coverage"](np.random.default_rng(0), 7), region, 0.0) is None
    with enumeration(closed_form=False):
        assert enumerate_leaf(OBJECTIVES["tall"](np.random.default_rng(0), 7), region, 0.0) is None


# What is returned


def test_a_result_survives_pickling():
    result = sw.exact(*problem())
    copy = pickle.loads(pickle.dumps(result))
    assert repr(copy) == repr(result)
    assert repr(copy.certificate) == repr(result.certificate)
    assert copy.certificate.optimal
    assert copy.coef.tolist() == result.coef.tolist()
    assert copy.certificate.bounds == result.certificate.bounds


def test_a_result_tells_how_it_came_about():
    objective, constraint = problem()
    with enumeration(closed_form=False):
        result = sw.exact(objective, constraint)
    assert result.method.split(", ")[-1] == result.strategies[-1].name == "exact"
    assert result.n_iter == len(result.history) > 0
    assert result.n_evaluations > 0
    assert result.certificate.n_nodes > 0
    assert result.seconds >= result.certificate.seconds > 0
    assert sw.maximize(objective, constraint).certificate is None


# Statuses

DOCUMENTED = set(re.findall(r"^ *- ([A-Z_]+):", sw.exact.__doc__, re.MULTILINE))


def degenerate_logistic(seed):
    """Few samples, often separable or collinear, with weights over seven decades, and no ridge."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rng.integers(4, 9), 4))
    X = np.round(X) if seed % 3 else np.hstack([X[:, :3], X[:, :1]])
    y = rng.random(len(X)) < 0.5
    y[:2] = True, False
    weights = 10.0 ** rng.uniform(-7, 0, len(X)) if seed % 2 else None
    return sw.Logistic(X, y, ridge=0.0, sample_weight=weights)


def custom_without_curvature(seed):
    """Robust regression on columns of very different scales: nothing is known of its curvature."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 4)) * 10.0 ** rng.uniform(-3, 3, 4)
    y = rng.standard_normal(8)

    def value_and_gradient(coef):
        rest = y - X @ coef
        return -np.logaddexp(rest, -rest).sum(), X.T @ np.tanh(rest)

    return sw.CustomObjective(value_and_gradient, n=4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the classes are separable")
@pytest.mark.parametrize("objective_of", [degenerate_logistic, custom_without_curvature])
def test_exact_ends_with_a_status_that_its_page_lists_and_says_why(objective_of):
    ended = set()
    for seed in range(24):
        objective = objective_of(seed)
        for limits in ({}, {"max_nodes": 1}, {"time_limit": 0.0}):
            result = sw.exact(objective, sw.Uniform(4, 2), **limits)
            ended.add(str(result.status))
            assert (result.status == "OPTIMAL") == result.certificate.optimal
            # Without a limit that was reached, only numbers can keep the answer from being called optimal.
            assert result.status != "COMPLETE" or result.certificate.doubt
            assert not (result.certificate.optimal and result.certificate.doubt)
    assert ended <= DOCUMENTED
    assert {"OPTIMAL", "TIME_LIMIT"} <= ended


def test_the_page_of_exact_lists_statuses_that_exist():
    assert sorted(DOCUMENTED) == ["COMPLETE", "INTERRUPTED", "ITERATION_LIMIT", "OPTIMAL", "TIME_LIMIT"]
    assert set(sw.Status) > DOCUMENTED
    assert set(re.findall(r"^ *- ([A-Z_]+):", sw.Status.__doc__, re.MULTILINE)) == set(sw.Status.__members__)
