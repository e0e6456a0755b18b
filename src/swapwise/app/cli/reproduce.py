"""``swapwise reproduce``: the paper's experiments, however often they are stopped on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swapwise.app.cli.failures import INTERRUPTED, sigterm_as_interrupt
from swapwise.app.cli.options import flag
from swapwise.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from rich.console import Console
    from rich.table import Table

    from swapwise.paper.claims import Finding
    from swapwise.paper.grid import Cell
    from swapwise.paper.sessions import Manifest

STOPPED = "Interrupted; the same command resumes it."

# The seed as in swapwise.paper.grid, which takes its time to import: help should not.
TRIALS, QUICK_TRIALS, SEED = 10, 2, 2020
# The largest integer of the store.
LARGEST_SEED = 2**63 - 1

ONLY = (
    "What to run, such as ising-20,oblivious; names of one kind add up. Experiments: regression, ising. "
    "Settings: regression-200, regression-1000, ising-10, ising-20. Parts: paper, printed, plain, optimum, "
    "starts, pairs, certificates, neighbours. Methods: oblivious, semi-oblivious, non-oblivious (each from "
    "both starts, unless --start names one), random-residual-greedy, modular, random, and those that a wrong "
    "name lists."
)


class Start(StrEnum):
    """Where the paper's local searches begin."""

    EMPTY = "empty"
    ARBITRARY = "arbitrary"
    BOTH = "both"


def reproduce(
    trials: Annotated[
        int | None,
        typer.Option(min=1, help=f"Random instances of each setting; {TRIALS}, and {QUICK_TRIALS} if quick."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Processes for everything that is not timed; -1 for one per core.")
    ] = -1,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the instances and of the methods.")] = SEED,
    only: Annotated[
        list[str] | None,
        typer.Option(help=ONLY, metavar="NAMES"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="The folder of the results; by default one in results/."),
    ] = None,
    start: Annotated[Start, typer.Option(help="Where the paper's local searches begin.")] = Start.BOTH,
    as_published: Annotated[
        bool, flag("One M for all moves, as the algorithms are printed.", "--as-published")
    ] = False,
    quick: Annotated[
        bool,
        flag("Two trials, without anything that takes more than about half a second.", "--quick"),
    ] = False,
) -> None:
    """Run the paper's experiments and draw its figure; an interrupted run can be resumed."""
    from swapwise.paper.grid import cells
    from swapwise.paper.procedures import AS_PUBLISHED, DEFAULT
    from swapwise.paper.run import WorkerDied
    from swapwise.paper.store import StoreError

    flavour = AS_PUBLISHED if as_published else DEFAULT
    trials = trials or (QUICK_TRIALS if quick else TRIALS)
    names = [name for given in only or [] for name in re.split(r",(?! )", given)]
    if jobs != -1 and jobs < 1:
        raise typer.BadParameter(f"jobs must be at least 1, or -1 for one per core; got {jobs}")
    if seed > LARGEST_SEED:
        raise typer.BadParameter(f"seed must be below 2**63, got {seed}")
    try:
        grid = cells(trials, seed, flavour, start=start, quick=quick, only=names)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    options = {
        "flavour": flavour,
        "start": start.value,
        "quick": quick,
        "only": names,
        "trials": trials,
        "seed": seed,
        "jobs": jobs,
    }
    try:
        with sigterm_as_interrupt():
            complete = _run_and_report(grid, out or Path("results") / _name_of(options), options)
    except WorkerDied as error:
        raise SystemExit(f"swapwise reproduce: {error}. The same command resumes the run.") from error
    except (StoreError, OSError) as error:
        raise SystemExit(f"swapwise reproduce: {error}") from error
    except MemoryError:
        raise SystemExit("swapwise reproduce: out of memory; --jobs 1 takes the least") from None
    if not complete:
        raise typer.Exit(INTERRUPTED)


def _name_of(options: dict[str, Any]) -> str:
    """Return a folder name that tells runs with other options apart: none overwrites another run's figure."""
    words = [options["flavour"]]
    words += [] if options["start"] == Start.BOTH else [f"from {options['start']}"]
    words += [*(["quick"] if options["quick"] else []), *options["only"]]
    usual = QUICK_TRIALS if options["quick"] else TRIALS
    words += [] if options["trials"] == usual else [f"{options['trials']} trials"]
    words += [] if options["seed"] == SEED else [f"seed {options['seed']}"]
    return re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower())


