"""Compiled runs of best moves: what they do without all inner products, and when their end is clear."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise import Uniform
from swapwise.kernels import swaps

TOL, TIE = 1e-10, 1e-12


class Run:
    """A run among a few columns, of which only some rows of inner products are known."""

    def __init__(self, columns, y, size, start, known):
        n, room = len(columns), max(size, len(start))
        self.gram = columns @ columns.T
        self.squares, self.start, self.total = self.gram.diagonal().copy(), start, float(y @ y)
        self.limits, self.fixed = tuple(Uniform(n, size).laminar_tree()), np.zeros(n, dtype=bool)
        self.known, self.counts = known.copy(), np.zeros(3, dtype=np.int64)
        elements, place = np.empty(room, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        factors = np.zeros((n, room)), np.zeros((room, room)), np.zeros(room)
        corr, sigma = columns @ y, self.squares.copy()
        self.tableau = elements, place, *factors, corr, sigma, self.counts, np.zeros(1)

    def go_on(self):
        seen = np.where(self.known[:, None], self.gram, np.nan)  # what is not known must not be read
        problem = seen, self.known, self.squares, 1e-6 * self.squares, self.limits, self.fixed
        numbers = self.total, TOL, TIE, 1e-3, 1000
        return swaps.best_moves(*problem, self.tableau, self.start, *numbers)


def gaussian(seed, n=12, samples=30):
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((n, samples)), rng.standard_normal(samples)


@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0.0, 1.0))
def test_rows_that_come_when_they_are_missing_lead_the_same_way(seed, size, share):
    rng, columns, y = gaussian(seed)
    start = rng.choice(len(columns), int(rng.integers(0, size + 1)), replace=False)
    whole = Run(columns, y, size, start, np.ones(len(columns), dtype=bool))
    ending, evaluated, moves, gains = whole.go_on()

    part = Run(columns, y, size, start, rng.random(len(columns)) < share)
    found = [part.go_on()]
    while found[-1][0] == swaps.MISSING:
        assert not part.known[part.counts[2]]
        part.known[part.counts[2]] = True
        found.append(part.go_on())
    assert found[-1][0] == ending
    assert sum(run[1] for run in found) == evaluated
    np.testing.assert_array_equal(np.vstack([run[2] for run in found]), moves)
    np.testing.assert_array_equal(np.concatenate([run[3] for run in found]), gains)
    for one, other in zip(part.tableau[5:], whole.tableau[5:], strict=True):
        np.testing.assert_array_equal(one[:2], other[:2])


@pytest.mark.parametrize(
    ("gap", "ending"), [(0.0, "DONE"), (1e-10, "DONE"), (1e-6, "OPTIMAL")], ids=["tie", "near", "clear"]
)
def test_the_end_is_clear_if_the_best_move_loses(gap, ending):
    # Three orthogonal columns, of which the first explains as much as the second, or a little more.
    y = np.array([np.sqrt(1.0 + gap), 1.0, 0.5])
    run = Run(np.eye(3), y, 1, np.array([0]), np.ones(3, dtype=bool))
    assert run.go_on()[0] == getattr(swaps, ending)


def test_the_end_is_clear_if_there_is_no_move():
    run = Run(np.eye(2), np.ones(2), 2, np.array([0, 1]), np.ones(2, dtype=bool))
    assert run.go_on()[0] == swaps.OPTIMAL


def test_chosen_columns_are_not_scored():
    # Of the first, which is chosen, rounding is left: as a candidate it would seem to be the best.
    feasible = np.array([[False, False], [True, False], [True, False]])
    quantities = np.zeros((3, 1)), np.ones(1), np.ones(1), np.array([1e-9, 2.0, 0.1])
    sigma, floor = np.array([1e-30, 1.0, 1.0]), np.zeros(3)
    index, gain, evaluated = swaps.best_of_grid(feasible, np.array([0]), *quantities, sigma, floor, TIE, 1.0)
    assert (index, evaluated) == (2, 1)
    assert gain == pytest.approx(2.0**2 - 1.0)
