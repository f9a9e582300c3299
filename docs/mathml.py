"""Formulas as MathML, which browsers draw by themselves: no script, nothing from another host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def markup(tex: str, *, block: bool) -> str:
    r"""The MathML element of a formula. Raises MathError if it cannot be read.

    >>> "<msup>" in markup(r"p^{\\gamma+1}", block=False)
    True
    """
    return tex2mathml(tex, as_block=block)


def _visit_inline(translator: HTML5Translator, node: nodes.Element) -> None:
    _write(translator, node, block=False)


def _visit_block(translator: HTML5Translator, node: nodes.Element) -> None:
    _write(translator, node, block=True)


def _write(translator: HTML5Translator, node: nodes.Element, *, block: bool) -> None:
    tex = node.astext()
    try:
        element = markup(tex, block=block)
    except MathError as error:
        LOGGER.warning("formula %r: %s", tex, error, location=node)
        element = translator.encode(tex)
    kind = "div" if block else "span"
    translator.body.append(f'<{kind} class="math">{element}</{kind}>')
    raise nodes.SkipNode
