from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.checks import unwarned
from swapwise.moves import Move, MoveList
from swapwise.objectives.base import State, embed
from swapwise.objectives.custom.check import check_objective
from swapwise.objectives.custom.objective import CustomObjective
from tests.contracts.objective_zoo import grids, moves, simple_numbers, subsets, supports

pytestmark = pytest.mark.filterwarnings("ignore:.*add nothing to the fit")
# L-BFGS takes a millisecond or so for each of many fits.
few_examples = settings(max_examples=max(1, settings().max_examples // 10))
with_and_without = pytest.mark.parametrize("with_hessian", [True, False], ids=["newton", "l-bfgs"])

TARGET = np.array([1.0, -3.0, 2.0, 0.5])


def least_squares(
    X: np.ndarray, y: np.ndarray, ridge: float, with_hessian: bool
) -> tuple[CustomObjective, sw.LeastSquares]:
    """Make the same objective twice: as a function of one's own, and by closed forms."""
    total = y @ y
    hessian = -2 * (X.T @ X + ridge * np.eye(X.shape[1])) / total

    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        r = y - X @ w
        return -(r @ r + ridge * w @ w) / total, 2 * (X.T @ r - ridge * w) / total

    custom = CustomObjective(
        value_and_grad, X.shape[1], hessian=(lambda w: hessian) if with_hessian else None
    )
    return custom, sw.LeastSquares(X, y, ridge)


@st.composite
def twins(draw: st.DrawFn, with_hessian: bool) -> tuple[CustomObjective, sw.LeastSquares]:
    """Few samples and simple numbers: zero, repeated and collinear columns are frequent."""
    samples, n = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    X, y = draw(simple_numbers(samples, n)), draw(simple_numbers(samples).filter(np.any))
    return least_squares(
        X - draw(st.sampled_from([0.0, 1.0])), y, draw(st.sampled_from([0.0, 0.5])), with_hessian
    )


def huber(X: np.ndarray, y: np.ndarray, ridge: float, with_hessian: bool) -> CustomObjective:
    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        r = y - X @ w
        loss = np.where(abs(r) < 1, r**2 / 2, abs(r) - 0.5)
        return -loss.mean() - ridge * w @ w, X.T @ np.clip(r, -1, 1) / len(y) - 2 * ridge * w

    def hessian(w: np.ndarray) -> np.ndarray:
        inside = abs(y - X @ w) < 1
        return -(X.T * inside) @ X / len(y) - 2 * ridge * np.eye(X.shape[1])

    return CustomObjective(value_and_grad, X.shape[1], hessian=hessian if with_hessian else None)


def nearest(**options: object) -> CustomObjective:
    return CustomObjective(nearest_value_and_grad, 4, **options)


def nearest_value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
    return -0.5 * float((w - TARGET) @ (w - TARGET)), TARGET - w


def nearest_hessian(w: np.ndarray) -> np.ndarray:
    return -np.eye(len(w))


# -- against least squares ------------------------------------------------------------------------------


@with_and_without
@few_examples
@given(data=st.data())
def test_values_and_derivatives_are_those_of_least_squares(with_hessian: bool, data: st.DataObject) -> None:
    custom, closed = data.draw(twins(with_hessian))
    for chosen in subsets(custom.n):
        assert custom(chosen) == pytest.approx(closed(chosen), rel=0, abs=1e-10)
    w, everything = np.linspace(-1, 1, custom.n), np.arange(custom.n)
    assert custom.value_at(w) == pytest.approx(closed.value_at(w), abs=1e-10, rel=1e-10)
    np.testing.assert_allclose(custom.gradient_at(w), closed.gradient_at(w), atol=1e-9)
    np.testing.assert_allclose(custom.hessian_at(w, everything), closed.hessian_at(w, everything), atol=1e-6)
    some = everything[::2]
    np.testing.assert_allclose(custom.hessian_at(w, some), closed.hessian_at(w, some), atol=1e-6)


@with_and_without
@few_examples
@given(data=st.data())
def test_a_state_on_its_way_equals_fresh_fits(with_hessian: bool, data: st.DataObject) -> None:
    custom, closed = data.draw(twins(with_hessian))
    state = custom.start(data.draw(supports(custom.n)))
    for _ in range(2):
        state.apply(data.draw(moves(custom.n, state.support)))
    assert state.value == pytest.approx(closed(state.support), rel=0, abs=1e-10)
    np.testing.assert_allclose(state.gradient[state.support], 0)
    batch = data.draw(grids(custom.n, state.support))
    gains = state.gains(batch)
    np.testing.assert_allclose(gains, State.gains(closed.start(state.support), batch), atol=1e-10)
    assert state.n_evaluations == 3 + int(batch.useful.sum())


@with_and_without
@pytest.mark.parametrize("method", ["semi-oblivious", "oblivious", "greedy"])
@few_examples
@given(data=st.data())
def test_searches_find_what_they_find_in_least_squares(
    with_hessian: bool, method: str, data: st.DataObject
) -> None:
    X = data.draw(simple_numbers(5, 5)) - 0.2
    custom, closed = least_squares(X, data.draw(simple_numbers(5).filter(np.any)), 0.5, with_hessian)
    constraint = data.draw(st.sampled_from([sw.Uniform(5, 2), sw.Partition(list("aabbc"), 1)]))
    found, expected = (sw.maximize(f, constraint, method) for f in (custom, closed))
    assert found.support.tolist() == expected.support.tolist()
    assert found.value == pytest.approx(expected.value, abs=1e-10)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@with_and_without
def test_the_size_of_the_function_does_not_matter(scale: float, with_hessian: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 6)), rng.standard_normal(50)
    f = huber(X, y, 0.01, with_hessian)

    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = f.value_and_grad(w)
        return scale * value, scale * slope

    hessian = (lambda w: -scale * f.hessian_at(w, np.arange(6))) if with_hessian else None
    scaled = CustomObjective(value_and_grad, 6, hessian=hessian)
    assert scaled(range(6)) == pytest.approx(scale * f(range(6)), rel=1e-12)
    np.testing.assert_allclose(scaled.coef([1, 4]), f.coef([1, 4]), atol=1e-6)


@pytest.mark.parametrize("hessian", [None, nearest_hessian])
def test_no_and_one_coefficient(hessian: Callable | None) -> None:
    none = CustomObjective(lambda w: (3.0, w), 0, hessian=hessian)
    assert none([]) == 0
    assert sw.maximize(none, sw.Uniform(0, 0)).support.size == 0
    check_objective(none)
    one = CustomObjective(lambda w: (float(w[0] - w[0] ** 2 / 2), 1 - w), 1, hessian=hessian)
    result = sw.maximize(one, sw.Uniform(1, 1))
    assert (result.support.tolist(), result.value) == ([0], pytest.approx(0.5))


# -- the ascent ------------------------------------------------------------------------------------------


@with_and_without
def test_scoring_begins_at_the_coefficients_that_stay(with_hessian: bool) -> None:
    seen: list[np.ndarray] = []

    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        seen.append(w)
        return nearest_value_and_grad(w)

    f = CustomObjective(value_and_grad, 4, hessian=nearest_hessian if with_hessian else None)
    state = f.start([0, 1])
    for take in (
        lambda: state.gains(MoveList(np.array([[2]]), np.array([[0]]))),
        lambda: state.apply(Move(added=(2,), dropped=(0,))),
    ):
        seen.clear()
        take()
        np.testing.assert_allclose(seen[0], [0, -3, 0, 0], atol=1e-6)


def test_a_start_that_is_worse_than_nothing_is_not_used() -> None:
    f = CustomObjective(lambda w: (-np.exp(10 * w[0]) + w[0], -10 * np.exp(10 * w) + 1), 1)
    value, coef = f.fit_from(np.array([0]), np.array([80.0]))
    assert coef == pytest.approx(np.log(0.1) / 10)
    assert value == pytest.approx(f([0]))


@with_and_without
@pytest.mark.parametrize("pull", [40.0, 1e6])
def test_points_where_the_function_is_not_defined_are_stepped_back_from(
    with_hessian: bool, pull: float
) -> None:
    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        inside = 1 - w
        return np.log(inside).sum() + pull * w.sum(), pull - 1 / inside

    f = CustomObjective(
        value_and_grad, 2, hessian=(lambda w: -np.diag((1 - w) ** -2)) if with_hessian else None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f([0, 1]) == pytest.approx(2 * (pull - 1 - np.log(pull)), rel=1e-9)
    with (
        pytest.raises(ValueError, match=r"finite value, got nan at w = \{0: 2, others: 0\}"),
        np.errstate(all="ignore"),
    ):
        f.value_at(np.array([2.0, 0.0]))


def test_newton_steps_that_do_not_get_on_are_given_up() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10)) * 10.0 ** rng.integers(-1, 2, 10)
    y = 30 * X @ rng.standard_normal(10) + rng.standard_t(1.5, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_newton, by_lbfgs = (huber(X, y, 0.0, with_hessian) for with_hessian in (True, False))
        for chosen in ([0, 2, 3, 7, 9], range(10), [5]):
            assert by_newton(chosen) == pytest.approx(by_lbfgs(chosen), rel=1e-8)


@pytest.mark.parametrize("hessian", [None, lambda w: np.zeros((4, 4))])
def test_a_function_without_maximum_is_told(hessian: Callable | None) -> None:
    f = CustomObjective(lambda w: (w[:2].sum(), np.array([1.0, 1, 0, 0])), 4, hessian=hessian)
    assert f([2, 3]) == 0
    with pytest.raises(ValueError, match=r"no maximum on the set \[1, 3\]: is it concave\? a ridge helps"):
        f([1, 3])
    assert f.upper_bound(np.array([1, 3])) == np.inf


def test_a_trial_that_leads_far_away_and_down_is_no_sign_of_anything() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10)) * 10.0 ** rng.integers(-1, 2, 10)
    y = 30 * X @ rng.standard_normal(10) + rng.standard_t(1.5, 200) + 1e5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it does not converge is true
        assert huber(X, y, 0.0, with_hessian=False)(range(10)) > 15_000


