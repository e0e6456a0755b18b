"""What is said of this version in several places is the same in all of them."""

import tomllib
from pathlib import Path

from typer.testing import CliRunner

import swapwise
from swapwise.app.cli import app

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_what_is_to_be_cited_is_this_version():
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {PROJECT['version']}" in lines
    assert f"license: {PROJECT['license']}" in lines


def test_the_package_and_its_command_know_their_version():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"swapwise {swapwise.__version__}\n"
