"""Columns that are linear combinations of others: set aside, with bounds on what they may add.

No shift of the curvature is positive for such columns. So the relaxation has a basis of the columns only.
With the others ``x_c = Σ_b γ_cb x_b``, coefficients v on a set S are ``v_b + Σ_c γ_cb v_c`` on the basis, and
in terms of the slope and the shift there

    u(v)  ≤  base + Σ_b { s_b (v_b + Σ_c γ_cb v_c) − D_b (v_b + Σ_c γ_cb v_c)² / 2 }.

An element b that S holds is worth ``s_b² / 2D_b`` at most. Beside these, one column c is worth no more than
the largest ``(Σ_{b∈U} γ_cb s_b)² / 2 Σ_{b∈U} γ_cb² D_b`` of all sets U of elements that S may lack. Several
columns that stand for the same elements are worth no more than all of these are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.region import Region
from swapwise.objectives.least_squares.active_set import rounding_of
from swapwise.objectives.least_squares.objective import LeastSquares

# A column joins the basis if more than this share of its square is orthogonal to it.
LEAST_LEFT = 1e-6

# Factors in a combination of columns of length 1 are rounding up to NOTHING. If some are larger, but below
# LEAST_PART, columns are nearly, not exactly, combinations of fewer.
NOTHING, LEAST_PART = 1e-9, 1e-4

# The largest error of a combination, relative to the length of the column
LARGEST_ERROR = 1e-11

# With more columns than this, or fewer samples than columns, no basis is computed.
COLUMNS_UP_TO = 500


@dataclass(frozen=True, eq=False)
class Ties:
    #: One column of length 1 per row, in coordinates that leave inner products as they are
    columns: FloatArray
    lengths: FloatArray
    #: Their inner products with y
    with_y: FloatArray
    #: The error of columns
    rounding: float
    #: A superset of those that are in such a combination
    tied: BoolArray

    @classmethod
    def of(cls, objective: LeastSquares, elements: IndexArray, units: FloatArray) -> Self | None:
        """Return the columns of some elements, whose coefficients are in the given units.

        None if they are too many, or if there is a ridge or coefficients have bounds.
        """
        if objective.ridge > 0 or objective.bounds is not None or len(elements) > COLUMNS_UP_TO:
            return None
        columns = objective.design.view(elements)[0]
        if columns.shape[0] > columns.shape[1]:
            return None
        rounding = rounding_of(len(elements), float(objective.design.offsets[elements].max(initial=0.0)))
        lengths = np.linalg.norm(columns, axis=1)
        lengths[lengths == 0] = 1.0
        triangle = np.asarray(np.linalg.qr((columns / lengths[:, None]).T, mode="r"))
        with_y = objective.products_with_y[elements] / lengths
        tied = np.ones(len(elements), dtype=bool)
        return cls(triangle.T.copy(), lengths / units, with_y, rounding, tied)

    def among(self, kept: IndexArray) -> Ties:
        columns, lengths, with_y = (v[kept] for v in (self.columns, self.lengths, self.with_y))
        return Ties(columns, lengths, with_y, self.rounding, self.tied[kept])

    def set_aside(self, region: Region) -> SetAside | None:
        """Return the columns of a region that are combinations of others; None if there are none for certain.

        The basis begins with the columns that all sets hold. The others join it in the order of a greedy fit,
        so that columns set aside are seldom chosen.
        """
        some = np.flatnonzero(self.tied & ~region.outside)
        units, held = self.columns[some], region.inside[some]
        basis = _greedy_basis(units @ units.T, self.with_y[some], held)
        rest = np.setdiff1d(np.arange(len(some)), basis)
        if not len(rest):
            return None
        q, r = scipy.linalg.qr(units[basis].T, mode="economic")
        found = scipy.linalg.solve_triangular(r, q.T @ units[rest].T).T
        size = np.abs(found)
        if ((size > NOTHING) & (size < LEAST_PART)).any():
            return None
        found[size < LEAST_PART] = 0.0
        error = np.linalg.norm(units[rest] - found @ units[basis], axis=1)
        if (error > np.minimum(self.rounding * (1.0 + np.abs(found).sum(axis=1)), LARGEST_ERROR)).any():
            return None
        lengths = self.lengths[some]
        parts = np.zeros((len(rest), len(self.tied)))
        parts[:, some[basis]] = found * lengths[rest][:, None] / lengths[basis]
        tied: BoolArray = (parts != 0).any(axis=0)
        tied[some[rest]] = True
        parts[:, region.inside] = 0.0
        return SetAside(some[rest], parts, tied)


def _greedy_basis(gram: FloatArray, with_y: FloatArray, first: BoolArray) -> IndexArray:
    """Return a basis of columns of length 1, in the order of a greedy fit of y that begins with ``first``."""
    left, slope = gram.copy(), with_y.copy()
    basis: list[int] = []
    while True:
        square = np.diag(left).copy()
        may_join = square > LEAST_LEFT
        if (may_join & first).any():
            may_join &= first
        if not may_join.any():
            return np.array(basis, dtype=np.intp)
        gains = np.where(may_join, slope**2 / np.where(may_join, square, 1.0), -1.0)
        best = int(np.argmax(gains))
        basis.append(best)
        share = left[best] / square[best]
        slope -= share * slope[best]
        left -= np.outer(share, left[best])
        left[best], left[:, best] = 0.0, 0.0


@dataclass(frozen=True, eq=False)
class SetAside:
    """Elements beside a basis, and their columns as combinations of others."""

    elements: IndexArray
    #: One row for each of them, with its factors of all elements; 0 for those that every set holds
    parts: FloatArray
    #: Which elements are in some combination
    tied: BoolArray

    def needless(self, region: Region) -> IndexArray:
        """Return elements that the sets of a region can do without.

        The held elements explain them in full; or, beside these, they are multiples of another element that
        can take their place under nested limits. With lower limits, sets may need any of them.

        >>> from swapwise import Uniform
        >>> copy = SetAside(np.array([2]), np.array([[1.0, 0.0, 0.0]]), np.array([True, False, True]))
        >>> copy.needless(Region.of(Uniform(3, 2))), copy.needless(Region.of(Uniform(3, 2, at_least=1)))
        (array([2]), array([], dtype=int64))
        """
        constraint = region.constraint
        if not constraint.hereditary or not constraint.is_complete(np.empty(0, dtype=np.intp)):
            return self.elements[:0]
        used = self.parts != 0
        count, tree = used.sum(axis=1), constraint.laminar_tree()
        found = count == 0
        if tree is not None:
            found |= (count == 1) & (tree.leaf[used.argmax(axis=1)] == tree.leaf[self.elements])
        return self.elements[found & ~region.inside[self.elements]]

    def within(self, size: int) -> IndexArray:
        return self.elements[(self.parts != 0).sum(axis=1) < size]

    def without(self, elements: IndexArray) -> SetAside | None:
        kept = ~np.isin(self.elements, elements)
        return SetAside(self.elements[kept], self.parts[kept], self.tied) if kept.any() else None

    def weights(self, slope: FloatArray, diagonal: FloatArray) -> FloatArray:
        """Bound what the elements may add, for slopes and a shift that is positive on the basis."""
        used = self.parts != 0
        of_basis = np.divide(slope**2, 2 * diagonal, out=np.zeros(len(slope)), where=diagonal > 0)
        weights: FloatArray = used @ of_basis
        alone = (used.astype(int) @ used.T > 0).sum(axis=1) <= 1
        for place in np.flatnonzero(alone):
            its = np.flatnonzero(used[place])
            part = self.parts[place, its]
            weights[place] = _largest_quotient(part * slope[its], part**2 * diagonal[its])
        return weights


def _largest_quotient(a: FloatArray, d: FloatArray) -> float:
    """Return the largest ``(Σ_{i∈U} a_i)² / 2 Σ_{i∈U} d_i`` of all sets U.

    It is convex in the two sums, so that the best set has all i beyond some ``a_i / d_i``.

    >>> _largest_quotient(np.array([2.0, 1.0, -1.0]), np.ones(3))
    2.25
    """
    best = 0.0
    for sign in (1.0, -1.0):
        order = np.argsort(-sign * a / d)
        best = max(best, float((np.cumsum(a[order]) ** 2 / np.cumsum(d[order])).max(initial=0.0)))
    return best / 2
