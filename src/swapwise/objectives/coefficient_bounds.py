"""Bounds on coefficients, given by position, by name, or for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray

#: A pair of numbers (None: no bound), one per coefficient, or by position or name
Bounds = tuple[float | None, float | None] | Sequence[Any] | Mapping[Any, Any]


@dataclass(frozen=True, eq=False)
class CoefficientBounds:
    """A lower and an upper bound for each coefficient, with 0 between them.

    An element that is not chosen has the coefficient 0, so 0 must be within the bounds.
    """

    lower: FloatArray
    upper: FloatArray

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self.lower, self.upper

    def restricted(self, rows: IndexArray) -> CoefficientBounds | None:
        return _unless_free(self.lower[rows], self.upper[rows])

    def scaled(self, factors: FloatArray) -> CoefficientBounds:
        return CoefficientBounds(self.lower * factors, self.upper * factors)

    def clip(self, coef: FloatArray) -> FloatArray:
        return np.clip(coef, self.lower, self.upper)

    def hold(self, coef: FloatArray) -> bool:
        return bool(((coef >= self.lower) & (coef <= self.upper)).all())

    def at_bound(self, coef: FloatArray) -> BoolArray:
        return (coef <= self.lower) | (coef >= self.upper)

    def projected(self, gradient: FloatArray, coef: FloatArray) -> FloatArray:
        """Return a gradient with zeros where a bound blocks the coefficient."""
        stuck = ((gradient < 0) & (coef <= self.lower)) | ((gradient > 0) & (coef >= self.upper))
        return np.where(stuck, 0.0, gradient)


def moved_within(
    bounds: CoefficientBounds | None, coef: FloatArray, step: FloatArray, length: float = 1.0
) -> FloatArray:
    """Return coefficients after a step; a whole step to a bound ends exactly there, despite rounding.

    >>> signs = read_bounds(None, positive=True, n=2)
    >>> moved_within(signs, np.array([0.1, 0.3]), np.array([-0.1, -0.4]))
    array([0., 0.])
    """
    moved = coef + length * step
    if bounds is None:
        return moved
    if length == 1:
        moved = np.where(step == bounds.upper - coef, bounds.upper, moved)
        moved = np.where(step == bounds.lower - coef, bounds.lower, moved)
    return bounds.clip(moved)


def read_bounds(
    bounds: Bounds | None, positive: bool, n: int, names: Sequence[str] | None = None
) -> CoefficientBounds | None:
    """Return checked bounds of n coefficients, None if there is no bound at all.

    ``bounds`` is one pair for all, one pair per coefficient (None for no bound), or a mapping from position,
    or from name if there are ``names``, to pair: coefficients that it leaves out have none.
    """
    if not isinstance(positive, (bool, np.bool_)):
        raise TypeError(f"positive must be True or False, got {positive!r}")
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    for place, pair in _pairs(bounds, n, names):
        lower[place], upper[place] = _read_pair(pair, "" if place == slice(None) else _called(place, names))
    if positive:
        lower = np.maximum(lower, 0.0)
    return _unless_free(lower, upper)


def as_bounds(
    bounds: Bounds | CoefficientBounds | None, positive: bool, n: int, X: Any = None
) -> CoefficientBounds | None:
    if isinstance(bounds, CoefficientBounds):
        return bounds
    return read_bounds(bounds, positive, n, _names_of(X))


def _names_of(X: Any) -> list[str] | None:
    names = getattr(X, "columns", None)
    if names is None or callable(names):  # matrices have a method of that name
        return None
    return [str(name) for name in names]


def _unless_free(lower: FloatArray, upper: FloatArray) -> CoefficientBounds | None:
    if not np.isfinite(lower).any() and not np.isfinite(upper).any():
        return None
    return CoefficientBounds(lower, upper)


def _pairs(bounds: Any, n: int, names: Sequence[str] | None) -> Iterable[tuple[Any, Any]]:
    if bounds is None:
        return []
    if isinstance(bounds, Mapping):
        return [(_position(key, n, names), pair) for key, pair in bounds.items()]
    if isinstance(bounds, str) or not isinstance(bounds, Iterable):
        raise TypeError(
            "bounds must be a pair such as (0, None), one pair per coefficient, or a mapping from position "
            f"or name to pair, got {bounds!r}"
        )
    given = list(bounds)
    if len(given) == 2 and all(end is None or np.ndim(end) == 0 for end in given):
        return [(slice(None), tuple(given))]
    if len(given) != n:
        raise ValueError(f"bounds must hold one pair for each of the {n} coefficients, got {len(given)}")
    return [(place, pair) for place, pair in enumerate(given) if pair is not None]


def _position(key: Any, n: int, names: Sequence[str] | None) -> int:
    if isinstance(key, str):
        if names is None:
            raise ValueError(f"bounds names {key!r}, but the coefficients have no names here")
        if key not in names:
            raise ValueError(f"bounds names {key!r}, which the data do not have")
        return list(names).index(key)
    if isinstance(key, (bool, np.bool_)) or not isinstance(key, (int, np.integer)):
        raise TypeError(f"bounds must be given by position or name, got {key!r}")
    if not 0 <= key < n:
        raise ValueError(f"bounds must be for positions from 0 to {n - 1}, got {key}")
    return int(key)


def _called(place: Any, names: Sequence[str] | None) -> str:
    return f" of coefficient {place}" if names is None else f" of {names[place]!r}"


def _read_pair(pair: Any, of_what: str) -> tuple[float, float]:
    try:
        low, high = pair
        lower = -np.inf if low is None else float(low)
        upper = np.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise TypeError(
            f"bounds{of_what} must be a pair of numbers such as (0, None), got {pair!r}"
        ) from None
    shown = f"({low}, {high})"
    if np.isnan(lower) or np.isnan(upper):
        raise ValueError(f"bounds{of_what} must be numbers, or None for no bound, got {shown}")
    if lower > upper:
        raise ValueError(f"bounds{of_what} must be the lower number first, got {shown}")
    if lower > 0 or upper < 0:
        raise ValueError(
            f"bounds{of_what} must hold 0, the coefficient of features that are not chosen, got {shown}"
        )
    return lower, upper
