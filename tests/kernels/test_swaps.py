"""Gains of swaps, updates and runs of best moves, against fits of each set by NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.least_squares import (
    LEAST_SHARE,
    LEVELS,
    TIE,
    Problem,
    grown,
    plain_moves,
    some_chosen,
    some_problem,
    some_tree,
)

levels = pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)
sizes, ridges = st.integers(1, 7), st.sampled_from([0.0, 0.3])


def scoring(problem, chosen):
    """Return what scores moves, in the order of the kernels' arguments."""
    inverse, coupling, coef, corr, sigma = problem.quantities(chosen)
    return coupling, coef, 1.0 / np.diag(inverse), corr, sigma, problem.floor


def plain_gain(problem, chosen, added, slot):
    kept = [j for place, j in enumerate(chosen) if place != slot]
    return problem.value([*kept, added]) - problem.value(chosen)


def all_gains(problem, chosen, slots, useful):
    gains = np.full(useful.shape, -np.inf)
    for j, i in zip(*np.nonzero(useful), strict=True):
        gains[j, i] = plain_gain(problem, chosen, j, slots[i] if i < len(slots) else -1)
    return gains


def some_mask(rng, problem, chosen):
    """Return a mask of moves that add a column that is not chosen."""
    mask = rng.random((problem.n, len(chosen) + 1)) < rng.choice([0.3, 0.7, 1.0])
    mask[chosen] = False
    return mask


@levels
@settings(max_examples=60)
@given(rng=randoms, n=sizes, ridge=ridges)
def test_gains_are_differences_of_two_fits(level, rng, n, ridge):
    problem = some_problem(rng, n, ridge)
    chosen = some_chosen(rng, problem)
    slots, useful = rng.permutation(len(chosen)), some_mask(rng, problem, chosen)
    expected = all_gains(problem, chosen, slots, useful)
    gains = level.swaps.grid_gains(useful, slots, *scoring(problem, chosen))
    np.testing.assert_allclose(gains, expected, atol=1e-9 * problem.total)
    added, column = np.nonzero(useful)
    listed = level.swaps.pair_gains(added, np.append(slots, -1)[column], *scoring(problem, chosen))
    np.testing.assert_allclose(listed, expected[useful], atol=1e-9 * problem.total)


@levels
@settings(max_examples=60)
@given(rng=randoms, n=st.integers(2, 7), ridge=ridges, most=st.integers(1, 2))
def test_so_are_those_of_larger_moves(level, rng, n, ridge, most):
    problem = some_problem(rng, n, ridge, copies=False)
    chosen = some_chosen(rng, problem)
    rest = np.setdiff1d(np.arange(n), chosen)
    rows = 6
    added = np.full((rows, most), -1)
    slots = np.full((rows, 2), -1)
    for row in range(rows):
        new = rng.permutation(rest)[: rng.integers(most + 1)]
        old = rng.permutation(len(chosen))[: rng.integers(3)]
        added[row, : len(new)], slots[row, : len(old)] = new, old
    inverse, coupling, coef, corr, sigma = problem.quantities(chosen)
    left = problem.gram + problem.ridge * np.eye(n) - coupling @ problem.gram[chosen]
    if most == 1:  # squares will do, and for what is added they stand in the only column
        left = sigma[:, None]
    places = np.maximum(added, 0)
    across = places if most > 1 else 0 * places
    args = added, places, across, slots, left, inverse, coupling, coef, corr, problem.floor
    gains = level.swaps.move_gains(*args, 1e-10)
    for gain, new, old in zip(gains, added, slots, strict=True):
        kept = [j for place, j in enumerate(chosen) if place not in old]
        expected = problem.value([*kept, *new[new >= 0]]) - problem.value(chosen)
        assert gain == pytest.approx(expected, abs=1e-8 * problem.total)


@levels
def test_columns_that_are_copies_of_each_other_are_left_to_others(level):
    rng = np.random.default_rng(0)
    problem = Problem(rng.standard_normal((8, 3))[:, [0, 1, 2, 2]], rng.standard_normal(8), 0.0)
    inverse, coupling, coef, corr, _ = problem.quantities([0])
    left = problem.gram - coupling @ problem.gram[[0]]
    added, slots = np.array([[2, 3], [1, 2]]), np.full((2, 1), -1)
    args = added, added, added, slots, left, inverse, coupling, coef, corr, problem.floor
    gains = level.swaps.move_gains(*args, 1e-6)
    assert np.isnan(gains[0])
    assert gains[1] == pytest.approx(problem.value([0, 1, 2]) - problem.value([0]))


@levels
@settings(max_examples=100)
@given(rng=randoms, n=sizes, ridge=ridges)
def test_the_best_of_a_grid_is_the_first_of_the_largest_gains(level, rng, n, ridge):
    problem = some_problem(rng, n, ridge)  # copies tie
    chosen = some_chosen(rng, problem)
    slots, feasible = rng.permutation(len(chosen)), some_mask(rng, problem, chosen)
    useful = feasible.copy()
    useful[useful[:, -1], :-1] = False  # a needless drop never pays
    gains = level.swaps.grid_gains(useful, slots, *scoring(problem, chosen))
    scale = problem.total
    index, gain, evaluated = level.swaps.best_of_grid(feasible, slots, *scoring(problem, chosen), TIE, scale)
    assert 0 <= evaluated <= feasible.size
    if not useful.any():
        assert (index, gain) == (-1, -np.inf)
        return
    first = int(np.argmax(gains >= gains.max() - TIE * (abs(gains.max()) + scale)))
    assert (index, gain) == (first, gains.flat[first])


