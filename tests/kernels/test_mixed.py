"""Limits of several kinds in compiled code, against constraints that are asked about every swap."""

import numpy as np
import pytest

import swapwise as sw
from benchmarks.families.zoo import FAMILIES
from swapwise.clock import Budget
from swapwise.objectives.least_squares.system_search import MaskSearch, MixedSearch

KINDS = ["conflicts", "degrees", "few groups", "budget", "two budgets"]


def constraints(seed):
    """Return every kind by itself, and intersections of two and three, some with an element forced in."""
    random = np.random.default_rng(seed)
    made = {kind: FAMILIES[kind](random, 12).constraint for kind in [*KINDS, "size", "groups"]}
    single = [made[kind] for kind in KINDS]
    mixed = [
        sw.Intersection(*(made[kind] for kind in random.permutation([*made])[:count])) for count in (2, 3)
    ]
    for constraint in (*single, *mixed):
        forced = constraint.extend(np.empty(0, dtype=np.intp), random.permutation(12))[:1]
        yield constraint.contract(forced) if random.random() < 0.3 else constraint


@pytest.mark.parametrize("seed", range(20))
def test_searches_make_the_moves_that_a_mask_allows(seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((30, 12))
    model = sw.LeastSquares(X, X @ random.standard_normal(12) + random.standard_normal(30), ridge=0.1)
    for constraint in constraints(seed):
        every = np.arange(12)
        compiled, asked = (kind(model, constraint, 1e-10, every) for kind in (MixedSearch, MaskSearch))
        start = np.union1d(constraint.random_set(constraint.forced, random)[:3], constraint.forced)
        steps, expected = compiled.steps(start, Budget()), asked.steps(start, Budget())
        assert [step.move for step in steps] == [step.move for step in expected]
        assert compiled.value == pytest.approx(asked.value, abs=1e-12)
        assert compiled.support.tolist() == asked.support.tolist()
        barred = random.choice(np.setdiff1d(every, start), 3, replace=False)
        grown = compiled.grown(start, barred)
        assert grown.tolist() == asked._grown_one_by_one(start, barred).tolist()
        assert not np.isin(barred, grown).any()


def test_labels_of_two_kinds_are_left_to_a_mask():
    few = sw.FewGroups([0, 0, 1, 1], 1)
    assert sw.Intersection(few, sw.FewGroups([0, 1, 0, 1], 1)).mixed_limits() is None
    assert sw.Intersection(few, sw.Uniform(4, 2, at_least=1)).mixed_limits() is None
    assert sw.Intersection(few, sw.Hierarchy(4, {1: [0]})).mixed_limits() is None
