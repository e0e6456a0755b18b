"""Logistic and Poisson models on data in chunks: the same as in memory, in few passes."""

from __future__ import annotations

import pickle
import warnings

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.clock import Budget, Clock
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ArrayChunks
from swapwise.data.reductions import Scaled
from swapwise.moves import NOTHING, MoveList
from swapwise.objectives.glm import chunked_fitter, objective
from swapwise.objectives.glm.chunked_fitter import ChunkedFitter, NewtonSums, TrialPoint
from swapwise.search.plan import resolve
from tests.objectives.glm.targets import TARGETS

KINDS = tuple(TARGETS)


class CountedBlocks(ArrayChunks):
    """Blocks that count how many columns were read, and the most that were stored anew."""

    def __init__(self, array, rows_at_once, count=None):
        super().__init__(array, rows_at_once)
        self.count = {"columns": 0, "widest": 0} if count is None else count

    def reduce(self, work, *rows):
        self.count["columns"] += self.n_features
        return super().reduce(work, *rows)

    def restricted(self, elements):
        self.count["columns"] += self.n_features
        self.count["widest"] = max(self.count["widest"], len(elements))
        return CountedBlocks(super().restricted(elements).array, self._step, self.count)


def in_blocks(X, rows_at_once=37):
    return ChunkedMatrix(ArrayChunks(X, rows_at_once))


def data(kind, seed=0, samples=150, features=8, signals=4, strength=1.0, correlation=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, features))
    for column in range(1, features):
        X[:, column] += correlation * X[:, column - 1]
    chosen = rng.choice(features, signals, replace=False)
    eta = strength * X[:, chosen] @ rng.choice([-1.0, 1.0], signals)
    return X, TARGETS[kind](rng, eta)


@st.composite
def twins(draw):
    """Draw a model in memory and the same in blocks, with awkward columns among the others."""
    kind = draw(st.sampled_from(KINDS))
    X, y = data(kind, draw(st.integers(0, 20)), features=6)
    X[:, 1] += draw(st.sampled_from([0.0, 5.0, 3e4]))
    X[:, 2] = draw(st.sampled_from([0.0, 7.0])) * (1 + 1e-15 * (X[:, 0] > 0))  # constant but for rounding
    X[:, 3] *= draw(st.sampled_from([1.0, 1e-3]))
    rng = np.random.default_rng(1)
    options = {
        "ridge": draw(st.sampled_from([0.0, 1e-3])),
        "fit_intercept": draw(st.booleans()),
        "sample_weight": rng.integers(0, 3, len(y)).astype(float) if draw(st.booleans()) else None,
        "offset": rng.uniform(0.0, 1.0, len(y)) if draw(st.booleans()) else None,
    }
    return kind(X, y, **options), kind(in_blocks(X), y, **options)


SOME = np.array([0, 1, 4])


def close(found, expected, tol=1e-8):
    np.testing.assert_allclose(
        found, expected, rtol=tol, atol=tol * (1e-9 + np.abs(expected).max(initial=0.0))
    )


@settings(max_examples=25, deadline=None)
@given(twins())
def test_fits_are_those_in_memory(models):
    f, g = models
    assert type(g) is type(f)
    assert isinstance(g.fitter, ChunkedFitter)
    close(g(SOME), f(SOME))
    close(g.coef(SOME), f.coef(SOME))
    close(g.intercept(SOME), f.intercept(SOME))
    assert g([]) == f([]) == 0.0
    if g.fit_intercept:  # of a constant column nothing is left
        assert g.coef([2, 5])[2] == 0.0
    else:
        close(g.coef([2, 5]), f.coef([2, 5]))


