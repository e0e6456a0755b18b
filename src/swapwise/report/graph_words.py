"""What the numbers of a graph are called, by the kind of model that it was learnt with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class GraphWords:
    """The words of one kind of graph: of an edge's weight, and of what was maximised.

    >>> words_of(None).weight
    'weight'
    """

    weight: str
    weights: str
    positive: str
    negative: str
    score: str


_ISING = GraphWords(
    "coupling",
    "couplings",
    "the two tend to be alike, whatever the others are",
    "the two tend to differ",
    "mean pseudo-log-likelihood",
)
_GAUSSIAN = GraphWords(
    "partial correlation",
    "partial correlations",
    "the two rise together, given all others",
    "one falls as the other rises",
    "mean log-likelihood",
)
_OTHER = GraphWords("weight", "weights", "the two go together", "the two avoid each other", "score")


def words_of(model: Any) -> GraphWords:
    """Return the words for the graph of an estimator, or of anything else.

    >>> from swapwise import IsingGraph
    >>> words_of(IsingGraph(2)).weight
    'coupling'
    """
    name = type(model).__name__
    if name.startswith("Ising"):
        return _ISING
    return _GAUSSIAN if name.startswith("Gaussian") else _OTHER
