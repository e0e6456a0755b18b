"""Quadratic functions of coefficients, against the least squares that they come from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

import swapwise as sw
from swapwise.objectives.base import Groups, rows_of, single_groups
from swapwise.objectives.quadratic import Quadratic

randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def some_quadratic(random):
    """Return a function of one or more coefficients per element and of one or two columns of them."""
    n = int(random.integers(1, 6))
    groups = None
    if random.random() < 0.5:
        sizes = random.integers(1, 4, n)
        rows = random.permutation(sizes.sum())
        groups = Groups(np.append(0, np.cumsum(sizes)), rows)
    size = n if groups is None else groups.n_rows
    A = random.standard_normal((size + 2, size))
    shape = (size,) if groups is None else (size, int(random.integers(1, 3)))
    return Quadratic(A.T @ A, random.standard_normal(shape), groups=groups)


@settings(max_examples=60)
@given(randoms)
def test_a_fit_is_where_the_slope_vanishes(random):
    objective = some_quadratic(random)
    support = np.flatnonzero(random.random(objective.n) < 0.6)
    coef, rows = objective.coef(support), rows_of(objective, support)
    others = np.setdiff1d(np.arange(len(coef)), rows)
    assert not coef[others].any()
    np.testing.assert_allclose(objective.gradient_at(coef)[rows], 0, atol=1e-9)
    assert objective(support) == pytest.approx(objective.value_at(coef))
    assert objective([]) == 0
    for _ in range(5):
        other = coef.copy()
        other[rows] += random.standard_normal(other[rows].shape)
        assert objective.value_at(other) <= objective(support) + 1e-9


@settings(max_examples=60)
@given(randoms)
def test_value_gradient_and_curvature_belong_together(random):
    objective = some_quadratic(random)
    shape = objective.slope.shape
    at = random.standard_normal(shape) * (random.random(shape) < 0.7)
    error = check_grad(
        lambda w: objective.value_at(w.reshape(shape)),
        lambda w: objective.gradient_at(w.reshape(shape)).ravel(),
        at.ravel(),
    )
    assert error <= 1e-4
    value, gradient = objective.value_and_gradient_at(at)
    assert value == pytest.approx((objective.slope * at).sum() - (at * (objective.H @ at)).sum() / 2)
    np.testing.assert_allclose(gradient, objective.slope - objective.H @ at, atol=1e-12)
    elements = np.sort(random.permutation(objective.n)[:2])
    rows = rows_of(objective, elements)
    assert objective.hessian_at(at, elements).tolist() == objective.H[np.ix_(rows, rows)].tolist()


def test_the_curvature_that_is_handed_out_is_a_copy():
    objective = Quadratic(np.eye(2), np.ones(2))
    objective.hessian_at(np.zeros(2), np.arange(2))[0, 0] = 7.0
    assert objective.H.tolist() == [[1, 0], [0, 1]]


@settings(max_examples=40)
@given(randoms)
def test_a_restriction_is_the_same_function_of_fewer_elements(random):
    objective = some_quadratic(random)
    objective.copies = random.integers(0, 3, objective.n)
    kept = np.sort(random.permutation(objective.n)[: random.integers(1, objective.n + 1)])
    part = objective.restricted(kept)
    assert part.n == len(kept)
    assert part.copies.tolist() == objective.copies[kept].tolist()
    assert part.scale == objective.scale
    support = np.flatnonzero(random.random(part.n) < 0.6)
    assert part(support) == pytest.approx(objective(kept[support]))
    # Rows of the part are in the order of its elements.
    np.testing.assert_allclose(
        part.coef(support)[rows_of(part, support)],
        objective.coef(kept[support])[rows_of(objective, kept[support])],
    )
    again = part.restricted(np.arange(part.n)[::2])
    assert again(np.arange(again.n)) == pytest.approx(objective(kept[::2]))


def test_collinear_elements_are_fitted_all_the_same():
    objective = Quadratic(np.ones((3, 3)), np.ones(3))
    assert objective([0, 1, 2]) == pytest.approx(0.5)


@settings(max_examples=30)
@given(randoms)
def test_it_is_least_squares_by_inner_products(random):
    X, y = random.standard_normal((12, 5)), random.standard_normal(12)
    objective = sw.LeastSquares(X, y, ridge=float(random.choice([0.0, 0.3])))
    nothing = np.zeros(5)
    same = Quadratic(
        objective.hessian_at(nothing, np.arange(5)), objective.gradient_at(nothing), objective.scale
    )
    support = np.flatnonzero(random.random(5) < 0.5)
    assert same(support) == pytest.approx(objective(support))
    np.testing.assert_allclose(same.coef(support), objective.coef(support), atol=1e-9)
    at = random.standard_normal(5)
    assert same.value_at(at) == pytest.approx(objective.value_at(at))


def test_responses_that_do_not_meet_add_up():
    random = np.random.default_rng(0)
    A, Y = random.standard_normal((9, 4)), random.standard_normal((9, 2))
    both = Quadratic(A.T @ A, A.T @ Y, groups=single_groups(4))
    parts = [Quadratic(A.T @ A, A.T @ y) for y in Y.T]
    assert both([1, 3]) == pytest.approx(sum(part([1, 3]) for part in parts))
    np.testing.assert_allclose(both.coef([1, 3]), np.stack([part.coef([1, 3]) for part in parts], axis=1))
