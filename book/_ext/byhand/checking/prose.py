"""The prose of a page, apart from its code; and the numbers that are typed into it.

Write ``{eval}`shown(run.weights[0, 0, 1])` `` for what code can compute, and
``{given}`0.80` `` for what is given: an input, a definition, a number that a source prints.
Code, inline code, links and roles are left alone.
"""

import re
from collections.abc import Iterator

NUMBER = re.compile(r"(?<![\w.,])\d+(?:(?:\.\d+)?\s?%|[.,]\d+(?![\w.]*\.\d)\b)")
FENCE = re.compile(r"^\s*(`{3,}|~{3,}|:{3,})(.*)$")
IGNORED = (
    re.compile(r"(?:\{[\w:-]+\})?(`+)(?!`).*?(?<!`)\1(?!`)"),  # code and roles
    re.compile(r"\]\([^)]*\)"),  # a link's address
    re.compile(r"<[^>]*>"),
)
CODE = re.compile(r"^(\{(code-cell|code|code-block|literalinclude|list-table)\}|\w|$)")


def bare_numbers(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each decimal or percentage typed into a page's prose."""
    for line, prose in prose_lines(text):
        for match in NUMBER.finditer(without_code(prose)):
            yield line, match.group()


def without_code(line: str) -> str:
    """Return a line of prose with blanks for inline code, roles, addresses and tags.

    Examples
    --------
    >>> without_code("Call `softmax`, see [this](x.html).").split()
    ['Call', ',', 'see', '[this', '.']
    """
    for pattern in IGNORED:
        line = pattern.sub(" ", line)
    return line


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a page that a reader reads as prose.

    Left out are the front matter, code, and the names among a directive's options. A cell's
    options count: a figure's caption stands there.
    """
    lines = text.splitlines()
    start = lines.index("---", 1) + 1 if lines[:1] == ["---"] and "---" in lines[1:] else 0
    code: str | None = None  # the fence that closes the code we are in
    options = False  # in a cell's options rather than in its code
    dashes = 0
    for number, line in enumerate(lines[start:], start + 1):
        fence = FENCE.match(line)
        if code is None:
            if fence and CODE.match(fence.group(2).strip()) and fence.group(2).strip():
                code, options, dashes = fence.group(1), "code-cell" in fence.group(2), 0
            elif not line.startswith("%"):
                yield number, line
        elif fence and fence.group(1).startswith(code) and not fence.group(2).strip():
            code = None
        elif options:
            if line.strip() == "---":
                dashes += 1
                options = dashes < 2
            elif dashes == 0 and not line.startswith(":"):
                options = False
            else:
                yield number, line
