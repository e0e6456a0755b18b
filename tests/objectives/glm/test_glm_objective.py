"""Logistic, Poisson and multinomial models: fits against other programs, bounds against refits."""

from __future__ import annotations

import warnings

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_array
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

import swapwise as sw
from swapwise.clock import Budget
from swapwise.data.open import open_design
from swapwise.moves import MoveList
from swapwise.moves import move_between as move_to
from swapwise.objectives.base import State
from tests.objectives.glm.targets import TARGETS

SEPARABLE = pytest.mark.filterwarnings("ignore:the classes are separable")
QUIET = [
    SEPARABLE,
    pytest.mark.filterwarnings("ignore:some counts are zero"),
    pytest.mark.filterwarnings("ignore:y is explained"),
]


def quiet(test):
    for mark in QUIET:
        test = mark(test)
    return test


def sample(seed, samples=120, features=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, features))
    eta = X @ np.linspace(-1, 1, features)
    return rng, X, eta


def logistic_data(seed, **size):
    rng, X, eta = sample(seed, **size)
    return X, (rng.random(len(X)) < 1 / (1 + np.exp(-eta))).astype(float)


def poisson_data(seed, **size):
    rng, X, eta = sample(seed, **size)
    return X, rng.poisson(np.exp(0.5 * eta)).astype(float)


# -- fits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [1e-3, 0.1])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_logistic_is_that_of_scikit_learn(ridge, fit_intercept):
    X, y = logistic_data(0)
    weight = np.linspace(0.5, 1.5, len(y))
    weight /= weight.mean()
    f = sw.Logistic(X, y, ridge, sample_weight=weight, fit_intercept=fit_intercept)
    chosen = [0, 2, 5]
    peer = LogisticRegression(C=1 / (ridge * len(y)), fit_intercept=fit_intercept, tol=1e-10, max_iter=1000)
    peer.fit(X[:, chosen], y, sample_weight=weight)
    np.testing.assert_allclose(f.coef(chosen)[chosen], peer.coef_[0], atol=1e-4)
    assert f.intercept(chosen) == pytest.approx(peer.intercept_[0], abs=1e-4)
    assert not f.coef(chosen)[[1, 3, 4]].any()


@pytest.mark.parametrize("ridge", [1e-3, 0.1])
def test_poisson_is_that_of_scikit_learn(ridge):
    X, y = poisson_data(1)
    weight = np.linspace(0.5, 1.5, len(y))
    f = sw.Poisson(X, y, ridge, sample_weight=weight)
    chosen = [1, 3, 4]
    peer = PoissonRegressor(alpha=ridge, tol=1e-10, max_iter=1000).fit(X[:, chosen], y, weight)
    np.testing.assert_allclose(f.coef(chosen)[chosen], peer.coef_, atol=1e-5)
    assert f.intercept(chosen) == pytest.approx(peer.intercept_, abs=1e-5)


def test_multinomial_is_that_of_scikit_learn():
    rng, X, _ = sample(2, samples=200)
    y = np.argmax(X[:, :3] + rng.gumbel(size=(200, 3)), axis=1)
    f, chosen = sw.Multinomial(X, y, 0.05), [0, 2]
    peer = LogisticRegression(C=1 / (0.05 * 200), tol=1e-10, max_iter=2000).fit(X[:, chosen], y)
    np.testing.assert_allclose(f.coef(chosen)[chosen], peer.coef_.T, atol=1e-4)
    np.testing.assert_allclose(f.intercept(chosen), peer.intercept_ - peer.intercept_.mean(), atol=1e-4)
    assert f.coef(chosen).shape == (6, 3)


def test_two_classes_are_logistic_with_half_the_ridge():
    X, y = logistic_data(3)
    both, one = sw.Multinomial(X, y, 0.1), sw.Logistic(X, y, 0.05)
    assert both([0, 3]) == pytest.approx(one([0, 3]), abs=1e-10)


