"""The maximum of a quadratic function within bounds, beside a plain method that tries all faces."""

from itertools import product

import numpy as np
import pytest

from swapwise import kernels


def best_of_faces(hessian: np.ndarray, slope: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Return the largest value, by the maxima on all faces of the box."""
    best = 0.0
    for places in product((-1, 0, 1), repeat=len(slope)):
        at = np.array(places)
        step = np.where(at < 0, lower, np.where(at > 0, upper, 0.0))
        if not np.isfinite(step).all():
            continue
        free = at == 0
        rest = slope - hessian @ step
        step[free] = np.linalg.pinv(hessian[np.ix_(free, free)]) @ rest[free]
        if (step >= lower - 1e-12).all() and (step <= upper + 1e-12).all():
            best = max(best, slope @ step - step @ hessian @ step / 2)
    return best


@pytest.mark.parametrize("seed", range(60))
def test_it_is_the_best_of_all_faces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    columns = rng.standard_normal((size, 8))
    if size > 2 and seed % 3 == 0:
        columns[1] = columns[0]  # copies, and a column that others span
        columns[2] = columns[0] - columns[-1]
    hessian, slope = columns @ columns.T, columns @ rng.standard_normal(8)
    lower = rng.choice([0.0, -0.1, -np.inf], size) if seed % 2 else np.zeros(size)
    upper = rng.choice([0.0, 0.2, np.inf], size)
    step, _ = kernels.glm.box_maximum(hessian, slope, lower, upper)
    assert (step >= lower).all()
    assert (step <= upper).all()
    value = slope @ step - step @ hessian @ step / 2
    assert value == pytest.approx(best_of_faces(hessian, slope, lower, upper), rel=1e-9, abs=1e-12)


def test_without_bounds_it_is_the_solution_of_a_system() -> None:
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((5, 9))
    hessian, slope, free = columns @ columns.T, rng.standard_normal(5), np.full(5, np.inf)
    step, missed = kernels.glm.box_maximum(hessian, slope, -free, free)
    np.testing.assert_allclose(step, np.linalg.solve(hessian, slope), rtol=1e-10)
    assert missed == 0.0


def test_only_the_lower_half_is_read() -> None:
    hessian = np.array([[2.0, np.nan], [1.0, 2.0]])
    step, _ = kernels.glm.box_maximum(hessian, np.array([1.0, -1.0]), np.zeros(2), np.full(2, np.inf))
    assert step.tolist() == pytest.approx([0.5, 0.0])
