"""What is said of graphs: the words of each kind of model, what was chosen, how, and among which graphs."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import networkx as nx


@dataclass(frozen=True)
class GraphWords:
    """The words of one kind of graph: for the weight of an edge, for its signs, and for the score.

    >>> words_of(None).weight
    'weight'
    """

    weight: str
    positive: str
    negative: str
    score: str


_ISING = GraphWords(
    "coupling",
    "the two tend to be alike, whatever the others are",
    "the two tend to differ",
    "mean pseudo-log-likelihood",
)
_GAUSSIAN = GraphWords(
    "partial correlation",
    "the two rise together, all others being equal",
    "one falls as the other rises",
    "mean log-likelihood",
)
_OTHER = GraphWords("weight", "the two go together", "one goes without the other", "score")


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


def counted(number: int, what: str) -> str:
    """Return how many there are of something, in the right number.

    >>> counted(1, "edge"), counted(0, "edge")
    ('1 edge', '0 edges')
    """
    return f"{number} {what}{'s' * (number != 1)}"


def criterion_words(model: Any) -> str:
    """Return what the number of edges was chosen by, or nothing if it was not.

    >>> from types import SimpleNamespace
    >>> criterion_words(SimpleNamespace(path_=1, criterion="ebic", gamma=0.25))
    'EBIC (γ = 0.25)'
    """
    if not hasattr(model, "path_"):
        return ""
    criterion = str(getattr(model, "criterion", "cv"))
    if criterion == "cv":
        return "cross-validation"
    return f"EBIC (γ = {model.gamma:g})" if criterion == "ebic" else criterion.upper()


def limits_words(model: Any) -> str:
    """Return among which graphs one was chosen, or nothing if all were allowed.

    >>> from swapwise import IsingGraph
    >>> limits_words(IsingGraph(3))
    'at most 3 neighbours per variable'
    """
    degree, edges = getattr(model, "max_degree", None), getattr(model, "max_edges", None)
    said = []
    if isinstance(degree, Integral):
        said.append(f"at most {counted(int(degree), 'neighbour')} per variable")
    elif degree is not None:
        said.append("limited neighbours per variable")
    if edges is not None:
        said.append(f"at most {counted(int(edges), 'edge')}")
    return " and ".join(said)


def answer_of(model: Any, graph: Any) -> str:
    """Return the answer in one sentence: how many edges, by what they were chosen, and what hangs together.

    >>> from swapwise import IsingGraph
    >>> answer_of(IsingGraph(3), nx.Graph([(0, 1), (2, 3), (4, 4)]))
    '5 variables, 2 edges among graphs of at most 3 neighbours per variable; 2 components, 1 variable alone.'
    """
    edges = [edge for edge in graph.edges if edge[0] != edge[1]]
    linked = nx.Graph(edges)
    by, among = criterion_words(model), limits_words(model)
    words = f"{counted(len(graph), 'variable')}, {counted(len(edges), 'edge')}"
    words += f" chosen by {by}" * bool(by) + f" among graphs of {among}" * bool(among)
    threshold = getattr(model, "threshold", 0.0)
    words += f", without those of weight {threshold:g} or less" * bool(threshold)
    alone = len(graph) - len(linked)
    parts = [counted(nx.number_connected_components(linked), "component")] if edges else []
    parts += [f"{counted(alone, 'variable')} alone"] if alone else []
    return f"{words}; {', '.join(parts)}."
