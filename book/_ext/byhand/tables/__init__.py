"""Tables of numbers, built directly as nodes instead of parsed Markdown.

A view of `mha.views` outputs its data in the directive ``{numbers}``. `element` makes one node of
it, numbered as a table, however many cells it has. `marks` reads the Markdown marks in labels.
`page` writes the node as HTML with the widths that its parts need, and `paper` writes it as Typst.
"""

from sphinx.application import Sphinx

from byhand.tables import element, page


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_enumerable_node(element.numbers, "table", html=(page.visit, None))  # type: ignore[arg-type]
    app.add_directive("numbers", element.Numbers)