@levels
def test_a_gain_beyond_all_bounds_is_a_move_that_exists(level):
    feasible = np.array([[True], [True], [False]])
    nothing, floor = np.zeros((3, 0)), np.full(3, 1e-3)
    corr = np.array([1.0, 1e200, 1.0])
    args = nothing, np.zeros(0), np.zeros(0), corr, np.ones(3), floor
    index, gain, _ = level.swaps.best_of_grid(feasible, np.zeros(0, dtype=int), *args, TIE, 1.0)
    assert (index, gain) == (1, np.inf)


@levels
def test_a_near_twin_is_not_overlooked(level):
    """Too little is left of it to be added, but in exchange for its twin it gains more than the other one."""
    feasible, slots, one = np.array([[True, False]] * 2), np.zeros(1, dtype=int), np.ones(1)
    coupling, corr, sigma = np.array([[1.0], [0.0]]), np.array([0.01, 1.005]), np.array([1e-9, 1.0])
    quantities = coupling, one, one, corr, sigma, np.full(2, LEAST_SHARE)
    index, gain, _ = level.swaps.best_of_grid(feasible, slots, *quantities, TIE, 1.0)
    assert (index, gain) == (0, pytest.approx(1.01**2 - 1))


@levels
@settings(max_examples=60)
@given(rng=randoms, n=sizes, ridge=ridges)
def test_the_best_of_each_row(level, rng, n, ridge):
    problem = some_problem(rng, n, ridge)
    chosen = some_chosen(rng, problem)
    slots, feasible = rng.permutation(len(chosen)), some_mask(rng, problem, chosen)
    gains = all_gains(problem, chosen, slots, feasible)
    expected = np.where(feasible[:, -1], gains[:, -1], np.maximum(gains.max(axis=1), 0.0))
    found = level.swaps.best_of_rows(feasible, slots, *scoring(problem, chosen))
    np.testing.assert_allclose(found, expected, atol=1e-9 * problem.total)


@levels
@given(rng=randoms, n=sizes, ridge=ridges)
def test_curvatures_of_pairs_are_eigenvalues(level, rng, n, ridge):
    problem = some_problem(rng, n, ridge)
    chosen = some_chosen(rng, problem)
    gram = problem.gram + ridge * np.eye(n)
    drops = rng.permutation(len(chosen))
    elements = np.array(chosen, dtype=int)[drops]
    products = problem.gram[:, chosen]
    found = level.swaps.pair_curvatures(problem.squares, elements, drops, products)
    np.testing.assert_array_equal(found[:, -1], problem.squares)
    for j in range(n):
        for i, element in enumerate(elements):
            if element != j:
                pair = gram[np.ix_([j, element], [j, element])]
                assert found[j, i] == pytest.approx(np.linalg.eigvalsh(pair)[-1], abs=1e-12)


