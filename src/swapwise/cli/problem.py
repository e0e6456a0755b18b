"""A question and the data that it is about, both checked: all that is needed to search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swapwise.checks import warn
from swapwise.cli.failures import BadInput
from swapwise.cli.limits import DEFAULT_SIZE, Limits
from swapwise.cli.options import Choice, Family
from swapwise.cli.question import Question
from swapwise.cli.reading.columns import Design, read_design, without_missing
from swapwise.cli.reading.obstacles import require_usable
from swapwise.cli.reading.targets import require_counts, require_rows, require_target

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.constraints.base import IndependenceSystem


@dataclass(frozen=True, eq=False)
class Problem:
    """What is asked, of which numbers, and which sets of variables are allowed; see :func:`read_problem`."""

    question: Question
    design: Design
    #: None for any set, which is for paths over sizes only
    constraint: IndependenceSystem | None
    #: The group of every variable, if the limits know groups
    group_of: dict[str, str] | None


def read_problem(question: Question, table: pd.DataFrame) -> Problem:
    """Return what a question asks of a table, in the names of its columns, or say what is wrong with either.

    >>> import pandas as pd
    >>> rest = dict.fromkeys(["sizes", "choose", "ridge", "certify", "one_hot", "drop_missing"])
    >>> question = Question(None, Limits(), "y", Family.LINEAR, [], [], "auto", **rest)
    >>> problem = read_problem(question, pd.DataFrame({"a": [1, 2, 4], "b": [0, 1, 1], "y": [3, 4, 5]}))
    >>> problem.constraint, problem.question.in_words()["limits"]
    (Uniform(n=2, k=2), 'at most 2 in all')
    """
    question = question.about(table)
    table = table.drop(columns=question.force_out)
    classes = question.family is Family.LOGISTIC
    require_target(table[question.target], classes=classes)
    if table.shape[1] == 1:
        raise BadInput(f"there is no column to choose from beside the target {question.target!r}")
    require_usable(
        table,
        question.target,
        one_hot=question.one_hot,
        drop_missing=question.drop_missing,
        forced=question.force_in,
    )
    table = without_missing(table, drop=question.drop_missing)
    design = read_design(table, question.target, classes=classes)
    _require_variation(question.force_in, design.X)
    if question.family is Family.POISSON:
        require_counts(design.y)
    require_rows(design.y, question.family, cross_validated=question.choose is Choice.CV)
    n = len(design.variables)
    if question.limits == Limits() and question.choose is None:
        question = replace(question, limits=Limits(size=min(DEFAULT_SIZE, n)))
    left_out = [*question.force_out, question.target]
    constraint, group_of = question.limits.constraint(design.variables, left_out, question.force_in)
    if question.sizes is not None:
        largest = n if constraint is None else constraint.max_size()
        question = replace(question, sizes=_possible(question.sizes, len(question.force_in), largest))
    return Problem(question, design, constraint, group_of)


def _require_variation(forced: list[str], X: pd.DataFrame) -> None:
    """Refuse columns that cannot explain anything, if they must be chosen."""
    for name in forced:
        if name in X and X[name].nunique() == 1 < len(X):
            always = f"{X[name].iloc[0]:g} in all {len(X)} rows"
            raise BadInput(f"--force-in names {name!r}, which is constant: it is {always}")


def _possible(sizes: range, n_forced: int, largest: int) -> range:
    """Return the sizes that sets can have."""
    if sizes[-1] < n_forced:
        raise BadInput(
            f"--path must go up to {n_forced} or more, as --force-in names so many features, got {sizes[-1]}"
        )
    if sizes[-1] <= largest:
        return sizes
    warn(f"--path goes up to {sizes[-1]}, but at most {largest} can be chosen: larger sizes are left out")
    return range(min(sizes[0], largest), largest + 1)
