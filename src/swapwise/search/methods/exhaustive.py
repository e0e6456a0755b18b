"""Exhaustive search of every maximal independent set, for small problems and for tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

import numpy as np

from swapwise.checks import IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.constraints.kinds import LaminarTree
from swapwise.moves import Step, move_between
from swapwise.numerics import TIE
from swapwise.objectives.base import SetFunction, State
from swapwise.override import override
from swapwise.search.completion import COMPLETION
from swapwise.search.methods.base import Method

# The most sets that exhaustive search accepts
LARGEST_FAMILY = 1_000_000


class Exhaustive(Method):
    """Evaluates all maximal independent sets and moves to each new best one.

    Of an objective that may not be monotone, all independent sets are evaluated that meet the lower limits.
    It is for up to a million sets.

    See Also
    --------
    swapwise.exact : finds the best set without evaluating all.

    References
    ----------
    - Hocking and Leslie (1967), Selection of the best subset in regression analysis.

    Examples
    --------
    >>> from swapwise import Linear, Uniform, maximize
    >>> maximize(Linear([1, 3, 2]), Uniform(3, 2), "exhaustive").support
    array([1, 2])
    """

    name = "exhaustive"

    @override
    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        if count_bound(constraint, maximal=objective.monotone) > LARGEST_FAMILY:
            raise ValueError(
                f"exhaustive search is for at most {LARGEST_FAMILY:,} sets; this constraint may have more. "
                "A local search (method='auto') has no such limit"
            )
        return None

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        complete = self._constraint.is_complete
        is_answer = complete(state.support)  # else any set that meets the lower limits is better
        for candidate in enumerate_sets(self._constraint, maximal=self._objective.monotone):
            budget.check()
            if not complete(candidate):
                continue
            state.n_evaluations += 1
            value = self._objective._value(candidate)
            if not is_answer or value > state.value + TIE * state.magnitude:
                move, before = move_between(state.support, candidate), state.value
                state.apply(move)
                is_answer = True
                yield [Step(move, state.value, None if state.value > before else COMPLETION)]


def enumerate_sets(constraint: Constraint, maximal: bool) -> Iterator[IndexArray]:
    """Yield every independent set with the forced elements, or every maximal one, in lexicographic order."""
    if not constraint.hereditary:
        yield from _enumerate_accessible(constraint, maximal)
        return
    largest = constraint.max_size()
    # Under assumptions, maximal sets may differ in size even if p is 1.
    one_size = maximal and constraint.p == 1 and not constraint.assumptions
    stack = [constraint.forced]
    while stack:
        chosen = stack.pop()
        addable = np.flatnonzero(constraint.addable(chosen))
        if not (maximal and len(addable)):
            yield chosen
        # Elements come in rising order (after the forced ones), so every set is built in one way.
        free = np.setdiff1d(chosen, constraint.forced)
        later = addable[addable > free.max(initial=-1)]
        for element in later[::-1]:
            hopeless = one_size and len(chosen) + (later >= element).sum() < largest
            if not hopeless:
                stack.append(np.sort(np.append(chosen, element)))


def _enumerate_accessible(constraint: Constraint, maximal: bool) -> Iterator[IndexArray]:
    """Yield the sets of a family that is not hereditary, grown one element at a time in any order."""
    seen, stack = {constraint.forced.tobytes()}, [constraint.forced]
    while stack:
        chosen = stack.pop()
        addable = np.flatnonzero(constraint.addable(chosen))
        if not (maximal and len(addable)):
            yield chosen
        for element in addable[::-1]:
            larger = np.sort(np.append(chosen, element))
            if larger.tobytes() not in seen:
                seen.add(larger.tobytes())
                stack.append(larger)


def count_bound(constraint: Constraint, maximal: bool = True) -> int:
    """Return an upper bound on the number of (maximal) independent sets that hold the forced elements."""
    forced, tree = len(constraint.forced), constraint.laminar_tree()
    if tree is not None and not forced:
        by_size = _count_by_size(tree, complete=maximal)
        if not maximal or by_size[-1]:  # else there are not enough elements for the lower limits
            return by_size[-1] if maximal else sum(by_size)
    candidates, size = constraint.n - len(constraint.loops()) - forced, constraint.max_size() - forced
    if not maximal:
        return sum(comb(candidates, k) for k in range(size + 1))
    return comb(candidates, min(size, (candidates + 1) // 2))


def _count_by_size(tree: LaminarTree, complete: bool) -> list[int]:
    """Count sets of each number of places demanded within the limits, from the leaves of the tree up.

    If ``complete``, only sets that meet the lower limits count, and the number is their size.
    """
    own = np.bincount(tree.leaf, minlength=len(tree.end)).tolist()
    capacity, at_least = tree.capacity.tolist(), tree.at_least.tolist()
    counts = [[comb(m, size) for size in range(min(m, c) + 1)] for m, c in zip(own, capacity, strict=True)]
    for node in range(len(counts) - 1, -1, -1):
        least = at_least[node]
        fewer = 0 if complete else sum(counts[node][:least])
        counts[node] = [0] * least + (counts[node][least:] or [0])
        counts[node][least] += fewer
        if node:
            parent = int(tree.parent[node])
            counts[parent] = _multiplied(counts[parent], counts[node], capacity[parent])
    return counts[0]


def _multiplied(left: list[int], right: list[int], degree: int) -> list[int]:
    product = [0] * (min(len(left) + len(right) - 2, degree) + 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right[: len(product) - i]):
            product[i + j] += a * b
    return product
