"""The chosen columns of least squares as factors that every move updates by rank one."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import swaps
from swapwise.moves import Move
from swapwise.objectives.least_squares import RANK_TOLERANCE, LeastSquares

# A relative error of the updated factors above this asks for new ones. So do this many updates and
# four times the size of the set: rebuilding then costs a small share of them.
DRIFT_TOLERANCE = 1e-9
UPDATES_BEFORE_REBUILD = 100

# Dropping a column that the others nearly span cancels large numbers: the error it leaves grows with the
# square of how many times larger its squared length is than what was unexplained of it.
LARGEST_INFLATION = 200.0

# σ is a difference; where less than this share of a column's squared length is left, it is computed anew
# from what is left of the column itself.
SMALL_SHARE = 1e-5

# A move of more elements than this is cheaper to factor anew than to sweep in one by one.
SWEEPS_BEFORE_REBUILD = 8

FEWEST_SLOTS = 32


class SweptBasis:
    """The quantities of ``swapwise.kernels.swaps`` at a set of columns, kept true move by move.

    The chosen columns that are linearly independent, the *basis*, sit in slots; chosen columns that
    these span have no slot and coefficient 0. Memory is ``O(n · |X|)``: no n × n matrix.
    """

    support: IndexArray

    # By slot; arrays have room to grow.
    size: int
    elements: IndexArray
    columns: FloatArray  # one chosen column a row
    weights: FloatArray
    inverse: FloatArray  # C
    # By element.
    slot: IndexArray  # -1 without one
    coupling: FloatArray  # B transposed: (n, slots)
    _products: FloatArray | None  # AᵀA_X: (n, slots), only for those who ask
    corr: FloatArray  # c
    sigma: FloatArray
    residual: FloatArray  # by sample
    _updates: int
    _error: float

    def __init__(self, objective: LeastSquares, support: IndexArray) -> None:
        self.objective = objective
        self.rank_floor = RANK_TOLERANCE * objective.squares
        self.support = support
        self._rebuild()

    @property
    def value(self) -> float:
        """R² of the fit."""
        return self.objective.value_of(self.residual, self.weights[: self.size])

    def apply(self, move: Move) -> None:
        """Take a move: one sweep for each element that leaves or enters, or new factors for many."""
        if len(move.added) + len(move.dropped) > SWEEPS_BEFORE_REBUILD:
            self.support = move.result(self.support)
            self._rebuild()
            return
        self.support = Move(dropped=move.dropped).result(self.support)
        for element in move.dropped:
            self._drop(element)
        self.support = Move(added=move.added).result(self.support)
        for element in move.added:
            self._add(element)
        if self._updates > UPDATES_BEFORE_REBUILD + 4 * self.size or self._drifted():
            self._rebuild()
        else:
            self._refine_small()

    def spare(self) -> IndexArray:
        """Return the chosen elements that the basis spans."""
        return self.support[self.slot[self.support] < 0]

    def slots_of(self, dropped: IndexArray) -> IndexArray:
        """Return the slot of each element to drop, or -1 if nothing is lost by dropping it."""
        slots = self.slot[dropped]
        if 0 < self.size < len(self.support):
            spare = self.spare()
            share = self.coupling[spare, : self.size] ** 2 / np.diag(self.inverse)[: self.size]
            needed = self.sigma[spare, None] + share > self.rank_floor[spare, None]
            replaceable = np.any(needed, axis=0, keepdims=True)[0]
            slots = np.where(replaceable[slots], -1, slots)
        return slots

    def gram(self) -> FloatArray:
        """Return ``Aᵀ A_X`` by slots: computed when first asked for, then kept up to date."""
        if self._products is None:
            self._products = np.zeros_like(self.coupling)
            chosen = self.columns[: self.size]
            self._products[:, : self.size] = self.objective.design.correlate(chosen.T)
        return self._products

    def _drop(self, element: int) -> None:
        slot = self.slot[element]
        if slot < 0:
            return
        last = self.size - 1
        if self.objective.squares[element] * self.inverse[slot, slot] > LARGEST_INFLATION:
            self._error = np.inf
        swaps.remove_slot(slot, self.size, self.coupling, self.inverse, self.weights, self.corr, self.sigma)
        for array in (self.elements, self.columns):
            array[slot] = array[last]
        if self._products is not None:
            self._products[:, slot] = self._products[:, last]
        self.slot[self.elements[slot]] = slot
        self.slot[element] = -1
        self.size = last
        self._updates += 1
        self.residual = self.objective.y - self.weights[:last] @ self.columns[:last]
        # A chosen column that the dropped one made superfluous may now be needed.
        spare = self.spare()
        needed = spare[self.sigma[spare] > self.rank_floor[spare]]
        if len(needed):
            self._add(int(needed[0]))

    def _add(self, element: int) -> None:
        size, ridge = self.size, self.objective.ridge
        self._reserve(size + 1)
        basis, inverse = self.columns[:size], self.inverse[:size, :size]
        column = self.objective.design.columns(np.array([element]))[0]

        # The rest of the column after projection, refined once: the update is as exact as this is.
        explained = self.coupling[element, :size].copy()
        rest = column - explained @ basis
        correction = inverse @ (basis @ rest - ridge * explained)
        explained += correction
        rest -= correction @ basis
        unexplained = float(rest @ rest + ridge * (1.0 + explained @ explained))
        if unexplained <= self.rank_floor[element]:
            self.objective.warn_of_rank(f"column {element} is spanned by columns chosen before it")
            return
        self._error = max(
            self._error,
            abs(unexplained - self.sigma[element]) / unexplained,
            float(np.abs(correction).max(initial=0.0)) / (1.0 + float(np.abs(explained).max(initial=0.0))),
        )

        step = float(column @ self.residual) / unexplained
        self.residual = self.residual - step * rest
        products = self.objective.design.correlate(np.column_stack([rest, self.residual, column]))
        row = np.ascontiguousarray(products[:, 0]) / unexplained
        swaps.insert_slot(
            size, explained, unexplained, step, row, self.coupling, self.inverse, self.weights, self.sigma
        )
        self.corr = np.ascontiguousarray(products[:, 1])
        if self._products is not None:
            self._products[:, size] = products[:, 2]
        self.elements[size], self.columns[size], self.slot[element] = element, column, size
        self.size += 1
        self._updates += 1

    def _rebuild(self) -> None:
        """Factor the chosen columns anew, from the data."""
        objective, support = self.objective, self.support
        factor = objective.factor(support)
        size = len(factor.basis)
        self._allocate(max(size, FEWEST_SLOTS))
        self.slot = np.full(objective.n, -1, dtype=np.intp)
        self.elements[:size] = support[factor.basis]
        self.columns[:size] = factor.columns
        self.slot[self.elements[:size]] = np.arange(size)
        inverse_R = factor.inverse_R()
        self.inverse[:size, :size] = inverse_R @ inverse_R.T
        projected = objective.design.correlate(factor.Q)
        self.coupling[:, :size] = projected @ inverse_R.T
        self.sigma = objective.squares - np.einsum("ij,ij->i", projected, projected)
        self.weights[:size] = factor.solve(objective.y)
        self.residual = objective.y - self.weights[:size] @ factor.columns
        self.corr = objective.design.correlate(self.residual)
        self.size, self._updates, self._error, self._products = size, 0, 0.0, None
        self._refine_small()

    def _refine_small(self) -> None:
        """Compute σ, c and B anew for columns of which little is left, from what is left of them."""
        squares, ridge, size = self.objective.squares, self.objective.ridge, self.size
        small = np.flatnonzero((self.sigma < SMALL_SHARE * squares) & (self.slot < 0))
        if not len(small):
            return
        basis, inverse = self.columns[:size], self.inverse[:size, :size]
        columns = self.objective.design.columns(small)
        explained = self.coupling[small, :size]
        rest = columns - explained @ basis
        for _ in range(2):
            correction = (rest @ basis.T - ridge * explained) @ inverse
            explained = explained + correction
            rest -= correction @ basis
        self.coupling[small, :size] = explained
        self.sigma[small] = (rest**2).sum(axis=1) + ridge * (1.0 + (explained**2).sum(axis=1))
        self.corr[small] = rest @ self.residual + ridge * (explained @ self.weights[:size])

    def _allocate(self, slots: int) -> None:
        n, samples = self.objective.n, self.objective.design.n_samples
        self.elements = np.full(slots, -1, dtype=np.intp)
        self.columns = np.zeros((slots, samples))
        self.weights = np.zeros(slots)
        self.inverse = np.zeros((slots, slots))
        self.coupling = np.zeros((n, slots))
        self._products = None

    def _reserve(self, size: int) -> None:
        """Make room for ``size`` slots, twice as many as before when there are too few."""
        if size <= len(self.weights):
            return
        old = self.elements, self.columns, self.weights, self.inverse, self.coupling, self._products
        self._allocate(max(2 * len(self.weights), size, FEWEST_SLOTS))
        new = self.elements, self.columns, self.weights, self.inverse, self.coupling
        for before, after in zip(old, new, strict=False):
            assert before is not None
            after[tuple(slice(0, length) for length in before.shape)] = before
        if old[-1] is not None:
            self._products = np.zeros_like(self.coupling)
            self._products[:, : old[-1].shape[1]] = old[-1]

    def _drifted(self) -> bool:
        """Tell whether rounding has spoilt the factors: the residual must not correlate with X."""
        chosen = self.elements[: self.size]
        expected = self.objective.ridge * self.weights[: self.size]
        scale = np.sqrt(self.objective.squares[chosen] * self.objective.total)
        error = np.abs(self.corr[chosen] - expected) / scale
        return max(self._error, float(error.max(initial=0.0))) > DRIFT_TOLERANCE
