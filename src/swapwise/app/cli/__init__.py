"""The command line: one file per command, and what they share."""

from __future__ import annotations

from typing import Annotated

import typer

from swapwise.app.cli import bench, graph, reproduce, select

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    from importlib.metadata import version

    if wanted:
        typer.echo(f"swapwise {version('swapwise')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version.", metavar=""
        ),
    ] = False,
) -> None:
    """Choose variables under structure."""


app.command()(select.select)
app.command()(graph.graph)
app.command()(reproduce.reproduce)
app.command(context_settings=bench.SETTINGS)(bench.bench)
