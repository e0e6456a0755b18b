"""Imports point one way, heavy packages stay where they are used, and public names are documented."""

import ast
import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import swapwise

ROOT = Path(swapwise.__file__).parent

# Every layer may import those before it: the folders of the package, lowest first.
LAYERS = [
    {"checks", "events", "files", "lazy", "numerics", "override", "threads"},
    {"moves"},
    {"clock"},
    {"kernels"},
    {"data"},
    {"constraints"},
    {"objectives"},
    {"search"},
    {"theory"},
    {"certify"},
    {"maximize"},
    {"extending"},
    {"charts"},
    {"estimators"},
    {"graphs"},
    {"paper"},
    {"app"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
MODULES = sorted(ROOT.rglob("*.py"))


def part_of(module):
    """The folder (or file) of the package that a module name such as swapwise.search.loop lies in."""
    return module.split(".")[1] if "." in module else None


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    if path == ROOT / "__init__.py":
        return
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    used = {part_of(name) for name in imports_of(path) if name.startswith("swapwise.")}
    higher = {name for name in used - {own} if LEVEL[name] >= LEVEL[own]}
    assert not higher, f"{own} imports {higher}"


@pytest.mark.parametrize("package", ["swapwise", "swapwise.graphs"])
def test_type_checkers_see_what_is_imported_lazily(package):
    body = ast.parse(Path(import_module(package).__file__).read_text()).body
    (checked,) = (node for node in body if isinstance(node, ast.If) and node.test.id == "TYPE_CHECKING")
    seen = {alias.name for node in checked.body for alias in node.names}
    (homes,) = (node for node in ast.walk(ast.Module(body, [])) if isinstance(node, ast.Dict))
    assert seen == {key.value for key in homes.keys}


# Methods of lower layers that hand an answer on to the layer of figures and pages: `certificate.plot()` and
# `model.report()`. They load it by name, when they are called; nothing else may.
HANDED_ON = {"certify/certificate.py", "estimators/base.py", "graphs/estimators/base.py"}


def test_only_methods_that_hand_on_an_answer_load_a_higher_layer_by_name():
    calls = {
        str(path.relative_to(ROOT))
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and str(node.args[0].value).startswith("swapwise")
    }
    assert calls == HANDED_ON


WATCHED = (
    "swapwise.graphs",
    "swapwise.paper",
    "swapwise.app",
    "pandas",
    "matplotlib",
    "networkx",
    "rich",
    "typer",
)
SCRIPT = """
import sys
import numpy as np
{before}
loaded = set(sys.modules)
import swapwise as sw
X = np.random.default_rng(0).standard_normal((30, 5))
y = X[:, 0] - X[:, 3]
{call}
print([name for name in {names} if name in sys.modules and name not in loaded])
"""


# scikit-learn imports pandas and rich by itself where they are installed.
@pytest.mark.parametrize(
    ("before", "call"),
    [
        ("", ""),
        ("", "sw.maximize(sw.LeastSquares(X, y), sw.Partition([0, 0, 1, 1, 1], 1))"),
        ("", "sw.certify(sw.LeastSquares(X, y), sw.Uniform(5, 2), [0, 3])"),
        ("import sklearn.linear_model", "sw.SparseRegressor(2).fit(X, y)"),
        ("import sklearn.linear_model", "sw.SparseClassifierCV(sizes=[1, 2]).fit(X, y > 0)"),
    ],
)
def test_the_library_loads_neither_apartments_nor_heavy_packages(before, call):
    names = WATCHED if before else (*WATCHED, "sklearn")
    code = SCRIPT.format(before=before, call=call, names=names)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", swapwise.__all__)
def test_every_public_name_has_an_example(name):
    assert doctest.DocTestParser().get_examples(getattr(swapwise, name).__doc__)
