"""Forbidden text: the patterns of ``patterns.toml`` and the phrases of ``wording.toml``."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from byhand.checking.sources import (
    Fault,
    Finding,
    Line,
    Page,
    Project,
    without_code,
    without_inline_code,
)

HERE = Path(__file__).parent
PATTERNS = tomllib.loads((HERE / "patterns.toml").read_text("utf-8"))
WORDING = tomllib.loads((HERE / "wording.toml").read_text("utf-8"))["phrase"]
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
    """Find conflict marks, hidden characters and invalid bytes in every source."""
    for file, text in project.files(*SOURCES):
        lines = text.replace("\r\n", "\n").split("\n")
        yield from (Finding(file, *wrong) for wrong in find_matches("source", enumerate(lines, 1)))


def forbidden_content(page: Page) -> Iterator[Fault]:
    """Find active elements, external resources, and code whose results are not reproducible."""
    lines = [(n, without_inline_code(line)) for n, line in enumerate(page.lines, 1)]
    yield from find_matches("page", lines)
    yield from find_matches("loaded", lines)
    for before, source in page.code_sources():
        yield from find_matches("code", enumerate(source.splitlines(), before + 1))


def typed_numbers(page: Page) -> Iterator[Fault]:
    """Find decimals and percentages in prose that have no role."""
    yield from find_matches("number", ((n, without_code(t)) for n, t in page.prose_and_formulas))


def find_matches(kind: str, lines: Iterable[Line]) -> Iterator[Fault]:
    """Yield each match of the patterns of a kind, with its line and message."""
    for number, line in lines:
        for pattern in PATTERNS[kind]:
            for match in re.finditer(pattern["pattern"], line):
                message = pattern["message"].format(
                    match[0], *match.groups(), name=character_name(match[0])
                )
                yield number, message


def character_name(found: str) -> str:
    r"""Return the name of the first character of a match.

    Examples
    --------
    >>> character_name("\x00"), character_name("\u202e")
    ('a NUL byte', 'U+202E RIGHT-TO-LEFT OVERRIDE')
    """
    if found == "\x00":
        return "a NUL byte"
    name = unicodedata.name(found[:1], "a control character")
    return f"U+{ord(found[:1]):04X} {name}"


def avoided_phrases(page: Page) -> Iterator[Fault]:
    """Find phrases that the book avoids; a phrase may continue on the next line."""
    lines = [
        (number, "" if text.lstrip().startswith(">") else without_code(text))
        for number, text in page.prose
    ]
    text = "\n".join(line for _, line in lines)
    for phrase in WORDING:
        for found in re.finditer(phrase["pattern"], text, re.IGNORECASE):
            number = lines[text[: found.start()].count("\n")][0]
            words = " ".join(found[0].split())
            yield number, f'"{words}" is not the book\'s; write {phrase["wanted"]}'
