"""The tables and lines that commands print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from swapwise.app.cli.limits import LimitOptions
from swapwise.app.cli.messages import quoted
from swapwise.app.cli.terminal import printable_line

if TYPE_CHECKING:
    from swapwise.app.cli.graph_answer import GraphAnswer
    from swapwise.app.cli.selection import Selection
    from swapwise.certify.certificate import Certificate
    from swapwise.search.result import SearchResult

# The proof of a bound, by the kind of the certificate.
KINDS = {
    "all": "by the fit of all {elements} together",
    "blocks": "by the best neighbours that each column could have",
    "branching": "by branch and bound",
    "concavity": "by concavity",
    "gains": "by marginal gains",
    "relaxation": "by a relaxation",
}

# With more classes, coefficients are listed in one cell: side by side they would not fit.
MOST_BESIDE = 3

# Longer tables belong in a file.
MOST_VERTICES = 40


def say(text: str) -> None:
    """Print a line as it is: rich would take "[red]" in a column's name for markup."""
    Console().print(printable_line(text), markup=False, highlight=False, soft_wrap=True)


def plain_table(*headings: str, right: int) -> Table:
    """Return a table without lines, the last ``right`` columns of which are numbers."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, heading in enumerate(headings):
        is_number = place >= len(headings) - right
        table.add_column(cell(heading), justify="right" if is_number else "left", overflow="fold")
    return table


def cell(text: str) -> Text:
    return Text(printable_line(text))


def show_selection(selection: Selection) -> None:
    model, chosen, limits = selection.model, selection.chosen, selection.problem.request.limits
    noun = "features" if selection.dataset.variable_of is None else "columns"
    of_all = f"{len(chosen)} of {selection.dataset.X.shape[1]} {noun}"
    say(f"{of_all} chosen to explain {selection.problem.request.target}")
    if limits != LimitOptions(size=limits.size):
        say(f"Allowed: {limits.in_words()}")
    if hasattr(model, "size_"):
        tried = model.path_["size"]
        say(f"Size {model.size_}, of {tried.min()} to {tried.max()}, chosen by {selection.chosen_by}")
    Console().print(_table_of(selection))
    if selection.filled:
        adds, was = ("adds", "was") if len(selection.filled) == 1 else ("add", "were")
        say(f"{quoted(selection.filled)} {adds} nothing, and {was} chosen only to meet a lower limit")
    if selection.at_bound:
        say(f"At a bound: {quoted(selection.at_bound)}")
    several = selection.levels if len(selection.levels) > 1 else []
    intercept = _in_words(several, selection.intercept)
    fit = ", ".join(f"{name} {quality:.4f}" for name, quality in selection.fit_quality.items())
    say(f"Intercept {intercept}; {fit} on {len(selection.dataset.y)} rows")
    if hasattr(model, "alpha_"):
        say(f"Dispersion alpha {model.alpha_:.4g}: counts have variance mean + alpha mean²")
    if selection.certificate is not None:
        say(proof_in_words(selection.certificate, selection.better))
        if not selection.certificate.trivial:
            say("The proof is about these data and this criterion; it says nothing about new data")
    elif selection.unproven:
        say("Nothing proven: the proof was interrupted")
    say(ending(model.result_, selection.seconds))


def proof_in_words(proof: Certificate, better: Sequence[str] = (), elements: str = "features") -> str:
    """Return the proof in a line; ``better`` are the features of a better choice, if it has found one."""
    clauses = [_proven(proof, elements)]
    if better:
        clauses.append(f"better, with {proof.better_value:.6g}, would be {', '.join(better)}")
    if proof.cut_short:
        clauses.append(f"{proof.cut_short}: more might be proven")
    return "; ".join([*clauses, *proof.caveats])


def _proven(proof: Certificate, elements: str) -> str:
    from swapwise.certify.certificate import distinct_digits

    by = {kind: words.format(elements=elements) for kind, words in KINDS.items()}
    verdict = proof.verdict
    if proof.optimal:
        return f"{verdict.capitalize()}, {by[proof.kind]} (objective {proof.value:.6g})"
    if not math.isfinite(proof.upper_bound):
        return f"{verdict.capitalize()}: objective {proof.value:.6g}, and no bound on what is possible"
    value, bound = distinct_digits(proof.value, proof.bounds["all"] if proof.trivial else proof.upper_bound)
    numbers = f"objective {value}, at most {bound} possible"
    if proof.trivial:
        return f"{verdict.capitalize()}: {numbers}, {by['all']}"
    return f"Proven: {verdict}, {by[proof.kind]} ({numbers})"


def ending(result: SearchResult, seconds: float) -> str:
    why = result.status.value.lower().replace("_", " ")
    best = ", with the best so far" if result.status == "INTERRUPTED" else ""
    moves = f"{result.n_iter} move{'s' * (result.n_iter != 1)} ({result.method})"
    return f"Search ended: {why}{best}, {moves}, {seconds:.2f} s"


def _table_of(selection: Selection) -> Table:
    chosen, levels = selection.chosen, selection.levels
    words = ["feature"] if selection.group_of is None else ["group", "feature"]
    beside = len(levels) <= MOST_BESIDE
    numbers = [f"coefficient of {level}" for level in levels] if levels and beside else ["coefficient"]
    table = plain_table(*words, *numbers, right=len(numbers) if beside else 0)
    group = None
    for row in chosen.itertuples(index=False, name=None):
        shown, values = list(row[: len(words)]), row[len(words) :]
        if len(words) == 2:  # a group's name once, and not if it is that of its only feature
            shown[0], group = ("" if row[0] in (group, row[1]) else row[0]), row[0]
        cells = [f"{value:.4g}" for value in values] if beside else [_in_words(levels, values)]
        table.add_row(*map(cell, [*shown, *cells]))
    return table


def _in_words(levels: Sequence[str], numbers: Sequence[float]) -> str:
    """Return numbers, each with its level if there are any."""
    names = [f"{level} " for level in levels] or [""]
    return ", ".join(f"{name}{number:.4g}" for name, number in zip(names, numbers, strict=True))


def show_graph(answer: GraphAnswer) -> None:
    model, graph = answer.model, answer.model.graph_
    kind = {"ising": "Ising", "gaussian": "Gaussian", "mixed": "Mixed"}[answer.rows.model.value]
    say(f"{kind} graph: {model.summary()}; from {answer.rows.in_words()}")
    missing = answer.rows.missing_in_words()
    if missing:
        say(missing)
    table = plain_table("column", f"depends on ({model.weight_is})", right=0)
    by_degree = sorted(graph, key=graph.degree, reverse=True)
    connected = [vertex for vertex in by_degree if graph.degree(vertex)]
    for vertex in connected[:MOST_VERTICES]:
        neighbours = sorted(graph[vertex].items(), key=lambda item: -abs(item[1]["weight"]))
        table.add_row(
            cell(str(vertex)), cell(", ".join(f"{name} ({at['weight']:+.2f})" for name, at in neighbours))
        )
    if connected:
        Console().print(table)
    if len(connected) > MOST_VERTICES:
        say(f"… and {len(connected) - MOST_VERTICES} more columns; --edges and --report have all")
    alone = [str(vertex) for vertex in by_degree if not graph.degree(vertex)]
    if alone and connected:
        say(f"Without an edge: {quoted(alone)}")
    if answer.bootstrap is not None:
        say(_bootstrap_in_words(answer))
    elif "bootstrap" in answer.nothing_of:
        say("Not learnt again from resampled tables: the bootstrap was interrupted")
    if answer.certificate is not None:
        say(proof_in_words(answer.certificate, elements="edges"))
        if model.weaker_in_words():
            say(f"The proof is about the graph with {model.weaker_in_words()}")
    elif "certify" in answer.nothing_of:
        say("Nothing proven: the proof was interrupted")
    say(ending(model.result_, answer.seconds))


def _bootstrap_in_words(answer: GraphAnswer) -> str:
    boot = answer.bootstrap
    assert boot is not None
    pairs = boot.edges
    kept = pairs.loc[pairs["weight"] != 0, "inclusion"]
    words = f"Of {boot.n_boots} resampled table{'s' * (boot.n_boots != 1)}"
    if len(kept):
        least = pairs.loc[kept.idxmin()]
        words += f", {(kept >= 0.95).sum()} of {len(kept)} edges are in 95 % or more; least often"
        words += f" {least['source']} – {least['target']}, in {least['inclusion']:.0%}".replace("%", " %")
    others = pairs.loc[pairs["weight"] == 0, "inclusion"]
    often = int((others > 0.5).sum())
    return words + f"; {often} other pair{'s' * (often != 1)} in more than half"
