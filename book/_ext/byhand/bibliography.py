"""Citations and the bibliography: authors and year, in alphabetical order.

A work is cited by its authors and its year in the text, in lists and in notebooks. Works by the
same authors of the same year have a letter after the year in the bibliography file. The setting
``bibtex_default_style: cited`` in `_config.yml` selects this style for the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pybtex.backends.plaintext import Backend as PlainText
from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.richtext import Text
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting import BaseSortingStyle

if TYPE_CHECKING:  # the checks of the sources need no Sphinx
    from sphinx.application import Sphinx


def authors_and_year(entry: Entry) -> tuple[str, str]:
    """Return the authors and the year by which a work is cited.

    Examples
    --------
    >>> from pybtex.database import Person
    >>> one, two, three = Person("Bridle, John S."), Person("Ba, Jimmy"), Person("de Jong, M.")
    >>> for people in ([one], [one, two], [three, one, two]):
    ...     print(authors_and_year(Entry("misc", {"year": "1990"}, {"author": people})))
    ('Bridle', '1990')
    ('Bridle and Ba', '1990')
    ('de Jong et al.', '1990')
    >>> authors_and_year(Entry("misc", {"year": "1990"}, {"author": [Person("{OpenAI}")]}))
    ('OpenAI', '1990')
    """
    names = [
        str(Text.from_latex(" ".join(person.prelast_names + person.last_names)))
        for person in entry.persons["author"]
    ]
    who = names[0] + " et al." if len(names) > 2 else " and ".join(names)
    return who, str(entry.fields["year"])


class CitedLabels(BaseLabelStyle):
    """Labels of the form "Vaswani et al., 2017"."""

    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        """Yield a label for each entry."""
        yield from (", ".join(authors_and_year(entry)) for entry in sorted_entries)


class CitedOrder(BaseSortingStyle):
    """Alphabetical order of the labels."""

    def sorting_key(self, entry: Entry) -> tuple[str, str]:
        """Return the authors in lower case and the year."""
        who, year = authors_and_year(entry)
        return who.lower(), year


class CitedStyle(PlainStyle):
    """A bibliography style with `CitedLabels` in `CitedOrder`."""

    default_label_style = CitedLabels
    default_sorting_style = CitedOrder


def setup(app: Sphinx) -> None:
    """Register the style by its name."""
    register_plugin("pybtex.style.formatting", "cited", CitedStyle)
    # Without registration pybtex searches all installed packages for each citation.
    register_plugin("pybtex.backends", "plaintext", PlainText, force=True)
