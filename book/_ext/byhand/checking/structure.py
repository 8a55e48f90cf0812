"""The structure of a page: errors in fences, headings, tables and images, which Markdown hides."""

import re
from collections.abc import Iterator

from byhand.checking.patterns import typed_numbers
from byhand.checking.sources import (
    DECK,
    FENCE,
    Fault,
    Page,
    consecutive_lines,
    without_inline_code,
)

UNDERLINE = re.compile(r"\s{0,3}(=+|-+)\s*")
HEADING = re.compile(r"(#{1,6})\s+\S")
RULE = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?\|?\s*")
PIPE = re.compile(r"(?<!\\)\|")
IMAGE = re.compile(r"!\[([^\]]*)\]\(\s*<?([^)>\s]*)")
TAG = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
ALT = re.compile(r"""\balt\s*=\s*("[^"]+"|'[^']+'|[^\s"'>]+)""", re.IGNORECASE)
NO_IMAGE = "an image has no alternative text; a description in {} is wanted"


def structure_faults(page: Page) -> Iterator[Fault]:
    """Find faults of fences, or if there are none, of headings, tables, images and numbers."""
    broken = list(fence_faults(page))
    yield from broken
    for check in (heading_faults, table_faults, image_faults, typed_numbers) if not broken else ():
        yield from check(page)


def fence_faults(page: Page) -> Iterator[Fault]:
    """Find the first fence that is unclosed, or in which another opens before its end."""
    for block in page.blocks:
        wanted = f"; a line {block.fence} is wanted at the end of this block"
        for number, text in block.body:
            inner = FENCE.match(text)
            if inner and inner[1] == block.fence and inner[2].strip().startswith("{"):
                message = f"the fence is still open where another opens, in line {number}"
                yield block.line, message + wanted
                return
        if not block.closed:
            yield block.line, f"the fence is never closed{wanted}"
            return


def heading_faults(page: Page) -> Iterator[Fault]:
    """Find a missing or second title, and headings that skip a level."""
    before = 0
    last = (0, "")  # the line before, with its number
    for number, text in page.prose:
        is_underline = UNDERLINE.fullmatch(text) and not page.file.endswith(DECK)
        if is_underline and last[0] == number - 1 and last[1].strip()[:1].isalnum():
            yield number, "an underline makes the line before a heading; `#` or `##` is wanted"
        last = (number, text)
        if not (found := HEADING.match(text)):
            continue
        level = len(found[1])
        if before == 0 and level > 1:
            yield number, "the first heading is no title; `# Title` is wanted"
        elif before and level == 1:
            yield number, "a second title; `##` is wanted"
        elif before and level > before + 1:
            wanted = "#" * (before + 1)
            yield number, f"the heading skips a level; `{wanted}` is wanted"
        before = level
    if before == 0:
        yield page.front_length + 1, "the page has no title; `# Title` is wanted"


def table_faults(page: Page) -> Iterator[Fault]:
    """Find tables with rows of different lengths, or without a rule below the header."""
    for rows in consecutive_lines(line for line in page.prose if line[1].lstrip().startswith("|")):
        wanted = _cells(rows[0][1])
        if len(rows) < 2 or not RULE.fullmatch(rows[1][1]):
            message = "a table has no rule below its header; a line such as | --- | --- | is wanted"
            yield rows[min(1, len(rows) - 1)][0], message
            continue
        for number, text in rows[1:]:
            if (count := _cells(text)) != wanted:
                yield number, f"this row has {count} cells; {wanted} are wanted, as in the header"


def _cells(row: str) -> int:
    return len(PIPE.split(row.strip().removeprefix("|"))) - row.rstrip().endswith("|")


def image_faults(page: Page) -> Iterator[Fault]:
    """Find images without alternative text."""
    for number, text in page.prose:
        prose = without_inline_code(text)
        if any(not found[1].strip() for found in IMAGE.finditer(prose)):
            yield number, NO_IMAGE.format("![...](file)")
        if any(not ALT.search(found[0]) for found in TAG.finditer(prose)):
            yield number, NO_IMAGE.format('alt="..."')
    for block in page.blocks:
        if block.name in ("image", "figure") and not block.options.get("alt", (0, ""))[1]:
            yield block.line, NO_IMAGE.format(":alt:")
