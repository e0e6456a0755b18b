"""Compiled local search of least squares on inner products, beyond laminar limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.base import Constraint
from swapwise.constraints.circuits import MOST_CIRCUITS, Exchanges
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.matroid import Matroid
from swapwise.kernels import exchanges
from swapwise.numerics import TIE
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.least_squares.gram_search import BlockSearch, GramSearch
from swapwise.objectives.least_squares.groups import GroupLeastSquares
from swapwise.objectives.least_squares.objective import LeastSquares


def can_be_compiled(objective: SparseObjective, system: Constraint) -> bool:
    """Return whether there is a compiled search of an objective's models under a constraint."""
    return _search_for(objective, system) is not None


def compiled_search(
    model: SparseObjective, system: Constraint, tol: float, elements: IndexArray
) -> GramSearch | None:
    """Return the compiled search of a model under a constraint, or None if there is none.

    ``elements`` are the numbers that the model's elements have elsewhere.
    """
    kind = _search_for(model, system)
    return None if kind is None else kind(model, system, tol, elements)


def _search_for(model: SparseObjective, system: Constraint) -> Any:
    if isinstance(model, GroupLeastSquares):
        return None if system.laminar_tree() is None else BlockSearch
    if not isinstance(model, LeastSquares):
        return None
    if system.laminar_tree() is not None:
        return GramSearch
    if system.group_limits() is not None:
        return PackingSearch
    return CircuitSearch if isinstance(system, Intersection) and system.p <= MOST_CIRCUITS else None


class PackingSearch(GramSearch):
    """The search where elements take places in several groups: matchings, packings, several partitions."""

    def _read_limits(self, system: Constraint) -> tuple[Any, ...]:
        limits = system.group_limits()
        assert limits is not None
        return (tuple(limits),)

    def _best_moves(self, tableau: tuple[Any, ...], start: IndexArray, share: float, rounds: int) -> Any:
        problem = *self._products(), self._squares, self._floor, *self._limits
        return exchanges.best_moves_of_packing(
            *problem, tableau, start, self._total, self._tol, TIE, share, rounds
        )

    def _products(self) -> tuple[FloatArray, BoolArray]:
        """Return the inner products of all columns: there are few."""
        if self._gram is None:
            self._gram = self._design.gram_of_all(), np.ones(len(self._squares), dtype=bool)
        return self._gram


class CircuitSearch(PackingSearch):
    """The search under several matroids of any kind, by moves that add one element.

    The matroids find the circuits, so that there is a call per move. Moves that add more are left to the rule
    that comes after working sets: they are rarely better, and there are far more of them.
    """

    def _read_limits(self, system: Constraint) -> tuple[Any, ...]:
        assert isinstance(system, Intersection)
        self.is_quick = not any(map(_asks_one_by_one, system.matroids))
        return (system,)

    def _best_moves(self, tableau: tuple[Any, ...], start: IndexArray, share: float, rounds: int) -> Any:
        elements, counts = tableau[0], tableau[-2]
        chosen = start if counts[1] < len(start) else np.sort(elements[: counts[0]])
        moves = next(iter(self._limits[0].moves(chosen, 1)))
        assert isinstance(moves, Exchanges)
        problem = *self._products(), self._squares, self._floor, tuple(moves.circuits)
        return exchanges.best_move(*problem, tableau, start, self._total, self._tol, TIE, share)


def _asks_one_by_one(matroid: Matroid) -> bool:
    """Return whether a matroid, or one that it is made of, finds swaps by asking about each of them."""
    made_of: tuple[Matroid, ...] = getattr(matroid, "_made_of", ())
    return type(matroid)._swap_mask is Matroid._swap_mask or any(map(_asks_one_by_one, made_of))
