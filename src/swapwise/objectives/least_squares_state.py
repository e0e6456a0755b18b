"""A set on its way through least squares: every gain in closed form, every move a rank-one update."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import swaps
from swapwise.moves import TIE, Move, MoveBatch, MoveList, SwapGrid
from swapwise.objectives.base import SparseState
from swapwise.objectives.least_squares import CANDIDATE_TOLERANCE, RANK_TOLERANCE, LeastSquares

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

# Columns of listed moves are gathered in blocks of about this many numbers.
BLOCK_ENTRIES = 1 << 20


class LeastSquaresState(SparseState):
    """The factors of ``swapwise.kernels.swaps`` at a set, kept up to date move by move.

    The chosen columns that are linearly independent, the *basis*, sit in slots; chosen columns that
    these span have no slot and coefficient 0. Memory is ``O(n · |X|)``: no n × n matrix.
    """

    objective: LeastSquares

    # By slot; arrays have room to grow.
    _size: int
    _elements: IndexArray
    _columns: FloatArray  # one chosen column a row
    _weights: FloatArray
    _inverse: FloatArray  # C
    # By element.
    _slot: IndexArray  # -1 without one
    _coupling: FloatArray  # B transposed: (n, slots)
    _products: FloatArray | None  # AᵀA_X: (n, slots), only for those who ask
    _corr: FloatArray  # c
    _sigma: FloatArray
    _residual: FloatArray  # by sample
    _updates: int
    _error: float

    def __init__(self, objective: LeastSquares, support: IndexArray) -> None:
        self.objective = objective
        self.n_evaluations = 1
        self._floor = CANDIDATE_TOLERANCE * objective.squares
        self._rank_floor = RANK_TOLERANCE * objective.squares
        self.support = support
        self._rebuild()

    # -- what the search reads --------------------------------------------------------------------

    @property
    def coef(self) -> FloatArray:
        """The best coefficients, of length n."""
        return self.objective._embed(self._elements[: self._size], self._weights[: self._size])

    @property
    def gradient(self) -> FloatArray:
        """The gradient of R² at the coefficients."""
        gradient = (2.0 / self.objective.total) * self._corr
        gradient[self.support] = 0.0
        return gradient

    def is_cheap(self, moves: MoveBatch) -> bool:
        """Return True but for large moves from a set of dependent columns, which are refitted."""
        swaps_only = isinstance(moves, SwapGrid) or moves.to_list().are_swaps()
        return swaps_only or self._size == len(self.support)

    def gains(self, moves: MoveBatch) -> FloatArray:
        """Return the exact gains of a grid or of listed swaps in closed form."""
        if isinstance(moves, SwapGrid):
            useful = moves.useful
            self.n_evaluations += int(useful.sum())
            self._warn_if_nothing_is_left(moves)
            gains = swaps.grid_gains(useful, self._slots_of(moves.drops), *self._quantities())
            return gains / self.objective.total
        if isinstance(moves, MoveList) and moves.are_swaps():
            return self._gains_of_swaps(moves)
        if self._size < len(self.support):
            return super().gains(moves)  # which spare column takes over is best left to a refit
        return self._gains_of_moves(moves.to_list())

    def best(self, moves: MoveBatch) -> tuple[int, float]:
        """Return the best move of a grid by a lazy scan that is still exact."""
        if not isinstance(moves, SwapGrid):
            return super().best(moves)
        self._warn_if_nothing_is_left(moves)
        total = self.objective.total
        slots = self._slots_of(moves.drops)
        index, gain, evaluated = swaps.best_of_grid(moves.feasible, slots, *self._quantities(), TIE, total)
        self.n_evaluations += evaluated
        return index, gain / total

    def move_smoothness(self, moves: MoveBatch) -> FloatArray:
        """Return the largest eigenvalue of the Hessian block of each move's own elements."""
        if not isinstance(moves, SwapGrid):
            return self._smoothness_of_list(moves.to_list())
        slots = self._slot[moves.drops]
        curvature = swaps.pair_curvatures(self.objective.squares, moves.drops, slots, self._gram())
        curvature *= 2.0 / self.objective.total
        return curvature

    def _smoothness_of_list(self, moves: MoveList) -> FloatArray:
        design, largest = self.objective.design, np.zeros(len(moves))
        width = moves.added.shape[1] + moves.dropped.shape[1]
        rows = max(1, BLOCK_ENTRIES // max(1, width * design.n_samples))
        for begin in range(0, len(moves) if width else 0, rows):
            part = moves.take(slice(begin, begin + rows))
            touched = np.hstack([part.added, part.dropped])
            columns = design.columns(touched.ravel()).reshape(*touched.shape, -1)
            columns[touched < 0] = 0.0
            blocks = columns @ columns.transpose(0, 2, 1)
            largest[begin : begin + rows] = np.linalg.eigvalsh(blocks)[:, -1]
        return (2.0 / self.objective.total) * (largest + self.objective.ridge)

    # -- taking a move ----------------------------------------------------------------------------

    def apply(self, move: Move) -> None:
        """Take a move: one sweep for each element that leaves or enters, or new factors for many."""
        self.n_evaluations += 1
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
        if self._updates > UPDATES_BEFORE_REBUILD + 4 * self._size or self._drifted():
            self._rebuild()
        else:
            self._refine_small()
        self.value = self.objective.value_of(self._residual, self._weights[: self._size])

    def _drop(self, element: int) -> None:
        slot = self._slot[element]
        if slot < 0:
            return
        last = self._size - 1
        if self.objective.squares[element] * self._inverse[slot, slot] > LARGEST_INFLATION:
            self._error = np.inf
        swaps.remove_slot(
            slot, self._size, self._coupling, self._inverse, self._weights, self._corr, self._sigma
        )
        for array in (self._elements, self._columns):
            array[slot] = array[last]
        if self._products is not None:
            self._products[:, slot] = self._products[:, last]
        self._slot[self._elements[slot]] = slot
        self._slot[element] = -1
        self._size = last
        self._updates += 1
        self._residual = self.objective.y - self._weights[:last] @ self._columns[:last]
        # A chosen column that the dropped one made superfluous may now be needed.
        spare = self._spare()
        needed = spare[self._sigma[spare] > self._rank_floor[spare]]
        if len(needed):
            self._add(int(needed[0]))

    def _add(self, element: int) -> None:
        size, ridge = self._size, self.objective.ridge
        self._reserve(size + 1)
        basis, inverse = self._columns[:size], self._inverse[:size, :size]
        column = self.objective.design.columns(np.array([element]))[0]

        # The rest of the column after projection, refined once: the update is as exact as this is.
        explained = self._coupling[element, :size].copy()
        rest = column - explained @ basis
        correction = inverse @ (basis @ rest - ridge * explained)
        explained += correction
        rest -= correction @ basis
        unexplained = float(rest @ rest + ridge * (1.0 + explained @ explained))
        if unexplained <= self._rank_floor[element]:
            self.objective.warn_of_rank(f"column {element} is spanned by columns chosen before it")
            return
        self._error = max(
            self._error,
            abs(unexplained - self._sigma[element]) / unexplained,
            float(np.abs(correction).max(initial=0.0)) / (1.0 + float(np.abs(explained).max(initial=0.0))),
        )

        step = float(column @ self._residual) / unexplained
        self._residual = self._residual - step * rest
        products = self.objective.design.correlate(np.column_stack([rest, self._residual, column]))
        row = np.ascontiguousarray(products[:, 0]) / unexplained
        swaps.insert_slot(
            size, explained, unexplained, step, row, self._coupling, self._inverse, self._weights, self._sigma
        )
        self._corr = np.ascontiguousarray(products[:, 1])
        if self._products is not None:
            self._products[:, size] = products[:, 2]
        self._elements[size], self._columns[size], self._slot[element] = element, column, size
        self._size += 1
        self._updates += 1

    # -- building and guarding the factors --------------------------------------------------------

    def _rebuild(self) -> None:
        """Factor the chosen columns anew, from the data."""
        objective, support = self.objective, self.support
        factor = objective.factor(support)
        size = len(factor.basis)
        self._allocate(max(size, FEWEST_SLOTS))
        self._slot = np.full(objective.n, -1, dtype=np.intp)
        self._elements[:size] = support[factor.basis]
        self._columns[:size] = factor.columns
        self._slot[self._elements[:size]] = np.arange(size)
        inverse_R = factor.inverse_R()
        self._inverse[:size, :size] = inverse_R @ inverse_R.T
        projected = objective.design.correlate(factor.Q)
        self._coupling[:, :size] = projected @ inverse_R.T
        self._sigma = objective.squares - np.einsum("ij,ij->i", projected, projected)
        self._weights[:size] = factor.solve(objective.y)
        self._residual = objective.y - self._weights[:size] @ factor.columns
        self._corr = objective.design.correlate(self._residual)
        self._size, self._updates, self._error, self._products = size, 0, 0.0, None
        self._refine_small()
        self.value = objective.value_of(self._residual, self._weights[:size])

    def _refine_small(self) -> None:
        """Compute σ, c and B anew for columns of which little is left, from what is left of them."""
        squares, ridge, size = self.objective.squares, self.objective.ridge, self._size
        small = np.flatnonzero((self._sigma < SMALL_SHARE * squares) & (self._slot < 0))
        if not len(small):
            return
        basis, inverse = self._columns[:size], self._inverse[:size, :size]
        columns = self.objective.design.columns(small)
        explained = self._coupling[small, :size]
        rest = columns - explained @ basis
        for _ in range(2):
            correction = (rest @ basis.T - ridge * explained) @ inverse
            explained = explained + correction
            rest -= correction @ basis
        self._coupling[small, :size] = explained
        self._sigma[small] = (rest**2).sum(axis=1) + ridge * (1.0 + (explained**2).sum(axis=1))
        self._corr[small] = rest @ self._residual + ridge * (explained @ self._weights[:size])

    def _allocate(self, slots: int) -> None:
        n, samples = self.objective.n, self.objective.design.n_samples
        self._elements = np.full(slots, -1, dtype=np.intp)
        self._columns = np.zeros((slots, samples))
        self._weights = np.zeros(slots)
        self._inverse = np.zeros((slots, slots))
        self._coupling = np.zeros((n, slots))
        self._products = None

    def _reserve(self, size: int) -> None:
        """Make room for ``size`` slots, twice as many as before when there are too few."""
        if size <= len(self._weights):
            return
        old = self._elements, self._columns, self._weights, self._inverse, self._coupling, self._products
        self._allocate(max(2 * len(self._weights), size, FEWEST_SLOTS))
        new = self._elements, self._columns, self._weights, self._inverse, self._coupling
        for before, after in zip(old, new, strict=False):
            assert before is not None
            after[tuple(slice(0, length) for length in before.shape)] = before
        if old[-1] is not None:
            self._products = np.zeros_like(self._coupling)
            self._products[:, : old[-1].shape[1]] = old[-1]

    def _drifted(self) -> bool:
        """Tell whether rounding has spoilt the factors: the residual must not correlate with X."""
        chosen = self._elements[: self._size]
        expected = self.objective.ridge * self._weights[: self._size]
        scale = np.sqrt(self.objective.squares[chosen] * self.objective.total)
        error = np.abs(self._corr[chosen] - expected) / scale
        return max(self._error, float(error.max(initial=0.0))) > DRIFT_TOLERANCE

    def _gram(self) -> FloatArray:
        """Return ``Aᵀ A_X`` by slots: computed when first asked for, then kept up to date."""
        if self._products is None:
            self._products = np.zeros_like(self._coupling)
            chosen = self._columns[: self._size]
            self._products[:, : self._size] = self.objective.design.correlate(chosen.T)
        return self._products

    # -- helpers of the gains ---------------------------------------------------------------------

    def _quantities(self) -> tuple[FloatArray, ...]:
        spread = 1.0 / np.diag(self._inverse)[: self._size]
        return self._coupling, self._weights, spread, self._corr, self._sigma, self._floor

    def _slots_of(self, dropped: IndexArray) -> IndexArray:
        """Return the slot of each element to drop, or -1 if nothing is lost by dropping it."""
        slots = self._slot[dropped]
        if 0 < self._size < len(self.support):
            spare = self._spare()
            share = self._coupling[spare, : self._size] ** 2 / np.diag(self._inverse)[: self._size]
            needed = self._sigma[spare, None] + share > self._rank_floor[spare, None]
            replaceable = np.any(needed, axis=0, keepdims=True)[0]
            slots = np.where(replaceable[slots], -1, slots)
        return slots

    def _spare(self) -> IndexArray:
        """Return the chosen elements that the basis spans."""
        return self.support[self._slot[self.support] < 0]

    def _gains_of_swaps(self, moves: MoveList) -> FloatArray:
        self.n_evaluations += len(moves)
        added, dropped = moves.swap_columns()
        slots = np.where(dropped >= 0, self._slots_of(np.maximum(dropped, 0)), -1)
        gains = np.zeros(len(moves))
        adds = added >= 0
        gains[adds] = swaps.pair_gains(added[adds], slots[adds], *self._quantities())
        loses = ~adds & (slots >= 0)
        lost = slots[loses]
        gains[loses] = -(self._weights[lost] ** 2) / np.diag(self._inverse)[lost]
        return gains / self.objective.total

    def _gains_of_moves(self, moves: MoveList) -> FloatArray:
        self.n_evaluations += len(moves)
        newcomers = np.unique(moves.added[moves.added >= 0])
        columns = self.objective.design.columns(newcomers)
        rest = columns - self._coupling[newcomers, : self._size] @ self._columns[: self._size]
        products = rest @ columns.T
        np.fill_diagonal(products, self._sigma[newcomers])
        slots = np.where(moves.dropped >= 0, self._slot[moves.dropped], -1)
        places = np.searchsorted(newcomers, moves.added)
        gains = swaps.move_gains(
            moves.added,
            places,
            slots,
            products,
            self._inverse,
            self._coupling,
            self._weights,
            self._corr,
            self._floor,
        )
        return gains / self.objective.total

    def _warn_if_nothing_is_left(self, grid: SwapGrid) -> None:
        free = grid.free
        if free.any() and not (self._sigma[free] > self._floor[free]).any():
            chosen = len(self.support)
            self.objective.warn_of_rank(f"{chosen} chosen columns span all that could be added to them")
