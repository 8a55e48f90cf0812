"""Tables as the book writes them, for tests of the tables on pages."""

from xml.etree import ElementTree

from docutils.core import publish_doctree
from docutils.parsers.rst import directives
from myst_parser.docutils_ import Parser
from sphinx.util.docutils import docutils_namespace

from byhand.tables.element import Numbers, numbers
from byhand.tables.page import table_html

EXTENSIONS = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "smartquotes"]


def parsed(shown):
    """Return the docutils node of a table or a block. A warning is an error."""
    settings = {"myst_enable_extensions": EXTENSIONS, "report_level": 2, "halt_level": 2}
    with docutils_namespace():  # what is registered in it is forgotten after it
        directives.register_directive("numbers", Numbers)
        document = publish_doctree(
            shown._repr_markdown_(), parser=Parser(), settings_overrides=settings
        )
    (node,) = document.children
    assert isinstance(node, numbers)
    return node


def written(part, title=""):
    """Return the HTML table of a part, as a page has it. All tags must be closed."""
    return ElementTree.fromstring(f"<table>{table_html(part, title)}</table>")


def own_text(cell):
    """Return a cell's text without the number of the source that is printed beside it."""
    printed = {id(e) for span in cell.iter("span") if "printed" in span.get("class", "")
               for e in span.iter()}  # fmt: skip
    texts = [cell.text or ""]
    for e in list(cell.iter())[1:]:
        texts += [(e.text or "") * (id(e) not in printed), (e.tail or "").strip()]
    return "".join(texts)


def body(part):
    """Return the texts of the rows of a part."""
    return [tuple(map(own_text, row)) for row in written(part).iterfind("tbody/tr")]
