"""The record of a guarantee."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from swapwise.constraints.base import Constraint

#: The "theorem" of guarantees from the set that was found
ALONG_THE_RUN = "along the run"


@dataclass(frozen=True, repr=False)
class Guarantee:
    """A share of the optimum that is certainly reached, and the theorem that proves it.

    Attributes
    ----------
    ratio : the value found is at least this share of the largest one
    theorem, formula : where that comes from; ``"along the run"`` is the bound at the set that was found
    constants : the numbers in the formula
    in_expectation : whether it holds on average over the method's random choices
    max_iterations : within how many moves the search stops, begun at the best single element, if known
    reason : why nothing is guaranteed, if the ratio is 0; empty otherwise
    assumptions : what it takes on trust of the constraint or the start, a sentence each (see
        ``Certificate.assumptions``)
    trivial : whether it says no more than that all elements together have a larger value, as in
        ``Certificate.trivial``
    others : what else is guaranteed of the same answer, the largest ratio first
    by_theorem : this guarantee or, if it is one along the run, the best of a theorem; None without one
    beyond_trivial : this guarantee or, if it is trivial, the best other one that is not; None without one

    See Also
    --------
    guarantee, guarantee_table : what states it.
    Certificate : a bound for the answer at hand.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> from swapwise import Coverage, Uniform, maximize
    >>> f = Coverage([{1, 2, 3, 4}, {1, 2, 5}, {3, 4, 6}, {5}, {6}])
    >>> guarantee = maximize(f, Uniform(5, 2), "greedy").guarantee
    >>> guarantee
    at least 0.8333 of the optimum (along the run: f(S)/f(all elements)), which is trivial
    >>> guarantee.ratio, guarantee.vacuous, guarantee.trivial
    (0.833..., False, True)
    >>> guarantee.beyond_trivial
    at least 0.75 of the optimum (Nemhauser, Wolsey and Fisher 1978: 1 − (1 − 1/s)^T)
    """

    ratio: float
    theorem: str
    formula: str
    constants: dict[str, float] = field(default_factory=dict)
    in_expectation: bool = False
    max_iterations: int | None = None
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    trivial: bool = False
    others: tuple[Guarantee, ...] = ()

    def __post_init__(self) -> None:
        if self.ratio > 0:  # constructors give the reason that would hold at 0
            object.__setattr__(self, "reason", "")

    @property
    def vacuous(self) -> bool:
        """Whether nothing is guaranteed."""
        return self.ratio == 0

    @property
    def beyond_trivial(self) -> Guarantee | None:
        """The best guarantee that says more than that all elements together have a larger value."""
        return next((each for each in (self, *self.others) if not each.trivial), None)

    @property
    def by_theorem(self) -> Guarantee | None:
        """The best guarantee of a theorem on the method, apart from what is certain along the run."""
        return next((each for each in (self, *self.others) if each.theorem != ALONG_THE_RUN), None)

    def __repr__(self) -> str:
        if self.vacuous:
            return f"vacuous ({self.reason})"
        # A ratio below 1 must not be printed as 1.
        part = "the optimum" if self.ratio == 1 else f"at least {min(self.ratio, 0.9999):.4g} of the optimum"
        average = " in expectation" if self.in_expectation else ""
        moves = "" if self.max_iterations is None else f" within {self.max_iterations} moves"
        trivial = ", which is trivial" if self.trivial else ""
        trust = "".join(f", assuming {sentence}" for sentence in self.assumptions)
        return f"{part}{average}{moves} ({self.theorem}: {self.formula}){trivial}{trust}"


def nothing(reason: str, theorem: str = "no theorem", formula: str = "0") -> Guarantee:
    return Guarantee(0.0, theorem, formula, reason=reason)


def on_trust(guarantee: Guarantee, constraint: Constraint) -> Guarantee:
    """Add the assumptions of the constraint to a guarantee, unless it is empty or trivial."""
    needs_trust = not guarantee.vacuous and not guarantee.trivial
    trusted = (*guarantee.assumptions, *constraint.assumptions)
    return replace(guarantee, assumptions=trusted if needs_trust else ())


ONLY_EMPTY = Guarantee(1.0, "no choice", "only the empty set is allowed")
NO_THEOREM = (
    "no theorem is known for constraints that are not a matroid, intersection of matroids or p-exchange "
    "system (if yours is a p-exchange system, set its p: moves are then the paper's q-reachable sets, which "
    "the theorem is about). certify and exact prove how good an answer is without"
)
NO_THEOREM_WITHIN = (
    "theorems on m and M are for coefficients without bounds: none is known within bounds. certify and exact "
    "prove how good an answer is without a theorem"
)
NO_ROUND = "no iteration was completed"
