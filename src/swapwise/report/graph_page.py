"""One HTML page about a graph that was learnt: drawn, listed, how it was found and how good it is."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from swapwise.certify.certificate import Certificate
from swapwise.estimators.ising_graph import BaseIsingGraph
from swapwise.report.document import table
from swapwise.report.fit_parts import degree_part
from swapwise.report.graph_plots import MANY_NODES, NEGATIVE, POSITIVE, layout
from swapwise.report.parts import (
    GREY,
    Part,
    asked_part,
    chart,
    page_of,
    plotted,
    points,
    require_data,
    shown_name,
    tick,
)
from swapwise.report.proof_parts import certificate_part, course_parts
from swapwise.report.search_parts import moves_part, notice_of

TITLE = "Graph learnt"

# A line has one width, and thousands of lines are slow: edges of like weight are one line with gaps.
_WIDTHS = (1.0, 2.0, 3.5, 5.0)

# Beyond 3 a variable has nearly always the same value; colours need not tell such fields apart.
_LARGEST_FIELD = 3.0

# A direction has a part to the right, left, top or bottom if it is larger than this.
_ASIDE = 0.15

# Letters of a name that there is room for beside a vertex.
_LONGEST = 11

# Beneath, as phones have no room beside.
_BAR = {"orientation": "h", "y": 0.0, "yanchor": "top", "thickness": 10, "outlinewidth": 0, "len": 0.6}


def graph_report(
    model: Any,
    X: pd.DataFrame,
    *,
    sample_weight: ArrayLike | None = None,
    certificate: Certificate | None = None,
    asked: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> str:
    """Return a self-contained HTML page about the graph that a fitted model has learnt.

    Parameters
    ----------
    model : fitted IsingGraph or IsingGraphCV
        ``IsingGraphCV`` shows the fit against the degree too.
    X : pandas.DataFrame
        The data of fit.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of fit; whole numbers are taken as how often each row was seen.
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
    if not isinstance(model, BaseIsingGraph):
        raise TypeError(f"model must be a fitted IsingGraph or IsingGraphCV, got {model!r}")
    require_data(model, X)
    names, graph = [shown_name(name) for name in X.columns], _numbered(model)
    count = f"{len(names)} variables, {len(graph.edges)} edge{'s' * (len(graph.edges) != 1)}"
    called: dict[Hashable, str] = dict(enumerate(names))
    edges = [" – ".join(called[end] for end in edge) for edge in model.pairs_.tolist()]
    parts = [
        asked_part(asked, _facts(model, X, sample_weight), seconds),
        _drawn(graph, names, model.field_, count),
        _couplings(graph, names),
        _degrees(graph, names, model),
        degree_part(model),
        moves_part(model.result_, edges.__getitem__),
        certificate_part(certificate, model.result_),
        *course_parts(certificate, model.result_),
    ]
    return page_of(
        TITLE,
        f"{count}, learnt from {_samples(X, sample_weight)} by swapwise.",
        parts,
        notice_of(model.result_, certificate),
    )


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


def _facts(model: Any, X: pd.DataFrame, sample_weight: ArrayLike | None) -> dict[str, str]:
    data = f"{_samples(X, sample_weight)} of {X.shape[1]} variables"
    facts = {"model": type(model).__name__, "fitted to": data}
    facts["edges"] = model.choice_in_words()
    facts["ridge used"] = f"{model.ridge_:g}"
    score = model.score(X, sample_weight=sample_weight)
    return facts | {"mean pseudo-log-likelihood": f"{score:.5g} on the data of fit"}


