"""One HTML page about a graph that was learnt: drawn first, then why it is that, how sure, and how good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from swapwise.certify.certificate import Certificate
from swapwise.estimators.graph_base import BaseGraph
from swapwise.estimators.ising_graph import BaseIsingGraph
from swapwise.report.graph_chart import graph_chart
from swapwise.report.graph_parts import Weights, degrees_part, edges_parts, missing_parts, weights_part
from swapwise.report.graph_words import words_of
from swapwise.report.parts import Part, asked_part, page_of, require_data, shown_name
from swapwise.report.proof_parts import certificate_part, course_parts
from swapwise.report.search_parts import moves_part, notice_of
from swapwise.report.stability_parts import draws_of, dropping_parts, stability_parts

TITLE = "Graph learnt"


def graph_report(
    model: Any,
    X: pd.DataFrame,
    *,
    sample_weight: ArrayLike | None = None,
    bootstrap: Any = None,
    case_dropping: Any = None,
    certificate: Certificate | None = None,
    asked: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> str:
    """Return a self-contained HTML page about the graph that a fitted model has learnt.

    The graph comes first, then why it has so many edges, their weights, how stable they are, what is proven,
    missing answers, degrees, the moves of the search, and the settings. What there is nothing to say about is
    left out.

    Parameters
    ----------
    model : fitted IsingGraph, GaussianGraph or MixedGraph, or their CV
        The ``CV`` ones show the criterion over the number of edges too.
    X : pandas.DataFrame
        The data of fit.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of fit; whole numbers are taken as how often each row was seen.
    bootstrap : GraphBootstrap, or frame like its ``edges``, optional
        Adds intervals and inclusion frequencies to the weights, and a chart of them.
    case_dropping : CaseDropping, or frame like its ``summary``, optional
        Adds how alike graphs of fewer cases are.
    certificate : Certificate, optional
        By default that of the search, if it proved one.
    asked : mapping from str to str, optional
        What the user asked for, to be shown as a table.
    seconds : float, optional
        How long it took.

    Returns
    -------
    str
        About five megabytes, most of which is plotly.js.

    Examples
    --------
    >>> from swapwise import IsingGraph
    >>> tea = np.random.default_rng(0).integers(2, size=60)
    >>> X = pd.DataFrame({"tea": tea, "milk": np.roll(tea, 1), "cup": tea})
    >>> page = graph_report(IsingGraph(1).fit(X), X)
    >>> "3 variables, 1 edge" in page, '<th scope="row">tea – cup</th>' in page
    (True, True)
    """
    if not isinstance(model, BaseGraph):
        raise TypeError(
            f"model must be a fitted IsingGraph, GaussianGraph or MixedGraph, or their CV, got {model!r}"
        )
    require_data(model, X)
    names, weights, words = [shown_name(name) for name in X.columns], _weights(model), words_of(model)
    field, draws = getattr(model, "field_", None), draws_of(bootstrap, list(X.columns))
    proven = certificate is not None or model.result_.certificate is not None
    edges = [" – ".join(names[end] for end in edge) for edge in model.pairs_.tolist()]
    parts = [
        _drawn(model, weights, names, field),
        *edges_parts(model),
        weights_part(weights, names, words, hasattr(model, "path_"), draws),
        *stability_parts(bootstrap, draws, names, words),
        *dropping_parts(case_dropping),
        *([_proven(model, certificate)] if proven else []),
        *course_parts(certificate, model.result_),
        *missing_parts(X, names),
        degrees_part(weights, names, field, model.limits_.tolist()),
        moves_part(model.result_, edges.__getitem__),
        asked_part(asked, _facts(model, X, sample_weight, proven), seconds),
    ]
    about = f"Learnt from {_samples(X, sample_weight)} by swapwise."
    return page_of(TITLE, about, parts, notice_of(model.result_, certificate))


def _weights(model: Any) -> Weights:
    """Return the weights by numbers of columns: two columns may look alike once they are written."""
    return {(min(u, v), max(u, v)): float(model.adjacency_[u, v]) for u, v in model.support_.tolist()}


def _drawn(model: Any, weights: Weights, names: list[str], field: Any) -> Part:
    words = words_of(model)
    figure, height = graph_chart(weights, names, field, words)
    said = f"{model.summary()}."
    if weights:
        said += (
            f" Lines are as wide as the {words.weight} is large; the tables of {words.weight}s and degrees"
        )
        said += " have all numbers."
    if isinstance(model, BaseIsingGraph):
        said += " Couplings are of values -1 and +1; those of 0 and 1 are four times as large."
    if field is not None:
        said += " A variable's colour is its field: what it tends to by itself, whatever the others are."
    pointing = "Point at a variable or the middle of an edge for its numbers."
    return Part("graph", "The graph", said, figure, height, pointing=pointing)


def _proven(model: Any, certificate: Certificate | None) -> Part:
    part, weaker = certificate_part(certificate, model.result_), model.weaker_in_words()
    return replace(part, words=f"{part.words} This is about the graph with {weaker}.") if weaker else part


def _samples(X: pd.DataFrame, sample_weight: ArrayLike | None) -> str:
    """Return words for how many samples there are: the sum of counts, if weights are whole numbers.

    >>> X = pd.DataFrame({"tea": [0, 1]})
    >>> _samples(X, None), _samples(X, [2, 5]), _samples(X, [0.5, 2])
    ('2 samples', '7 samples (2 rows with counts)', '2 weighted samples')
    """
    if sample_weight is None:
        return f"{len(X)} samples"
    weight = np.asarray(sample_weight, dtype=np.float64)
    if (weight % 1 == 0).all():
        return f"{int(weight.sum())} samples ({len(X)} rows with counts)"
    return f"{len(X)} weighted samples"


def _facts(
    model: Any, X: pd.DataFrame, sample_weight: ArrayLike | None, proven: bool
) -> dict[str, str | None]:
    score = model.score(X, sample_weight=sample_weight)
    ridge = getattr(model, "ridge_", None)
    return {
        "model": type(model).__name__,
        "fitted to": f"{_samples(X, sample_weight)} of {X.shape[1]} variables",
        "edges": model.choice_in_words(),
        "ridge": None if ridge is None else f"{ridge:g}",
        words_of(model).score: f"{score:.5g} on the data of fit",
        "proof": None if proven else "none was asked for; certify in Python and --certify make one",
    }
