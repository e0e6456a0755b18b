"""Likelihoods whose elements have several coefficients: bounds, models and searches against refits."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import swapwise as sw
from swapwise.clock import Budget
from swapwise.objectives.base import SparseObjective, State
from tests.objectives.glm.targets import TARGETS

quiet = pytest.mark.filterwarnings("ignore")


@st.composite
def problems(draw):
    """Classes and groups: repeated, constant and separating columns, dummies, weights of zero, offsets."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    samples, n = draw(st.integers(6, 40)), draw(st.integers(3, 8))
    X = rng.standard_normal((samples, n)) * draw(st.sampled_from([0.3, 1.0, 3.0]))
    kind = draw(st.sampled_from(["plain", "rounded", "dummies"]))
    if kind == "rounded":
        X = np.round(X)
    if kind == "dummies":
        X = np.hstack([np.eye(3)[rng.integers(0, 3, samples)] for _ in range(3)])
        n = 9
    if draw(st.booleans()):
        X[:, 0] = X[:, -1] + draw(st.sampled_from([0.0, 1e-5])) * rng.standard_normal(samples)
    if draw(st.booleans()):
        X[:, 1] = draw(st.sampled_from([0.0, 1.0]))
    eta = X[:, 0] - X[:, min(3, n - 1)]
    X += draw(st.sampled_from([0.0, 0.0, 1e3])) * (np.arange(n) % 2)
    X *= draw(st.sampled_from([1.0, 1.0, 1e12])) ** rng.choice([-1, 0, 1], n)
    options = {
        "ridge": draw(st.sampled_from([0.0, 0.0, 1e-3, 0.3])),
        "fit_intercept": draw(st.booleans()),
        "sample_weight": draw(st.sampled_from([None, rng.integers(0, 3, samples) + np.eye(samples)[0]])),
    }
    groups = np.arange(9) // 3 if kind == "dummies" else rng.integers(0, draw(st.integers(2, 4)), n)
    X = draw(st.sampled_from([np.asarray, csr_array]))(X)
    family = draw(st.sampled_from([sw.Multinomial, *TARGETS]))
    if family is sw.Multinomial:
        y = np.argmax(np.outer(eta, rng.standard_normal(3)) + rng.gumbel(size=(samples, 3)), axis=1)
        _, y = np.unique(y, return_inverse=True)
        return family(X, y, groups=draw(st.sampled_from([None, groups])), **options)
    options["offset"] = draw(st.sampled_from([None, rng.standard_normal(samples)]))
    return family(X, TARGETS[family](rng, eta), groups=groups, **options)


def grouped(f):
    return f.groups is not None or isinstance(f, sw.Multinomial)


@quiet
@settings(max_examples=200)
@given(f=problems().filter(grouped), data=st.data())
def test_no_addition_exceeds_its_bound(f, data):
    support = np.array(sorted(data.draw(st.sets(st.integers(0, f.n - 1), max_size=f.n - 1))), dtype=np.intp)
    others = np.setdiff1d(np.arange(f.n), support)
    # Any point will do, not only the fit: what is missing of it is part of the bound.
    _, theta = f.fit_from(support, f.no_coefficients(support))
    theta = theta * data.draw(st.sampled_from([1.0, 0.9]))
    fit, bounds = f.fitter._point(support, theta), f.fitter.expansion(support, theta, others)
    penalty = f.ridge * (theta[: len(theta) - f.fit_intercept] ** 2).sum() / 2
    value = f.likelihood.derivatives(fit.eta)[0] - penalty - f.likelihood.null
    after = np.array([f(np.sort(np.append(support, j))) for j in others])
    for floor in (-np.inf, 1e-3, 0.05, 0.5, np.inf):
        bounds.tighten(floor)
        assert (value + bounds.bound >= after - 1e-9 * (1 + f.scale)).all()


