"""Print the book, and the parts that everything printed shares.

`press` turns Typst's source into a PDF. `markup`, `formulas`, `tables` and `drawings` write pieces of
that source; `style.typ` says how they look; `typefaces` has the fonts. The commands import these
without Sphinx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # worksheets are printed without waiting for Sphinx
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    from byhand.print_book import latex

    return latex.setup(app)
