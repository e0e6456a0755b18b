"""Groups of columns in least squares: closed-form gains, compiled runs and working sets against refits."""

import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.clock import Budget
from swapwise.moves import Move, MoveList
from swapwise.objectives.base import SparseObjective, State
from swapwise.objectives.least_squares.gram_search import BlockSearch

quiet = pytest.mark.filterwarnings("ignore")


@st.composite
def problems(draw):
    """Duplicates within groups and across them, constant columns, more columns than samples, near copies."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    samples, n_columns = draw(st.integers(3, 25)), draw(st.integers(3, 12))
    X = rng.standard_normal((samples, n_columns))
    if draw(st.booleans()):
        X = np.round(X)
    for _ in range(draw(st.integers(0, 3))):
        first, second = rng.choice(n_columns, 2, replace=False)
        noise = draw(st.sampled_from([0.0, 0.0, 1e-3, 1e-6])) * rng.standard_normal(samples)
        X[:, first] = draw(st.sampled_from([1.0, -2.0])) * X[:, second] + noise
    if draw(st.booleans()):
        X[:, 0] = draw(st.sampled_from([0.0, 1.0]))
    y = X @ rng.standard_normal(n_columns) + rng.standard_normal(samples)
    X *= draw(st.sampled_from([1.0, 1.0, 1e6])) ** rng.choice([-1, 0, 1], n_columns)
    groups = rng.integers(0, draw(st.integers(2, 6)), n_columns)
    weight = draw(st.sampled_from([None, rng.integers(0, 3, samples) + np.eye(samples)[0]]))
    return sw.LeastSquares(X, y, draw(st.sampled_from([0.0, 0.0, 1e-6, 0.3])), weight, groups=groups)


def refitted(state, moves):
    return moves.spread(State.gains(state, moves.to_list()))


@quiet
@settings(max_examples=200)
@given(f=problems(), data=st.data())
def test_gains_are_those_of_refits(f, data):
    support = data.draw(st.sets(st.integers(0, f.n - 1), max_size=f.n))
    state = f.start(support)
    assert state.value == pytest.approx(f(support), abs=1e-9)
    size = max(1, len(support))
    for constraint in (sw.Uniform(f.n, size), sw.Uniform(f.n, size + 1)):
        (grid,) = constraint.moves(state.support)
        np.testing.assert_allclose(state.gains(grid), refitted(state, grid), rtol=0, atol=1e-8)
        listed = grid.to_list()
        np.testing.assert_allclose(state.gains(listed), refitted(state, listed), rtol=0, atol=1e-8)
    drops = MoveList(np.full((len(support), 0), -1), state.support[:, None])
    np.testing.assert_allclose(state.gains(drops), refitted(state, drops), rtol=0, atol=1e-8)


@quiet
@settings(max_examples=150)
@given(f=problems(), data=st.data())
def test_the_best_move_is_found(f, data):
    support = data.draw(st.permutations(range(f.n)))[: data.draw(st.integers(0, f.n - 1))]
    state = f.start(support)
    limit = max(1, len(support) + data.draw(st.integers(0, 1)))
    (grid,) = sw.Uniform(f.n, limit).moves(state.support)
    gains = refitted(state, grid)
    _, best = grid.best(gains, state.magnitude)
    found = state.find_best([grid], 1e-7, Budget())
    if best > 2e-7:
        assert found is not None
        assert f(found.move.result(state.support)) - state.value == pytest.approx(best, abs=1e-8)
    elif best < 0.5e-7:
        assert found is None


@quiet
@settings(max_examples=100)
@given(f=problems(), data=st.data())
def test_a_state_that_moved_is_one_that_began_there(f, data):
    state = f.start(data.draw(st.sets(st.integers(0, f.n - 1), max_size=f.n)))
    for _ in range(4):
        inside = state.support.tolist()
        outside = np.setdiff1d(np.arange(f.n), inside).tolist()
        added = data.draw(st.sets(st.sampled_from(outside), max_size=2)) if outside else ()
        dropped = data.draw(st.sets(st.sampled_from(inside), max_size=2)) if inside else ()
        state.apply(Move(tuple(added), tuple(dropped)))
        there = f.start(state.support)
        assert state.value == pytest.approx(f(state.support), abs=1e-9)
        (grid,) = sw.Uniform(f.n, max(1, len(state.support))).moves(state.support)
        np.testing.assert_allclose(state.gains(grid), there.gains(grid), rtol=0, atol=1e-7)


@quiet
@settings(max_examples=100)
@given(f=problems(), data=st.data())
def test_coefficients_and_gradients_are_those_of_the_fit(f, data):
    support = data.draw(st.sets(st.integers(0, f.n - 1), max_size=f.n))
    state = f.start(support)
    assert f.value_at(state.coef) == pytest.approx(f(support), abs=1e-8)
    plain = SparseObjective.start(f, support)
    np.testing.assert_allclose(state.gradient, plain.gradient, atol=1e-6)


def well_conditioned(seed, samples=60, n_groups=12, size=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, n_groups * size)) + rng.standard_normal((samples, 1))
    y = X[:, : 4 * size] @ rng.standard_normal(4 * size) + 4 * rng.standard_normal(samples)
    order = rng.permutation(n_groups * size)  # columns of a group need not stand side by side
    return sw.LeastSquares(X[:, order], y, groups=(np.arange(n_groups * size) // size)[order])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "constraint", [sw.Uniform(12, 3), sw.Partition(np.arange(12) % 3, {0: 1, 1: 2, 2: 1})]
)
def test_compiled_runs_take_the_moves_of_plain_ones(seed, constraint, monkeypatch):
    f = well_conditioned(seed)
    compiled = sw.maximize(f, constraint, "oblivious", start="empty")
    monkeypatch.setattr(f, "start", lambda support=(): SparseObjective.start(f, support))
    plain = sw.maximize(f, constraint, "oblivious", start="empty")
    assert [event[1:3] for event in compiled.history] == [event[1:3] for event in plain.history]
    values = [[event.value for event in result.history] for result in (compiled, plain)]
    np.testing.assert_allclose(*values, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_a_run_from_a_set_drops_and_adds_in_its_tableau(seed):
    f = well_conditioned(seed)
    every = np.arange(f.n)
    search = BlockSearch(f.restricted(every), sw.Uniform(f.n, 4), 1e-10, every)
    start = np.array([8, 9, 10, 11])
    steps = search.steps(start, Budget())
    assert search.value_at_start == pytest.approx(f(start), abs=1e-10)
    support = start
    for step in steps:
        support = step.move.result(support)
        assert step.value == pytest.approx(f(support), abs=1e-10)
    assert search.support.tolist() == support.tolist()
    assert any(step.move.dropped for step in steps)


@pytest.mark.parametrize("seed", range(3))
def test_working_sets_end_in_a_local_optimum_of_all_groups(seed):
    f = well_conditioned(seed, samples=150, n_groups=120, size=4)
    constraint = sw.Partition(np.arange(120) % 4, 2)
    result = sw.maximize(f, constraint)
    assert result.strategies[0].name == "working sets"
    assert result.status is sw.Status.LOCAL_OPTIMUM
    plain = SparseObjective.start(f, result.support)
    (grid,) = constraint.moves(result.support)
    assert plain.gains(grid).max() <= 1e-9


def test_few_groups_are_found_as_by_going_through_all_sets():
    for seed in range(3):
        f = well_conditioned(seed, n_groups=7)
        best = sw.maximize(f, sw.Uniform(7, 3), "exhaustive")
        assert sw.maximize(f, sw.Uniform(7, 3)).value >= 0.98 * best.value


def test_full_sets_of_dummies_are_searched_without_refits(monkeypatch):
    """Centred dummies of a factor sum to zero: one of them is always a combination of the others."""
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 4, (200, 60))
    X = np.hstack([np.eye(4)[column] for column in levels.T])
    y = X[:, :12] @ rng.standard_normal(12) + rng.standard_normal(200)
    f = sw.LeastSquares(X - X.mean(0), y - y.mean(), groups=np.repeat(np.arange(60), 4))
    without_one = sw.LeastSquares(
        np.delete(X - X.mean(0), np.s_[::4], 1), y - y.mean(), groups=np.repeat(np.arange(60), 3)
    )
    monkeypatch.setattr(State, "gains", lambda *_: pytest.fail("a move was refitted"))
    result, expected = sw.maximize(f, sw.Uniform(60, 5)), sw.maximize(without_one, sw.Uniform(60, 5))
    assert result.support.tolist() == expected.support.tolist()
    assert result.value == pytest.approx(expected.value, abs=1e-12)
    assert result.coef is not None
    assert f.value_at(result.coef) == pytest.approx(result.value, abs=1e-10)


def test_a_group_may_have_more_columns_than_there_are_samples():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 20)), rng.standard_normal(6)
    f = sw.LeastSquares(X, y, groups=np.arange(20) // 10)
    assert f([0]) == pytest.approx(1.0, abs=1e-9)
    assert sw.maximize(f, sw.Uniform(2, 1)).value == pytest.approx(1.0, abs=1e-9)


def test_values_are_those_of_least_squares_on_the_columns():
    rng = np.random.default_rng(1)
    X, y, weight = rng.standard_normal((30, 6)), rng.standard_normal(30), rng.uniform(0.5, 2.0, 30)
    for ridge in (0.0, 1.5):
        f = sw.LeastSquares(X, y, ridge, weight, groups=list("abacbc"))
        plain = sw.LeastSquares(X, y, ridge, weight)
        assert f([0, 2]) == pytest.approx(plain([0, 2, 3, 5]), abs=1e-13)
        assert f.upper_bound(np.array([0])) >= f([0])
        assert f.smoothness(1) <= f.smoothness(3) <= plain.smoothness(6) * (1 + 1e-12)
    single = sw.LeastSquares(X, y, groups=range(6))
    assert single.groups is None
    np.testing.assert_allclose(
        single.curvature(np.arange(2)), sw.LeastSquares(X, y).curvature(np.arange(2)), atol=1e-12
    )


def test_sparse_columns_are_taken_as_they_are():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(2)
    X = rng.standard_normal((80, 40)) * (rng.random((80, 40)) < 0.2)
    y = X[:, :8] @ np.ones(8) + rng.standard_normal(80)
    groups = np.arange(40) // 4
    dense, sparse = sw.LeastSquares(X, y, groups=groups), sw.LeastSquares(csr_matrix(X), y, groups=groups)
    first, second = (sw.maximize(f, sw.Uniform(10, 3)) for f in (dense, sparse))
    assert first.support.tolist() == second.support.tolist()
    assert first.value == pytest.approx(second.value, abs=1e-12)


def test_a_copy_by_pickle_finds_the_same():
    f = well_conditioned(0)
    result = sw.maximize(f, sw.Uniform(12, 3))
    again = pickle.loads(pickle.dumps(f))
    assert type(again) is type(f)
    assert isinstance(again, sw.LeastSquares)
    assert again.__dict__.keys() == f.__dict__.keys() - {"blocks"}
    assert sw.maximize(again, sw.Uniform(12, 3)).support.tolist() == result.support.tolist()


def test_data_in_chunks_are_refused(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(4))
    with pytest.raises(TypeError, match="LeastSquares with groups needs data in memory"):
        sw.LeastSquares(np.load(tmp_path / "X.npy", mmap_mode="r"), np.ones(4), groups=list("aabb"))


@pytest.mark.parametrize("options", [{"bounds": (0, 1)}, {"positive": True}])
def test_bounds_are_refused(options):
    with pytest.raises(
        ValueError, match="bounds on coefficients are for features that are chosen one by one"
    ):
        sw.LeastSquares(np.eye(4), np.ones(4), groups=list("aabb"), **options)


def test_a_target_of_zeros_is_said_once():
    with pytest.warns(UserWarning, match="explained without any feature"):
        f = sw.LeastSquares(np.eye(4), np.zeros(4), groups=list("aabb"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f([0, 1]) == 0.0
        assert not len(sw.maximize(f, sw.Uniform(2, 1)).history)


@pytest.mark.parametrize("samples", [300, 50_000])
def test_dummies_of_many_rows_leave_the_closed_form(samples):
    rng = np.random.default_rng(0)
    X = np.hstack([np.eye(4)[rng.integers(0, 4, samples)] for _ in range(6)])
    f = sw.LeastSquares(X - X.mean(axis=0), rng.standard_normal(samples), groups=np.arange(24) // 4)
    assert not f.blocks.fragile.any()
    assert np.diff(f.blocks.begin).tolist() == [3] * 6


def test_coefficients_of_dependent_columns_are_moderate():
    """Any number may be added to all of a factor's coefficients; a level that is new would be off by it."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, 200)
    X = np.eye(4)[codes]
    y = rng.standard_normal(4)[codes]
    f = sw.LeastSquares(X - X.mean(axis=0), y - y.mean(), groups=["a"] * 4)
    coef = f.coef([0])
    assert np.abs(coef).max() < 10
    np.testing.assert_allclose((X - X.mean(axis=0)) @ coef, y - y.mean(), atol=1e-8)


@pytest.mark.parametrize(
    ("groups", "wrong"),
    [([[0, 1], [2, 3]], "the list [0, 1]"), (["a", "a", ("b", [2]), "c"], "the tuple ('b', [2])")],
)
def test_groups_as_lists_of_columns_are_refused(groups, wrong):
    with pytest.raises(TypeError, match=re.escape(f"one label for each of the 4 columns, got {wrong}")):
        sw.LeastSquares(np.eye(4), np.ones(4), groups=groups)


def test_labels_may_come_from_a_generator():
    f = sw.LeastSquares(np.eye(4), np.ones(4), groups=(label for label in "aabb"))
    assert f.group_labels == ["a", "b"]
