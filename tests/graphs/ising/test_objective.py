"""Ising structure: refits against a general-purpose optimiser, derivatives, separation, errors."""

import warnings
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise import BMatching, Graphic, Intersection, Uniform, maximize
from swapwise.clock import Budget
from swapwise.extending import SwapGrid
from swapwise.graphs import IsingPseudoLikelihood
from swapwise.kernels import ising
from swapwise.moves import Move, MoveList
from swapwise.paper.plain.ising import PlainIsing


@st.composite
def problems(draw, noise=True):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    vertices, samples = draw(st.integers(2, 4)), draw(st.integers(20, 40))
    spins = np.sign(rng.standard_normal((samples, vertices)) + 0.5 * rng.standard_normal((samples, 1)))
    if noise and draw(st.booleans()):
        spins = spins + 0.05 * rng.standard_normal(spins.shape)
    return spins, draw(st.sampled_from([0.01, 0.3])), draw(st.booleans())


def supports_of(data, n):
    return np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))


@st.composite
def hard_problems(draw):
    """Few samples, next to no ridge, odd scales: separable data, constant vertices, runaway couplings."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    vertices, samples = draw(st.integers(2, 5)), draw(st.integers(3, 12))
    spins = np.sign(rng.standard_normal((samples, vertices)))
    if draw(st.booleans()):
        spins = spins + 0.1 * rng.standard_normal(spins.shape)
    scale = draw(st.sampled_from([0.05, 1.0, 10.0]))
    return scale * spins, draw(st.sampled_from([0.0, 1e-6, 1e-4])), draw(st.booleans())


@pytest.mark.filterwarnings("ignore:the data are separable")
@settings(max_examples=150)
@given(hard_problems(), st.data())
def test_moves_among_runaway_couplings_are_scored_as_cold_refits_score_them(problem, data):
    objective = IsingPseudoLikelihood(*problem)
    state = objective.start(supports_of(data, objective.n))
    for _ in range(3):
        feasible = np.ones((objective.n, len(state.support) + 1), dtype=bool)
        feasible[state.support] = False
        feasible[::2, -1] = False
        grid = SwapGrid(state.support, feasible)
        gains = state.gains(grid)
        for index in np.flatnonzero(grid.useful):
            after = objective(grid.move(int(index)).result(state.support))
            assert gains.flat[index] == pytest.approx(after - state.value, abs=1e-6)
        added = data.draw(st.sampled_from([(), (0,), (objective.n - 1,)]))
        outside = tuple(e for e in added if e not in state.support)
        state.apply(Move(outside, tuple(state.support[:1].tolist())))
        assert state.value == pytest.approx(objective(state.support), abs=1e-6)
        assert objective.value_at(state.coef) == pytest.approx(state.value, abs=1e-6)
        np.testing.assert_allclose(
            state.gradient, objective.gradient_at(state.coef) * (state.coef == 0), atol=2e-3
        )


@pytest.mark.filterwarnings("ignore:the data are separable")
@settings(max_examples=300)
@given(hard_problems(), st.data())
def test_no_move_is_left_out_that_reaches_the_floor(problem, data):
    objective = IsingPseudoLikelihood(*problem)
    constraint = BMatching(objective.edges, data.draw(st.integers(1, 4)))
    support = constraint.extend(np.empty(0, dtype=np.intp), data.draw(st.permutations(range(objective.n))))
    (moves,) = constraint.moves(support)
    gains = objective.start(support).gains(moves)
    floor = data.draw(st.sampled_from([-0.01, 0.0, *gains.tolist()]))
    state = objective.start(support)
    kept = [(move.added, move.dropped) for move in state.unpruned(moves, floor, Budget()).moves()]
    listed = [(move.added, move.dropped) for move in moves.moves()]
    assert kept == [pair for pair in listed if pair in kept]
    assert {listed[row] for row in np.flatnonzero(gains >= floor)} <= set(kept)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the data are separable")
@pytest.mark.parametrize("seed", [2, 3, 11, 21])
def test_a_refit_that_did_not_end_rules_nothing_out(seed):
    """Four samples of six vertices: among so many runaway couplings, dropping less may seem to gain less."""
    rng = np.random.default_rng(seed)
    spins = np.sign(rng.standard_normal((4, 6))) + 0.1 * rng.standard_normal((4, 6))
    objective = IsingPseudoLikelihood(spins, fields=bool(seed % 2))
    support = np.arange(0, 15, 2)
    pairs = np.array(list(combinations(support, 2)))
    for added in range(1, 15, 2):
        moves = MoveList(np.full((len(pairs), 1), added), pairs)
        state = objective.start(support)
        gains = state.gains(moves)
        for floor in np.quantile(gains, [0.5, 0.9, 1.0]):
            unpruned = state.unpruned(moves, floor, Budget())
            kept = {tuple(dropped) for dropped in unpruned.dropped.tolist()}
            assert {tuple(dropped) for dropped in pairs[gains >= floor].tolist()} <= kept


@pytest.mark.filterwarnings("ignore:the data are separable")
@settings(max_examples=100)
@given(hard_problems())
def test_local_optima_are_optima_even_then(problem):
    objective = IsingPseudoLikelihood(*problem)
    constraint = BMatching(objective.edges, 1)
    result = maximize(objective, constraint, "oblivious")
    assert result.status == "LOCAL_OPTIMUM"
    for batch in constraint.moves(result.support):
        for move in batch.to_list().moves():
            assert objective(move.result(result.support)) <= result.value + 1e-6


@pytest.mark.parametrize(("scale", "strong"), [(0.1, False), (1.0, False), (1.0, True), (10.0, True)])
def test_separation_is_told_from_scale(scale, strong):
    rng = np.random.default_rng(9)
    first = np.sign(rng.standard_normal(60))
    second = first if strong else np.where(rng.random(60) < 0.8, first, -first)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        IsingPseudoLikelihood(scale * np.column_stack([first, second]))([0])
    assert bool(caught) == strong


def test_the_value_of_nothing_does_not_depend_on_the_scale_of_the_data():
    spins = np.where(np.random.default_rng(10).random((200, 3)) < 0.9, 1.0, -1.0)
    small = IsingPseudoLikelihood(0.05 * spins, fields=True)
    large = IsingPseudoLikelihood(spins, fields=True)
    assert small([0]) == pytest.approx(large([0]), abs=1e-9)


@settings(max_examples=40)
@given(problems(), st.data())
def test_value_and_couplings_equal_those_of_the_reference(problem, data):
    objective, plain = IsingPseudoLikelihood(*problem), PlainIsing(*problem)
    support = supports_of(data, objective.n)
    assert objective(support) == pytest.approx(plain.value(support), abs=1e-8)
    np.testing.assert_allclose(objective.coef(support), plain.coef(support), atol=1e-4)


@settings(max_examples=60)
@given(problems(), st.data())
def test_gradient_equals_finite_differences(problem, data):
    objective = IsingPseudoLikelihood(*problem)
    coef = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=objective.n, max_size=objective.n)))
    for j, shift in enumerate(1e-5 * np.eye(objective.n)):
        slope = (objective.value_at(coef + shift) - objective.value_at(coef - shift)) / 2e-5
        assert objective.gradient_at(coef)[j] == pytest.approx(slope, abs=1e-7)


@settings(max_examples=40)
@given(problems(), st.data())
def test_hessian_equals_finite_differences(problem, data):
    spins, ridge, fields = problem
    weights = np.random.default_rng(0).random(len(spins)) if data.draw(st.booleans()) else None
    objective = IsingPseudoLikelihood(spins, ridge, fields, sample_weight=weights)
    weight = np.empty(0) if weights is None else weights / weights.mean()
    samples = (objective.spins, objective.spins, weight, np.empty(0, dtype=np.intp), np.empty(0))
    size = objective.n + (objective.n_vertices if fields else 0)
    point = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=size, max_size=size)))
    graph = ising.incidence(objective.tail, objective.head, objective.n_vertices)
    gradient, hessian = np.empty(size), np.empty((size, size))

    def evaluate(parameters):
        value = ising.evaluate(samples, graph, parameters, objective.n, ridge, gradient, hessian)
        return value, gradient.copy(), np.tril(hessian) + np.tril(hessian, -1).T

    _, slope, curvature = evaluate(point)
    for j, shift in enumerate(1e-5 * np.eye(size)):
        above, below = evaluate(point + shift), evaluate(point - shift)
        assert slope[j] == pytest.approx((above[0] - below[0]) / 2e-5, abs=1e-8)
        np.testing.assert_allclose(curvature[j], (below[1] - above[1]) / 2e-5, atol=1e-7)


@settings(max_examples=60)
@given(problems(), st.data())
def test_the_fit_is_a_maximiser(problem, data):
    objective = IsingPseudoLikelihood(*problem)
    support = supports_of(data, objective.n)
    coef = objective.coef(support)
    assert objective.value_at(coef) == pytest.approx(objective(support), abs=1e-12)
    np.testing.assert_allclose(objective.gradient_at(coef)[support], 0, atol=1e-7)


@settings(max_examples=60)
@given(problems(), st.data())
def test_smoothness_bounds_the_curvature_of_every_move(problem, data):
    spins, ridge, _ = problem
    objective = IsingPseudoLikelihood(spins, ridge)
    touched = supports_of(data, objective.n)
    coef = 0.3 * np.random.default_rng(0).standard_normal(objective.n)
    direction = np.zeros(objective.n)
    direction[touched] = np.random.default_rng(1).standard_normal(len(touched))
    drop = objective.value_at(coef + direction) - objective.value_at(coef)
    drop -= float(objective.gradient_at(coef) @ direction)
    length = float(direction @ direction)
    assert drop >= -objective.smoothness(len(touched)) * length / 2 - 1e-12
    moves = MoveList(touched[None, :], np.empty((1, 0), dtype=np.intp))
    assert drop >= -objective.start().move_smoothness(moves)[0] * length / 2 - 1e-12


def test_smoothness_of_plus_and_minus_one_is_that_of_the_design():
    rng = np.random.default_rng(0)
    objective = IsingPseudoLikelihood(np.sign(rng.standard_normal((20, 5))))
    assert [objective.smoothness(t) for t in (1, 2, 3)] == [2.0, 3.0, 4.0]
    apart, path = [0, 9], [0, 4]  # 0-1 and 3-4; 0-1 and 1-2
    moves = MoveList(np.array([apart, path]), np.empty((2, 0), dtype=np.intp))
    assert (objective.edges[0], objective.edges[9]) == ((0, 1), (3, 4))
    np.testing.assert_allclose(objective.start().move_smoothness(moves), [2.0, 3.0])


def test_gains_of_a_grid_and_moves_one_after_the_other():
    rng = np.random.default_rng(3)
    objective = IsingPseudoLikelihood(np.sign(rng.standard_normal((60, 6))), ridge=0.05, fields=True)
    state = objective.start([0, 3, 7])
    feasible = np.ones((15, 4), dtype=bool)
    feasible[[0, 3, 7]] = False
    feasible[:8, -1] = False
    grid = SwapGrid(state.support, feasible)
    gains = state.gains(grid)
    for index in np.flatnonzero(grid.useful):
        after = objective(grid.move(int(index)).result(state.support))
        assert gains.flat[index] == pytest.approx(after - state.value, abs=1e-9)
    for move in (Move((5, 9), (3,)), Move((), (5,)), Move((3,), ())):
        state.apply(move)
        assert state.value == pytest.approx(objective(state.support), abs=1e-10)
        np.testing.assert_allclose(state.coef, objective.coef(state.support), atol=1e-6)


def test_given_edges_restrict_the_ground_set():
    rng = np.random.default_rng(4)
    spins = np.sign(rng.standard_normal((40, 4)))
    every, some = IsingPseudoLikelihood(spins), IsingPseudoLikelihood(spins, edges=[(2, 0), (3, 1)])
    assert some.edges == [(0, 2), (1, 3)]
    elements = [every.edges.index(edge) for edge in some.edges]
    assert some([0, 1]) == pytest.approx(every(elements))


def test_edges_may_come_as_a_graph():
    spins = np.sign(np.random.default_rng(6).standard_normal((30, 4)))
    assert IsingPseudoLikelihood(spins, edges=nx.path_graph(4)).edges == [(0, 1), (1, 2), (2, 3)]


def test_a_column_that_never_changes_sign_is_pointed_out():
    spins = np.sign(np.random.default_rng(7).standard_normal((30, 3)))
    spins[:, 1] = np.arange(1, 31)
    with pytest.warns(UserWarning, match="column 1 of spins never changes sign"):
        IsingPseudoLikelihood(spins, ridge=0.1)


def test_edges_must_be_those_of_the_constraint():
    objective = IsingPseudoLikelihood(np.sign(np.random.default_rng(8).standard_normal((30, 5))), ridge=0.1)
    names = [("abcde"[u], "abcde"[v]) for u, v in objective.edges]
    renamed = maximize(objective, BMatching(names, 1))
    assert renamed.support.tolist() == maximize(objective, BMatching(objective.edges, 1)).support.tolist()
    with pytest.raises(ValueError, match=r"edge number 0 is \(0, 1\) in one and \(3, 4\) in the other"):
        maximize(objective, BMatching(objective.edges[::-1], 1))
    with pytest.raises(ValueError, match="the same edges in the same order"):
        maximize(objective, Intersection(Graphic(names[::-1]), Uniform(10, 3)))


def test_separable_data_warn_once_and_stay_finite():
    spins = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0]])
    objective = IsingPseudoLikelihood(spins)
    with pytest.warns(UserWarning, match=r"separable: the best coupling of \(0, 1\) is not finite.*ridge"):
        value = objective([0])
    assert value == pytest.approx(2 * np.log(2), abs=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(objective.coef([0])).all()
        assert IsingPseudoLikelihood(spins, ridge=0.01)([0]) < value


def test_a_constant_vertex_with_a_field_stays_finite():
    spins = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    objective = IsingPseudoLikelihood(spins, fields=True, ridge=0.1)
    assert np.isfinite(objective([0]))
    assert np.isfinite(objective.biases([0])).all()


def test_fields_explain_unequal_frequencies():
    spins = np.where(np.random.default_rng(5).random((200, 2)) < 0.9, 1.0, -1.0)
    objective = IsingPseudoLikelihood(spins, fields=True)
    frequency = spins.mean(axis=0)
    np.testing.assert_allclose(objective.biases([]), np.arctanh(frequency), atol=1e-8)
    assert objective([0]) < IsingPseudoLikelihood(spins)([0])
    assert (IsingPseudoLikelihood(spins).biases([0]) == 0).all()


@pytest.mark.parametrize(
    ("spins", "options", "error", "message"),
    [
        ([[0, 1], [1, 1]], {}, ValueError, r"got 0 and 1 in column 0; convert with np.where\(spins == 1"),
        ([[1, 2], [1, 1]], {}, ValueError, r"got 1 and 2 in column 1; convert with np.where\(spins == 2"),
        ([[0, 0], [0, 0]], {}, ValueError, "got nothing but 0"),
        ([[1, -1]], {"fields": "no"}, TypeError, "fields must be True or False, got 'no'"),
        ([[True, False]], {}, ValueError, r"got True and False; convert with 2.0 \* spins - 1"),
        ([[1.0, np.inf]], {}, ValueError, "spins must be finite"),
        ([1, -1], {}, ValueError, "spins must be two-dimensional"),
        (np.empty((0, 3)), {}, ValueError, "at least one sample and one vertex"),
        ([[1, -1]], {"ridge": -1}, ValueError, "ridge must be a non-negative number"),
        ([[1, -1]], {"edges": [(0, 2)]}, ValueError, "edge number 0 must hold integers from 0 to 1"),
        ([[1, -1]], {"edges": [(0,)]}, ValueError, r"join two different vertices, got \(0,\) as number 0"),
        (
            [[1, -1]],
            {"edges": [(0, 0)]},
            ValueError,
            r"join two different vertices, got \(0, 0\) as number 0",
        ),
        ([[1, -1]], {"edges": [(0, 1), (1, 0)]}, ValueError, r"every edge must be there once, but \(0, 1\)"),
    ],
)
def test_bad_data_is_refused(spins, options, error, message):
    with pytest.raises(error, match=message):
        IsingPseudoLikelihood(spins, **options)
