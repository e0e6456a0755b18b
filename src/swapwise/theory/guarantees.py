"""What the theorems promise of an answer before the search.

Where the paper's printed forms slip, its proofs are followed: ``exp(+…)`` in Table 1 and Theorem 2 is
``exp(−…)``; ``M_{s,2}`` in the last row of Table 1 and in the proof of Theorem 4 is ``M_{s,t}``; t is
``2q(p + 1)``, not ``2p(q + 1)``, for intersections of p matroids (``constraint.exchange_size``). And
``1 − exp(−cT)`` gives way to the larger ``1 − max(0, 1 − c)^T``: the proofs have ``1 − c``, but c may be > 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, inf, isinf, log, log1p

import numpy as np

from swapwise.checks import as_count, as_real
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid, require_single_swaps
from swapwise.constraints.uniform import Uniform
from swapwise.numerics import EQUAL
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.objectives.linear import Linear
from swapwise.search.plan import NAMES, PIVOTS, require_constraint
from swapwise.search.result import Status
from swapwise.search.rules import NonOblivious, Oblivious, Pivot
from swapwise.theory.constants import RestrictedConstants, restricted_constants
from swapwise.theory.localizability import Localizability, known_localizability

Constants = RestrictedConstants | Localizability
Triple = tuple[float, float, float]


@dataclass(frozen=True, repr=False)
class Guarantee:
    """A part of the optimum that is reached for certain, and the theorem that says so.

    Attributes
    ----------
    ratio : the value found is at least this part of the largest one
    theorem, formula : where that comes from
    constants : the numbers in the formula
    in_expectation : whether it holds on average over the method's random choices
    max_iterations : within how many moves the search stops, begun at the best single element, if known
    reason : why nothing is promised, if the ratio is 0
    assumptions : what it takes on trust of the constraint, a sentence each (see ``Certificate.assumptions``)

    Examples
    --------
    >>> from swapwise import Coverage, Uniform, maximize
    >>> promise = maximize(Coverage([{1, 2}, {2, 3}, {4}]), Uniform(3, 2)).guarantee
    >>> promise
    at least 0.5 of the optimum (Theorem 1: α/(β₁ + β₂))
    >>> promise.ratio, promise.vacuous
    (0.5, False)
    """

    ratio: float
    theorem: str
    formula: str
    constants: dict[str, float] = field(default_factory=dict)
    in_expectation: bool = False
    max_iterations: int | None = None
    reason: str = ""
    assumptions: tuple[str, ...] = ()

    @property
    def vacuous(self) -> bool:
        """Whether nothing is promised."""
        return self.ratio == 0

    def __repr__(self) -> str:
        """Return the promise in words."""
        if self.vacuous:
            return f"vacuous ({self.reason})"
        part = "the optimum" if self.ratio == 1 else f"at least {self.ratio:.4g} of the optimum"
        average = " in expectation" if self.in_expectation else ""
        moves = "" if self.max_iterations is None else f" within {self.max_iterations} moves"
        trust = "".join(f", assuming {sentence}" for sentence in self.assumptions)
        return f"{part}{average}{moves} ({self.theorem}: {self.formula}){trust}"


ONLY_EMPTY = Guarantee(1.0, "no choice", "only the empty set is allowed")
NO_THEOREM = (
    "the constraint does not say that it is a matroid, an intersection of matroids or a p-exchange system: "
    "set its p if it is one. certify and exact prove how good an answer is without a theorem"
)
NO_ROUND = "no iteration was completed"
# What ``tol`` leaves behind is counted from here on, relative to the value; below, it is rounding.
NOTEWORTHY = 1e-6
# How α/β reads for sparse objectives, by how β does
LIMITS = {"M/m": "m²/M²", "(p − 1 + 1/q) M/m": "m²/((p − 1 + 1/q) M²)"}


def drops_per_addition(p: int, q: int) -> float:
    """Return ``p − 1 + 1/q``, and 1 for p = 1: how many drops the proofs' exchanges have for an addition."""
    return p - 1 + 1 / q if p > 1 else 1.0


