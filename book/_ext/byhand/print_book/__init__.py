"""Print the book, and the parts that everything printed shares.

`press` turns Typst's source into a PDF. `markup`, `formulas`, `tables` and `drawings` write pieces
of that source; `style.typ` says how they look; `typefaces` has the fonts. The commands import these
without Sphinx. Of the book, `book` puts the pages together, `references` sees to it that nothing on
paper refers to what is not there, `writer` writes, and `book.typ` sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # worksheets are printed without waiting for Sphinx
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    from byhand.print_book.builder import PrintBuilder

    app.add_builder(PrintBuilder)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