def _run_and_report(grid: Sequence[Cell], folder: Path, options: dict[str, Any]) -> bool:
    """Run what is missing, write the results, and return whether nothing is missing any more."""
    from rich.console import Console

    from swapwise.paper.measure import to_frame
    from swapwise.paper.run import run, stored
    from swapwise.paper.sessions import changed
    from swapwise.paper.store import RESULTS, Store

    began = perf_counter()
    notes = Console(stderr=True)
    with Store(folder / RESULTS) as store:
        before = len(store.rows)
        store.begin(options)
        _show_what_is_there(notes, grid, store.rows, changed(store.manifest))
        try:
            with _progress(grid, store.rows, options["jobs"], notes) as observe:
                run(grid, store, options["jobs"], observe)
        except KeyboardInterrupt:
            notes.print(STOPPED)
        finally:
            rows = stored(grid, store)
            complete, seconds = len(rows) == len(grid), perf_counter() - began
            store.end(seconds, len(store.rows) - before, len(rows), len(grid))
        if rows:
            frame = to_frame(rows)
            try:
                judged = _write_results(folder, frame, store.manifest)
            except KeyboardInterrupt:
                notes.print(STOPPED)
                return False
            _show(Console(), frame, len(grid), judged, folder, perf_counter() - began)
    return complete


def _write_results(folder: Path, rows: pd.DataFrame, manifest: Manifest) -> list[Finding]:
    """Write all files but the store; return the findings on the claims."""
    from swapwise.paper.claims import describe, findings, to_markdown
    from swapwise.paper.figure import draw_figure
    from swapwise.paper.page import render_page
    from swapwise.paper.sessions import missing_rows_in_words

    judged = findings(rows)
    about = f"{describe(rows)} {missing_rows_in_words(manifest)}".strip()
    figure = draw_figure(rows)
    write_atomically(folder / "rows.csv", rows.to_csv(index=False).encode())
    write_atomically(folder / "figure.png", _saved(figure, "png"))
    write_atomically(folder / "figure.pdf", _saved(figure, "pdf"))
    write_atomically(folder / "claims.md", to_markdown(judged, about).encode())
    write_atomically(folder / "report.html", render_page(rows, judged, manifest).encode())
    return judged


def _saved(figure: Figure, kind: str) -> bytes:
    buffer = BytesIO()
    # No time of day in the file: the same rows give the same bytes.
    figure.savefig(buffer, format=kind, dpi=200, metadata={"CreationDate": None} if kind == "pdf" else None)
    return buffer.getvalue()


def _show_what_is_there(
    notes: Console, grid: Sequence[Cell], rows: dict[Any, Any], changed: list[str]
) -> None:
    there = sum(cell.key in rows for cell in grid)
    if there:
        notes.print(f"{there} of {len(grid)} rows are there already.")
        for difference in changed:
            notes.print(
                f"They were made with something else: {difference}. Delete the folder to start again."
            )
    others = len(rows) - there
    if others:
        notes.print(f"{others} other rows are stored there too; results are drawn of this command's rows.")


@contextmanager
def _progress(
    grid: Sequence[Cell], rows: Collection[Any], jobs: int, notes: Console
) -> Iterator[Callable[[Cell], None]]:
    """Show what is done and the time left, by what cells take rather than by their number."""
    from joblib import cpu_count
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    side_by_side = cpu_count() if jobs == -1 else jobs

    def share(cell: Cell) -> float:
        return cell.seconds if cell.is_timed else cell.seconds / side_by_side

    todo = [cell for cell in grid if cell.key not in rows]
    columns = (
        TextColumn("{task.fields[done]} of {task.fields[rows]} rows"),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("left: {task.fields[last]}"),
    )
    with Progress(*columns, console=notes, transient=True, speed_estimate_period=120) as bar:
        # Only what is left to do: rows that are there already would look like great speed.
        task = bar.add_task(
            "", total=sum(map(share, todo)), done=len(grid) - len(todo), rows=len(grid), last="starting"
        )

        def observe(cell: Cell) -> None:
            done = bar.tasks[task].fields["done"] + 1
            bar.update(task, advance=share(cell), done=done, last=cell.block.setting.name)
            if not notes.is_terminal and done % 100 == 0:  # a log has no bar, but should not be silent
                notes.print(f"{done} of {len(grid)} rows")

        yield observe


def _show(
    console: Console, rows: pd.DataFrame, wanted: int, judged: list[Finding], folder: Path, seconds: float
) -> None:
    from swapwise.paper.claims import summary

    paper = rows[rows["part"].isin(["paper", "printed"])]
    for setting, some in paper.groupby("setting", sort=False):
        counts = some.groupby(["method", "size"]).size()
        trials = f"{counts.min()} to {counts.max()}" if counts.min() < counts.max() else str(counts.max())
        size = "capacity" if setting.startswith("regression") else "b"
        console.print(_table(some, f"{setting}: mean quality by {size}, trials: {trials}"))
        console.print()
    console.print(f"Claims of the paper: {summary(judged)}.")
    console.print(
        f"{len(rows)} of {wanted} rows, {seconds:.0f} s. See {folder / 'report.html'}", soft_wrap=True
    )


def _table(rows: pd.DataFrame, title: str) -> Table:
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
