"""Checks of arguments; every message names what was expected and what was given."""

from __future__ import annotations

import numbers
import operator
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

IndexArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Entries within these bounds have squares, and products of squares, that stay finite and positive.
SMALLEST, LARGEST = 1e-70, 1e70

# The largest integer of an array.
MOST_COUNTED = int(np.iinfo(np.int64).max)

# Names per message.
MOST_NAMES = 5

_unwarned = ContextVar("unwarned", default=False)


def as_count(value: Any, name: str) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a non-negative integer, got {value!r}")
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a non-negative integer, got {value!r}") from None
    if count < 0:
        raise ValueError(f"{name} must be a non-negative integer, got {count}")
    if count > MOST_COUNTED:
        raise ValueError(f"{name} must be a non-negative integer below 2**63, got {count}")
    return count


def as_elements(elements: Iterable[int], n: int, name: str = "the set") -> IndexArray:
    """Return distinct elements of ``0 .. n-1`` as a sorted integer array."""
    expected = f"{name} must be a flat collection of integers from 0 to {n - 1}"
    if (
        not isinstance(elements, Iterable)
        or isinstance(elements, (str, Mapping))
        or hasattr(elements, "nodes")
    ):
        raise TypeError(f"{expected}, got {elements!r}")
    given = np.asarray(elements if isinstance(elements, np.ndarray) else list(elements))
    if given.size == 0:
        return np.empty(0, dtype=np.intp)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        hint = {"b": "; for a mask, use np.flatnonzero(mask)", "U": "; for names, use their positions"}
        raise TypeError(
            f"{expected}, got values of type {given.dtype} and shape {given.shape}"
            f"{hint.get(given.dtype.kind, '')}"
        )
    outside = given[(given < 0) | (given >= n)]
    if outside.size:
        raise ValueError(f"{name} must hold integers from 0 to {n - 1} (n = {n}), got {outside[0]}")
    unique = np.unique(given)
    if unique.size != given.size:
        raise ValueError(f"{name} must hold every element once, but some are repeated")
    return unique.astype(np.intp)


def as_vector(values: ArrayLike, length: int | None, name: str, *, non_negative: bool = False) -> FloatArray:
    vector = _as_float(values, name)
    if vector.ndim != 1:
        hint = f"; try np.ravel({name})" if vector.ndim == 2 and 1 in vector.shape else ""
        raise ValueError(f"{name} must be one-dimensional, got shape {vector.shape}{hint}")
    if length is not None and vector.size != length:
        raise ValueError(f"{name} must have length {length}, got length {vector.size}")
    require_finite(vector, name)
    if non_negative and (vector < 0).any():
        where = int(np.argmax(vector < 0))
        raise ValueError(f"{name} must be non-negative, got {vector[where]} at position {where}")
    return vector


def as_weights(values: ArrayLike, length: int) -> FloatArray:
    """Return weights of samples: finite, none negative, not all zero, and of a size that can be summed.

    >>> as_weights([1e200, 1e199], 2)
    Traceback (most recent call last):
    ...
    ValueError: sample_weight must have its largest entry between 1e-70 and 1e+70, got 1e+200; divide ...
    """
    weight = as_vector(values, length, "sample_weight", non_negative=True)
    largest = float(weight.max(initial=0.0))
    if largest == 0:
        raise ValueError("sample_weight must have a positive entry, got zeros only")
    if not SMALLEST <= largest <= LARGEST:
        raise ValueError(
            f"sample_weight must have its largest entry between {SMALLEST:g} and {LARGEST:g}, got "
            f"{largest:g}; divide it by its mean"
        )
    return weight


def as_matrix(
    values: ArrayLike,
    name: str,
    layout: str = "rows are samples, columns are features",
    *,
    finite: bool = True,
) -> FloatArray:
    if hasattr(values, "tocsr"):
        raise TypeError(f"{name} must be a dense matrix, got a sparse one; try {name}.toarray()")
    matrix = _as_float(values, name)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional ({layout}), got shape {matrix.shape}")
    if finite:
        require_finite(matrix, name)
    return matrix


def as_real(value: Any, name: str, *, positive: bool = False) -> float:
    wanted = "a positive number" if positive else "a non-negative number"
    if isinstance(value, (str, bool, np.bool_)):
        raise TypeError(f"{name} must be {wanted}, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {wanted}, got {value!r}") from None
    if not np.isfinite(number) or number < 0 or (positive and number == 0):
        raise ValueError(f"{name} must be {wanted}, got {value!r}")
    return number


def as_time_limit(value: Any) -> float | None:
    if value is None or (isinstance(value, float) and value == np.inf):
        return None
    return as_real(value, "time_limit")


@contextmanager
def unwarned() -> Iterator[None]:
    """Suppress the package's own warnings within: for fits that the user did not ask for."""
    token = _unwarned.set(True)
    try:
        yield
    finally:
        _unwarned.reset(token)


def warn(message: str, category: type[Warning] = UserWarning, *, always: bool = False) -> bool:
    """Warn at the line outside this package that led here; return whether a warning was given.

    ``always`` is for warnings that hold for every set: they are given within :func:`unwarned`, too.
    """
    if _unwarned.get() and not always:
        return False
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("swapwise."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
    return True


def some_of(words: Sequence[str]) -> str:
    more = len(words) - MOST_NAMES
    return ", ".join(words[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def is_number(value: Any) -> bool:
    if isinstance(value, numbers.Real):
        return True
    is_scalar_array = getattr(value, "shape", None) == ()
    return is_scalar_array and np.asarray(value).dtype.kind in "biuf"


def is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True  # pandas.NA is neither equal to itself nor not


def _as_float(values: ArrayLike, name: str) -> FloatArray:
    require_unmasked(values, name)
    try:
        given = np.asarray(values)
        if given.dtype.kind in "cSUV":
            raise TypeError(f"values of type {given.dtype}")
        return given.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must hold real numbers, but could not be read as such: {error}") from None


def require_unmasked(values: Any, name: str) -> None:
    """Refuse arrays with masked entries, whose masks NumPy would ignore."""
    masked = np.ma.count_masked(values) if isinstance(values, np.ma.MaskedArray) else 0
    if masked:
        raise ValueError(
            f"{name} must have no masked entries, got {masked}; fill them in ({name}.filled(...)), or leave "
            "them out"
        )


def require_finite(array: NDArray[Any], name: str) -> None:
    # The sum is finite only if every entry is (or if huge entries overflow): one fast pass decides.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        place = where[0] if len(where) == 1 else where
        raise ValueError(f"{name} must be finite, got {array[where]} at position {place}")


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a random generator; None is the seed 0, so that the same call gives the same answer."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(np.iinfo(np.int32).max)
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"random_state must be a non-negative integer, a Generator or a RandomState, got {random_state!r}"
        ) from error


def require_scale(
    sizes: FloatArray, name: str, largest_entries: Callable[[IndexArray], FloatArray] | None = None
) -> None:
    """Refuse numbers whose squares overflow or underflow; squares that have done so count as too large.

    ``sizes`` are largest entries, or root mean squares if ``largest_entries`` returns those.
    """
    outside = np.flatnonzero(~((sizes > SMALLEST) & (sizes < LARGEST)))
    if not len(outside):
        return
    largest = sizes[outside] if largest_entries is None else largest_entries(outside)
    for column, size in zip(outside, largest, strict=True):
        if size != 0 and not SMALLEST <= size <= LARGEST:
            raise ValueError(
                f"{name.format(column)} has entries of size {size:.3g}, whose squares leave floating point; "
                f"rescale it to between {SMALLEST:g} and {LARGEST:g}"
            )
