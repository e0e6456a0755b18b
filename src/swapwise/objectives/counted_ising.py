"""An Ising model of many samples in memory: refits need counts of patterns, which are far fewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ArrayChunks
from swapwise.moves import MoveList
from swapwise.objectives.ising import IsingPseudoLikelihood
from swapwise.objectives.ising_parts import read_spins
from swapwise.objectives.streamed_ising import StreamedIsing

# Vertices of more neighbours have about as many patterns as there are samples.
MOST_NEIGHBOURS = 6


class CountedIsing(StreamedIsing):
    """An :class:`IsingPseudoLikelihood` of -1 and +1, which is what that returns for many samples.

    Graphs of small degree are fitted from counts, as of data in chunks; others, and proofs, from the samples.

    >>> spins = np.where(np.arange(6000).reshape(3000, 2) % 5 < 2, 1.0, -1.0)
    >>> type(IsingPseudoLikelihood(spins)).__name__
    'CountedIsing'
    """

    scoring = "refit"
    n_passes = None  # type: ignore[assignment]

    def __init__(
        self,
        spins: Any,
        ridge: float = 0.0,
        fields: bool = False,
        edges: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        samples = read_spins(spins)
        self.spins = np.ascontiguousarray(samples.T)
        super().__init__(ChunkedMatrix(ArrayChunks(samples, len(samples))), ridge, fields, edges)

    # What needs the samples has them, and what would be read ahead is not far.
    summands = IsingPseudoLikelihood.summands
    _fit_seconds = IsingPseudoLikelihood._fit_seconds
    hessian_at = IsingPseudoLikelihood.hessian_at
    value_at = IsingPseudoLikelihood.value_at
    gradient_with = IsingPseudoLikelihood.gradient_with

    def _is_counted(self, support: IndexArray, more: int = 0) -> bool:
        degrees = np.bincount(np.append(self.tail[support], self.head[support]), minlength=1)
        return int(degrees.max()) + more <= MOST_NEIGHBOURS

    def _refit(self, support: IndexArray, fitted: FloatArray) -> tuple[float, bool]:
        kind = StreamedIsing if self._is_counted(support) else IsingPseudoLikelihood
        return kind._refit(self, support, fitted)

    def values_after(
        self, support: IndexArray, parameters: FloatArray, moves: MoveList
    ) -> tuple[FloatArray, BoolArray]:
        """Return the value after each move from a fit, and whether its refit came to its end."""
        counted = self._is_counted(support, moves.added.shape[1])
        kind = StreamedIsing if counted else IsingPseudoLikelihood
        return kind.values_after(self, support, parameters, moves)

    def _pulls(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        counted = fields is not None and self._is_counted(np.flatnonzero(coef))
        return (StreamedIsing if counted else IsingPseudoLikelihood)._pulls(self, coef, fields)
