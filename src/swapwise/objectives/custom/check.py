"""A check of sparse objectives: derivatives, concavity and fits, at random points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_count
from swapwise.objectives.base import SparseObjective, embed, known_smoothness, rows_of
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.custom.objective import short

# Steps of differences, relative to the coefficient (or 1), from long ones (truncation) to short ones
# (rounding). Two that agree to this share need no others.
STEPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
AGREED = 1e-7

# A derivative is wrong if it is off by more than this share of the size of such derivatives, and by more than
# differences with two steps disagree: they do at a kink, and where values round.
SLOPE_TOLERANCE, CURVATURE_TOLERANCE = 1e-6, 1e-5
DISAGREEMENT = 4.0

# Values may be off by this share of their size, and slopes at a maximum by the other of their size elsewhere.
VALUE_TOLERANCE, FLAT = 1e-9, 1e-4

# Points are at least this far within bounds, relative to the coefficient (or 1): steps are shorter.
MARGIN = 1e-2

# Of larger objectives, the Hessian is checked in this many places at a time.
MOST_PLACES = 50


def check_objective(objective: SparseObjective, *, n_points: int = 5, random_state: Any = 0) -> None:
    """Check a sparse objective at random points and sets; return None if it passes.

    The checks: ``value_at(0)`` is 0, the gradient is that of the values and the Hessian that of the gradient
    (both by differences), the function is concave along segments, and fits have no slope that coefficients
    could follow within their bounds, and nothing better around them.

    Parameters
    ----------
    objective : SparseObjective
        For instance a :class:`CustomObjective`, or one of your own class. It should be made for coefficients
        of about 1.
    n_points : int
        Number of points and sets to try.
    random_state : int or numpy Generator
        Source of the points and sets.

    Raises
    ------
    ValueError
        With the property that fails and where: for a derivative, the coordinate with the largest error
        (in ``coef.ravel()``, where elements have several).

    See Also
    --------
    CustomObjective, SparseObjective : what it checks.

    Examples
    --------
    >>> from swapwise.objectives.custom.objective import CustomObjective
    >>> check_objective(CustomObjective(lambda w: (-(w @ w), -2 * w), n=3))
    >>> check_objective(CustomObjective(lambda w: (-(w @ w), [-1, -2, -2] * w), n=3))
    Traceback (most recent call last):
    ValueError: the gradient is wrong at coordinate 0: gradient_at says -0.0628..., differences ...
    """
    if not isinstance(objective, SparseObjective):
        raise TypeError(f"objective must be a SparseObjective, got {objective!r}")
    if as_count(n_points, "n_points") == 0:
        raise ValueError("n_points must be at least 1, got 0")
    inspection = Inspection(objective, n_points, np.random.default_rng(random_state))
    inspection.check_zero()
    if objective.n == 0:
        return
    for point in inspection.points:
        inspection.check_gradient(point)
    for point in inspection.points:
        inspection.check_curvature(point)
    for support in inspection.supports:
        inspection.check_fit(support)


class Inspection:
    def __init__(self, objective: SparseObjective, n_points: int, rng: np.random.Generator) -> None:
        self.objective, self.rng = objective, rng
        # Elements may have several coefficients; points are flat vectors of all of them.
        self.shape = objective.coef([]).shape
        n, self.n_coef = objective.n, int(np.prod(self.shape))
        self.points = [size * rng.standard_normal(self.n_coef) for size in np.linspace(0.5, 2.0, n_points)]
        for point in self.points[1::2]:  # every second point is sparse, as the points of a search are
            point[rng.permutation(self.n_coef)[max(1, self.n_coef // 4) :]] = 0.0
        self.lower, self.upper = self._ends()
        self.points = [self._well_within(point) for point in self.points]
        sizes = rng.integers(1, min(n, 10) + 1, n_points).tolist() if n else []
        self.supports = [np.sort(rng.choice(n, size, replace=False)) for size in sizes]
        self.size = max([objective.scale, *(abs(self._value(point)) for point in self.points)])
        slopes = [self._gradient(point) for point in (np.zeros(self.n_coef), *self.points)]
        self.steep = np.abs(slopes).max(axis=0)
        self.steepest = float(self.steep.max(initial=0.0))

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        bounds, shape = self.objective.bounds, self.shape[::-1]
        if bounds is None:
            return np.full(self.n_coef, -np.inf), np.full(self.n_coef, np.inf)
        ends = (np.broadcast_to(end, shape).T.ravel() for end in (bounds.lower, bounds.upper))
        lower, upper = ends
        return lower, upper

    def _well_within(self, point: FloatArray) -> FloatArray:
        if self.objective.bounds is None:
            return point
        room = MARGIN * np.maximum(1.0, np.abs(point))
        lower, upper = self.lower + room, self.upper - room
        narrow = lower > upper
        middle = (np.where(narrow, self.lower, 0.0) + np.where(narrow, self.upper, 0.0)) / 2
        return np.where(narrow, middle, np.clip(point, lower, np.maximum(lower, upper)))

    def _value(self, point: FloatArray) -> float:
        value = self.objective.value_at(point.reshape(self.shape))
        if not np.isfinite(value):
            raise ValueError(f"value_at must be finite, got {value} at {short(point)}")
        return value

    def _gradient(self, point: FloatArray) -> FloatArray:
        gradient = np.asarray(self.objective.gradient_at(point.reshape(self.shape)))
        if gradient.shape != self.shape or not np.isfinite(gradient).all():
            raise ValueError(
                f"gradient_at must return finite numbers of shape {self.shape}, got an array of shape "
                f"{gradient.shape} with {int((~np.isfinite(gradient)).sum())} that are not finite"
            )
        return gradient.ravel()

    def check_zero(self) -> None:
        value = self._value(np.zeros(self.n_coef))
        if abs(value) > VALUE_TOLERANCE * self.size:
            raise ValueError(f"value_at must be 0 at w = 0 (it is u(w) − u(0)), got {value:.6g}")

    # -- derivatives --------------------------------------------------------------------------------

    def check_gradient(self, point: FloatArray) -> None:
        given = self._gradient(point)
        pairs = [_differences(self._value, point, j, self.size) for j in range(self.n_coef)]
        found, doubt = np.array(pairs, dtype=np.float64).T
        room = doubt + SLOPE_TOLERANCE * (np.maximum(self.steep, np.abs(found)) + 1e-3 * self.steepest)
        excess = np.abs(given - found) - room
        if (excess > 0).any():
            worst = int(np.argmax(excess))
            opposite = bool((np.abs(given + found) <= room).all())
            raise ValueError(
                f"the gradient is wrong at coordinate {worst}{_and_others(excess)}: gradient_at says "
                f"{given[worst]:.6g}, differences of value_at say {found[worst]:.6g} (at {short(point)})"
                f"{'; every sign is the wrong one: is it that of a loss?' if opposite else ''}"
            )

    def check_curvature(self, point: FloatArray) -> None:
        """Compare the Hessian with differences of gradients, and check its smallest eigenvalue."""
        places = np.sort(self.rng.permutation(self.n_coef)[:MOST_PLACES])
        found, doubt = self._curvature(point, places)
        wrong = self._wrong_hessian(point, places, found, doubt)
        if wrong:  # a kink of the gradient within a step is no error: try a little farther
            nearby = point + 1e-2 * self.rng.standard_normal(self.n_coef)
            if self._wrong_hessian(nearby, places, *self._curvature(nearby, places)):
                raise ValueError(f"{wrong} (at {short(point)})")
        self.check_concavity(point, 2.0 * self.rng.standard_normal(self.n_coef))
        flattest = np.zeros(self.n_coef)
        flattest[places] = np.linalg.eigh((found + found.T) / 2)[1][:, 0]
        for length in (1e-2, 1.0):
            self.check_concavity(point, length * flattest)
        self._check_constants(point, found, doubt)

    def _curvature(self, point: FloatArray, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        def fall(coef: FloatArray) -> FloatArray:
            return -self._gradient(coef)[places]

        columns = [_differences(fall, point, j, self.steepest) for j in places.tolist()]
        found, doubt = (np.column_stack(part) for part in zip(*columns, strict=True))
        return found, doubt

    def _check_constants(self, point: FloatArray, found: FloatArray, doubt: FloatArray) -> None:
        """Check ``smoothness(1)`` against the diagonal and ``strong_concavity`` against the spectrum."""
        if self.objective.groups is not None:  # constants are by element
            return
        room = CURVATURE_TOLERANCE * float(np.abs(found).max()) + float(np.linalg.norm(doubt))
        most = float(np.diag(found).max())
        M = known_smoothness(self.objective, 1)
        if most > M + room:
            raise ValueError(
                f"smoothness(1) is {M:.6g}, but a coordinate curves by {most:.6g} (at {short(point)})"
            )
        least = float(np.linalg.eigvalsh((found + found.T) / 2)[0])
        m = self.objective.strong_concavity(len(found))
        if least < m - room:
            raise ValueError(
                f"strong_concavity({len(found)}) is {m:.6g}, but a direction curves by {least:.6g} only "
                f"(at {short(point)})"
            )

    def _wrong_hessian(
        self, point: FloatArray, places: IndexArray, found: FloatArray, doubt: FloatArray
    ) -> str:
        if self.objective.groups is not None:  # it is by element
            return ""
        given = np.asarray(self.objective.hessian_at(point, places))
        if given.shape != found.shape:
            raise ValueError(f"hessian_at must return an array of shape {found.shape}, got {given.shape}")
        lengths = np.sqrt(np.abs(np.diag(found)))
        room = CURVATURE_TOLERANCE * (np.outer(lengths, lengths) + 1e-3 * np.abs(found).max())
        excess = np.abs(given - found) - doubt - room
        if not (excess > 0).any():
            return ""
        i, j = np.unravel_index(int(np.argmax(excess)), excess.shape)
        return (
            f"the Hessian is wrong at coordinates {places[i]} and {places[j]}{_and_others(excess)}: "
            f"hessian_at (minus the Hessian) says {given[i, j]:.6g}, differences of gradient_at say "
            f"{found[i, j]:.6g}"
        )

    def check_concavity(self, point: FloatArray, direction: FloatArray) -> None:
        room = np.minimum(point - self.lower, self.upper - point)
        steep = np.abs(direction) > room
        direction = direction * float(np.min(room[steep] / np.abs(direction[steep]), initial=1.0))
        here, ahead, behind = (self._value(point + sign * direction) for sign in (0.0, 1.0, -1.0))
        mean, size = (ahead + behind) / 2, max(self.size, abs(ahead), abs(behind))
        if here < mean - VALUE_TOLERANCE * size:
            raise ValueError(
                f"the function is not concave: {here:.6g} in the middle of a segment is below {mean:.6g}, "
                f"the mean of its ends (the middle is {short(point)}; an end is {short(point + direction)})"
            )

    # -- fits ---------------------------------------------------------------------------------------

    def check_fit(self, support: IndexArray) -> None:
        """Check that a fit has the value of its coefficients, no slope, and nothing better around it."""
        name = f"the fit on the set {support.tolist()}"
        value, values = self.objective._fit(support)
        coef = embed(self.objective, support, values).ravel()
        room = VALUE_TOLERANCE * max(self.size, abs(value))
        if abs(self._value(coef) - value) > room:
            raise ValueError(
                f"{name} has the value {value:.6g}, but value_at its coefficients is {self._value(coef):.6g}"
            )
        inside = np.zeros(self.shape)
        inside[rows_of(self.objective, support)] = 1.0
        slope = inside.ravel() * self._gradient(coef)
        if ((coef < self.lower) | (coef > self.upper)).any():
            raise ValueError(f"{name} is not within the bounds: its coefficients are {short(coef)}")
        slope = CoefficientBounds(self.lower, self.upper).projected(slope, coef)
        worst = int(np.argmax(np.abs(slope)))
        if abs(slope[worst]) > FLAT * self.steepest:
            raise ValueError(
                f"{name} is not a maximum: the slope at coordinate {worst} is {slope[worst]:.6g} "
                f"(at {short(coef)})"
            )
        for length in (1e-3, 1e-1, 1.0):
            other = coef + length * inside.ravel() * self.rng.standard_normal(self.n_coef)
            other = np.clip(other, self.lower, self.upper)
            better = self._value(other)
            if better > value + room:
                raise ValueError(
                    f"{name} has the value {value:.6g}, but there is {better:.6g} at {short(other)}"
                )


def _differences(
    function: Callable[[FloatArray], Any], point: FloatArray, j: int, size: float
) -> tuple[Any, Any]:
    """Return the derivative of a function in a coordinate, and an estimate of its error.

    Of differences with falling steps, those that agree best with the step before; ``size`` is the size of
    values, on which their rounding depends.
    """
    found: Any = np.nan
    doubt: Any = np.inf
    before: Any = np.inf
    for step in STEPS:
        ahead, behind = point.copy(), point.copy()
        ahead[j] += step * max(1.0, abs(point[j]))
        behind[j] -= step * max(1.0, abs(point[j]))
        width = float(ahead[j] - behind[j])
        difference = (function(ahead) - function(behind)) / width
        disagreement, rounding = np.abs(difference - before), 8 * np.finfo(float).eps * size / width
        doubtful = DISAGREEMENT * disagreement + rounding
        found, doubt = np.where(doubtful < doubt, difference, found), np.minimum(doubt, doubtful)
        # Shorter steps would round even more.
        if np.max(disagreement) <= max(AGREED * np.max(np.abs(difference)), rounding):
            break
        before = difference
    return found, doubt


def _and_others(excess: FloatArray) -> str:
    others = int((excess > 0).sum()) - 1
    return f" (and {others} more)" if others else ""
