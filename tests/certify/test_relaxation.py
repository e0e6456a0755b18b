"""The perspective relaxation and what it is made of: regions, combinations, diagonals, nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

import swapwise as sw
from swapwise.certify import frank_wolfe
from swapwise.certify.frank_wolfe import ConvexCombination, FrankWolfeRelaxation, pairwise_frank_wolfe
from swapwise.certify.nodes import SetNode
from swapwise.certify.overlapping import OverlappingRelaxation
from swapwise.certify.problem import RestrictedProblem
from swapwise.certify.relaxed import RelaxedNode
from swapwise.certify.root import relaxation_start, relaxed_root, root_node
from swapwise.certify.summands import SummandNode
from swapwise.clock import Clock
from swapwise.constraints.base import MaxWeight
from swapwise.constraints.region import Region
from swapwise.theory.bounds import bound_from_concavity, bound_from_gains, bound_of_all, tangent_at
from swapwise.theory.diagonal import best_diagonal, is_valid_shift, proportional_diagonal, schur_complement
from tests.certify.problem_zoo import COMPLETE, OBJECTIVES, best_of, ising, randoms, tall, tolerance
from tests.certify.region_zoo import sets_of, some_region, weights_of
from tests.contracts import constraint_zoo as zoo
from tests.contracts.constraint_zoo import FAMILIES, SYSTEMS, some_allowed_set

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*allows only the empty set",
    "ignore:.*linearly independent",
    "ignore:.*span all that could be added",
    "ignore:.*no strong-concavity bound",
)


# Regions


def check_heaviest(region, allows, weights, exact):
    support, bound = region.max_weight(weights)
    heaviest = max(weights[sorted(s)].sum() for s in sets_of(region, allows))
    assert bound >= heaviest - 1e-9
    chosen = frozenset(support.tolist())
    assert allows(chosen)
    if exact:
        assert bound == pytest.approx(heaviest)
        assert weights[support].sum() == pytest.approx(heaviest)
        assert region.inside[support].sum() == len(region.held)
        assert not region.outside[support].any()


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=25)
@given(data=st.data())
def test_the_heaviest_set_of_a_region_of_a_matroid_is_found(family, data):
    specimen, random = data.draw(FAMILIES[family]), data.draw(randoms)
    region, weights = some_region(random, specimen.matroid), weights_of(random, specimen.matroid.n)
    check_heaviest(region, specimen.allows, weights, exact=True)
    assert weights[region.greedy_set(weights)].sum() == pytest.approx(region.max_weight(weights)[1])


@pytest.mark.parametrize("family", SYSTEMS)
@settings(max_examples=25)
@given(data=st.data())
def test_no_set_of_a_region_of_a_system_is_heavier_than_said(family, data):
    specimen, random = data.draw(SYSTEMS[family]), data.draw(randoms)
    region, weights = some_region(random, specimen.system), weights_of(random, specimen.system.n)
    exact = specimen.system.max_weight(weights).exact and not len(region.held)
    check_heaviest(region, specimen.allows, weights, exact)
    heavy = region.greedy_set(weights)
    assert specimen.allows(frozenset(heavy.tolist()))
    assert np.isin(region.held, heavy).all()
    assert not region.outside[heavy].any()


def test_three_general_matroids_are_only_bounded():
    parts = [
        sw.Graphic(COMPLETE),
        sw.Transversal(6, [[0, 1, 2], [2, 3, 4, 5], [0, 5]]),
        sw.Laminar(6, [([0, 1, 3], 1)]),
    ]
    constraint = sw.Intersection(*parts)
    assert not constraint.max_weight([3, 3, 1, 3, 1, 1]).exact
    for seed in range(20):
        random = np.random.default_rng(seed)
        check_heaviest(
            some_region(random, constraint), constraint.is_independent, weights_of(random, 6), False
        )


def test_where_the_heaviest_set_is_not_known_its_bound_counts(monkeypatch):
    half = MaxWeight(np.array([0]), 1.0, factor=0.5)
    monkeypatch.setattr(sw.OracleSystem, "_max_weight", lambda constraint, weights, clock: half)
    region = Region.of(sw.OracleSystem(4, lambda support: len(support) <= 2))
    assert region.max_weight(np.ones(4))[1] == 2
    assert region.with_inside(3).max_weight(np.array([1.0, 1.0, 1.0, 5.0]))[1] == 5 + 2


@pytest.mark.parametrize("family", [*FAMILIES, *SYSTEMS])
@settings(max_examples=10)
@given(data=st.data())
def test_the_two_parts_of_a_region_are_the_region(family, data):
    specimen, random = data.draw((FAMILIES | SYSTEMS)[family]), data.draw(randoms)
    constraint = specimen.matroid if family in FAMILIES else specimen.system
    region = some_region(random, constraint)
    assert all(
        specimen.allows(frozenset(region.held.tolist()) | {e}) for e in region.open.tolist()
    ) or not len(region.held)
    for element in region.open:
        parts = region.with_inside(int(element)), region.with_outside(int(element))
        both = [s for part in parts for s in sets_of(part, specimen.allows)]
        assert len(both) == len(set(both))
        assert set(both) == set(sets_of(region, specimen.allows))


def test_the_whole_region_holds_what_is_forced_and_no_loops():
    region = Region.of(sw.Uniform(5, 3).contract([1]).restrict([0, 1, 2]))
    assert region.held.tolist() == [1]
    assert region.open.tolist() == [0, 2]
    assert np.flatnonzero(region.outside).tolist() == [3, 4]


# Diagonals


def positive(random, n):
    A = random.standard_normal((n + 2, n)) + random.standard_normal((n + 2, 1))
    return A.T @ A


def smallest_eigenvalue(H, D):
    """Return that of H − D, relative to the size of H."""
    return np.linalg.eigvalsh(H - np.diag(D))[0] / max(np.abs(H).max(), 1e-300)


@settings(max_examples=60)
@given(randoms, st.integers(1, 6))
def test_a_proportional_diagonal_is_a_valid_shift(random, n):
    H = positive(random, n)
    D = proportional_diagonal(H)
    assert (D > 0).all()
    assert smallest_eigenvalue(H, D) >= -1e-12
    assert is_valid_shift(H, D)
    # And no multiple of it is: the matrix is at its limit.
    assert not is_valid_shift(H, 1.001 * D)
    assert smallest_eigenvalue(H, 1.001 * D) < 0


@settings(max_examples=60)
@given(randoms, st.integers(2, 6))
def test_a_fair_diagonal_leaves_collinear_columns_alone(random, n):
    A = random.standard_normal((8, n))
    A[:, 0] = [A[:, 1], -2 * A[:, 1], 0 * A[:, 1]][random.integers(3)]
    H = A.T @ A
    D = proportional_diagonal(H)
    assert D[0] == 0
    assert D[1] == 0 or not H[0, 0]
    assert (D[2:] > 0).all()
    assert smallest_eigenvalue(H, D) >= -1e-12


def test_a_matrix_with_nothing_to_spare_spares_nothing():
    assert proportional_diagonal(np.ones((3, 3))).tolist() == [0, 0, 0]
    assert proportional_diagonal(np.zeros((2, 2))).tolist() == [0, 0]
    assert proportional_diagonal(np.empty((0, 0))).tolist() == []


@settings(max_examples=30)
@given(randoms)
def test_a_fair_diagonal_scales_with_the_elements(random):
    H, lengths = positive(random, 4), 10.0 ** random.integers(-4, 5, 4)
    scaled = proportional_diagonal(H * np.outer(lengths, lengths))
    np.testing.assert_allclose(scaled, proportional_diagonal(H) * lengths**2, rtol=1e-6)


def check_best(H, worth, optimum, precision):
    D = best_diagonal(H, worth, proportional_diagonal(H), precision)
    assert (D >= 0).all()
    assert smallest_eigenvalue(H, D) >= -1e-12
    # And a little is kept back against rounding.
    assert (1 - precision - 1e-3) * optimum <= worth @ D <= optimum * (1 + 1e-9)


@settings(max_examples=40)
@given(randoms)
def test_the_best_diagonal_of_two_elements(random):
    """(a − D₁)(b − D₂) = c² at the best, where the square roots of the worths share c."""
    H, worth = positive(random, 2), random.random(2) + 1e-3
    (a, c), (_, b) = H
    shares = np.sqrt(worth)
    rest = abs(c) * shares[::-1] / shares  # what is left: worth₁ rest₁ = worth₂ rest₂
    candidates = [np.array([a, b]) - rest, np.array([a - c**2 / b, 0.0]), np.array([0.0, b - c**2 / a])]
    optimum = max(worth @ D for D in candidates if (D >= 0).all())
    check_best(H, worth, optimum, precision=float(random.choice([0.1, 0.03, 1e-3])))


@settings(max_examples=15)
@given(randoms)
def test_the_best_diagonal_of_three_elements(random):
    """Against a general solver: H − D has a factor, whatever the factor."""
    H, worth = positive(random, 3), random.random(3) + 0.05
    H /= np.abs(H).max()

    def least(D):
        return np.linalg.eigvalsh(H - np.diag(D))[0]

    start = 0.5 * proportional_diagonal(H)
    found = minimize(
        lambda D: -worth @ D,
        start,
        bounds=[(0, None)] * 3,
        constraints=[{"type": "ineq", "fun": least}],
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-10},
    )
    feasible = np.clip(found.x, 0, None)
    feasible -= max(0.0, -least(feasible))
    reached = worth @ feasible if (feasible >= 0).all() else 0.0
    D = best_diagonal(H, worth, proportional_diagonal(H), 1e-3)
    assert (D >= 0).all()
    assert least(D) >= -1e-12
    assert worth @ D >= (1 - 2e-3) * reached - 1e-9


def test_is_spared_knows_too_much_from_enough():
    H = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert is_valid_shift(H, np.array([0.999, 0.999]))
    assert not is_valid_shift(H, np.array([1.001, 1.001]))
    assert not is_valid_shift(H, np.array([2.1, 0.0]))
    assert not is_valid_shift(np.ones((2, 2)), np.array([1e-9, 0.0]))
    assert is_valid_shift(np.empty((0, 0)), np.empty(0))


@settings(max_examples=30)
@given(randoms, st.integers(2, 6))
def test_a_schur_complement_is_the_least_over_the_free_elements(random, n):
    H, free = positive(random, n), random.random(n) < 0.5
    free[0], free[1] = True, False
    rest, x = schur_complement(H, free), random.standard_normal((~free).sum())
    best = np.zeros(n)
    best[~free] = x
    best[free] = -np.linalg.solve(H[np.ix_(free, free)], H[np.ix_(free, ~free)] @ x)
    assert x @ rest @ x == pytest.approx(best @ H @ best)


# Mixtures


def test_equal_sets_share_and_small_shares_go():
    a, b = np.array([0, 1]), np.array([1, 2])
    combination = ConvexCombination([a, b, a.copy(), np.array([3])], [0.25, 0.5, 0.25, 1e-15])
    assert [s.tolist() for s in combination.sets] == [[0, 1], [1, 2]]
    np.testing.assert_allclose(combination.weights, [0.5, 0.5])
    np.testing.assert_allclose(combination.point(4), [0.5, 1, 0.5, 0])


@given(randoms, st.floats(0.01, 0.99))
def test_a_blend_lies_between(random, share):
    sets = [np.sort(random.permutation(6)[:3]) for _ in range(4)]
    first, second = (ConvexCombination(random.permutation(sets), random.random(4) + 0.1) for _ in range(2))
    blended = first.blend(second, share)
    np.testing.assert_allclose(blended.point(6), (1 - share) * first.point(6) + share * second.point(6))
    assert blended.weights.sum() == pytest.approx(1)
    assert first.blend(second, 1.0).point(6) == pytest.approx(second.point(6))


def test_a_mixture_may_lose_sets_or_all_of_them():
    combination = ConvexCombination([np.array([0]), np.array([1]), np.array([0, 1])], [0.2, 0.2, 0.6])
    whole = Region.of(sw.Uniform(6, 2))
    kept = combination.within(whole.with_inside(0))
    assert [s.tolist() for s in kept.sets] == [[0], [0, 1]]
    np.testing.assert_allclose(kept.weights, [0.25, 0.75])
    assert combination.within(whole.with_outside(0)).sets[0].tolist() == [1]
    assert combination.within(whole.with_inside(5)) is None


def test_a_mixture_among_some_elements_has_their_places():
    combination = ConvexCombination([np.array([0, 3]), np.array([3, 4]), np.array([1])], [0.2, 0.2, 0.6])
    kept = combination.among(np.array([1, 3, 4]))
    assert [s.tolist() for s in kept.sets] == [[1, 2], [0]]
    np.testing.assert_allclose(kept.weights, [0.25, 0.75])
    assert combination.among(np.array([0, 2])) is None


def heaviest_pair(now):
    return np.sort(np.argsort(-now)[:2])


@settings(max_examples=40)
@given(randoms)
def test_climbing_again_and_again_ends_at_the_best_mixture(random):
    n, k = 5, 2
    B = random.standard_normal((4, n))
    curve, slope = B.T @ B, random.random(n) * 3
    combination = start = ConvexCombination([np.array([0, 1])], [1.0])
    way = np.zeros(n)

    def model(way):
        return slope @ way - way @ curve @ way / 2

    for _ in range(40):
        now = slope - curve @ way
        combination = pairwise_frank_wolfe(combination, np.arange(n), now, curve, heaviest_pair, 60, 1e-9)
        before, way = way, combination.point(n) - start.point(n)
        assert model(way) >= model(before) - 1e-12
        assert combination.weights.sum() == pytest.approx(1)
        assert (combination.weights > 0).all()
    best = minimize(
        lambda z: -model(z - start.point(n)),
        np.full(n, k / n),
        jac=lambda z: curve @ (z - start.point(n)) - slope,
        bounds=[(0, 1)] * n,
        constraints=[{"type": "eq", "fun": lambda z: z.sum() - k}],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert model(way) == pytest.approx(-best.fun, rel=1e-4, abs=1e-6)


@settings(max_examples=40)
@given(randoms)
def test_climbing_makes_the_best_of_the_sets_at_hand(random):
    """None that has a share is liked less than another."""
    n, B = 6, random.standard_normal((5, 6))
    start = ConvexCombination([np.sort(random.permutation(n)[:2]) for _ in range(5)], random.random(5) + 0.1)
    curve, slope = B.T @ B, random.random(n)
    end = pairwise_frank_wolfe(start, np.arange(n), slope, curve, lambda now: start.sets[0], 3000, 1e-7)
    left = slope - curve @ (end.point(n) - start.point(n))
    liked = [left[support].sum() for support in end.sets]
    assert max(liked) - min(liked) <= 1e-6
    assert max(liked) >= max(left[support].sum() for support in start.sets) - 1e-6


def test_climbing_needs_only_the_elements_at_hand():
    start, elements = ConvexCombination([np.array([2, 7])], [1.0]), np.array([2, 5, 7])
    slope, curve = np.array([1.0, 3.0, 2.0]), np.zeros((3, 3))
    end = pairwise_frank_wolfe(start, elements, slope, curve, lambda now: np.array([5, 7]), 10, 0.0)
    assert [s.tolist() for s in end.sets] == [[5, 7]]


# The relaxation


def strongly_concave_problem(random, n=6):
    """Return an objective of which every element has a strong-concavity margin, and its diagonal.

    The objective is as it was made, or on fewer numbers: by its inner products.
    """
    kind = random.choice(["tall", "ridge", "logistic", "ising"])
    if kind == "ridge":
        X, y = random.standard_normal((3, n)), random.standard_normal(3)
        objective = sw.LeastSquares(X, y, ridge=float(random.choice([0.1, 1.0])))
    elif kind == "ising":
        objective = sw.graphs.IsingPseudoLikelihood(ising(random, n).spins.T, 0.2, edges=COMPLETE)
    else:
        objective = OBJECTIVES[kind](random, n)
    problem = RestrictedProblem(objective)
    if random.random() < 0.6:
        problem = problem.among(np.arange(n), Clock())
    return problem.objective, problem.diagonal


def some_combination(random, region, allows, count=3):
    sets = sets_of(region, allows)
    chosen = [np.array(sorted(sets[i]), dtype=np.intp) for i in random.integers(len(sets), size=count)]
    return ConvexCombination(chosen, random.random(count) + 0.1)


def phi(relaxation, z):
    relaxation.point, relaxation.coef = z.copy(), np.zeros(len(z))
    relaxation._fit()
    relaxation.dual = dual_at(relaxation, relaxation.coef)
    return relaxation.value


def dual_at(relaxation, coef):
    """Return the bound that any coefficients prove."""
    relaxation.coef, objective = coef, relaxation.objective
    steepness = np.sqrt(np.diag(objective.hessian_at(coef, np.flatnonzero(coef))))
    return relaxation._dual_at(objective.value_at(coef), objective.gradient_at(coef), steepness)


def by_products(objective):
    """Return the whole problem as proofs see it."""
    return RestrictedProblem(objective).among(np.arange(objective.n), Clock())


def some_specimen(random):
    names = ["partition", "graphic", "transversal", "bmatching", "intersection", "crowded intersection"]
    while True:
        name = random.choice(names)
        builder = zoo.SYSTEM_BUILDERS.get(name) or getattr(zoo, name)
        specimen = builder(random)
        constraint = getattr(specimen, "matroid", None) or specimen.system
        if constraint.n == 6:
            return constraint, specimen.allows


@settings(max_examples=60)
@given(randoms)
def test_on_a_set_the_relaxation_is_f(random):
    objective, diagonal = strongly_concave_problem(random)
    region = Region.of(sw.Uniform(6, 6))
    support = np.flatnonzero(random.random(6) < 0.5)
    relaxation = FrankWolfeRelaxation(objective, region, diagonal, ConvexCombination([support], [1.0]))
    assert relaxation.value == pytest.approx(objective(support), abs=1e-10)
    np.testing.assert_allclose(relaxation.coef, objective.coef(support), atol=1e-5)


@settings(max_examples=60)
@given(randoms)
def test_between_sets_the_relaxation_is_concave(random):
    objective, diagonal = strongly_concave_problem(random)
    relaxation = FrankWolfeRelaxation(objective, Region.of(sw.Uniform(6, 6)), diagonal)
    ends = [(random.random(6) < 0.5) * random.random(6) for _ in range(2)]
    values = [phi(relaxation, z) for z in ends]
    assert phi(relaxation, sum(ends) / 2) >= sum(values) / 2 - 1e-9


@settings(max_examples=60)
@given(randoms)
def test_every_point_proves_a_bound_on_a_region(random):
    objective, diagonal = strongly_concave_problem(random)
    constraint, allows = some_specimen(random)
    region = some_region(random, constraint)
    best = best_of(objective, sets_of(region, allows))
    relaxation = FrankWolfeRelaxation(objective, region, diagonal)
    duals = [relaxation.dual]
    for _ in range(int(random.integers(4))):
        relaxation.improve(0.0, 0.0)
        duals.append(relaxation.dual)
    duals.append(dual_at(relaxation, random.standard_normal(6)))
    for dual in duals:
        assert dual.bound >= best - tolerance(objective, best)
        assert dual.bound == pytest.approx(dual.bound_on(region))
        for element in region.open:
            for part in (region.with_inside(int(element)), region.with_outside(int(element))):
                inner = best_of(objective, sets_of(part, allows))
                assert dual.bound_on(part) >= inner - tolerance(objective, best)


@settings(max_examples=60)
@given(randoms)
def test_fractional_sets_are_worth_no_more_than_the_bound_and_only_improve(random):
    objective, diagonal = strongly_concave_problem(random)
    constraint, allows = some_specimen(random)
    region = some_region(random, constraint)
    relaxation = FrankWolfeRelaxation(objective, region, diagonal, some_combination(random, region, allows))
    first = relaxation.dual.bound - relaxation.value
    for _ in range(6):
        before = relaxation.value
        assert relaxation.dual.bound >= before - tolerance(objective, before)
        rose = relaxation.improve(0.0, 0.0)
        assert relaxation.value >= before - tolerance(objective, before, 1e-10)
        assert not rose or relaxation.value > before
        assert relaxation.point == pytest.approx(relaxation.combination.point(6))
        for support in relaxation.combination.sets:
            assert frozenset(support.tolist()) in sets_of(region, allows)
    assert relaxation.dual.bound - relaxation.value <= max(first, 1e-9)


def test_a_step_that_would_lower_the_value_is_shortened_or_not_taken(monkeypatch):
    problem = by_products(tall(np.random.default_rng(0), 8))
    relaxation = FrankWolfeRelaxation(problem.objective, Region.of(sw.Uniform(8, 3)), problem.diagonal)
    while relaxation.improve(0.0, 0.0):
        pass
    value, point = relaxation.value, relaxation.point
    worst = ConvexCombination([np.sort(np.argsort(relaxation.dual.weights)[:3])], [1.0])
    monkeypatch.setattr(frank_wolfe, "pairwise_frank_wolfe", lambda *arguments: worst)
    assert not relaxation.improve(0.0, 0.0)
    assert relaxation.value == pytest.approx(value, abs=1e-12)
    np.testing.assert_allclose(relaxation.point, point)


@pytest.mark.parametrize("seed", range(6))
def test_bound_and_value_meet_at_the_best_fractional_set(seed):
    problem = by_products(tall(np.random.default_rng(seed), 8))
    relaxation = FrankWolfeRelaxation(problem.objective, Region.of(sw.Uniform(8, 3)), problem.diagonal)
    while relaxation.improve(0.0, 0.0):
        pass
    assert relaxation.dual.bound == pytest.approx(relaxation.value, rel=1e-4)


@settings(max_examples=30)
@given(randoms)
def test_weights_are_the_slope_of_the_relaxation(random):
    objective, diagonal = strongly_concave_problem(random)
    relaxation = FrankWolfeRelaxation(objective, Region.of(sw.Uniform(6, 3)), diagonal)
    z = random.uniform(0.2, 0.8, 6)
    phi(relaxation, z)
    weights, step = relaxation.dual.weights, 1e-4
    for i, unit in enumerate(np.eye(6)):
        slope = (phi(relaxation, z + step * unit) - phi(relaxation, z - step * unit)) / (2 * step)
        assert weights[i] == pytest.approx(slope, rel=1e-4, abs=1e-6)


@settings(max_examples=30)
@given(randoms)
def test_the_curve_is_that_of_the_relaxation(random):
    """Also for elements at 0, where the derivative is one-sided."""
    objective, diagonal = strongly_concave_problem(random)
    relaxation = FrankWolfeRelaxation(objective, Region.of(sw.Uniform(6, 3)), diagonal)
    z = random.uniform(0.2, 0.8, 6) * (random.random(6) < 0.8)
    phi(relaxation, z)
    elements = np.sort(random.permutation(6)[:4])
    curve = relaxation._curve(elements)
    for column, i in enumerate(elements):
        # Fits of other losses are not exact enough for a small step.
        step = 1e-6 if objective.curvature_is == "hessian" else 1e-3
        behind, ahead = z.copy(), z.copy()
        ahead[i] += step
        behind[i] -= step * (z[i] > 0)
        weights = [phi(relaxation, point) and relaxation.dual.weights[elements] for point in (behind, ahead)]
        bend = (weights[0] - weights[1]) / (ahead[i] - behind[i])
        if objective.curvature_is == "hessian" or z[i] > 0:
            np.testing.assert_allclose(curve[:, column], bend, rtol=1e-3, atol=1e-3 * np.abs(curve).max())


def test_elements_without_a_charge_are_used_at_will():
    random = np.random.default_rng(0)
    X = random.standard_normal((9, 5))
    X[:, 1] = X[:, 0]
    problem, region = by_products(sw.LeastSquares(X, random.standard_normal(9))), Region.of(sw.Uniform(5, 2))
    objective, diagonal = problem.objective, problem.diagonal
    assert (diagonal > 0).tolist() == [False, False, True, True, True]
    relaxation = FrankWolfeRelaxation(objective, region, diagonal, ConvexCombination([np.array([2])], [1.0]))
    assert relaxation.point.tolist() == [1, 1, 1, 0, 0]
    assert relaxation.value == pytest.approx(objective([0, 1, 2]))
    np.testing.assert_allclose(relaxation.slope[:2], 0, atol=1e-8)


def test_another_diagonal_gives_another_bound_that_holds():
    problem, constraint = by_products(tall(np.random.default_rng(1), 6)), sw.Uniform(6, 2)
    objective, fair = problem.objective, problem.diagonal
    relaxation = FrankWolfeRelaxation(objective, Region.of(constraint), fair)
    relaxation.improve(0.0, 0.0)
    best = sw.maximize(objective, constraint, "exhaustive").value
    value = relaxation.value
    relaxation.set_diagonal(0.1 * fair)
    assert relaxation.value > value
    assert relaxation.dual.bound >= best


# Nodes


def sets_at(node, allows, region=None):
    """Return the sets of a node's region, or of a part of it, in the numbers of the ground set."""
    numbers = node.whole(np.arange(len(node.region.inside)))

    def whole(chosen):
        return frozenset(numbers[sorted(chosen)].tolist())

    return [whole(s) for s in sets_of(region or node.region, lambda chosen: allows(whole(chosen)))]


