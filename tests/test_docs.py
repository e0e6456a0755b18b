"""Names, options and pages are all there and can be reached, and transcripts are what is printed."""

import ast
import doctest
import importlib
import inspect
import json
import operator
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import swapwise
from swapwise import IndependenceSystem, Matroid, SparseObjective
from swapwise.app.cli import app
from swapwise.app.cli.limits import Heredity
from swapwise.app.cli.options import FamilyName, SizeCriterion
from swapwise.clock import Budget
from swapwise.extending import SparseState
from swapwise.search.methods import Method
from swapwise.search.rules import Pivot

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
INDEX = (DOCS / "index.md").read_text()
SECTIONS = [INDEX, *((DOCS / f"{section}.md").read_text() for section in ("tutorials", "background"))]
TREES = [re.search(r"```{toctree}\n(.*?)```", page, re.DOTALL)[1] for page in SECTIONS]
TREE = re.findall(r"^.+ <(\S+)>$", "\n".join(TREES), re.MULTILINE)
PAGES = sorted(path.stem for kind in ("*.md", "*.rst") for path in DOCS.glob(kind))


PACKAGES = ("theory", "graphs", "paper", "extending")
NAMES = [
    *swapwise.__all__,
    *(
        f"{package}.{name}"
        for package in PACKAGES
        for name in getattr(swapwise, package).__all__
        if not name.isupper()  # constants
    ),
]


