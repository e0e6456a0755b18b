"""``python -m benchmarks``: print how long the library takes, and the plain program beside it."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmarks.regression import against_reference, cold_start, paces


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
            "yes" if row.same_set else "no",
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


def cold_start_table() -> Table:
    """Show what the first answer in a new process costs."""
    table = _table("A new process, kernels cached", "step", "seconds")
    for step, seconds in cold_start().items():
        table.add_row(step, f"{seconds:.2f}")
    return table


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(first, title=title)
    for name in others:
        table.add_column(name, justify="right")
    return table


if __name__ == "__main__":
    console = Console()
    for make in (reference_table, pace_table, cold_start_table):
        console.print(make())
