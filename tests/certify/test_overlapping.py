"""Fractional sets within limits that overlap, and the limits themselves."""

import numpy as np
import pytest
from hypothesis import given, settings

import swapwise as sw
from swapwise.certify.frank_wolfe import FrankWolfeRelaxation
from swapwise.certify.limits import SetLimits, parts_of
from swapwise.certify.overlapping import OverlappingRelaxation
from swapwise.certify.problem import RestrictedProblem
from swapwise.clock import Clock
from swapwise.constraints.algorithms.spans import VIOLATED, violated_spans
from swapwise.constraints.region import Region
from tests.certify.problem_zoo import best_of, randoms, tall
from tests.certify.region_zoo import sets_of, some_region, weights_of
from tests.contracts import constraint_zoo as zoo

pytestmark = pytest.mark.filterwarnings("ignore:.*allows only the empty set", "ignore:.*linearly independent")

TRIANGLES = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "e"), ("c", "e"), ("a", "d"), ("b", "e")]
MATROIDS = [
    sw.Graphic(TRIANGLES),
    sw.Transversal(8, [[0, 1, 2, 7], [2, 3, 4], [4, 5, 6, 7]]),
    sw.LinearMatroid(np.random.default_rng(0).integers(-1, 2, (4, 8)).astype(float)),
    sw.Partition(list("aaabbbcc"), 3, {"a": 1, "c": 2}, size=4),
]
OTHERS = [
    sw.BMatching(TRIANGLES, 1),
    sw.Intersection(sw.Partition(list("aaabbbcc"), 1), sw.Partition(list("xyzxyzxy"), 1)),
    sw.Intersection(sw.Graphic(TRIANGLES), sw.Partition(list("aabbccdd"), 1)),
]


def relaxed(objective, region):
    """Return the relaxation at its end."""
    problem = RestrictedProblem(objective).among(np.arange(objective.n), Clock())
    parts = parts_of(region.constraint)
    relaxation = OverlappingRelaxation(
        problem.objective, region, problem.diagonal, problem.working_set, parts
    )
    for _ in range(60):
        if not relaxation.improve(-1.0, 1e-6):
            break
    return relaxation


# Limits


@settings(max_examples=150)
@given(randoms)
def test_every_allowed_set_is_within_the_limits(random):
    builders = [*zoo.SYSTEM_BUILDERS.values(), zoo.graphic, zoo.transversal, zoo.between]
    specimen = builders[random.integers(len(builders))](random)
    constraint = getattr(specimen, "matroid", None) or specimen.system
    parts = parts_of(constraint)
    if parts is None:
        assert not isinstance(constraint, sw.Intersection | sw.BMatching | sw.Graphic | sw.Transversal)
        return
    for chosen in sets_of(Region.of(constraint), specimen.allows):
        point = np.array([float(e in chosen) for e in range(constraint.n)])
        assert (parts.limits.loads(point) <= parts.limits.capacity).all()


@settings(max_examples=150)
@given(randoms)
def test_what_weighs_more_than_any_set_violates_a_span(random):
    specimen = zoo.basic(random)
    matroid, n = specimen.matroid, specimen.matroid.n
    region = some_region(random, matroid)
    sets = sets_of(region, specimen.allows)
    weights = np.where(region.outside, 0.0, weights_of(random, n))
    point = np.where(region.outside, 0.0, np.where(region.inside, 1.0, random.random(n)))
    found = violated_spans(matroid, region.held, weights, point)
    for members, capacity in found:
        assert max(len(chosen & set(members.tolist())) for chosen in specimen.independent_sets()) == capacity
        assert point[members].sum() > capacity + VIOLATED
    heaviest = max(sum(weights[e] for e in chosen) for chosen in sets)
    if weights @ point > heaviest + 2 * VIOLATED * (1 + weights.sum()):
        assert found


def test_limits_follow_their_elements():
    limits = SetLimits.of([([0, 2, 3], 2), ([1, 3], 1)]).with_others(SetLimits.of([([0, 1], 1)], part=1))
    assert limits.part.tolist() == [0, 0, 1]
    assert limits.costs(np.array([1.0, 2.0, 4.0]), 4).tolist() == [5, 6, 1, 3]
    some = limits.among(np.array([1, 3]))
    assert (some.members.tolist(), some.sets.tolist()) == ([1, 0, 1, 0], [0, 1, 1, 2])
    last = limits.only(np.array([False, True, True]))
    assert (last.members.tolist(), last.sets.tolist()) == ([1, 3, 0, 1], [0, 0, 1, 1])


# The relaxation


@pytest.mark.parametrize("constraint", [*MATROIDS, *OTHERS[1:]], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_that_of_the_best_combination_of_sets(constraint, seed):
    """Graphs may have more limits than those of their vertices, so that b-matchings are not among these."""
    objective, region = tall(np.random.default_rng(seed), 8), Region.of(constraint)
    relaxation = relaxed(objective, region)
    problem = RestrictedProblem(objective).among(np.arange(8), Clock())
    other = FrankWolfeRelaxation(problem.objective, region, problem.diagonal)
    while other.improve(-1.0, 0.0):
        pass
    assert other.value * (1 - 1e-6) <= relaxation.dual.bound <= other.dual.bound * (1 + 1e-3)


@settings(max_examples=60)
@given(randoms)
def test_no_set_of_a_region_is_above_the_bound(random):
    constraint = [*MATROIDS, *OTHERS][random.integers(7)]
    region, objective = some_region(random, constraint), tall(random, 8)
    sets = sets_of(region, lambda chosen: constraint.is_independent(sorted(chosen)))
    relaxation = relaxed(objective, region)
    assert relaxation.dual.bound >= best_of(objective, sets) * (1 - 1e-9)
    assert (relaxation.point[region.inside] == 1).all()
    assert (relaxation.point[region.outside] == 0).all()
    again = relaxation.start.among(np.flatnonzero(~region.outside))
    assert again.limits.members.max(initial=-1) < np.count_nonzero(~region.outside)


# Frank–Wolfe steps far out


def test_a_start_that_is_worse_than_nothing_is_not_taken():
    random = np.random.default_rng(0)
    X = 1e6 + random.standard_normal((60, 8))
    objective = sw.Poisson(X, random.poisson(2.0, 60), ridge=0.01, fit_intercept=False)
    region, diagonal = Region.of(MATROIDS[0]), np.full(8, 0.01)
    relaxation = FrankWolfeRelaxation(objective, region, diagonal)
    relaxation.coef = np.full(8, 1.0)
    relaxation.set_diagonal(diagonal)
    assert relaxation.value >= 0


def test_weights_beyond_all_numbers_prove_nothing():
    objective = tall(np.random.default_rng(0), 8)
    relaxation = FrankWolfeRelaxation(objective, Region.of(OTHERS[0]), np.full(8, 1e-3))
    dual = relaxation._dual_at(1.0, np.full(8, 1e200), np.empty(0))
    assert dual.bound == np.inf
    assert dual.bound_on(relaxation.region) == np.inf