def check_node(objective, node, allows, target):
    """Tighten a node: its bound holds, and no set that exceeds the target is lost."""
    sets = sets_at(node, allows)
    best = best_of(objective, sets)
    node.tighten(target, Clock())
    assert node.bound >= min(best, target) - tolerance(objective, best)
    kept = sets_at(node, allows)
    better = [s for s in sets if objective(sorted(s)) > target + tolerance(objective, target)]
    largest = [s for s in better if not any(s < other for other in sets)]
    assert set(largest) <= set(kept)
    if better:
        assert node.bound >= best - tolerance(objective, best)
    assert np.isin(node.region.held, node.candidate()).all()
    assert allows(frozenset(node.whole(node.candidate()).tolist()))
    if len(node.region.open):
        element = node.split()
        assert element in node.region.open
        for region in (node.region.with_inside(element), node.region.with_outside(element)):
            part = node.part(region)
            assert part.bound <= node.bound + tolerance(objective, best)
            inner = best_of(objective, sets_at(node, allows, region))
            assert part.bound >= min(inner, target) - tolerance(objective, best)
            if inner > target + tolerance(objective, target):
                assert part.bound >= inner - tolerance(objective, best)
        return node.part(node.region.with_inside(element)), node.part(node.region.with_outside(element))
    return ()


