"""The best exchange of a packing system: a linear maximisation, as a small integer program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.algorithms.programs import STOPPED, solve_within

# The solver's own tolerances are absolute, around 1e-6: with the largest number scaled to this they
# are a billionth of it.
SCALE = 1e3


@dataclass(frozen=True)
class ExchangeProgram:
    """The choice of elements to add and to drop that maximises gains less costs, with no group over full.

    With y for what is added and z for what is dropped: ``max Σ gain y − Σ cost z`` such that for every
    group ``Σ y − Σ z ≤ room``, with at most ``n_added`` added, ``n_dropped`` dropped, and at least one added.
    The last entry of ``room`` is for padding.
    """

    groups: IndexArray
    room: IndexArray
    support: IndexArray
    gain: FloatArray
    cost: FloatArray

    def solve(
        self,
        candidates: IndexArray,
        n_added: int,
        n_dropped: int,
        least: float,
        clock: Clock | None = None,
    ) -> tuple[IndexArray, IndexArray]:
        """Return the elements to add and to drop; some move reaches the score ``least``."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        candidates = self._pruned(self._best_of_each_kind(candidates, n_added), n_added, least)
        values = np.concatenate([self.gain[candidates], -self.cost[self.support]])
        n_candidates, n_all = len(candidates), len(values)
        is_candidate = np.arange(n_all) < n_candidates
        limits = [
            self._group_limits(candidates, n_added),
            LinearConstraint(1.0 * is_candidate[None, :], 1, n_added),
            LinearConstraint(1.0 - is_candidate[None, :], 0, n_dropped),
        ]
        clock = clock or Clock()
        result = solve_within(
            clock,
            lambda seconds: milp(
                -values / (np.abs(values).max() or 1.0) * SCALE,
                integrality=np.ones(n_all),
                bounds=Bounds(0, 1),
                constraints=limits,
                options={"mip_rel_gap": 0.0, "time_limit": seconds},
            ),
        )
        if result.status == STOPPED and clock.is_over:
            raise OutOfTime
        if result.status != 0:
            raise RuntimeError(f"the integer program for the best exchange was not solved: {result.message}")
        taken = result.x > 0.5
        return candidates[taken[:n_candidates]], self.support[taken[n_candidates:]]

    def _group_limits(self, candidates: IndexArray, n_added: int):  # type: ignore[no-untyped-def]
        from scipy.optimize import LinearConstraint
        from scipy.sparse import coo_array

        groups = np.concatenate([self.groups[candidates], self.groups[self.support]])
        column, place = np.nonzero(self.room[groups] < n_added)  # the others cannot be over full
        limited, row = np.unique(groups[column, place], return_inverse=True)
        sign = np.where(column < len(candidates), 1.0, -1.0)
        matrix = coo_array((sign, (row, column)), shape=(len(limited), len(groups))).tocsr()
        return LinearConstraint(matrix, -np.inf, self.room[limited])

    def _best_of_each_kind(self, candidates: IndexArray, n_added: int) -> IndexArray:
        """Keep, of candidates with the same groups, those with the ``n_added`` largest gains."""
        groups = np.sort(np.where(self.room[self.groups] < n_added, self.groups, -1)[candidates], axis=1)
        order = np.lexsort([-self.gain[candidates], *groups.T])
        kind = np.cumsum(np.append(True, (groups[order][1:] != groups[order][:-1]).any(axis=1)))
        place = np.arange(len(order)) - np.searchsorted(kind, kind)
        return np.sort(candidates[order[place < n_added]])

    def _pruned(self, candidates: IndexArray, n_added: int, least: float) -> IndexArray:
        """Leave out the candidates that cannot be part of a move with a score of at least ``least``.

        An added element displaces a member of each of its full groups, and a drop frees a place in at most p
        groups. So the score of a move is at most the sum, over the elements added, of the gain less a p-th of
        the cheapest member of each full group.
        """
        p = self.groups.shape[1]
        share = np.zeros(len(self.room))
        full = np.flatnonzero(self.room[:-1] <= 0)
        share[full] = np.inf
        for column in self.groups[self.support].T:
            inside = column >= 0
            np.minimum.at(share, column[inside], self.cost[self.support][inside] / p)
        bound = self.gain[candidates] - share[self.groups[candidates]].sum(axis=1)
        best = np.sort(np.maximum(bound, 0.0))[::-1]
        tolerance = 1e-9 * (self.gain[candidates].max() + self.cost.max())  # what rounding may cost
        return candidates[bound + best[: n_added - 1].sum() >= least - tolerance]
