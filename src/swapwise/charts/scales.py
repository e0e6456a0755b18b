"""From values to places on a page: the range of an axis, its ticks and their labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, floor, log10
from typing import Any

import numpy as np

from swapwise.charts.chart import Axis, Band, Bars, Chart, Curve, Intervals, Rule, Tiles
from swapwise.checks import FloatArray

# Ticks of an axis, at most; more than this many whole numbers are not all written.
_MOST_TICKS, _MOST_INTEGERS = 6, 15

# Larger values, infinite ones and NaN have no place: differences of these would overflow.
_BEYOND = 1e300

# Part of the range that is left free at either end.
_ROOM = 0.05


class Scale:
    """Places of values on an axis, from 0 to 1."""

    def __init__(self, axis: Axis, values: Iterable[float]) -> None:
        self.axis = axis
        low, high = axis.limits or _limits(axis, np.fromiter(values, dtype=np.float64))
        self.ends = (log10(low), log10(high)) if axis.log else (low, high)

    def at(self, values: Any) -> FloatArray:
        """Return the places of values; NaN for those that have none."""
        given = np.asarray(values, dtype=np.float64)
        given = np.where(np.abs(given) < _BEYOND, given, np.nan)
        if self.axis.log:
            given = np.log10(np.where(given > 0, given, np.nan))
        low, high = self.ends
        places: FloatArray = (given - low) / (high - low)
        return places

    def ticks(self) -> list[tuple[float, str]]:
        if not self.axis.visible:
            return []
        if self.axis.ticks is not None:
            labels = self.axis.ticks
        elif self.axis.log:
            labels = {value: f"{value:g}" for value in _powers(*sorted(self.ends))}
        else:
            low, high = sorted(self.ends)
            labels = _round_numbers(low, high, self.axis.integers)
        placed = zip(self.at(list(labels)).tolist(), labels.values(), strict=True)
        return [(place, label) for place, label in placed if -1e-9 <= place <= 1 + 1e-9]


def scales_of(chart: Chart) -> tuple[Scale, Scale]:
    """Return the scales of a chart, which cover all series unless its axes have limits."""
    across, upwards = [], []
    for x, y in _extents(chart):
        across += [float(value) for value in x if abs(value) < _BEYOND]
        upwards += [float(value) for value in y if abs(value) < _BEYOND]
    return Scale(chart.x, across), Scale(chart.y, upwards)


def _extents(chart: Chart) -> Iterator[tuple[Iterable[float], Iterable[float]]]:
    for one in chart.series:
        if isinstance(one, Curve):
            errors = [end for end in (one.low, one.high) if end is not None]
            yield one.x, [*one.y, *(value for end in errors for value in end)]
        elif isinstance(one, Band):
            yield one.x, [*one.low, *one.high]
        elif isinstance(one, Intervals):
            yield [*one.low, *one.high], one.at
        elif isinstance(one, Rule):
            yield ([one.at], ()) if one.upright else ((), [one.at])
        elif isinstance(one, Tiles):
            side = [-0.5, len(one.values) - 0.5]
            yield side, side
        elif isinstance(one, Bars):
            beside = [place + side for place in one.at for side in (-0.5, 0.5)]
            ends = [*one.begin, *one.end]
            yield (ends, beside) if one.horizontal else (beside, ends)


def _limits(axis: Axis, values: FloatArray) -> tuple[float, float]:
    if axis.log:
        values = values[values > 0]
        low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 10.0)
        return low / 1.3, high * 1.3
    if axis.zero or not len(values):
        values = np.append(values, 0.0)
    low, high = float(values.min()), float(values.max())
    room = _ROOM * (high - low) or max(abs(high), 1.0) * _ROOM
    return low - room, high + room


def _powers(low: float, high: float) -> list[float]:
    """Return powers of ten between two exponents, with 2 and 5 times these if they are few."""
    powers = [10.0**power for power in range(ceil(low - 1e-9), floor(high + 1e-9) + 1)]
    if len(powers) >= 3:
        step = ceil(len(powers) / (_MOST_TICKS + 1))
        return powers[::step]
    exponents = range(floor(low), ceil(high) + 1)
    return [lead * 10.0**power for power in exponents for lead in (1.0, 2.0, 5.0)]


def _round_numbers(low: float, high: float, integers: bool) -> dict[float, str]:
    """Return round numbers between two ends, all written with as many decimals as their step needs."""
    most = _MOST_TICKS if not integers or high - low > _MOST_INTEGERS else _MOST_INTEGERS + 1
    rough = (high - low) / most
    power = 10.0 ** floor(log10(rough)) if rough > 0 else 1.0
    step = next(lead * power for lead in (1.0, 2.0, 5.0, 10.0) if lead * power >= rough * (1 - 1e-9))
    step = max(step, 1.0) if integers else step
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    decimals = max(0, -floor(log10(step) + 1e-9))
    numbers = [count * step for count in range(first, last + 1)]
    largest = max(map(abs, numbers), default=0.0)
    if decimals > 8 or largest >= 1e6:  # as many digits as tell neighbours apart
        digits = max(1, ceil(log10(max(largest / step, 1.0)) + 1e-9) + 1)
        return {number: f"{number:.{digits}g}" for number in numbers}
    return {number: f"{number + 0.0:.{decimals}f}" for number in numbers}
