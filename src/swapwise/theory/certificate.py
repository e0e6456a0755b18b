"""A proven upper bound on the optimum, and how close to it an answer is."""

from __future__ import annotations

from dataclasses import dataclass

from swapwise.checks import FloatArray, IndexArray
from swapwise.search.result import Status


@dataclass(frozen=True, repr=False, eq=False)
class Certificate:
    """A proof of how good an answer is.

    Attributes
    ----------
    upper_bound : no allowed set has a larger value
    value : the value of the answer
    ratio : the answer has at least this share of the optimum
    kind : what proved the bound: ``"all"`` (the value of all elements together), ``"concavity"`` (the paper's
        lemma at the answer), ``"gains"`` (marginal gains, for submodular functions), ``"relaxation"`` (the
        dual bound), ``"blocks"`` (the best that each vertex could have by itself) or ``"branching"`` (branch
        and bound)
    bounds : the best bound of every kind that was tried
    support : the answer
    better, better_value : a better set and its value, if one was found on the way
    fractional : the fractional set of the relaxation (what ``start="relaxation"`` rounds), or None
    n_nodes : how many parts of the problem branch and bound looked at
    seconds : wall time
    status : why the proof stopped, a :class:`Status`: COMPLETE, TIME_LIMIT, ITERATION_LIMIT (of
        ``max_nodes``) or INTERRUPTED
    resolution : values closer than this count as equal
    assumptions : what the proof takes on trust, such as that an oracle is a matroid, a sentence each
    doubt : why more could not be proven, if numbers are to blame: a value that is only known within bounds

    Examples
    --------
    >>> from swapwise import Coverage, Uniform, certify
    >>> certify(Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), Uniform(4, 2))
    Certificate(at least 100% of the optimum: value 5, upper bound 5, by gains)
    """

    upper_bound: float
    value: float
    kind: str
    bounds: dict[str, float]
    support: IndexArray
    better: IndexArray | None = None
    better_value: float | None = None
    fractional: FloatArray | None = None
    n_nodes: int = 0
    seconds: float = 0.0
    status: Status = Status.COMPLETE
    resolution: float = 0.0
    assumptions: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def ratio(self) -> float:
        """The share of the optimum that the answer has at least; 1 means that it is optimal."""
        if self.upper_bound <= self.value + self.resolution:
            return 1.0
        return max(0.0, self.value / self.upper_bound)

    @property
    def gap(self) -> float:
        """How much better than the answer an optimum can be."""
        return 0.0 if self.ratio == 1.0 else self.upper_bound - self.value

    @property
    def optimal(self) -> bool:
        """Whether the answer is proven to be an optimum, up to rounding."""
        return self.ratio == 1.0

    def __repr__(self) -> str:
        """Return what is proven."""
        # Never rounded up: what is not proven is not said.
        percent = "100" if self.optimal else f"{int(self.ratio * 1000) / 10:.1f}"
        better = "" if self.better is None else f"; a better set, {self.better_value:.6g}, was found"
        return (
            f"Certificate(at least {percent}% of the optimum: value {self.value:.6g}, "
            f"upper bound {self.upper_bound:.6g}, by {self.kind}{better})"
        )
