"""Least squares with whole groups of columns as elements."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_elements, unwarned, warn
from swapwise.clock import Clock
from swapwise.data.columns import Columns, Likely
from swapwise.data.dense import DenseMatrix
from swapwise.data.design import Design
from swapwise.data.open import is_chunked
from swapwise.objectives.base import Groups, SampleCurvature, read_groups, rows_of
from swapwise.objectives.block_columns import (
    COPY_UP_TO,
    SHORT,
    components,
    diagonals,
    offsets_of,
    own_products,
    shortest_directions,
)
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.override import override

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.group_state import GroupLeastSquaresState


class Blocks(NamedTuple):
    """The columns that a search uses: where columns of a group are dependent, fewer with the same span."""

    #: Least squares on the columns one by one
    plain: LeastSquares
    #: Element e has the columns ``rows[begin[e] : begin[e + 1]]`` of it
    begin: IndexArray
    rows: IndexArray
    #: Inner products of the columns of every element, with the penalty, row by row from ``at[e]`` on
    own: FloatArray
    at: IndexArray
    #: Elements with directions that are too short for closed forms, and too long for rounding
    fragile: BoolArray

    def rows_of(self, elements: IndexArray) -> IndexArray:
        parts = [self.rows[self.begin[e] : self.begin[e + 1]] for e in elements]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)


def _as_label(label: Hashable, n_columns: int) -> Hashable:
    """Return the label; refuse what cannot be one, such as the list of a group's columns."""
    try:
        hash(label)
    except TypeError:
        kind = type(label).__name__
        raise TypeError(
            f"groups must hold one label for each of the {n_columns} columns, got the {kind} {label!r}"
        ) from None
    return label