def test_least_squares_in_groups_is_ridge_regression():
    _, X, eta = sample(4)
    y = eta + np.sin(np.arange(len(eta)))
    weight = np.linspace(0.5, 4.0, len(y))
    f = sw.LeastSquares(X, y, groups=list("abacbc"), ridge=2.0, sample_weight=weight)
    assert (f.n, f.n_features, f.group_labels) == (3, 6, ["a", "b", "c"])
    columns = [0, 2, 3, 5]
    peer = Ridge(alpha=2.0, fit_intercept=False, tol=1e-10).fit(X[:, columns], y, weight)
    np.testing.assert_allclose(f.coef([0, 2])[columns], peer.coef_, atol=1e-8)
    plain = sw.LeastSquares(X, y, 2.0, weight)
    assert f([0, 2]) == pytest.approx(plain(columns), abs=1e-10)


@pytest.mark.parametrize("model", [sw.Logistic, sw.Poisson])
def test_weights_are_repetitions(model):
    X, y = (logistic_data if model is sw.Logistic else poisson_data)(5, samples=40)
    times = np.arange(40) % 3
    weighted = model(X, y, 0.01, sample_weight=times, offset=X[:, 0] / 2)
    repeated = model(X.repeat(times, 0), y.repeat(times), 0.01, offset=X[:, 0].repeat(times) / 2)
    for chosen in ([], [1], [2, 4], [0, 1, 2, 3, 4, 5]):
        assert weighted(chosen) == pytest.approx(repeated(chosen), abs=1e-10)


def test_an_offset_is_a_column_with_coefficient_one():
    X, y = poisson_data(6)
    f = sw.Poisson(X, y, offset=0.7 * X[:, 0])
    g = sw.Poisson(X, y)
    free = g.coef([0, 1])
    # The fit of column 0 makes up for the offset, and nothing else changes.
    np.testing.assert_allclose(f.coef([0, 1]), free - 0.7 * np.eye(6)[0], atol=1e-7)


def test_groups_are_all_of_their_columns():
    X, y = logistic_data(7)
    grouped, plain = sw.Logistic(X, y, groups=[1, 0, 1, 2, 0, 2]), sw.Logistic(X, y)
    assert grouped([0, 2]) == pytest.approx(plain([0, 2, 3, 5]), abs=1e-12)
    assert grouped.groups.members(np.array([0, 2])).tolist() == [0, 2, 3, 5]


# -- bounds and exchanges -------------------------------------------------------------------------------


