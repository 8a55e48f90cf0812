"""The list of works: by author, with the labels by which the text cites them.

A setting in `_config.yml`, ``bibtex_default_style: cited``, chooses it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from string import ascii_lowercase
from typing import Any, ClassVar

from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style import FormattedEntry
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx


class CitedLabels(BaseLabelStyle):
    """Labels as the text has them: "Vaswani et al., 2017"."""

    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        """Yield a label for each entry; a letter tells equal ones apart."""
        labels = [label_of(entry) for entry in sorted_entries]
        count, met = Counter(labels), Counter[str]()
        for label in labels:
            yield label + (ascii_lowercase[met[label]] if count[label] > 1 else "")
            met[label] += 1


class CitedStyle(PlainStyle):
    """The order by author, with these labels.

    The preview asks for all works after each edit, so what a work looks like is kept.
    """

    default_label_style = CitedLabels
    formatted: ClassVar[dict[tuple[int, str], tuple[Entry, FormattedEntry]]] = {}

    def format_entry(self, label: str, entry: Entry, bib_data: Any = None) -> FormattedEntry:
        """Return a work as it is printed."""
        key = id(entry), label  # the entry is kept too, so no other gets its id
        if key not in self.formatted:
            self.formatted[key] = entry, super().format_entry(label, entry, bib_data)
        return self.formatted[key][1]


def label_of(entry: Entry) -> str:
    """Return the authors and the year, as a citation in the text has them.

    Examples
    --------
    >>> from pybtex.database import Entry, Person
    >>> one, two, three = Person("Bridle, John S."), Person("Ba, Jimmy"), Person("de Jong, M.")
    >>> for people in ([one], [one, two], [three, one, two]):
    ...     print(label_of(Entry("misc", {"year": "1990"}, {"author": people})))
    Bridle, 1990
    Bridle and Ba, 1990
    de Jong et al., 1990
    """
    names = [
        " ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]
    ]
    who = names[0] + " et al." if len(names) > 2 else " and ".join(names)
    return f"{who}, {entry.fields['year']}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the style known by its name."""
    register_plugin("pybtex.style.formatting", "cited", CitedStyle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
