"""Instances on which proofs go wrong easily: nearly collinear columns, odd scales, interrupts."""

import re
from dataclasses import replace

import numpy as np
import pytest

import swapwise as sw
from swapwise.certify import certify, leaf
from swapwise.certify.frank_wolfe import FrankWolfeRelaxation
from swapwise.certify.leaf import enumerate_leaf, is_nearly_leaf
from swapwise.certify.problem import RestrictedProblem
from swapwise.clock import Clock
from swapwise.constraints.region import Region
from swapwise.objectives.base import embed
from swapwise.search import loop

pytestmark = pytest.mark.filterwarnings("ignore:.*:UserWarning")


def check_proofs(objective, constraint, answer=None):
    """Every bound is at least the optimum, and OPTIMAL is said of nothing else."""
    best = sw.maximize(objective, constraint, "exhaustive").value
    certificate = sw.certify(objective, constraint, answer, gap=0.0, time_limit=5)
    result = sw.exact(objective, constraint, time_limit=5)
    least = best * (1 - 1e-9) - 1e-14  # differences of likelihoods round
    assert min(certificate.bounds.values()) >= least
    assert certificate.ratio * best <= certificate.value * (1 + 1e-8)
    assert result.certificate.upper_bound >= least
    assert result.status != "OPTIMAL" or result.value >= best * (1 - 1e-8)


def test_held_columns_of_very_different_lengths_hide_no_set():
    r = np.random.default_rng(0)
    X = r.standard_normal((12, 10))
    d = r.standard_normal(12)
    X[:, 2:] += d[:, None] * r.standard_normal(8)
    X[:, 1] = d
    X[:, 0] *= 1e6
    f, c = sw.LeastSquares(X, r.standard_normal(12)), sw.Uniform(10, 5).contract([0, 1])
    best = sw.maximize(f, c, "exhaustive")
    result = sw.exact(f, c)
    assert result.value == pytest.approx(best.value, abs=1e-8)


@pytest.mark.parametrize("distance", [1e-5, 1e-6])
def test_columns_close_to_the_held_ones_hide_no_set(distance):
    for seed in range(20):
        r = np.random.default_rng(seed)
        X, d = r.standard_normal((30, 7)), r.standard_normal(30)
        X[:, 1] = X[:, 0] + distance * d
        f, c = sw.LeastSquares(X, 3 * d + r.standard_normal(30)), sw.Uniform(7, 3).contract([0])
        best = sw.maximize(f, c, "exhaustive").value
        finished = enumerate_leaf(f, Region.of(c), best - 1e-6)
        assert finished is None or max(map(f, finished)) == pytest.approx(best, abs=1e-9)


def test_weak_duality_with_free_elements_of_other_lengths():
    r = np.random.default_rng(2)
    X = r.standard_normal((9, 4))
    X[:, 1] = 2 * X[:, 0]
    X[:, :2] *= 1e-3
    X[:, 2:] *= 1e3
    f, c = sw.LeastSquares(X, r.standard_normal(9)), sw.Uniform(4, 2)
    problem = RestrictedProblem(f).among(np.arange(4), Clock())
    relaxation = FrankWolfeRelaxation(problem.objective, Region.of(c), problem.diagonal)
    assert relaxation.dual.bound >= relaxation.value - 1e-12
    assert relaxation.dual.bound >= sw.maximize(f, c, "exhaustive").value - 1e-12


def test_exact_with_duplicate_columns_in_other_units(monkeypatch):
    monkeypatch.setattr(leaf, "MOST_SETS", 0)
    r = np.random.default_rng(103)
    X = r.standard_normal((12, 8))
    X[:, 1] = 2 * X[:, 0]
    X[:, 3] = X[:, 2] + X[:, 0]
    X *= 10.0 ** r.integers(-3, 4, 8)
    X[:, :4] *= 1e-4
    f, c = sw.LeastSquares(X, r.standard_normal(12)), sw.Uniform(8, 3)
    assert sw.exact(f, c).value == pytest.approx(sw.maximize(f, c, "exhaustive").value, abs=1e-8)


@pytest.mark.slow
def test_the_bound_of_the_relaxation_is_that_of_all_sets(monkeypatch):
    monkeypatch.setattr(leaf, "MOST_SETS", 0)
    r = np.random.default_rng(0)
    worst = np.inf
    for _ in range(60):
        X = r.standard_normal((8, 6))
        X[:, 1] = X[:, 0]
        f, c = sw.LeastSquares(X, r.standard_normal(8)), sw.Partition([0, 0, 1, 1, 2, 2], 1)
        best = sw.maximize(f, c, "exhaustive").value
        proven = sw.certify(f, c, gap=0.0)
        worst = min(worst, min(proven.bounds.values()) - best)
    assert worst >= -1e-12