@quiet
@settings(max_examples=150)
@given(f=problems().filter(grouped), data=st.data())
def test_the_best_move_is_never_left_out(f, data):
    size = data.draw(st.integers(0, f.n - 1))
    state = f.start(data.draw(st.permutations(range(f.n)))[:size])
    constraint = sw.Uniform(f.n, max(1, data.draw(st.sampled_from([size, size + 1]))))
    (grid,) = constraint.moves(state.support)
    batches = [grid]
    if data.draw(st.booleans()):
        batches = [grid.cheapest(np.arange(f.n, dtype=float))]  # one drop for all, as some rules have it
    listed = batches[0].to_list()
    gains = State.gains(state, listed)
    found = state.find_best(batches, 0.0, Budget())
    _, gain = listed.best(gains, state.magnitude)
    if gain > 1e-8 * f.scale:
        best = gains[[move == found.move for move in listed.moves()]]
        assert best == pytest.approx(gain, abs=1e-9 * f.scale)


def classes(seed, samples=150, features=20, n_classes=4, size=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, features)) + 0.5 * rng.standard_normal((samples, 1))
    scores = X[:, :size] @ rng.standard_normal((size, n_classes))
    return X, np.argmax(scores + rng.gumbel(size=(samples, n_classes)), axis=1)


def many(seed):
    """Models whose elements have several coefficients, with few elements that matter."""
    X, y = classes(seed)
    rng = np.random.default_rng(seed)
    groups = rng.permutation(20) // 4
    counts = rng.poisson(np.exp(0.4 * X[:, 0] - 0.3 * X[:, 1]))
    return [
        sw.Multinomial(X, y),
        sw.Multinomial(X, y > 1),
        sw.Multinomial(X, y, 0.01, groups=groups),
        sw.Logistic(X, y > 1, groups=groups),
        sw.Poisson(X, counts, 0.01, groups=groups, fit_intercept=False),
    ]


@quiet
@pytest.mark.parametrize("method", ["oblivious", "semi-oblivious", "greedy"])
@pytest.mark.parametrize("seed", range(3))
def test_bounded_searches_take_the_moves_of_plain_ones(method, seed, monkeypatch):
    for f in many(seed):
        constraint = sw.Partition(np.arange(f.n) % 2, 2)
        fast = sw.maximize(f, constraint, method, start="empty")
        with monkeypatch.context() as patch:
            patch.setattr(f, "start", lambda support=(), f=f: SparseObjective.start(f, support))
            plain = sw.maximize(f, constraint, method, start="empty")
        assert [event[1:3] for event in fast.history] == [event[1:3] for event in plain.history]


@pytest.mark.parametrize("seed", range(3))
def test_predictions_are_those_of_a_newton_step(seed):
    """From the fit on Y, one Newton step on Y + j gains what the model predicts."""
    for f in many(seed):
        support, others = np.array([0, 2]), np.array([1, 3])
        _, theta = f.fit_from(support, f.no_coefficients(support))
        bounds = f.fitter.expansion(support, theta, others)
        for place, j in enumerate(others):
            larger = np.sort(np.append(support, j))
            state = f.start(support)
            point = f.fitter._point(larger, state._parameters_on(larger))
            gain = float(point.gradient @ point.inverse[0] @ point.gradient) / 2
            assert bounds.predicted[place] == pytest.approx(gain, rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_models_gain_what_is_predicted(seed):
    """A model's values and predicted gains come from one quadratic function, in other units."""
    for f in many(seed):
        state, others = f.start([0, 1]), np.arange(2, f.n)
        bounds = f.fitter.expansion(state.support, state._theta, others)
        model = state.model(np.arange(f.n))
        gains = [model([0, 1, j]) - model([0, 1]) for j in others]
        ratio = bounds.predicted / gains
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)
        (grid,) = sw.Uniform(f.n, 3).moves(state.support)
        np.testing.assert_allclose(model.start([0, 1]).gains(grid)[2:, -1], gains, atol=1e-9)


