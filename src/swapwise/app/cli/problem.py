"""A request together with its data, both checked: all that a search needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from swapwise.app.cli.checking.columns import Dataset, note_on_identifiers, read_dataset, without_missing
from swapwise.app.cli.checking.diagnostics import require_usable
from swapwise.app.cli.checking.targets import read_offset, require_family, require_rows, require_target
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.feasible import feasible_sets
from swapwise.app.cli.ground import read_ground_set
from swapwise.app.cli.limit_files import read_bounds
from swapwise.app.cli.limits import LimitOptions
from swapwise.app.cli.options import FamilyName, SizeCriterion
from swapwise.app.cli.request import SelectionRequest
from swapwise.checks import FloatArray, warn

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.constraints.base import Constraint


@dataclass(frozen=True, eq=False)
class SelectionProblem:
    """A request, its dataset, and the constraint on the dataset's variables."""

    request: SelectionRequest
    dataset: Dataset
    #: None without any limit, which only paths over sizes allow
    constraint: Constraint | None
    #: The group of every variable, if limits are on groups
    group_of: dict[str, str] | None
    #: The variables that are chosen in any case
    forced: list[str]
    #: A term of the linear predictor of every row
    offset: FloatArray | None = None
    #: Bounds on coefficients by column, as parameters of the estimator; none if there are none
    coefficients: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def y(self) -> Any:
        """The target as the estimator takes it."""
        y = self.dataset.y
        if self.request.family is not FamilyName.LOGISTIC:
            return y.to_numpy(dtype=float)
        return y.to_numpy() if y.dtype.kind in "biuf" else y.astype(str).to_numpy(dtype=object)


def read_problem(request: SelectionRequest, table: pd.DataFrame) -> SelectionProblem:
    """Return the problem that a request poses about a table; refuse those that do not fit each other."""
    request = request.matched_to(table)
    table = table.drop(columns=request.force_out)
    classes = request.family is FamilyName.LOGISTIC
    require_target(table[request.target], classes=classes)
    features = table if request.offset_column is None else table.drop(columns=request.offset_column)
    if features.shape[1] == 1:
        raise BadInput(f"there is no column to choose from beside the target {request.target!r}")
    require_usable(
        features,
        request.target,
        one_hot=request.options.one_hot,
        drop_missing=request.options.drop_missing,
        forced=request.force_in,
    )
    note_on_identifiers(features.drop(columns=request.target))
    table = without_missing(table, drop=request.options.drop_missing)
    offset = _pop_offset(table, request)
    dataset = read_dataset(table, request.target, classes=classes)
    _require_variation(request.force_in, dataset.X)
    require_family(dataset.y, request.family)
    require_rows(dataset.y, request.family, cross_validated=request.choose is SizeCriterion.CV)
    left_out = [*request.force_out, request.target, *filter(None, [request.offset_column])]
    variable_of = dataset.variable_of or {name: name for name in dataset.X.columns}
    dataset, ground = read_ground_set(dataset, request.limits.whole_groups, left_out, request.force_in)
    found = feasible_sets(request.limits, ground, dataset, path=request.choose is not None)
    request, constraint = replace(request, limits=found.limits), found.constraint
    if request.sizes is not None:
        largest = len(ground.elements) if constraint is None else constraint.max_size()
        request = replace(
            request, sizes=_possible_sizes(request.sizes, len(found.forced), found.n_needed, largest)
        )
    coefficients = _coefficients(request.limits, variable_of, left_out)
    return SelectionProblem(request, dataset, constraint, found.group_of, found.forced, offset, coefficients)


def _coefficients(limits: LimitOptions, variable_of: dict[str, str], left_out: list[str]) -> dict[str, Any]:
    """Return the estimator's parameters for bounds; those of a variable hold for each of its columns."""
    parameters: dict[str, Any] = {"positive": True} if limits.positive else {}
    if limits.bounds is not None:
        variables = list(dict.fromkeys(variable_of.values()))
        bounds = read_bounds(limits.bounds, variables, left_out)
        parameters["bounds"] = {
            column: bounds[name] for column, name in variable_of.items() if name in bounds
        }
    return parameters


def _pop_offset(table: pd.DataFrame, request: SelectionRequest) -> FloatArray | None:
    """Remove the column of offsets from a table, in place, and return them, if there is one."""
    if request.offset_column is None:
        return None
    n_classes = table[request.target].nunique()
    if request.family is FamilyName.LOGISTIC and n_classes > 2:
        raise BadInput(f"--offset is for two classes, whose log-odds it is added to, got {n_classes} classes")
    column = table.pop(request.offset_column)
    return read_offset(column, request.family, is_exposure=request.options.exposure is not None)


def _require_variation(forced: list[str], X: pd.DataFrame) -> None:
    """Refuse forced columns that are constant."""
    for name in forced:
        if name in X and X[name].nunique() == 1 < len(X):
            always = f"{X[name].iloc[0]:g} in all {len(X)} rows"
            raise BadInput(f"--force-in names {name!r}, which is constant: it is {always}")


def _possible_sizes(sizes: range, n_forced: int, n_needed: int, largest: int) -> range:
    """Return the sizes that sets can have."""
    if sizes[-1] < n_needed:
        which = "in --force-in" if n_needed == n_forced else "that --force-in and lower limits need"
        raise BadInput(
            f"--path must go up to {n_needed} or more, the number of features {which}, got {sizes[-1]}"
        )
    if sizes[-1] <= largest:
        return sizes
    warn(f"--path goes up to {sizes[-1]}, but at most {largest} can be chosen: larger sizes are left out")
    return range(min(sizes[0], largest), largest + 1)
