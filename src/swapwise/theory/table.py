"""The paper's Table 1 as a function, with the methods around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from swapwise.constraints.base import Constraint
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.search.methods import METHODS
from swapwise.search.plan import PIVOTS, require_constraint
from swapwise.theory.constants import RestrictedConstants, restricted_constants
from swapwise.theory.guarantees import Constants, guarantee
from swapwise.theory.methods import THEOREMS
from swapwise.theory.ratios import SubmodularityRatios
from swapwise.theory.statement import Guarantee, nothing

if TYPE_CHECKING:
    import pandas as pd

#: The needs of the theorems on local search, by rule
NEEDS_OF_RULES = {
    "oblivious": "localizability, or m and M",
    "semi-oblivious": "m and M",
    "non-oblivious": "m and M",
}
COLUMNS = ["method", "constraint", "ratio", "theorem", "formula", "in_expectation", "needs", "reason"]


def guarantee_table(
    constraint: Constraint,
    constants: Constants | SetFunction,
    details: Mapping[str, Mapping[str, Any]] | None = None,
) -> pd.DataFrame:
    """Return what the theorems guarantee for every method under a constraint: the paper's Table 1, and more.

    Parameters
    ----------
    constraint : Constraint
    constants : RestrictedConstants, Localizability, SubmodularityRatios, or the objective itself
        Of an objective, the best that is known without a search: m and M of a sparse objective, or that it
        is submodular.
    details : mapping, optional
        By method, what its theorem takes beside constants, as in :func:`guarantee`: options, and what is on
        the record of a run.

    Returns
    -------
    pandas.DataFrame
        One row per method, best guarantee first. ``needs`` is what its theorem requires, and
        ``reason`` why the ratio is 0, if it is.

    See Also
    --------
    guarantee : one method.
    restricted_constants, localizability, submodularity_ratios : the constants.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> from swapwise import Coverage, Partition
    >>> f = Coverage([{1, 2}, {2, 3}, {4}])
    >>> table = guarantee_table(Partition(["a", "a", "b"], 1), f)
    >>> table.loc[table.method == "greedy", ["ratio", "theorem", "formula"]]
       ratio                             theorem    formula
    ...  0.5  Fisher, Nemhauser and Wolsey 1978  1/(p + 1)
    """
    import pandas as pd

    require_constraint(constraint)
    known = _constants_of(constants, constraint) if isinstance(constants, SetFunction) else constants
    rows = []
    for name in dict.fromkeys([*PIVOTS, *METHODS, *THEOREMS]):
        stated = _guarantee_of(name, constraint, known, (details or {}).get(name))
        needs = NEEDS_OF_RULES[name] if name in NEEDS_OF_RULES else _needs(name)
        rows.append(
            (
                name,
                repr(constraint),
                stated.ratio,
                stated.theorem,
                stated.formula,
                stated.in_expectation,
                needs,
                stated.reason,
            )
        )
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.sort_values("ratio", ascending=False, kind="stable", ignore_index=True)


def _constants_of(objective: SetFunction, constraint: Constraint) -> Constants:
    if objective.monotone and objective.submodular:
        return SubmodularityRatios.of_submodular()
    if not isinstance(objective, SparseObjective):
        raise TypeError(
            f"constants must be given for {objective!r}, of which nothing is known: submodularity_ratios and "
            "localizability compute them for small ground sets"
        )
    s, t = max(1, constraint.max_size()), max(1, min(constraint.exchange_size(1), constraint.n))
    return restricted_constants(objective, s, t)


def _needs(name: str) -> str:
    return THEOREMS[name].needs if name in THEOREMS else "nothing is known"


def _guarantee_of(
    name: str, constraint: Constraint, constants: Constants, details: Mapping[str, Any] | None
) -> Guarantee:
    """Return the guarantee of a method; where the constraint does not fit, the error is the reason."""
    if name in PIVOTS and name != "oblivious" and not isinstance(constants, RestrictedConstants):
        return nothing("the rule reads coefficients: its theorem needs RestrictedConstants")
    try:
        return guarantee(name, constraint, constants, details=details)
    except TypeError as misfit:
        return nothing(str(misfit))
