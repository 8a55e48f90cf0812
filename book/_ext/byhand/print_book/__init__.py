"""The printed book: the pages joined as one document, which `press` typesets.

`book` takes the pages as the HTML build read them, in the order of a `Document`, and removes
content for screens. `references` finds the target and the number of each reference, names targets
outside the document, and removes tables under "All numbers" that nothing cites. `terms` marks the
terms of the index. `writer` then writes each node as Typst source, with `mathematics` and `tables`.
"""

from sphinx.application import Sphinx
from sphinx.builders.dummy import DummyBuilder


class PrintBuilder(DummyBuilder):
    """A Sphinx builder that gives pages addresses; `book` writes the document."""

    name = format = "typst"

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """Return an address for every page, also for omitted ones."""
        return f"%{docname}"

    def get_relative_uri(self, from_: str, to: str, typ: str | None = None) -> str:
        """Return the address of the target, since all pages are in one file."""
        return f"%{to}"


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_builder(PrintBuilder)