@st.composite
def problems(draw):
    """Small problems: repeated, constant and separating columns, weights of zero, offsets."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    samples, n = draw(st.integers(4, 40)), draw(st.integers(2, 6))
    X = rng.standard_normal((samples, n)) * draw(st.sampled_from([0.3, 1.0, 3.0]))
    if draw(st.booleans()):
        X = np.round(X)
    eta = X[:, 0] - X[:, 1]
    if draw(st.booleans()):
        X[:, 0] = X[:, -1] + draw(st.sampled_from([0.0, 1e-5])) * rng.standard_normal(samples)
    X += draw(st.sampled_from([0.0, 0.0, 1e3])) * (np.arange(n) % 2)
    X *= draw(st.sampled_from([1.0, 1.0, 1e12])) ** rng.choice([-1, 0, 1], n)
    options = {
        "ridge": draw(st.sampled_from([0.0, 0.0, 1e-3, 0.3])),
        "fit_intercept": draw(st.booleans()),
        "offset": draw(st.sampled_from([None, rng.standard_normal(samples)])),
        "sample_weight": draw(st.sampled_from([None, rng.integers(0, 3, samples) + np.eye(samples)[0]])),
    }
    X = draw(st.sampled_from([np.asarray, csr_array, csc_matrix]))(X)
    kind = draw(st.sampled_from(list(TARGETS)))
    return kind(X, TARGETS[kind](rng, eta), **options)


@quiet
@settings(max_examples=150)
@given(f=problems(), data=st.data())
def test_no_addition_exceeds_its_bound(f, data):
    support = np.array(sorted(data.draw(st.sets(st.integers(0, f.n - 1), max_size=f.n - 1))), dtype=np.intp)
    others = np.setdiff1d(np.arange(f.n), support)
    # Any point will do, not only the fit: what is missing of it is part of the bound.
    _, theta = f.fit_from(support, f.no_coefficients(support))
    theta = theta * data.draw(st.sampled_from([1.0, 0.9]))
    bounds = f.fitter.expansion(support, theta, others)
    theta = theta[:, 0]
    coef = np.zeros(f.n)
    coef[support] = theta[: len(support)]
    likelihood = f.likelihood
    eta = likelihood.offset[0] + f.columns.combine(coef) + (theta[-1] if f.fit_intercept else 0.0)
    value = likelihood.derivatives(eta[None])[0] - f.ridge * coef @ coef / 2 - likelihood.null
    after = np.array([f(np.sort(np.append(support, j))) for j in others])
    for floor in (-np.inf, 0.5, np.inf):
        bounds.tighten(floor)
        assert (value + bounds.bound >= after - 1e-9 * (1 + f.scale)).all()


@quiet
@settings(max_examples=150)
@given(f=problems(), data=st.data())
def test_warm_refits_lead_where_cold_ones_do(f, data):
    """Also from fits that say nothing of the next: far columns, saturated predictions, none in common."""
    subsets = st.lists(st.sets(st.integers(0, f.n - 1), max_size=4), min_size=2, max_size=4)
    supports = [np.array(sorted(chosen), dtype=np.intp) for chosen in data.draw(subsets)]
    state = f.start(supports[0])
    for support in supports[1:]:
        move = move_to(state.support, support)
        listed = MoveList(np.array([move.added], dtype=np.intp), np.array([move.dropped], dtype=np.intp))
        expected = f(support)
        assert state.value + state.gains(listed)[0] == pytest.approx(expected, abs=1e-7 * f.scale)
        state.apply(move)
        assert state.value == pytest.approx(expected, abs=1e-7 * f.scale)


def test_columns_of_any_size_and_place_are_fitted():
    X, y = logistic_data(0)
    plain = sw.Logistic(X, y)([0, 1, 2])
    for scale, shift in ((1e16, 0.0), (1e-16, 0.0), (1.0, 1e6), ([1e16, 1, 1e-16, 1, 1, 1], 0.0)):
        assert sw.Logistic(X * scale + shift, y)([0, 1, 2]) == pytest.approx(plain, rel=1e-6)
    for gap in (1e-3, 1e-5, 1e-6):
        near = np.column_stack([X[:, 0], X[:, 0] + gap * X[:, 1], X[:, 2]])
        assert sw.Logistic(near, y)([0, 1, 2]) == pytest.approx(plain, rel=1e-6)
    with pytest.raises(ValueError, match="column 0 of X has entries of size"):
        sw.Logistic(X * 1e80, y)


@pytest.mark.parametrize("far", [-600.0, -35.0, 200.0, 600.0])
def test_offsets_may_be_far_from_zero(far):
    X, y = poisson_data(0)
    f, shifted = sw.Poisson(X, y), sw.Poisson(X, y, offset=np.full(len(y), far))
    assert shifted([0, 3]) == pytest.approx(f([0, 3]), rel=1e-9)
    assert shifted.intercept([0, 3]) == pytest.approx(f.intercept([0, 3]) - far, abs=1e-6)


def test_the_intercept_is_that_of_the_columns_as_given():
    X, y = logistic_data(0)
    f, shifted = sw.Logistic(X, y), sw.Logistic(X + 5.0, y)
    np.testing.assert_allclose(shifted.coef([1, 4]), f.coef([1, 4]), atol=1e-9)
    assert shifted.intercept([1, 4]) == pytest.approx(
        f.intercept([1, 4]) - 5 * f.coef([1, 4]).sum(), abs=1e-8
    )


@quiet
@pytest.mark.parametrize("seed", range(10))
def test_bounds_of_nearly_dependent_columns_are_valid(seed):
    rng = np.random.default_rng(seed)
    a, b, c = rng.standard_normal((3, 60))
    y = rng.random(60) < 1 / (1 + np.exp(-3 * c))
    f = sw.Logistic(np.column_stack([a, a + 1e-5 * b, b + 2e-4 * c, c]), y, ridge=1e-12)
    support, others = np.array([0, 1]), np.array([2, 3])
    value, theta = f.fit_from(support, f.no_coefficients(support))
    bounds = f.fitter.expansion(support, theta, others)
    bounds.tighten(np.inf)
    assert (value + bounds.bound >= [f([0, 1, 2]) - 1e-9, f([0, 1, 3]) - 1e-9]).all()


@quiet
@settings(max_examples=150)
@given(f=problems(), data=st.data())
def test_the_best_move_is_never_left_out(f, data):
    size = data.draw(st.integers(0, f.n - 1))
    support = data.draw(st.permutations(range(f.n)))[:size]
    state = f.start(support)
    (grid,) = sw.Uniform(f.n, max(1, data.draw(st.sampled_from([size, size + 1])))).moves(state.support)
    listed = grid.to_list()
    gains = State.gains(state, listed)
    found = state.find_best([grid], 0.0, Budget())
    _, gain = listed.best(gains, state.magnitude)
    if gain > 1e-8 * f.scale:
        best = gains[[move == found.move for move in listed.moves()]]
        assert best == pytest.approx(gain, abs=1e-9 * f.scale)


@quiet
@pytest.mark.parametrize("method", ["oblivious", "semi-oblivious", "greedy"])
@pytest.mark.parametrize("data", [logistic_data, poisson_data])
def test_bounded_searches_take_the_moves_of_plain_ones(method, data, monkeypatch):
    constraint = sw.Partition(np.arange(12) // 4, 2)
    for seed in range(4):
        X, y = data(seed, samples=80, features=12)
        f = (sw.Logistic if data is logistic_data else sw.Poisson)(X, y)
        fast = sw.maximize(f, constraint, method, start="empty")
        with monkeypatch.context() as patch:
            patch.setattr(f, "start", lambda support=(), f=f: sw.SparseObjective.start(f, support))
            plain = sw.maximize(f, constraint, method, start="empty")
        assert [event[1:3] for event in fast.history] == [event[1:3] for event in plain.history]
        assert fast.n_evaluations < plain.n_evaluations


def test_bounds_spare_most_refits():
    X, y = logistic_data(0, samples=400, features=200)
    result = sw.maximize(sw.Logistic(X, y), sw.Uniform(200, 5), "semi-oblivious", start="empty")
    assert result.n_evaluations < 0.4 * 200 * result.n_iter


# -- starts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [sw.Logistic, sw.Poisson])
def test_the_start_from_models_is_allowed_and_good(model):
    X, y = (logistic_data if model is sw.Logistic else poisson_data)(8, samples=300, features=40)
    f = model(X, y, 1e-3)
    for constraint in (
        sw.Uniform(40, 5),
        sw.Partition(np.arange(40) % 8, 1).truncate(4).contract([3]),
        sw.Intersection(sw.Partition(np.arange(40) % 8, 1), sw.Partition(np.arange(40) // 10, 2)),
    ):
        started = sw.maximize(f, constraint, "semi-oblivious", start="model", max_iter=0)
        assert constraint.is_independent(started.support)
        greedy = sw.maximize(f, constraint, "greedy")
        assert started.value >= 0.98 * greedy.value
        assert sw.maximize(f, constraint, "semi-oblivious", start="model").value >= started.value


def test_a_start_from_models_is_empty_where_nothing_has_a_slope():
    exclusive_or = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1.0]])
    for X, y in ((np.ones((6, 2)), [0, 1] * 3), (exclusive_or, [0, 1, 1, 0])):
        assert not len(sw.maximize(sw.Logistic(X, y), sw.Uniform(2, 1), start="model").support)


def test_a_start_from_models_needs_models():
    with pytest.raises(TypeError, match=r"start='model' needs second-order models.*Linear has none"):
        sw.maximize(sw.Linear([1.0, 2.0]), sw.Uniform(2, 1), start="model")
    X, y = logistic_data(0)
    grouped = sw.Logistic(X, y, groups=list("aabbcc"))
    assert len(sw.maximize(grouped, sw.Uniform(3, 1), start="model").support) == 1


# -- proofs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_certificates_are_never_below_the_optimum(seed):
    X, y = logistic_data(seed, samples=60, features=8)
    f, constraint = sw.Logistic(X, y, 0.02), sw.Partition(np.arange(8) // 2, 1)
    best = sw.maximize(f, constraint, "exhaustive")
    certificate = sw.certify(f, constraint, sw.maximize(f, constraint, "greedy"), time_limit=2)
    assert certificate.upper_bound >= best.value - 1e-9
    exact = sw.exact(f, constraint, time_limit=20)
    assert exact.value == pytest.approx(best.value, abs=1e-8)


@pytest.mark.parametrize("groups", [None, list("aabbccdd")])
def test_blocks_of_coefficients_are_searched_and_proven(groups):
    rng, X, _ = sample(0, samples=80, features=8)
    y = np.argmax(X[:, :3] + rng.gumbel(size=(80, 3)), axis=1)
    f = sw.Multinomial(X, y, 0.05, groups=groups)
    constraint = sw.Uniform(f.n, 2)
    best = sw.maximize(f, constraint, "exhaustive")
    for method in ("oblivious", "semi-oblivious", "non-oblivious", "greedy", "modular"):
        result = sw.maximize(f, constraint, method)
        assert result.value <= best.value + 1e-9
        assert result.guarantee is None or result.guarantee.ratio <= 1
    certificate = sw.certify(f, constraint, best, time_limit=10, gap=0)
    assert certificate.optimal
    assert certificate.upper_bound >= best.value - 1e-9


# -- what is off --------------------------------------------------------------------------------------


def test_separable_classes_warn_without_a_ridge_and_are_finite_with_one():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = [0, 0, 1, 1]
    with pytest.warns(UserWarning, match="the classes are separable"):
        coef = sw.Logistic(X, y).coef([0])
    assert np.isfinite(coef).all()
    assert 1 < sw.Logistic(X, y, 0.01).coef([0])[0] < 10


def test_far_samples_are_not_taken_for_separable_classes():
    """One sample is beyond doubt (a predictor of 40), but the maximum is where it is."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    y = (rng.random(200) < 1 / (1 + np.exp(-x))).astype(float)
    x[0], y[0] = 40.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coef = sw.Logistic(x[:, None], y).coef([0])
    assert 0.5 < coef[0] < 2


