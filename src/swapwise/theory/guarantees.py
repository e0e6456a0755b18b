"""The theorems on local search: what they guarantee for an answer before the search.

Where the paper's printed forms slip, its proofs are followed: ``exp(+…)`` in Table 1 and Theorem 12 is
``exp(−…)``; ``M_{s,2}`` in the last row of Table 1 and in the proof of Theorem 14 is ``M_{s,t}``; t is
``2q(p + 1)``, not ``2p(q + 1)``, for intersections of p matroids (``constraint.exchange_size``). And
``1 − exp(−cT)`` gives way to the larger ``1 − max(0, 1 − c)^T``: the proofs have ``1 − c``, but c may be > 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf, isinf, log, log1p
from typing import Any

from swapwise.checks import as_count, as_real
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid, require_single_swaps
from swapwise.numerics import EQUAL
from swapwise.search.methods import Method
from swapwise.search.plan import NAMES, PIVOTS, require_constraint
from swapwise.search.rules import NonOblivious, Oblivious, Pivot
from swapwise.theory.constants import RestrictedConstants
from swapwise.theory.localizable import Localizability
from swapwise.theory.methods import THEOREMS, MethodRun, flat, of_run
from swapwise.theory.ratios import SubmodularityRatios
from swapwise.theory.statement import (
    NO_ROUND,
    NO_THEOREM,
    NO_THEOREM_WITHIN,
    ONLY_EMPTY,
    Guarantee,
    nothing,
    on_trust,
)

Constants = RestrictedConstants | Localizability | SubmodularityRatios
Triple = tuple[float, float, float]

# Theorems on local search in the paper's own numbers, by whether the rule is accelerated and whether p > 1
NUMBERS = {(False, False): 9, (False, True): 12, (True, False): 13, (True, True): 14}

# The simplified definition compares sets of one size only, as the paper's search under a matroid does.
FROM_A_BASE = 'that the search begins at a base, as with start="arbitrary"'

# The written form of α/β for sparse objectives, by that of β
LIMITS = {"M/m": "m²/M²", "(p − 1 + 1/q) M/m": "m²/((p − 1 + 1/q) M²)"}


def drops_per_addition(p: int, q: int) -> float:
    """Return ``p − 1 + 1/q``, and 1 for p = 1: the drops per addition in the exchanges of the proofs."""
    return p - 1 + 1 / q if p > 1 else 1.0


def local_search_ratio(
    triple: Triple, s: int, p: int = 1, q: int = 1, T: int | None = None, epsilon: float | None = None
) -> float:
    """Return the ratio of the theorems on local search, which differ in their letters only.

    Theorem 9 (p = 1) and 12: ``(α/β) (1 − max(0, 1 − β/s)^T)`` with ``β = β₁ (p − 1 + 1/q) + β₂``, or ``α/β``
    at a local optimum. Theorems 13 and 14: the same with ``(α, β₁, β₂) = (m/M, M/m, 0)``.

    Theorem 23, at a stop of the geometric rule with δ = ε/s: ``α/(β + ε)``. No move gains ``δ f(X)``, and the
    proof sums at most s of them, so that the paper's δ = ε/n is not needed. The paper states it for sparse
    objectives, and localizability is all that the proof for the oblivious rule uses. For systems Remark 24
    states no ratio, and the same follows: there are up to ``s q η`` exchanges, and everything is divided by
    ``q η``.
    """
    alpha, beta1, beta2 = triple
    beta = beta1 * drops_per_addition(p, q) + beta2 + (epsilon or 0.0)
    if beta == 0:
        return float(alpha > 0) if T is None else min(1.0, alpha * T / s)
    return min(1.0, alpha / beta * (1.0 if T is None else 1 - max(0.0, 1 - beta / s) ** T))


def iterations_for(epsilon: float, s: int, m: float, M: float, p: int = 1, q: int = 1) -> int:
    """Return the number of iterations that bring Theorems 13 and 14 to within ``epsilon`` of their limit.

    ``T = (s m / M) log(m² / (ε M²))`` under a matroid. The paper's appendix has ``s M / m`` in front: that is
    no fewer, so it suffices as well, but it is ``(M/m)²`` times as many as needed.
    """
    limit = local_search_ratio((m / M, M / m, 0.0), s, p, q)
    return max(0, ceil(s * m / (drops_per_addition(p, q) * M) * log(limit / epsilon)))


def guarantee(
    method: str | Pivot,
    constraint: Constraint,
    constants: Constants,
    T: int | None = None,
    q: int = 1,
    epsilon: float | None = None,
    details: Mapping[str, Any] | None = None,
) -> Guarantee:
    """Return the guarantee of a method under a constraint, for any objective with these constants.

    Parameters
    ----------
    method, q, epsilon
        As in :func:`maximize`. ``NonOblivious("global")`` works with a number that only the objective
        knows: write ``NonOblivious(objective.smoothness(t))`` with ``t = constraint.exchange_size(q)``.
    constraint : Constraint
    constants : RestrictedConstants, Localizability or SubmodularityRatios
        Of the objective, for at least ``s = constraint.max_size()`` and ``t = constraint.exchange_size(q)``.
        Localizability is for the oblivious rule, and ratios are for methods other than local search.
        Simplified localizability is for a matroid of rank s and a search that begins at a base.
    T : int, optional
        Number of iterations; by default the method came to its own end.
    details : mapping, optional
        What else the theorem on a method takes: its options, and what its run has on record
        (``result.strategies[-1].details``), such as the ``step`` of hard thresholding.

    See Also
    --------
    guarantee_table : all methods side by side.
    Guarantee : what is returned.
    certify : a bound for the answer at hand.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> from swapwise import Uniform
    >>> from swapwise.theory.localizable import Localizability
    >>> submodular = Localizability(1.0, 1.0, 1.0, s=4, t=2)
    >>> guarantee("oblivious", Uniform(10, 4), submodular)
    at least 0.5 of the optimum (Theorem 9 of Fujii 2020: α/(β₁ + β₂))
    >>> guarantee("oblivious", Uniform(10, 4), submodular, T=3)
    at least 0.4375 of the optimum (Theorem 9 of Fujii 2020: α/(β₁ + β₂) · (1 − max(0, 1 − (β₁ + β₂)/s)^T))
    >>> guarantee("filmus-ward", Uniform(10, 4), SubmodularityRatios.of_submodular(), details={"levels": 4})
    at least 0.5904 of the optimum (Buchbinder and Feldman 2024: 1 − (1 + 1/ℓ)^−ℓ)
    """
    require_constraint(constraint)
    rule = _read_method(method, constants)
    T = None if T is None else as_count(T, "T")
    epsilon = None if epsilon is None else as_real(epsilon, "epsilon", positive=True)
    if as_count(q, "q") == 0:
        raise ValueError("q must be at least 1, got 0")
    s = constraint.max_size()
    if s == 0:
        return ONLY_EMPTY
    if isinstance(rule, str):
        if q != 1 or epsilon is not None:
            raise ValueError(f"q and epsilon are options of local search; {rule} does not use them")
        _check_sizes(constants, s, 1)
        return of_method(rule, constraint, constants, T, details)
    if isinstance(constraint, Matroid):
        require_single_swaps(q)
    if isinstance(constants, Localizability) and constants.simplified:
        _check_matroid(constraint, constants.s, s)
    _check_sizes(constants, s, min(constraint.exchange_size(q), constraint.n))
    return of_local_search(rule, constraint, constants, T, q, epsilon)


def of_local_search(
    rule: Pivot,
    constraint: Constraint,
    constants: Constants,
    T: int | None = None,
    q: int = 1,
    epsilon: float | None = None,
) -> Guarantee:
    if constraint.p is None:
        return nothing(NO_THEOREM)
    if isinstance(constants, RestrictedConstants) and constants.within_bounds:
        return nothing(NO_THEOREM_WITHIN)
    s = constraint.max_size()
    return on_trust(_LocalSearchRun(s, constraint.p, q, T, epsilon).guarantee(rule, constants), constraint)


def of_method(
    name: str,
    constraint: Constraint,
    constants: Constants,
    T: int | None = None,
    details: Mapping[str, Any] | None = None,
) -> Guarantee:
    """Return the guarantee of a method other than local search.

    >>> from swapwise import Uniform
    >>> of_method("of my own", Uniform(5, 2), SubmodularityRatios.of_submodular())
    vacuous (no theorem bounds the share of the optimum that of my own reaches)
    """
    known = constants if isinstance(constants, RestrictedConstants) else None
    if known is not None and known.within_bounds and name not in ("random", "exhaustive"):
        return nothing(NO_THEOREM_WITHIN)
    if isinstance(constants, SubmodularityRatios):
        ratios = constants
    elif known is not None:
        ratios = SubmodularityRatios.by_eigenvalues(known)
    elif name in ("random", "exhaustive"):
        ratios = SubmodularityRatios.of_submodular()  # not used by these methods
    else:
        return nothing(
            f"localizability gives no guarantee for {name}; RestrictedConstants or SubmodularityRatios may"
        )
    return on_trust(of_run(MethodRun(name, constraint, ratios, known, T, details or {})), constraint)


def _read_method(method: str | Pivot, constants: Constants) -> str | Pivot:
    if not isinstance(constants, Constants):
        raise TypeError(
            "constants must be RestrictedConstants, such as theory.restricted_constants(objective, s, t) of "
            "a sparse objective, Localizability, such as theory.Localizability(1, 1, 1) of a submodular one, "
            f"or SubmodularityRatios, got {constants!r}"
        )
    if isinstance(method, Pivot):
        return method
    if not isinstance(method, str) or method not in (*NAMES, *THEOREMS):
        hint = "; give its name, and details= of a run" if isinstance(method, Method) else ""
        raise ValueError(f"method must be a pivot rule or one of {', '.join(NAMES)}; got {method!r}{hint}")
    if method == "auto" and not isinstance(constants, RestrictedConstants):
        raise ValueError("'auto' is oblivious for some objectives and semi-oblivious for others: name one")
    if method == "auto":  # with restricted constants both have the same ratio
        return Oblivious()
    return PIVOTS[method]() if method in PIVOTS else method


def _check_sizes(constants: Constants, s: int, t: int) -> None:
    for_t = None if isinstance(constants, SubmodularityRatios) else constants.t
    known_s, known_t = (inf if size is None else size for size in (constants.s, for_t))
    if known_s < s or known_t < t:
        raise ValueError(
            f"the constants must hold for sets of size s = {s} and exchanges of size t = {t}, but they are "
            f"for s = {constants.s} and t = {for_t}"
        )


def _check_matroid(constraint: Constraint, known: int | None, rank: int) -> None:
    if constraint.p != 1:
        raise TypeError("simplified localizability is for a matroid; localizability(f, s, t) is for systems")
    if known != rank:
        raise ValueError(
            f"simplified localizability of size {known} is for a matroid of that rank, not {rank}"
        )


@dataclass(frozen=True)
class _LocalSearchRun:
    s: int
    p: int
    q: int
    T: int | None
    epsilon: float | None

    def guarantee(self, rule: Pivot, constants: Constants) -> Guarantee:
        if type(rule) not in PIVOTS.values():
            return nothing(f"there is no theorem on the rule {rule!r}")
        if self.epsilon is not None and self.T is not None:
            return nothing("the geometric rule guarantees nothing before it stops by itself")
        if isinstance(constants, RestrictedConstants):
            return self._sparse(rule, constants)
        if isinstance(constants, SubmodularityRatios):
            if not constants.submodular:
                return nothing("no theorem on local search has γ and β in it; see distorted")
            constants = Localizability(1.0, 1.0, 1.0)
        if not isinstance(rule, Oblivious):
            raise TypeError(
                f"the {rule.name} rule reads coefficients: its theorem needs RestrictedConstants, "
                f"got {constants!r}"
            )
        numbers = {"alpha": constants.alpha, "beta1": constants.beta1, "beta2": constants.beta2}
        beta = "β₁ (p − 1 + 1/q) + β₂" if self.p > 1 else "β₁ + β₂"
        triple = constants.alpha, constants.beta1, constants.beta2
        stated = self._made_of(triple, numbers, NUMBERS[False, self.p > 1], "α", beta)
        return replace(stated, assumptions=(FROM_A_BASE,)) if constants.simplified else stated

    def _sparse(self, rule: Pivot, constants: RestrictedConstants) -> Guarantee:
        m, M, name = float(constants.m_2s), float(constants.M_st), "M_st"
        if m <= 0:
            return flat("m_2s")
        if isinstance(rule, NonOblivious):
            if rule.smoothness == "global":
                raise ValueError(
                    "which M NonOblivious('global') works with is up to the objective: "
                    "give NonOblivious(objective.smoothness(constraint.exchange_size(q)))"
                )
            if rule.smoothness == "move":
                M, name = float(constants.M_rule), "M_rule"
            elif float(rule.smoothness) < M * (1 - EQUAL):
                return nothing(f"{rule!r} is less than M_st = {M:.4g}: nothing is guaranteed")
            else:
                M, name = max(M, float(rule.smoothness)), "M"
        if isinf(M):
            return nothing("it is not known how smooth the objective is")
        number = NUMBERS[not isinstance(rule, Oblivious), self.p > 1]
        beta = "(p − 1 + 1/q) M/m" if self.p > 1 else "M/m"
        triple, numbers = (m / M, M / m, 0.0), {"m_2s": m, name: M}
        stated = self._made_of(triple, numbers, number, "(m/M)", beta)
        return replace(stated, max_iterations=self._most_moves(constants))

    def _made_of(
        self, triple: Triple, numbers: dict[str, float], number: int, alpha: str, beta: str
    ) -> Guarantee:
        """Return the guarantee; ``alpha`` and ``beta`` are how α and the sum of the β are written."""
        ratio = local_search_ratio(triple, self.s, self.p, self.q, self.T, self.epsilon)
        theorem, formula = f"Theorem {number}", LIMITS.get(beta, f"{alpha}/({beta})")
        numbers = numbers | ({"p": self.p, "q": self.q} if self.p > 1 else {})
        if self.epsilon is not None:
            # The paper states this for sparse objectives under a matroid; its proof gives the rest.
            for_matroid = "Theorem 23" if "m_2s" in numbers else "after Theorem 23"
            theorem = "after Remark 24" if self.p > 1 else for_matroid
            formula, numbers = f"{alpha}/({beta} + ε)", numbers | {"ε": self.epsilon}
        elif self.T is not None:
            formula += f" · (1 − max(0, 1 − ({beta})/s)^T)"
            numbers = numbers | {"s": self.s, "T": self.T}
        reason = NO_ROUND if self.T == 0 else "the constants, or tol, leave nothing"
        return Guarantee(ratio, f"{theorem} of Fujii 2020", formula, numbers, reason=reason)

    def _most_moves(self, constants: RestrictedConstants) -> int | None:
        # The best element that is allowed has m_s / (s M_1) of the optimum; a move gains a factor 1 + δ.
        if self.epsilon is None:
            return None
        return ceil(log(self.s * constants.M_1 / constants.m_s) / log1p(self.epsilon / self.s))
