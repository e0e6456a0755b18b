"""Which members of a class its page in the reference shows: those that users call.

Objectives and constraints have some thirty members that searches and proofs ask for. They are on the pages of
the abstract classes, which people read who write one of their own; a page of a constraint shows what one does
with a constraint.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
from typing import Any

import swapwise
from swapwise.search.methods import Method
from swapwise.search.rules import Pivot

PACKAGES = ("swapwise", "swapwise.theory", "swapwise.graphs", "swapwise.paper", "swapwise.extending")
#: Every public name, and where its page in the reference is
HOMES = {
    name: f"{package}.{name}"
    for package in PACKAGES
    for name in importlib.import_module(package).__all__
    if not name.isupper()  # constants have no page
}

CONTRACTS = (swapwise.SetFunction, swapwise.SparseObjective)
CONTRACTS += (swapwise.extending.State, swapwise.extending.SparseState)
CONTRACTS += (swapwise.Constraint, swapwise.IndependenceSystem, swapwise.Matroid)
OF_OBJECTIVES = {"coef", "value_at", "gradient_at", "edges", "n_observed", "best_diagonal"}
OF_OBJECTIVES |= {"from_covariance", "from_jax"}
OF_CONSTRAINTS = {"is_independent", "extend", "max_size", "max_weight", "rank", "assign"}
OF_CONSTRAINTS |= {"truncate", "restrict", "contract"}
OF_CONSTRAINTS |= {"from_columns", "from_correlation", "from_names", "from_polynomial"}
FOR_REPORTS = ("answer_in_words", "choice_in_words", "parts_in_words", "weaker_in_words", "weight_is")


def called(module: str, name: str) -> list[str]:
    """Return the members of a class to show on its page, by name."""
    kind = _class(module, name)
    return sorted(
        member for member in _public(kind) if _home(kind, member) == "swapwise" and _shown(kind, member)
    )


def inherited(module: str, name: str) -> list[str]:
    """Return what an estimator has from scikit-learn, which documents it."""
    kind = _class(module, name)
    return sorted(member for member in _public(kind) if _home(kind, member) == "sklearn")


def example(module: str, name: str) -> str:
    """Return the code of the example in a docstring, for a page that shows the figure it draws."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(_class(module, name)) or "")
    return "".join(part.source for part in examples)


def _class(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _public(kind: type) -> list[str]:
    return [name for name in dir(kind) if not name.startswith("_") and not name.endswith("_request")]


def _shown(kind: type, member: str) -> bool:
    if kind in CONTRACTS:
        return True
    if issubclass(kind, (Method, Pivot)):  # objects that hold options
        return False
    if issubclass(kind, swapwise.SetFunction):
        return member in OF_OBJECTIVES
    if issubclass(kind, swapwise.Constraint):
        return member in OF_CONSTRAINTS
    return member not in FOR_REPORTS and bool(inspect.getdoc(getattr(kind, member)))


def _home(kind: type, member: str) -> str:
    """Return the library that wrote a member."""
    home = next(base for base in kind.__mro__ if member in vars(base))
    return home.__module__.split(".")[0]
