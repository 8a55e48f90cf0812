"""Works of the bibliography: entries that can be read, and fields by which a work is found."""

import re
from collections.abc import Iterator

from pybtex.database import Entry, parse_string
from pybtex.exceptions import PybtexError

from byhand.bibliography import authors_and_year
from byhand.checking.sources import Fault, nearest

ENTRY = re.compile(r"\s*@(\w+)\s*\{\s*([^,\s]*)")
FIELD = re.compile(r"\s*(\w+)\s*=")
KINDS = ("article", "book", "incollection", "inproceedings", "misc", "phdthesis", "techreport")
ADDRESS_FIELDS = {
    "doi": (r"10\.\d{4,}/\S+", "10.1000/182"),
    "eprint": (r"\d{4}\.\d{4,5}(v\d+)?|[a-z-]+(\.[A-Z]{2})?/\d{7}", "1706.03762"),
    "url": (r"https?://[^\s/]+\.\S+", "https://..."),
}
"""The fields by which a work is found: a pattern and an example of each."""

CITED_BY = {
    "author": (r"(?s).*\w.*", "Ba, Jimmy"),
    "title": (r"(?s).*\w.*", "Layer Normalization"),
    "year": (r"\d{4}[a-z]?", "2016"),
}
"""The fields from which a citation is made."""

OTHERS = (
    *("archiveprefix", "booktitle", "edition", "editor", "institution", "journal", "note"),
    *("number", "pages", "primaryclass", "publisher", "school", "series", "volume"),
)
FIELDS = {**ADDRESS_FIELDS, **CITED_BY, **dict.fromkeys(OTHERS, CITED_BY["title"])}


def bibliography_faults(file: str, text: str) -> Iterator[Fault]:
    """Find invalid entries, and works without an address or with the citation of another."""
    lines = text.split("\n")
    found = {entry[2]: i for i, line in enumerate(lines, 1) if (entry := ENTRY.match(line))}
    try:
        entries = parse_string(text, "bibtex").entries
    except PybtexError as error:
        key = str(error).removeprefix("repeated bibliography entry: ")
        line = getattr(error, "lineno", found.get(key, 1))
        yield line, f"this is not BibTeX: {error.args[0]}"
        return
    first: dict[str, str] = {}
    for key, entry in entries.items():
        faults = [*_field_faults(entry, lines, found[key])]
        yield from faults
        if not faults:
            label = ", ".join(authors_and_year(entry))
            if (other := first.setdefault(label, key)) != key:
                what = f"{key} and {other} are both cited as {label}"
                yield found[key], f"{what}; a letter behind each year is wanted"


def _field_faults(entry: Entry, lines: list[str], begin: int) -> Iterator[Fault]:
    """Find a kind and fields of an entry that are unknown, missing or faulty."""
    given = {
        **entry.fields,
        **{role: " and ".join(map(str, who)) for role, who in entry.persons.items()},
    }
    places: dict[str, int] = {}  # the lines of the fields
    for number, line in enumerate(lines[begin:], begin + 1):
        if ENTRY.match(line):
            break
        if field := FIELD.match(line):
            places.setdefault(field[1].lower(), number)
    if entry.type not in KINDS:
        yield begin, f"unknown kind of work {entry.type!r}; {nearest(entry.type, KINDS)}"
    for name, value in given.items():
        place = places.get(name.lower(), begin)
        if name.lower() not in FIELDS:
            yield place, f"unknown field {name!r}; {nearest(name.lower(), FIELDS)}"
            continue
        pattern, example = FIELDS[name.lower()]
        if not re.fullmatch(pattern, value):
            yield place, f"{name} is {value!r}; a value such as {example} is wanted"
    names = {name.lower() for name in given}
    for name in CITED_BY:
        if name not in names:
            yield begin, f"the work has no {name}; it is cited by author and year"
    if not names & ADDRESS_FIELDS.keys():
        yield begin, "nothing says where this work is found; doi, eprint or url is wanted"
