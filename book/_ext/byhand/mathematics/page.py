r"""Formulas of pages: the book's TeX as MathML, written with Temml during the build.

MyST-NB loads Sphinx's MathJax extension whatever the configuration says. That extension adds its
script only while it is the chosen renderer, so the line ``html_math_renderer: temml`` in
`_config.yml` keeps MathJax off every page.
"""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from byhand.mathematics.scripts import call

if TYPE_CHECKING:
    from typing import Any

    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

FOLDER = Path(__file__).parent
TEMML = (FOLDER / "temml" / "temml.min.js", FOLDER / "temml.js")
CSS_CLASSES = "math notranslate nohighlight"  # the classes of formulas in Sphinx and its themes

ROLES = {"Q": "query", "K": "key", "V": "value"}  # their letters have a colour on every page
ROLE_LETTER = re.compile(r"<mi>([QKV])</mi>")

TAG = re.compile(r"<[^>]*>")
# A formula in a sentence, and punctuation after it that may not begin a line.
FORMULA_WITH_MARK = re.compile(
    r'(<span class="math [^>]*><math>(?:(?!</math>).)*</math></span>)([.,;:!?)’”]+)', re.DOTALL
)
NARROW = 16  # characters that fit any screen; a longer formula in a sentence may need to scroll

logger = logging.getLogger(__name__)


class TemmlError(ValueError):
    """Raised if Temml cannot read some TeX; the text is Temml's own message."""


@functools.cache
def to_mathml(tex: str, *, display: bool) -> str:
    """Return the MathML of one formula.

    Raises
    ------
    TemmlError
        If Temml rejects the TeX.
    """
    options = {
        "displayMode": display,
        "throwOnError": True,
        # No engine breaks a formula between lines by itself. One that is wider than the page
        # scrolls in its own box.
        "wrap": "none",
    }
    result = call(TEMML, "renderTeX", tex, options)
    if "error" in result:
        raise TemmlError(_one_line(result["error"]))
    return ROLE_LETTER.sub(
        lambda found: f'<mi class="of-{ROLES[found[1]]}-letter">{found[1]}</mi>', result["mathml"]
    )


def hold_marks(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Keep each formula and the punctuation after it on one line."""
    if "body" in context:
        context["body"] = FORMULA_WITH_MARK.sub(
            r'<span class="math-held">\1\2</span>', context["body"]
        )


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a sentence."""
    mathml = _render(self, node, node.astext(), display=False)
    classes = _inline_classes(mathml)
    self.body.append(self.starttag(node, "span", "", CLASS=classes) + mathml + "</span>")
    raise nodes.SkipNode


def inline_math(tex: str) -> str:
    """Return the HTML of a formula in the label of a table.

    Raises
    ------
    TemmlError
        If Temml rejects the TeX.
    """
    mathml = to_mathml(tex, display=False)
    return f'<span class="{_inline_classes(mathml)}">{mathml}</span>'


def _inline_classes(mathml: str) -> str:
    """Return the CSS classes of a formula in a sentence; a wide one may scroll."""
    return CSS_CLASSES + " math-wide" * (len(TAG.sub("", mathml)) > NARROW)


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed equation with its number and permalink, in a box that scrolls."""
    mathml = _render(self, node, node.astext(), display=True)
    self.body.append(self.starttag(node, "div", CLASS=CSS_CLASSES))
    label = _("Equation")
    if node.get("number"):
        number = get_node_equation_number(self, node)
        label += f" {number}"
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    # A reader without a mouse scrolls a focused box with the arrow keys.
    self.body.append(
        f'<div class="math-scroll" role="group" aria-label="{html.escape(label)}" tabindex="0">'
        f"{mathml}</div></div>\n"
    )
    raise nodes.SkipNode


def _render(self: HTML5Translator, node: nodes.Element, tex: str, *, display: bool) -> str:
    """Return MathML; for invalid TeX, warn at the node's place and return the TeX."""
    try:
        return to_mathml(tex, display=display)
    except TemmlError as error:
        source = shorten(node.astext(), 120, placeholder=" ...")
        logger.warning(
            "TeX `%s` cannot be turned into MathML: %s",
            source,
            error,
            location=node,
            type="temml",
        )
        return f'<code class="math-error">{html.escape(node.astext())}</code>'


def _one_line(message: str) -> str:
    """Return Temml's message in one line, without the marks below the position."""
    return " ".join(message.replace("\N{COMBINING LOW LINE}", "").split())


def setup(app: Sphinx) -> None:
    """Register the renderer and its style."""
    app.add_html_math_renderer("temml", (visit_math, None), (visit_math_block, None))
    app.connect("html-page-context", hold_marks)
    # A chapter's title can bring mathematics to any page. Below the styles of other extensions.
    app.add_css_file("math/temml.css", priority=501)
