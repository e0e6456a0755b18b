"""The command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def main() -> None:
    """Choose variables under structure."""


@app.command()
def reproduce(
    trials: Annotated[int, typer.Option(min=1, help="How many random instances.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the instances and of the methods.")] = 0,
) -> None:
    """Run the paper's regression experiment: 200 features, 50 samples, 5 categories."""
    import pandas as pd
    from rich.console import Console
    from rich.progress import track

    from swapwise.experiments import regression

    capacities = range(1, 6)
    rows = track(
        regression.iterate(capacities=capacities, trials=trials, seed=seed),
        description="Running",
        total=trials * len(capacities) * len(regression.METHODS),
        console=Console(stderr=True),
        transient=True,
    )
    means = regression.summary(pd.DataFrame(rows))
    console = Console()
    console.print(_table(means, f"R² by capacity, mean ± standard deviation ({trials} trials)", _quality))
    console.print()
    console.print(_table(means, "Milliseconds by capacity, mean", _time))


def _quality(row: pd.Series) -> str:
    if row["std"] != row["std"]:  # a single trial has no deviation
        return f"{row['mean']:.3f}"
    return f"{row['mean']:.3f}±" + f"{row['std']:.3f}".removeprefix("0")  # 80 columns are few


def _time(row: pd.Series) -> str:
    return f"{row['milliseconds']:.2f}"


def _table(means: pd.DataFrame, title: str, show: Callable[[pd.Series], str]) -> Table:
    """Lay one figure out with methods as rows and capacities as columns."""
    from rich import box
    from rich.table import Table

    cells = means.apply(show, axis=1).unstack("capacity", sort=False)
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=0, show_edge=False, title_justify="left")
    table.add_column("method", no_wrap=True)
    for capacity in cells.columns:
        table.add_column(str(capacity), justify="right", no_wrap=True, min_width=10)
    for method, row in cells.iterrows():
        table.add_row(method, *row)
    return table
