"""A proven upper bound on the optimum, and how close to it an answer is."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from swapwise.certify.history import ProofEvent
from swapwise.checks import FloatArray, IndexArray
from swapwise.search.result import Status
from swapwise.theory.bounds import is_trivial

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False, eq=False)
class Certificate:
    """A proof of how good an answer is, on these data and for this criterion.

    It compares the answer with every other independent set by the objective itself. It says nothing about how
    well any of them will do on new data.

    Attributes
    ----------
    upper_bound : no independent set has a larger value
    value : the value of the answer
    ratio : the answer has at least this share of the optimum. Of a trivial bound it is value divided by bound
        all the same, which is true but no proof of quality: see ``trivial``
    gap : how much more than the answer an optimum can have, as a share of ``upper_bound`` or of what the
        answer leaves below ``ceiling``, whichever is smaller. Of an R² of 0.9 with the bound 0.91 it is a
        tenth: another set might explain so much of what is left. 0 if and only if the answer is proven
        optimal, and at most 1; the answer has at least ``1 − gap`` of the optimum
    optimal : whether the answer is proven to be an optimum
    trivial : whether nothing is proven beyond the value of all elements together (for least squares, often
        just R² ≤ 1)
    kind : what proved the bound: ``"all"`` (the value of all elements together), ``"concavity"`` (the paper's
        lemma at the answer), ``"gains"`` (marginal gains, for submodular functions), ``"relaxation"`` (the
        dual bound), ``"blocks"`` (the best that each vertex could have by itself) or ``"branching"`` (branch
        and bound)
    bounds : the best bound of every kind that was tried
    support : the answer
    better, better_value : a better set and its value, if one was found on the way
    fractional : the fractional set of the relaxation (what ``start="relaxation"`` rounds), or None
    n_nodes : number of parts of the problem that branch and bound explored
    seconds : wall time
    status : why the proof stopped, a :class:`Status`: COMPLETE (it is as good as ``gap`` requires, or every
        part was explored), TIME_LIMIT, ITERATION_LIMIT (of ``max_nodes``) or INTERRUPTED (by the keyboard)
    resolution : values closer than this count as equal
    assumptions : what the proof takes on trust, such as ``"that ... is a matroid"``; each reads on after
        "assuming"
    doubt : why more could not be proven, if numbers are to blame, such as a value that is only known within
        bounds; it reads on after "because". Empty if there is no such reason
    history : the record of the proof: a :class:`ProofEvent` whenever the best value or the upper bound got
        better, those of a search before it included; of very many, the smallest steps are left out
    n_passes : how many times the proof read all of the data, where a few columns count as their share; None
        for objectives that do not count
    ceiling : what no set exceeds, as is known beforehand, such as 1 for R²; infinity if nothing is
    verdict : what is proven in a few words, such as ``"at least 97.0% of the optimum"``
    caveats : clauses that belong to the verdict: what it assumes, and what is in doubt
    cut_short : how the proof was stopped before its end, such as ``"stopped after 10 s"``, or empty

    See Also
    --------
    certify, exact : what makes it.
    ProofEvent : an entry of its history.
    plot_proof : a picture of it.

    Examples
    --------
    >>> from swapwise import Coverage, CustomSetFunction, Uniform, certify
    >>> pairs = Uniform(4, 2)
    >>> certify(Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), pairs)
    Certificate(proven optimal: value 5, by gains)

    Values of sets are all that is known of this function, and without branching only that of all elements
    bounds it:

    >>> unknown = CustomSetFunction(lambda chosen: len(chosen) ** 0.5, n=4, monotone=True)
    >>> certify(unknown, pairs, max_nodes=0)
    Certificate(nothing proven beyond the trivial bound: value 1.41421, at most 2 by all elements together)
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
    history: tuple[ProofEvent, ...] = ()
    n_passes: float | None = None
    ceiling: float = np.inf

    @property
    def ratio(self) -> float:
        """The share of the optimum that the answer has at least; 1 means that it is optimal."""
        if self.upper_bound <= self.value + self.resolution:
            return 1.0
        return max(0.0, self.value / self.upper_bound)

    @property
    def gap(self) -> float:
        """How much better than the answer an optimum can be: 0 if it is optimal, and at most 1."""
        return relative_gap(self.value, self.upper_bound, self.ceiling, self.resolution)

    @property
    def optimal(self) -> bool:
        """Whether the answer is proven to be an optimum, up to rounding."""
        return self.ratio == 1.0

    @property
    def trivial(self) -> bool:
        """Whether the bound says no more than the value of all elements together, or nothing at all.

        For an R² of 0.893 the bound R² ≤ 1 gives a ratio of 0.893, which is R² once more and compares the
        answer with no other set. An answer as good as all elements together is optimal, and then this is
        False; so it is where the bound is close to a better set that was found.
        """
        known = self.value if self.better_value is None else max(self.value, self.better_value)
        return not self.optimal and is_trivial(known, self.upper_bound, self.bounds.get("all", np.inf))

    @property
    def verdict(self) -> str:
        """What is proven, in a few words: optimality, a share of the optimum, or nothing."""
        if self.optimal:
            return "proven optimal"
        if not np.isfinite(self.upper_bound):
            return "nothing proven"
        if self.trivial:
            return "nothing proven beyond the trivial bound"
        return f"at least {percent(self.ratio)}% of the optimum"

    @property
    def caveats(self) -> list[str]:
        """Clauses that belong to the verdict: what it assumes, and what is in doubt."""
        clauses = [f"assuming {'; and '.join(self.assumptions)}"] if self.assumptions else []
        if self.doubt and not self.optimal:  # which is not the reason if a better set was found
            clauses.append(f"{'and' if self.better is not None else 'not more because'} {self.doubt}")
        return clauses

    @property
    def cut_short(self) -> str:
        """How the proof was stopped before its end, in words; empty if it was not, or is complete."""
        if self.optimal:
            return ""
        ways = {
            Status.TIME_LIMIT: f"stopped after {self.seconds:.0f} s",
            Status.ITERATION_LIMIT: "stopped at its limit of nodes",
            Status.INTERRUPTED: "interrupted",
        }
        return ways.get(self.status, "")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw value and upper bound over the time that the proof took; see :func:`swapwise.plot_proof`.

        >>> from swapwise import Linear, Uniform, certify
        >>> certify(Linear([1, 3, 2]), Uniform(3, 2)).plot().get_xlabel()
        'time (seconds)'
        """
        # Plots are in a package that imports this one, and slow to load.
        axes: Axes = import_module("swapwise").plot_proof(self, ax)
        return axes

    def __repr__(self) -> str:
        better = []
        if self.better_value is not None:
            is_best = self.upper_bound <= self.better_value + self.resolution
            better = [f"a better set, {self.better_value:.6g}, {'is optimal' if is_best else 'was found'}"]
        return f"Certificate({'; '.join([self._proven(), *better, *self.caveats])})"

    def _proven(self) -> str:
        if self.optimal:
            return f"{self.verdict}: value {self.value:.6g}, by {self.kind}"
        if not np.isfinite(self.upper_bound):
            return f"{self.verdict}: value {self.value:.6g}, and no upper bound on the optimum"
        value, bound = distinct_digits(self.value, self.bounds["all"] if self.trivial else self.upper_bound)
        words = f"{self.verdict}: value {value}"
        if self.trivial:
            return f"{words}, at most {bound} by all elements together"
        return f"{words}, upper bound {bound}, by {self.kind}"


def relative_gap(value: float, upper_bound: float, ceiling: float, resolution: float) -> float:
    """Return ``upper_bound − value`` as a share of the bound or of ``ceiling − value``, the smaller one.

    Where nearly all is explained, a bound that is close to the value may still be far from it in what is
    unexplained. A gap is at most 1.
    """
    if upper_bound <= value + resolution:
        return 0.0
    if not np.isfinite(upper_bound):
        return 1.0
    more = upper_bound - value
    return more / max(more, min(upper_bound, ceiling - value))


def distinct_digits(value: float, upper_bound: float) -> tuple[str, str]:
    """Return a value and a larger bound with as many digits as show that they differ, at least six.

    >>> distinct_digits(0.75, 1.0), distinct_digits(0.9998666, 0.9998672)
    (('0.75', '1'), ('0.9998666', '0.9998672'))
    """
    written = ((f"{value:.{digits}g}", f"{upper_bound:.{digits}g}") for digits in range(6, 18))
    return next(pair for pair in written if pair[0] != pair[1])


def percent(ratio: float) -> str:
    """Return a share in percent, never rounded up: to a tenth, or to the first digit that is not a nine."""
    if ratio == 1.0:
        return "100"
    digits = next(digits for digits in range(1, 12) if digits == 11 or ratio < 1.0 - 10.0 ** -(digits + 2))
    return f"{floor(ratio * 10 ** (digits + 2)) / 10**digits:.{digits}f}"
