"""What every objective must hold to: fast answers equal slow ones, and the slow ones are monotone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise.clock import Budget
from swapwise.moves import SwapGrid
from swapwise.objectives.base import (
    SetFunction,
    SparseObjective,
    SparseState,
    State,
    coef_norms2,
    embed,
    gradient_norms2,
    rows_of,
)
from tests.contracts.objective_zoo import (
    ZOO,
    Kind,
    grids,
    lists_of_moves,
    lists_of_swaps,
    moves,
    subsets,
    supports,
)

pytestmark = [
    pytest.mark.filterwarnings("error:the function is not monotone"),
    pytest.mark.filterwarnings("ignore:.*add nothing to the fit"),
    pytest.mark.filterwarnings("ignore:y is explained without any feature"),
]

every_kind = pytest.mark.parametrize("kind", ZOO, ids=lambda kind: kind.name)
submodular_kinds = pytest.mark.parametrize(
    "kind", [kind for kind in ZOO if kind.submodular], ids=lambda kind: kind.name
)
# For what either holds of nearly every example or of none.
fewer_examples = settings(max_examples=settings().max_examples // 4)
half_the_examples = settings(max_examples=settings().max_examples // 2)
BATCHES = {"grid": grids, "swaps": lists_of_swaps, "moves of any size": lists_of_moves}
every_batch = pytest.mark.parametrize("batches", BATCHES.values(), ids=BATCHES)


def values_of_all_sets(f: SetFunction) -> dict[frozenset[int], float]:
    return {frozenset(chosen): f(chosen) for chosen in subsets(f.n)}


def draw_state(data: st.DataObject, kind: Kind) -> State:
    """Draw a state that was started somewhere and may have come from elsewhere by a move."""
    objective = data.draw(kind.instances)
    state = objective.start(data.draw(supports(objective.n)))
    if data.draw(st.booleans()):
        state.apply(data.draw(moves(objective.n, state.support)))
    return state


@every_kind
@fewer_examples
@given(data=st.data())
def test_empty_set_has_value_zero(kind: Kind, data: st.DataObject) -> None:
    objective = data.draw(kind.instances)
    assert objective([]) == 0
    assert objective.start().value == 0
    assert objective.start().support.size == 0


@every_kind
@given(data=st.data())
def test_adding_an_element_never_lowers_the_value(kind: Kind, data: st.DataObject) -> None:
    objective = data.draw(kind.instances)
    value = values_of_all_sets(objective)
    for chosen, before in value.items():
        for j in set(range(objective.n)) - chosen:
            assert value[chosen | {j}] >= before - kind.tolerance


@submodular_kinds
@given(data=st.data())
def test_gains_never_grow_with_the_set(kind: Kind, data: st.DataObject) -> None:
    objective = data.draw(kind.instances)
    value = values_of_all_sets(objective)
    for chosen, now in value.items():
        rest = sorted(set(range(objective.n)) - chosen)
        for i in rest:
            for j in rest[rest.index(i) + 1 :]:
                alone = value[chosen | {i}] - now
                later = value[chosen | {i, j}] - value[chosen | {j}]
                assert later <= alone + kind.tolerance


@every_kind
@every_batch
@given(data=st.data())
def test_gains_equal_refits(kind: Kind, batches, data: st.DataObject) -> None:
    state = draw_state(data, kind)
    batch = data.draw(batches(state.objective.n, state.support))
    gains = state.gains(batch)
    assert gains.shape == batch.shape
    np.testing.assert_allclose(gains, State.gains(state, batch), rtol=0, atol=kind.tolerance)


@every_kind
@given(data=st.data())
def test_moves_that_a_grid_does_not_hold_are_minus_infinity(kind: Kind, data: st.DataObject) -> None:
    state = draw_state(data, kind)
    grid: SwapGrid = data.draw(grids(state.objective.n, state.support))
    gains = state.gains(grid)
    assert (gains[~grid.feasible] == -np.inf).all()
    np.testing.assert_array_equal(np.isfinite(gains), grid.useful)


@every_kind
@every_batch
@half_the_examples
@given(data=st.data())
def test_best_is_the_first_of_the_largest_gains(kind: Kind, batches, data: st.DataObject) -> None:
    state = draw_state(data, kind)
    batch = data.draw(batches(state.objective.n, state.support))
    expected = State.gains(state, batch).ravel()
    found = state.find_best([batch], -np.inf, Budget())
    top = expected.max(initial=-np.inf)
    if top == -np.inf:
        assert found is None
        return
    own = state.gains(batch).ravel()
    place = next(index for index in np.flatnonzero(np.isfinite(own)) if batch.move(index) == found.move)
    assert expected[place] >= top - kind.tolerance
    assert (own[:place] < own.max()).all()
    assert found.score == pytest.approx(top, rel=0, abs=kind.tolerance)
    # Nothing gains more than the best, and everything that does not is left out.
    assert state.find_best([batch], top + 10 * kind.tolerance, Budget()) is None


@every_kind
@given(data=st.data())
def test_moves_one_after_the_other_lead_where_a_fresh_start_would(kind: Kind, data: st.DataObject) -> None:
    objective = data.draw(kind.instances)
    state = objective.start(data.draw(supports(objective.n)))
    for _ in range(data.draw(st.integers(1, 4))):
        move = data.draw(moves(objective.n, state.support))
        expected = set(state.support.tolist()) - set(move.dropped) | set(move.added)
        state.apply(move)
        assert state.support.tolist() == sorted(expected)
        assert np.issubdtype(state.support.dtype, np.integer)
        assert state.value == pytest.approx(objective(state.support), rel=0, abs=kind.tolerance)
    fresh = objective.start(state.support)
    grid = data.draw(grids(objective.n, state.support))
    np.testing.assert_allclose(state.gains(grid), fresh.gains(grid), rtol=0, atol=kind.tolerance)


@every_kind
@fewer_examples
@given(data=st.data())
def test_scoring_changes_neither_the_state_nor_the_batch(kind: Kind, data: st.DataObject) -> None:
    state = draw_state(data, kind)
    grid = data.draw(grids(state.objective.n, state.support))
    support, value, feasible = state.support.copy(), state.value, grid.feasible.copy()
    first = state.gains(grid)
    np.testing.assert_array_equal(state.gains(grid), first)
    np.testing.assert_array_equal(state.support, support)
    np.testing.assert_array_equal(grid.feasible, feasible)
    assert state.value == value


@every_kind
@every_batch
@fewer_examples
@given(data=st.data())
def test_evaluations_are_counted(kind: Kind, batches, data: st.DataObject) -> None:
    objective = data.draw(kind.instances)
    state = objective.start(data.draw(supports(objective.n)))
    assert state.n_evaluations == 1
    batch = data.draw(batches(objective.n, state.support))
    scored = int(batch.useful.sum()) if isinstance(batch, SwapGrid) else len(batch)
    state.gains(batch)
    assert state.n_evaluations == 1 + scored
    state.apply(data.draw(moves(objective.n, state.support)))
    assert state.n_evaluations == 2 + scored


@every_kind
@fewer_examples
@given(data=st.data())
def test_what_it_says_of_itself_is_so(kind: Kind, data: st.DataObject) -> None:
    objective = data.draw(kind.instances)
    support = data.draw(supports(objective.n))
    assert objective.submodular == kind.submodular
    assert objective.upper_bound(support) >= objective(support) - 1e-9 * max(1.0, objective.scale)


PLAIN = ("linear", "coverage", "facility location", "a-optimal", "custom")
coefficient_kinds = pytest.mark.parametrize(
    "kind",
    [kind for kind in ZOO if kind.name not in PLAIN],
    ids=lambda kind: kind.name,
)


@coefficient_kinds
@half_the_examples
@given(data=st.data())
def test_gradient_equals_differences_of_the_value(kind: Kind, data: st.DataObject) -> None:
    objective = data.draw(kind.instances)
    assert isinstance(objective, SparseObjective)
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    shape = objective.coef([]).shape
    coef = rng.standard_normal(shape)
    gradient = objective.gradient_at(coef)
    assert gradient.shape == shape
    direction = rng.standard_normal(shape)
    ahead, behind = (objective.value_at(coef + step * direction) for step in (1e-5, -1e-5))
    size = 1.0 + float(np.abs(gradient).sum())
    assert (ahead - behind) / 2e-5 == pytest.approx(float((gradient * direction).sum()), abs=1e-6 * size)


def draw_point(data: st.DataObject, kind: Kind) -> tuple[SparseObjective, np.ndarray]:
    """Draw an objective and coefficients, some of them zero."""
    objective = data.draw(kind.instances)
    assert isinstance(objective, SparseObjective)
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    shape = objective.coef([]).shape
    return objective, rng.standard_normal(shape) * (rng.random(shape) < 0.7)


@coefficient_kinds
@half_the_examples
@given(data=st.data())
def test_curvature_is_that_of_the_gradient(kind: Kind, data: st.DataObject) -> None:
    objective, coef = draw_point(data, kind)
    elements = data.draw(supports(objective.n))
    plain = SparseObjective.hessian_at(_without_curvature(objective), coef, elements)
    assert len(plain) == coef[rows_of(objective, elements)].size
    size = 1e-5 * max(1.0, float(np.abs(plain).max(initial=0.0)))
    np.testing.assert_allclose(objective.hessian_at(coef, elements), plain, atol=size)
    bound = objective.curvature(elements)
    if bound is not None:
        assert np.linalg.eigvalsh(bound[elements] - plain).min(initial=0.0) >= -size
    spared = plain - objective.strong_concavity(objective.n) * np.eye(len(plain))
    assert np.linalg.eigvalsh(spared).min(initial=0.0) >= -size


@coefficient_kinds
@half_the_examples
@given(data=st.data())
def test_value_and_gradient_together_are_those_apart(kind: Kind, data: st.DataObject) -> None:
    objective, coef = draw_point(data, kind)
    value, gradient = objective.value_and_gradient_at(coef)
    size = 1.0 + float(np.abs(gradient).sum())
    assert value == pytest.approx(objective.value_at(coef), abs=1e-12 * size)
    np.testing.assert_allclose(gradient, objective.gradient_at(coef), atol=1e-12 * size)


@coefficient_kinds
@half_the_examples
@given(data=st.data())
def test_a_restriction_is_the_objective_on_its_elements(kind: Kind, data: st.DataObject) -> None:
    objective, coef = draw_point(data, kind)
    elements = data.draw(supports(objective.n))
    rows, some = rows_of(objective, elements), data.draw(supports(len(elements)))
    few, coef = objective.restricted(elements), embed(objective, elements, coef[rows])
    inner = coef[rows]
    assert few.n == len(elements)
    assert few.coef([]).shape == inner.shape
    if objective.groups is None:
        assert few.groups is None
    else:
        expected = objective.groups.restricted(elements)
        np.testing.assert_array_equal(few.groups.begin, expected.begin)
        np.testing.assert_array_equal(few.groups.rows, expected.rows)
    gradient = objective.gradient_at(coef)
    size = 1.0 + float(np.abs(gradient).sum())
    assert few.value_at(inner) == pytest.approx(objective.value_at(coef), abs=1e-10 * size)
    np.testing.assert_allclose(few.gradient_at(inner), gradient[rows], atol=1e-10 * size)
    hessian = objective.hessian_at(coef, elements[some])
    size = 1.0 + float(np.abs(hessian).max(initial=0.0))
    np.testing.assert_allclose(few.hessian_at(inner, some), hessian, atol=1e-6 * size)
    assert few(some) == pytest.approx(objective(elements[some]), abs=kind.tolerance)
    assert few.start(some).value == pytest.approx(few(some), abs=kind.tolerance)
    assert few.upper_bound(some) >= few(some) - 1e-9 * max(1.0, few.scale)
    assert few.strong_concavity(few.n) >= 0


@coefficient_kinds
@half_the_examples
@given(data=st.data())
def test_a_fit_is_where_the_gradient_vanishes(kind: Kind, data: st.DataObject) -> None:
    objective = data.draw(kind.instances)
    assert isinstance(objective, SparseObjective)
    support = data.draw(supports(objective.n))
    coef = objective.coef(support)
    assert objective.value_at(coef) == pytest.approx(objective(support), abs=kind.tolerance)
    chosen = rows_of(objective, support)
    assert not np.delete(coef, chosen, axis=0).any()
    gradient = objective.gradient_at(coef)
    if objective.bounds is not None:
        assert objective.bounds.hold(coef)
        gradient = objective.bounds.projected(gradient, coef)
    np.testing.assert_allclose(gradient[chosen], 0.0, atol=1e-6)


@coefficient_kinds
@fewer_examples
@given(data=st.data())
def test_norms_are_those_of_each_elements_coefficients(kind: Kind, data: st.DataObject) -> None:
    state = draw_state(data, kind)
    objective = state.objective
    assert isinstance(objective, SparseObjective)
    assert isinstance(state, SparseState)
    for element in range(objective.n):
        rows = rows_of(objective, np.array([element]))
        assert coef_norms2(state)[element] == pytest.approx(float((state.coef[rows] ** 2).sum()))
        assert gradient_norms2(state)[element] == pytest.approx(float((state.gradient[rows] ** 2).sum()))


def _without_curvature(objective: SparseObjective) -> SparseObjective:
    """The same objective as one that knows its gradient and nothing more."""

    class Plain:
        curvature_is = "bound"
        groups = objective.groups
        gradient_at = staticmethod(objective.gradient_at)

    return Plain()  # type: ignore[return-value]
