"""The best fractional set under nested limits: proximal steps on a model of the objective.

The model is the second-order one on a working set of elements, which for least squares is exact. All that is
asked of the data is the gradient at the coefficients that come out, which proves the bound and says which
elements the working set lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from swapwise.certify.region import Region
from swapwise.certify.relaxation import Relaxation, by_element, used_rows
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.kernels import perspective
from swapwise.objectives.base import SparseObjective, rows_of
from swapwise.objectives.quadratic import Quadratic

# Up to this many elements are all in the working set; of more, it begins with about so many.
FEW_ELEMENTS, FIRST_ELEMENTS = 400, 200

# Steps of one round: no more numbers than these are multiplied, a few tenths of a second.
MOST_PRODUCTS = 500_000_000
FEWEST_STEPS, MOST_STEPS = 20, 1000

# A round ends when value and bound of the model are closer than this share of what is left to prove, or of
# the value.
PRECISION, FINEST = 0.02, 1e-9

# A step of the model that has to be shortened to less than this means that its curvature is out of date.
FULL_STEP = 0.5


class WorkingCurvature:
    """Minus the Hessian of an objective on the elements asked for so far, shared by all parts of a problem.

    That of a quadratic objective is the same everywhere. That of others is taken at some coefficients and
    kept, until :meth:`renew`.
    """

    def __init__(self, objective: SparseObjective) -> None:
        self.objective = objective
        self._elements = np.empty(0, dtype=np.intp)
        self._matrix = np.empty((0, 0))

    def on(self, elements: IndexArray, coef: FloatArray) -> FloatArray:
        """Return the block of some elements, sorted."""
        if self.objective.curvature_is == "hessian":  # which the objective keeps, if that pays
            return self.objective.hessian_at(coef, elements)
        places = np.searchsorted(self._elements, elements)
        known = places < len(self._elements)
        known[known] = self._elements[places[known]] == elements[known]
        if not known.all():
            self._elements = np.union1d(self._elements, elements)
            self.renew(coef)
            places = np.searchsorted(self._elements, elements)
        if len(places) == len(self._elements):
            return self._matrix
        if self.objective.groups is None:
            return self._matrix[np.ix_(places, places)]
        _, owner = used_rows(self.objective, self._elements)
        per_row = len(self._matrix) // max(1, len(owner))  # several levels of each
        kept = np.flatnonzero(np.isin(np.repeat(owner, per_row), places))
        return self._matrix[np.ix_(kept, kept)]

    def renew(self, coef: FloatArray) -> None:
        """Take the curvature at some coefficients from now on."""
        self._matrix = self.objective.hessian_at(coef, self._elements)


@dataclass(frozen=True, eq=False)
class WorkingPoint:
    """Elements of a working set and their coefficients, from which another relaxation may start."""

    elements: IndexArray
    #: Their shares in the fractional set
    point: FloatArray
    coef: FloatArray
    #: How many rows of coefficients each element has
    sizes: IndexArray

    def among(self, kept: IndexArray) -> WorkingPoint:
        """Return the same with elements numbered by their places among some, without all others."""
        found = self._only(np.isin(self.elements, kept))
        return replace(found, elements=np.searchsorted(kept, found.elements))

    def without(self, outside: BoolArray) -> WorkingPoint:
        """Return the same without some elements."""
        return self._only(~outside[self.elements])

    def _only(self, stays: BoolArray) -> WorkingPoint:
        coef = self.coef[np.repeat(stays, self.sizes)]
        return WorkingPoint(self.elements[stays], self.point[stays], coef, self.sizes[stays])


class Proximal(Relaxation):
    """A fractional set and its coefficients, improved round by round on a working set."""

    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        curvature: WorkingCurvature,
        start: WorkingPoint | None = None,
    ) -> None:
        tree = region.constraint.laminar_tree()
        assert tree is not None
        self.objective, self.region, self.diagonal = objective, region, diagonal
        self._tree, self._curvature, self._step_curvature = tree, curvature, 1.0
        nothing = np.zeros_like(objective.coef([]))
        self.coef, self.point = nothing, np.zeros(objective.n)
        self._elements = np.empty(0, dtype=np.intp)
        if start is not None:
            start = start.without(region.outside)
            self.coef[rows_of(objective, start.elements)] = start.coef
            self.point[start.elements] = start.point
            self._elements = np.union1d(start.elements, region.held)
        self.point[region.inside] = 1.0
        self._settle()
        if start is None:
            self._elements = self._first_elements()

    # -- what other relaxations have ----------------------------------------------------------------

    @property
    def start(self) -> WorkingPoint:
        """What another relaxation may start from."""
        rows, owner = used_rows(self.objective, self._elements)
        sizes = np.bincount(owner, minlength=len(self._elements))
        return WorkingPoint(self._elements, self.point[self._elements], self.coef[rows], sizes)

    def set_diagonal(self, diagonal: FloatArray) -> None:
        """Use another diagonal for which ``u(w) + wᵀDw/2`` is concave."""
        self.diagonal = diagonal
        self._settle()

    # -- the working set ----------------------------------------------------------------------------

    def _first_elements(self) -> IndexArray:
        """Return the elements to begin with: all, or those of the largest weights that fit together."""
        allowed = np.flatnonzero(~self.region.outside)
        if len(allowed) <= FEW_ELEMENTS or isinstance(self.objective, Quadratic):
            return allowed
        weights, found = self.dual.weights.copy(), [self.region.held]
        weights[self.region.held] = 0.0
        while sum(map(len, found)) < FIRST_ELEMENTS and weights.any():
            found.append(self.region.max_weight(weights)[0])
            weights[found[-1]] = 0.0
        return np.unique(np.concatenate(found))

    def _lacking(self) -> IndexArray:
        """Return elements beside the working set whose weights would make room for them, best first."""
        inner = np.zeros(len(self.diagonal))
        inner[self._elements] = self.dual.weights[self._elements]
        answer = self.region.heaviest(inner)
        gains = self.region.gains_of_additions(self.dual.weights, answer)
        gains[self._elements] = 0.0
        lacking = np.flatnonzero(gains > 1e-9 * answer.weight)
        return lacking[np.argsort(-gains[lacking], kind="stable")]

    # -- rounds -------------------------------------------------------------------------------------

    def improve(self, target: float) -> bool:
        """Improve the fractional set on the working set, and enlarge that; return whether that may go on."""
        before, lowest = self.value, self.dual.bound
        close = self._solve(target)
        if self.dual.bound <= target:
            return False
        lacking = self._lacking()[: max(FIRST_ELEMENTS, len(self._elements) // 2)]
        if len(lacking):
            used = self.dual.weights[self._elements] > 0.5 * self.dual.weights[lacking].min()
            used |= self.point[self._elements] > 0
            self._elements = np.union1d(self._elements[used], lacking)
            return True
        return not close and (self.value > before or self.dual.bound < lowest)

    def _solve(self, target: float) -> bool:
        """Go to the best fractional set of the model, or on towards it; return whether it is reached."""
        region, elements = self.region, self._elements
        rows, owner = used_rows(self.objective, elements)
        here = self.coef[rows].reshape(len(rows), -1)
        H = self._curvature.on(elements, self.coef)
        levels = here.shape[1] if len(H) == len(rows) else 1  # or else each level has rows of its own
        here = here.reshape(-1, levels)
        owner = np.repeat(owner, len(here) // max(1, len(owner)))
        gradient = self._gradient[rows].reshape(-1, levels)
        linear = gradient + H @ here
        # Elements of about equal curvature need the fewest steps.
        lengths = np.sqrt(np.bincount(owner, np.diag(H), len(elements)) / np.bincount(owner))
        scale = np.where(lengths > 0, lengths, 1.0)
        by_rows = scale[owner]
        held = region.inside[elements]
        limits = (self._tree.leaf[elements], self._tree.end, self._tree.parent, self._tree.capacity)
        base = self._at - float((linear * here).sum()) + 0.5 * float((here * (H @ here)).sum())
        finest = FINEST * max(abs(self._at), self.objective.scale)
        region.clock.check()
        most = int(np.clip(MOST_PRODUCTS / max(1, H.size), FEWEST_STEPS, MOST_STEPS))
        coef, point, value, bound, self._step_curvature, steps = perspective.solve(
            np.ascontiguousarray(H / np.outer(by_rows, by_rows)),
            np.ascontiguousarray(linear / by_rows[:, None]),
            self.diagonal[elements] / scale**2,
            owner,
            held,
            limits,
            np.ascontiguousarray(here * by_rows[:, None]),
            self._step_curvature,
            target - base,
            PRECISION,
            finest,
            most,
        )
        ahead = np.zeros_like(self.coef)
        ahead[rows] = (coef / by_rows[:, None]).reshape(self.coef[rows].shape)
        fractional = np.zeros(len(self.diagonal))
        fractional[elements] = point
        self._go_towards(ahead, fractional)
        return bool(bound - value <= max(finest, PRECISION * (base + bound - target)))

    def _go_towards(self, ahead: FloatArray, fractional: FloatArray) -> None:
        """Go to other coefficients and their fractional set, or as far as the value rises."""
        if self.objective.curvature_is == "hessian":
            self.coef, self.point = ahead, fractional
            self._settle()
            return
        coef, point, share = self.coef, self.point, 1.0
        while share > 0.01:
            there = coef + share * (ahead - coef), point + share * (fractional - point)
            if self._penalised(*there) > self.value:
                break
            share /= 2
        else:
            there = coef, point
        self.coef, self.point = there
        if share < FULL_STEP:
            self._curvature.renew(self.coef)
        self._settle()

    # -- values and the bound -----------------------------------------------------------------------

    def _settle(self) -> None:
        """Compute φ and the bound at the coefficients."""
        self._at = self.objective.value_at(self.coef)
        self._gradient = self.objective.gradient_at(self.coef)
        self.value = self._at + self._penalty(self.coef, self.point)
        nonzero = self.coef != 0
        self.dual = self._dual_at(self._at, self._gradient, self._steepness()[nonzero])

    def _steepness(self) -> FloatArray:
        """Return the root of minus the second derivative in every coefficient that is not zero."""
        steepness = np.zeros_like(self.coef)
        elements = np.flatnonzero(by_element(self.objective, self.coef**2))
        if len(elements):
            rows, _ = used_rows(self.objective, elements)
            curved = np.diag(self._curvature.on(elements, self.coef))
            steepness[rows] = np.sqrt(np.maximum(curved, 0.0)).reshape(len(rows), *(-1,) * (self.coef.ndim - 1))
        return steepness

    def _penalised(self, coef: FloatArray, point: FloatArray) -> float:
        return self.objective.value_at(coef) + self._penalty(coef, point)

    def _penalty(self, coef: FloatArray, point: FloatArray) -> float:
        """Return ``Σ D w² (1 − 1/z) / 2``."""
        squares = self.diagonal * by_element(self.objective, coef**2)
        used = squares > 0
        if (point[used] <= 0).any():
            return -np.inf
        return 0.5 * float(squares[used] @ (1.0 - 1.0 / point[used]))
