"""The words of each kind of graph for its weights, their signs and its score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class GraphWords:
    """The words of one kind of graph: for the weight of an edge, for its signs, and for the score."""

    weight: str
    positive: str
    negative: str
    score: str


# One line of the table per kind of graph, by what its weights are called.
_WORDS = (
    GraphWords(
        "coupling",
        "the two tend to be alike, whatever the others are",
        "the two tend to differ",
        "mean pseudo-log-likelihood",
    ),
    GraphWords(
        "partial correlation",
        "the two rise together, all others being equal",
        "one falls as the other rises",
        "mean log-likelihood",
    ),
    GraphWords("weight", "the two go together", "one goes without the other", "score"),
)


def words_of(model: Any) -> GraphWords:
    called = getattr(model, "weight_is", "weight")
    other = replace(_WORDS[-1], weight=called)
    return next((words for words in _WORDS if words.weight == called), other)


def counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