@settings(max_examples=60)
@given(randoms)
def test_nodes_of_the_relaxation_lose_no_set_above_the_target(random):
    objective, diagonal = strongly_concave_problem(random)
    constraint, allows = some_specimen(random)
    region = some_region(random, constraint)
    values = sorted({objective(sorted(s)) for s in sets_of(region, allows)})
    target = values[int(random.integers(len(values)))] * (1 + 1e-9) if random.random() < 0.8 else 0.0
    node = RelaxedNode(RestrictedProblem(objective, diagonal), region)
    for part in check_node(objective, node, allows, target):
        check_node(objective, part, allows, target)
        sets = sets_at(part, allows)
        if sets and not isinstance(part._relax(), OverlappingRelaxation):  # sets within some limits
            assert part.fractional == pytest.approx(in_the_hull(part.fractional, sets), abs=1e-6)


def in_the_hull(z, sets):
    """Return the convex combination of sets that is nearest to a fractional set."""
    members = np.array([[float(e in s) for e in range(len(z))] for s in sets])
    penalty = 1e4  # for weights that do not sum to 1
    rows = np.vstack([members.T, np.full(len(sets), penalty)])
    return nnls(rows, np.append(z, penalty))[0] @ members


@settings(max_examples=60)
@given(randoms)
def test_nodes_of_set_functions_lose_no_set_above_the_target(random):
    kind = random.choice(["coverage", "facility_location", "linear", "monotone", "submodular", "wide"])
    objective = OBJECTIVES[kind](random, 6)
    constraint, allows = some_specimen(random)
    region = some_region(random, constraint)
    values = [objective(sorted(s)) for s in sets_of(region, allows)]
    target = float(random.choice(values))
    for part in check_node(objective, SetNode(objective, region), allows, target):
        check_node(objective, part, allows, target)


