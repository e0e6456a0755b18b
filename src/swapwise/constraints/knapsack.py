"""A budget, or several: elements cost something, and all that is chosen must not cost too much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_real, some_of
from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem, MaxWeight, Prices
from swapwise.constraints.kinds import Budgets
from swapwise.constraints.limits import Limits
from swapwise.kernels import knapsack
from swapwise.numerics import SUM
from swapwise.override import override

# Iterations of branch and bound before an integer program takes over: some tenths of a second.
MOST_ITERATIONS = 1_000_000


class Knapsack(Limits, IndependenceSystem):
    """Sets whose total cost is within a budget: money, minutes of lab time, bytes to transmit.

    A move adds one element and drops nothing, one element, or two if neither alone makes room. There is
    no theorem on such a search; ``result.guarantee`` bounds how good its answer is from the run itself,
    and ``certify`` and ``exact`` prove how good it is. Searches begin with the better of two greedy sets,
    by gain and by gain per cost (``start="greedy"`` and ``start="density"``).

    Parameters
    ----------
    costs : array-like of shape (n,) or (n_budgets, n), mapping from name to cost, or list of mappings
        What each element costs, none less than 0: an array, a list, a dict or a pandas Series. The keys of a
        dict, or the index of a Series, are names (strings), which are remembered, so that estimators can
        match them with the columns of their data; or the positions 0 to n - 1 in any order. For several
        budgets, one row or one mapping each.
    budget : float, or sequence of float
        What may be spent in all; one number for each row of ``costs``.

    Attributes
    ----------
    costs : array of shape (n_budgets, n)
    budget : array of shape (n_budgets,)
    names : list of str, or None

    See Also
    --------
    Intersection : a budget beside limits of other kinds.

    References
    ----------
    - Sviridenko (2004), A note on maximizing a submodular set function subject to a knapsack constraint.
    - Leskovec et al. (2007), Cost-effective outbreak detection in networks.

    Examples
    --------
    >>> from swapwise import Knapsack, Linear, exact, maximize
    >>> affordable = Knapsack([4, 3, 5, 2, 1], budget=7)
    >>> affordable.is_independent([0, 1]), affordable.is_independent([0, 2])
    (True, False)
    >>> worth = Linear([5.0, 4.0, 6.0, 2.5, 1.0])
    >>> affordable.max_weight(worth.weights).support
    array([0, 1])
    >>> exact(worth, affordable).status.name
    'OPTIMAL'

    Two budgets, with names:

    >>> euros, minutes = {"a": 4, "b": 3, "c": 5}, {"a": 10, "b": 30, "c": 10}
    >>> tests = Knapsack([euros, minutes], budget=[9, 30])
    >>> tests.names, tests.is_independent([0, 2]), tests.is_independent([0, 1])
    (['a', 'b', 'c'], True, False)
    """

    def __init__(self, costs: Any, budget: float | Iterable[float]) -> None:
        known, self.names = _read_costs(costs)
        self._hold(known.shape[1], Budgets(known, _read_budget(budget, len(known))))

    @property
    def _budgets(self) -> Budgets:
        return cast(Budgets, self.kinds[0])

    @property
    def costs(self) -> FloatArray:
        return self._budgets.costs

    @property
    def budget(self) -> FloatArray:
        return self._budgets.budget

    @override
    def __repr__(self) -> str:
        budget = ", ".join(f"{each:g}" for each in self.budget)
        return f"Knapsack(n={self.n}, budget={budget if len(self.budget) == 1 else f'[{budget}]'})"

    @property
    @override
    def shares(self) -> FloatArray:
        return self._budgets.shares.max(axis=0, initial=0.0)

    # -- weights ------------------------------------------------------------------------------------

    @override
    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        held = self.forced[weights[self.forced] > 0]
        found = self._by_branching(held, weights) if len(self.budget) == 1 else None
        return super()._max_weight(weights, clock) if found is None else found

    @override
    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        found = self._by_branching(held, weights) if len(self.budget) == 1 else None
        return super()._max_weight_holding(held, weights, clock) if found is None else found

    def _by_branching(self, held: IndexArray, weights: FloatArray) -> MaxWeight | None:
        budgets = self._budgets
        share, room = budgets.shares[0], float(budgets.left(self._with_forced(held))[0])
        if room < 0:
            return MaxWeight(held, float(weights[held].sum()), bound=-np.inf)
        others = weights > 0
        others[self._with_forced(held)] = False
        free = np.flatnonzero(others & (share == 0))
        paid = np.flatnonzero(others & (share > 0) & (share <= room))
        chosen, finished = knapsack.heaviest(weights[paid], share[paid], room, MOST_ITERATIONS)
        if not finished:
            return None
        support = np.sort(np.concatenate([held, free, paid[chosen]]))
        # The price of the budget: the weight per share of the first element that does not fit.
        in_turn = paid[np.argsort(-weights[paid] / share[paid], kind="stable")]
        first = np.searchsorted(np.cumsum(share[in_turn]), room, side="right")
        price = weights[in_turn[first]] / share[in_turn[first]] if first < len(in_turn) else 0.0
        reduced = np.where(share <= room, weights - price * share, -np.inf)
        reduced[held] = 0.0
        base = float(weights[held].sum() + price * room)
        weight = float(weights[support].sum())
        prices = Prices(np.array([price]), base, reduced)
        return MaxWeight(support, weight, bound=weight * (1 + SUM), prices=prices)


def _read_costs(costs: Any) -> tuple[FloatArray, list[str] | None]:
    if hasattr(costs, "columns"):
        raise TypeError(
            "costs must be numbers, one for each element, got a frame: hand in one of its columns, or for "
            "several budgets a list of them"
        )
    if _is_named(costs):
        costs = [costs]
    if not (isinstance(costs, (list, tuple)) and costs and all(map(_is_named, costs))):
        return _checked(costs, None), None
    rows = [dict(named.items()) for named in costs]
    keys = list(rows[0])
    for number, row in enumerate(rows):
        if set(row) != set(keys) or len(costs[number]) != len(keys):
            raise ValueError(
                f"every budget must have a cost for the same elements, each once, but number {number} names "
                "others than number 0, or one twice"
            )
    names = keys if all(isinstance(key, str) for key in keys) else None
    if names is None:
        keys = _positions(keys)
    return _checked([[row[key] for key in keys] for row in rows], names), names


def _positions(keys: list[Any]) -> list[Any]:
    if set(keys) != set(range(len(keys))):
        raise ValueError(
            f"costs must be by name (strings) or by position (0 to {len(keys) - 1}, each once), got some for "
            f"{some_of(list(map(repr, keys)))}"
        )
    return sorted(keys)


def _is_named(costs: Any) -> bool:
    return isinstance(costs, Mapping) or (hasattr(costs, "keys") and hasattr(costs, "items"))


def _checked(costs: ArrayLike, names: list[str] | None) -> FloatArray:
    try:
        table = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"costs must be numbers, one for each element (for several budgets, one row each), got {costs!r}"
        ) from None
    table = table[None, :] if table.ndim == 1 else table
    if table.ndim != 2:
        raise ValueError(
            f"costs must have one number for each element, or a row of these per budget, got shape "
            f"{np.shape(costs)}"
        )
    bad = np.argwhere(~(np.isfinite(table) & (table >= 0)))
    if len(bad):
        row, element = bad[0]
        who = f"element {element}" if names is None else repr(names[element])
        raise ValueError(f"costs must be finite and not negative, got {table[row, element]:g} for {who}")
    return table


def _read_budget(budget: Any, n_rows: int) -> FloatArray:
    given = list(budget) if isinstance(budget, Iterable) and not isinstance(budget, str) else [budget]
    if len(given) != n_rows:
        raise ValueError(
            f"budget must be one number for each of the {n_rows} rows of costs, got {len(given)} numbers"
        )
    return np.array([as_real(each, "budget") for each in given], dtype=np.float64)
