"""γ, β and α: against their definitions set by set, and bounds by eigenvalues on the safe side."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.theory import ratios as module
from swapwise.theory.constants import restricted_constants
from swapwise.theory.ratios import SubmodularityRatios, submodularity_ratios
from tests.contracts.objective_zoo import least_squares

pytestmark = pytest.mark.filterwarnings("ignore:.*linearly independent", "ignore:y is zero")


def plain_ratios(f, s):
    """All five by their definitions, over all sets."""
    sets = [frozenset(c) for size in range(f.n + 1) for c in combinations(range(f.n), size)]
    value = {chosen: f(chosen) for chosen in sets}
    rounding = 1e-9 * max(value.values()) + 1e-12 * f.scale
    found = {"gamma": 1.0, "gamma_s": 1.0, "beta": 1.0, "beta_s": 1.0, "alpha": 0.0}
    for A in sets:
        for B in sets:
            gained = value[A | B] - value[A]
            if not B or A & B or max(len(A), len(B)) > s or gained <= rounding:
                continue
            low = sum(value[A | {e}] - value[A] for e in B) / gained
            high = sum(value[A | B] - value[(A | B) - {e}] for e in B) / gained
            for suffix in [""] + ["_s"] * (len(A | B) <= s):
                found["gamma" + suffix] = min(found["gamma" + suffix], low)
                found["beta" + suffix] = max(found["beta" + suffix], high)
    for A in sets:
        for U in (each for each in sets if each >= A):
            for e in set(range(f.n)) - U:
                alone = value[A | {e}] - value[A]
                if alone > rounding:
                    found["alpha"] = max(found["alpha"], 1 - (value[U | {e}] - value[U]) / alone)
    return found


@settings(max_examples=40)
@given(least_squares(), st.integers(1, 3))
def test_enumeration_equals_the_definition(objective, s):
    if objective.n > 5:
        return
    found = submodularity_ratios(objective, s)
    for name, wanted in plain_ratios(objective, s).items():
        limited = min(wanted, 1.0) if name == "alpha" else wanted
        assert getattr(found, name) == pytest.approx(limited, abs=1e-9)
        assert getattr(found, name).exact


@settings(max_examples=100)
@given(least_squares(), st.integers(1, 3))
def test_eigenvalues_are_on_the_safe_side(objective, s):
    exact = submodularity_ratios(objective, s)
    bound = SubmodularityRatios.by_eigenvalues(restricted_constants(objective, s, 1))
    assert bound.gamma <= exact.gamma + 1e-7
    assert bound.gamma_s <= exact.gamma_s + 1e-7
    assert bound.beta >= exact.beta - 1e-7
    assert bound.beta_s >= exact.beta_s - 1e-7
    assert bound.alpha == 1 >= exact.alpha
    assert bound.gamma <= bound.gamma_s
    assert bound.beta_s <= bound.beta


@pytest.mark.parametrize("seed", range(4))
def test_eigenvalues_are_on_the_safe_side_for_groups_and_likelihoods(seed):
    """M_1 is the largest eigenvalue of an element's block, or above it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 8))
    groups = sw.LeastSquares(X, rng.standard_normal(20), groups=list("aabbbcdd"), ridge=1.0)
    for objective in (groups, sw.Logistic(X[:, :5], X[:, 0] > 0.3, ridge=0.2)):
        exact = submodularity_ratios(objective, 2)
        bound = SubmodularityRatios.by_eigenvalues(restricted_constants(objective, 2, 1))
        assert 0 < bound.gamma <= exact.gamma + 1e-6
        assert bound.beta >= exact.beta - 1e-6
        blocks = [objective.hessian_at(objective.coef([]), np.array([e])) for e in range(objective.n)]
        assert (
            max(np.linalg.eigvalsh(b)[-1] for b in blocks) - 1e-9 <= restricted_constants(objective, 2, 1).M_1
        )


@pytest.mark.parametrize("seed", range(5))
def test_submodular_functions_have_ones(seed):
    rng = np.random.default_rng(seed)
    coverage = sw.Coverage([rng.permutation(6)[: rng.integers(4)].tolist() for _ in range(5)])
    found = submodularity_ratios(coverage, 3)
    assert (found.gamma, found.beta) == pytest.approx((1, 1))
    assert submodularity_ratios(sw.Linear(rng.random(4)), 3).alpha == pytest.approx(0)
    assert found.submodular == SubmodularityRatios.of_submodular().submodular is True


def test_large_ground_sets(monkeypatch):
    monkeypatch.setattr(module, "MOST_ELEMENTS", 3)
    many = sw.Coverage([{1}, {2}, {3}, {1, 2}])
    assert submodularity_ratios(many, 2) == SubmodularityRatios.of_submodular()
    sparse = submodularity_ratios(sw.LeastSquares(np.eye(4) + 0.1, np.ones(4)), 2)
    assert sparse.gamma.kind == "lower bound"
    with pytest.raises(ValueError, match="at most 3 elements; got 4"):
        submodularity_ratios(sw.CustomSetFunction(len, n=4), 2)


def test_what_is_refused():
    with pytest.raises(TypeError, match="must be a SetFunction"):
        submodularity_ratios(len, 2)
    with pytest.raises(ValueError, match="s must be at least 1"):
        submodularity_ratios(sw.Linear([1.0]), 0)
    with pytest.raises(ValueError, match=r"must be monotone .*, but falls by 1 when"):
        submodularity_ratios(sw.CustomSetFunction(lambda chosen: 1.0 * (len(chosen) == 1), n=2), 1)


def test_an_empty_ground_set_and_a_function_of_zeros():
    assert submodularity_ratios(sw.Linear([]), 1).gamma == 1
    found = submodularity_ratios(sw.Linear([0.0, 0.0]), 2)
    assert (found.gamma, found.beta, found.alpha) == (1, 1, 0)
