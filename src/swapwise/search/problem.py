"""Whether an objective and a constraint make a problem."""

from __future__ import annotations

from swapwise.checks import IndexArray
from swapwise.constraints.axioms import verify
from swapwise.constraints.base import IndependenceSystem
from swapwise.graphs import require_same_edges
from swapwise.objectives.base import SetFunction


def check_problem(objective: SetFunction, constraint: IndependenceSystem) -> None:
    """Say what is wrong with an objective, a constraint, or the pair of them, if anything is."""
    if not isinstance(objective, SetFunction):
        hint = "; wrap a function in sw.CustomSetFunction(function, n)" if callable(objective) else ""
        kind = type(objective).__name__
        raise TypeError(f"objective must be a SetFunction such as sw.LeastSquares, got a {kind}{hint}")
    require_constraint(constraint, objective.n)
    if objective.n != constraint.n:
        raise ValueError(
            f"objective and constraint must have the same ground set, but the objective has "
            f"n = {objective.n} elements and the constraint n = {constraint.n}"
        )
    if hasattr(objective, "edges"):
        for part in getattr(constraint, "matroids", (constraint,)):
            if hasattr(part, "edges"):
                require_same_edges(objective.edges, part.edges)
    verify(constraint)


def require_constraint(constraint: object, n: int | None = None) -> None:
    """Say so if something is no constraint."""
    if isinstance(constraint, IndependenceSystem):
        return
    hint = ""
    if isinstance(constraint, int):
        hint = f"; did you mean sw.Uniform({'n' if n is None else n}, {constraint})?"
    elif isinstance(constraint, (list, tuple)):
        hint = "; several are combined by sw.Intersection(first, second)"
    raise TypeError(f"constraint must be one such as sw.Uniform or sw.Partition, got {constraint!r}{hint}")


def require_allowed(constraint: IndependenceSystem, support: IndexArray) -> None:
    """Say so if a constraint has led to a set that it does not allow, as one of the user's own may."""
    if not constraint._is_independent(support):
        raise ValueError(
            f"{constraint!r} has led to {support.tolist()}, which its _is_independent does not allow: its "
            "moves, extend or _max_weight contradict it"
        )
