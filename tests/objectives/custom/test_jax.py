from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from scipy.optimize import minimize

import swapwise as sw
from swapwise.objectives.custom.check import check_objective
from swapwise.objectives.custom.jax import JaxFunction
from swapwise.objectives.custom.objective import CustomObjective

jax = pytest.importorskip("jax")
jnp = jax.numpy
pytestmark = pytest.mark.slow  # JAX compiles

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 20))
y = X[:, [3, 8, 17]] @ [2.0, -1.0, 1.5] + RNG.standard_t(2, 120) / 2
labels = np.arange(20) // 5


def log_likelihood(w):
    r = y - X @ w
    return -jnp.where(abs(r) < 1, r**2 / 2, abs(r) - 0.5).mean() - 0.01 * (w @ w)


@pytest.fixture(scope="module")
def huber() -> CustomObjective:
    return CustomObjective.from_jax(log_likelihood, n=X.shape[1], strong_concavity=0.02)


@pytest.mark.parametrize("method", ["auto", "oblivious", "greedy"])
def test_huber_regression_under_a_partition_matroid(method: str) -> None:
    f = CustomObjective.from_jax(log_likelihood, n=X.shape[1])
    result = sw.maximize(f, sw.Partition(labels, 1), method)
    assert {3, 8, 17} <= set(result.support.tolist())
    assert len(result.support) == 4
    inside = abs(y - X @ result.coef)
    expected = np.where(abs(y) < 1, y**2 / 2, abs(y) - 0.5).mean()
    expected -= np.where(inside < 1, inside**2 / 2, inside - 0.5).mean() + 0.01 * result.coef @ result.coef
    assert result.value == pytest.approx(expected, rel=1e-12)


def test_huber_regression_passes_the_check_and_is_proven(huber: CustomObjective) -> None:
    check_objective(huber)
    two = sw.Partition(labels, 1).truncate(2)
    result = sw.maximize(huber, two)
    assert sw.certify(huber, two, result).upper_bound >= result.value - 1e-9
    assert sw.theory.restricted_constants(huber, 2, 2).m_2s == 0.02
    assert huber.strong_concavity(20) == 0.02


def test_logistic_regression_is_that_of_scipy() -> None:
    signs = np.where(RNG.random(120) < 1 / (1 + np.exp(-2 * X[:, 0])), 1.0, -1.0)

    def loss(v: np.ndarray, chosen: list[int]) -> float:
        return np.logaddexp(0, -signs * (X[:, chosen] @ v)).mean() + 0.05 * v @ v

    f = CustomObjective.from_jax(lambda w: -jnp.logaddexp(0, -signs * (X @ w)).mean() - 0.05 * (w @ w), 20)
    for chosen in ([0], [1, 4, 7], list(range(11))):
        best = minimize(loss, np.zeros(len(chosen)), args=(chosen,), tol=1e-12)
        assert f(chosen) == pytest.approx(np.log(2) - best.fun, rel=1e-9)
        np.testing.assert_allclose(f.coef(chosen)[chosen], best.x, atol=1e-5)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 17, 20])
def test_blocks_of_the_hessian_are_parts_of_the_whole(size: int, huber: CustomObjective) -> None:
    w = RNG.standard_normal(20) / 4
    inside = abs(y - X @ w) < 1
    whole = (X.T * inside) @ X / len(y) + 0.02 * np.eye(20)
    elements = np.sort(RNG.permutation(20)[:size])
    np.testing.assert_allclose(
        huber.hessian_at(w, elements), whole[np.ix_(elements, elements)], rtol=0, atol=1e-14
    )


@pytest.fixture
def in_32_bits() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.usefixtures("in_32_bits")
def test_all_is_in_64_bits_and_the_users_own_is_left_alone() -> None:
    seen = []

    def function(w):
        seen.append(w.dtype)
        return -((w - 1e-10) ** 2).sum() - jnp.ones(3, dtype=jnp.float32) @ w**4

    f = CustomObjective.from_jax(function, 3)
    assert f.coef([1])[1] == pytest.approx(1e-10, rel=1e-6)
    assert f.gradient_at(np.zeros(3)).dtype == np.float64
    f.hessian_at(np.zeros(3), np.arange(2))
    assert set(seen) == {np.dtype(np.float64)}
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == np.float32


def test_no_coefficients() -> None:
    f = CustomObjective.from_jax(lambda w: -(w @ w), 0)
    assert sw.maximize(f, sw.Uniform(0, 0)).value == 0


def test_smoothness_is_handed_on() -> None:
    f = CustomObjective.from_jax(lambda w: w.sum() - w @ w / 2, 3, smoothness=1.0)
    assert sw.maximize(f, sw.Uniform(3, 2), "non-oblivious").value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("function", "got"),
    [
        (lambda w: w, r"got shape \(3,\) of type float64"),
        (lambda w: (w @ w).astype(jnp.float32), r"got shape \(\) of type float32"),
        (lambda w: None, "got NoneType"),
    ],
)
def test_functions_must_return_a_scalar(function: Callable, got: str) -> None:
    with pytest.raises(
        TypeError, match=f"function must return a scalar of 64 bits for 3 coefficients .*{got}"
    ):
        CustomObjective.from_jax(function, 3)


def test_functions_must_be_callable() -> None:
    with pytest.raises(TypeError, match=r"function must be a callable .* got 3"):
        CustomObjective.from_jax(3, 3)


def test_errors_in_functions_say_for_what() -> None:
    with pytest.raises(TypeError) as error:
        CustomObjective.from_jax(log_likelihood, 3)
    assert "swapwise called the function with an array of 3 coefficients" in error.value.__notes__


def test_slopes_that_are_not_finite_are_named() -> None:
    with pytest.raises(ValueError, match="the gradient must be finite, got nan at coordinate 0"):
        CustomObjective.from_jax(lambda w: -jnp.where(w == 0, 0.0, jnp.sqrt(w**2)).sum(), 2)


def test_jax_is_asked_for_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match=r"from_jax needs JAX: pip install 'swapwise\[jax\]'"):
        JaxFunction(log_likelihood, 3)


def test_jax_is_not_imported_before_it_is_used() -> None:
    imports = "; ".join(f"import swapwise.objectives.custom.{name}" for name in ("objective", "check", "jax"))
    code = f"import sys; {imports}; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
