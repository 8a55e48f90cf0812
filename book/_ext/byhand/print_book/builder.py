"""What Sphinx takes the printed document for: one more format, whose pages are all in one file."""

from sphinx.builders.dummy import DummyBuilder


class PrintBuilder(DummyBuilder):
    """Gives every page an address; `book` writes."""

    name = format = "typst"

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """Return an address for every page; what is left out is named afterwards."""
        return f"%{docname}"

    def get_relative_uri(self, from_: str, to: str, typ: str | None = None) -> str:
        """Return the same: all pages are in one file."""
        return f"%{to}"
