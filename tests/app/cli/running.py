"""Commands run as a user would, and what a refusal looks like."""

from typer.testing import CliRunner

from swapwise.app.cli import app


def select(*options):
    return CliRunner().invoke(app, ["select", *map(str, options)])


def graph(*options):
    return CliRunner().invoke(app, ["graph", *map(str, options)])


def refused(done, message):
    assert done.exit_code == 1
    assert done.output.startswith("swapwise ")
    assert message in done.output
    assert done.output.count("\n") <= 1
    assert "Traceback" not in done.output
