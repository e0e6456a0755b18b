"""One HTML page about a learnt graph: its drawing, then why it has these edges, how sure, and how good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from swapwise.app.report.graph_parts import (
    EdgeWeights,
    degrees_part,
    edges_parts,
    missing_parts,
    weights_part,
)
from swapwise.app.report.parts import (
    PagePart,
    listed,
    page_of,
    seconds_in_words,
    settings_part,
    shown_name,
    training_frame,
)
from swapwise.app.report.proof_parts import certificate_parts, proof_history_parts, verdict_in_words
from swapwise.app.report.search_parts import moves_parts, notice_of, search_in_words
from swapwise.app.report.stability_parts import draws_of, dropping_parts, stability_parts
from swapwise.certify.certificate import Certificate
from swapwise.charts.document import text
from swapwise.graphs.estimators.base import BaseGraph
from swapwise.graphs.estimators.ising import BaseIsingGraph
from swapwise.graphs.pictures.svg import graph_svg
from swapwise.graphs.pictures.words import counted, words_of


def graph_report(
    model: Any,
    X: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    bootstrap: Any = None,
    case_dropping: Any = None,
    certificate: Certificate | None = None,
    asked: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> str:
    """Return the page that :meth:`IsingGraph.report` writes, where its parameters are described.

    Parts about data or results that are not given are left out.
    """
    if not isinstance(model, BaseGraph):
        raise TypeError(
            f"model must be a fitted IsingGraph, GaussianGraph or MixedGraph, or their CV, got {model!r}"
        )
    X = training_frame(model, X)
    columns = list(model.graph_) if X is None or isinstance(X.columns, pd.RangeIndex) else list(X.columns)
    names, weights, words = [shown_name(name) for name in columns], _weights(model), words_of(model)
    field, draws, result = getattr(model, "field_", None), draws_of(bootstrap, columns), model.result_
    edges = [" – ".join(names[end] for end in edge) for edge in model.pairs_.tolist()]
    score = None
    if X is not None:
        score = f"{words.score} {model.score(X, sample_weight=sample_weight):.5g} on the training data"
    facts = {
        "score": score,
        "proof": verdict_in_words(certificate, result, "graph"),
        "time": seconds_in_words(seconds),
    }
    parts = [
        _drawn(model, weights, names, field, listed(facts)),
        *edges_parts(model),
        weights_part(weights, names, words, hasattr(model, "path_"), draws),
        *stability_parts(bootstrap, draws, names, words),
        *dropping_parts(case_dropping),
        *_proven(model, certificate),
        *proof_history_parts(certificate, result),
        *([] if X is None else missing_parts(X, names)),
        degrees_part(weights, names, field, model.limits_.tolist()),
        *moves_parts(result, edges.__getitem__),
        settings_part(asked, _settings(model, X, sample_weight)),
    ]
    of_file = shown_name(PurePath(str(asked["data"])).name) if asked and asked.get("data") else ""
    title = f"Graph of {of_file or counted(len(names), 'variable')}: {counted(len(weights), 'edge')}"
    learnt = "Learnt" if X is None else f"Learnt from {_samples(X, sample_weight)}"
    return page_of(title, f"{learnt} by swapwise.", parts, notice_of(result, certificate))


def _weights(model: Any) -> EdgeWeights:
    """Return the weights by numbers of columns: two columns may look alike once they are written."""
    return {(min(u, v), max(u, v)): float(model.adjacency_[u, v]) for u, v in model.support_.tolist()}


def _drawn(model: Any, weights: EdgeWeights, names: list[str], field: Any, facts: str) -> PagePart:
    words, remarks = words_of(model), []
    if weights:
        tables = f"the tables of {words.weight}s and degrees have all numbers"
        remarks.append(f"Lines are as wide as the {words.weight} is large; {tables}.")
    if isinstance(model, BaseIsingGraph):
        remarks.append("Couplings are of values -1 and +1; those of 0 and 1 are four times as large.")
    if field is not None:
        remarks.append(
            "A variable's colour is its field: what it tends to by itself, whatever the others are."
        )
    picture = graph_svg(weights, names, field, words, "graph-words")
    pointing = "Point at a variable or the middle of an edge for its numbers, or use the arrow keys."
    below = f'{facts}<p class="note">{text(" ".join(remarks))}</p>' if remarks else facts
    summary = f"{model.summary()}."
    return PagePart("graph", "The graph", summary, below=below, pointing=pointing, picture=picture)


def _proven(model: Any, certificate: Certificate | None) -> list[PagePart]:
    parts, weaker = certificate_parts(certificate, model.result_), model.weaker_in_words()
    if not weaker:
        return parts
    return [replace(part, words=f"{part.words} This is about the graph with {weaker}.") for part in parts]


def _samples(X: pd.DataFrame, sample_weight: ArrayLike | None) -> str:
    """Return the number of samples in words: the sum of counts, if weights are whole numbers.

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


def _settings(model: Any, X: pd.DataFrame | None, sample_weight: ArrayLike | None) -> dict[str, str | None]:
    ridge = getattr(model, "ridge_", None)
    samples = "" if X is None else f"{_samples(X, sample_weight)} of "
    return {
        "model": type(model).__name__,
        "fitted to": f"{samples}{counted(model.n_features_in_, 'variable')}",
        "edges": model.choice_in_words(),
        "ridge": None if ridge is None else f"{ridge:g}",
        "search": search_in_words(model.result_),
    }