def test_the_reference_has_every_public_name_once():
    listed = re.findall(r"^   ~?((?:\w+\.)?\w+)$", (DOCS / "api.rst").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(NAMES)


def test_completion_shows_the_public_names_and_their_modules():
    assert dir(swapwise) == sorted([*swapwise.__all__, *PACKAGES])
    for package in PACKAGES:
        module = getattr(swapwise, package)
        assert [name for name in dir(module) if name[0] != "_"] == sorted(module.__all__)


@pytest.mark.parametrize("module", [swapwise, *(getattr(swapwise, name) for name in PACKAGES)])
def test_the_docstrings_of_modules_name_what_is_there(module):
    for name in re.findall(r"``swapwise\.([\w.]+)``", module.__doc__):
        operator.attrgetter(name)(swapwise)


def test_the_reference_names_the_constants_of_the_paper():
    named = re.findall(r"``sw\.paper\.(\w+)``", (DOCS / "api.rst").read_text())
    constants = [name for name in swapwise.paper.__all__ if name.isupper()]
    assert sorted(named) == sorted(constants)
    assert all(hasattr(swapwise.paper, name) for name in constants)


LISTED = re.findall(r"~search\.methods\.(\w+)", (DOCS / "api.rst").read_text())
METHODS = [kind for kind in swapwise.methods.METHODS.values() if kind.__name__ in LISTED]
PUBLIC = [operator.attrgetter(name)(swapwise) for name in NAMES]
THEOREMS = [
    kind
    for kind in PUBLIC
    if re.match(r"swapwise\.(theory|certify\.certify)", getattr(kind, "__module__", ""))
]
RULES = [swapwise.Oblivious, swapwise.SemiOblivious, swapwise.NonOblivious]


@pytest.mark.parametrize("thing", [*PUBLIC, *METHODS], ids=lambda thing: thing.__name__)
def test_every_public_name_leads_to_others_and_has_an_example(thing):
    doc = inspect.getdoc(thing)
    assert "\nSee Also\n--------\n" in doc
    assert "\nExamples\n--------\n" in doc


@pytest.mark.parametrize(
    "kind", [kind for kind in PUBLIC if inspect.isclass(kind)], ids=lambda kind: kind.__name__
)
def test_every_public_member_is_documented_where_it_is_declared_first(kind):
    own = [
        (base, name) for base in kind.__mro__ if base.__module__.startswith("swapwise") for name in vars(base)
    ]
    methods = {name for base, name in own if name[0] != "_" and inspect.isroutine(getattr(base, name))}
    assert [name for name in sorted(methods) if not inspect.getdoc(getattr(kind, name))] == []


@pytest.mark.parametrize("thing", [*METHODS, *RULES, *THEOREMS], ids=lambda thing: thing.__name__)
def test_theorems_and_methods_name_their_papers(thing):
    assert "\nReferences\n----------\n- " in inspect.getdoc(thing) or thing is swapwise.theory.Constant


def names_under(heading, thing):
    section = re.search(
        rf"^{heading}\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", inspect.getdoc(thing), re.MULTILINE | re.DOTALL
    )
    lines = [line.split(" :")[0] for line in section[1].splitlines() if re.match(r"\S", line)]
    return [name.strip(" *") for line in lines for name in line.split(",")]


DESCRIBED = [thing for thing in PUBLIC if callable(thing) and "\nParameters\n---" in inspect.getdoc(thing)]


@pytest.mark.parametrize("thing", DESCRIBED, ids=lambda thing: thing.__name__)
def test_the_parameters_described_are_those_of_the_signature(thing):
    assert sorted(names_under("Parameters", thing)) == sorted(inspect.signature(thing).parameters)


@pytest.mark.parametrize(
    "name", [name for name in swapwise.__all__ if re.match("Sparse.*(or|er)(CV)?$", name)]
)
def test_the_attributes_described_are_those_of_a_fit(name):
    model = getattr(swapwise, name)().fit(np.eye(20)[:, :2], np.arange(20) % 2)
    described = {*names_under("Attributes", type(model))}
    assert {name for name in vars(model) if name.endswith("_") and name[0] != "_"} <= described
    # Some are there only if columns have names, or the family has a dispersion.
    assert {name for name in described if not hasattr(model, name)} <= {"feature_names_in_", "alpha_"}


def test_pages_of_constraints_show_what_users_call(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    members = importlib.import_module("members")
    shown = members.called("swapwise", "Partition")
    assert {"is_independent", "truncate", "from_columns"} <= {*shown}
    assert not {"induced", "laminar_tree", "cheapest_drops"} & {*shown}
    assert "induced" in members.called("swapwise", "Constraint")
    assert {"fit", "predict", "certify"} <= {*members.called("swapwise", "SparseRegressor")}
    assert "score" in members.inherited("swapwise", "SparseRegressor")
    named = members.OF_OBJECTIVES | members.OF_CONSTRAINTS | {*members.FOR_REPORTS}
    assert all(any(hasattr(kind, name) for kind in PUBLIC) for name in named)


def test_every_page_is_in_the_tree_once():
    assert sorted(TREE) == sorted({*PAGES, "gallery/index"} - {"index"})


def test_what_the_pages_include_is_there():
    for page in DOCS.glob("*.md"):
        text = page.read_text()
        for kind, name, options in re.findall(r"```{(\w+)} (\.\./\S+)\n((?::.*\n)*)```", text):
            source = (ROOT / name.removeprefix("../")).read_text()
            for marker in re.findall(r'^:(?:start|end)-\w+: "(.*)"$', options, re.MULTILINE):
                assert source.count(marker) == 1, (page.name, kind, marker)


def test_every_picture_is_shown_somewhere():
    pages = "".join(page.read_text() for page in (ROOT / "README.md", *DOCS.glob("*.md")))
    assert all(f"images/{picture.name}" in pages for picture in (DOCS / "images").iterdir())


def test_the_extensions_are_what_is_installed_beside_the_data_of_the_gallery():
    extensions = re.findall(r'^    "(\w+)(?:\.\w+)*",$', (DOCS / "conf.py").read_text(), re.MULTILINE)
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["docs"]
    installed = {re.split(">=", name)[0].replace("-", "_") for name in wanted}
    assert {*extensions, "docutils", "pydata_sphinx_theme", "statsmodels"} == installed | {"matplotlib"}


def test_the_gallery_begins_with_examples_that_are_there(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    order = importlib.import_module("order")
    examples = [path.name for path in (ROOT / "examples" / "structure").glob("*.py")]
    assert [Path(name).stem for name in sorted(examples, key=order.place)] == order.FIRST


def test_the_pages_name_nothing_that_is_not_there():
    pages = [ROOT / "README.md", *DOCS.glob("*.md"), *(ROOT / "examples").rglob("*.py")]
    named = {name for page in pages for name in re.findall(r"\bsw\.(\w+(?:\.\w+)?)", page.read_text())}
    for name in named:
        operator.attrgetter(name)(swapwise)


def test_the_pages_name_the_module_of_what_is_in_one():
    at_home = {
        name for package in ("theory", "graphs", "extending") for name in getattr(swapwise, package).__all__
    }
    bare = rf"(?<![\w.\"'])({'|'.join(sorted(at_home))})(?![\w=])"
    for page in (ROOT / "README.md", *DOCS.glob("*.md")):
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        found = [name for code in re.findall(r"`([^`\n]+)`", prose) for name in re.findall(bare, code)]
        assert not found, page.name


# How to contribute.

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
EXTENDING = (ROOT / "EXTENDING.md").read_text()


def test_the_map_names_files_that_are_there():
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", CONTRIBUTING + EXTENDING))
    source = ROOT / "src" / "swapwise"
    places = [ROOT, source.parent, source, *(path for path in source.iterdir() if path.is_dir())]
    missing = [name for name in named if not any((place / name).exists() for place in places)]
    assert named
    assert not missing


def test_the_map_has_every_folder():
    folders = {path.name for path in (ROOT / "src" / "swapwise").iterdir() if (path / "__init__.py").exists()}
    assert set(re.findall(r"`src/swapwise/(\w+)/`", CONTRIBUTING)) == folders


@pytest.mark.parametrize(
    ("heading", "classes"),
    [
        ("Adding an objective", (SparseObjective, SparseState)),
        ("Adding a constraint", (IndependenceSystem, Matroid)),
        ("Adding a method", (Method, Budget, Pivot)),
    ],
)
def test_what_is_to_be_written_is_in_the_contract(heading, classes):
    section = re.search(rf"^## {heading}\n(.*?)(?=^## )", EXTENDING, re.M | re.S)[1]
    named = set(re.findall(r"`(?:budget\.)?([a-z_]+)\(\w[^`]*\)`", section))
    assert len(named) >= 3
    assert [name for name in sorted(named) if not any(hasattr(kind, name) for kind in classes)] == []


# The command line.

COMMAND_LINE = (DOCS / "command-line.md").read_text()
COMMANDS = get_command(app).commands
WITH_OPTIONS = sorted(set(COMMANDS) - {"bench"})  # which hands all of its words on to the race


@pytest.fixture
def terminal(tmp_path, monkeypatch):
    """A function that returns what a block of commands looks like when they are run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    status = 0

    def run(command):
        nonlocal status
        command = command.replace("\\\n", "")
        if command.startswith("swapwise "):  # here, since to start Python takes longer than most commands
            done = CliRunner().invoke(app, shlex.split(command)[1:])
            status = done.exit_code
            return done.output
        done = subprocess.run(["sh", "-c", f"(exit {status}); {command}"], capture_output=True, text=True)
        status = done.returncode
        return done.stdout + done.stderr

    def transcript(block):
        commands = re.findall(r"^\$ ((?:.*\\\n)*.*\n)", block, re.MULTILINE)
        return "".join(f"$ {command}{run(command)}" for command in commands)

    return transcript


def without_times(text):
    """Return the lines of a transcript, whose times differ and which compiles only if nobody did before."""
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("Note: compiling")]
    return [re.sub(r"\d+\.\d+ s(, and \d+ s of compiling, once)?$", "… s", line) for line in lines]


def test_what_the_page_shows_of_the_command_line_is_what_it_does(terminal):
    names = {}
    for language, block in re.findall(r"^```(python|pycon|console)\n(.*?)^```", COMMAND_LINE, re.M | re.S):
        if language == "python":
            exec(block, names)
        elif language == "pycon":
            session = doctest.DocTestParser().get_doctest(block, names, "command-line.md", None, None)
            doctest.DebugRunner().run(session, clear_globs=False)
            names = session.globs
        else:
            assert without_times(terminal(block)) == without_times(block)


def test_the_readme_shows_what_the_command_line_prints(terminal):
    shown = re.search(r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)[1]
    printed = [line for line in without_times(terminal(shown)) if not line.startswith("Note:")]
    assert printed == without_times(shown)


def test_the_page_has_every_command():
    assert set(re.findall(r"^\| \[`swapwise (\w+)`\]", COMMAND_LINE, re.M)) == set(COMMANDS)


def names_of_options(command):
    """Return the names of each option, such as ("--quiet", "-q")."""
    return [tuple(option.opts) for option in COMMANDS[command].params if option.opts[0].startswith("-")]


def options_on_the_page(command):
    section = re.search(rf"^### `swapwise {command}`\n(.*?)(?=^#|\Z)", COMMAND_LINE, re.M | re.S)[1]
    rows = re.findall(r"^\| `(-.*?)` \| (.*) \|$", section, re.M)
    return [(tuple(names.split("`, `")), meaning) for names, meaning in rows]


@pytest.mark.parametrize("command", WITH_OPTIONS)
def test_the_page_lists_every_option_once(command):
    assert sorted(names for names, _ in options_on_the_page(command)) == sorted(names_of_options(command))


OPTION_WORDS = [("--family", FamilyName), ("--choose", SizeCriterion), ("--hierarchy", Heredity)]


@pytest.mark.parametrize(("option", "words"), OPTION_WORDS)
def test_the_page_lists_every_word_that_an_option_knows(option, words):
    meaning = dict(options_on_the_page("select"))[(option,)]
    assert re.findall(r"`([\w-]+)`", meaning) == [word.value for word in words]


@pytest.mark.parametrize("command", WITH_OPTIONS)
def test_the_pages_use_no_option_that_is_not_there(command):
    pages = "\n".join(page.read_text() for page in (ROOT / "README.md", *DOCS.glob("*.md")))
    uses = re.findall(rf"swapwise {command}((?: [^\n`#\\]+|\\\n)*)", pages)
    used = set(re.findall(r"(?<!\S)--[a-z-]+", " ".join(uses)))
    assert used <= {name for names in names_of_options(command) for name in names} | {"--help"}


BENCHMARKS = ("race/options.py", "hard/__main__.py", "structure/__main__.py")  # those that pages name
OF_BENCHMARKS = {
    option
    for file in BENCHMARKS
    for option in re.findall(r'"(--[a-z-]+)"', (ROOT / "benchmarks" / file).read_text())
}
OF_ALL_COMMANDS = {"--help", "--version", "--install-completion", "--show-completion"}
PAGES_WITH_CODE = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: page.name)
def test_code_on_a_page_has_no_option_that_no_command_has(page):
    blocks = re.findall(r"^```.*?^```|`[^`\n]+`", page.read_text(), re.M | re.S)
    used = {option for block in blocks for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", block)}
    known = {name for command in WITH_OPTIONS for names in names_of_options(command) for name in names}
    assert used <= known | OF_BENCHMARKS | OF_ALL_COMMANDS


def test_the_page_explains_every_key_of_the_json(tmp_path):
    file = tmp_path / "answer.json"
    CliRunner().invoke(app, ["select", "--demo", "--path", "1:3", "--certify", "--json", str(file)])
    answer = json.loads(file.read_text())
    table = re.search(r"^\| key \|.*\n((?:\|.*\n)+)", COMMAND_LINE, re.M)[1]
    meanings = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.M))
    assert set(meanings) == set(answer)
    inner = {key: answer[key] for key in ("fit", "search", "certificate")} | {"chosen": answer["chosen"][0]}
    for key, value in inner.items():
        assert all(f"`{name}`" in meanings[key] for name in value), key


# The paper.

PAPER = (DOCS / "the-paper-line-by-line.md").read_text()
ROWS = "\n".join(re.findall(r"^\| .*$", PAPER, re.M))


def test_every_numbered_statement_of_the_paper_has_a_row():
    # They are numbered together, from Definition 1 to Corollary 27, as in its source.
    kinds = "Definition|Theorem|Lemmas?|Proposition|Remark|Corollaries"
    numbered = re.findall(rf"^\| (?:{kinds}) (\d+)(?: and (\d+))?", ROWS, re.M)
    assert sorted(int(number) for pair in numbered for number in pair if number) == list(range(1, 28))
    assert [int(number) for number in re.findall(r"^\| Algorithm (\d)", ROWS, re.M)] == [1, 2, 3, 4, 5, 6]


def test_all_pages_give_the_starts_of_the_pseudocode():
    assert "| 1, 3, 4 | arbitrary elements" in PAPER
    for page in ("glossary.md", "which-method.md"):
        assert re.search(
            r'"arbitrary"` \(Algorithms 1, 3 and 4\), `"empty"` \(2\)', (DOCS / page).read_text()
        ), page
    assert "T = 200" not in PAPER


def test_slips_are_numbered_and_their_tests_are_named_after_them():
    items = re.findall(r"^(\d+)\. (.*(?:\n +.*)*)", PAPER.split("## Slips of the printed form")[1], re.M)
    assert [int(number) for number, _ in items] == list(range(1, len(items) + 1))
    shown = {number: re.findall(r"`test_slip_(\d+)_", text) for number, text in items}
    assert all(tests in ([], [number]) for number, tests in shown.items())
    tests = "\n".join(path.read_text() for path in (ROOT / "tests" / "theory").glob("test_*.py"))
    defined = re.findall(r"^def test_slip_(\d+)_", tests, re.M)
    assert sorted(defined) == sorted(number for number, tests in shown.items() if tests)


def test_the_tests_that_hold_the_paper_are_there():
    defined = {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    named = set(re.findall(r"`(test_\w+)`", PAPER))
    assert named
    assert named <= defined
