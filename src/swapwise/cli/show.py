"""What commands print: tables and lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from swapwise.cli.selection import Selection
    from swapwise.search.result import Status
# More lines than that are for a file.
MOST_VERTICES = 40


def say(text: str) -> None:
    """Print a line as it is: names of columns may look like rich's markup.

    >>> say("[red] is a name")
    [red] is a name
    """
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def plain_table(*headings: str, right: int) -> Table:
    """Return a table without lines, the last ``right`` columns of which are numbers.

    >>> [column.justify for column in plain_table("name", "weight", right=1).columns]
    ['left', 'right']
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, heading in enumerate(headings):
        is_number = place >= len(headings) - right
        table.add_column(Text(heading), justify="right" if is_number else "left", overflow="fold")
    return table


def show_selection(selection: Selection) -> None:
    """Print the chosen features by group, how well they fit, what is proven, and the time."""
    model, chosen = selection.model, selection.chosen
    noun = "features" if selection.design.variable_of is None else "columns"
    of_all = f"{len(chosen)} of {selection.design.X.shape[1]} {noun}"
    say(f"{of_all} chosen to explain {selection.asked['target']}")
    if hasattr(model, "size_"):
        tried = model.path_["size"]
        by = selection.asked["size chosen by"]
        say(f"Size {model.size_}, of {tried.min()} to {tried.max()}, chosen by {by}")
    Console().print(_table_of(chosen))
    name, quality = selection.fit_quality
    intercept = ", ".join(f"{value:.4g}" for value in _flat(model.intercept_))
    say(f"Intercept {intercept}; {name} {quality:.4f} on {len(selection.y)} rows")
    if selection.certificate is not None:
        proven = repr(selection.certificate).removeprefix("Certificate(").removesuffix(")")
        say(f"Proven: {proven}")
    say(ending(model.result_.status, selection.seconds))


def ending(status: Status, seconds: float) -> str:
    """Return why a search ended, and when.

    >>> from swapwise import Status
    >>> ending(Status.LOCAL_OPTIMUM, 0.25)
    'Search ended: local optimum, 0.25 s'
    """
    best = ", with the best so far" if status == "INTERRUPTED" else ""
    return f"Search ended: {status.value.lower().replace('_', ' ')}{best}, {seconds:.2f} s"


def _table_of(chosen: Any) -> Table:
    words = [name for name in ("group", "feature") if name in chosen]
    table = plain_table(*chosen.columns, right=chosen.shape[1] - len(words))
    group = None
    for row in chosen.to_dict("records"):
        shown = [row[name] for name in words]
        if "group" in row:  # once for all of its features
            shown[0], group = ("" if row["group"] == group else row["group"]), row["group"]
        numbers = [f"{row[name]:.4g}" for name in chosen.columns[len(words) :]]
        table.add_row(*map(Text, shown), *numbers)
    return table


def _flat(intercept: Any) -> list[float]:
    return [float(intercept)] if not hasattr(intercept, "__len__") else [float(value) for value in intercept]


def show_graph(model: Any, n_rows: int, seconds: float) -> None:
    """Print how large a graph is, and the neighbours of each vertex with their couplings."""
    import networkx as nx

    graph = model.graph_
    parts = [part for part in nx.connected_components(graph) if len(part) > 1]
    alone = nx.number_of_isolates(graph)
    if hasattr(model, "max_degree_"):
        say(f"Largest degree {model.max_degree_} and ridge {model.ridge_:g}, chosen by cross-validation")
    say(
        f"{graph.number_of_edges()} edges between {len(graph)} columns, from {n_rows} rows; connected parts: "
        f"{len(parts)}, columns by themselves: {alone}"
    )
    table = plain_table("column", "depends on (coupling)", right=0)
    by_degree = sorted(graph, key=graph.degree, reverse=True)
    for vertex in by_degree[:MOST_VERTICES]:
        neighbours = sorted(graph[vertex].items(), key=lambda item: -abs(item[1]["weight"]))
        table.add_row(
            Text(vertex), Text(", ".join(f"{name} ({at['weight']:+.2f})" for name, at in neighbours))
        )
    Console().print(table)
    if len(graph) > MOST_VERTICES:
        say(f"… and {len(graph) - MOST_VERTICES} more columns; --edges and --report have all")
    say(ending(model.result_.status, seconds))
