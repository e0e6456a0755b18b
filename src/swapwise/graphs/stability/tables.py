"""Pairs of vertices in a row, and tables of results as people read and store them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real


def upper_triangle(adjacency: ArrayLike) -> FloatArray:
    """Return the weights of all pairs of vertices, (0, 1), (0, 2), ..., of a symmetric matrix."""
    matrix = np.asarray(adjacency, dtype=np.float64)
    return matrix[np.triu_indices(len(matrix), 1)]


def pair_frame(names: Sequence[Hashable]) -> pd.DataFrame:
    """Return source and target of all pairs, in the order of :func:`upper_triangle`."""
    tail, head = (ends.tolist() for ends in np.triu_indices(len(names), 1))
    return pd.DataFrame({"source": [names[v] for v in tail], "target": [names[v] for v in head]})


def pair_labels(names: Sequence[Hashable]) -> list[str]:
    tail, head = (ends.tolist() for ends in np.triu_indices(len(names), 1))
    return [f"{names[u]} – {names[v]}" for u, v in zip(tail, head, strict=True)]


def spread(values: FloatArray, level: float) -> dict[str, FloatArray]:
    """Return mean, standard deviation and quantile interval of each column."""
    lower, upper = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
    deviation = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan)
    return {"mean": values.mean(axis=0), "sd": deviation, "lower": lower, "upper": upper}


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON takes them: plain numbers, and None for NaN."""
    plain = frame.astype(object).where(frame.notna(), None)
    rows: list[dict[str, Any]] = plain.to_dict("records")
    return [{key: _plain(value) for key, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def as_share(value: Any, name: str) -> float:
    share = as_real(value, name)
    if not 0 < share < 1:
        raise ValueError(f"{name} must be between 0 and 1, such as 0.95, got {value!r}")
    return share