def test_a_submodular_function_has_a_finite_bound_in_no_time():
    f = sw.FacilityLocation(np.random.default_rng(4).random((4, 8)))
    assert np.isfinite(sw.certify(f, sw.Uniform(8, 3), time_limit=0).upper_bound)


def interrupt_first_search(monkeypatch):
    """Let the next local search be interrupted, and those after it not; return the list of their calls."""
    run, calls = loop.run, []

    def interrupted(*arguments, **options):
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return run(*arguments, **options)

    monkeypatch.setattr(loop, "run", interrupted)
    return calls


def test_an_interrupt_while_a_new_best_set_is_polished_stops_exact(monkeypatch):
    monkeypatch.setattr(leaf, "MOST_SETS", 0)
    r = np.random.default_rng(1)
    X = r.standard_normal((25, 15)) + 0.5 * r.standard_normal((25, 1))
    f, c = sw.LeastSquares(X, X @ r.standard_normal(15) + 4 * r.standard_normal(25)), sw.Uniform(15, 5)
    poor = sw.maximize(f, c, start=[12, 13, 14], max_iter=0)
    monkeypatch.setattr(certify, "search_by_default", lambda *a, **k: poor)
    calls = interrupt_first_search(monkeypatch)
    assert sw.exact(f, c).status == "INTERRUPTED"
    assert len(calls) == 1


def test_an_interrupt_of_the_search_of_certify_stops_it(monkeypatch):
    r = np.random.default_rng(1)
    f, c = sw.LeastSquares(r.standard_normal((25, 15)), r.standard_normal(25)), sw.Uniform(15, 5)
    interrupt_first_search(monkeypatch)
    assert sw.certify(f, c, gap=0.0).n_nodes == 0


@pytest.mark.parametrize("most_sets", [0, leaf.MOST_SETS])
@pytest.mark.parametrize("distance", [1e-4, 1e-5, 2e-6, 3e-7])
def test_pairs_of_nearly_equal_columns(monkeypatch, most_sets, distance):
    monkeypatch.setattr(leaf, "MOST_SETS", most_sets)
    for seed in range(6):
        random = np.random.default_rng(seed)
        X = random.standard_normal((10, 8))
        X[:, 1::2] = X[:, ::2] + distance * random.standard_normal((10, 4))
        constraint = sw.Uniform(8, 4).contract([seed]) if seed % 2 else sw.Uniform(8, 4)
        check_proofs(sw.LeastSquares(X, random.standard_normal(10)), constraint)


@pytest.mark.parametrize("distance", [1e-5, 1e-6, 2e-7])
def test_a_difference_of_two_columns_that_matters(monkeypatch, distance):
    monkeypatch.setattr(leaf, "MOST_SETS", 0)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((10, 10)))[0]
    X = np.column_stack([Q[0], Q[0] + distance * Q[1], Q[2], Q[3], Q[4]])
    y = Q[1] + 0.5 * Q[2] + 0.4 * Q[3] + 0.001 * Q[4] + 0.5 * Q[5]
    check_proofs(sw.LeastSquares(X, y), sw.Uniform(5, 4))


def test_columns_that_count_as_spanned_together_but_not_apart():
    a, d, e = np.eye(10)[:3]
    X = np.column_stack([a, a + 1.2e-7 * (d + e) / 2**0.5, a + 1.1e-7 * d])
    check_proofs(sw.LeastSquares(X, d - e), sw.Uniform(3, 2), [0])


@pytest.mark.parametrize("seed", range(6))
def test_more_columns_than_their_rank_and_hardly_a_ridge(seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((10, 5)) @ random.standard_normal((5, 12))
    check_proofs(sw.LeastSquares(X, random.standard_normal(10), ridge=1e-14), sw.Uniform(12, 5))


@pytest.mark.parametrize("seed", range(3))
def test_the_least_curvature_is_not_overrated(seed):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((10, 10)))[0]
    X = np.column_stack([Q[0], 1e-2 * (Q[0] + 3e-7 * Q[1])])
    check_proofs(sw.LeastSquares(X, Q[1]), sw.Uniform(2, 2), [0])


def test_an_answer_that_explains_nothing_is_not_called_optimal():
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((10, 10)))[0]
    objective = sw.LeastSquares(Q[:, :3], Q[:, 9] + 3e-5 * Q[:, 0])
    assert sw.certify(objective, sw.Uniform(3, 1), [1]).ratio < 0.01
    offset = sw.CustomSetFunction(lambda chosen: 1e9 + len(chosen), 3, monotone=True)
    assert sw.certify(offset, sw.Uniform(3, 1), []).ratio == 0


