"""The list of works: with the labels by which the text cites them, and in their order.

A setting in `_config.yml`, ``bibtex_default_style: cited``, chooses it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style import FormattedEntry
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting import BaseSortingStyle
from sphinx.application import Sphinx

from byhand.citations import authors_and_year


class CitedLabels(BaseLabelStyle):
    """Labels as the text has them: "Vaswani et al., 2017"."""

    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        """Yield a label for each entry."""
        yield from (", ".join(authors_and_year(entry)) for entry in sorted_entries)


class CitedOrder(BaseSortingStyle):
    """The order in which a reader looks a label up."""

    def sorting_key(self, entry: Entry) -> tuple[str, str]:
        """Return what stands where in the list."""
        who, year = authors_and_year(entry)
        return who.lower(), year


class CitedStyle(PlainStyle):
    """These labels, in this order.

    The preview asks for all works after each edit, so what a work looks like is kept.
    """

    default_label_style = CitedLabels
    default_sorting_style = CitedOrder
    formatted: ClassVar[dict[tuple[int, str], tuple[Entry, FormattedEntry]]] = {}

    def format_entry(self, label: str, entry: Entry, bib_data: Any = None) -> FormattedEntry:
        """Return a work as it is printed."""
        key = id(entry), label  # the entry is kept too, so no other gets its id
        if key not in self.formatted:
            self.formatted[key] = entry, super().format_entry(label, entry, bib_data)
        return self.formatted[key][1]


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the style known by its name."""
    register_plugin("pybtex.style.formatting", "cited", CitedStyle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
