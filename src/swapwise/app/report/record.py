"""The moves of a search as charts show them: what each changed, what it gained, and its strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from swapwise.search.result import Event, SearchResult, Status

# Moves that may lower the value, which is higher in the end: they leave a local optimum, or take back an
# element.
LEAPS = ("perturbation", "restart", "backward")

# A start, or a round on a model, may add thousands of elements at once.
_MOST_NAMES = 12


@dataclass(frozen=True)
class Move:
    """A move of a search, with the value after it."""

    number: int
    #: "added", "dropped", "exchanged", or one of ``LEAPS``
    kind: str
    strategy: str
    added: tuple[int, ...]
    dropped: tuple[int, ...]
    #: None for the first move of a search that began with a given set, whose value is not recorded
    gain: float | None
    value: float

    @property
    def is_leap(self) -> bool:
        return self.kind in LEAPS

    def words(self, name_of: Callable[[int], str]) -> str:
        changes = [(sign, some) for sign, some in (("+", self.added), ("−", self.dropped)) if some]
        return " ".join(f"{sign} {_names(some, name_of)}" for sign, some in changes)


@dataclass(frozen=True)
class Series:
    """Moves that are drawn alike: those of one kind by one strategy."""

    label: str
    kind: str
    moves: list[Move]


def moves_of(result: SearchResult) -> list[Move]:
    before = 0.0 if begins_empty(result) else None
    moves = []
    for event in result.history:
        gain = None if before is None else event.value - before
        about = (_kind_of(event), event.strategy, event.added, event.dropped)
        moves.append(Move(event.n_iter, *about, gain, event.value))
        before = event.value
    return moves


def begins_empty(result: SearchResult) -> bool:
    """Return whether the moves begin with the empty set, whose value is 0."""
    return any(len(first.support) == len(first.added) and not first.dropped for first in result.history[:1])


def series_of(moves: Sequence[Move]) -> list[Series]:
    """Return moves by strategy and kind, in the order in which these first occur.

    Where all are by one strategy, the labels need not name it.
    """
    several = len({move.strategy for move in moves if not move.is_leap}) > 1
    found: dict[str, Series] = {}
    for move in moves:
        label = f"{move.strategy}: {move.kind}" if several and not move.is_leap else move.kind
        found.setdefault(label, Series(label, move.kind, [])).moves.append(move)
    return list(found.values())


def without_moves(result: SearchResult) -> str:
    """Return why a search has no move, and the value that it has."""
    why = {
        Status.LOCAL_OPTIMUM: "the search began at a local optimum",
        Status.OPTIMAL: "the search began at an optimum",
        Status.COMPLETE: "the search ended where it began",
    }
    cut_short = f"the search ended at once ({result.status.value.lower().replace('_', ' ')})"
    return f"no move: {why.get(result.status, cut_short)}, of value {result.value:.6g}"


def _kind_of(event: Event) -> str:
    if event.strategy in LEAPS:
        return event.strategy
    if event.dropped:
        return "exchanged" if event.added else "dropped"
    return "added"


def _names(elements: Sequence[int], name_of: Callable[[int], str]) -> str:
    shown = ", ".join(name_of(element) for element in elements[:_MOST_NAMES])
    return shown if len(elements) <= _MOST_NAMES else f"{shown} and {len(elements) - _MOST_NAMES} more"