@pytest.mark.slow
@pytest.mark.parametrize("fields", [False, True])
@pytest.mark.parametrize("scale", [1e-5, 1.0, 100.0, "heavy tails"])
@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_spins_of_any_size(fields, scale, ridge):
    for seed in range(4):
        random = np.random.default_rng(seed)
        spins = random.choice([-1.0, 1.0], (12, 4))
        spins = random.standard_cauchy((12, 4)) if scale == "heavy tails" else scale * spins
        objective = sw.graphs.IsingPseudoLikelihood(spins, ridge=ridge, fields=fields)
        check_proofs(objective, sw.BMatching(objective.edges, b=2))


class Lazy(sw.SparseObjective):
    """The fit of one pair stops half way, and the gradient tells so."""

    n = 4
    target = np.array([1.0, 1.0, 2.0, 2.0])

    def _fit(self, support):
        coef = self.target[support] * (0.1 if support.tolist() == [2, 3] else 1.0)
        return self.value_at(embed(self, support, coef)), coef

    def value_at(self, coef):
        return float(self.target @ coef - coef @ coef / 2)

    def gradient_at(self, coef):
        return self.target - coef


def test_a_fit_that_falls_short_is_not_proven_to_be_the_best():
    result = sw.exact(Lazy(), sw.Uniform(4, 2))
    assert result.status == "COMPLETE"
    assert result.certificate.upper_bound >= 4
    assert re.fullmatch(r"the value of \[\d, \d\] is only known to lie .*", result.certificate.doubt), (
        result.certificate.doubt
    )
    assert f"; not more because {result.certificate.doubt})" in repr(result.certificate)


@pytest.mark.parametrize("claim", ["monotone", "submodular"])
def test_a_function_that_is_not_what_it_says_is_found_out(claim):
    square = sw.CustomSetFunction(lambda chosen: float(len(chosen) ** 2), 8, **{claim: True})
    falling = sw.CustomSetFunction(lambda chosen: -float(len(chosen)), 8, **{claim: True})
    wrong = square if claim == "submodular" else falling
    with pytest.warns(UserWarning, match="nothing is proven"):
        result = sw.exact(wrong, sw.Uniform(8, 3))
    assert result.status == "COMPLETE"
    assert result.certificate.ratio == 0
    assert repr(result.certificate).startswith("Certificate(nothing proven: value ")
    assert result.certificate.doubt == "values of the objective contradict the properties that it declares"


def test_a_part_is_not_lost_between_its_halves(monkeypatch):
    from swapwise.certify.branching import BranchAndBound

    monkeypatch.setattr(leaf, "MOST_SETS", 0)
    random = np.random.default_rng(0)
    X = random.standard_normal((25, 12)) + 0.5 * random.standard_normal((25, 1))
    objective, constraint = sw.LeastSquares(X, random.standard_normal(25)), sw.Uniform(12, 4)
    best = sw.maximize(objective, constraint, "exhaustive").value
    put = BranchAndBound._put
    for stop in range(2, 9):
        calls = []

        def interrupted(self, node, stop=stop, calls=calls):
            calls.append(None)
            if len(calls) == stop:
                raise KeyboardInterrupt
            put(self, node)

        monkeypatch.setattr(BranchAndBound, "_put", interrupted)
        assert sw.exact(objective, constraint).certificate.upper_bound >= best * (1 - 1e-9)


def test_spins_with_fields_are_bounded_vertex_by_vertex():
    random = np.random.default_rng(0)
    objective = sw.graphs.IsingPseudoLikelihood(random.choice([-1.0, 1.0], (50, 6)), ridge=0.01, fields=True)
    certificate = sw.certify(objective, sw.BMatching(objective.edges, b=2), gap=0.0)
    assert "blocks" in certificate.bounds
    assert certificate.optimal or certificate.better is not None


def test_parts_of_a_sum_bound_the_whole():
    """f of a set is at most the sum of what its summands do not exceed; at the prices' set it is equal."""
    random = np.random.default_rng(0)
    for fields in (False, True):
        for ridge in (0.0, 0.1):
            spins = random.choice([-1.0, 1.0], (40, 5))
            objective = sw.graphs.IsingPseudoLikelihood(spins, ridge=ridge, fields=fields)
            answer = np.array([0, 3, 7])
            summands = objective.summands(objective.coef(answer))
            for support in (answer, np.array([1, 2, 3]), np.arange(10), np.array([], dtype=int)):
                total = sum(
                    part.bounds(np.flatnonzero(np.isin(part.elements, support))[None])[0] for part in summands
                )
                assert total >= objective(support) - 1e-12
                if ridge and support is answer:
                    assert total == pytest.approx(objective(support), abs=1e-9)


def test_a_region_without_any_set_is_a_leaf():
    """What it holds costs more than there is to spend."""
    region = replace(Region.of(sw.Knapsack([1.0, 1.0, 1.0], 1.0)), inside=np.array([True, True, False]))
    objective = sw.LeastSquares(np.eye(3), [1.0, 2.0, 3.0])
    assert is_nearly_leaf(objective, region)
    assert not enumerate_leaf(objective, region, 0.0)
