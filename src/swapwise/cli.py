"""The command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from swapwise.experiments.claims import Finding
    from swapwise.experiments.grid import Cell

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


@app.callback()
def main() -> None:
    """Choose variables under structure."""


@app.command()
def reproduce(
    trials: Annotated[int, typer.Option(min=1, help="How many random instances of each setting.")] = 10,
    jobs: Annotated[int, typer.Option(help="Processes for what is not timed; -1 for one on each core.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the instances and of the methods.")] = 2020,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Experiments, settings, parts or methods to run, e.g. ising-20; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder of the results; by default results/ and the flavour.")
    ] = None,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="One M for all moves, start from nothing, T = 200.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two trials, and nothing that takes more than a second.")
    ] = False,
) -> None:
    """Run the paper's experiments and draw its figure; stopped and started again, it goes on."""
    from swapwise.experiments.grid import cells
    from swapwise.experiments.procedures import AS_PUBLISHED, DEFAULT
    from swapwise.experiments.store import StoreError

    flavour = AS_PUBLISHED if as_published else DEFAULT
    names = [name for given in only or [] for name in re.split(r",(?! )", given)]
    if jobs != -1 and jobs < 1:
        raise typer.BadParameter(f"jobs must be at least 1, or -1 for one on each core; got {jobs}")
    try:
        grid = cells(trials, seed, flavour, quick=quick, only=names)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    options = {
        "flavour": flavour,
        "trials": trials,
        "seed": seed,
        "jobs": jobs,
        "only": names,
        "quick": quick,
    }
    try:
        complete = _run_and_report(grid, out or Path("results") / flavour, options)
    except (StoreError, OSError) as error:
        raise SystemExit(f"swapwise reproduce: {error}") from error
    if not complete:
        raise typer.Exit(INTERRUPTED)


def _run_and_report(grid: Sequence[Cell], folder: Path, options: dict[str, Any]) -> bool:
    """Run what is missing, write the results, and return whether nothing is missing any more."""
    import pandas as pd
    from rich.console import Console

    from swapwise.experiments import manifest as manifests
    from swapwise.experiments.measure import COLUMNS
    from swapwise.experiments.run import run, stored
    from swapwise.experiments.store import Store
    from swapwise.report.results import write_results

    began = perf_counter()
    notes = Console(stderr=True)
    with Store(folder / "rows.jsonl") as store:
        before = len(store.rows)
        manifest = manifests.begin(folder / "manifest.json", options)
        _say_what_is_there(notes, grid, store.rows, store.was_cut, manifests.changed(manifest))
        try:
            with _progress(grid, options["jobs"], notes) as observe:
                rows = run(grid, store, options["jobs"], observe)
        except KeyboardInterrupt:
            rows = stored(grid, store)
            notes.print(
                f"Interrupted with {len(rows)} of {len(grid)} rows; the same command goes on from here."
            )
        complete = len(rows) == len(grid)
        made = len(store.rows) - before
        manifests.end(folder / "manifest.json", manifest, perf_counter() - began, made, complete)
        if rows:
            frame = pd.DataFrame(rows, columns=list(COLUMNS))
            judged = write_results(folder, frame, manifest)
            _show(Console(), frame, judged, folder, perf_counter() - began)
    return complete


def _say_what_is_there(
    notes: Console, grid: Sequence[Cell], rows: dict[Any, Any], was_cut: bool, changed: list[str]
) -> None:
    from swapwise.experiments.procedures import plain_is_there

    there = sum(cell.key in rows for cell in grid)
    if was_cut:
        notes.print("The last row was half written when a run was stopped; it is made again.")
    if there:
        notes.print(f"{there} of {len(grid)} rows are there already.")
        for difference in changed:
            notes.print(f"They were made with something else: {difference}. Delete the folder to begin anew.")
    if not plain_is_there():
        notes.print("Without the plain program (run this in a clone of the repository, by make reproduce).")


@contextmanager
def _progress(grid: Sequence[Cell], jobs: int, notes: Console) -> Iterator[Callable[[Cell], None]]:
    """Show what is done and the time left, by what cells take rather than by their number."""
    from joblib import cpu_count
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    side_by_side = cpu_count() if jobs == -1 else jobs

    def share(cell: Cell) -> float:
        return cell.seconds if cell.is_timed else cell.seconds / side_by_side

    columns = (
        TextColumn("{task.fields[done]} of {task.fields[rows]} rows"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=notes, transient=True, speed_estimate_period=120) as bar:
        task = bar.add_task("", total=sum(map(share, grid)), done=0, rows=len(grid), last="compiling")

        def observe(cell: Cell) -> None:
            done = bar.tasks[task].fields["done"] + 1
            last = f"{cell.block.setting.name} {cell.block.procedure.name}"
            bar.update(task, advance=share(cell), done=done, last=last)

        yield observe


def _show(console: Console, rows: pd.DataFrame, judged: list[Finding], folder: Path, seconds: float) -> None:
    """Print the means that the figure shows, what became of the claims, and where everything is."""
    paper = rows[rows["part"] == "paper"]
    for setting, some in paper.groupby("setting", sort=False):
        console.print(_table(some, f"{setting}: mean over {some['trial'].nunique()} trials, by size"))
        console.print()
    verdicts = [finding.verdict for finding in judged]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
    console.print(f"Claims of the paper: {counts}.")
    console.print(f"{len(rows)} rows in {seconds:.0f} s. See {folder / 'report.html'}", soft_wrap=True)


def _table(rows: pd.DataFrame, title: str) -> Table:
    """Lay mean quality out with methods as rows and sizes as columns."""
    from rich import box
    from rich.table import Table

    means = rows.groupby(["method", "size"], sort=False)["quality"].mean().unstack("size", sort=False)
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=0, show_edge=False, title_justify="left")
    table.add_column("method", no_wrap=True)
    for size in means.columns:
        table.add_column(str(size), justify="right", no_wrap=True)
    for method, row in means.iterrows():
        table.add_row(method, *map(_in_four_characters, row))
    return table


def _in_four_characters(mean: float) -> str:
    """Return a number around 0 to 1 as .123 or 1.23: ten of them must fit beside a method's name."""
    if mean != mean:
        return ""
    return f"{mean:.3f}".removeprefix("0") if mean < 0.9995 else f"{mean:.2f}"