class GroupLeastSquares(LeastSquares):
    """:class:`LeastSquares` with ``groups``: computed from least squares on single columns, ``plain``."""

    has_groups = True
    #: The labels in order of appearance
    group_labels: list[Hashable] | None = None

    def _read_groups(
        self,
        X: Any,
        y: ArrayLike,
        ridge: float,
        sample_weight: ArrayLike | None,
        groups: Iterable[Hashable],
    ) -> None:
        if is_chunked(X):
            raise TypeError(
                "LeastSquares with groups needs data in memory, got data in chunks: give X as an array"
            )
        with unwarned():  # the warning below is about groups
            plain = LeastSquares(X, y, ridge, sample_weight)
        if not plain.y.any():
            warn("y is explained without any feature: every set has the value 0")
        if isinstance(groups, Iterable) and not isinstance(groups, str):
            groups = [_as_label(label, plain.n) for label in groups]
        rows, self.group_labels = read_groups(groups, plain.n)
        self._hold_groups(plain, rows.begin, rows.rows)

    @classmethod
    def of_columns(cls, plain: LeastSquares, begin: IndexArray, rows: IndexArray | None = None) -> Self:
        """Return the objective whose element e has the columns ``rows[begin[e] : begin[e + 1]]`` of another.

        The inner products of all columns of ``plain`` must be accurate, as no column is read again.
        """
        every = np.arange(plain.n)
        rows = every if rows is None else rows
        found = cls.__new__(cls)
        found._hold_groups(plain, begin, rows)
        gram = plain.design.gram_of_all().copy()
        gram[every, every] += plain.penalty
        own = [gram[np.ix_(rows[a:b], rows[a:b])].ravel() for a, b in pairwise(begin)]
        trusted = np.zeros(len(own), dtype=bool)
        found.blocks = Blocks(
            plain, begin, rows, np.concatenate(own), offsets_of(np.diff(begin) ** 2), trusted
        )
        return found

    def _hold_groups(self, plain: LeastSquares, begin: IndexArray, members: IndexArray) -> None:
        #: The same with single columns as elements
        self.plain, self._begin, self._members = plain, begin, members
        plain._warned_of_rank = True  # groups of dummies depend on each other by their nature
        self.n, self.n_features, self.ridge = len(begin) - 1, plain.n, plain.ridge
        if self.n < self.n_features:
            self.groups = Groups(begin, members)

    @override
    def __repr__(self) -> str:
        features = f"{self.n_features} features"
        if self.groups is not None:
            features += f" in {self.n} groups"
        return f"LeastSquares({self.design.n_samples} samples, {features}, ridge={self.ridge:g})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "blocks"}

    @property
    def design(self) -> Columns:  # type: ignore[override]
        return self.plain.design

    @property
    @override
    def n_passes(self) -> float:
        return self.plain.n_passes

    @override
    def start(self, support: Iterable[int] = ()) -> GroupLeastSquaresState:
        from swapwise.objectives.least_squares.group_state import GroupLeastSquaresState

        return GroupLeastSquaresState(self, as_elements(support, self.n, "the start"))

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        value, coef = self.plain._fit(rows_of(self, support))
        return value, coef if self.ridge > 0 else self._shortest(support, coef)

    def _shortest(self, support: IndexArray, coef: FloatArray) -> FloatArray:
        """Return coefficients of the same fit, without parts along which columns of a group cancel.

        Centred dummies sum to zero, so the same number added to all of their coefficients changes nothing
        here, except for the prediction for a level that the data do not have.
        """
        shortest, begin = coef.copy(), offsets_of(np.diff(self._begin)[support])
        for element, (first, last) in zip(support, pairwise(begin), strict=True):
            if last - first > 1:
                columns = self.design.columns(self._members[self._begin[element] : self._begin[element + 1]])
                found = components(columns, 0.0)
                if found is not None and len(found.from_columns) < last - first:
                    along = found.from_coefficients @ coef[first:last]
                    shortest[first:last] = found.from_columns.T @ along
        return shortest

    @override
    def value_at(self, coef: FloatArray) -> float:
        return self.plain.value_at(coef)

    @override
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        return self.plain.gradient_at(coef)

    @override
    def sample_curvature(self, coef: FloatArray) -> SampleCurvature | None:
        return self.plain.sample_curvature(coef)

    @override
    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        return self.plain.upper_bound(None if support is None else rows_of(self, support), clock)

    @override
    def dependencies(self, elements: IndexArray, least: float) -> int | None:
        return self.plain.dependencies(rows_of(self, elements), least)

    @override
    def curvature(self, columns: IndexArray) -> FloatArray | None:
        return self.plain.curvature(columns) if self.groups is None else None

    @override
    def value_and_gradient_at(self, coef: FloatArray) -> tuple[float, FloatArray]:
        return self.plain.value_and_gradient_at(coef)

    @override
    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        return self.plain.hessian_at(coef, rows_of(self, elements))

    @override
    def smoothness(self, t: int) -> float:
        squares = self.design.squared_norms
        longest = np.sort(squares if self.groups is None else self.groups.sums(squares))[::-1][: max(t, 1)]
        scale, penalty = 2.0 / self.plain.total, float(self.plain.penalty.max(initial=0.0))
        return min(scale * (float(longest.sum()) + penalty), self.plain.smoothness(self.n_features))

    @override
    def strong_concavity(self, t: int) -> float:
        return (2.0 / self.plain.total) * self.ridge

    @override
    def restricted(self, elements: IndexArray, likely: Likely | None = None) -> GroupLeastSquares:
        found = type(self).__new__(type(self))
        sizes = np.diff(self._begin)[elements]
        rows = rows_of(self, elements)
        found._hold_groups(self.plain.restricted(rows), offsets_of(sizes), np.arange(len(rows)))
        if self.groups is not None:
            found.groups = self.groups.restricted(elements)
        if self.group_labels is not None:
            found.group_labels = [self.group_labels[e] for e in elements]
        return found

    def model_on(self, elements: IndexArray) -> GroupLeastSquares:
        """Return the objective on some elements without columns that others of their group span."""
        rows = self.blocks.rows_of(elements)
        begin = offsets_of(np.diff(self.blocks.begin)[elements])
        in_order = np.sort(rows)
        plain = self.blocks.plain.restricted(in_order)
        return type(self).of_columns(plain, begin, np.searchsorted(in_order, rows))

    @cached_property
    def blocks(self) -> Blocks:
        given = _blocks(self.plain, self._begin, self._members)
        too_short = shortest_directions(given.own, given.begin) < SHORT
        if not too_short.any():
            return given
        if self.design.n_samples * self.n_features > COPY_UP_TO:
            return given._replace(fragile=too_short)
        return _reduced(given, too_short)


def _blocks(plain: LeastSquares, begin: IndexArray, rows: IndexArray) -> Blocks:
    design = plain.design
    own = own_products(lambda a, b: design.columns(rows[a:b]), begin, design.n_samples)
    at = offsets_of(np.diff(begin) ** 2)
    own[diagonals(begin, at)] += plain.penalty[rows]
    return Blocks(plain, begin, rows, own, at, np.zeros(len(begin) - 1, dtype=bool))


def _reduced(given: Blocks, too_short: BoolArray) -> Blocks:
    """Return columns with the same span, without directions that are rounding."""
    plain, parts = given.plain, []
    fragile = np.zeros(len(too_short), dtype=bool)
    for e in range(len(too_short)):
        columns = plain.design.columns(given.rows[given.begin[e] : given.begin[e + 1]])
        if too_short[e]:
            found = components(columns, plain.ridge)
            fragile[e] = found is None
            columns = columns if found is None else found.from_columns @ columns
        parts.append(columns)
    design = Design(DenseMatrix(np.asfortranarray(np.vstack(parts).T)))
    with unwarned():
        reduced = LeastSquares(design, plain.y, plain.ridge)
    reduced._warned_of_rank = True
    begin = offsets_of(np.array([len(part) for part in parts]))
    return _blocks(reduced, begin, np.arange(reduced.n))._replace(fragile=fragile)
