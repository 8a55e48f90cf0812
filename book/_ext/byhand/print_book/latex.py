"""Print the book: what the LaTeX builder does differently from the pages.

The LaTeX builder takes the pages that the HTML build read and computed, and computes none again:
nothing here changes how a page is read, and the settings below are of the kind that only a
writer looks at.
"""

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx_exercise.nodes import (
    exercise_enumerable_node,
    exercise_latex_number_reference,
    exercise_node,
    solution_node,
)

from byhand.document import Document
from byhand.print_book import style, tex_in_pages, writer
from byhand.print_book.assembly import BookBuilder


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("config-inited", configure, priority=900)
    app.add_builder(BookBuilder, override=True)
    app.connect("builder-inited", choose_writer)
    for node, handlers in (
        (exercise_node, (writer.visit_exercise, writer.depart_exercise)),
        (exercise_enumerable_node, (writer.visit_exercise, writer.depart_exercise)),
        (solution_node, (writer.visit_solution, writer.depart_solution)),
        (exercise_latex_number_reference, (writer.BookTranslator.visit_number_reference, None)),
    ):
        app.add_node(node, override=True, latex=handlers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def choose_writer(app: Sphinx) -> None:
    """Write LaTeX our way; leave formulas as TeX in the pages of the accessible edition.

    Only now, and only for LaTeX: the theme gives its own writer to pages where no translator at
    all is registered before it looks.
    """
    if app.builder.format == "latex":
        app.set_translator("latex", writer.BookTranslator, override=True)
    if Document.load().edition == "accessible":
        tex_in_pages.register(app)


def configure(app: Sphinx, config: Config) -> None:
    """Set what the LaTeX builder needs; no setting here belongs to reading."""
    document = Document.load()
    config.latex_engine = "xelatex"
    config.latex_theme = "manual"
    config.latex_use_xindy = False
    config.latex_show_urls = "footnote"
    config.latex_table_style = ["booktabs"]
    config.latex_use_latex_multicolumn = True  # Sphinx's own is wider than its columns
    config.latex_elements = style.elements(document, config)
