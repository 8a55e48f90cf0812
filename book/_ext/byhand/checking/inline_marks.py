"""Marks of Markdown without their second half or without content, which a page shows as text."""

import html.entities
import re
from collections.abc import Iterator

from byhand.checking.sources import FENCE, Fault, Page, consecutive_lines

EMPTY_ROLE = re.compile(r"\{(\w[\w:-]*)\}`\s*`")
ENTITY = re.compile(r"&(\w+);")
LINK_WITH_BLANK = re.compile(r"(?<!\\)\]\(((?!<)[^()\"']*?\S\s+[^()\"'\s][^()\"']*)\)")
REFERENCE = re.compile(r"(?<![\\\]!])\[([^\[\]^]+)\]\[([^\[\]]*)\]")
DEFINITION = re.compile(r"^\s{0,3}\[([^\]^]+)\]:\s*\S", re.MULTILINE)
WITHOUT_HOST = re.compile(r"\]\((https?:/{0,2}(?=[\s)]))")
LEFT_OVER = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
MERGE = re.compile(r"={7}")
ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")


def unpaired_marks(page: Page) -> Iterator[Fault]:
    """Find code, formulas and strong words that begin and do not end, in each paragraph."""
    for first, text in _paragraphs(page):
        for mark, name in (("`", "code"), ("$", "formula"), ("**", "text in bold")):
            text = _without(text, mark)
            if mark in text:
                number = first + text[: text.index(mark)].count("\n")
                yield number, f"the {name} has no end in its paragraph; a second {mark} is wanted"
                break


def _paragraphs(page: Page) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a page with the line of each, and with blanks for escapes."""
    words = (line for line in page.prose if line[1].strip() and not FENCE.match(line[1]))
    for paragraph in consecutive_lines(words):
        text = "\n".join(line for _, line in paragraph)
        yield paragraph[0][0], ESCAPED.sub("  ", text)


def _without(text: str, mark: str) -> str:
    """Return a paragraph with the letter x for each character between two marks."""
    pattern = {
        "`": r"(?<!`)(`+)(?!`)(?:.*?)(?<!`)\1(?!`)",
        "$": r"\$\$.+?\$\$|\$[^$]+\$",
        "**": r"\*\*(?=\S).+?\*\*",
    }[mark]
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", "x", found[0]), text, flags=re.DOTALL)


def unpaired_displays(page: Page) -> Iterator[Fault]:
    """Find a displayed formula between `$$` that has no end."""
    lines = [number for number, text in page.prose if text.strip() == "$$"]
    if len(lines) % 2:
        yield lines[-1], "the formula has no end; a second line $$ is wanted"


def empty_marks(page: Page) -> Iterator[Fault]:
    """Find empty roles, links without an address, and text left from a merge or a draft."""
    defined = {name.lower() for name in DEFINITION.findall(page.text)}
    for number, text in page.prose:
        for role in EMPTY_ROLE.findall(text):
            yield number, f"{{{role}}} has no content; text between the backticks is wanted"
        if MERGE.fullmatch(text.rstrip()):
            yield number, "======= is left from a merge; decide which version to keep"
    for first, paragraph in _paragraphs(page):
        for number, line in enumerate(_without(paragraph, "`").split("\n"), first):
            yield from ((number, message) for message in _empty_marks(line, defined))


def _empty_marks(line: str, defined: set[str]) -> Iterator[str]:
    for address in LINK_WITH_BLANK.findall(line):
        yield f"the address {address!r} has a space; a name without spaces is wanted"
    for address in WITHOUT_HOST.findall(line):
        yield f"{address} is no address; a whole address is wanted"
    for words, name in REFERENCE.findall(line):
        if (name or words).lower() not in defined:
            yield f"the link [{words}][{name}] has no address; [{words}](...) is wanted"
    for name in ENTITY.findall(line):
        if f"{name};" not in html.entities.html5:
            yield f"&{name}; is no character of HTML; the character itself is wanted"
    if found := LEFT_OVER.search(line):
        yield f"{found[0]} is left over; finish it, or keep it in an issue"
