"""Columns of any two values as spins, and back: 0 and 1, "no" and "yes", each column its own pair."""

from __future__ import annotations

import numbers
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from swapwise.checks import FloatArray, is_missing, some_of, warn
from swapwise.estimators.frames import require_plain

# The pairs that a column of one value may have been meant to have, if no other column knows it.
USUAL_PAIRS = ((0, 1), (-1, 1))

# Columns that a message names.
MOST_COLUMNS = 3

# Whole numbers of no more values than this are answers on a scale.
MOST_OF_A_SCALE = 10

# Numbers that stand for missing answers in many files: 9, 98, 999 and so on, or less than 0.
MISSING_CODE = re.compile("[89]+")

#: The different values of a column, from the smallest to the largest
Levels = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class SpinCoding:
    """The two values of each column that stand for the spins -1 and +1, and the type of samples.

    A column of one value that belongs to no pair is at +1. Missing values (NaN) stay missing.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    dtype: np.dtype[Any]

    def to_spins(self, values: NDArray[Any], names: Sequence[Hashable]) -> FloatArray:
        is_high, missing = values == self.high, values != values
        is_other = ~(is_high | (values == self.low) | missing)
        if is_other.any():
            row, column = np.argwhere(is_other)[0]
            pair = " and ".join(dict.fromkeys(_word(value[column]) for value in (self.low, self.high)))
            got = f"{_word(values[row, column])} in {names[column]!r}"
            raise ValueError(f"X must hold {pair}, as the training data did; got {got}")
        return np.where(missing, np.nan, np.where(is_high, 1.0, -1.0))

    def from_spins(self, spins: FloatArray) -> NDArray[Any]:
        return np.where(spins > 0, self.high, self.low).astype(self.dtype)


def read_values(estimator: Any, X: Any, *, reset: bool) -> NDArray[Any]:
    """Check the features and return data of any type as an array, with all missing values as NaN."""
    require_plain(X, "X")
    if isinstance(X, pd.DataFrame) and not all(dtype.kind in "biuf" for dtype in X.dtypes):
        X = X.astype(object)
        are_objects = True
    else:
        are_objects = isinstance(X, np.ndarray) and X.dtype.kind == "O"
    finite = False if are_objects else "allow-nan"
    values = validate_data(
        estimator, X, accept_sparse=True, dtype=None, ensure_all_finite=finite, reset=reset
    )
    if issparse(values):
        return values.toarray()
    return np.where(pd.isna(values), np.nan, values) if values.dtype.kind == "O" else values


def coding_of(values: NDArray[Any], names: Sequence[Hashable], X: Any = None) -> SpinCoding | None:
    """Return which values of each column stand for -1 and +1: in their order, the second is +1.

    None for real numbers, which are taken as they are. ``X`` is the frame of the values, if they come from
    one: it has the categories of its columns, and their order. NaN is no value, and each column must have
    another.
    """
    require_observed(values, names)
    levels = _numeric_levels(values) if values.dtype.kind in "biuf" else _levels_of(values, names, X)
    if levels is None or any(len(one) > 2 for one in levels):
        if levels is not None:
            _refuse_codes(levels, names)
            _refuse_mixtures(levels, names)
            _refuse_ordered(levels, names)
        warn(
            f"{_more_than_two(levels, names)} more than two different values: an Ising model is for answers "
            "such as yes and no. Use GaussianGraphCV for real numbers, MixedGraphCV for these beside columns "
            "of two values; here, numbers are taken as they are"
        )
        return None
    pairs = [_pair_of(one, levels) for one in levels]
    dtype = _common_type(values, pairs)
    low, high = (_as_array([pair[place] for pair in pairs], dtype) for place in (0, 1))
    return SpinCoding(low, high, dtype)


def _more_than_two(levels: Sequence[Levels] | None, names: Sequence[Hashable]) -> str:
    if levels is None:
        return "X has columns of"
    wrong = [place for place, one in enumerate(levels) if len(one) > 2]
    few = ", ".join(f"{float(value):.2f}".rstrip("0").rstrip(".") for value in levels[wrong[0]][:3])
    columns = some_of([repr(names[place]) for place in wrong])
    return f"X has columns ({columns}; {few}, ... in the first) of"


def require_observed(values: NDArray[Any], names: Sequence[Hashable]) -> None:
    empty = np.flatnonzero((values != values).all(axis=0)).tolist()
    if empty:
        raise ValueError(
            "X must have a value in each column, got nothing but missing values in "
            f"{some_of([repr(names[place]) for place in empty])}; leave the column out"
        )


def _observed(values: NDArray[Any]) -> list[Any]:
    there: list[Any] = values[values == values].tolist()
    return there


def _numeric_levels(values: NDArray[Any]) -> list[Levels]:
    """Return the levels of columns of numbers; where there are more than two, some of them."""
    lowest, highest = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    has_two = ((values == lowest) | (values == highest) | (values != values)).all(axis=0)
    return [
        tuple(dict.fromkeys((low, high))) if two else tuple(_observed(np.unique(column)))
        for low, high, two, column in zip(
            lowest.tolist(), highest.tolist(), has_two.tolist(), values.T, strict=True
        )
    ]


def _levels_of(values: NDArray[Any], names: Sequence[Hashable], X: Any) -> list[Levels] | None:
    """Return the levels of columns of any type; None if some have no order or equality, such as lists."""
    try:
        return [_levels(values[:, place], place, X) for place in range(len(names))]
    except TypeError:
        return None


def _levels(column: NDArray[Any], place: int, X: Any) -> Levels:
    dtype = X.dtypes.iloc[place] if isinstance(X, pd.DataFrame) else None
    seen = list(dict.fromkeys(value for value in column.tolist() if not is_missing(value)))
    if isinstance(dtype, pd.CategoricalDtype):
        categories = dtype.categories.tolist()
        there = [one for one in categories if one in seen or len(categories) == 2]
        return tuple(there) if dtype.ordered else _sorted(there)
    return _sorted(seen)


def _sorted(values: list[Any]) -> Levels:
    """Return numbers before words, each in order, and what has no order by its name."""
    try:
        return tuple(sorted(values, key=lambda value: (isinstance(value, str), value)))
    except TypeError:
        return tuple(sorted(values, key=str))


def _pair_of(levels: Levels, others: Sequence[Levels]) -> Levels:
    """Return the pair of a column; one of a single value takes that of another column that has the value."""
    if len(levels) == 2:
        return levels
    pairs = [*(one for one in others if len(one) == 2), *USUAL_PAIRS]
    return next((pair for pair in pairs if levels[0] in pair), (levels[0], levels[0]))


def _common_type(values: NDArray[Any], pairs: Sequence[Levels]) -> np.dtype[Any]:
    every = [value for pair in pairs for value in pair]
    if values.dtype.kind == "b" or all(isinstance(value, bool) for value in every):
        return np.dtype(bool)
    if values.dtype.kind in "iuf":
        return np.dtype(int if all(float(value).is_integer() for value in every) else float)
    return np.dtype(object)


def _as_array(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=dtype)
    array[:] = values
    return array


def _refuse_codes(levels: Sequence[Levels], names: Sequence[Hashable]) -> None:
    for one, name in zip(levels, names, strict=True):
        code = missing_code(one)
        if code is not None:
            raise ValueError(
                f"X must hold two values in each column, got {_listed(one)} in {name!r}; if {code:g} stands "
                f"for missing, NaN does so here: X.replace({code:g}, np.nan) in pandas"
            )


def _refuse_mixtures(levels: Sequence[Levels], names: Sequence[Hashable]) -> None:
    """Refuse words of more than two values, and numbers of more than two beside columns of two.

    Columns of two values of which one is negative may be real numbers too.
    """
    words = [place for place, one in enumerate(levels) if len(one) > 2 and not _are_numbers(one)]
    has_pairs = any(len(one) == 2 and not (_are_numbers(one) and one[0] < 0) for one in levels)
    wrong = words or [place for place, one in enumerate(levels) if len(one) > 2 and has_pairs]
    if not wrong:
        return
    got = [f"{_listed(levels[place])} in {names[place]!r}" for place in wrong[:MOST_COLUMNS]]
    more = f"; and {len(wrong) - MOST_COLUMNS} columns more" if len(wrong) > MOST_COLUMNS else ""
    first, name = levels[wrong[0]], names[wrong[0]]
    raise ValueError(
        f"X must hold two values in each column, got {'; '.join(got)}{more}; make two of them, as in "
        f"{_advice(first, name)}, or leave the column out"
    )


def _refuse_ordered(levels: Sequence[Levels], names: Sequence[Hashable]) -> None:
    longest = max(range(len(levels)), key=lambda place: len(levels[place]))
    if not all(is_scale(one) for one in levels):
        return
    name, middle = names[longest], _word(levels[longest][len(levels[longest]) // 2])
    raise ValueError(
        "X must hold two values in each column, got answers on a scale, "
        f"{_listed(levels[longest])} in {name!r}; "
        "GaussianGraphCV(correlation='polychoric') or 'spearman' takes ordered answers as they are, or make "
        f"two of them, as in {_as_two(name, f'>= {middle}')}"
    )


def is_scale(levels: Levels) -> bool:
    whole = _are_numbers(levels) and all(float(value) >= 0 and float(value).is_integer() for value in levels)
    return whole and len(levels) <= MOST_OF_A_SCALE


def missing_code(levels: Levels) -> float | None:
    """Return a code for missing answers, such as -9 or 99 beside few other numbers; None if there is none."""
    if not 3 <= len(levels) <= MOST_OF_A_SCALE + 1 or not _are_numbers(levels):
        return None
    lowest, *_, second, highest = (float(value) for value in levels)
    if MISSING_CODE.fullmatch(f"{-lowest:g}") and is_scale(levels[1:]):
        return lowest
    return highest if MISSING_CODE.fullmatch(f"{highest:g}") and highest > second + 1 else None


def _advice(levels: Levels, name: Hashable) -> str:
    if all(isinstance(value, str) for value in levels):
        alike = {value.strip().lower() for value in levels}
        if len(alike) <= 2:
            return f"{_place(name)}.str.strip().str.lower()"
    return _as_two(name, f"== {_word(levels[-1])}")


def _as_two(name: Hashable, condition: str) -> str:
    """Return code that makes two values of a column by a condition, and leaves missing ones missing."""
    place = _place(name)
    if isinstance(name, str):
        return f"({place} {condition}).where({place}.notna())"
    return f"np.where(np.isnan({place}), np.nan, {place} {condition})"


def _place(name: Hashable) -> str:
    return f"X[{name!r}]" if isinstance(name, str) else f"X[:, {name!r}]"


def _are_numbers(levels: Levels) -> bool:
    return all(isinstance(value, numbers.Real) for value in levels)


def _listed(values: Levels) -> str:
    return some_of([_word(value) for value in values])


def _word(value: Any) -> str:
    is_plain = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    return f"{value:g}" if is_plain else repr(value.item() if isinstance(value, np.generic) else value)
