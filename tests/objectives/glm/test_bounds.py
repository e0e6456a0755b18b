"""Likelihoods with bounds on coefficients: fits, moves and searches, beside scipy and enumeration."""

from __future__ import annotations

from itertools import combinations

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.clock import Budget, Clock
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ArrayChunks
from swapwise.objectives.coefficient_bounds import CoefficientBounds, moved_within
from swapwise.objectives.fit_bounds import lbfgs_bound, missed_at_most
from swapwise.objectives.glm.bounded_refit import refit_within
from swapwise.objectives.glm.likelihood import Fit
from tests.objectives.bounded import KINDS, SHAPES, is_local_optimum, likelihood_of, sets_of, value_by_scipy
from tests.objectives.glm.targets import TARGETS

pytestmark = [
    pytest.mark.filterwarnings("ignore:the classes are separable"),
    pytest.mark.filterwarnings("ignore:some counts are zero"),
    pytest.mark.filterwarnings("ignore:the likelihood has no maximum"),
    pytest.mark.filterwarnings("ignore:y is explained"),
]

every_kind = pytest.mark.parametrize("kind", KINDS)
seeds = st.integers(0, 10**6)


def room(f):
    return 1e-9 * max(1.0, f.scale)


# -- fits -------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=3, deadline=None)
@given(seed=seeds)
def test_no_coefficients_within_the_bounds_are_better(kind, shape, seed):
    f = likelihood_of(kind, shape, seed)
    for chosen in sets_of(f.n):
        coef = f.coef(chosen)
        assert f.bounds is None or f.bounds.hold(coef)
        assert f.value_at(coef) == pytest.approx(f(chosen), abs=room(f))
        if f.bounds is not None:
            assert f(chosen) >= value_by_scipy(f, chosen) - room(f)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=3, deadline=None)
@given(seed=seeds)
def test_separable_classes_are_fitted_within_the_bounds(shape, seed):
    f = likelihood_of(sw.Logistic, shape, seed, separable=True)
    for chosen in sets_of(f.n):
        assert f(chosen) >= value_by_scipy(f, chosen) - room(f)


def test_bounds_that_are_not_reached_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    y = rng.random(50) < 1 / (1 + np.exp(-X[:, 0]))
    free, wide = sw.Logistic(X, y), sw.Logistic(X, y, bounds=(-50, 50))
    for chosen in sets_of(4):
        np.testing.assert_allclose(wide.coef(chosen), free.coef(chosen), atol=1e-10)
        assert wide(chosen) == pytest.approx(free(chosen), abs=1e-14)
        assert wide.intercept(chosen) == pytest.approx(free.intercept(chosen), abs=1e-10)


def test_coefficients_at_a_bound_are_exactly_there():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3))
    y = rng.random(60) < 1 / (1 + np.exp(-3 * X[:, 0] + 3 * X[:, 1]))
    f = sw.Logistic(X, y, bounds=[(None, 0.7), (0, None), (-0.001, 0.001)])
    assert f.coef([0, 1, 2])[:2].tolist() == [0.7, 0.0]
    assert abs(f.coef([0, 1, 2])[2]) == 0.001


def test_a_positive_bound_can_leave_separable_classes_without_a_slope():
    x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    f = sw.Logistic(x, [1, 1, 0, 0], positive=True)
    assert f([0]) == 0.0
    assert f.coef([0]).tolist() == [0.0]


def test_copies_share_what_one_of_them_may_not_have():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(80)
    y = rng.random(80) < 1 / (1 + np.exp(-2 * x))
    one, two = sw.Logistic(x[:, None], y), sw.Logistic(np.column_stack([x, x]), y, bounds=(0, 0.9))
    assert one.coef([0])[0] < 1.8  # else both would be at their bounds
    assert two([0, 1]) == pytest.approx(one([0]), abs=1e-12)
    assert two([0]) < one([0]) - 1e-3


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_the_careful_refit_finds_the_same(shape, seed):
    f = likelihood_of(KINDS[seed % len(KINDS)], shape, seed)
    support = np.arange(f.n)
    bounds = f.fitter.bounds_on(support)
    if bounds is None:
        return
    begin = Fit(-np.inf, f.no_coefficients(support), False, 0.0)
    fit = refit_within(f.likelihood, f.fitter.chosen(support), f.fitter.penalties_on(support), bounds, begin)
    assert bounds.hold(fit.theta[:, 0])
    assert fit.value - f.likelihood.null == pytest.approx(f(support), abs=room(f))


