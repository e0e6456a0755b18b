"""The closed-form enumeration of small sets of columns, against plain solves."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from swapwise.kernels import completions

NOISE = 1e-13

sizes = st.integers(1, 5)
randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def explained(gram, corr, chosen):
    chosen = list(chosen)
    return corr[chosen] @ np.linalg.lstsq(gram[np.ix_(chosen, chosen)], corr[chosen], rcond=1e-9)[0]


def by_enumeration(gram, corr, size, floor):
    return [s for s in combinations(range(len(corr)), size) if explained(gram, corr, s) > floor]


def some_columns(random, size, largest=9):
    """Columns and a response, all of length 1."""
    m = int(random.integers(size, largest + 1))
    A, y = random.standard_normal((m + 3, m)), random.standard_normal(m + 3)
    return A / np.linalg.norm(A, axis=0), y / np.linalg.norm(y)


def found_by(gram, corr, size, floor, room, copies=None):
    copies = np.arange(len(corr)) if copies is None else copies
    return completions.find(gram, corr, copies, size, floor, room, NOISE)


def as_tuples(found):
    return [tuple(row) for row in found.tolist()]


@settings(max_examples=150)
@given(randoms, sizes)
def test_the_sets_above_the_floor_are_found_in_order(random, size):
    A, y = some_columns(random, size)
    gram, corr = A.T @ A, A.T @ y
    values = sorted(explained(gram, corr, s) for s in combinations(range(len(corr)), size))
    # Between two values, so that rounding decides nothing.
    place = int(random.integers(len(values)))
    floor = values[place] * (1 - 1e-6) if random.random() < 0.5 else values[place] * (1 + 1e-6)
    expected = by_enumeration(gram, corr, size, floor)
    assert as_tuples(found_by(gram, corr, size, floor, 200)) == expected


@settings(max_examples=60)
@given(randoms, sizes)
def test_no_floor_gives_all_sets_and_a_high_one_gives_none(random, size):
    A, y = some_columns(random, size)
    gram, corr = A.T @ A, A.T @ y
    everything = list(combinations(range(len(corr)), size))
    assert as_tuples(found_by(gram, corr, size, -1.0, 200)) == everything
    none = found_by(gram, corr, size, 1.01 * float(y @ y), 200)
    assert none.shape == (0, size)


@settings(max_examples=60)
@given(randoms, sizes)
def test_more_sets_than_there_is_room_for_are_not_cut_short(random, size):
    A, y = some_columns(random, size)
    gram, corr = A.T @ A, A.T @ y
    count = len(list(combinations(range(len(corr)), size)))
    assert found_by(gram, corr, size, -1.0, count - 1) is None
    assert len(found_by(gram, corr, size, -1.0, count)) == count


@settings(max_examples=150)
@given(randoms, sizes)
def test_collinear_columns_hide_no_set(random, size):
    A, y = some_columns(random, size)
    for column in random.integers(0, A.shape[1], random.integers(1, 4)):
        other, another = random.integers(0, A.shape[1], 2)
        A[:, column] = [A[:, other], -A[:, other], A[:, other] - A[:, another], 0 * y][random.integers(4)]
    lengths = np.linalg.norm(A, axis=0)
    A = A / np.where(lengths > 0, lengths, 1.0)
    gram, corr = A.T @ A, A.T @ y
    values = np.array([explained(gram, corr, s) for s in combinations(range(len(corr)), size)])
    floor = float(random.choice(values)) - 1e-6
    found = found_by(gram, corr, size, floor, 200)
    assert set(by_enumeration(gram, corr, size, floor)) <= set(as_tuples(found))


@settings(max_examples=100)
@given(randoms, sizes)
def test_copies_add_nothing_and_are_known_to(random, size):
    A, y = some_columns(random, size)
    copies = np.arange(A.shape[1])
    for column in range(1, A.shape[1]):
        if random.random() < 0.4:
            copies[column] = copies[random.integers(column)]
            A[:, column] = A[:, copies[column]] * random.choice([-1, 1])
    gram, corr = A.T @ A, A.T @ y
    values = np.array([explained(gram, corr, s) for s in combinations(range(len(corr)), size)])
    floor = float(random.choice(values)) - 1e-6
    found = found_by(gram, corr, size, floor, 200, copies)
    assert as_tuples(found) == by_enumeration(gram, corr, size, floor)


@pytest.mark.parametrize("size", range(1, 6))
def test_columns_that_tie_are_all_found(size):
    gram, corr = np.eye(6), np.full(6, 0.25)
    found = found_by(gram, corr, size, size / 16 - 1e-9, 100)
    assert as_tuples(found) == list(combinations(range(6), size))
    assert len(found_by(gram, corr, size, size / 16 + 1e-9, 100)) == 0


@pytest.mark.parametrize("distance", [1e-5, 1e-6, 1e-7, 1e-8, 1e-12])
@pytest.mark.parametrize("size", range(2, 6))
@pytest.mark.parametrize("position", [0, 4])
def test_what_nearly_collinear_columns_explain_is_not_missed(size, distance, position):
    random = np.random.default_rng(0)
    A, along = random.standard_normal((9, 6)), random.standard_normal(9)
    A[:, 5] = A[:, position] + distance * along
    A /= np.linalg.norm(A, axis=0)
    y = along / np.linalg.norm(along)  # explained in full by the difference of the two
    found = as_tuples(found_by(A.T @ A, A.T @ y, size, 0.99, 1000))
    assert {s for s in combinations(range(6), size) if {position, 5} <= set(s)} <= set(found)


def test_the_data_are_left_as_they_are():
    random = np.random.default_rng(0)
    A, y = random.standard_normal((9, 6)), random.standard_normal(9)
    gram, corr = A.T @ A, A.T @ y
    copies = gram.copy(), corr.copy()
    found_by(gram, corr, 4, 0.0, 100)
    np.testing.assert_array_equal(gram, copies[0])
    np.testing.assert_array_equal(corr, copies[1])
    assert found_by(gram, corr, 6, 0.0, 1).tolist() == [[0, 1, 2, 3, 4, 5]]


@settings(max_examples=150)
@given(randoms, st.integers(1, 4))
def test_sets_of_the_right_signs_are_found(random, size):
    """All sets whose best coefficients of the right signs explain more than the floor, and no others."""
    A, y = some_columns(random, size + 2, 10)
    gram, corr, m = A.T @ A, A.T @ y, A.shape[1]
    held = np.sort(random.permutation(m)[: random.integers(3)])
    free = np.setdiff1d(np.arange(m), held)
    positive = random.random(m) < random.choice([0.5, 1.0])
    along = np.linalg.solve(gram[np.ix_(held, held)], np.column_stack([gram[np.ix_(held, free)], corr[held]]))
    rest = gram[np.ix_(free, free)] - gram[np.ix_(free, held)] @ along[:, :-1]
    slope = corr[free] - gram[np.ix_(free, held)] @ along[:, -1]

    def best(chosen):
        lower = np.where(positive[chosen], 0.0, -np.inf)
        found = lsq_linear(A[:, chosen], y, (lower, np.inf), "bvls", tol=1e-14)
        return y @ y - 2 * found.cost

    values = {s: best([*held, *free[list(s)]]) for s in combinations(range(len(free)), size)}
    floor = float(random.choice(list(values.values()))) * random.choice([1 - 1e-6, 1 + 1e-6])
    signs = (gram, corr, positive, held, free, floor)
    taken = float(corr[held] @ along[:, -1])
    found = completions.find_signed(
        rest, slope, np.arange(len(free)), size, floor - taken, 1000, NOISE, signs
    )
    assert as_tuples(found) == [s for s, value in values.items() if value > floor]