def local_search_ratio(
    triple: Triple, s: int, p: int = 1, q: int = 1, T: int | None = None, epsilon: float | None = None
) -> float:
    """Return the ratio of the theorems on local search, which differ in their letters only.

    Theorem 1 (p = 1) and 2: ``(α/β) (1 − max(0, 1 − β/s)^T)`` with ``β = β₁ (p − 1 + 1/q) + β₂``, or
    ``α/β`` at a local optimum. Theorems 3 and 4: the same with ``(α, β₁, β₂) = (m/M, M/m, 0)``.

    Theorem 5, at a stop of the geometric rule with δ = ε/s: ``α/(β + ε)``. No move gains ``δ f(X)``, and
    the proof sums at most s of them, so that the paper's δ = ε/n is not needed. For systems, too:
    there are up to ``s q η`` exchanges, and everything is divided by ``q η``.
    """
    alpha, beta1, beta2 = triple
    beta = beta1 * drops_per_addition(p, q) + beta2 + (epsilon or 0.0)
    if beta == 0:
        return float(alpha > 0) if T is None else min(1.0, alpha * T / s)
    return min(1.0, alpha / beta * (1.0 if T is None else 1 - max(0.0, 1 - beta / s) ** T))


def iterations_for(epsilon: float, s: int, m: float, M: float, p: int = 1, q: int = 1) -> int:
    """Return how many iterations bring Theorems 3 and 4 to within ``epsilon`` of their limit.

    ``T = (s m / M) log(m² / (ε M²))`` under a matroid. The paper's appendix has ``s M / m`` in front: that
    is no fewer, so it suffices as well, but it is ``(M/m)²`` times as many as needed.

    >>> iterations_for(0.01, s=10, m=0.5, M=1.0)
    17
    >>> round(local_search_ratio((0.5, 2.0, 0.0), s=10, T=17), 4)  # in the limit 0.25
    0.2444
    """
    limit = local_search_ratio((m / M, M / m, 0.0), s, p, q)
    return max(0, ceil(s * m / (drops_per_addition(p, q) * M) * log(limit / epsilon)))