@settings(max_examples=25, deadline=None)
@given(twins())
def test_functions_of_coefficients_are_those_in_memory(models):
    f, g = models
    coef = np.array([0.3, 0.0, 0.0, 0.2, -0.5, 0.0]) if f.fit_intercept else np.zeros(6)
    close(g.value_at(coef), f.value_at(coef))
    close(g.gradient_at(coef), f.gradient_at(coef), 1e-6)
    close(g.hessian_at(coef, SOME), f.hessian_at(coef, SOME), 1e-6)
    state, twin = f.start(SOME), g.start(SOME)
    slope_tol = 1e-6 * np.abs(f.gradient_at(np.zeros(6))).max()
    np.testing.assert_allclose(twin.gradient, state.gradient, rtol=1e-6, atol=slope_tol)
    assert twin.gradient[SOME].tolist() == [0.0, 0.0, 0.0]
    others = np.array([3, 5])
    close(twin.screening_scores()[others], state.screening_scores()[others], 1e-6)
    close(g.start().screening_scores()[others], f.start().screening_scores()[others], 1e-6)


@settings(max_examples=25, deadline=None)
@given(twins())
def test_what_additions_are_expected_to_gain_is_what_it_is_in_memory(models):
    f, g = models
    others, (_, theta) = np.array([3, 5]), f.fit_from(SOME, f.no_coefficients(SOME))
    expected, found = (each.fitter.expansion(SOME, theta, others) for each in (f, g))
    assert expected.proves
    assert not found.proves
    close(found.left, expected.left, 1e-6)
    close(found.coupling, expected.coupling, 1e-6)
    np.testing.assert_allclose(found.predicted, expected.predicted, rtol=1e-5, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(twins())
def test_second_order_models_are_those_in_memory(models):
    f, g = models
    elements = np.array([0, 1, 3, 4, 5])
    for support in ([], [0, 1]):
        model, twin = (each.start(support).model(elements) for each in (f, g))
        for chosen in ([0], [1, 2], [0, 3, 4]):
            assert twin(chosen) == pytest.approx(model(chosen), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_do_not_depend_on_blocks(kind, monkeypatch):
    X, y = data(kind)
    X = X[np.argsort(-np.abs(X[:, 0]))]  # the largest numbers are in the first block
    rows, columns = (y, np.full(len(y), 0.1), np.zeros(len(y))), Scaled(SOME, np.ones(3), np.full(3, 2.0))
    trial = TrialPoint(columns, np.array([0.3, -0.2, 0.1, 0.5]), np.array([1.0, 0.0, 0.0, 0.0]), floor=1e-3)
    work = NewtonSums(kind.family.kernel, [trial])
    (whole,) = ArrayChunks(X, len(X)).reduce(work, *rows)
    assert whole.reach == pytest.approx(np.abs(2 * (X[:, 0] - 1)).max())
    for step in (40, len(X)):
        monkeypatch.setattr(chunked_fitter, "ENTRIES_AT_ONCE", 100)
        for array, parts in ((X, rows), (X[::-1], tuple(part[::-1] for part in rows))):
            (sums,) = ArrayChunks(np.ascontiguousarray(array), step).reduce(work, *parts)
            for found, expected in zip(sums, whole, strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [sw.Logistic, sw.Poisson])  # where all samples curve alike at first
def test_the_first_expansion_needs_no_pass_of_its_own(kind):
    X, y = data(kind)
    weight = np.random.default_rng(0).uniform(1, 2, len(y))
    f = kind(X, y, 0.01, sample_weight=weight)
    g = kind(in_blocks(X), y, 0.01, sample_weight=weight, offset=np.full(len(y), 0.5))
    state, twin = f.start(), g.start()
    close(twin.gradient, state.gradient)
    close(twin.screening_scores(), state.screening_scores())
    assert g.n_passes == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_gains_of_moves_are_those_in_memory(kind):
    X, y = data(kind)
    f, g = kind(X, y, 0.01), kind(in_blocks(X), y, 0.01)
    moves = MoveList(np.array([[2], [3], [NOTHING], [5]]), np.array([[0], [NOTHING], [1], [1]]))
    close(g.start([0, 1]).gains(moves), f.start([0, 1]).gains(moves))
    two = MoveList(np.array([[2, 3], [4, 5]]), np.array([[0, 1], [1, NOTHING]]))
    close(g.start([0, 1]).gains(two), f.start([0, 1]).gains(two))
    last = MoveList(np.array([[NOTHING]]), np.array([[0]]))
    assert g.start([0]).gains(last) == pytest.approx(-f([0]), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_refits_from_a_bad_start_end_where_others_do(kind):
    X, y = data(kind)
    g = kind(in_blocks(X), y, 1e-3)
    value, theta = g.fit_from(SOME, np.full((4, 1), 40.0))
    assert value == pytest.approx(g(SOME), rel=1e-12)
    close(theta[:3, 0], g.coef(SOME)[SOME])


@pytest.mark.parametrize("method", ["auto", "oblivious", "greedy", "non-oblivious"])
@pytest.mark.parametrize("constraint", [sw.Uniform(30, 4), sw.Partition(np.arange(30) % 6, 1).truncate(4)])
def test_methods_find_what_they_find_in_memory(method, constraint):
    X, y = data(sw.Logistic, 3, samples=300, features=30)
    f, g = (sw.Logistic(A, y, 1e-3) for A in (X, in_blocks(X)))
    expected, found = (sw.maximize(each, constraint, method) for each in (f, g))
    assert found.support.tolist() == expected.support.tolist()
    close(found.coef, expected.coef)
    assert found.status == expected.status


@pytest.mark.parametrize("start", ["model", "empty"])
def test_other_constraints_than_matroids(start):
    X, y = data(sw.Poisson, 1, samples=300, features=24)
    both = sw.Intersection(sw.Partition(np.arange(24) % 6, 1), sw.Partition(np.arange(24) // 6, 1))
    f, g = (sw.Poisson(A, y, 1e-3) for A in (X, in_blocks(X)))
    expected, found = (sw.maximize(each, both, start=start) for each in (f, g))
    assert found.support.tolist() == expected.support.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_models_lead_to_the_same_set_as_in_memory(kind, seed):
    X, y = data(kind, seed, samples=400, features=300, signals=8, correlation=0.8)
    one_each = sw.Partition(np.arange(300) % 12, 1).truncate(8)
    f, g = kind(X, y, 1e-4), kind(in_blocks(X, 100), y, 1e-4)
    plan = resolve(f, one_each, start="model")
    unperturbed = plan.models(f, one_each, perturbs=False)  # each refit of a chunked set would be a pass
    expected = plan.search(f, one_each, None, Clock(), models=unperturbed)
    found = sw.maximize(g, one_each, start="model")
    assert found.support.tolist() == expected.support.tolist()
    close(found.coef, expected.coef)


@pytest.mark.parametrize("kind", KINDS)
def test_passes_are_few_and_counted(kind):
    X, y = data(kind, samples=600, features=300, signals=8)
    blocks = CountedBlocks(X, 250)
    g = kind(ChunkedMatrix(blocks), y, 1e-4)
    result = sw.maximize(g, sw.Uniform(300, 8), start="model")
    assert result.n_passes == pytest.approx(blocks.count["columns"] / 300, abs=1e-3)
    assert result.n_passes <= 12
    assert blocks.count["widest"] <= 150  # never a copy of all


def test_a_search_without_a_model_start_refits_few():
    X, y = data(sw.Logistic, samples=200, features=120)
    g = sw.Logistic(in_blocks(X), y, 1e-3)
    result = sw.maximize(g, sw.Uniform(120, 3))
    assert result.n_evaluations < 4 * 120
    assert (
        result.support.tolist() == sw.maximize(sw.Logistic(X, y, 1e-3), sw.Uniform(120, 3)).support.tolist()
    )


def test_moves_predicted_to_gain_more_than_the_best_are_refitted_too(monkeypatch):
    monkeypatch.setattr(ChunkedFitter, "first_refits", 1)
    X, y = data(sw.Logistic, samples=300, features=20)
    state = sw.Logistic(in_blocks(X), y).start([0])
    added = np.setdiff1d(np.arange(20), [0])[:, None]
    moves = MoveList(added, np.full_like(added, NOTHING))
    # As if all but the first were expected to gain very much.
    predicted = state.objective.fitter._expansion(state.support, state._theta).predicted
    predicted[:] = np.where(np.arange(20) == 5, 3.0, 2.0)
    assert len(state.unpruned(moves, 0.0, Budget()).to_list()) == 19
    predicted[:] = np.where(np.arange(20) == 5, 3.0, -2.0)
    assert state.unpruned(moves, 0.0, Budget()).to_list().added.tolist() == [[5]]


def test_separable_classes_warn():
    X = np.random.default_rng(0).standard_normal((60, 3))
    with pytest.warns(UserWarning, match="separable"):
        sw.Logistic(in_blocks(X), X[:, 0] > 0)([0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.Logistic(in_blocks(X), X[:, 0] > 0, 0.01)([0])
        sw.Logistic(in_blocks(X), X[:, 0] > 0)([1])


def test_a_refit_that_takes_too_long_warns(monkeypatch):
    monkeypatch.setattr(chunked_fitter, "MAX_STEPS", 1)
    X, y = data(sw.Poisson)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it goes on, on columns in memory
        assert sw.Poisson(in_blocks(X), y)([0, 1]) == pytest.approx(sw.Poisson(X, y)([0, 1]), rel=1e-12)
    monkeypatch.setattr(chunked_fitter, "MOST_GATHERED", 0)
    with pytest.warns(
        UserWarning, match=r"the fit on the set \[0, 1\] did not converge: its value may be too low"
    ):
        sw.Poisson(in_blocks(X), y)([0, 1])


def test_pickles_leave_columns_that_are_held_behind():
    X, y = data(sw.Logistic, features=40)
    g = sw.Logistic(in_blocks(X), y)
    before = len(pickle.dumps(g))
    value = g([3, 5])
    pickled = pickle.dumps(g)
    assert len(pickled) < before + 1000
    assert pickle.loads(pickled)([3, 5]) == value


class TestRefusals:
    X, y = data(sw.Logistic, features=4)
    chunks = da.from_array(X, chunks=(50, 4))

    def test_groups(self):
        with pytest.raises(TypeError, match="groups need data in memory, got data in chunks"):
            sw.Logistic(self.chunks, self.y, groups=[0, 0, 1, 1])

    def test_several_classes(self):
        with pytest.raises(TypeError, match="Multinomial needs data in memory, got data in chunks"):
            sw.Multinomial(self.chunks, self.y)

    def test_smoothness_of_counts(self):
        with pytest.raises(NotImplementedError):
            sw.Poisson(self.chunks, self.y).smoothness(2)

    def test_columns_whose_squares_leave_floating_point(self):
        X = self.X.copy()
        X[:, 2] *= 1e200
        with pytest.raises(ValueError, match="column 2 of X has entries of size"):
            sw.Logistic(in_blocks(X), self.y)


def test_many_features_are_bounded_by_a_perfect_fit(monkeypatch):
    monkeypatch.setattr(objective, "MOST_FITTED_BY_PASSES", 3)
    X, y = data(sw.Logistic)
    f = sw.Logistic(in_blocks(X), y, 0.1)
    before = f.n_passes
    assert f.upper_bound(np.arange(4)) == f.upper_bound()
    assert f.n_passes == before
    assert f.upper_bound(np.arange(3)) < f.upper_bound()


def test_few_features_are_enough_for_proofs():
    X, y = data(sw.Logistic)
    f, g = sw.Logistic(X, y, 0.1), sw.Logistic(in_blocks(X), y, 0.1)
    expected, found = (sw.exact(each, sw.Uniform(8, 3)) for each in (f, g))
    assert found.certificate.optimal
    assert found.support.tolist() == expected.support.tolist()


def test_constants_are_those_in_memory():
    X, y = data(sw.Logistic)
    f, g = sw.Logistic(X, y, 0.1), sw.Logistic(in_blocks(X), y, 0.1)
    close(g.curvature(SOME), f.curvature(SOME))
    close(g.smoothness(2), f.smoothness(2))
    assert g.strong_concavity(3) == f.strong_concavity(3) == 0.1
    assert sw.Poisson(in_blocks(X), y).curvature(SOME) is None
