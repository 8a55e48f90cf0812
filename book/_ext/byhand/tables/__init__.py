"""Tables of numbers: written, not parsed.

A view of `mha.views` hands a table over as data, in the directive ``{numbers}``. `element` makes
one element of it, numbered as a table, whatever number of cells it has. `marks` reads the few marks
that a label may hold, and the element is written once for each form: `page` as HTML, with how much
room the parts of a block want, `paper` for print.
"""

from sphinx.application import Sphinx

from byhand.tables import element, page


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_enumerable_node(element.numbers, "table", html=(page.visit, None))  # type: ignore[arg-type]
    app.add_directive("numbers", element.Numbers)
