"""How much a sparse objective curves along directions with few non-zeros: m_s, M_s and M_{s,t}."""

from __future__ import annotations

from dataclasses import dataclass


class Constant(float):
    """A number that says what it is: the constant itself, or a bound of it in a safe direction.

    A lower bound of an m and an upper bound of an M are safe: a guarantee made of them holds.

    >>> m = Constant(0.5, "lower bound")
    >>> m, 2 * m, m.exact
    (0.5 (lower bound), 1.0, False)
    """

    kind: str

    def __new__(cls, value: float, kind: str) -> Constant:
        """Return the number, marked ``"exact"``, ``"lower bound"`` or ``"upper bound"``."""
        constant = super().__new__(cls, value)
        constant.kind = kind
        return constant

    @property
    def exact(self) -> bool:
        """Whether this is the constant itself."""
        return self.kind == "exact"

    def __repr__(self) -> str:
        """Return the number and what it is."""
        return f"{float(self):.6g} ({self.kind})"


@dataclass(frozen=True)
class RestrictedConstants:
    """Restricted strong concavity (m) and smoothness (M) of a sparse objective.

    ``m_s`` holds for pairs of points that differ in at most s places, ``M_st`` for pairs of points
    with at most s non-zeros that differ in at most t places; ``M_s`` is ``M_{s,s}``.
    """

    s: int
    t: int
    m_1: Constant
    m_s: Constant
    m_2s: Constant
    M_1: Constant
    M_s: Constant
    M_st: Constant
    #: The M that non-oblivious local search works with by default
    M_rule: Constant
