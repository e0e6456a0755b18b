"""The best fractional set under nested limits: proximal steps on a model of the objective.

The model is the second-order one on a working set of elements, which for least squares is exact. All that is
asked of the data is the gradient at the coefficients that come out, which proves the bound and says which
elements the working set lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

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

# A step of the model that does not go all the way means that its curvature is out of date. Shorter ones than
# this are not tried.
SHORTEST_STEP = 0.01


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

    def diagonal(self, elements: IndexArray, coef: FloatArray) -> FloatArray:
        """Return the diagonal of the block of some elements, by row."""
        if isinstance(self.objective, Quadratic):
            return np.diag(self.objective.H)[rows_of(self.objective, elements)]
        return np.diag(self.on(elements, coef))

    def renew(self, coef: FloatArray) -> None:
        """Take the curvature at some coefficients from now on."""
        self._matrix = self.objective.hessian_at(coef, self._elements)


class _Model(NamedTuple):
    """``u(w) ≈ base + ⟨linear, w⟩ − wᵀHw / 2`` on some elements, with coefficients multiplied by a scale."""

    elements: IndexArray
    rows: IndexArray
    owner: IndexArray
    H: FloatArray
    linear: FloatArray
    diagonal: FloatArray
    start: FloatArray
    scale: FloatArray
    base: float


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
        self.region.clock.check()
        model = self._model()
        start, size = model.start, max(abs(self._at), self.objective.scale)
        coef, point, value, bound, self._step_curvature, _ = perspective.solve(
            model.H,
            model.linear,
            model.diagonal,
            model.owner,
            self.region.inside[model.elements],
            ~self.region.outside[model.elements],
            (self._tree.leaf[model.elements], self._tree.end, self._tree.parent, self._tree.capacity),
            start,
            self._step_curvature,
            target - model.base,
            PRECISION,
            FINEST * size,
            int(np.clip(MOST_PRODUCTS / max(1, model.H.size), FEWEST_STEPS, MOST_STEPS)),
        )
        ahead = np.zeros_like(self.coef)
        ahead[model.rows] = (coef / model.scale).reshape(self.coef[model.rows].shape)
        fractional = np.zeros(len(self.diagonal))
        fractional[model.elements] = point
        self._go_towards(ahead, fractional)
        return bool(bound - value <= max(FINEST * size, PRECISION * (model.base + bound - target)))

    def _model(self) -> _Model:
        """Return the second-order model on the working set; of a quadratic objective, that itself."""
        objective = self.objective
        if isinstance(objective, Quadratic):
            every, flat = np.arange(objective.n), len(objective.H)
            rows, owner = used_rows(objective, every)
            linear, start = (values.reshape(flat, -1) for values in (objective.slope, self.coef))
            return _Model(every, rows, owner, objective.H, linear, self.diagonal, start, np.ones((flat, 1)), 0.0)
        elements = self._elements
        rows, owner = used_rows(objective, elements)
        H = self._curvature.on(elements, self.coef)
        levels = self.coef[rows].size // max(1, len(H))  # that curve alike; others have rows of their own
        here, gradient = (values[rows].reshape(-1, levels) for values in (self.coef, self._gradient))
        owner = np.repeat(owner, len(H) // max(1, len(rows)))
        bent = H @ here
        linear = gradient + bent
        # Elements of about equal curvature need the fewest steps.
        lengths = np.sqrt(np.bincount(owner, np.diag(H), len(elements)) / np.bincount(owner))
        by_element = np.where(lengths > 0, lengths, 1.0)
        scale = by_element[owner][:, None]
        base = self._at - float((linear * here).sum()) + 0.5 * float((here * bent).sum())
        diagonal = self.diagonal[elements] / by_element**2
        return _Model(
            elements, rows, owner, H / (scale * scale.T), linear / scale, diagonal, here * scale, scale, base
        )

    def _go_towards(self, ahead: FloatArray, fractional: FloatArray) -> None:
        """Go to other coefficients and their fractional set, or so far that value or bound get better."""
        if self.objective.curvature_is == "hessian":
            self.coef, self.point = ahead, fractional
            self._settle()
            return
        before = self.coef, self.point, self.value, self.dual.bound
        share = 1.0
        while share > SHORTEST_STEP:
            self.coef = before[0] + share * (ahead - before[0])
            self.point = before[1] + share * (fractional - before[1])
            self._settle()
            if self.value > before[2] or self.dual.bound < before[3]:
                break
            share /= 4
        else:
            self.coef, self.point = before[:2]
            self._settle()
        if share < 1.0:
            self._curvature.renew(self.coef)

    # -- values and the bound -----------------------------------------------------------------------

    def _settle(self) -> None:
        """Compute φ and the bound at the coefficients."""
        self._at, self._gradient = self.objective.value_and_gradient_at(self.coef)
        self.value = self._at + self._penalty(self.coef, self.point)
        nonzero = self.coef != 0
        self.dual = self._dual_at(self._at, self._gradient, self._steepness()[nonzero])

    def _steepness(self) -> FloatArray:
        """Return the root of minus the second derivative in every coefficient that is not zero."""
        steepness = np.zeros_like(self.coef)
        elements = np.flatnonzero(by_element(self.objective, self.coef**2))
        rows, _ = used_rows(self.objective, elements)
        curved = np.maximum(self._curvature.diagonal(elements, self.coef), 0.0)
        steepness[rows] = np.sqrt(curved).reshape(len(rows), *(1,) * (self.coef.ndim - 1))
        return steepness

    def _penalty(self, coef: FloatArray, point: FloatArray) -> float:
        """Return ``Σ D w² (1 − 1/z) / 2``."""
        squares = self.diagonal * by_element(self.objective, coef**2)
        used = squares > 0
        if (point[used] <= 0).any():
            return -np.inf
        return 0.5 * float(squares[used] @ (1.0 - 1.0 / point[used]))
