"""Rules, methods and guarantees where coefficients have bounds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.objectives.base import SparseObjective, read_groups
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.search.rules import NonOblivious
from swapwise.theory.along_the_run import guarantee_at
from swapwise.theory.bounds import tangent_at
from swapwise.theory.constants import restricted_constants
from swapwise.theory.guarantees import guarantee
from swapwise.theory.ratios import SubmodularityRatios
from swapwise.theory.table import guarantee_table
from tests.objectives.bounded import SHAPES, likelihood_of, sets_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:the classes are separable"),
    pytest.mark.filterwarnings("ignore:some counts are zero"),
    pytest.mark.filterwarnings("ignore:the likelihood has no maximum"),
    pytest.mark.filterwarnings("ignore:y is explained"),
    pytest.mark.filterwarnings("ignore:.*allows only the empty set"),
]

seeds = st.integers(0, 10**6)
UNBOUNDED_ONLY = ("iht", "htp", "cosamp", "grasp", "clash", "arht", "frank-wolfe")


class Quadratic(SparseObjective):
    """``b·w − w·H w / 2`` within bounds, as one who extends the library would write it."""

    def __init__(self, H, b, bounds, groups=None):
        self.H, self.b, self.bounds, self.n = (
            H,
            b,
            bounds,
            len(b) if groups is None else len(groups.begin) - 1,
        )
        self.groups = groups

    def _fit(self, support):
        rows = support if self.groups is None else self.groups.members(support)
        H, b = self.H[np.ix_(rows, rows)], self.b[rows]
        w = np.zeros(len(rows))
        before = w - 1.0
        while np.abs(w - before).max(initial=0.0) > 1e-15:  # coordinate ascent
            before = w.copy()
            for i in range(len(rows)):
                w[i] += (b[i] - H[i] @ w) / H[i, i]
                w[i] = np.clip(w[i], self.bounds.lower[rows[i]], self.bounds.upper[rows[i]])
        return float(b @ w - w @ H @ w / 2), w

    def value_at(self, coef):
        return float(self.b @ coef - coef @ self.H @ coef / 2)

    def gradient_at(self, coef):
        return self.b - self.H @ coef

    curvature_is = "hessian"

    def curvature(self, columns):
        return self.H[:, columns] if self.groups is None else None

    def smoothness(self, t):
        return float(np.linalg.eigvalsh(self.H)[-1])

    def strong_concavity(self, t):
        return float(np.linalg.eigvalsh(self.H)[0])


def quadratic(seed, groups=None):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((12, 5)) + float(rng.choice([0.0, 1.0]))
    bounds = CoefficientBounds(rng.choice([0.0, -0.1, -np.inf], 5), rng.choice([0.0, 0.1, 0.5, np.inf], 5))
    return Quadratic(A.T @ A / 12, A.T @ rng.standard_normal(12) / 3, bounds, groups)


def problems(seed):
    kind = (sw.Logistic, sw.NegativeBinomial)[seed % 2]
    return [quadratic(seed), likelihood_of(kind, SHAPES[seed % len(SHAPES)], seed)]


def check_scores(f, support, rule, constraint):
    state = f.start(support)
    for moves in constraint.moves(support):
        listed = moves.to_list()
        gains, room = state.gains(listed), 1e-9 * max(1.0, f.scale)
        assert (rule.scores(state, listed) <= gains + room).all()
        assert (rule.scores(state, moves) <= state.gains(moves) + room).all()


@pytest.mark.parametrize("smoothness", ["move", "global"])
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_scores_of_the_non_oblivious_rule_are_below_the_gains(smoothness, seed):
    rng = np.random.default_rng(seed)
    for f in problems(seed):
        support = np.sort(rng.choice(f.n, int(rng.integers(1, f.n)), replace=False))
        check_scores(f, support, NonOblivious(smoothness), sw.Uniform(f.n, len(support)))


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_scores_of_groups_are_below_the_gains(seed):
    groups = read_groups(["a", "b", "a", "c", "b"], 5)[0]
    f = quadratic(seed, groups)
    check_scores(f, np.array([0, 2]), NonOblivious(), sw.Uniform(3, 2))


def test_a_dropped_element_costs_what_its_bound_held_back():
    ends = np.array([0.0, 0.0]), np.array([0.5, np.inf])
    f = Quadratic(np.eye(2), np.array([4.0, 1.0]), CoefficientBounds(*ends))
    state = f.start([0])
    (grid,) = sw.Uniform(2, 1).moves(state.support)
    # 1²/2 for the one that comes, 4·½ − ½²/2 for the one that goes: it was held back at ½
    assert NonOblivious().scores(state, grid)[1, 0] == pytest.approx(0.5 - (4 * 0.5 - 0.125))
    assert state.gains(grid)[1, 0] == pytest.approx(0.5 - (4 * 0.5 - 0.125))
    assert sw.maximize(f, sw.Uniform(2, 1), "non-oblivious").support.tolist() == [0]


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_no_guarantee_is_above_the_ratio_that_was_reached(seed):
    for f in problems(seed):
        size = 1 + seed % 3
        constraint = sw.Uniform(f.n, size) if seed % 2 else sw.Partition([0, 0, 1, 1, 1], 1)
        family = [S for S in sets_of(f.n) if constraint.is_independent(S)]
        best = max(f(S) for S in family)
        if best <= 1e-7 * max(1.0, f.scale):
            continue
        for method in (
            "oblivious",
            "semi-oblivious",
            "non-oblivious",
            "greedy",
            "omp",
            "modular",
            "exhaustive",
        ):
            result = sw.maximize(f, constraint, method)
            for stated in (result.guarantee, *result.guarantee.others):
                assert stated.ratio <= result.value / best + 1e-6
        assert result.guarantee.ratio == 1  # of the exhaustive search


def test_what_is_certain_of_any_set_is_so():
    for seed in range(40):
        f, constraint = quadratic(seed), sw.Uniform(5, 1 + seed % 2)
        values = {S: f(S) for S in sets_of(5) if constraint.is_independent(S)}
        best, constants = max(values.values()), restricted_constants(f, constraint.max_size(), 2)
        for S, value in values.items():
            for stated in guarantee_at(f, constraint, np.array(S), value, constants):
                assert stated.ratio * best <= value + 1e-9


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_a_tangent_is_above_all_that_is_within_the_bounds(seed):
    rng = np.random.default_rng(seed)
    for f in problems(seed):
        tangent = tangent_at(f, np.array([0, 2]))
        for _ in range(20):
            other = rng.standard_normal(f.n) * 10.0 ** rng.integers(-2, 2)
            other = other if f.bounds is None else f.bounds.clip(other)
            plane = tangent.value + tangent.slope @ (other - tangent.coef) + tangent.extra
            assert f.value_at(other) <= plane + 1e-9 * max(1.0, f.scale, abs(plane))


def test_theorems_on_curvature_are_not_cited():
    f = quadratic(1)
    constants = restricted_constants(f, 2, 2)
    assert constants.within_bounds
    for method in ("oblivious", "semi-oblivious", "greedy", "omp", "modular"):
        stated = guarantee(method, sw.Uniform(5, 2), constants)
        assert stated.vacuous
        assert "without bounds" in stated.reason
    table = guarantee_table(sw.Uniform(5, 2), f)
    assert table.method[table.ratio > 0].tolist() == ["exhaustive"]
    assert float(SubmodularityRatios.by_eigenvalues(constants).gamma) == 0.0
    by_theorem = sw.maximize(f, sw.Uniform(5, 2), "oblivious").guarantee.by_theorem
    assert by_theorem is None or by_theorem.vacuous


@pytest.mark.parametrize("method", UNBOUNDED_ONLY)
def test_methods_that_step_without_refits_refuse_bounds(method):
    with pytest.raises(TypeError, match=rf"{method} needs .* works without bounds on coefficients only.*omp"):
        sw.maximize(quadratic(0), sw.Uniform(5, 2), method)
    with pytest.raises(TypeError, match="without bounds"):
        sw.maximize(quadratic(0), sw.Uniform(5, 2), start=method)


@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_all_other_methods_stay_within_the_bounds(seed):
    for f in problems(seed):
        pairs, best = sw.Uniform(f.n, 2), max(f(S) for S in combinations(range(f.n), 2))
        fitting = [name for name, kind in sw.methods.METHODS.items() if kind().missing(f, pairs) is None]
        assert f.bounds is None or not set(fitting) & set(UNBOUNDED_ONLY)
        for method in fitting:
            result = sw.maximize(f, pairs, method)
            assert f.bounds is None or f.bounds.hold(result.coef)
            assert result.value == pytest.approx(f.value_at(result.coef), abs=1e-9 * max(1.0, f.scale))
            assert result.value <= best + 1e-9 * max(1.0, f.scale)