def test_a_value_of_infinity_is_no_maximum() -> None:
    f = CustomObjective(lambda w: (np.inf if w[0] > 0.5 else w[0], np.ones(1)), 1)
    with pytest.raises(ValueError, match=r"no maximum on the set \[0\]"):
        f([0])


def test_a_fit_that_does_not_converge_warns_once() -> None:
    f = CustomObjective(lambda w: (-((w - 1) @ (w - 1)), 2 * (w - 1)), 3)
    with unwarned():
        f([0])
    with pytest.warns(UserWarning, match=r"the fit on the set \[1\] did not converge: the slope is still 2;"):
        f([1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f([0])


def test_a_slope_that_is_but_rounding_does_not_warn() -> None:
    f = CustomObjective(lambda w: (w[0] - w @ w / 2, np.array([1.0, 1e-17]) - w), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f([1]) == 0


def test_the_same_call_gives_the_same_answer() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 6)), rng.standard_normal(50)
    first, second = (sw.maximize(huber(X, y, 0.01, False), sw.Uniform(6, 3)) for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)
    assert first.value == second.value


# -- what it knows of itself ----------------------------------------------------------------------------


def test_the_offset_says_what_rounds() -> None:
    f = CustomObjective(lambda w: (1e9 - w @ w, -2 * w), 2)
    assert f.scale == 1e9
    assert f.start([0]).magnitude == 1e9
    assert f.value_at(np.zeros(2)) == 0


def test_smoothness_is_asked_for() -> None:
    with pytest.raises(NotImplementedError, match="CustomObjective does not know how smooth it is"):
        nearest().smoothness(1)
    with pytest.raises(TypeError, match="a smoothness constant"):
        sw.maximize(nearest(), sw.Uniform(4, 2), "non-oblivious")
    assert nearest(smoothness=2).smoothness(3) == 2
    assert nearest(smoothness=lambda t: t + 1.0).smoothness(3) == 4
    result = sw.maximize(nearest(smoothness=1.0), sw.Uniform(4, 2), "non-oblivious")
    assert result.support.tolist() == [1, 2]


@pytest.mark.parametrize("hessian", [None, nearest_hessian])
def test_theory_makes_do_with_what_there_is(hessian: Callable | None) -> None:
    for m in (0.0, 1.0):
        f = nearest(hessian=hessian, strong_concavity=m)
        assert f.strong_concavity(4) == m
        constants = sw.theory.restricted_constants(f, 2, 2)
        assert (constants.m_2s, constants.M_st) == (m, np.inf)
        result = sw.maximize(f, sw.Uniform(4, 2))
        certificate = sw.certify(f, sw.Uniform(4, 2), result)
        assert certificate.upper_bound >= result.value - 1e-9
        assert result.value == pytest.approx(6.5)
    assert certificate.upper_bound == pytest.approx(6.5)


def test_objectives_from_picklable_callables_pickle() -> None:
    f = pickle.loads(pickle.dumps(nearest(hessian=nearest_hessian, smoothness=1.0)))
    assert f([1, 2]) == pytest.approx(6.5)
    assert f.smoothness(2) == 1


# -- the user's callables -------------------------------------------------------------------------------


def test_callables_get_arrays_of_their_own_and_keep_theirs() -> None:
    slope = np.ones(2)

    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        value = w.sum() - w @ w / 2
        slope[:] = 1 - w
        w[:] = 7
        return value, slope

    def hessian(w: np.ndarray) -> np.ndarray:
        w[:] = 7
        return -np.eye(2)

    f = CustomObjective(value_and_grad, 2, hessian=hessian)
    state = f.start([0])
    np.testing.assert_allclose(state.coef, [1, 0])
    assert state.gradient.tolist() == [0, 1]
    state.gradient[:] = 5
    assert slope.tolist() == [0, 1]
    w = np.zeros(2)
    f.gradient_at(w)
    f.hessian_at(w, np.arange(2))
    assert w.tolist() == [0, 0]


@pytest.mark.parametrize("value", [3, True, np.float32(3), np.array(3.0), Fraction(3)])
def test_what_counts_as_a_value(value: object) -> None:
    assert CustomObjective(lambda w: [value, [0, 0]], 2).scale == float(value)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (1.0, TypeError, r"must return a number and an array of length 2, got 1\.0"),
        ((1.0, 2.0, 3.0), TypeError, r"a number and an array of length 2, got \(1\.0, 2\.0, 3\.0\)"),
        (("1", np.ones(2)), TypeError, r"a number and an array of length 2, got \('1'"),
        ((np.ones(2), 1.0), TypeError, "a number and an array of length 2, got"),
        ((1.0, np.ones(3)), ValueError, r"the gradient must have shape \(2,\), got shape \(3,\)"),
        ((1.0, np.ones((2, 1))), ValueError, r"the gradient must have shape \(2,\), got shape \(2, 1\)"),
        ((1.0, ["a", "b"]), TypeError, "the gradient must hold real numbers, got values of type <U1"),
        (
            (1.0, np.array([0, np.nan])),
            ValueError,
            "must be finite, got nan at coordinate 1 at w = {others: 0}",
        ),
        ((np.nan, np.ones(2)), ValueError, "must return a finite value, got nan at w = {others: 0}"),
        ((-np.inf, np.ones(2)), ValueError, "must return a finite value, got -inf"),
    ],
)
def test_wrong_answers_are_found_at_once(answer: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CustomObjective(lambda w: answer, 2)


@pytest.mark.parametrize(
    ("hessian", "message"),
    [
        (lambda w: np.eye(3), r"the Hessian must have shape \(4, 4\), got shape \(3, 3\)"),
        (lambda w: None, r"the Hessian must have shape \(4, 4\), got shape \(\)"),
        (lambda w: np.full((4, 4), np.nan), r"the Hessian must be finite, got nan at w = "),
    ],
)
def test_wrong_hessians(hessian: Callable, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nearest(hessian=hessian)([1])


def test_errors_in_callables_say_where() -> None:
    def picky(w: np.ndarray) -> tuple[float, np.ndarray]:
        if w.any():
            raise KeyError("no")
        return 0.0, np.ones(4)

    with pytest.raises(KeyError) as error:
        CustomObjective(picky, 4).value_at(np.array([0, 1.5, 0, 0]))
    assert error.value.__notes__ == ["swapwise called value_and_grad at w = {1: 1.5, others: 0}"]
    with pytest.raises(ZeroDivisionError) as error:
        nearest(hessian=lambda w: 1 / 0)([1])
    assert error.value.__notes__ == ["swapwise called the Hessian at w = {others: 0}"]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((3, 2), {}, TypeError, "value_and_grad must be a callable .* got 3"),
        ((len, -1), {}, ValueError, "n must be a non-negative integer, got -1"),
        ((len, 2), {"hessian": np.eye(2)}, TypeError, r"hessian must be a callable .* got array"),
        ((len, 2), {"smoothness": -1}, ValueError, "smoothness must be a non-negative number, got -1"),
        ((len, 2), {"strong_concavity": "1"}, TypeError, "strong_concavity must be a non-negative number"),
    ],
)
def test_wrong_arguments(arguments: tuple, options: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CustomObjective(*arguments, **options)


# -- check_objective ------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((40, 5)), 2 * RNG.standard_t(2, 40)
SPINS = np.sign(RNG.standard_normal((30, 4)))
SCALES = (1e-3, 1.0, 1e6)


def spoiled(slopes: object = 1.0, curves: object = 1.0, scale: float = 1.0) -> CustomObjective:
    """Make a Huber regression with factors on gradient and Hessian."""
    f = huber(X, Y, 0.01, with_hessian=True)

    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = f.value_and_grad(w)
        return scale * value, scale * slope * slopes

    return CustomObjective(
        value_and_grad, 5, hessian=lambda w: -scale * f.hessian_at(w, np.arange(5)) * curves
    )


@pytest.mark.parametrize(
    "objective",
    [
        *(spoiled(scale=scale) for scale in SCALES),
        huber(X, Y, 0.0, with_hessian=False),
        huber(np.vstack([X] * 30), np.repeat(Y, 30), 0.0, with_hessian=True),
        nearest(),
        CustomObjective(lambda w: (1e9 - w @ w, -2 * w), 20),
        sw.LeastSquares(X, Y),
        sw.LeastSquares(X[:3], Y[:3]),
        sw.LeastSquares(1e3 * X, 1e-3 * Y, ridge=1.0),
        *(sw.graphs.IsingPseudoLikelihood(SPINS, ridge=0.1, fields=fields) for fields in (False, True)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("random_state", [0, 1, 2])
def test_what_is_right_passes_the_check(objective: sw.SparseObjective, random_state: int) -> None:
    assert check_objective(objective, random_state=random_state) is None


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("factor", [1.001, 0.0, -1.0])
@pytest.mark.parametrize("coordinate", range(5))
def test_a_wrong_slope_is_named(coordinate: int, factor: float, scale: float) -> None:
    slopes = np.where(np.arange(5) == coordinate, factor, 1.0)
    with pytest.raises(
        ValueError, match=rf"the gradient is wrong at coordinate {coordinate}: gradient_at says"
    ):
        check_objective(spoiled(slopes, scale=scale))


def test_the_message_of_a_wrong_slope() -> None:
    f = CustomObjective(lambda w: (-(w @ w), [-2, -1] * w), 2)
    message = (
        r"the gradient is wrong at coordinate 1: gradient_at says 0\.0660\d*, differences of value_at say "
        r"0\.13\d* \(at w = \{0: 0\.06287, 1: -0\.06605, others: 0\}\)$"
    )
    with pytest.raises(ValueError, match=message):
        check_objective(f)


def test_the_sign_of_a_loss_is_told() -> None:
    with pytest.raises(
        ValueError, match=r"\(and 4 more\).*every sign is the wrong one: is it that of a loss\?"
    ):
        check_objective(spoiled(-1.0))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("i", "j"), [(0, 0), (1, 3), (4, 4)])
def test_a_wrong_hessian_is_named(i: int, j: int, scale: float) -> None:
    curves = np.ones((5, 5))
    curves[i, j] = curves[j, i] = 1.2
    message = rf"the Hessian is wrong at coordinates ({i} and {j}|{j} and {i})\b"
    with pytest.raises(ValueError, match=message):
        check_objective(spoiled(curves=curves, scale=scale))


def test_a_kink_of_the_gradient_is_no_error() -> None:
    kink = 0.5 * np.random.default_rng(0).standard_normal(1)  # the first point that the check looks at

    def value_and_grad(w: np.ndarray) -> tuple[float, np.ndarray]:
        factor = np.where(w < kink, 1.0, 2.0)
        return float(-0.5 * factor @ (w - kink) ** 2), factor * (kink - w)

    check_objective(
        CustomObjective(value_and_grad, 1, hessian=lambda w: -np.diag(np.where(w < kink, 1.0, 2.0)))
    )


@pytest.mark.parametrize(
    "value_and_grad",
    [
        lambda w: (w @ w, 2 * w),
        lambda w: (-(w @ w) + 1.01 * w[3] ** 2, -2 * w + 2.02 * w * (np.arange(5) == 3)),
        lambda w: (-(w @ w) + 1.01 * w[:2].sum() ** 2, -2 * w + 2.02 * w[:2].sum() * (np.arange(5) < 2)),
        lambda w: (np.cos(w).sum(), -np.sin(w)),
        lambda w: (np.hypot(w - 0.3, 1e-3).sum(), (w - 0.3) / np.hypot(w - 0.3, 1e-3)),
    ],
    ids=["convex", "along one coordinate", "along two", "far from zero", "in a narrow place"],
)
def test_what_is_not_concave_is_told(value_and_grad: Callable) -> None:
    with pytest.raises(
        ValueError, match=r"the function is not concave: .* in the middle of a segment is below"
    ):
        check_objective(CustomObjective(value_and_grad, 5))


class Nearest(sw.SparseObjective):
    """The nearest point to a target, with something wrong."""

    def __init__(self, offset: float = 0.0, gain: float = 0.0, shift: float = 0.0) -> None:
        self.n, self.offset, self.gain, self.shift = 4, offset, gain, shift

    def _fit(self, support: np.ndarray) -> tuple[float, np.ndarray]:
        coef = TARGET[support] + self.shift
        return self.value_at(embed(self, support, coef)) + self.gain, coef

    def value_at(self, coef: np.ndarray) -> float:
        return float(TARGET @ coef - coef @ coef / 2) + self.offset

    def gradient_at(self, coef: np.ndarray) -> np.ndarray:
        return TARGET - coef


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"offset": 0.1}, r"value_at must be 0 at w = 0 .* got 0\.1"),
        ({"gain": 0.1}, r"the fit on the set \[.*\] has the value .*, but value_at its coefficients is"),
        (
            {"shift": 0.1},
            r"the fit on the set \[.*\] is not a maximum: the slope at coordinate \d is -0\.1 \(at w",
        ),
        ({"offset": np.nan}, "value_at must be finite, got nan at w = "),
    ],
)
def test_wrong_fits_and_offsets_are_told(wrong: dict[str, float], message: str) -> None:
    check_objective(Nearest())
    with pytest.raises(ValueError, match=message):
        check_objective(Nearest(**wrong))


