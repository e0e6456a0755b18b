"""States, moves and records, for objectives, constraints and methods of your own.

Classes to inherit from are at the top: ``swapwise.SetFunction``, ``swapwise.SparseObjective``,
``swapwise.Constraint``, ``swapwise.IndependenceSystem``, ``swapwise.Matroid`` and the rules, such as
``swapwise.Oblivious``.
"""

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