@settings(max_examples=30)
@given(randoms)
def test_nodes_of_blocks_lose_no_set_above_the_target(random):
    objective = sw.graphs.IsingPseudoLikelihood(ising(random, 6).spins.T, 0.2, edges=COMPLETE)
    constraint, allows = some_specimen(random)
    support = constraint.random_set(constraint.forced, random)
    node = root_node(objective, Region.of(constraint), support, Clock())
    assert isinstance(node, SummandNode)
    for _ in range(int(random.integers(3))):
        if len(node.region.open):
            element = int(random.choice(node.region.open))
            part = [node.region.with_inside, node.region.with_outside][random.integers(2)](element)
            anew = SummandNode(objective, node._table, part)
            node = node.part(part)
            assert node.bound == pytest.approx(anew.bound)
    values = [objective(sorted(s)) for s in sets_of(node.region, allows)]
    target = float(random.choice(values))
    for part in check_node(objective, node, allows, target):
        check_node(objective, part, allows, target)


@pytest.mark.parametrize(
    "constraint",
    [sw.Uniform(8, 3), sw.Intersection(sw.Partition(list("aabbccdd"), 1), sw.Partition(list("abababab"), 2))],
    ids=repr,
)
def test_a_better_diagonal_lowers_the_bound_and_is_still_a_valid_shift(constraint):
    problem = by_products(tall(np.random.default_rng(3), 8))
    node = RelaxedNode(problem, Region.of(constraint))
    fair = node.diagonal
    for _ in range(5):
        node._improve(0.0, Clock())
    before = node.bound
    for _ in range(5):
        assert node._raise_diagonal(Clock())
        node._improve(0.0, Clock())
    assert node.bound < before
    assert not np.allclose(node.diagonal, fair)
    assert is_valid_shift(problem.objective.H, node.diagonal)


