"""Hard thresholding beside its plain version, and the theorem about the step on the record."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from benchmarks.reference import neighbours
from swapwise.clock import Clock
from swapwise.search.methods.projection import Projection
from swapwise.search.methods.thresholding import Iterate, _Steps, longest_step
from tests.search.methods.problems import (
    CONSTRAINTS,
    MATROIDS,
    OBJECTIVES,
    Plain,
    degenerate,
    family_of,
    is_fixed,
    problem,
)
from tests.search.test_record import check_record

pytestmark = pytest.mark.filterwarnings("ignore:of .* chosen columns only")

HTP, IHT = sw.methods.HardThresholdingPursuit, sw.methods.IterativeHardThresholding
EVERY = [HTP(), HTP("global"), IHT(), IHT("global")]


def step_for(f, share):
    """Return a step of a known length beside 1/M: longer ones may lower the value."""
    return share / f.smoothness(f.n)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 3.0]))
def test_with_a_given_step_it_is_the_plain_version(objective, constraint, seed, share):
    f, system = problem(seed, objective, constraint)
    plain, family, step = Plain(f), family_of(system), step_for(f, share)
    versions = {HTP(step): neighbours.htp}
    if share <= 1:  # else iterates may diverge
        versions[IHT(step)] = neighbours.iht
        if constraint in MATROIDS:  # elsewhere hundreds of projections take long
            versions[IHT(step, debias=False)] = neighbours.plain_iht
    for method, version in versions.items():
        result = sw.maximize(f, system, method)
        assert result.support.tolist() == list(version(plain, family, step)), method
        check_record(result, f)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=6)
@given(st.integers(0, 10**6), st.sampled_from(EVERY))
def test_the_answer_is_fixed_for_the_longest_step_that_it_is_fixed_for(objective, constraint, seed, method):
    f, system = problem(seed, objective, constraint)
    result = sw.maximize(f, system, method)
    step = result.strategies[-1].details["step"]
    longest = neighbours.longest_fixed_step(Plain(f), family_of(system), tuple(result.support.tolist()))
    assert step == pytest.approx(longest, rel=1e-6)
    if np.isfinite(step):
        assert is_fixed(f, system, result.support, step)
        assert not is_fixed(f, system, result.support, 1.01 * step)
    if method.step == "global":
        assert step >= (1 - 1e-9) / f.smoothness(min(f.n, 2 * system.max_size()))


def restricted_constants(f, family):
    """Return m_s and m_2s by the eigenvalues of all unions of one and of two independent sets."""
    hessian = f.curvature(np.arange(f.n))
    alone = [np.linalg.eigvalsh(hessian[np.ix_(S, S)])[0] for S in family.sets if S]
    pairs = {tuple(sorted({*S, *T})) for S in family.sets for T in family.sets} - {()}
    return min(alone), min(np.linalg.eigvalsh(hessian[np.ix_(S, S)])[0] for S in pairs)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@settings(max_examples=50)
@given(st.integers(0, 10**6), st.sampled_from(EVERY))
def test_the_theorem_holds_with_exact_constants(constraint, seed, method):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 6)) + rng.choice([0.0, 0.5]) * rng.standard_normal((12, 1))
    f = sw.LeastSquares(X, rng.standard_normal(12))
    system = CONSTRAINTS[constraint](rng, 6)
    family = family_of(system)
    best = max(f(S) for S in family.sets)
    result = sw.maximize(f, system, method)
    step = result.strategies[-1].details["step"]
    m_s, m_2s = restricted_constants(f, family)
    if step * m_2s >= 1:
        assert result.value >= best - 1e-9
        return
    assert result.value >= best / (1 + (1 / (m_2s * step**2) - m_2s) / m_s) - 1e-9
    assert result.value >= (m_2s * step) ** 2 * best - 1e-9


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(list(CONSTRAINTS)))
def test_every_set_has_a_longest_step(seed, constraint):
    """It is found exactly, for any independent set."""
    f, system = problem(seed, "least squares", constraint)
    family = family_of(system)
    support = family.sets[seed % len(family.sets)]
    found = longest_step(f.start(support), system, Projection(f, system), Clock())
    assert found == pytest.approx(neighbours.longest_fixed_step(Plain(f), family, support), rel=1e-6)


@pytest.mark.parametrize("method", [*EVERY, IHT(debias=False)], ids=repr)
@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(MATROIDS))
def test_degenerate_data_and_forced_elements(method, seed, constraint):
    rng = np.random.default_rng(seed)
    f = sw.LeastSquares(*degenerate(rng))
    system = CONSTRAINTS[constraint](rng, f.n)
    free = np.setdiff1d(np.arange(f.n), system.loops())
    for held in (system, system.contract([int(rng.choice(free))])):
        result = sw.maximize(f, held, method)
        assert np.isin(held.forced, result.support).all()
        check_record(result, f, held.forced)
        step = result.strategies[-1].details["step"]
        assert is_fixed(f, held, result.support, min(step, 1e6))


@pytest.mark.parametrize("kind", [HTP, IHT])
def test_columns_of_any_scale(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 12))
    y = X[:, :3] @ [1.0, -2.0, 1.5] + 0.1 * rng.standard_normal(30)
    for scale in (1e-6, 1.0, 1e6):
        result = sw.maximize(sw.LeastSquares(scale * X, y), sw.Uniform(12, 3), kind())
        assert result.support.tolist() == [0, 1, 2]


def test_an_adaptive_step_is_halved_until_it_keeps_u_from_falling():
    """Along a direction in which u curves by c, steps up to 1/c are accepted."""
    f = sw.LeastSquares(np.eye(2), [1.0, 1.0])
    begin = Iterate(np.zeros(2), np.array([], dtype=np.intp), 0.0, f.gradient_at(np.zeros(2)))
    longest = 1 / f.smoothness(2)
    steps = _Steps(10 * longest, True, Projection(f, sw.Uniform(2, 1)))
    tried = []
    while True:
        _, coef = steps.ahead(begin, Clock())
        tried.append(coef.max() / begin.gradient.max())
        if steps.accept(begin, coef, f.value_at(coef)):
            break
    assert tried == pytest.approx([10 * longest, 5 * longest, 2.5 * longest, 1.25 * longest, 0.625 * longest])
    assert steps.ahead(begin, Clock())[1].max() == pytest.approx(2 * coef.max())


def test_iterates_that_diverge_end():
    rng = np.random.default_rng(1)
    f = sw.LeastSquares(rng.standard_normal((20, 10)), rng.standard_normal(20))
    for debias in (True, False):
        result = sw.maximize(f, sw.Uniform(10, 3), IHT(1e4, debias=debias))
        assert result.value <= sw.maximize(f, sw.Uniform(10, 3), "exhaustive").value + 1e-9
    result = sw.maximize(f, sw.Uniform(10, 3), HTP(1e4))
    assert result.status is sw.Status.COMPLETE


def test_a_search_that_is_cut_short_guarantees_nothing():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 100)) + rng.standard_normal((40, 1))
    f = sw.LeastSquares(X, rng.standard_normal(40))
    result = sw.maximize(f, sw.Uniform(100, 10), "htp", max_iter=1)
    assert result.status is sw.Status.ITERATION_LIMIT
    assert result.strategies[-1].details["step"] == 0


def test_inexact_projections_are_on_the_record():
    edges = [(i, j, k) for i in range(3) for j in range(3, 6) for k in range(6, 9)][::2]
    packing = sw.OracleSystem(len(edges), lambda S: len({v for e in S for v in edges[e]}) == 3 * len(S))
    rng = np.random.default_rng(3)
    f = sw.LeastSquares(rng.standard_normal((30, len(edges))), rng.standard_normal(30))
    details = sw.maximize(f, packing, "htp").strategies[-1].details
    assert 0 < details["head"] < 1


def test_without_a_smoothness_a_global_step_is_refused():
    rng = np.random.default_rng(4)
    f = sw.Poisson(rng.standard_normal((20, 5)), rng.poisson(1.0, 20))
    for kind in (HTP, IHT):
        with pytest.raises(TypeError, match="a smoothness constant for step='global'"):
            sw.maximize(f, sw.Uniform(5, 2), kind("global"))
        assert len(sw.maximize(f, sw.Uniform(5, 2), kind()).support) == 2


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"step": "short"}, ValueError, "step must be 'adaptive', 'global' or a positive number"),
        ({"step": 0.0}, ValueError, r"step .*must be a positive number"),
        ({"step": None}, TypeError, r"step .*must be a positive number"),
        ({"debias": "yes"}, TypeError, "debias must be True or False"),
    ],
)
def test_options_are_checked(options, error, words):
    with pytest.raises(error, match=words):
        IHT(**options)


def test_weights_that_have_left_the_floats_come_before_all_others():
    both = sw.Intersection(sw.Partition([0, 0, 1], 1), sw.Knapsack([2.0, 1.0, 1.0], 2.0))
    project = Projection(sw.LeastSquares(np.eye(3), np.ones(3)), both)
    assert project.heaviest(np.array([np.inf, 3.0, 2.0]), Clock()).tolist() == [0]
    assert project.heaviest(np.array([2.0, np.inf, np.inf]), Clock()).tolist() == [1, 2]
