"""Make the content of pages fit for print: what is for the screen alone goes or changes."""

import re

from docutils import nodes
from sphinx.util import logging

from byhand.document import BOOK

logger = logging.getLogger(__name__)

# What a source prints beside a number is shown on demand; a button leads to another page. A cell
# has its tags as classes.
SCREEN_ONLY = {"printed", "screen-only", "tag_screen-only", "sd-btn"}
OBJECT = re.compile(r"^<[\w.]+( object)?( at 0x[0-9a-f]+)?>$")


def fit_for_print(page: nodes.document, *, code: bool) -> None:
    """Change a page in place; without `code` a line says where the code is."""
    leave_out_screen_only(page)
    if not code:
        name_code_in_place(page)
    refuse_outputs_without_print_form(page)


def leave_out_screen_only(book: nodes.document) -> None:
    """Remove what only a screen can show."""
    for node in list(book.findall(nodes.Element)):
        if SCREEN_ONLY.intersection(node.get("classes", [])) and node.parent is not None:
            node.parent.remove(node)


def name_code_in_place(page: nodes.document) -> None:
    """Put a line in the place of all code, which says where it is."""
    title = page.next_node(nodes.title)
    blocks = [b for b in page.findall(nodes.literal_block) if "output" not in b["classes"]]
    for block in blocks:
        line = nodes.emphasis("", f"Code: on the page “{title.astext()}” of {BOOK}.")
        block.replace_self(nodes.paragraph("", "", line))


def refuse_outputs_without_print_form(book: nodes.document) -> None:
    """Warn, with file and line, of a cell whose output is an object that cannot be printed."""
    for block in book.findall(nodes.literal_block):
        if "output" in block.get("classes", []) and OBJECT.match(block.astext().strip()):
            logger.warning(
                "this cell's output has no print form: %s", block.astext().strip(), location=block
            )
