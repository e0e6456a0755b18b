"""What those who write an objective, a constraint or a method of their own build with."""

from swapwise.certify.history import ProofEvent
from swapwise.constraints.base import MaxWeight
from swapwise.moves import Move, MoveList, SwapGrid
from swapwise.objectives.base import SparseState, State
from swapwise.search.result import Event, StrategyRun

__all__ = [
    "Event",
    "MaxWeight",
    "Move",
    "MoveList",
    "ProofEvent",
    "SparseState",
    "State",
    "StrategyRun",
    "SwapGrid",
]
