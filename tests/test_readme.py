"""What the README and the pages of the documentation show is what runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@pytest.mark.slow
@every_page
def test_the_examples_print_what_they_say(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may write files
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    exec(code, {})
    promised = re.findall(r"^# (.*)$", code, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == promised


@every_page
def test_links_to_files_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def test_the_readme_fits_on_three_screens():
    assert len(README.read_text().splitlines()) <= 100


def test_the_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    commands = re.findall(r"`make (\w+)`", README.read_text())
    assert commands == ["docs", "test", "quick"]
    assert all(f"\n{command}:" in makefile for command in commands)