@quiet
@pytest.mark.parametrize("seed", range(3))
def test_the_start_from_models_is_allowed_and_good(seed):
    for f in many(seed):
        for constraint in (sw.Uniform(f.n, 3), sw.Partition(np.arange(f.n) % 3, 1)):
            started = sw.maximize(f, constraint, start="model", max_iter=0)
            assert constraint.is_independent(started.support)
            assert started.value >= 0.95 * sw.maximize(f, constraint, "greedy").value
        crossed = sw.Intersection(sw.Partition(np.arange(f.n) % 3, 1), sw.Partition(np.arange(f.n) // 2, 1))
        assert crossed.is_independent(sw.maximize(f, crossed).support)


def test_models_and_bounds_spare_nearly_all_refits():
    X, y = classes(0, samples=400, features=100, size=4)
    result = sw.maximize(sw.Multinomial(X, y), sw.Uniform(100, 4))
    assert [run.name for run in result.strategies] == ["model rounds", "semi-oblivious"]
    assert result.n_evaluations < 30
    plain = sw.maximize(sw.Multinomial(X, y), sw.Uniform(100, 4), "greedy")
    assert result.value >= plain.value - 1e-9


def test_full_sets_of_dummies_leave_bounds_and_models():
    """Centred dummies of a factor sum to zero; so do the coefficients of classes over them."""
    rng = np.random.default_rng(0)
    X = np.hstack([np.eye(4)[rng.integers(0, 4, 500)] for _ in range(40)])  # as pandas.get_dummies has them
    scores = X[:, :12] @ (0.5 * rng.standard_normal((12, 3)))
    y = np.argmax(scores + rng.gumbel(size=(500, 3)), axis=1)
    groups = np.repeat(np.arange(40), 4)
    f = sw.Multinomial(X, y, groups=groups)
    without_one = sw.Multinomial(np.delete(X, np.s_[::4], 1), y, groups=np.delete(groups, np.s_[::4]))
    result, expected = sw.maximize(f, sw.Uniform(40, 3)), sw.maximize(without_one, sw.Uniform(40, 3))
    assert result.n_evaluations < 30
    assert result.support.tolist() == expected.support.tolist()
    assert result.value == pytest.approx(expected.value, abs=1e-9)


@quiet
def test_separable_classes_are_borne():
    X = np.random.default_rng(0).standard_normal((30, 12))
    y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    for f in (sw.Multinomial(X, y), sw.Logistic(X, y > 0, groups=np.arange(12) // 2)):
        result = sw.maximize(f, sw.Uniform(f.n, 3))
        assert result.value == pytest.approx(f(range(f.n)), abs=1e-6)


@quiet
@pytest.mark.parametrize("seed", range(3))
def test_columns_that_are_not_copied_have_the_same_bounds(seed, monkeypatch):
    copied = many(seed)
    monkeypatch.setattr("swapwise.objectives.glm.element_columns.COPY_UP_TO", 0)
    for f, g in zip(copied, many(seed), strict=True):
        support, others = np.array([0, 2]), np.array([1, 3])
        _, theta = f.fit_from(support, f.no_coefficients(support))
        expected, found = (each.fitter.expansion(support, theta, others) for each in (f, g))
        expected.tighten(np.inf)
        found.tighten(np.inf)
        np.testing.assert_allclose(found.predicted, expected.predicted, rtol=1e-9)
        np.testing.assert_allclose(found.bound, expected.bound, rtol=1e-7)
        scores = [each.start([0, 2]).screening_scores() for each in (f, g)]
        np.testing.assert_allclose(scores[1], scores[0], rtol=1e-9, atol=1e-12)
        assert sw.maximize(g, sw.Uniform(g.n, 2)).support.tolist() == (
            sw.maximize(f, sw.Uniform(f.n, 2)).support.tolist()
        )


def test_pickles_leave_what_can_be_computed_behind():
    X, y = classes(0, samples=300, features=40)
    for f in (sw.Multinomial(X, y), sw.Logistic(X, y > 1, groups=np.arange(40) // 4)):
        before = len(pickle.dumps(f))
        value = sw.maximize(f, sw.Uniform(f.n, 3)).value
        pickled = pickle.dumps(f)
        assert len(pickled) < before + 1000
        assert sw.maximize(pickle.loads(pickled), sw.Uniform(f.n, 3)).value == pytest.approx(value)
