"""The sums over the samples that a generalised linear model asks for, block by block.

The rows that go with a block are always target, weight and offset of its samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray
from swapwise.data.reductions import Reduction, Scaled
from swapwise.kernels import glm

# So many entries of columns are worked with at a time: they are copied, and copies are to be small.
ENTRIES_AT_ONCE = 1 << 20

_ONE = np.ones(1)


@dataclass(frozen=True)
class Trial:
    """Parameters to look at: one a column and, if there is one more, an intercept behind them."""

    columns: Scaled
    theta: FloatArray
    #: The step that leads there, of which is asked how far it takes a sample
    step: FloatArray
    #: What no curvature counts less than
    floor: float = 0.0

    def columns_of(self, block: FloatArray) -> FloatArray:
        """Return the columns, one a row, and a row of ones behind them if there is an intercept."""
        columns = self.columns.of(block, _ONE)
        if len(self.theta) == len(columns):
            return columns
        return np.vstack([columns, np.ones((1, len(block)))])


class Sums(NamedTuple):
    """A log-likelihood at some parameters, and what Newton's method wants to know of it."""

    value: float
    gradient: FloatArray
    #: Minus the Hessian
    hessian: FloatArray
    #: How far the step took the linear predictor of a sample at the most
    reach: float
    #: The largest curvature of a sample
    steepest: float
    #: ``Σ slope² / curvature``; 0 unless curvatures have a floor
    misfit: float

    def plus(self, other: Sums) -> Sums:
        """Return the sums for the samples of both."""
        return Sums(
            self.value + other.value,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
            max(self.reach, other.reach),
            max(self.steepest, other.steepest),
            self.misfit + other.misfit,
        )


@dataclass(frozen=True)
class NewtonSums(Reduction):
    """The sums of several trials from one look at the data.

    >>> from swapwise.data.mapped import ArrayChunks
    >>> from swapwise.kernels import GAUSSIAN
    >>> blocks, column = ArrayChunks(np.array([[1.0], [2.0]]), 1), Scaled(np.array([0]), np.zeros(1), _ONE)
    >>> work = NewtonSums(GAUSSIAN, [Trial(column, np.ones(1), np.ones(1))])
    >>> (sums,) = blocks.reduce(work, np.array([1.0, 3.0]), np.ones(2), np.zeros(2))
    >>> sums.value, sums.gradient, sums.hessian, sums.reach
    (-0.5, array([2.]), array([[5.]]), 2.0)
    """

    family: int
    trials: list[Trial]

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Return those of a block."""
        return [reduce(Sums.plus, self._by_pieces(trial, block, rows)) for trial in self.trials]

    def merge(self, first: Any, second: Any) -> Any:
        """Add up, trial by trial."""
        return [one.plus(other) for one, other in zip(first, second, strict=True)]

    def _by_pieces(self, trial: Trial, block: FloatArray, rows: tuple[NDArray[Any], ...]) -> Iterator[Sums]:
        step = max(1, ENTRIES_AT_ONCE // max(1, len(trial.theta)))
        for begin in range(0, len(block), step):
            part = slice(begin, begin + step)
            yield self._sums(trial, block[part], *(values[part] for values in rows))

    def _sums(
        self, trial: Trial, block: FloatArray, target: FloatArray, weight: FloatArray, offset: FloatArray
    ) -> Sums:
        columns = trial.columns_of(block)
        value, slope, curve = _derivatives(self.family, trial.theta @ columns + offset, target, weight)
        steepest, misfit = float(curve.max()), 0.0
        if trial.floor > 0:
            curve = np.maximum(curve, trial.floor)
            misfit = float(slope @ (slope / curve))
        return Sums(
            value,
            columns @ slope,
            (columns * curve) @ columns.T,
            float(np.abs(trial.step @ columns).max()),
            steepest,
            misfit,
        )


@dataclass(frozen=True)
class Surroundings(Reduction):
    """Products of all columns with those of a trial, weighted by the curvature there, and with the slope.

    The answer is these products (the slope's last), the squares of all columns, weighted alike, and the sums
    of what columns were multiplied with.

    >>> from swapwise.data.mapped import ArrayChunks
    >>> from swapwise.kernels import GAUSSIAN
    >>> blocks = ArrayChunks(np.array([[1.0, 0.0], [2.0, 3.0]]), 1)
    >>> trial = Trial(Scaled(np.array([0]), np.zeros(1), _ONE), np.ones(1), np.ones(1))
    >>> blocks.reduce(Surroundings(GAUSSIAN, trial), np.array([1.0, 3.0]), np.ones(2), np.zeros(2))
    (array([[5., 6.],
           [2., 3.]]), array([5., 9.]), array([3., 1.]))
    """

    family: int
    trial: Trial

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Return those of a block."""
        target, weight, offset = rows
        columns = self.trial.columns_of(block)
        _, slope, curve = _derivatives(self.family, self.trial.theta @ columns + offset, target, weight)
        factors = np.vstack([columns * curve, slope])
        squares = np.einsum("s,sj,sj->j", curve, block, block)
        return factors @ block, squares, factors.sum(axis=1)


def _derivatives(
    family: int, eta: FloatArray, target: FloatArray, weight: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return the log-likelihood, its slope in η, and minus its curvature."""
    slope, curve = np.empty((1, len(eta))), np.empty((1, 1, len(eta)))
    # What comes from other processes may be read-only, for which the kernel would be compiled once more.
    target, weight = target.copy(), weight.copy()
    value = glm.derivatives(family, eta[None], target, weight, _ONE[None], slope, curve)
    return float(value), slope[0], curve[0, 0]
