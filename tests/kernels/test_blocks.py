"""Gains, solutions and runs of best moves where elements are blocks of columns, against fits by NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.least_squares import LEVELS, TIE, grown, plain_moves, some_problem, some_tree
from tests.kernels.test_swaps import Search as ColumnSearch

levels = pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)
counts, ridges = st.integers(1, 5), st.sampled_from([0.0, 0.3])


class Groups:
    """A problem whose columns belong to elements, one after the other."""

    def __init__(self, rng, count, ridge):
        self.sizes = rng.integers(1, 4, count)
        self.begin = np.append(0, np.cumsum(self.sizes))
        self.at = np.append(0, np.cumsum(self.sizes**2))[:-1]
        # Copies only with a penalty: without, a column may have no slot, and dropping its twin frees it.
        self.problem = some_problem(rng, int(self.begin[-1]), ridge, copies=ridge > 0)
        self.count = count
        if ridge > 0 and rng.random() < 0.5:
            self._copy_an_element(rng)

    def _copy_an_element(self, rng):
        """Two elements of the same columns, in another order: a tie but for rounding."""
        one, other = map(self.rows, zip(rng.integers(self.count, size=2)))
        if len(one) == len(other):
            self.problem.A[:, other] = self.problem.A[:, one[::-1]]

    def rows(self, elements):
        return [row for j in elements for row in range(self.begin[j], self.begin[j + 1])]

    def value(self, elements):
        return self.problem.value(self.rows(elements))

    def slot_rows(self, elements):
        """Return the rows that have a slot: all but zeros that nothing penalises."""
        return [row for row in self.rows(elements) if self.problem.squares[row] > 0]

    def blocks_of(self, matrix):
        """Return the blocks of a matrix of all rows, one after the other."""
        parts = [matrix[np.ix_(own, own)].ravel() for own in map(self.rows, zip(range(self.count)))]
        return np.concatenate(parts)

    def quantities(self, chosen):
        """Return the inverse, the coefficients, and what is known of all elements."""
        problem, rows = self.problem, self.slot_rows(chosen)
        inverse, coupling, coef, corr, _ = problem.quantities(rows)
        left = problem.gram + problem.ridge * np.eye(problem.n) - coupling @ problem.gram[rows]
        elements = self.begin, self.at, coupling, corr, self.blocks_of(left), problem.floor
        return inverse, coef, elements

    def slots(self, chosen, drops):
        """Return the slots of elements that can be dropped, and where those of each begin."""
        rows = self.slot_rows(chosen)
        own = [[rows.index(row) for row in self.slot_rows([j])] for j in drops]
        first = np.append(0, np.cumsum([*map(len, own)])).astype(int)
        return first, np.array([slot for slots in own for slot in slots], dtype=int)


def some_groups(rng, count, ridge):
    """Return groups, chosen elements in any order, and what kernels know of both."""
    groups = Groups(rng, count, ridge)
    chosen = rng.permutation(count)[: rng.integers(0, 3)].tolist()
    drops = rng.permutation(chosen).astype(int)
    return groups, chosen, drops


def drops_of(level, groups, chosen, drops):
    inverse, coef, _ = groups.quantities(chosen)
    first, slots = groups.slots(chosen, drops)
    return first, slots, *level.blocks.drop_factors(first, slots, inverse, coef)


def plain_gain(groups, chosen, added, dropped):
    return groups.value({*chosen, *added} - {*dropped}) - groups.value(chosen)


@levels
@settings(max_examples=60)
@given(rng=randoms, count=counts, ridge=ridges)
def test_gains_are_differences_of_two_fits(level, rng, count, ridge):
    groups, chosen, drops = some_groups(rng, count, ridge)
    elements, total = groups.quantities(chosen)[2], groups.problem.total
    factors = drops_of(level, groups, chosen, drops)
    for i, drop in enumerate(drops):
        assert factors[-1][i] == pytest.approx(-plain_gain(groups, chosen, [], [drop]), abs=1e-8 * total)

    added = rng.choice(np.append(np.setdiff1d(np.arange(count), chosen), -1), 8)
    column = rng.integers(-1, len(drops), 8)
    gains = level.blocks.pair_gains(added, column, elements, factors, False)
    for gain, j, i in zip(gains, added, column, strict=True):
        expected = plain_gain(groups, chosen, [j] if j >= 0 else [], drops[i : i + 1] if i >= 0 else [])
        assert gain == pytest.approx(expected, abs=1e-8 * total)

    alone = level.blocks.addition_gains(elements, factors, False)
    for j in np.setdiff1d(np.arange(count), chosen):
        assert alone[j] == pytest.approx(plain_gain(groups, chosen, [j], []), abs=1e-8 * total)


def some_mask(rng, groups, chosen, drops):
    mask = rng.random((groups.count, len(drops) + 1)) < rng.choice([0.3, 0.7, 1.0])
    mask[chosen] = False
    return mask


@levels
@settings(max_examples=60)
@given(rng=randoms, count=counts, ridge=ridges)
def test_gains_of_a_grid(level, rng, count, ridge):
    groups, chosen, drops = some_groups(rng, count, ridge)
    elements, total = groups.quantities(chosen)[2], groups.problem.total
    factors = drops_of(level, groups, chosen, drops)
    feasible = some_mask(rng, groups, chosen, drops)
    useful = feasible.copy()
    useful[useful[:, -1], :-1] = False
    every = level.blocks.grid_gains(feasible, elements, factors, False, -np.inf, np.inf, total)[0]
    assert (np.isfinite(every) == useful).all()
    for j, i in zip(*np.nonzero(useful), strict=True):
        expected = plain_gain(groups, chosen, [j], drops[i : i + 1])
        assert every[j, i] == pytest.approx(expected, abs=1e-8 * total)

    least = rng.choice([-np.inf, 0.0, 0.1 * total])
    gains, evaluated = level.blocks.grid_gains(feasible, elements, factors, False, least, TIE, total)
    known = np.isfinite(gains)
    assert (gains[known] == every[known]).all()
    assert evaluated <= feasible.size + count
    target = max(every.max(initial=-np.inf), least) - TIE * total
    assert known[(every >= target) & (every > least)].all()  # nothing is left out that may be the best


@levels
@settings(max_examples=60)
@given(rng=randoms, count=counts, ridge=ridges)
def test_blocks_without_what_is_chosen(level, rng, count, ridge):
    groups, chosen, _ = some_groups(rng, count, ridge)
    problem, rows = groups.problem, groups.slot_rows(chosen)
    _, _, (begin, at, coupling, corr, left, floor) = groups.quantities(chosen)
    own = groups.blocks_of(problem.gram + ridge * np.eye(problem.n))
    lower = np.concatenate([np.tri(size, dtype=bool).ravel() for size in groups.sizes])
    remaining = level.blocks.remaining_blocks(own, begin, at, coupling, problem.gram[:, rows])
    np.testing.assert_allclose(remaining[lower], left[lower], atol=1e-9)

    solution, gains = level.blocks.block_solutions(begin, at, corr, left, floor)
    strict = level.blocks.addition_gains(
        groups.quantities(chosen)[2], drops_of(level, groups, chosen, np.empty(0, dtype=int)), True
    )
    np.testing.assert_array_equal(gains, strict)
    for j in range(count):
        own, size = groups.rows([j]), groups.sizes[j]
        block = left[at[j] : at[j] + size**2].reshape(size, size)
        if j in chosen and ridge == 0:
            continue  # nothing but rounding is left of it
        is_known = np.linalg.matrix_rank(block, tol=1e-7) == size
        assert np.isnan(gains[j]) == (not is_known)
        expected = np.linalg.solve(block, corr[own]) if is_known else np.zeros(size)
        np.testing.assert_allclose(solution[own], expected, rtol=1e-7, atol=1e-8)
        if is_known:
            assert gains[j] == pytest.approx(corr[own] @ expected, rel=1e-7, abs=1e-10)


@levels
@given(rng=randoms, count=counts, n_levels=st.integers(1, 3), samples=st.integers(0, 9))
def test_combinations_are_added(level, rng, count, n_levels, samples):
    begin = np.append(0, np.cumsum(rng.integers(0, 7, count)))
    columns, coef = rng.standard_normal((begin[-1], samples)), rng.standard_normal((begin[-1], n_levels))
    elements = rng.permutation(count)[: rng.integers(count + 1)]
    steps = rng.standard_normal((len(elements), n_levels, samples))
    expected = steps.copy()
    for row, element in enumerate(elements):
        own = slice(begin[element], begin[element + 1])
        expected[row] += coef[own].T @ columns[own]
    level.blocks.add_combinations(steps, elements, begin, coef.ravel(), columns)
    np.testing.assert_allclose(steps, expected, atol=1e-12)


class Search:
    """A call of best_moves, and where it leaves the tableau."""

    def __init__(self, level, groups, tree, fixed, start):
        self.level, self.groups, self.tree, self.fixed = level, groups, tree, fixed
        self.start, problem = np.array(start, dtype=int), groups.problem
        most, n = max(1, len(start), int(tree.capacity[0])), problem.n
        room = max(1, int(np.sort(groups.sizes)[::-1][:most].sum()))
        own = groups.blocks_of(problem.gram + problem.ridge * np.eye(n))
        self.tableau = (
            np.empty(most, dtype=np.int64), np.full(groups.count, -1), np.zeros((n, room)),
            np.zeros((room, room)), np.zeros(room), problem.A.T @ problem.y, problem.squares, own,
            np.empty(room, dtype=np.int64), np.full(n, -1), np.zeros(3, dtype=np.int64), np.zeros(1),
        )  # fmt: skip

    def run(self, rounds=1000, strict=False):
        groups, problem = self.groups, self.groups.problem
        return self.level.blocks.best_moves(
            problem.gram, problem.floor, groups.begin, groups.at, tuple(self.tree), self.fixed, self.tableau,
            self.start, problem.total, 1e-9, TIE, strict, rounds,
        )  # fmt: skip

    @property
    def support(self):
        elements, place = self.tableau[:2]
        chosen = elements[: self.tableau[-2][0]]
        assert (place[chosen] == np.arange(len(chosen))).all()
        assert (place >= 0).sum() == len(chosen)
        return chosen.tolist()


def some_search(level, rng, count, ridge):
    groups, tree = Groups(rng, count, ridge), some_tree(rng, count)
    start = grown(rng, tree)[:2]
    fixed = np.zeros(count, dtype=bool)
    fixed[start] = rng.random(len(start)) < 0.3
    return Search(level, groups, tree, fixed, start)


@levels
@settings(max_examples=100)
@given(rng=randoms, count=counts, ridge=ridges)
def test_best_moves_are_those_of_a_plain_loop(level, rng, count, ridge):
    search = some_search(level, rng, count, ridge)
    groups, total = search.groups, search.groups.problem.total
    ending, evaluated, moves, gains = search.run()
    made, support = plain_moves(groups.value, search.tree, search.fixed, search.start, 1e-9 * total, total)
    assert ending == level.swaps.DONE
    assert moves.tolist() == [[added, dropped] for added, dropped, _ in made]
    np.testing.assert_allclose(gains, [gain for *_, gain in made], atol=1e-7 * total)
    assert sorted(search.support) == support
    assert evaluated >= len(moves)
    assert search.tableau[-1][0] == pytest.approx(groups.value(support), abs=1e-7 * total)
    slot_row, slot, (_, _, size), _ = search.tableau[8:]
    assert (slot[slot_row[:size]] == np.arange(size)).all()
    assert sorted(slot_row[:size]) == groups.slot_rows(support)


@levels
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), count=counts, rounds=st.integers(1, 3))
def test_a_run_in_parts_is_the_same_run(level, seed, count, rounds):
    whole, parts = (some_search(level, np.random.default_rng(seed), count, 0.3) for _ in range(2))
    _, evaluated, moves, _ = whole.run()
    pieces = [parts.run(rounds)]
    while pieces[-1][0] == level.swaps.GOING_ON:
        pieces.append(parts.run(rounds))
    assert np.concatenate([piece[2] for piece in pieces]).tolist() == moves.tolist()
    assert sum(piece[1] for piece in pieces) == evaluated
    assert parts.support == whole.support


@levels
@settings(max_examples=60)
@given(rng=randoms, count=st.integers(1, 7))
def test_blocks_of_one_column_are_columns(level, rng, count):
    groups = Groups(rng, count, 0.3)
    groups.sizes = np.ones(count, dtype=int)
    groups.begin, groups.at = np.arange(count + 1), np.arange(count)
    groups.problem = some_problem(rng, count, 0.3)
    tree = some_tree(rng, count)
    start, fixed = grown(rng, tree), np.zeros(count, dtype=bool)
    _, _, moves, gains = ColumnSearch(level, groups.problem, tree, fixed, start).run()
    found = Search(level, groups, tree, fixed, start).run()
    assert (found[0], found[2].tolist()) == (level.swaps.DONE, moves.tolist())
    np.testing.assert_allclose(found[3], gains, atol=1e-9 * groups.problem.total)


@levels
def test_a_search_may_end_where_a_column_is_spanned(level):
    rng = np.random.default_rng(0)
    search = some_search(level, rng, 1, 0.0)
    groups = search.groups
    groups.sizes, groups.count = np.array([2, 2]), 2
    groups.begin, groups.at = np.array([0, 2, 4]), np.array([0, 4])
    A = rng.standard_normal((8, 4))
    A[:, 3] = A[:, 0] + A[:, 1]
    groups.problem = groups.problem._replace(A=A, y=rng.standard_normal(8))
    zero = np.zeros(1, dtype=int)
    tree = type(search.tree)(np.zeros(2, dtype=int), zero + 1, zero, zero + 2, zero)
    for strict, moves in ((True, []), (False, [[1, -1]])):
        again = Search(level, groups, tree, np.zeros(2, dtype=bool), [0])
        found = again.run(strict=strict)
        assert (found[0], found[2].tolist()) == (level.swaps.DONE, moves)


@levels
def test_nothing_fits_into_no_room(level):
    rng = np.random.default_rng(0)
    groups, tree = Groups(rng, 3, 0.3), some_tree(rng, 3)
    none = np.zeros_like(tree.capacity)
    search = Search(level, groups, tree._replace(capacity=none, at_least=none), np.zeros(3, dtype=bool), [])
    ending, evaluated, moves, _ = search.run()
    assert (ending, evaluated, len(moves)) == (level.swaps.DONE, 0, 0)
    assert search.support == []
