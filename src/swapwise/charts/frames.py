"""Frames that people hand in to be drawn, checked."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def require_columns(frame: pd.DataFrame, name: str, columns: Sequence[str], made_by: str) -> None:
    """Raise an error that says what is wrong, unless it is a frame with these columns and a row.

    >>> require_columns(pd.DataFrame({"size": [1]}), "frame", ["size", "value"], "the path")
    Traceback (most recent call last):
    ...
    ValueError: frame must have the columns size, value, as returned by the path; value is missing
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"{name} must be a pandas.DataFrame, as returned by {made_by}, got {frame!r}")
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{name} must have the columns {', '.join(columns)}, as returned by {made_by}; "
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        )
    if frame.empty:
        raise ValueError(f"{name} must have at least one row, got none")
