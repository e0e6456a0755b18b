"""``swapwise bench``: the race against the peers, in a clone of the repository."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import typer

from swapwise.app.cli.failures import sigterm_as_interrupt

# All words after "bench" are for the race, which has options of its own.
SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def bench(context: typer.Context) -> None:
    """Race swapwise against its peers, from a clone of the repository; bench --help lists its options."""
    # The benchmarks are in clones of the repository, not in the installed package.
    places = [Path.cwd(), Path(__file__).parents[4]]
    root = next((place for place in places if (place / "benchmarks" / "race" / "__main__.py").exists()), None)
    if root is None and "--help" in context.args:
        typer.echo("swapwise bench [OPTIONS]: race against the peers, in a clone of the repository.")
        return
    if root is None:
        raise SystemExit(
            "swapwise bench: there are no benchmarks here, as they are not in the installed package; "
            "run it in a clone of the repository"
        )
    sys.path.insert(0, str(root))
    race = import_module("benchmarks.race.__main__")
    with sigterm_as_interrupt():
        raise typer.Exit(race.main(context.args, "swapwise bench"))
