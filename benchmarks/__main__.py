"""``python -m benchmarks``: print how long the library takes, and the plain program beside it.

With ``--full`` also what takes minutes: certificates, exact solutions, a graph of 200 vertices, a matching
among 1000.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from benchmarks.certificates import Proven, exact_solutions, ising_certificates, regression_certificates
from benchmarks.first_use import first_fits_table, whole_processes_table
from benchmarks.glm import path_costs, spared
from benchmarks.ising import against_plain, learned, recovered
from benchmarks.regression import against_reference, paces
from benchmarks.small import small_table
from benchmarks.systems import alternatives, heaviest_matching, under_intersections
from benchmarks.threads import threads_table


def reference_table() -> Table:
    """Show the library against the plain program, 200 features."""
    title = "200 features, 50 samples, 5 categories, capacity 5, from the empty set"
    table = _table(title, "variant", "trial", "swapwise ms", "plain ms", "times faster", "same set")
    for row in against_reference():
        table.add_row(
            row.variant,
            str(row.trial),
            f"{1000 * row.seconds:.2f}",
            f"{1000 * row.plain_seconds:.0f}",
            f"{row.ratio:.0f}",
            _yes(row.same_set),
        )
    return table


def pace_table() -> Table:
    """Show oblivious and non-oblivious side by side, 1000 features."""
    rows = paces()
    title = "1000 features, 100 samples, 10 categories, capacity 5, 10 trials"
    table = _table(title, "variant", "ms per iteration", "to non-oblivious", "iterations", "mean R²")
    non_oblivious = rows[-1].milliseconds_per_iteration
    for row in rows:
        table.add_row(
            row.variant,
            f"{row.milliseconds_per_iteration:.3f}",
            f"{row.milliseconds_per_iteration / non_oblivious:.2f}",
            f"{row.iterations:.1f}",
            f"{row.mean_value:.4f}",
        )
    return table


def ising_table() -> Table:
    """Show the library against the plain program, 10 vertices; the paper's had numerical gradients."""
    title = "Ising, 10 vertices, 100 samples, b = 3, oblivious from the empty set"
    table = _table(
        title, "plain gradients", "trial", "swapwise ms", "plain ms", "times faster", "value", "plain value"
    )
    for row in against_plain():
        table.add_row(
            row.gradients,
            str(row.trial),
            f"{1000 * row.seconds:.1f}",
            f"{1000 * row.plain_seconds:.0f}",
            f"{row.ratio:.0f}",
            f"{row.value:.6f}",
            f"{row.plain_value:.6f}",
        )
    return table


def learning_table() -> Table:
    """Show three methods where the paper could run only the fast ones."""
    title = "Ising, 20 vertices of degree 7, 100 samples, b = 7"
    table = _table(title, "method", "trial", "seconds", "iterations", "ratio to the true graph")
    for row in learned():
        table.add_row(
            row.method, str(row.trial), f"{row.seconds:.2f}", str(row.iterations), f"{row.ratio:.4f}"
        )
    return table


def intersection_table() -> Table:
    """Show all variants under an intersection of three matroids."""
    title = "Regression under three partitions into 5 labels, each at most twice"
    table = _table(title, "variant", "n", "q", "seconds", "moves", "R²", "feasible", "rises", "maximal")
    for row in under_intersections():
        table.add_row(
            row.variant,
            str(row.features),
            str(row.q),
            f"{row.seconds:.3f}",
            str(row.iterations),
            f"{row.value:.4f}",
            _yes(row.feasible),
            _yes(row.rises),
            _yes(row.maximal),
        )
    return table


def recovery_table() -> Table:
    """Show what a large graph costs, and how much of it is found."""
    row = recovered()
    title = "Ising, 200 vertices of degree 4, 2000 samples, b = 4, non-oblivious"
    table = _table(title, "seconds", "iterations", "precision", "recall", "MB before", "MB peak")
    table.add_row(
        f"{row.seconds:.1f}",
        str(row.iterations),
        f"{row.precision:.4f}",
        f"{row.recall:.4f}",
        f"{row.megabytes_before:.0f}",
        f"{row.megabytes_peak:.0f}",
    )
    return table


def matching_table() -> Table:
    """Show the heaviest b-matching of a large complete graph."""
    row = heaviest_matching()
    title = "Heaviest 3-matching of the complete graph, random weights"
    table = _table(title, "vertices", "edges", "seconds", "weight", "upper bound", "exact")
    table.add_row(
        str(row.vertices),
        f"{row.edges:,}",
        f"{row.seconds:.1f}",
        f"{row.weight:.6f}",
        f"{row.upper_bound:.6f}",
        _yes(row.exact),
    )
    return table