def guarantee(
    method: str | Pivot,
    constraint: IndependenceSystem,
    constants: Constants,
    T: int | None = None,
    q: int = 1,
    epsilon: float | None = None,
) -> Guarantee:
    """Return what is promised of a method under a constraint, for any objective with these constants.

    Parameters
    ----------
    method, q, epsilon
        As in :func:`maximize`. ``NonOblivious("global")`` works with a number that only the objective
        knows: write ``NonOblivious(objective.smoothness(t))`` with ``t = constraint.exchange_size(q)``.
    constraint : IndependenceSystem
    constants : RestrictedConstants or Localizability
        Of the objective, for at least ``s = constraint.max_size()`` and ``t = constraint.exchange_size(q)``.
    T : int, optional
        Number of iterations; by default the method came to its own end.

    Examples
    --------
    >>> from swapwise import Uniform
    >>> from swapwise.theory.localizability import Localizability
    >>> submodular = Localizability(1.0, 1.0, 1.0, s=4, t=2)
    >>> guarantee("oblivious", Uniform(10, 4), submodular)
    at least 0.5 of the optimum (Theorem 1: α/(β₁ + β₂))
    >>> guarantee("oblivious", Uniform(10, 4), submodular, T=3)
    at least 0.4375 of the optimum (Theorem 1: α/(β₁ + β₂) · (1 − max(0, 1 − (β₁ + β₂)/s)^T))
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
        return on_trust(_other_method(rule, constraint, constants, s, T), constraint)
    if isinstance(constraint, Matroid):
        require_single_swaps(q)
    _check_sizes(constants, s, min(constraint.exchange_size(q), constraint.n))
    if constraint.p is None:
        return _nothing(NO_THEOREM)
    return on_trust(_Search(s, constraint.p, q, T, epsilon).promise(rule, constants), constraint)


def on_trust(promise: Guarantee, constraint: IndependenceSystem) -> Guarantee:
    """Return a guarantee that names what it takes on trust of the constraint.

    >>> from swapwise import OracleMatroid
    >>> def few(support):
    ...     return len(support) <= 2
    >>> on_trust(Guarantee(0.5, "Theorem 1", "1/2"), OracleMatroid(20, few))
    at least 0.5 of the optimum (Theorem 1: 1/2), assuming that OracleMatroid(n=20, few) is a matroid: ...
    """
    return promise if promise.vacuous else replace(promise, assumptions=constraint.assumptions)


def _read_method(method: str | Pivot, constants: Constants) -> str | Pivot:
    if not isinstance(constants, Constants):
        raise TypeError(
            "constants must be RestrictedConstants, such as restricted_constants(objective, s, t), or "
            f"Localizability, got {constants!r}"
        )
    if isinstance(method, Pivot):
        return method
    if not isinstance(method, str) or method not in NAMES:
        raise ValueError(f"method must be a pivot rule or one of {', '.join(NAMES)}; got {method!r}")
    if method == "auto" and isinstance(constants, Localizability):
        raise ValueError("'auto' is oblivious for some objectives and semi-oblivious for others: name one")
    if method == "auto":  # with restricted constants both have the same ratio
        return Oblivious()
    return PIVOTS[method]() if method in PIVOTS else method


def _check_sizes(constants: Constants, s: int, t: int) -> None:
    known_s, known_t = (inf if size is None else size for size in (constants.s, constants.t))
    if known_s < s or known_t < t:
        raise ValueError(
            f"the constants must hold for sets of size s = {s} and exchanges of size t = {t}, but they are "
            f"for s = {constants.s} and t = {constants.t}"
        )


def _nothing(reason: str) -> Guarantee:
    return Guarantee(0.0, "no theorem", "0", reason=reason)


def _flat(name: str) -> Guarantee:
    cause = "more features than samples, collinear columns, or too many for more than a rough bound"
    return _nothing(f"{name} is 0 ({cause}): a ridge makes it positive")


@dataclass(frozen=True)
class _Search:
    """A local search, in the letters of the theorems."""

    s: int
    p: int
    q: int
    T: int | None
    epsilon: float | None

    def promise(self, rule: Pivot, constants: Constants) -> Guarantee:
        """Return what the theorem on the rule says."""
        if type(rule) not in PIVOTS.values():
            return _nothing(f"there is no theorem on the rule {rule!r}")
        if self.epsilon is not None and self.T is not None:
            return _nothing("the geometric rule promises nothing before it stops by itself")
        if isinstance(constants, RestrictedConstants):
            return self._sparse(rule, constants)
        if not isinstance(rule, Oblivious):
            raise TypeError(
                f"the {rule.name} rule reads coefficients: its theorem needs RestrictedConstants, "
                f"got {constants!r}"
            )
        numbers = {"alpha": constants.alpha, "beta1": constants.beta1, "beta2": constants.beta2}
        beta = "β₁ (p − 1 + 1/q) + β₂" if self.p > 1 else "β₁ + β₂"
        triple = constants.alpha, constants.beta1, constants.beta2
        return self._made_of(triple, numbers, "Theorem 2" if self.p > 1 else "Theorem 1", "α", beta)

    def _sparse(self, rule: Pivot, constants: RestrictedConstants) -> Guarantee:
        m, M, name = float(constants.m_2s), float(constants.M_st), "M_st"
        if m <= 0:
            return _flat("m_2s")
        if isinstance(rule, NonOblivious):
            if rule.smoothness == "global":
                raise ValueError(
                    "which M NonOblivious('global') works with is up to the objective: "
                    "give NonOblivious(objective.smoothness(constraint.exchange_size(q)))"
                )
            if rule.smoothness == "move":
                M, name = float(constants.M_rule), "M_rule"
            elif float(rule.smoothness) < M * (1 - EQUAL):
                return _nothing(f"{rule!r} is less than M_st = {M:.4g}: nothing is promised")
            else:
                M, name = max(M, float(rule.smoothness)), "M"
        if isinf(M):
            return _nothing("it is not known how smooth the objective is")
        number = (1 if isinstance(rule, Oblivious) else 3) + (self.p > 1)
        beta = "(p − 1 + 1/q) M/m" if self.p > 1 else "M/m"
        triple, numbers = (m / M, M / m, 0.0), {"m_2s": m, name: M}
        promise = self._made_of(triple, numbers, f"Theorem {number}", "(m/M)", beta)
        return replace(promise, max_iterations=self._most_moves(constants))

    def _made_of(
        self, triple: Triple, numbers: dict[str, float], theorem: str, alpha: str, beta: str
    ) -> Guarantee:
        """Return the promise; ``alpha`` and ``beta`` are how α and the sum of the β are written."""
        ratio = local_search_ratio(triple, self.s, self.p, self.q, self.T, self.epsilon)
        formula = LIMITS.get(beta, f"{alpha}/({beta})")
        numbers = numbers | ({"p": self.p, "q": self.q} if self.p > 1 else {})
        if self.epsilon is not None:
            theorem, formula, numbers = "Theorem 5", f"{alpha}/({beta} + ε)", numbers | {"ε": self.epsilon}
        elif self.T is not None:
            formula += f" · (1 − max(0, 1 − ({beta})/s)^T)"
            numbers = numbers | {"s": self.s, "T": self.T}
        reason = NO_ROUND if self.T == 0 else "the constants, or tol, leave nothing"
        return Guarantee(ratio, theorem, formula, numbers, reason=reason)

    def _most_moves(self, constants: RestrictedConstants) -> int | None:
        # The best element that is allowed has m_s / (s M_1) of the optimum; a move gains a factor 1 + δ.
        if self.epsilon is None:
            return None
        return ceil(log(self.s * constants.M_1 / constants.m_s) / log1p(self.epsilon / self.s))


def _other_method(
    name: str, constraint: IndependenceSystem, constants: Constants, s: int, T: int | None
) -> Guarantee:
    """Return what is known of a method that is no local search."""
    early = without_constants(name, constraint, s, T)
    if early is not None:
        return early
    if isinstance(constants, Localizability):
        return _nothing(f"localizability says nothing of {name}; RestrictedConstants may")
    if name == "greedy" and not isinstance(constraint, Uniform):
        return _nothing("of greedy nothing is known but under a size limit, Uniform")
    if name not in OTHER_METHODS:
        return _nothing(f"no theorem bounds the share of the optimum that {name} reaches")
    letters, promise = OTHER_METHODS[name]
    c = {letter: float(getattr(constants, letter)) for letter in letters}
    flat = [letter for letter in letters if c[letter] <= 0]
    return _flat(flat[0]) if flat else promise(constraint, c, s if T is None else T)


def _greedy(constraint: IndependenceSystem, c: dict[str, float], T: int) -> Guarantee:
    s = constraint.max_size()
    ratio = 1 - max(0.0, 1 - c["m_2s"] / (s * c["M_1"])) ** T
    c = c | {"s": s, "T": T}
    return Guarantee(ratio, "Elenberg et al. 2018", "1 − (1 − m_2s/(s M_1))^T", c, reason=NO_ROUND)


def _modular(constraint: IndependenceSystem, c: dict[str, float], T: int) -> Guarantee:
    # The gain of an element beside those that are forced in bends with all of their coefficients.
    low = "m_s" if len(constraint.forced) else "m_1"
    factor = constraint.max_weight(np.zeros(constraint.n)).factor
    formula = f"{low} m_s/(M_1 M_s)" if factor == 1 else f"{factor:.4g} {low} m_s/(M_1 M_s)"
    ratio = factor * c[low] * c["m_s"] / (c["M_1"] * c["M_s"])
    c = {letter: number for letter, number in c.items() if letter in formula}
    return Guarantee(min(1.0, ratio), "modular approximation", formula, c)


def _residual(constraint: IndependenceSystem, c: dict[str, float], T: int) -> Guarantee:
    ratio = 1 / (1 + c["M_1"] / c["m_s"]) ** 2
    return Guarantee(ratio, "Chen, Feldman and Karbasi 2018", "1/(1 + M_1/m_s)²", c, in_expectation=True)


# By method, the constants that have to be positive, and the promise made of them
OTHER_METHODS = {
    "greedy": (("m_2s", "M_1"), _greedy),
    "modular": (("m_1", "m_s", "M_1", "M_s"), _modular),
    "random-residual-greedy": (("m_s", "M_1"), _residual),
}


def without_constants(name: str, constraint: IndependenceSystem, s: int, T: int | None) -> Guarantee | None:
    """Return what is known of a method other than local search whatever the objective, or None.

    Under a constraint that does not say what it is, ``p`` None, that is nothing but that exhaustive search is
    exact: the greedy algorithm may be arbitrarily bad there.

    >>> without_constants("exhaustive", Uniform(5, 2), s=2, T=None)
    the optimum (exhaustive search: all sets were seen)
    >>> without_constants("modular", Uniform(5, 2), s=2, T=0)
    vacuous (modular did not come to its end)
    """
    if name == "random":
        return _nothing("the set is drawn at random")
    if name == "random-residual-greedy" and not isinstance(constraint, Matroid):
        raise TypeError(f"random-residual-greedy is for a matroid, got {constraint!r}; greedy works here")
    anytime = name == "greedy" and isinstance(constraint, Uniform)
    rounds = 0 if anytime else {"exhaustive": inf, "modular": 1}.get(name, s)
    if T is not None and rounds > T:
        return _nothing(f"{name} did not come to its end")
    if name == "exhaustive":
        return Guarantee(1.0, "exhaustive search", "all sets were seen")
    return _nothing(NO_THEOREM) if constraint.p is None else None


def submodular_guarantee(
    name: str, constraint: IndependenceSystem, T: int | None = None, linear: bool = False
) -> Guarantee:
    """Return what is known of a method other than local search for monotone submodular functions.

    It takes more than localizability, which sees exchanges only.

    >>> from swapwise import BMatching, Uniform
    >>> submodular_guarantee("greedy", Uniform(10, 2))
    at least 0.75 of the optimum (Nemhauser, Wolsey and Fisher 1978: 1 − (1 − 1/s)^T)
    >>> submodular_guarantee("greedy", BMatching.complete(4, 1))
    at least 0.3333 of the optimum (Fisher, Nemhauser and Wolsey 1978: 1/(p + 1))
    """
    s, p = constraint.max_size(), constraint.p
    early = without_constants(name, constraint, s, T)
    if early is not None:
        return early
    assert p is not None
    if name == "modular":
        factor = constraint.max_weight(np.zeros(constraint.n)).factor
        if linear:
            return Guarantee(factor, "the largest weight", "factor of max_weight", {"factor": factor})
        return Guarantee(factor / s, "the best of s elements", "factor/s", {"factor": factor, "s": s})
    if linear and (T is None or s <= T):
        if name == "greedy" and p > 1:
            return Guarantee(1 / p, "Jenkyns 1976", "1/p", {"p": p})
        return Guarantee(1.0, "Edmonds 1971", "greedy is exact on matroids")
    if name == "random-residual-greedy":
        return Guarantee(0.25, "Chen, Feldman and Karbasi 2018", "1/4", in_expectation=True)
    if isinstance(constraint, Uniform):
        T = s if T is None else min(T, s)  # methods that begin with greedy may make more moves
        ratio, numbers = 1 - (1 - 1 / s) ** T, {"s": float(s), "T": float(T)}
        return Guarantee(
            ratio, "Nemhauser, Wolsey and Fisher 1978", "1 − (1 − 1/s)^T", numbers, reason=NO_ROUND
        )
    return Guarantee(1 / (p + 1), "Fisher, Nemhauser and Wolsey 1978", "1/(p + 1)", {"p": p})


def guarantee_of(
    objective: SetFunction,
    constraint: IndependenceSystem,
    method: str | Pivot,
    *,
    status: Status,
    n_iter: int,
    value: float,
    q: int = 1,
    epsilon: float | None = None,
    tol: float = 0.0,
) -> Guarantee | None:
    """Return the guarantee of a search that ended like this, or None if nothing is known of the objective.

    >>> from swapwise import Linear, Uniform
    >>> guarantee_of(Linear([1, 3]), Uniform(2, 1), "greedy", status=Status.COMPLETE, n_iter=1, value=3.0)
    the optimum (Edmonds 1971: greedy is exact on matroids)
    """
    s, t = constraint.max_size(), constraint.exchange_size(q)
    if s == 0:
        return ONLY_EMPTY
    if constraint.p is None and method != "exhaustive":
        return _nothing(NO_THEOREM)
    T, geometric = _full_rounds(status, n_iter), epsilon is not None
    # A search that stops at tol has gains of up to that left, s times: as if by the geometric rule.
    left = s * tol * max(abs(value), objective.scale)
    if T is None and left > NOTEWORTHY * abs(value):
        if isinstance(method, Pivot) and value > 0:
            epsilon = max(epsilon or 0.0, left / value)
        elif isinstance(method, Pivot) or method == "greedy":
            T = n_iter
    if isinstance(method, NonOblivious) and method.smoothness == "global":
        assert isinstance(objective, SparseObjective)
        method = NonOblivious(objective.smoothness(t))
    promises = []
    known = known_localizability(objective)
    if method == "exhaustive" or (known is not None and isinstance(method, str)):
        of_values = submodular_guarantee(str(method), constraint, T, isinstance(objective, Linear))
        promises.append(on_trust(of_values, constraint))
    elif known is not None and isinstance(method, Oblivious):
        promises.append(guarantee(method, constraint, known, T, q, epsilon))
    if isinstance(objective, SparseObjective):
        constants = restricted_constants(objective, s, min(t, constraint.n))
        if not isinf(constants.M_1):
            promises.append(guarantee(method, constraint, constants, T, q, epsilon))
    best = max(promises, key=lambda promise: promise.ratio, default=None)
    return best if best is None or geometric else replace(best, max_iterations=None)


def _full_rounds(status: Status, n_iter: int) -> int | None:
    """Return how many rounds looked at all moves; None if the search came to its own end."""
    if status in (Status.LOCAL_OPTIMUM, Status.COMPLETE):
        return None
    # A round that was cut short may have taken the best move that it had seen.
    return n_iter if status == Status.ITERATION_LIMIT else max(0, n_iter - 1)