def test_settled_elements_shrink_the_region():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 10))
    objective = sw.LeastSquares(X, X[:, 0] * 3 + X[:, 1] * 2 + 0.3 * random.standard_normal(60))
    constraint = sw.Uniform(10, 2)
    node = root_node(objective, Region.of(constraint), np.array([0]), Clock())
    node.tighten(objective([0, 1]) - 0.02, Clock())
    assert node.whole(node.region.held).tolist() == [0, 1]
    assert node.whole(node.candidate()).tolist() == [0, 1]
    assert node.fractional.tolist() == [1, 1, *[0] * 8]


@pytest.mark.parametrize(
    ("objective", "node"),
    [
        (sw.LeastSquares(np.eye(4), np.ones(4)), RelaxedNode),
        (sw.LeastSquares(np.ones((3, 4)), np.ones(3)), SetNode),
        (sw.LeastSquares(np.ones((3, 4)), np.ones(3), ridge=1.0), RelaxedNode),
        (sw.Linear(np.ones(4)), SetNode),
    ],
)
def test_the_relaxation_is_for_those_with_curvature_to_spare(objective, node):
    assert isinstance(root_node(objective, Region.of(sw.Uniform(4, 2)), np.array([0]), Clock()), node)


def test_elements_that_may_not_be_chosen_take_no_curvature():
    X = np.random.default_rng(0).standard_normal((9, 4))
    X[:, 3] = X[:, 0]
    objective = sw.LeastSquares(X, np.ones(9))
    node = root_node(objective, Region.of(sw.Uniform(4, 2).restrict([0, 1, 2])), np.array([0]), Clock())
    assert node.problem.elements.tolist() == [0, 1, 2]
    assert (node.diagonal > 0).all()


