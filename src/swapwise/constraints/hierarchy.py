"""Elements that may only be chosen with others: interactions after main effects, powers in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from swapwise.checks import as_count, some_of, warn
from swapwise.constraints.conflicts import read_names
from swapwise.constraints.kinds import Size
from swapwise.constraints.limits import Limits
from swapwise.constraints.needs import Needs
from swapwise.constraints.terms import parents_of_powers, parents_of_terms, sign_between
from swapwise.override import override

Heredity = Literal["strong", "weak"]


class Hierarchy(Limits):
    """An element only with its parents, or with one of them: a product only with its factors.

    With ``kind="strong"`` an element needs all of its parents, with ``"weak"`` at least one of them; the
    literature speaks of strong and weak heredity, or of marginality. Subsets of independent sets need not be
    independent. A move adds an element with the parents that it lacks, and drops elements to make room: each
    with all that depend on it, or alone where the added elements replace it for all of these. There is no
    theorem on such a search; ``certify`` and ``exact`` prove how good its answer is.

    Parameters
    ----------
    n : int, or iterable of str
        Size of the ground set, or the names of its elements, which estimators match with the columns of their
        data.
    parents : mapping from element to elements
        The parents of each element that has any, by position, or by name if there are names. A parent may
        have parents in turn, but not itself among these.
    size : int, optional
        How many elements may be chosen, parents included; no limit by default.
    kind : "strong" or "weak"

    Attributes
    ----------
    parents : dict from int to list of int
    size : int
    kind : str
    names : list of str, or None

    See Also
    --------
    Intersection : a hierarchy beside limits of other kinds.
    sklearn.preprocessing.PolynomialFeatures : makes the products.

    References
    ----------
    - Nelder (1977), A reformulation of linear models.
    - Bien, Taylor and Tibshirani (2013), A lasso for hierarchical interactions.

    Examples
    --------
    >>> from swapwise import Hierarchy
    >>> terms = Hierarchy(4, {2: [0, 1], 3: [0]}, size=3)  # 2 is the product of 0 and 1, 3 the square of 0
    >>> terms.is_independent([0, 1, 2]), terms.is_independent([0, 2]), terms.is_independent([3])
    (True, False, False)
    >>> Hierarchy(4, {2: [0, 1], 3: [0]}, kind="weak").is_independent([0, 2])
    True

    From the names of terms, or from a fitted ``PolynomialFeatures`` (:meth:`from_polynomial`):

    >>> Hierarchy.from_names(["a", "b", "a:b", "a^2"]).parents
    {2: [0, 1], 3: [0]}
    """

    def __init__(
        self,
        n: int | Iterable[str],
        parents: Mapping[Any, Any],
        size: int | None = None,
        *,
        kind: Heredity = "strong",
    ) -> None:
        self.names = None if isinstance(n, (int, np.integer)) else read_names(n)
        count = as_count(n, "n") if self.names is None else len(self.names)
        if kind not in ("strong", "weak"):
            raise ValueError(f"kind must be 'strong' or 'weak', got {kind!r}")
        self.kind, known = kind, _read_parents(parents, count, self.names)
        single = ((element, [parent]) for element, own in known.items() for parent in own)
        needs = Needs.of(single if kind == "strong" else known.items(), np.zeros(count, dtype=bool))
        most = count if size is None else min(count, as_count(size, "size"))
        self._hold(count, needs, Size(count, most))
        self._require_no_circle()

    @cached_property
    @override
    def _needs(self) -> Needs:
        return cast(Needs, self.kinds[0])

    @property
    def size(self) -> int:
        return cast(Size, self.kinds[1]).size

    @classmethod
    def from_names(
        cls,
        names: Iterable[str],
        size: int | None = None,
        *,
        kind: Heredity = "strong",
        sep: str | None = None,
        power: str = "^",
    ) -> Hierarchy:
        """Return the hierarchy of terms by name: ``a:b`` needs ``a`` and ``b``, and ``a^2`` needs ``a``.

        The parents of a term are the largest terms that divide it and are there. ``sep`` is what stands
        between factors; by default ``:``, or a blank if that makes products of more names, as it does of
        those that scikit-learn makes. ``power`` is what comes before an exponent.

        >>> Hierarchy.from_names(["x0", "x1", "x0^2", "x0 x1", "x0^2 x1"]).parents
        {2: [0], 3: [0, 1], 4: [2, 3]}
        >>> Hierarchy.from_names(["a", "a:b"])
        Traceback (most recent call last):
        ...
        ValueError: 'a:b' needs 'b', which is not among the names
        """
        found = read_names(names)
        parents = parents_of_terms(found, sign_between(found, power) if sep is None else sep, power)
        if not parents:
            warn("no name is a product or a power of others, so that no element needs any other")
        return cls(found, parents, size, kind=kind)

    @classmethod
    def from_polynomial(
        cls, features: Any, size: int | None = None, *, kind: Heredity = "strong"
    ) -> Hierarchy:
        """Return the hierarchy of the terms of a fitted ``sklearn.preprocessing.PolynomialFeatures``.

        >>> import numpy as np
        >>> from sklearn.preprocessing import PolynomialFeatures
        >>> products = PolynomialFeatures(interaction_only=True, include_bias=False).fit(np.ones((1, 3)))
        >>> Hierarchy.from_polynomial(products).parents
        {3: [0, 1], 4: [0, 2], 5: [1, 2]}
        """
        powers = getattr(features, "powers_", None)
        if powers is None:
            raise TypeError(f"features must be a PolynomialFeatures that has been fitted, got {features!r}")
        names = list(map(str, features.get_feature_names_out()))
        parents = parents_of_powers(np.asarray(powers))
        named = {names[term]: [names[parent] for parent in own] for term, own in parents.items()}
        return cls(names, named, size, kind=kind)

    @override
    def __repr__(self) -> str:
        size = "" if self.size == self.n else f", size={self.size}"
        return f"Hierarchy(n={self.n}, {self.kind}{size})"

    def _require_no_circle(self) -> None:
        if circle := self._needs.circle():
            called = some_of([self._called(element) for element in circle])
            raise ValueError(f"no element may need itself, but these need each other: {called}")

    @cached_property
    def parents(self) -> dict[int, list[int]]:
        """The parents of each element that has any, by position."""
        needs = sorted(self._needs.by_element.items())
        return {element: sorted({other for need in own for other in need}) for element, own in needs}

    def together_with(self, other: Hierarchy) -> Hierarchy:
        """Return the hierarchy that has the needs of both, on the same elements."""
        size = Size(self.n, min(self.size, other.size))
        both = self._with_kinds([self._needs.with_others(other._needs), size])
        both.names, both.forced = self.names or other.names, np.union1d(self.forced, other.forced)
        both._require_no_circle()
        return both


def _read_parents(parents: Any, n: int, names: list[str] | None) -> dict[int, list[int]]:
    if not isinstance(parents, Mapping):
        raise TypeError(f"parents must be a mapping from element to its parents, got {parents!r}")
    place = None if names is None else {name: at for at, name in enumerate(names)}
    found: dict[int, list[int]] = {}
    for element, own in parents.items():
        child = _position(element, n, place)
        given = [own] if isinstance(own, (str, int, np.integer)) else own
        if not isinstance(given, Iterable):
            raise TypeError(f"the parents of {element!r} must be elements, got {own!r}")
        given = list(given)
        if given:
            found[child] = [_position(parent, n, place) for parent in given]
    return found


def _position(element: Any, n: int, place: dict[str, int] | None) -> int:
    if isinstance(element, str) and place is not None:
        if element not in place:
            raise ValueError(f"parents names {element!r}, which is not an element")
        return place[element]
    if isinstance(element, (bool, np.bool_)) or not isinstance(element, (int, np.integer)):
        hint = "; give the names in place of n" if isinstance(element, str) else ""
        raise TypeError(f"parents must name elements by position, or by name, got {element!r}{hint}")
    if not 0 <= element < n:
        raise ValueError(f"parents must hold positions from 0 to {n - 1}, got {element}")
    return int(element)
