"""HTML in the text of pages: comments and elements without an end, and ends without a start.

Markdown passes HTML to the page as it is. An open comment hides the rest of the page, and an open
element encloses it.
"""

import re
from collections.abc import Iterator

from byhand.checking.sources import Fault, Line, Page, without_inline_code

# A tag begins with a letter; <https:...> and <a@b.c> are addresses, and \<word\> is text.
TOKEN = re.compile(
    r"(?<!\\)(<!--|-->|<(/?)([A-Za-z][A-Za-z0-9-]*)(?=[\s/>]|$)"
    r"((?:\"[^\"]*\"|'[^']*'|[^>])*)(>?))"
)
FORMULA = re.compile(r"(?<!\\)\$[^$]*\$")
WITHOUT_END = (
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"),
    *("track", "wbr"),
)


def unclosed_elements(page: Page) -> Iterator[Fault]:
    """Find comments and elements of HTML that have no end, and ends without a start."""
    lines = [(n, FORMULA.sub(" ", without_inline_code(text))) for n, text in page.prose]
    yield from html_faults(lines)


def html_faults(lines: list[Line]) -> Iterator[Fault]:
    """Yield the faults of a text with HTML, which is given in lines.

    Examples
    --------
    >>> list(html_faults([(1, "<b>One</b> <i>two")]))
    [(1, '<i> has no end; </i> is wanted')]
    >>> list(html_faults([(1, "<!-- One"), (2, "two</p>")]))
    [(1, 'the comment has no end; --> is wanted')]
    """
    text = "\n".join(line for _, line in lines)
    opened: list[tuple[str, int]] = []  # names and lines of elements without an end so far
    comment = 0  # the line of an open comment
    for found in TOKEN.finditer(text):
        number = lines[text[: found.start()].count("\n")][0]
        token, is_end, name = found[1], found[2], (found[3] or "").lower()
        if comment:
            comment = 0 if token.endswith("-->") else comment
        elif token == "<!--":
            comment = number
        elif token == "-->":
            continue  # an arrow
        elif not found[5]:
            yield number, f"the tag <{found[2]}{name} has no end; > is wanted"
            return
        elif is_end:
            if name not in [one for one, _ in opened]:
                yield number, f"</{name}> ends nothing; <{name}> is wanted before"
                return
            while opened[-1][0] != name:
                yield _without_end(*opened.pop())
            opened.pop()
        elif name not in WITHOUT_END and not found[4].rstrip().endswith("/"):
            opened.append((name, number))
    if comment:
        yield comment, "the comment has no end; --> is wanted"
    yield from (_without_end(*one) for one in opened)


def _without_end(name: str, number: int) -> Line:
    return number, f"<{name}> has no end; </{name}> is wanted"