# Simple bounds


@settings(max_examples=60)
@given(randoms)
def test_simple_bounds_hold_on_regions_and_at_any_set(random):
    constraint, allows = some_specimen(random)
    region = some_region(random, constraint)
    support = np.array(sorted(some_allowed_set(random, 6, allows)), dtype=np.intp)
    for kind in ("coverage", "submodular"):
        objective = OBJECTIVES[kind](random, 6)
        best = best_of(objective, sets_of(region, allows))
        held = bound_from_gains(objective, region, region.held, Clock())[0]
        elsewhere = bound_from_gains(objective, Region.of(constraint), support, Clock())[0]
        assert min(held, elsewhere, bound_of_all(objective, region)) >= best - tolerance(objective, best)
    objective, diagonal = strongly_concave_problem(random)
    best, m = best_of(objective, sets_of(region, allows)), float(diagonal.min())
    bound = bound_from_concavity(objective, region, tangent_at(objective, support), m)
    assert bound >= best - tolerance(objective, best)


# Starting from the relaxation

CONSTRAINTS = [
    sw.Uniform(6, 2),
    sw.Graphic(COMPLETE),
    sw.Graphic(COMPLETE).contract([3]),
    sw.BMatching.complete(4, 1),
    sw.Intersection(sw.Graphic(COMPLETE), sw.Partition(list("aabbcc"), 1)),
    sw.Intersection(
        sw.Partition(list("abcabc"), 1), sw.Partition(list("aabbcc"), 1), sw.Partition(list("aaabbb"), 2)
    ),
]


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=repr)
@pytest.mark.parametrize("kind", ["tall", "logistic"])
def test_the_relaxation_suggests_a_maximal_set_that_search_improves(constraint, kind):
    for seed in range(3):
        objective = OBJECTIVES[kind](np.random.default_rng(seed), 6)
        start = relaxation_start(objective, constraint, Clock())
        assert constraint.is_independent(start)
        assert np.isin(constraint.forced, start).all()
        assert not (constraint.addable(start) & ~np.isin(np.arange(6), start)).any()
        result = sw.maximize(objective, constraint, start="relaxation")
        assert result.value >= objective(start) - 1e-12
        assert constraint.is_independent(result.support)
        assert result.status == "LOCAL_OPTIMUM"
        assert (
            sw.maximize(objective, constraint, start="relaxation", max_iter=0).support.tolist()
            == start.tolist()
        )


