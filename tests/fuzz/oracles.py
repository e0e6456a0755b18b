"""Slow and plain answers to compare with: enumeration, long doubles, rational numbers, Newton's method."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.special import logsumexp

import swapwise as sw

Set = tuple[int, ...]

#: What rounding leaves of a number, relative to it: a long double of 64 bits, or a double where there is none
LONG_EPS = float(np.finfo(np.longdouble).eps)
#: Where a likelihood has no maximum, a step gains about 1 in the linear predictor: e^-40 is nothing
MOST_STEPS = 300
#: Slopes of a maximum, but for rounding
SETTLED = 1e-6
#: Coefficients beyond this are on their way to infinity, and products with them are rounding
LARGEST = 1e8


def independent_sets(n: int, allows: Callable[[frozenset[int]], bool], forced: Iterable[int]) -> list[Set]:
    """Return every allowed set that holds what is forced in, smaller ones first."""
    held = frozenset(forced)
    rest = [element for element in range(n) if element not in held]
    grown = (held | set(more) for size in range(len(rest) + 1) for more in combinations(rest, size))
    return [tuple(sorted(chosen)) for chosen in grown if allows(frozenset(chosen))]


def neighbours(constraint: sw.IndependenceSystem, sets: Collection[Set], chosen: Set, q: int) -> list[Set]:
    """Return the independent sets that one move leads to, by the definition where there is one."""
    if isinstance(constraint, sw.Matroid):
        adds, drops = 1, 1
    elif getattr(constraint, "neighbourhood", "") == "matroid":
        adds, drops = 2 * q, 2 * constraint.p * q
    elif isinstance(constraint, (sw.BMatching, sw.SetPacking, sw.Intersection)):
        adds, drops = q, constraint.p * q - q + 1
    else:
        batches = constraint.moves(np.array(chosen, dtype=np.intp), q)
        moves = [move for batch in batches for move in batch.to_list().moves()]
        reached = [tuple(move.result(np.array(chosen, dtype=np.intp)).tolist()) for move in moves]
        return [after for after in reached if after in sets]
    return [after for after in sets if _is_move(sets, {*chosen}, {*after}, adds, drops)]


def _is_move(sets: Collection[Set], before: set[int], after: set[int], adds: int, drops: int) -> bool:
    """Whether a move leads from one set to the other that drops nothing needlessly."""
    added, dropped = after - before, before - after
    if not added or len(added) > adds or len(dropped) > drops:
        return False
    return not any(tuple(sorted(after | {element})) in sets for element in dropped)


@dataclass
class Regression:
    """A least-squares problem as it was handed in: what R² of a set is, in long doubles.

    ``f(S) = max of 1 − (‖y − Xw‖² + Σ_j (ridge + precision²·‖x_j‖²) w_j²) / ‖y‖²`` over w on the columns of
    S, with weights of samples in all norms. ``precision`` 0 takes the columns at their word.
    """

    X: np.ndarray
    y: np.ndarray
    ridge: float = 0.0
    weight: np.ndarray | None = None
    #: The columns of each element
    members: Sequence[Sequence[int]] | None = None
    #: How well the columns are known, relative to their length; what is documented of the objective
    precision: float = 0.0

    def __post_init__(self) -> None:
        root = np.sqrt(np.ones(len(self.y)) if self.weight is None else self.weight).astype(np.longdouble)
        columns = np.asarray(self.X).astype(np.longdouble) * root[:, None]
        self._y = np.asarray(self.y).astype(np.longdouble) * root
        self._lengths = np.sqrt((columns**2).sum(axis=0))
        self._units = columns / np.where(self._lengths > 0, self._lengths, 1)

    def columns_of(self, chosen: Set) -> Set:
        """Return the columns of a set of elements, without those that are zero."""
        used = chosen if self.members is None else [c for element in chosen for c in self.members[element]]
        return tuple(c for c in used if self._lengths[c] > 0)

    def values(self, sets: Sequence[Set], precision: float, spanned: float = 0.0) -> np.ndarray:
        """Return f of every set; of columns nearer than ``spanned`` to those before them, nothing is used."""
        by_size: dict[int, list[int]] = {}
        columns = [self.columns_of(chosen) for chosen in sets]
        for index, used in enumerate(columns):
            by_size.setdefault(len(used), []).append(index)
        values = np.zeros(len(sets))
        total = self._y @ self._y
        for size, indices in by_size.items():
            if size and total > 0:
                chosen = np.array([columns[index] for index in indices])
                values[indices] = (self._explained(chosen, precision, spanned) / total).astype(float)
        return values

    def _explained(self, chosen: np.ndarray, precision: float, spanned: float) -> np.ndarray:
        """Return what sets of equally many columns explain of ‖y‖²; by Gram–Schmidt, each column twice."""
        count, size = chosen.shape
        samples = len(self._y)
        penalty = np.sqrt(self.ridge / self._lengths[chosen] ** 2 + np.longdouble(precision) ** 2)
        stacked = np.zeros((count, size, samples + size), dtype=np.longdouble)
        stacked[:, :, :samples] = self._units.T[chosen]
        stacked[:, np.arange(size), samples + np.arange(size)] = penalty
        explained = np.zeros(count, dtype=np.longdouble)
        for column in range(size):
            vector, before = stacked[:, column], stacked[:, :column]
            length = np.sqrt((vector**2).sum(axis=1))
            for _ in range(2):
                vector = vector - np.einsum("ij,ijk->ik", np.einsum("ijk,ik->ij", before, vector), before)
            left = np.sqrt((vector**2).sum(axis=1))
            counts = left > np.maximum(spanned, 100 * LONG_EPS) * length
            unit = np.where(counts[:, None], vector / np.where(counts, left, 1)[:, None], 0)
            stacked[:, column] = unit
            explained += (unit[:, :samples] @ self._y) ** 2
        return explained

    def condition(self, chosen: Set) -> float:
        """Return the condition number of the chosen columns, each divided by its length."""
        used = list(self.columns_of(chosen))
        if not used:
            return 1.0
        sizes = np.linalg.svd(self._units[:, used].astype(float), compute_uv=False)
        if len(used) > len(self._y) or sizes[-1] == 0:
            return np.inf
        return float(sizes[0] / sizes[-1])

    def rational(self, chosen: Set) -> Fraction | None:
        """Return f of a set in rational numbers, or None if its columns are dependent without a ridge."""
        used = self.columns_of(chosen)
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        rows = [[Fraction(float(self.X[s, c])) for c in used] for s in range(len(self.y))]
        y, omega = [Fraction(float(v)) for v in self.y], [Fraction(float(v)) for v in weight]

        def product(a: list[Fraction], b: list[Fraction]) -> Fraction:
            return sum((o * u * v for o, u, v in zip(omega, a, b, strict=True)), Fraction(0))

        columns = [[row[i] for row in rows] for i in range(len(used))]
        gram = [[product(a, b) for b in columns] for a in columns]
        for i in range(len(used)):
            gram[i][i] += Fraction(self.ridge)
        slopes = [product(column, y) for column in columns]
        coef = _solved([row[:] for row in gram], slopes[:])
        total = product(y, y)
        if coef is None or total == 0:
            return None
        return sum((a * b for a, b in zip(coef, slopes, strict=True)), Fraction(0)) / total


def _solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Return the solution of a positive definite system by elimination, None if it is singular."""
    size = len(right)
    for i in range(size):
        if matrix[i][i] == 0:
            return None
        for k in range(i + 1, size):
            factor = matrix[k][i] / matrix[i][i]
            matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
            right[k] -= factor * right[i]
    for i in reversed(range(size)):
        known = sum((matrix[i][k] * right[k] for k in range(i + 1, size)), Fraction(0))
        right[i] = (right[i] - known) / matrix[i][i]
    return right


