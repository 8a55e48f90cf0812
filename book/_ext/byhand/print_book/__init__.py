"""The book on paper: the pages put together as one document, which `press` sets.

`book` begins: it takes the pages as the build of the site read them, in the order that a `Document`
asks for, and takes out of each what only a screen can show. `references` sees to it that nothing on
paper refers to what is not there, and what of all numbers comes along; `goals` says what a
reference leads to, and which number that has. `terms` marks what the index names.
`writer` then writes node by node as Typst's source, with `mathematics` and `tables`. `builder` is
what Sphinx takes all this for: one more format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    from byhand.print_book.builder import PrintBuilder

    app.add_builder(PrintBuilder)
