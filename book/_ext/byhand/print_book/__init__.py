"""The book on paper: the pages put together as one document, which `press` sets.

`book` begins: it takes the pages as the build of the site read them, in the order that a `Document`
asks for, and takes out of each what only a screen can show. `references` says what a reference
leads to, and which number that has, sees to it that nothing on paper refers to what is not there,
and what of all numbers comes along. `terms` marks what the index names. `writer` then writes node
by node as Typst's source, with `mathematics` and `tables`.
"""

from sphinx.application import Sphinx
from sphinx.builders.dummy import DummyBuilder


class PrintBuilder(DummyBuilder):
    """What Sphinx takes all this for: one more format. It gives pages an address; `book` writes."""

    name = format = "typst"

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """Return an address for every page; what is left out is named afterwards."""
        return f"%{docname}"

    def get_relative_uri(self, from_: str, to: str, typ: str | None = None) -> str:
        """Return the same: all pages are in one file."""
        return f"%{to}"


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_builder(PrintBuilder)
