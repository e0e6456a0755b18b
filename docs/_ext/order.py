"""The order of examples within a section of the gallery."""

from __future__ import annotations

from pathlib import Path

#: The clearest first; those that are not named come after them, by name.
FIRST = ["three_measurements", "one_lag_per_signal", "failing_site", "birth_rates", "diabetes_hierarchy"]


def place(filename: str) -> tuple[int, str]:
    """Return what examples are sorted by.

    >>> sorted(["birth_rates.py", "two_budgets.py", "three_measurements.py"], key=place)
    ['three_measurements.py', 'birth_rates.py', 'two_budgets.py']
    """
    name = Path(filename).stem
    return FIRST.index(name) if name in FIRST else len(FIRST), name
