"""Cells of tables without a paragraph each: on a page of numbers it would double the elements."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_node(cell_text, html=(write_nothing, write_nothing))
    app.add_post_transform(BareCells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class cell_text(nodes.General, nodes.TextElement):  # noqa: N801 - as docutils names its nodes
    """What a cell holds; it has no element of its own."""


class BareCells(SphinxPostTransform):
    """Take the only paragraph of a cell away from around its text; paper keeps it."""

    default_priority = 900  # when cells have got all that others put into them
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Change the document in place."""
        for cell in list(self.document.findall(nodes.entry)):
            if len(cell) == 1 and isinstance(cell[0], nodes.paragraph) and not cell[0]["ids"]:
                cell[0].replace_self(cell_text("", "", *cell[0].children))


def write_nothing(self: HTML5Translator, node: cell_text) -> None:
    """Leave the text to its cell."""