def alternatives_table() -> Table:
    """Show what else could find heaviest matchings."""
    table = _table("Heaviest b-matchings of complete graphs", "program", "vertices", "b", "seconds", "weight")
    for row in alternatives():
        table.add_row(row.program, str(row.vertices), str(row.b), f"{row.seconds:.3f}", f"{row.weight:.6f}")
    return table


def certificate_table() -> Table:
    """Show what is promised and what is proven of answers to regressions."""
    title = "Guarantees and certificates, at most 10 s; the ridge is a share of the samples"
    return _proven_table(title, regression_certificates())


def ising_certificate_table() -> Table:
    """Show what is promised and what is proven of a graph."""
    title = "The same for an Ising model, 20 vertices of degree 3, 100 samples, b = 3"
    return _proven_table(title, ising_certificates())


def _proven_table(title: str, rows: Iterable[Proven]) -> Table:
    table = _table(
        title,
        "setting",
        "ridge",
        "value",
        "guarantee",
        "no branching",
        "certificate",
        "by",
        "nodes",
        "seconds",
    )
    for row in rows:
        table.add_row(
            row.setting,
            f"{row.ridge:g}",
            f"{row.value:.4f}",
            f"{row.guarantee:.2g}",
            "not needed" if row.root is None else f"{row.root:.4f}",
            "trivial" if row.trivial else f"{row.certificate:.4f}",
            row.kind,
            str(row.nodes),
            f"{row.seconds:.1f}",
        )
    return table


def exact_table() -> Table:
    """Show exact solutions, and the same by going through all sets plainly."""
    title = "Branch and bound, and all sets one by one"
    table = _table(title, "problem", "seconds", "nodes", "status", "R²", "plain R²", "plain seconds")
    for row in exact_solutions():
        table.add_row(
            row.problem,
            f"{row.seconds:.2f}",
            str(row.nodes),
            row.status,
            f"{row.value:.10f}",
            f"{row.plain_value:.10f}",
            f"{row.plain_seconds:.0f}",
        )
    return table


def bounds_table() -> Table:
    """Show how many moves bounds leave to be refitted, and that the best is among them."""
    title = "Generalised linear models from the empty set: bounds against refitting every move"
    columns = ("model", "rule", "samples x features, chosen", "refits", "all", "times faster", "same moves")
    table = _table(title, *columns)
    for row in spared():
        table.add_row(
            row.model,
            row.method,
            row.size,
            str(row.refits),
            str(row.all_refits),
            f"{row.all_seconds / row.seconds:.1f}",
            _yes(row.same_moves),
        )
    return table


def path_table() -> Table:
    """Show what a path over sizes 1 to 50 costs, and whether its answers are those of cold fits."""
    title = "Paths over sizes 1 to 50, 1000 samples, 500 features"
    times = ("path s", "last fit s", "path / last", "last from empty s", "path / that", "all cold s")
    columns = ("estimator", *times, "not worse", "better")
    table = _table(title, *columns)
    for row in path_costs():
        table.add_row(
            row.model,
            f"{row.seconds:.2f}",
            f"{row.last_seconds:.2f}",
            f"{row.seconds / row.last_seconds:.1f}",
            f"{row.grown_seconds:.2f}",
            f"{row.seconds / row.grown_seconds:.1f}",
            f"{row.cold_seconds:.2f}",
            f"{row.not_worse} of {row.sizes}",
            str(row.better),
        )
    return table


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(first, title=title)
    for name in others:
        table.add_column(name, justify="right")
    return table


SHORT = (
    reference_table,
    pace_table,
    small_table,
    first_fits_table,
    whole_processes_table,
    threads_table,
    ising_table,
    learning_table,
    intersection_table,
    bounds_table,
)
LONG = (
    certificate_table,
    ising_certificate_table,
    exact_table,
    recovery_table,
    matching_table,
    alternatives_table,
    path_table,
)


def main() -> None:
    """Print the tables one by one, as soon as each is known."""
    parser = ArgumentParser(prog="python -m benchmarks", description="Time swapwise.")
    parser.add_argument("--full", action="store_true", help="also measure what takes minutes")
    console = Console()
    for make in (*SHORT, *LONG) if parser.parse_args().full else SHORT:
        console.print(make())


if __name__ == "__main__":
    main()