@SEPARABLE
def test_the_start_from_models_bears_separable_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 10))
    f = sw.Logistic(X, X[:, 0] + X[:, 1] > 0)
    result = sw.maximize(f, sw.Uniform(10, 4), start="model")
    assert result.value == pytest.approx(f(range(10)), abs=1e-6)


def test_zero_counts_warn_without_a_ridge_and_are_finite_with_one():
    X = np.array([[1.0], [1.0], [0.0], [0.0]])
    y = [0, 0, 3, 2]
    with pytest.warns(UserWarning, match="some counts are zero"):
        assert np.isfinite(sw.Poisson(X, y).coef([0])).all()
    assert -6 < sw.Poisson(X, y, 0.01).coef([0])[0] < -1


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_what_needs_no_feature_is_said(ridge):
    X = np.eye(3)
    for make in (
        lambda: sw.Poisson(X, [0, 0, 0], ridge),
        lambda: sw.Logistic(X, [1, 1, 1], ridge),
        lambda: sw.Poisson(X, [2, 2, 2], ridge),
        lambda: sw.LeastSquares(X, [0, 0, 0], ridge, groups=list("abc")),
    ):
        with pytest.warns(UserWarning, match="explained without any feature"):
            f = make()
        assert f([0, 1]) == pytest.approx(0.0, abs=1e-9)
        assert np.isfinite(f.coef([0, 1])).all()