@every_kind
@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_upper_bounds_hold(kind, seed):
    f = likelihood_of(kind, SHAPES[seed % len(SHAPES)], seed)
    for chosen in sets_of(f.n):
        support = np.array(chosen)
        assert f.upper_bound(support) >= f(chosen) - 1e-12 * max(1.0, f.scale)
        if f.ridge > 0:
            assert lbfgs_bound(f, support, Clock()) >= f(chosen) - 1e-12 * max(1.0, f.scale)


# -- what may be given ------------------------------------------------------------------------------


def test_bounds_are_given_by_name_if_columns_have_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 2)), columns=["age", "size"])
    f = sw.Poisson(X, rng.poisson(1.0, 30), bounds={"size": (0, 1)})
    assert f.bounds.lower.tolist() == [-np.inf, 0.0]
    with pytest.raises(ValueError, match="'height', which the data do not have"):
        sw.Poisson(X, rng.poisson(1.0, 30), bounds={"height": (0, 1)})


def test_models_of_several_classes_have_no_bounds():
    with pytest.raises(TypeError, match="positive"):
        sw.Multinomial(np.eye(3), [0, 1, 2], positive=True)


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_bounds_of_groups_are_those_of_their_columns(seed):
    plain = likelihood_of(KINDS[seed % len(KINDS)], SHAPES[seed % len(SHAPES)], seed)
    rng = np.random.default_rng(seed)
    X = plain.design.columns(np.arange(5)).T
    options = {"alpha": 0.5} if isinstance(plain, sw.NegativeBinomial) else {}
    bounds = None if plain.bounds is None else list(zip(*plain.bounds.ends, strict=True))
    shared = {"ridge": 0.01, "fit_intercept": plain.fit_intercept, "bounds": bounds, **options}
    y, labels = plain.likelihood.target, ["a", "b", "a", "c", "b"]
    grouped, single = (type(plain)(X, y, groups=groups, **shared) for groups in (labels, None))
    members = {0: [0, 2], 1: [1, 4], 2: [3]}
    for chosen in sets_of(3):
        columns = sorted(column for element in chosen for column in members[element])
        assert grouped(chosen) == pytest.approx(single(columns), abs=room(grouped))
    result = sw.maximize(grouped, sw.Uniform(3, 2), str(rng.choice(["oblivious", "auto", "omp"])))
    assert result.value == pytest.approx(grouped(result.support), abs=room(grouped))
    result = sw.maximize(grouped, sw.Uniform(3, 1), "oblivious")
    assert is_local_optimum(grouped, result.support, 1, room(grouped))


# -- data in chunks ---------------------------------------------------------------------------------


@every_kind
@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_data_in_chunks_give_the_same(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 5))
    X[:, 1] = X[:, 0] if seed % 3 == 0 else X[:, 1]
    y = TARGETS[kind](rng, X @ rng.standard_normal(5))
    options = {"alpha": 0.5} if kind is sw.NegativeBinomial else {}
    options |= {"ridge": float(rng.choice([0.0, 0.01])), "bounds": (-0.2, 0.3), "positive": bool(seed % 2)}
    here, there = kind(X, y, **options), kind(ChunkedMatrix(ArrayChunks(X, 7)), y, **options)
    for chosen in sets_of(5):
        assert there(chosen) == pytest.approx(here(chosen), abs=room(here))
    state, twin = here.start([0, 2]), there.start([0, 2])
    np.testing.assert_allclose(twin.gradient, state.gradient, atol=1e-8)
    np.testing.assert_allclose(twin.screening_scores(), state.screening_scores(), atol=1e-8)
    for method in ("oblivious", "greedy"):
        one, other = (sw.maximize(f, sw.Uniform(5, 2), method) for f in (here, there))
        assert other.value == pytest.approx(one.value, abs=room(here))


