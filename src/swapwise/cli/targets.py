"""What the target of ``swapwise select`` must be for each family, and for cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapwise.checks import warn
from swapwise.cli.cells import is_number
from swapwise.cli.failures import BadInput
from swapwise.cli.options import Family

if TYPE_CHECKING:
    import pandas as pd

# More classes than that are probably numbers, and more than the latter certainly.
MANY_CLASSES, MOST_CLASSES = 10, 20

# Fewer say nothing of what explains them.
FEWEST_ROWS = 3

# As of the estimators that choose a size.
FOLDS = 5


def as_target(y: pd.Series, *, classes: bool) -> pd.Series:
    """Return a target that is not constant: numbers, or ``classes`` that may be words.

    >>> import pandas as pd
    >>> as_target(pd.Series(["no", "yes"], name="ill"), classes=False)
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: the target 'ill' must hold numbers, got text such as 'no'; for classes,
    --family logistic
    """
    import numpy as np

    if y.nunique() == 1 < len(y):
        raise BadInput(f"the target {y.name!r} is constant: it is {y.iloc[0]!s} in all {len(y)} rows")
    if is_number(y):
        numbers = y.to_numpy(dtype=float)
        if not np.isfinite(numbers).all():
            raise BadInput(f"infinite numbers in the target {y.name!r}")
        return _as_classes(y, bool((numbers % 1 == 0).all())) if classes else y
    if classes:
        return _as_classes(y, True)
    raise BadInput(
        f"the target {y.name!r} must hold numbers, got text such as {y.iloc[0]!r}; for classes, "
        "--family logistic"
    )


def _as_classes(y: pd.Series, whole: bool) -> pd.Series:
    """Return a target of not too many values, as words if they are numbers that are not ``whole``."""
    n_classes = y.nunique()
    if n_classes > MOST_CLASSES and (not whole or n_classes > len(y) / 2):
        advice = "--family linear fits numbers" if is_number(y) else "a class needs several rows"
        raise BadInput(
            f"the target {y.name!r} must hold classes for --family logistic, got {n_classes} different "
            f"values in {len(y)} rows, such as {y.iloc[0]!s}; {advice}"
        )
    if n_classes > MANY_CLASSES and is_number(y):
        warn(
            f"the {n_classes} different numbers of the target {y.name!r} are a class each; --family linear "
            "or poisson takes them as numbers"
        )
    return y if whole else y.astype(str)


def require_counts(y: pd.Series) -> None:
    """Refuse negative numbers.

    >>> import pandas as pd
    >>> require_counts(pd.Series([3, -1], name="visits"))
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: the target 'visits' must hold counts for --family poisson, got -1 as the
    smallest of its numbers; --family linear fits any numbers
    """
    if y.min() < 0:
        raise BadInput(
            f"the target {y.name!r} must hold counts for --family poisson, got {y.min()} as the smallest "
            "of its numbers; --family linear fits any numbers"
        )


def require_rows(y: pd.Series, family: Family, *, cross_validated: bool) -> None:
    """Refuse fewer rows than can be learnt from, or than there are folds, in all or of a class.

    >>> import pandas as pd
    >>> require_rows(pd.Series([3, 1], name="visits"), Family.LINEAR, cross_validated=False)
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: there must be at least 3 rows to choose by, got 2
    """
    if len(y) < FEWEST_ROWS:
        raise BadInput(f"there must be at least {FEWEST_ROWS} rows to choose by, got {len(y)}")
    if not cross_validated:
        return
    wanted, other = f"cross-validation needs at least {FOLDS} rows", "--choose bic does without"
    if len(y) < FOLDS:
        raise BadInput(f"{wanted}, got {len(y)}; {other}")
    if family is Family.LOGISTIC:
        counts = y.astype(str).value_counts()  # of a category, only those that are there
        if counts.min() < FOLDS:
            rare = f"{counts.min()} of {counts.idxmin()!s}"
            raise BadInput(f"{wanted} of each class of the target {y.name!r}, got {rare}; {other}")
