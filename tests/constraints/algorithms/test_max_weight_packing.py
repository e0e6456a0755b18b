from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

from swapwise.constraints.algorithms import max_weight_packing as module
from swapwise.constraints.algorithms.max_weight_packing import max_weight_packing


def complete_graph(n_vertices):
    return np.stack(np.triu_indices(n_vertices, 1), axis=1)


def loads(support, groups, capacity):
    inside = groups[support]
    return np.bincount(inside[inside >= 0], minlength=len(capacity))


def largest_weight(weights, groups, capacity):
    """Return the best of all subsets."""
    best = 0.0
    for choice in product([False, True], repeat=len(weights)):
        chosen = np.flatnonzero(choice)
        if (loads(chosen, groups, capacity) <= capacity).all():
            best = max(best, weights[chosen].sum())
    return best


def by_plain_program(weights, groups, capacity):
    """Return the largest weight by one integer program on all elements."""
    n, p = groups.shape
    matrix = csr_array((np.ones(n * p), (groups.ravel(), np.repeat(np.arange(n), p))))
    answer = milp(
        -weights,
        constraints=LinearConstraint(matrix, -np.inf, capacity),
        integrality=np.ones(n),
        bounds=(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    assert answer.status == 0
    return -answer.fun


def check_heaviest(weights, groups, capacity, expected):
    support, bound = max_weight_packing(weights, groups, capacity)
    weight = weights[support].sum()
    assert np.array_equal(support, np.unique(support))
    assert (loads(support, groups, capacity) <= capacity).all()
    assert (weights[support] > 0).all()
    assert weight == pytest.approx(expected, rel=1e-11)
    assert weight <= bound <= weight + 1e-9 * weight
    again, _ = max_weight_packing(weights, groups, capacity)
    assert np.array_equal(support, again)


@st.composite
def packings(draw):
    """Draw a small packing problem; a seed decides most of it, so that few are trivial."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p, n_groups = draw(st.integers(0, 10)), draw(st.integers(1, 3)), draw(st.integers(1, 6))
    groups = np.full((n, p), -1)
    for row in groups:
        own = random.permutation(n_groups)[:p]
        row[: len(own)] = np.where(random.random(len(own)) < 0.9, own, -1)
    capacity = random.choice(4, size=n_groups, p=[0.1, 0.5, 0.3, 0.1])
    kinds = {
        "real": random.normal(0.5, 1.0, n),
        "whole": random.integers(-2, 4, n).astype(float),
        "equal": np.ones(n),
        "nearly equal": 1.0 + 1e-8 * random.integers(0, 5, n),
        "far apart": 10.0 ** random.uniform(-12, 12, n),
    }
    return kinds[draw(st.sampled_from(sorted(kinds)))], groups, capacity


@settings(max_examples=400, deadline=None)
@given(packings(), st.booleans())
def test_nothing_is_heavier(problem, scarce):
    with pytest.MonkeyPatch.context() as patch:
        if scarce:  # start with too few columns, so that others have to be found
            patch.setattr(module, "EXTRA_COLUMNS", -1)
        check_heaviest(*problem, largest_weight(*problem))


def test_two_sides_need_no_integer_program(monkeypatch):
    monkeypatch.setattr(module, "EXTRA_COLUMNS", -1)
    monkeypatch.setattr("scipy.optimize.milp", None)
    groups = np.stack(np.divmod(np.arange(900), 30), axis=1) + np.array([0, 30])
    weights, capacity = np.random.default_rng(0).random(900), np.ones(60, dtype=int)
    check_heaviest(weights, groups, capacity, by_plain_program(weights, groups, capacity))


def test_elements_that_the_relaxation_does_without():
    """Triples that overlap much: the best packing may have elements that no price calls for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "EXTRA_COLUMNS", -1)
        for seed in range(40):
            random = np.random.default_rng(seed)
            groups = np.array([random.permutation(7)[:3] for _ in range(12)])
            weights, capacity = random.random(12), np.ones(7, dtype=int)
            check_heaviest(weights, groups, capacity, by_plain_program(weights, groups, capacity))


@pytest.mark.parametrize("n_vertices", [30, 31])
@pytest.mark.parametrize("b", [1, 2, 3])
@pytest.mark.parametrize("kind", ["real", "whole", "equal"])
def test_complete_graphs_as_by_one_plain_program(n_vertices, b, kind):
    groups, random = complete_graph(n_vertices), np.random.default_rng(b)
    n = len(groups)
    weights = {"real": random.random(n), "whole": random.integers(1, 4, n) * 1.0, "equal": np.ones(n)}[kind]
    capacity = np.full(n_vertices, b)
    check_heaviest(weights, groups, capacity, by_plain_program(weights, groups, capacity))


@pytest.mark.parametrize("seed", range(5))
def test_three_groups_each_as_by_one_plain_program(seed):
    random = np.random.default_rng(seed)
    n, side = 200, 12
    groups = random.integers(0, side, (n, 3)) + side * np.arange(3)
    weights, capacity = random.random(n), random.integers(1, 3, 3 * side)
    check_heaviest(weights, groups, capacity, by_plain_program(weights, groups, capacity))


@pytest.mark.slow
def test_a_guess_that_is_cut_short_does_no_harm(monkeypatch):
    monkeypatch.setattr(module, "NODES_FOR_A_GUESS", 1)
    random = np.random.default_rng(0)
    groups = random.integers(0, 30, (300, 3)) + 30 * np.arange(3)
    weights, capacity = random.random(300), np.full(90, 2)
    check_heaviest(weights, groups, capacity, by_plain_program(weights, groups, capacity))


def test_many_odd_blocks():
    # 20 separate triangles: the relaxation takes half of every edge, 1.5 a triangle, where 1 is possible.
    groups = (np.array([[0, 1], [0, 2], [1, 2]]) + 3 * np.arange(20)[:, None, None]).reshape(-1, 2)
    check_heaviest(np.ones(60), groups, np.ones(60, dtype=int), 20.0)


def test_elements_without_limits_are_chosen_if_they_weigh_something():
    groups = np.array([[-1, -1], [0, -1], [-1, -1], [-1, 1]])
    support, bound = max_weight_packing(np.array([2.0, 1.0, -1.0, 3.0]), groups, np.array([5, 0]))
    assert support.tolist() == [0, 1]
    assert bound == 3.0


def test_weights_that_differ_in_the_ninth_digit_are_told_apart():
    # Two ways to match a square; the solver's own tolerance is wider than what tells them apart.
    groups = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    weights = np.array([1.0, 1.0 + 1e-9, 1.0, 1.0])
    support, _ = max_weight_packing(weights, groups, np.ones(4, dtype=int))
    assert support.tolist() == [1, 3]
    # The same beside a triangle, which makes the relaxation fractional.
    groups = np.concatenate([groups, [[4, 5], [5, 6], [4, 6]]])
    weights = np.append(weights, [1.0, 1.0, 1.0 + 2e-9])
    support, _ = max_weight_packing(weights, groups, np.ones(7, dtype=int))
    assert support.tolist() == [1, 3, 6]


def test_the_complete_graph_on_300_vertices_meets_its_bound():
    groups = complete_graph(300)
    weights = np.random.default_rng(0).random(len(groups))
    support, bound = max_weight_packing(weights, groups, np.full(300, 3))
    assert bound == pytest.approx(weights[support].sum(), rel=1e-12)
    assert (loads(support, groups, np.full(300, 3)) == 3).all()


def test_an_unsolved_program_is_an_error(monkeypatch):
    class Unsolved:
        status, message = 4, "numerical trouble"

    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: Unsolved())
    with pytest.raises(RuntimeError, match="not solved: numerical trouble"):
        max_weight_packing(np.ones(3), np.zeros((3, 1), dtype=int), np.array([1]))