def test_what_may_be_better_suggests_better_starts():
    """A fractional set that is near the best of all sets, and one that is near the best of those above it."""
    starts, firsts = [], []
    for seed in range(12):
        random = np.random.default_rng(seed)
        X = random.standard_normal((100, 6)) @ random.standard_normal((6, 40)) + random.standard_normal(
            (100, 40)
        )
        objective = sw.LeastSquares(X, X[:, :8].sum(axis=1) + 4 * random.standard_normal(100))
        constraint = sw.Partition(np.arange(40) // 5, 2).truncate(8)
        starts.append(objective(relaxation_start(objective, constraint, Clock())))
        region = Region.of(constraint)
        root = relaxed_root(objective, region)
        root.tighten(0.0, Clock())
        firsts.append(objective(constraint.extend(region.greedy_set(root.fractional), np.arange(40))))
    assert (np.array(starts) >= np.array(firsts) - 1e-12).all()
    assert np.mean(starts) > np.mean(firsts) + 1e-3


def test_ising_models_start_from_the_relaxation_too():
    objective = ising(np.random.default_rng(0), 6)
    constraint = sw.BMatching(objective.edges, 1)
    result = sw.maximize(objective, constraint, start="relaxation")
    assert constraint.is_independent(result.support)
    assert result.value > 0


@pytest.mark.parametrize(
    "objective",
    [
        sw.LeastSquares(np.ones((3, 4)), np.ones(3)),
        sw.LeastSquares(np.random.default_rng(0).standard_normal((2, 4)), np.ones(2)),
        sw.Coverage([{1}, {2}, {3}, {4}]),
        sw.Linear(np.ones(4)),
    ],
    ids=repr,
)
def test_no_start_from_the_relaxation_without_curvature_to_spare(objective):
    with pytest.raises(
        ValueError, match=r"needs an objective with a strong-concavity bound \(a ridge.*start='greedy'"
    ):
        sw.maximize(objective, sw.Uniform(4, 2), start="relaxation")


def test_how_many_features_a_start_from_the_relaxation_takes_is_said(monkeypatch):
    from swapwise.certify import problem
    from swapwise.objectives.least_squares import objective as least_squares

    monkeypatch.setattr(problem, "PRODUCTS_UP_TO", 3)
    monkeypatch.setattr(least_squares, "EIGENVALUES_UP_TO", 3)
    f = sw.LeastSquares(np.random.default_rng(0).standard_normal((9, 4)), np.arange(9.0))
    with pytest.raises(
        ValueError, match=r"no more than 3000 features\); LeastSquares\(9 samples, 4 features"
    ):
        sw.maximize(f, sw.Uniform(4, 2), start="relaxation")


def test_only_local_search_starts_from_the_relaxation():
    objective = sw.LeastSquares(np.eye(4), np.ones(4))
    with pytest.raises(ValueError, match="start is an option of local search"):
        sw.maximize(objective, sw.Uniform(4, 2), "greedy", start="relaxation")


def test_with_no_time_the_start_from_the_relaxation_is_the_empty_set():
    objective = sw.LeastSquares(np.eye(4), np.ones(4))
    result = sw.maximize(objective, sw.Uniform(4, 2).contract([2]), start="relaxation", time_limit=0)
    assert result.status == "TIME_LIMIT"
    assert result.support.tolist() == [2]
