"""Write pages whose formulas are TeX, for the accessible edition to set and to read aloud."""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from byhand.print_book.writer import inside_equation
from byhand.temml_math import equation_tex


def register(app: Sphinx) -> None:
    """Put this in the place of Temml; the setting that names Temml stays, for it is read by all."""
    app.registry.html_inline_math_renderers["temml"] = (visit_math, None)
    app.registry.html_block_math_renderers["temml"] = (visit_math_block, None)


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula that stands in a sentence."""
    self.body.append(f'<span class="tex">{escape(node.astext())}</span>')
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed equation with its number."""
    self.body.append(self.starttag(node, "div", CLASS="equation"))
    tex = inside_equation(equation_tex(node.astext()))
    self.body.append(f'<span class="tex display">{escape(tex)}</span>')
    if node.get("number"):
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode
