"""How the documentation is built: ``make docs``. Nothing here asks the network for anything."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.inspect import TypeAliasForwardRef

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
import inventories
import mathml
import members

project = "swapwise"
copyright = "2026, the swapwise developers"
release = version = version_of("swapwise")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
]
exclude_patterns = ["_build", "_ext"]
templates_path = ["_templates"]

# All names must be found, those of other libraries too. What is named here is internal: types that people
# meet in a signature but never make themselves.
nitpicky = True
ALIASES = ["ArrayLike", "BoolArray", "FloatArray", "IndexArray", "MoveBatch"]
INTERNAL = (
    "Alpha|Axes|Blocks|Budget|ChunkedFitter|Clock|CoefficientBounds|Columns|Constants|Design|Factor|Family|Fit|"
    "Figure|Found|GroupLimits|Groups|Inequalities|LaminarTree|LargerMoves|LayeredFacilityLocation|Layout|Margins|"
    "Method|MixedLimits|OutOfTime|PackingSystem|Pivot|PlainIsing|PlainLeastSquares|PlainMatching|PlainPartition|"
    "Prices|Reachable|Run|SampleCurvature|Step|Summand|Thresholding"
)
nitpick_ignore_regex = [("py:class", rf"(swapwise\..*\.)?({INTERNAL}|{'|'.join(ALIASES)}|\w+State)")]

intersphinx_mapping = inventories.mapping(Path(__file__).parent / "_build" / "inventories")
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
suppress_warnings = ["config.cache"]  # functions among the settings, which templates call
autosummary_context = {"called": members.called, "inherited": members.inherited, "example": members.example}
plot_formats = [("png", 150)]
plot_html_show_formats = plot_html_show_source_link = False
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ALIASES}
TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # ``FloatArray | None``, as it stands in the source
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": [
        f"../examples/{name}" for name in ("structure", "models", "graphs", "designs", "proofs")
    ],
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "write_computation_times": False,
    "thumbnail_size": (640, 440),
    "within_subsection_order": "order.place",
    "download_all_examples": False,
    "show_signature": False,
    "doc_module": ("swapwise",),
    "backreferences_dir": "gallery/backreferences",
}

html_theme = "pydata_sphinx_theme"
html_title = "swapwise"
html_context = {"default_mode": "auto"}  # light or dark as the system is
html_static_path = ["_static"]
html_css_files = ["swapwise.css"]
# The sources are Markdown with examples to be run: a copy of them would be taken for pages of their own.
html_copy_source = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}
# A page without pages beside it has nothing to list at its left, names of the reference are better found on
# its first page than in a list of a hundred, and code of the gallery wants the room.
ALONE = ["index", "where-structure-matters", "coming-from", "faq", "extending", "cite"]
ALONE += ["api", "api/**", "gallery/**"]
html_sidebars: dict[str, list[str]] = {page: [] for page in ALONE}
html_show_sphinx = False


class LinkPublicNames(SphinxTransform):
    """Link ``LeastSquares`` in the text of a page to its place in the reference."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Wrap every literal that is a public name, unless it is in a link or a heading already."""
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext().removeprefix("sw.").removesuffix("(...)")
            home = members.HOMES.get(name.rpartition(".")[2])
            if home is None or not _may_link(literal):
                continue
            link = pending_xref("", refdomain="py", reftype="obj", reftarget=home, refwarn=True)
            link["refdoc"] = self.env.docname
            literal.replace_self(link)
            link += literal


def _may_link(node: nodes.Node) -> bool:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, (nodes.reference, pending_xref, nodes.title)):
            return False
        parent = parent.parent
    return True


def mend_for_restructured_text(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Escape what docstrings write plainly and reStructuredText reads as something else.

    A bare ``coef_`` would be a link, and two dots between spaces the end of a sentence.
    """
    for k, line in enumerate(lines):
        line = line.replace("0 .. n", "0 … n")
        if "`" not in line and not line.lstrip().startswith((">>>", "...")):
            line = re.sub(r"\b(\w+)_(?=[\s,)]|$)", r"\1\\_", line)
        lines[k] = line


def shorten_factories(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Write a default factory as dots: Sphinx cannot read what dataclasses say of it."""
    return signature and signature.replace("<factory>", "..."), returns


def find_by_home(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Node
) -> nodes.Node | None:
    """Find a public name by the module that it is written in, or by itself, as See Also sections have it."""
    package, _, name = str(node["reftarget"]).rpartition(".")
    if name not in members.HOMES or package.split(".")[0] not in ("", "swapwise"):
        return None
    python = env.domains["py"]
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", members.HOMES[name], node, content)


def link_within_the_site(app: Sphinx, docname: str, source: list[str]) -> None:
    """Lead to the page that holds what EXTENDING, which is no page of the site, says of extensions."""
    source[0] = source[0].replace("](../EXTENDING.md", "](extending.md")


def setup(app: Sphinx) -> None:
    """Tell Sphinx of what is above."""
    mathml.setup(app)
    app.add_transform(LinkPublicNames)
    app.connect("source-read", link_within_the_site)
    app.connect("missing-reference", find_by_home)
    app.connect("autodoc-process-signature", shorten_factories)
    app.connect("autodoc-process-docstring", mend_for_restructured_text, priority=900)  # numpydoc comes first
