"""What a source may not hold, whatever it says: conflict marks, hidden characters, other bytes."""

import re
import unicodedata
from collections.abc import Iterator

from byhand.checking.sources import Finding, Project

CONFLICT = re.compile(r"(<{7}|>{7}|\|{7})(?: |$)")
TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # they turn the text's direction
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff]")
SOURCES = (
    "_config.yml",
    "_toc.yml",
    "book/*.md",
    "book/[!_]*/**/*.md",
    "book/references.bib",
    "mha/examples/*.toml",
    "mha/audit/sources/**/*.json",
    "mha/audit/sources/**/*.toml",
)


def check(project: Project) -> Iterator[Finding]:
    """Look at each line of every source."""
    for file, text in project.files(*SOURCES):
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            for message in faults(line):
                yield Finding(file, number, message)


def faults(line: str) -> Iterator[str]:
    """Yield what is wrong with the characters of one line."""
    if found := CONFLICT.match(line):
        yield f"{found[1]} is left from a merge; decide which version stands"
    if found := TURNING.search(line):
        yield f"{named(found[0])} turns the direction of what follows; take it out"
    if found := UNSEEN.search(line):
        yield f"{named(found[0])} cannot be seen; take it out"
    if "\N{REPLACEMENT CHARACTER}" in line:
        yield "these bytes are not UTF-8; save the file as UTF-8"


def named(character: str) -> str:
    r"""Return what a character is called.

    Examples
    --------
    >>> named("\x00"), named("\u202e")
    ('a NUL byte', 'U+202E RIGHT-TO-LEFT OVERRIDE')
    """
    if character == "\x00":
        return "a NUL byte"
    name = unicodedata.name(character, "a control character")
    return f"U+{ord(character):04X} {name}"
