"""Newton refits against plain versions, and against optimisers of others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from swapwise import numerics
from swapwise.kernels import _baseline, _compiled
from tests.kernels.test_families import ALPHA, SINGLE, class_basis, derivatives, targets, weights

VERSIONS = {"baseline": _baseline, "best": _compiled}
FAMILIES = [*SINGLE, "MULTINOMIAL"]

versions = pytest.mark.parametrize("kernels", VERSIONS.values(), ids=VERSIONS)
every_family = pytest.mark.parametrize("name", FAMILIES)


class Problem:
    """A model of random data, with an intercept behind its columns."""

    def __init__(self, name, seed, samples=40, m=5):
        rng = np.random.default_rng(seed)
        self.number = getattr(_compiled.families, name)
        self.family = self.number, ALPHA
        self.columns = np.vstack([rng.standard_normal((m, samples)), np.ones(samples)])
        self.basis = class_basis(3) if name == "MULTINOMIAL" else np.ones((1, 1))
        self.levels = self.basis.shape[1]
        self.offset = 0.3 * rng.standard_normal((self.levels, samples))
        classes = rng.integers(0, 3, samples).astype(float)
        self.target = classes if name == "MULTINOMIAL" else targets(rng, name, samples)
        weight = weights(rng, samples) + 1e-3
        self.weight = weight / weight.sum()
        self.ridge = np.append(np.full(m, 0.02), 0.0)
        self.alone = np.zeros(self.levels)

    def nothing(self):
        return np.zeros((len(self.columns), self.levels))

    def refit(self, kernels, theta, least=-np.inf, tol=1e-14, max_steps=100):
        return kernels.glm.refit(
            self.family, self.columns, self.offset, self.target, self.weight, self.basis, self.ridge, theta,
            self.alone, least, tol, max_steps,
        )  # fmt: skip

    def objective(self, flat):
        """Return minus the penalised log-likelihood, and its gradient."""
        theta = flat.reshape(len(self.columns), self.levels)
        eta = self.offset + theta.T @ self.columns
        value, slope, _ = derivatives(
            _compiled.families, self.number, eta, self.target, self.weight, self.basis
        )
        penalty = (self.ridge[:, None] * theta**2).sum() / 2
        return penalty - value, (self.ridge[:, None] * theta - self.columns @ slope.T).ravel()

    def best(self):
        """Return the largest value by another optimiser, and where it is."""
        options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-10}
        found = minimize(self.objective, self.nothing().ravel(), jac=True, method="L-BFGS-B", options=options)
        return -found.fun, found.x.reshape(-1, self.levels)


def test_precisions_are_the_same_number():
    assert _compiled.glm.FLOAT64_PRECISION == numerics.FLOAT64_PRECISION


@versions
@given(seed=st.integers(0, 10**6), size=st.integers(0, 40))
def test_definite_systems_are_solved(kernels, seed, size):
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((size, size + 5)) * 10.0 ** rng.integers(-6, 7, size)[:, None]
    matrix, right = columns @ columns.T, rng.standard_normal(size)
    solution, missed = kernels.glm.definite_solution(np.tril(matrix), right)  # what is above is not read
    assert missed == 0.0
    scale = np.sqrt(np.diag(matrix))
    expected = np.linalg.solve(matrix / np.outer(scale, scale), right / scale) / scale
    error, size_of = np.abs(solution - expected) * scale, np.abs(expected * scale).max(initial=0.0)
    assert (error <= 1e-9 * size_of).all()


@versions
@given(seed=st.integers(0, 10**6), size=st.integers(2, 30), data=st.data())
def test_copies_get_zeros(kernels, seed, size, data):
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((size, size + 5))
    copy = data.draw(st.integers(1, size - 1))
    columns[copy] = 3 * columns[data.draw(st.integers(0, copy - 1))]
    matrix, right = columns @ columns.T, columns @ rng.standard_normal(size + 5)
    solution, missed = kernels.glm.definite_solution(matrix.copy(), right)
    assert solution[copy] == 0.0
    assert missed < 1e-6  # of a copy, the slope is as dependent as the column
    rest = np.delete(np.arange(size), copy)
    expected = np.linalg.solve(matrix[np.ix_(rest, rest)], right[rest])
    np.testing.assert_allclose(solution[rest], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@versions
def test_a_slope_without_curvature_leads_nobody_knows_where(kernels):
    matrix = np.diag([4.0, 0.0])
    solution, missed = kernels.glm.definite_solution(matrix, np.array([2.0, 1.0]))
    assert solution.tolist() == [0.5, 0.0]
    assert missed == np.inf


@versions
@every_family
@pytest.mark.parametrize("seed", range(4))
def test_refits_find_the_maximum(kernels, name, seed):
    problem = Problem(name, seed)
    theta = problem.nothing()
    value, converged, late = problem.refit(kernels, theta)
    best, where = problem.best()
    assert converged
    assert late < 1e-2
    assert value == pytest.approx(best, rel=1e-9)
    assert -problem.objective(theta.ravel())[0] == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(theta, where, atol=1e-4)
    np.testing.assert_allclose(problem.objective(theta.ravel())[1], 0.0, atol=1e-9)


@every_family
def test_a_start_that_is_too_bad_is_given_up(name):
    problem = Problem(name, 0)
    theta, far = problem.nothing(), np.full_like(problem.nothing(), 9.0)
    value, _, _ = problem.refit(_compiled, theta)
    again, converged, _ = problem.refit(_compiled, far, least=value - 100.0)
    assert converged
    assert again == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(far, theta, atol=1e-6)


@versions
@every_family
def test_a_model_without_parameters_has_a_value(kernels, name):
    problem = Problem(name, 0)
    problem.columns, problem.ridge = problem.columns[:0], problem.ridge[:0]
    value, converged, late = problem.refit(kernels, problem.nothing())
    assert (converged, late) == (True, 0.0)
    assert value == pytest.approx(-problem.objective(np.zeros(0))[0], rel=1e-14)


@versions
def test_separable_classes_do_not_converge_for_want_of_a_maximum(kernels):
    problem = Problem("LOGISTIC", 0)
    problem.target, problem.ridge = (problem.columns[0] > 0).astype(float), np.zeros(6)
    problem.offset = np.zeros_like(problem.offset)
    theta = problem.nothing()
    value, _, late = problem.refit(kernels, theta)
    assert value > -1e-9
    assert late > 0.5
    assert np.isfinite(theta).all()


@versions
@every_family
@pytest.mark.parametrize("samples", [1, 2, 255, 256, 257, 600])
@pytest.mark.parametrize("m", [0, 1, 2, 3, 4, 11])
def test_any_shape_will_do(kernels, name, samples, m):
    problem = Problem(name, 1, samples, m)
    theta = problem.nothing()
    value, converged, _ = problem.refit(kernels, theta, tol=1e-12)
    if converged:
        np.testing.assert_allclose(problem.objective(theta.ravel())[1], 0.0, atol=1e-5)
    assert value >= -problem.objective(problem.nothing().ravel())[0]


@versions
@pytest.mark.parametrize("name", ["LOGISTIC", "MULTINOMIAL"])
def test_many_columns_are_left_to_a_library(kernels, name):
    problem = Problem(name, 0, samples=1500, m=300)
    theta = problem.nothing()
    _, converged, _ = problem.refit(kernels, theta)
    assert converged
    np.testing.assert_allclose(problem.objective(theta.ravel())[1], 0.0, atol=1e-9)


@versions
@every_family
@pytest.mark.parametrize("with_intercept", [False, True])
def test_values_after_moves_are_those_of_refits(kernels, name, with_intercept):
    problem = Problem(name, 3, m=9)
    columns, ridge = problem.columns[:9], problem.ridge[:9]
    begin, members = np.array([0, 1, 3, 4, 6, 9]), np.array([2, 0, 5, 1, 3, 8, 4, 6, 7])
    support = np.array([1, 3])
    added = np.array([[-1, -1], [0, -1], [0, 4], [2, -1], [4, 2]])
    dropped = np.array([[-1, -1], [1, -1], [-1, -1], [3, -1], [1, 3]])

    def problem_on(elements):
        rows = np.concatenate([members[begin[e] : begin[e + 1]] for e in elements])
        ones = np.ones((int(with_intercept), columns.shape[1]))
        problem.columns = np.vstack([columns[rows], ones])
        problem.ridge = np.append(ridge[rows], np.zeros(int(with_intercept)))

    problem_on(support)
    theta = problem.nothing()
    problem.refit(kernels, theta)

    def values_after(wanted):
        return kernels.glm.values_after(
            problem.family, (columns, begin, members, ridge),
            (problem.offset, problem.target, problem.weight, problem.basis), with_intercept, support, theta,
            problem.alone, -np.inf, added, dropped, 1e-14, 100, wanted,
        )  # fmt: skip

    values, converged = values_after(-np.inf)
    assert converged.all()
    # What is not wanted may be left out, and nothing else.
    for wanted in np.append(values, [values.min() - 1.0, values.max() + 1e3]):
        found, converged = values_after(wanted)
        left_out = found == -np.inf
        assert converged.all()
        assert (values[left_out] < wanted + 1e-12).all()
        np.testing.assert_array_equal(found[~left_out], values[~left_out])
    for value, new, old in zip(values, added, dropped, strict=True):
        problem_on([*np.setdiff1d(support, old), *new[new >= 0]])
        expected, _, _ = problem.refit(kernels, problem.nothing())
        assert value == pytest.approx(expected, rel=1e-10)


@every_family
@given(seed=st.integers(0, 10**6), samples=st.integers(1, 50), m=st.integers(0, 8))
def test_all_versions_agree(name, seed, samples, m):
    problem = Problem(name, seed, samples, m)
    (first, one), (second, other) = (
        (problem.refit(kernels, theta, tol=1e-12), theta)
        for kernels, theta in ((_baseline, problem.nothing()), (_compiled, problem.nothing()))
    )
    assert first[0] == pytest.approx(second[0], rel=1e-9, abs=1e-9)
    if first[1] and second[1] and max(first[2], second[2]) < 1e-3:
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