def test_a_flat_fit_with_something_better_nearby_is_told() -> None:
    class Stuck(Nearest):
        def _fit(self, support: np.ndarray) -> tuple[float, np.ndarray]:
            return 0.0, np.zeros(len(support))

        def gradient_at(self, coef: np.ndarray) -> np.ndarray:
            return super().gradient_at(coef) * (coef.any() or self.looked < 2)

        @property
        def looked(self) -> int:
            self._looked = getattr(self, "_looked", 0) + 1
            return self._looked

    with pytest.raises(ValueError, match=r"has the value 0, but there is .* at w = "):
        check_objective(Stuck())


@pytest.mark.parametrize("slopes", [np.ones(3), np.ones((4, 1)), np.full(4, np.nan)])
def test_gradients_of_the_wrong_kind_are_told(slopes: np.ndarray) -> None:
    class Wrong(Nearest):
        def gradient_at(self, coef: np.ndarray) -> np.ndarray:
            return slopes

    with pytest.raises(ValueError, match=r"gradient_at must return finite numbers of shape \(4,\), got"):
        check_objective(Wrong())


def test_hessians_of_the_wrong_shape_are_told() -> None:
    class Wrong(Nearest):
        def hessian_at(self, coef: np.ndarray, elements: np.ndarray) -> np.ndarray:
            return np.eye(3)

    with pytest.raises(ValueError, match=r"hessian_at must return an array of shape \(4, 4\), got \(3, 3\)"):
        check_objective(Wrong())


def test_the_check_refuses_what_it_cannot_check() -> None:
    with pytest.raises(TypeError, match=r"objective must be a SparseObjective, got Linear"):
        check_objective(sw.Linear([1.0]))
    with pytest.raises(ValueError, match="n_points must be at least 1, got 0"):
        check_objective(nearest(), n_points=0)


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"smoothness": 0.1}, r"smoothness\(1\) is 0.1, but a coordinate curves by 10"),
        ({"strong_concavity": 100.0}, r"strong_concavity\(3\) is 100, but a direction curves by 10 only"),
    ],
)
def test_constants_that_the_function_does_not_keep_are_caught(constants, message):
    def value_and_grad(w):
        return -5.0 * w @ w, -10.0 * w

    with pytest.raises(ValueError, match=message):
        check_objective(CustomObjective(value_and_grad, 3, **constants))
    check_objective(CustomObjective(value_and_grad, 3, smoothness=10.0, strong_concavity=10.0))
