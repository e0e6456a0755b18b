"""CoSaMP and GraSP beside their plain versions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from benchmarks.reference import neighbours
from tests.search.methods.problems import (
    CONSTRAINTS,
    MATROIDS,
    OBJECTIVES,
    Plain,
    degenerate,
    family_of,
    problem,
)
from tests.search.test_record import check_record

pytestmark = pytest.mark.filterwarnings("ignore:of .* chosen columns only")

CoSaMP, GraSP = sw.methods.CoSaMP, sw.methods.GradientSupportPursuit


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=10)
@given(st.integers(0, 10**6), st.booleans())
def test_they_are_the_plain_versions(objective, constraint, seed, debias):
    f, system = problem(seed, objective, constraint)
    expected = neighbours.cosamp(Plain(f), family_of(system), debias)
    result = sw.maximize(f, system, "grasp" if debias else "cosamp")
    assert result.support.tolist() == list(expected)
    check_record(result, f)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(list(CONSTRAINTS)))
def test_cosamp_is_grasp_without_debiasing(seed, constraint):
    f, system = problem(seed, "least squares", constraint)
    one, other = (sw.maximize(f, system, method) for method in ("cosamp", GraSP(debias=False)))
    assert one.support.tolist() == other.support.tolist()
    assert one.n_evaluations == other.n_evaluations


@pytest.mark.parametrize("name", ["cosamp", "grasp"])
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(MATROIDS))
def test_degenerate_data_and_forced_elements(name, seed, constraint):
    rng = np.random.default_rng(seed)
    f = sw.LeastSquares(*degenerate(rng))
    system = CONSTRAINTS[constraint](rng, f.n)
    free = np.setdiff1d(np.arange(f.n), system.loops())
    for held in (system, system.contract([int(rng.choice(free))])):
        result = sw.maximize(f, held, name)
        assert np.isin(held.forced, result.support).all()
        check_record(result, f, held.forced)


@pytest.mark.parametrize("name", ["cosamp", "grasp"])
def test_a_sparse_signal_is_recovered_exactly(name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 200)) / np.sqrt(80)
    truth = np.sort(rng.choice(200, 8, replace=False))
    y = X[:, truth] @ rng.choice([-1.0, 1.0], 8)
    result = sw.maximize(sw.LeastSquares(X, y), sw.Uniform(200, 8), name)
    assert result.support.tolist() == truth.tolist()
    assert result.value == pytest.approx(1.0)


@pytest.mark.filterwarnings("ignore:.*separable")
def test_separable_merged_fits_end():
    """On more elements than samples any classes are separable, and coefficients have no limit."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((12, 40)), rng.random(12) < 0.5
    f = sw.Logistic(X, y)
    for name in ("cosamp", "grasp"):
        result = sw.maximize(f, sw.Uniform(40, 4), name)
        assert np.isfinite(result.value)
        check_record(result, f)


def test_more_merged_columns_than_samples():
    rng = np.random.default_rng(2)
    f = sw.LeastSquares(rng.standard_normal((6, 30)), rng.standard_normal(6))
    for name in ("cosamp", "grasp"):
        result = sw.maximize(f, sw.Partition(np.arange(30) % 5, 1), name)
        check_record(result, f)
        assert 0 < result.value <= 1 + 1e-12


def test_options_are_checked():
    with pytest.raises(TypeError, match="debias must be True or False"):
        GraSP(debias=1)
    assert repr(CoSaMP()) == "CoSaMP()"