def test_the_non_oblivious_rule_says_what_poisson_lacks():
    X, y = poisson_data(0)
    with pytest.raises(TypeError, match="a smoothness constant"):
        sw.maximize(sw.Poisson(X, y), sw.Uniform(6, 2), "non-oblivious")
    assert sw.maximize(sw.Logistic(*logistic_data(0)), sw.Uniform(6, 2), "non-oblivious").value > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sw.Logistic(np.eye(3), [0, 1, 2]), "zeros and ones, got 2; for more than two classes"),
        (lambda: sw.Logistic(np.eye(3), [0, 1]), "y must have length 3, got length 2"),
        (lambda: sw.Logistic([[np.nan]], [0]), "X must be finite"),
        (lambda: sw.Poisson(np.eye(3), [0, 1, -1]), "y must be non-negative, got -1"),
        (lambda: sw.Poisson(np.eye(3), [0, 1, 1], offset=[1, 2]), "offset must have length 3"),
        (
            lambda: sw.Logistic(np.eye(3), [0, 1, 1], groups=["a"]),
            "one label for each of the 3 columns, got 1",
        ),
        (lambda: sw.Logistic(np.eye(3), [0, 1, 1], ridge=-1), "ridge must be a non-negative number"),
        (lambda: sw.Multinomial(np.eye(3), [0, 2, 2]), "nothing is of class 1"),
        (lambda: sw.Multinomial(np.eye(3), [0, 0.5, 1]), "numbers of classes"),
        (lambda: sw.Poisson(np.eye(3), [0, 1, 1], sample_weight=[0, 0, 0]), "positive entry"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


# -- what is given ------------------------------------------------------------------------------------


def test_units_of_amounts_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    y = rng.gamma(2.0, np.exp(0.5 * X[:, 1]) / 2.0)
    expected = sw.Gamma(X, y)
    for unit in (1e-12, 1e6, 1e15):
        f = sw.Gamma(X, unit * y)
        assert f([1, 3]) == pytest.approx(expected([1, 3]), rel=1e-9)
        np.testing.assert_allclose(f.coef([1, 3]), expected.coef([1, 3]), atol=1e-7)


def test_the_target_is_copied():
    X, y = logistic_data(0)
    y = y.astype(float)
    f = sw.Logistic(X, y)
    value = f([1])
    y[:] = 1.0 - y
    assert f([1]) == value


@pytest.mark.parametrize("scale", [1e-300, 1e308])
def test_weights_of_any_size(scale):
    X, y = logistic_data(0)
    weight = np.random.default_rng(0).uniform(0.1, 1.0, len(y))
    assert sw.Logistic(X, y, sample_weight=scale * weight)([1]) == pytest.approx(
        sw.Logistic(X, y, sample_weight=weight)([1]), rel=1e-12
    )


class TestDesigns:
    X, y = logistic_data(0)
    chunks = da.from_array(X, chunks=(50, X.shape[1]))
    equal = np.full(len(y), 1.0 / len(y))

    @pytest.mark.parametrize("data", [X, chunks], ids=["memory", "chunks"])
    def test_another_target_is_not_ignored(self, data):
        design = open_design(data, 1.0 - self.y, self.equal, centre=True, scale_rows=False)
        state, expected = sw.Logistic(design, self.y).start(), sw.Logistic(self.X, self.y).start()
        np.testing.assert_allclose(state.gradient, expected.gradient, atol=1e-12)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"centre": True, "sample_weight": np.arange(1.0, len(y) + 1)}, "scale_rows=False"),
            ({"sample_weight": equal, "scale_rows": False}, "centre=True for fit_intercept=True"),
            ({"centre": True, "scale_rows": False}, "the weights of the model, which sum to one"),
        ],
    )
    def test_others_are_refused(self, options, message):
        design = open_design(self.X, self.y, **options)
        with pytest.raises(ValueError, match=message):
            sw.Logistic(design, self.y)


class TestDispersion:
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = np.random.default_rng(1).poisson(np.random.default_rng(2).gamma(1.0, 3.0, 60))

    def test_far_offsets_do_not_matter_to_its_estimate(self):
        near, far = (sw.NegativeBinomial(self.X, self.y, offset=np.full(60, shift)) for shift in (0.0, 800.0))
        assert far.alpha == pytest.approx(near.alpha, rel=1e-6)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"alpha": -1.0}, "alpha must be a positive"),
            ({"alpha": 0.0}, "alpha must be a positive"),
            ({"alpha": 1e-310}, "alpha must be between 1e-12 and 1e"),
            ({"sample_weight": np.zeros(60)}, "sample_weight must have a positive entry"),
        ],
    )
    def test_what_it_cannot_be(self, options, message):
        with pytest.raises(ValueError, match=message):
            sw.NegativeBinomial(self.X, self.y, **options)


def test_numbers_of_classes_are_checked_without_counting_up_to_them():
    with pytest.raises(ValueError, match="nothing is of class 1"):
        sw.Multinomial(np.eye(3), [0.0, 1e12, 1e12])