def test_dask_arrays_have_bounds_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    y = (rng.random(100) < 1 / (1 + np.exp(-2 * X[:, 1] + 2 * X[:, 2]))).astype(float)
    f = sw.Logistic(da.from_array(X, chunks=(30, 4)), y, positive=True)
    assert sw.maximize(f, sw.Uniform(4, 2)).coef.min() == 0.0
    assert f([1, 2]) == pytest.approx(sw.Logistic(X, y, positive=True)([1, 2]), abs=1e-12)


# -- moves and searches -----------------------------------------------------------------------------


@every_kind
@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_the_best_move_is_the_best_of_all(kind, seed):
    rng = np.random.default_rng(seed)
    f = likelihood_of(kind, SHAPES[seed % len(SHAPES)], seed)
    support = np.sort(rng.choice(f.n, int(rng.integers(0, f.n)), replace=False))
    state = f.start(support)
    for moves in sw.Uniform(f.n, max(1, len(support))).moves(support):
        listed = moves.to_list()
        expected = np.array([f(move.result(support)) for move in listed.moves()]) - f(support)
        np.testing.assert_allclose(state.gains(listed), expected, atol=room(f))
        found = f.start(support).find_best([moves], -np.inf, Budget())
        assert (found is None) == (not len(listed))
        if found is not None:
            assert found.score == pytest.approx(expected.max(), abs=room(f))


@every_kind
@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_bounds_on_additions_hold_and_leave_out_what_a_bound_is_in_the_way_of(kind, seed):
    f = likelihood_of(kind, "plain", seed)
    support = np.array([0, 2])
    state = f.start(support)
    others = np.array([1, 3, 4])
    additions = f.fitter.expansion(support, state._theta, others)
    additions.tighten(0.0)
    gains = np.array([f(np.union1d(support, [other])) for other in others]) - state.value
    assert (gains <= additions.bound + room(f)).all()
    stuck = state.gradient[others] == 0
    assert (np.abs(gains[stuck]) <= room(f)).all()
    assert (additions.predicted[stuck] <= room(f)).all()


@every_kind
@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_searches_end_in_local_optima_and_enumeration_finds_the_best(kind, seed):
    f = likelihood_of(kind, SHAPES[seed % len(SHAPES)], seed)
    size = 1 + seed % 4
    best = max(f(chosen) for chosen in combinations(range(f.n), size))
    for method in ("oblivious", "auto", "exhaustive"):
        result = sw.maximize(f, sw.Uniform(f.n, size), method)
        assert result.value == pytest.approx(f(result.support), abs=room(f))
        if method == "oblivious":
            assert is_local_optimum(f, result.support, size, 10 * room(f))
    assert result.value == pytest.approx(best, abs=room(f))


def test_signs_decide_what_is_chosen():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 300))
    y = rng.random(400) < 1 / (1 + np.exp(-X[:, :6] @ [2, -2, 1.5, -1.5, 1, -1]))
    f = sw.Logistic(X, y, ridge=0.001, positive=True)
    result = sw.maximize(f, sw.Uniform(300, 3))
    assert result.support.tolist() == [0, 2, 4]
    state = f.start([0])
    assert (state.gradient >= 0).all()
    assert not state.screening_scores()[[1, 3, 5]].any()


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_a_restriction_keeps_its_bounds(seed):
    f = likelihood_of(KINDS[seed % len(KINDS)], "plain", seed)
    few = f.restricted(np.array([1, 3, 4]))
    for chosen in sets_of(3):
        assert few(chosen) == pytest.approx(f(np.array([1, 3, 4])[list(chosen)]), abs=room(f))
    assert few.restricted(np.empty(0, dtype=np.intp)).bounds is None


def test_a_step_that_ends_at_a_bound_is_not_off_by_rounding():
    bounds = CoefficientBounds(np.array([-0.3]), np.array([0.1]))
    for start in np.linspace(-0.29, 0.09, 39):
        coef = np.array([start])
        assert moved_within(bounds, coef, bounds.upper - coef) == bounds.upper
        assert moved_within(bounds, coef, bounds.lower - coef) == bounds.lower


@pytest.mark.filterwarnings("error")
def test_slopes_too_large_to_square_prove_nothing():
    assert missed_at_most(sw.Poisson(np.eye(2), [1.0, 2.0], ridge=1.0), np.array([1e200])) == np.inf
