"""What a search returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.moves import Move

if TYPE_CHECKING:
    import pandas as pd


class Status(StrEnum):
    """Why a search stopped.

    - LOCAL_OPTIMUM: there is no move that the pivot and acceptance rules would take (of the rules, only
      oblivious without ``epsilon`` scores every exchange).
    - OPTIMAL: no allowed set is better, and that is proven, given what ``certificate.assumptions`` lists.
    - COMPLETE: a method that is not a local search came to its end. For a certificate: the proof is as good
      as ``gap`` requires, or every part was explored. For :func:`exact`: it is proven to be as good as
      ``gap`` requires; or every part was explored, but some value is only known within bounds, so that the
      answer could not be called optimal, and ``certificate.doubt`` says why.
    - ITERATION_LIMIT: ``max_iter`` (or ``max_nodes``) was reached.
    - TIME_LIMIT: ``time_limit`` was reached.
    - INTERRUPTED: by a callback, the keyboard, or an objective whose values contradict each other.

    See Also
    --------
    SearchResult, Certificate : what has a status.

    Examples
    --------
    >>> Status.LOCAL_OPTIMUM == "LOCAL_OPTIMUM"
    True
    """

    LOCAL_OPTIMUM = "LOCAL_OPTIMUM"
    ITERATION_LIMIT = "ITERATION_LIMIT"
    TIME_LIMIT = "TIME_LIMIT"
    INTERRUPTED = "INTERRUPTED"
    COMPLETE = "COMPLETE"
    OPTIMAL = "OPTIMAL"


class Event(NamedTuple):
    """One accepted move: a row of the history, and the argument of callbacks.

    See Also
    --------
    SearchResult : whose history is a list of events.
    StrategyRun : what a strategy did as a whole.

    Examples
    --------
    >>> from swapwise import Linear, Uniform, maximize
    >>> stop_at_two = lambda event: event.value >= 2
    >>> maximize(Linear([1, 1, 1, 1]), Uniform(4, 3), callback=stop_at_two).support
    array([0, 1])
    """

    n_iter: int
    added: tuple[int, ...]
    dropped: tuple[int, ...]
    support: IndexArray
    value: float
    #: Since the search began. The moves of one compiled call share the time when it was over.
    seconds: float
    #: What made the move: a strategy; a "perturbation", "restart" or "backward" step, where it may fall; or
    #: the "completion" of an answer that missed a lower limit
    strategy: str = ""
    #: How many moves were made in the call whose time this is
    n_together: int = 1


class StrategyRun(NamedTuple):
    """What one strategy of a search did.

    See Also
    --------
    SearchResult : whose strategies are a list of these.
    Event : one move.

    Examples
    --------
    >>> from swapwise import Linear, Uniform, maximize
    >>> [run.name for run in maximize(Linear([1, 3, 2]), Uniform(3, 2), start="greedy").strategies]
    ['greedy', 'oblivious']
    """

    name: str
    n_moves: int
    #: The value where it ended
    value: float
    seconds: float
    #: Numbers that only some strategies have, such as ``head``: which share of the largest weight each
    #: projection of hard thresholding had for certain
    details: dict[str, float] = {}  # noqa: RUF012


@dataclass(frozen=True, repr=False, eq=False)
class SearchResult:
    """The set that a search found, and how it got there.

    Attributes
    ----------
    support : sorted integer array
    value : ``f(support)``, computed afresh at the end
    coef : best coefficients of length n, or None for a plain set function
    status : why the search stopped, a :class:`Status`
    filled : sorted integer array of the elements that a ``"completion"`` chose only to meet a lower limit:
        without them the value is the same, up to ``tol``. Empty under constraints without lower limits
    at_bound : sorted integer array of the elements with a coefficient at one of its bounds. Empty without
        bounds on coefficients
    n_iter : number of accepted moves, as many as ``history`` holds
    n_evaluations : how many values of f were computed, in closed form or by refitting
    n_passes : how many times all of the data were read since the objective was made, where a few columns
        count as their share; None for objectives that do not count
    seconds : wall time
    history : one :class:`Event` per accepted move, from where the search began to the answer, whichever
        strategy made it. Values only rise, except at a ``"perturbation"`` or ``"restart"``, which leaves a
        local optimum and leads to a better one, and at a ``"backward"`` step of FoBa, which does that too.
        The ``"completion"`` of an answer that misses a lower limit may change nothing, or lower a value that
        is not monotone
    strategies : what was run, in order: a :class:`StrategyRun` each, with moves, value and seconds
    begin : where the moves begin: the empty set, forced elements, or the set that was given
    start_path : the part of the history that greedy additions made: the path of forward selection (orthogonal
        matching pursuit's better sister), a set for every size
    method : the names of the strategies that were run
    certificate : the :class:`Certificate` that :func:`exact` proved, else None
    guarantee : what the theorems guarantee for this run, or None; see :attr:`guarantee`

    See Also
    --------
    maximize, exact : what returns it.
    Event : an entry of its history.
    plot_history : a picture of it.

    Examples
    --------
    >>> from swapwise import Linear, Uniform, maximize
    >>> maximize(Linear([1, 3, 2]), Uniform(3, 2))
    SearchResult(value=5, support=[1, 2], status=LOCAL_OPTIMUM, n_iter=2, method='oblivious')
    >>> result = maximize(Linear([1, 3, 2]), Uniform(3, 2), start="greedy")
    >>> [event.support.tolist() for event in result.start_path]
    [[1], [1, 2]]
    """

    support: IndexArray
    value: float
    coef: FloatArray | None
    status: Status
    n_iter: int
    n_evaluations: int
    seconds: float
    history: list[Event]
    method: str
    certificate: Any = None
    strategies: list[StrategyRun] = field(default_factory=list)
    filled: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    at_bound: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    n_passes: float | None = None
    #: Computes the guarantee, by a package that imports this one, and needs the objective.
    _guarantee: Callable[[], Any] | None = field(default=None, repr=False)

    @property
    def begin(self) -> IndexArray:
        """The set from which the moves on record lead to the answer: forced elements, or a given start."""
        if not self.history:
            return self.support
        first = self.history[0]
        return Move(first.added, first.dropped).undone.result(first.support)

    @property
    def start_path(self) -> list[Event]:
        """The moves of forward selection, one element each."""
        return [event for event in self.history if event.strategy == "greedy"]

    @cached_property
    def guarantee(self) -> Any:
        """What the theorems guarantee for this run, or None if nothing is known about the objective.

        A ``Guarantee``, computed at the first access. A pickled result has it if it was computed before; the
        data are left behind.

        >>> from swapwise import Coverage, Uniform, maximize
        >>> maximize(Coverage([{1, 2}, {2, 3}, {4}]), Uniform(3, 2), "greedy").guarantee
        at least 0.75 of the optimum (Nemhauser, Wolsey and Fisher 1978: 1 − (1 − 1/s)^T)
        """
        return None if self._guarantee is None else self._guarantee()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the data behind: the guarantee is pickled only if it has been computed."""
        return {**self.__dict__, "_guarantee": None}

    def to_frame(self) -> pd.DataFrame:
        """Return the history as a pandas frame, one row per accepted move.

        >>> from swapwise import Linear, Uniform, maximize
        >>> frame = maximize(Linear([1, 3, 2]), Uniform(3, 2)).to_frame()
        >>> frame[["added", "dropped", "value"]]
          added dropped  value
        0  (1,)      ()    3.0
        1  (2,)      ()    5.0
        """
        import pandas as pd

        names = ["added", "dropped", "value", "seconds", "strategy", "n_together"]
        rows = [tuple(getattr(event, name) for name in names) for event in self.history]
        return pd.DataFrame(rows, columns=names)

    def __repr__(self) -> str:
        filled = f"filled={self.filled.tolist()}, " if len(self.filled) else ""
        return (
            f"SearchResult(value={self.value:.6g}, support={self.support.tolist()}, {filled}"
            f"status={self.status}, n_iter={self.n_iter}, method={self.method!r})"
        )
