"""Suprema of likelihoods of classes that have no maximum, because classes are separable, wholly or in part.

Where a direction of the parameters lowers the margin of no sample and raises those of some, coefficients
diverge along it, and the predictions of these samples tend to certainty. No sample adds more than that, so
the likelihood without them is an upper bound, and it has a maximum. The bound holds whichever samples are
left out; a linear program finds those to leave out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.algorithms.programs import solve_within
from swapwise.numerics import ROUNDING
from swapwise.objectives.least_squares.active_set import rounding_of

# Margins have no more numbers than this: larger linear programs would take seconds.
MOST_NUMBERS = 200_000

# Directions in which the samples that are left change by less than this, relative to the largest, and by more
# than rounding, may lead anywhere.
FLAT = 1e-4

# Limits on Newton steps: their number, the change of a margin by one, and the halvings of one.
MOST_STEPS, LONGEST_STEP, MOST_HALVINGS = 100, 4.0, 40

# A last step that changes no margin by more than this changes log-odds by no more than twice as much.
STEP_OF_PROOF = 0.25


class Margins(NamedTuple):
    """The terms of ``u = constant − Σ_t ω_t log(1 + Σ exp(−m_k))``, summed over the margins k of each term.

    Margins are ``m = rows θ + offset``, for any parameters θ.
    """

    rows: FloatArray
    offset: FloatArray
    #: The term of each margin, in increasing order
    term: IndexArray
    #: ω, one number per term
    weight: FloatArray
    constant: float


def supremum(margins: Margins, clock: Clock) -> float:
    """Return an upper bound of u, close to its supremum; infinity where none can be found."""
    counts = margins.weight[margins.term] > 0
    rows, offset, term = margins.rows[counts], margins.offset[counts], margins.term[counts]
    bounded = _bounded(rows, clock)
    if bounded is None:
        return np.inf
    lengths = np.linalg.norm(rows, axis=0)
    rows, offset, term = rows[bounded], offset[bounded], term[bounded]
    basis = _basis(rows, lengths)
    if basis is None:
        return np.inf
    terms, place = np.unique(term, return_inverse=True)
    most = _maximum(basis, offset, place, margins.weight[terms])
    return float(margins.constant + most + ROUNDING * (abs(margins.constant) + abs(most)))


def _bounded(rows: FloatArray, clock: Clock) -> BoolArray | None:
    """Return which margins grow along no direction that lowers none; None without an answer.

    They are the rows with a positive weight in some non-negative combination that is zero (Farkas); if each
    has one, there is a combination with all weights at least 1.
    """
    lengths = np.linalg.norm(rows, axis=1)
    matrix = (rows / np.where(lengths > 0, lengths, 1.0)[:, None]).T
    count = len(rows)
    found = solve_within(
        clock,
        lambda seconds: scipy.optimize.linprog(
            np.repeat([-1.0, 0.0], count),
            A_eq=np.hstack([matrix, matrix]),
            b_eq=np.zeros(len(matrix)),
            bounds=np.column_stack([np.zeros(2 * count), np.repeat([1.0, np.inf], count)]),
            method="highs",
            options={"time_limit": seconds},
        ),
    )
    return found.x[:count] > 0.5 if found.status == 0 else None


def _basis(rows: FloatArray, lengths: FloatArray) -> FloatArray | None:
    """Return an orthonormal basis of the row space; None if its rank is not certain.

    ``lengths`` are those of the columns, with all rows.
    """
    units = rows[:, lengths > 0] / lengths[lengths > 0]
    if not units.size:
        return np.zeros((len(rows), 0))
    left, sizes, _ = np.linalg.svd(units, full_matrices=False)
    clear = sizes > max(1.0, sizes[0]) * rounding_of(len(sizes))
    return left[:, clear] if (sizes[clear] > FLAT * sizes[0]).all() else None


def _maximum(rows: FloatArray, offset: FloatArray, term: IndexArray, weight: FloatArray) -> float:
    """Return an upper bound of the maximum of all terms together: the value reached, plus what may be left.

    A step of Newton's method that changes no log-odds by more than 1/2 misses no more than the slope along
    it: see :class:`swapwise.objectives.glm.second_order.AdditionBounds`.
    """
    at, (value, wrong) = offset, _terms(offset, term, weight)
    for _ in range(MOST_STEPS):
        slope = rows.T @ (weight[term] * wrong)
        try:
            factor = np.linalg.cholesky(_curvature(rows, wrong, term, weight))
        except np.linalg.LinAlgError:
            return np.inf
        step = np.linalg.solve(factor.T, np.linalg.solve(factor, slope))
        change, rise = rows @ step, float(slope @ step)
        longest = float(np.abs(change).max(initial=0.0))
        if rise <= ROUNDING * float(weight.sum()):
            return value + rise if longest <= STEP_OF_PROOF else np.inf
        length, before = min(1.0, LONGEST_STEP / longest), value
        for _ in range(MOST_HALVINGS):
            value, wrong = _terms(at + length * change, term, weight)
            if value > before:
                break
            length /= 2
        at = at + length * change
    return np.inf


def _terms(at: FloatArray, term: IndexArray, weight: FloatArray) -> tuple[float, FloatArray]:
    lowest = np.zeros(len(weight))
    np.minimum.at(lowest, term, at)
    odds = np.exp(lowest[term] - at)
    total = np.exp(lowest) + np.bincount(term, odds, len(weight))
    return float(weight @ (lowest - np.log(total))), odds / total[term]


def _curvature(rows: FloatArray, wrong: FloatArray, term: IndexArray, weight: FloatArray) -> FloatArray:
    of_terms = np.zeros((len(weight), rows.shape[1]))
    np.add.at(of_terms, term, wrong[:, None] * rows)
    curvature: FloatArray = rows.T @ ((weight[term] * wrong)[:, None] * rows) - of_terms.T @ (
        weight[:, None] * of_terms
    )
    return curvature