def _numbered(model: Any) -> Any:
    """Return the graph on numbers of columns: two columns may look alike once they are written."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(model.n_features_in_))
    graph.add_weighted_edges_from((u, v, float(model.coupling_[u, v])) for u, v in model.support_.tolist())
    return graph


def _drawn(graph: Any, names: list[str], field: Any, count: str) -> Part:
    edges = list(graph.edges(data="weight"))
    place = layout(graph, [(u, v) for u, v, _ in edges])
    hidden = {"visible": False, "automargin": False}
    left, right = (float(end([at[0] for at in place.values()])) for end in (min, max))
    room = 0.5 + 0.3 * (right - left)  # for names on both sides, on a phone too
    figure = chart(
        [*_lines(edges, place), *_middles(edges, place, names), _nodes(graph, place, names, field)],
        {**hidden, "range": [left - room, right + room]},
        {**hidden, "scaleanchor": "x"},
        margin={"l": 8, "r": 8, "t": 56, "b": 64},
    )
    words = f"{count}. Wide lines are strong couplings; the tables of couplings and degrees have all numbers."
    words += " A variable's colour is its field: what it tends to by itself, whatever the others are."
    pointing = "Point at a variable or an edge for its own."
    height = min(420 + 6 * len(names), 1000)
    return Part("graph", "The graph", words, figure, height, pointing=pointing)


def _lines(edges: list[Any], place: Any) -> list[dict[str, Any]]:
    largest = max((abs(w) for *_, w in edges), default=1.0) or 1.0
    traces: dict[tuple[bool, int], dict[str, Any]] = {}
    for u, v, w in sorted(edges, key=lambda edge: -abs(edge[2])):
        rank = min(int(len(_WIDTHS) * abs(w) / largest), len(_WIDTHS) - 1)
        name, colour, dash = ("positive", POSITIVE, "solid") if w >= 0 else ("negative", NEGATIVE, "dash")
        first_of_sign = not any(key[0] == (w >= 0) for key in traces)
        line = {"color": colour, "width": _WIDTHS[rank], "dash": dash}
        trace = traces.setdefault(
            (w >= 0, rank),
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "legendgroup": name,
                "showlegend": first_of_sign,
                "line": line,
                "hoverinfo": "skip",
                "x": [],
                "y": [],
            },
        )
        for axis, at in (("x", 0), ("y", 1)):
            trace[axis] += [float(place[u][at]), float(place[v][at]), None]
    return list(traces.values())


def _middles(edges: list[Any], place: Any, names: list[str]) -> list[dict[str, Any]]:
    """Return points that are not seen, as lines tell nothing where they are long."""
    if not edges:
        return []
    middle = np.array([(place[u] + place[v]) / 2 for u, v, _ in edges])
    hover = [f"{plotted(names[u])} – {plotted(names[v])}<br>coupling {w:.4g}" for u, v, w in edges]
    unseen = {"marker": {"size": 14, "opacity": 0}, "showlegend": False}
    return [points(middle[:, 0], middle[:, 1], hover, "edges", GREY, **unseen)]


def _nodes(graph: Any, place: Any, names: list[str], field: Any) -> dict[str, Any]:
    hover = []
    for node in graph:
        near = ", ".join(plotted(names[other]) for other in graph[node]) or "none"
        hover.append(f"{plotted(names[node])}<br>field {field[node]:.4g}<br>neighbours: {near}")
    limit = min(max(float(np.abs(field).max(initial=0.0)), 0.5), _LARGEST_FIELD)
    look = {
        "size": 14,
        "color": [float(one) for one in field],
        "colorscale": [[0, "#7b3294"], [0.5, "#f7f7f7"], [1, "#008837"]],
        "cmin": -limit,
        "cmax": limit,
        "line": {"color": GREY, "width": 1.5},
        "colorbar": {"title": {"text": "field"}, **_BAR},
    }
    written = {
        "mode": "markers+text" if len(names) <= MANY_NODES else "markers",
        "text": [tick(name, _LONGEST) for name in names],
        "textposition": [_side(node, graph, place) for node in graph],
        "showlegend": False,
        "cliponaxis": False,
    }
    points_ = [place[node] for node in graph]
    return points(
        [at[0] for at in points_], [at[1] for at in points_], hover, "variables", GREY, marker=look, **written
    )


def _side(node: int, graph: Any, place: Any) -> str:
    """Return where a name stands: away from the neighbours, and so from most of the lines."""
    away = place[node] - np.mean([place[other] for other in graph[node]] or [place[node]], axis=0)
    x, y = away / (np.linalg.norm(away) or 1.0)
    upright = "top" if y > _ASIDE else "bottom" if y < -_ASIDE else "middle"
    across = "right" if x > _ASIDE else "left" if x < -_ASIDE else "center"
    return "top center" if (upright, across) == ("middle", "center") else f"{upright} {across}"


def _couplings(graph: Any, names: list[str]) -> Part:
    edges = sorted(graph.edges(data="weight"), key=lambda edge: -abs(edge[2]))
    if not edges:
        return Part(
            "couplings",
            "Couplings",
            "There is no edge: no feasible pair improves the fit.",
        )
    rows = [[f"{names[u]} – {names[v]}", f"{w:.4g}"] for u, v, w in edges]
    words = (
        "Strongest first. Positive: the two tend to be alike; negative: to differ. Edges are added while "
        "they gain anything and degrees allow: those with a coupling near 0 say next to nothing."
    )
    return Part("couplings", "Couplings", words, below=table(["edge", "coupling"], rows, "numbers long"))


def _degrees(graph: Any, names: list[str], model: Any) -> Part:
    degrees = np.array([len(graph[node]) for node in graph])
    counts = np.bincount(degrees)
    bars = {
        "type": "bar",
        "x": list(range(len(counts))),
        "y": counts.tolist(),
        "marker": {"color": POSITIVE},
        "hovertext": [f"{count} with {degree} neighbours" for degree, count in enumerate(counts)],
        "hoverinfo": "text",
    }
    figure = chart([bars], {"title": {"text": "neighbours"}, "dtick": 1}, {"title": {"text": "variables"}})
    full = sum(bool(degrees[node]) and degrees[node] == model.limits_[node] for node in graph)
    words = f"{full} of {len(names)} variables have as many neighbours as they may."
    rows = [
        [names[n], ", ".join(names[other] for other in graph[n]), str(degrees[n]), f"{model.field_[n]:.4g}"]
        for n in sorted(graph, key=lambda node: -degrees[node])
    ]
    below = table(["variable", "neighbours", "how many", "field"], rows, "numbers named")
    return Part("degrees", "Degrees", words, figure, height=300, below=below)