def assert_is_fresh(problem, chosen, arrays, tolerance=1e-7):
    size = len(chosen)
    inverse, coupling, coef, corr, sigma = problem.quantities(chosen)
    np.testing.assert_allclose(arrays[0][:size, :size], inverse, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(arrays[1][:, :size], coupling, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(arrays[2][:size], coef, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(arrays[3], corr, rtol=tolerance, atol=tolerance)
    rest = np.setdiff1d(np.arange(problem.n), chosen)  # what is left of the chosen ones means nothing
    np.testing.assert_allclose(arrays[4][rest], sigma[rest], rtol=tolerance, atol=tolerance)


@levels
@settings(max_examples=60)
@given(rng=randoms, n=sizes, ridge=ridges, wide=st.booleans())
def test_updates_lead_where_fresh_inverses_do(level, rng, n, ridge, wide):
    problem = some_problem(rng, n, ridge)
    chosen = some_chosen(rng, problem)
    room = len(chosen) + 1 + 3 * wide
    arrays = inverse, coupling, coef, corr, sigma = problem.quantities(chosen, room)
    candidates = [
        j for j in range(n) if j not in chosen and sigma[j] > 1e-3 * problem.squares[j] and sigma[j] > 0
    ]
    if candidates:
        added, size = int(rng.choice(candidates)), len(chosen)
        level.swaps.insert_slot(
            size, coupling[added, :size].copy(), sigma[added], corr[added] / sigma[added],
            problem.gram[added, chosen], problem.gram[added], coupling, inverse, coef, corr, sigma,
        )  # fmt: skip
        chosen = [*chosen, added]
        assert_is_fresh(problem, chosen, arrays)
    if chosen:
        slot, size = int(rng.integers(len(chosen))), len(chosen)
        level.swaps.remove_slot(slot, size, coupling, inverse, coef, corr, sigma)
        chosen[slot] = chosen[-1]
        assert_is_fresh(problem, chosen[:-1], arrays)


class Search:
    """A call of best_moves, and where it leaves the tableau."""

    def __init__(self, level, problem, tree, fixed, start, tol=1e-9):
        self.level, self.problem, self.tree = level, problem, tree
        self.fixed, self.start, self.tol = fixed, np.array(start, dtype=int), tol
        n, room = problem.n, max(1, len(start), int(tree.capacity[0]))
        self.tableau = (
            np.empty(room, dtype=np.int64), np.full(n, -1), np.zeros((n, room)), np.zeros((room, room)),
            np.zeros(room), problem.A.T @ problem.y, problem.squares, np.zeros(3, dtype=np.int64),
            np.zeros(1),
        )  # fmt: skip

    def run(self, rounds=1000, share=0.0):
        problem = self.problem
        return self.level.swaps.best_moves(
            problem.gram, np.ones(problem.n, dtype=bool), problem.squares, problem.floor, tuple(self.tree),
            self.fixed, self.tableau, self.start, problem.total, self.tol, TIE, share, rounds,
        )  # fmt: skip

    @property
    def support(self):
        elements, place = self.tableau[:2]
        chosen = elements[: self.tableau[-2][0]]
        assert (place[chosen] == np.arange(len(chosen))).all()
        assert (place >= 0).sum() == len(chosen)
        return chosen.tolist()


def some_search(level, rng, n, ridge):
    problem, tree = some_problem(rng, n, ridge), some_tree(rng, n)
    start = grown(rng, tree, problem.is_independent)
    fixed = np.zeros(n, dtype=bool)
    fixed[start] = rng.random(len(start)) < 0.3
    return Search(level, problem, tree, fixed, start)


@levels
@settings(max_examples=100)
@given(rng=randoms, n=sizes, ridge=ridges)
def test_best_moves_are_those_of_a_plain_loop(level, rng, n, ridge):
    search = some_search(level, rng, n, ridge)
    problem, total = search.problem, search.problem.total
    ending, evaluated, moves, gains = search.run()
    made, support = plain_moves(problem.value, search.tree, search.fixed, search.start, 1e-9 * total, total)
    assert ending in (level.swaps.DONE, level.swaps.OPTIMAL)
    assert moves.tolist() == [[added, dropped] for added, dropped, _ in made]
    np.testing.assert_allclose(gains, [gain for *_, gain in made], atol=1e-7 * total)
    assert sorted(search.support) == support
    assert evaluated >= len(moves)
    assert search.tableau[-1][0] == pytest.approx(problem.value(support), abs=1e-7 * total)
    _, _, coupling, inverse, coef, corr, sigma, _, _ = search.tableau
    assert_is_fresh(problem, search.support, (inverse, coupling, coef, corr, sigma), 1e-6)


@levels
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n=sizes, rounds=st.integers(1, 3))
def test_a_run_in_parts_is_the_same_run(level, seed, n, rounds):
    whole, parts = (some_search(level, np.random.default_rng(seed), n, 0.3) for _ in range(2))
    _, evaluated, moves, gains = whole.run()
    pieces = [parts.run(rounds)]
    while pieces[-1][0] == level.swaps.GOING_ON:
        assert len(pieces[-1][2]) <= rounds
        pieces.append(parts.run(rounds))
    assert pieces[-1][0] in (level.swaps.DONE, level.swaps.OPTIMAL)
    assert np.concatenate([piece[2] for piece in pieces]).tolist() == moves.tolist()
    assert np.concatenate([piece[3] for piece in pieces]).tolist() == gains.tolist()
    assert sum(piece[1] for piece in pieces) == evaluated
    assert parts.support == whole.support


def copies(level, start, capacity):
    rng = np.random.default_rng(0)
    problem = Problem(rng.standard_normal((8, 2))[:, [0, 1, 0]], rng.standard_normal(8), 0.0)
    zero = np.zeros(1, dtype=int)
    tree = (np.zeros(3, dtype=int), zero + 1, zero, zero + capacity, zero)
    return Search(level, problem, type(some_tree(rng, 1))(*tree), np.zeros(3, dtype=bool), start)


@levels
def test_a_start_of_copies_is_called_dependent(level):
    ending, _, moves, gains = copies(level, [0, 2], 2).run()
    assert ending == level.swaps.DEPENDENT
    assert moves.shape == (0, 2)
    assert gains.shape == (0,)


@levels
def test_a_search_may_end_where_a_column_is_spanned(level):
    search = copies(level, [0], 2)
    assert search.run(share=LEAST_SHARE)[0] == level.swaps.DONE
    assert search.support == [0]  # of the copy, nothing is left
    search = copies(level, [0], 2)
    assert search.run()[2].tolist() == [[1, -1]]


@levels
def test_nothing_fits_into_no_room(level):
    search = copies(level, [], 0)
    ending, evaluated, moves, _ = search.run()
    assert (evaluated, len(moves)) == (0, 0)
    assert ending == level.swaps.OPTIMAL
    assert search.support == []
