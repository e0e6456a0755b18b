"""Requirements on the target of ``swapwise select``, by family, and for cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapwise.app.cli.checking.cells import is_number, not_numbers
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.options import FamilyName
from swapwise.checks import some_of, unwarned, warn

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.checks import FloatArray
    from swapwise.objectives.glm.family import Family

# More classes than the first are probably numbers, more than the second certainly.
MANY_CLASSES, MOST_CLASSES = 10, 20

# With fewer rows there is nothing to learn.
FEWEST_ROWS = 3

# The same as in the estimators that choose a size.
FOLDS = 5


def require_target(y: pd.Series, *, classes: bool) -> None:
    """Refuse targets that no subset of the rows can make usable, with the lines of the file."""
    present = y.dropna()
    if present.empty:
        raise BadInput(f"the target {y.name!r} has no values: all {len(y)} are missing")
    wrong = None if is_number(y) else not_numbers(y, only_missing=classes)
    if wrong:
        raise BadInput(f"the target {wrong.message}")
    with unwarned():  # read_dataset warns about the rows that are left in the end
        as_target(present, classes=classes)


def as_target(y: pd.Series, *, classes: bool) -> pd.Series:
    """Return a target that is not constant: numbers, or ``classes`` that may be words."""
    import numpy as np

    name, are_numbers = repr(y.name), is_number(y)
    if not are_numbers and not classes:
        got = f"text such as {y.iloc[0]!r}; for classes, --family logistic"
        raise BadInput(f"the target {name} must hold numbers, got {got}")
    y = y if are_numbers else y.astype(str).str.strip()
    n_values, numbers = y.nunique(), y.to_numpy(dtype=float) if are_numbers else np.zeros(1)
    if n_values == 1 < len(y):
        raise BadInput(f"the target {name} is constant: it is {y.iloc[0]!s} in all {len(y)} rows")
    if not np.isfinite(numbers).all():
        raise BadInput(f"infinite numbers in the target {name}")
    if not classes:
        if n_values == 2:
            warn(f"the target {name} has only two values; --family logistic fits classes")
        return y
    is_whole = bool((numbers % 1 == 0).all())
    if n_values > MOST_CLASSES and (not is_whole or n_values > len(y) / 2):
        advice = "--family linear fits numbers" if are_numbers else "a class needs several rows"
        got = f"{n_values} different values in {len(y)} rows, such as {y.iloc[0]!s}; {advice}"
        raise BadInput(f"the target {name} must hold classes for --family logistic, got {got}")
    if n_values > MANY_CLASSES and are_numbers:
        note = f"the {n_values} different numbers of the target {name} are a class each"
        warn(f"{note}; --family linear or poisson takes them as numbers")
    return y if is_whole else y.astype(str)  # scikit-learn refuses fractions as classes


def require_family(y: pd.Series, family: FamilyName) -> None:
    """Refuse numbers that a family has no likelihood for, and note counts that are not whole."""
    record = record_of(family)
    if record is None or record.outcome == "class":
        return
    if y.min() < 0 or (record.positive and y.min() == 0):
        what = f"positive {record.outcome}s" if record.positive else f"{record.outcome}s"
        raise BadInput(
            f"the target {y.name!r} must hold {what} for --family {family.value}, got {y.min()} as the "
            "smallest of its numbers; --family linear fits any numbers"
        )
    broken = y[y.astype(float) % 1 != 0]
    if record.outcome == "count" and len(broken):
        warn(
            f"{len(broken)} of {len(y)} numbers of the target {y.name!r} are not counts, such as "
            f"{broken.iloc[0]:g}: --family {family.value} takes them as they are"
        )


def record_of(family: FamilyName) -> Family | None:
    """Return the record of a family; least squares have none."""
    from swapwise.objectives.glm import FAMILIES

    return None if family is FamilyName.LINEAR else FAMILIES[family.value].family


def read_offset(column: pd.Series, family: FamilyName, *, is_exposure: bool) -> FloatArray:
    """Return a column, or its logarithm, as the offset; refuse it where the family has no use for it."""
    import numpy as np

    option, record = ("--exposure" if is_exposure else "--offset"), record_of(family)
    if record is None:
        raise BadInput(f"{option} does not go with --family linear: take it off the target instead")
    if is_exposure and record.outcome == "class":
        raise BadInput("--exposure does not go with --family logistic; --offset is added to the log-odds")
    values = column.to_numpy(dtype=float) if is_number(column) else np.full(len(column), np.nan)
    finite = np.isfinite(values)
    if not finite.all():
        got = f"{column.name!r} with {column.iloc[int(np.argmin(finite))]!r}"
        raise BadInput(f"{option} must be a column of finite numbers, got {got}")
    if not is_exposure:
        return values
    if values.min() <= 0:
        got = f"{column.name!r} with {values.min():g}; --offset takes any numbers, and no logarithm"
        raise BadInput(f"--exposure must be a column of positive numbers, got {got}")
    return np.log(values)


def require_rows(y: pd.Series, family: FamilyName, *, cross_validated: bool) -> None:
    """Refuse fewer rows than can be learnt from, or than there are folds; note which classes have few."""
    if len(y) < FEWEST_ROWS:
        raise BadInput(f"there must be at least {FEWEST_ROWS} rows to choose by, got {len(y)}")
    if cross_validated:
        require_rows_for_folds(len(y), advice="; --choose bic does without")
    if family is not FamilyName.LOGISTIC:
        return
    counts = y.astype(str).value_counts(ascending=True)  # as text, so that unused categories are not counted
    rare = counts[counts < FOLDS]
    if rare.empty:
        return
    if cross_validated:
        whose = f" of each class of the target {y.name!r}"
        require_rows_for_folds(rare.iloc[0], whose, f" of {rare.index[0]}; --choose bic does without")
    listed = some_of([f"{count} {name!r}" for name, count in rare.items()])
    warn(f"few of the {len(y)} rows have these classes, of which little can be learnt: {listed}")


def require_rows_for_folds(n_rows: int, whose: str = "", advice: str = "") -> None:
    if n_rows < FOLDS:
        raise BadInput(f"cross-validation needs at least {FOLDS} rows{whose}, got {n_rows}{advice}")
