"""Every public name is in the reference, and every page of the documentation can be reached."""

import re
import tomllib
from pathlib import Path

import pytest

import swapwise

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
INDEX = (DOCS / "index.md").read_text()
TREE = re.findall(r"^.+ <(\S+)>$", re.search(r"```{toctree}\n(.*?)```", INDEX, re.DOTALL)[1], re.MULTILINE)
PAGES = sorted(path.stem for kind in ("*.md", "*.rst") for path in DOCS.glob(kind))


def test_the_reference_has_every_public_name_once():
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.rst").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(swapwise.__all__)


def test_every_page_is_in_the_tree_once():
    assert sorted(TREE) == sorted({*PAGES, "gallery/index"} - {"index"})


@pytest.mark.parametrize("page", TREE)
def test_the_landing_page_leads_to(page):
    cards = re.findall(r"^:link: (\S+)$", INDEX, re.MULTILINE)
    mentions = re.findall(r"{doc}`[^`]*<(\S+)>`", INDEX)
    assert (cards + mentions).count(page) == 1


def test_what_the_pages_include_is_there():
    for page in DOCS.glob("*.md"):
        text = page.read_text()
        for kind, name, options in re.findall(r"```{(\w+)} (\.\./\S+)\n((?::.*\n)*)```", text):
            source = (ROOT / name.removeprefix("../")).read_text()
            for marker in re.findall(r'^:(?:start|end)-\w+: "(.*)"$', options, re.MULTILINE):
                assert source.count(marker) == 1, (page.name, kind, marker)


def test_the_extensions_are_what_is_installed():
    extensions = re.findall(r'^    "(\w+)(?:\.\w+)*",$', (DOCS / "conf.py").read_text(), re.MULTILINE)
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["docs"]
    installed = {re.split(">=", name)[0].replace("-", "_") for name in wanted}
    assert {*extensions, "pydata_sphinx_theme"} == installed


def test_the_pages_name_nothing_that_is_not_there():
    pages = [ROOT / "README.md", *DOCS.glob("*.md"), *(ROOT / "examples").glob("*.py")]
    named = {name for page in pages for name in re.findall(r"\bsw\.(\w+)", page.read_text())}
    assert named <= {*swapwise.__all__}
