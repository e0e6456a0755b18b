"""The guarantees of runs: each is kept, against exhaustive search."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.search.rules import Pivot
from swapwise.theory.constants import restricted_constants
from swapwise.theory.guarantees import guarantee
from swapwise.theory.localizable import Localizability
from swapwise.theory.runs import guarantee_of
from swapwise.theory.statement import ALONG_THE_RUN
from tests.contracts.constraint_zoo import FAMILIES, SYSTEMS

pytestmark = pytest.mark.filterwarnings("ignore:.*allows only the empty set", "ignore:.*linearly independent")
BOLD = "ignore:.*did not raise the value"  # a number of the user's own may be too small

RULES = [
    "oblivious",
    "semi-oblivious",
    "non-oblivious",
    sw.NonOblivious("global"),
    sw.NonOblivious(2.0),
]
STARTS = ["empty", "arbitrary", "greedy", "modular", "best-singleton"]


def least_squares(rng, n):
    """Return a regression whose ratio is anything from 1 to 0."""
    kind = rng.choice(["nearly orthogonal", "orthogonal", "correlated", "wide", "collinear"])
    if "orthogonal" in kind:
        # Few and nearly equal weights, so that there are poor local optima.
        X = np.eye(n) + (kind != "orthogonal") * 0.05 * rng.standard_normal((n, n))
        return sw.LeastSquares(X, rng.choice([1.0, 1.0, 1.1, 1.4], n) + 0.01 * rng.random(n))
    X = rng.standard_normal((max(2, n // 2) if kind == "wide" else 12, n)) + 0.5 * rng.standard_normal()
    if kind == "collinear":
        X[:, rng.integers(n)] = X[:, rng.integers(n)]
    y = X @ rng.standard_normal(n) + rng.standard_normal(len(X))
    return sw.LeastSquares(X, y, ridge=rng.choice([0.0, 0.0, 1.0, 20.0]))


def set_function(rng, n):
    kind = rng.integers(3)
    if kind == 0:
        return sw.Linear(rng.choice([0.0, 1.0, 1.0, 1.1, 2.0], n))
    if kind == 1:
        return sw.Coverage([rng.permutation(8)[: rng.integers(5)].tolist() for _ in range(n)])
    return sw.FacilityLocation(rng.random((4, n)) ** 2)


def check_guarantee(objective, constraint, method, best, **options):
    result = sw.maximize(objective, constraint, method, **options)
    stated = result.guarantee
    assert stated is not None
    for each in (stated, *stated.others):
        assert 0 <= each.ratio <= 1
        assert each.in_expectation or result.value >= each.ratio * best - 1e-9, (
            f"{each} of {best} by {method}, {options}"
        )
    if stated.max_iterations is not None:
        assert result.strategies[-1].n_moves <= stated.max_iterations  # of the method itself
    return stated


def check_all_guarantees(rng, constraint):
    """Run every method that there is on a sparse objective and on a plain set function."""
    # With q = 2, moves of three matroids would exchange up to 4 elements for 12.
    single = isinstance(constraint, sw.Matroid) or constraint.p is None or constraint.exchange_size(2) > 12
    q = 1 if single else int(rng.choice([1, 2]))
    for objective in (least_squares(rng, constraint.n), set_function(rng, constraint.n)):
        best = sw.maximize(objective, constraint, "exhaustive").value
        rules = RULES if isinstance(objective, sw.SparseObjective) else ["oblivious"]
        for rule in rules:
            start, T = str(rng.choice(STARTS)), int(rng.integers(0, 4))
            check_guarantee(objective, constraint, rule, best, q=q, start=start)
            check_guarantee(objective, constraint, rule, best, q=q, start="arbitrary", max_iter=T)
            epsilon = rng.choice([0.05, 1.0])
            check_guarantee(objective, constraint, rule, best, q=q, epsilon=epsilon)
        for method in ("greedy", "modular", "random", "exhaustive"):
            check_guarantee(objective, constraint, method, best)
        check_guarantee(objective, constraint, "greedy", best, max_iter=int(rng.integers(0, 3)))
        check_guarantee(objective, constraint, "oblivious", best, tol=rng.choice([0.01, 0.3]))
        check_guarantee(objective, constraint, "greedy", best, tol=rng.choice([0.01, 0.3]))


seeds = st.integers(0, 2**32 - 1)


@pytest.mark.filterwarnings(BOLD)
@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=8)
@given(data=st.data())
def test_guarantees_under_matroids_are_kept(family, data):
    matroid = data.draw(FAMILIES[family].filter(lambda specimen: specimen.matroid.n > 0)).matroid
    check_all_guarantees(np.random.default_rng(data.draw(seeds)), matroid)


@pytest.mark.slow
@pytest.mark.filterwarnings(BOLD)
@pytest.mark.parametrize("family", SYSTEMS)
@settings(max_examples=8)
@given(data=st.data())
def test_guarantees_under_systems_are_kept(family, data):
    system = data.draw(SYSTEMS[family].filter(lambda specimen: specimen.system.n > 0)).system
    check_all_guarantees(np.random.default_rng(data.draw(seeds)), system)


COMPLETE = [(i, j) for i in range(4) for j in range(i + 1, 4)]
GRAPH_CONSTRAINTS = [
    sw.Uniform(6, 2),
    sw.Graphic(COMPLETE),
    sw.BMatching.complete(4, 1),
    sw.BMatching.complete(4, [1, 2, 1, 2]),
    sw.Intersection(sw.Graphic(COMPLETE), sw.Partition(list("aabbcc"), 1)),
]


@pytest.mark.parametrize("constraint", GRAPH_CONSTRAINTS, ids=repr)
def test_guarantees_for_ising_models_are_kept(constraint):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        spins = np.where(rng.random((20, 4)) < 0.5, 1.0, -1.0)
        spins[:, 1] = np.where(rng.random(20) < 0.8, spins[:, 0], -spins[:, 0])
        objective = sw.graphs.IsingPseudoLikelihood(spins, ridge=1.0, fields=bool(seed % 2))
        best = sw.maximize(objective, constraint, "exhaustive").value
        for rule in RULES[:-1]:
            stated = check_guarantee(objective, constraint, rule, best)
            assert not stated.vacuous
            check_guarantee(objective, constraint, rule, best, max_iter=2, start="arbitrary")
            check_guarantee(objective, constraint, rule, best, epsilon=0.1)
        for method in ("greedy", "modular"):
            check_guarantee(objective, constraint, method, best)


@pytest.mark.parametrize(
    "constraint", [sw.Uniform(6, 3), sw.Partition(list("aabbcc"), 1), sw.Graphic(COMPLETE)]
)
@pytest.mark.parametrize("seed", range(3))
def test_random_residual_greedy_keeps_its_guarantee_on_average(constraint, seed):
    rng = np.random.default_rng(seed)
    for objective in (least_squares(rng, 6), set_function(rng, 6)):
        best = sw.maximize(objective, constraint, "exhaustive").value
        runs = [
            sw.maximize(objective, constraint, "random-residual-greedy", random_state=i) for i in range(60)
        ]
        stated = runs[0].guarantee.by_theorem
        assert stated.vacuous or stated.in_expectation or isinstance(objective, sw.Linear)
        assert np.mean([run.value for run in runs]) >= stated.ratio * best - 1e-9


def test_guarantees_are_met_with_equality_where_they_are_tight():
    path = sw.BMatching([(0, 1), (1, 2), (2, 3)], 1)
    result = sw.maximize(sw.Linear([1.0, 1.0, 1.0]), path, start=[1])
    assert result.value == result.guarantee.ratio * 2 == 1
    # Two groups, one element of each: either swap alone gains nothing, both together double the value.
    result = sw.maximize(sw.Coverage([{1}, set(), {2}, {1}]), sw.Partition(list("abab"), 1), start=[0, 1])
    assert result.value == result.guarantee.ratio * 2 == 1


# What a run tells of itself


def test_a_rule_that_no_theorem_is_on():
    class Mine(sw.Oblivious):
        """Scores as it likes."""

    assert isinstance(Mine(), Pivot)
    stated = sw.maximize(sw.Linear([1, 2]), sw.Uniform(2, 1), Mine()).guarantee
    assert stated.theorem == ALONG_THE_RUN
    assert "no theorem on the rule" in repr(stated.by_theorem)


@pytest.mark.parametrize(
    ("status", "T"),
    [
        (sw.Status.LOCAL_OPTIMUM, None),
        (sw.Status.COMPLETE, None),
        (sw.Status.ITERATION_LIMIT, 3),
        (sw.Status.TIME_LIMIT, 2),
        (sw.Status.INTERRUPTED, 2),
    ],
)
def test_only_full_rounds_count(status, T):
    """A round that was cut short takes the best move it saw, which need not be the best there is."""
    objective, constraint = sw.Coverage([{1}, {2}, {3}, {4}]), sw.Uniform(4, 4)
    stated = guarantee_of(objective, constraint, sw.Oblivious(), status=status, n_iter=3, value=3.0)
    assert stated == guarantee("oblivious", constraint, Localizability(1.0, 1.0, 1.0), T=T)


def test_one_constant_for_all_moves_is_the_one_that_the_objective_gives():
    X = np.eye(4) + 0.1
    objective, pair = sw.LeastSquares(X, np.ones(4)), sw.Uniform(4, 2)
    M_pairs = restricted_constants(objective, 2, 2).M_st
    stated = sw.maximize(objective, pair, sw.NonOblivious("global")).guarantee.by_theorem
    assert stated.constants["M"] == objective.smoothness(2) > M_pairs
    assert stated.ratio < sw.maximize(objective, pair, "non-oblivious").guarantee.by_theorem.ratio


def test_nothing_is_guaranteed_of_an_unknown_function_unless_all_sets_are_seen():
    unknown, pair = sw.CustomSetFunction(len, n=4), sw.Uniform(4, 2)
    assert sw.maximize(unknown, pair).guarantee is None
    assert sw.maximize(unknown, pair, "exhaustive").guarantee.ratio == 1
    assert sw.maximize(unknown, pair, "exhaustive", max_iter=1).guarantee.vacuous


def test_only_what_is_trivial_is_known_of_an_objective_of_unknown_smoothness():
    class Unsmooth(sw.SparseObjective):
        n = 2

        def _fit(self, support):
            return float(len(support)) / 2, np.ones(len(support))

        def value_at(self, coef):
            return float(coef.sum() - coef @ coef / 2)

        def gradient_at(self, coef):
            return 1 - coef

    result = sw.maximize(Unsmooth(), sw.Uniform(2, 1), "semi-oblivious")
    assert result.guarantee.trivial
    assert result.guarantee.ratio == pytest.approx(0.5)
    assert result.guarantee.beyond_trivial is None


@pytest.mark.parametrize("method", ["oblivious", "greedy"])
@pytest.mark.parametrize("epsilon", [None, 0.01])
def test_a_large_tol_is_counted(method, epsilon):
    """A search that is content with little stops far below what its theorem guarantees."""
    objective, constraint = sw.Linear([1.0] + [0.3] * 9), sw.Uniform(10, 10)
    options = {"epsilon": epsilon} if method == "oblivious" else {}
    start = {"start": [0]} if method == "oblivious" else {}
    result = sw.maximize(objective, constraint, method, tol=0.5, **options, **start)
    assert result.value == 1
    assert 0 < result.guarantee.ratio <= 1 / 3.7
    strict = sw.maximize(objective, constraint, method, **options, **start)
    assert strict.guarantee.ratio >= 1 / 1.01


def test_a_guarantee_is_made_when_it_is_asked_for_and_once(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "swapwise.theory.runs.restricted_constants",
        lambda *arguments: calls.append(arguments) or restricted_constants(*arguments),
    )
    result = sw.maximize(sw.LeastSquares(np.eye(3), np.ones(3)), sw.Uniform(3, 2))
    assert not calls
    assert result.guarantee is result.guarantee
    assert len(calls) == 1
    assert result.guarantee.ratio == pytest.approx(1)


def test_a_pickled_result_leaves_the_data_behind_and_keeps_what_was_asked():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 20))
    result = sw.maximize(sw.LeastSquares(X, rng.standard_normal(500)), sw.Uniform(20, 2))
    unasked = pickle.loads(pickle.dumps(result))
    assert unasked.guarantee is None
    stated = result.guarantee
    stored = pickle.dumps(result)
    assert len(stored) < X.nbytes / 10
    assert pickle.loads(stored).guarantee == stated
    assert repr(result) == repr(unasked)
