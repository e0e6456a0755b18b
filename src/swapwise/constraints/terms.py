"""Terms of a model, products of powers of variables, and which of them divide which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swapwise.checks import IndexArray


def sign_between(names: Sequence[str], power: str = "^") -> str:
    """Return the sign between the factors of products: ``:``, or a blank as in scikit-learn's names.

    It is the one that makes products of given names of most names.

    >>> sign_between(["a", "b", "a:b"]), sign_between(["a", "b", "a^2", "a b"])
    (':', ' ')
    """
    known = set(names)
    spelled = {sign: [_factors(name, sign, power) for name in names if sign in name] for sign in (":", " ")}
    made = {sign: sum(known.issuperset(factors) for factors in some) for sign, some in spelled.items()}
    return ":" if spelled[":"] and made[":"] >= made[" "] else " "


def parents_of_terms(names: list[str], sep: str, power: str) -> dict[str, list[str]]:
    """Return the parents of terms by their names: the largest other terms that divide them."""
    if not sep or not power:
        raise ValueError(f"sep and power must be strings that are not empty, got {sep!r} and {power!r}")
    factors = [_factors(name, sep, power) for name in names]
    variables = {next(iter(own)) for own in factors if len(own) == 1 and set(own.values()) == {1}}
    for name, own in zip(names, factors, strict=True):
        missing = [variable for variable in own if variable not in variables]
        if missing and (len(own) > 1 or sum(own.values()) > 1):
            raise ValueError(f"{name!r} needs {missing[0]!r}, which is not among the names")
    order = {variable: number for number, variable in enumerate(sorted(set().union(*factors)))}
    powers = np.zeros((len(names), len(order)), dtype=np.intp)
    for row, own in enumerate(factors):
        for variable, exponent in own.items():
            powers[row, order[variable]] = exponent
    parents = parents_of_powers(powers)
    return {names[term]: [names[parent] for parent in own] for term, own in parents.items()}


def parents_of_powers(powers: IndexArray) -> dict[int, list[int]]:
    """Return the parents of terms by their exponents, one row per term: the largest others that divide them.

    A term of degree 0, an intercept, is no parent.
    """
    degree = powers.sum(axis=1)
    parents: dict[int, list[int]] = {}
    for term in np.flatnonzero(degree > 1):
        divides = (powers <= powers[term]).all(axis=1) & (degree > 0) & (degree < degree[term])
        below = np.flatnonzero(divides)
        # Divisors of other divisors are further up.
        own = powers[below]
        inner = (own[:, None, :] <= own[None, :, :]).all(axis=2) & (degree[below][:, None] < degree[below])
        largest = below[~inner.any(axis=1)]
        if len(largest):
            parents[int(term)] = largest.tolist()
    return parents


def _factors(name: str, sep: str, power: str) -> dict[str, int]:
    """Return the exponent of each variable in a term."""
    factors: dict[str, int] = {}
    for part in name.split(sep):
        variable, caret, exponent = part.rpartition(power)
        if not caret or not exponent.isdecimal() or not variable:
            variable, exponent = part, "1"
        factors[variable] = factors.get(variable, 0) + int(exponent)
    return factors
