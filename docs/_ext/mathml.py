"""Mathematics as MathML, which browsers render by themselves: no script, no fonts, no network."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml, unichar2tex
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.writers.html5 import HTML5Translator


def setup(app: Sphinx) -> None:
    """Make this the way in which formulas are written into pages."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(_converted(node, as_block=False))
    raise nodes.SkipNode


def _displayed(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{_converted(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _converted(node: nodes.math | nodes.math_block, as_block: bool) -> str:
    tex = node.astext().translate(unichar2tex.uni2tex_table)
    try:
        return str(latex2mathml.tex2mathml(tex, as_block=as_block))
    except MathError as error:
        raise SphinxError(f"docutils cannot read the formula {node.astext()!r}: {error}") from error