@dataclass
class Likelihood:
    """A penalised log-likelihood ``Σ_s ω_s loss(η_s) − ridge ‖w‖²/2``, maximised by a damped Newton method.

    ``free`` holds columns without penalty that are always in: an intercept, the fields of an Ising model. The
    chosen columns are made orthogonal to them and turned by their singular vectors, which leaves the penalty
    diagonal and the columns orthogonal.
    """

    family: str
    X: np.ndarray
    y: np.ndarray
    ridge: float
    weight: np.ndarray
    free: np.ndarray
    members: Sequence[Sequence[int]] | None = None
    classes: int = 2
    _basis: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        levels = self.classes - 1
        self._basis = np.linalg.svd(np.ones((1, levels + 1)))[2][1:].T  # orthonormal, and sums to zero
        alone = np.zeros((self.free.shape[1], levels))
        self._null, self._alone = self._maximum(np.empty((len(self.y), 0)), alone)

    def value(self, chosen: Set) -> float:
        """Return the largest log-likelihood on a set, relative to that of the free columns alone.

        NaN if Newton's method has not come to its end, as on separable data where rounding stops it.
        """
        return self._maximum(self._columns(chosen), self._alone)[0] - self._null

    def condition(self, chosen: Set) -> float:
        """Return the condition number of the chosen columns, each of length one, apart from the free ones."""
        columns = self._apart(self._columns(chosen))
        lengths = np.linalg.norm(columns, axis=0)
        sizes = np.linalg.svd(columns[:, lengths > 0] / lengths[lengths > 0], compute_uv=False)
        if columns.shape[1] + self.free.shape[1] > len(self.y):
            return np.inf
        return 1.0 if not len(sizes) else float(sizes[0] / max(sizes[-1], 1e-300))

    def _columns(self, chosen: Set) -> np.ndarray:
        used = chosen if self.members is None else [c for element in chosen for c in self.members[element]]
        return np.asarray(self.X, dtype=float)[:, list(used)]

    def _apart(self, columns: np.ndarray) -> np.ndarray:
        """Return what the free columns do not span; zero where that is no more than rounding."""
        rest = columns - self.free @ np.linalg.lstsq(self.free, columns, rcond=None)[0]
        return np.where(np.linalg.norm(rest, axis=0) > 1e-13 * np.linalg.norm(columns, axis=0), rest, 0.0)

    def _maximum(self, columns: np.ndarray, begin: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the largest value with some columns, and the coefficients of the free ones and of those."""
        columns = self._apart(columns)
        if self.ridge == 0:  # then lengths do not matter, and equal ones are best for the numerics
            columns = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
        turned, sizes, _ = np.linalg.svd(columns, full_matrices=False)
        kept = sizes > 1e-13 * sizes.max(initial=0.0)
        design = np.hstack([self.free, turned[:, kept]])
        penalty = np.concatenate([np.zeros(self.free.shape[1]), self.ridge / sizes[kept] ** 2])
        theta = np.vstack([begin, np.zeros((int(kept.sum()), self.classes - 1))])
        value, slope, curve = self._derivatives(design, theta, penalty)
        damping = 1e-14
        for _ in range(MOST_STEPS):
            step = _newton_step(curve, slope, damping)
            gain = float((slope * step).sum())
            if not gain > 1e-15 * max(1.0, abs(value)) or damping > 1e6:
                break
            after = self._derivatives(design, theta + step, penalty)
            worked = after[0] >= value + 1e-4 * gain
            damping = max(1e-14, damping / 10) if worked else max(1e-8, damping * 10)
            if worked:
                theta, (value, slope, curve) = theta + step, after
        ended = np.abs(slope).max(initial=0.0) < SETTLED and np.abs(theta).max(initial=0.0) < LARGEST
        return value if ended else np.nan, theta

    def _derivatives(
        self, design: np.ndarray, theta: np.ndarray, penalty: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the value at theta, its slope, and minus its Hessian."""
        eta = design @ theta
        loss, slope, curve = self._loss(eta)
        value = float(self.weight @ loss - (penalty[:, None] * theta**2).sum() / 2)
        grad = design.T @ (self.weight[:, None] * slope) - penalty[:, None] * theta
        blocks = np.einsum("si,sj,skl,s->ikjl", design, design, curve, self.weight)
        hessian = blocks.reshape(theta.size, theta.size) + np.diag(np.repeat(penalty, theta.shape[1]))
        return value, grad, hessian

    def _loss(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.family == "poisson":
            mean = np.exp(np.minimum(eta[:, 0], 300.0))
            return self.y * eta[:, 0] - mean, (self.y - mean)[:, None], mean[:, None, None]
        if self.family == "logistic":
            chance = 1 / (1 + np.exp(-np.clip(eta[:, 0], -700, 700)))
            loss = self.y * eta[:, 0] - np.logaddexp(0.0, eta[:, 0])
            return loss, (self.y - chance)[:, None], (chance * (1 - chance))[:, None, None]
        scores = eta @ self._basis.T
        norm = logsumexp(scores, axis=1)
        chance = np.exp(scores - norm[:, None])
        truth = np.eye(self.classes)[self.y.astype(int)]
        curve = np.einsum("sk,kl->skl", chance, np.eye(self.classes)) - chance[:, :, None] * chance[:, None]
        loss = (truth * scores).sum(axis=1) - norm
        return loss, (truth - chance) @ self._basis, self._basis.T @ curve @ self._basis


def _newton_step(curve: np.ndarray, slope: np.ndarray, damping: float) -> np.ndarray:
    """Return the step to the maximum of a second-order model, damped, in units in which all curve alike."""
    units = 1 / np.sqrt(np.maximum(np.diagonal(curve), 1e-300))
    damped = curve * units * units[:, None] + damping * np.eye(len(curve))
    step = np.linalg.lstsq(damped, slope.ravel() * units, rcond=1e-15)[0]
    return (step * units).reshape(slope.shape)
