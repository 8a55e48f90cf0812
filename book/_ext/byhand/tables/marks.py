r"""Markdown marks in the text of a cell: code, formulas, strong and emphasised words, escapes."""

import re
from collections.abc import Iterator
from html import escape

from byhand.mathematics.page import inline_math

MARKS = re.compile(
    r"\\(?P<text>[!-/:-@\[-`{-~])"
    r"|\{sup\}`(?P<sup>[^`]+)`"
    r"|\{sub\}`(?P<sub>[^`]+)`"
    r"|(?P<fence>`+) ?(?P<code>.+?) ?(?P=fence)"
    r"|\$(?P<math>[^$]+)\$"
    r"|\*\*(?P<strong>(?:\\.|[^*\\])+)\*\*"
    r"|\*(?P<em>(?:\\.|[^*\\])+)\*"
)
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
QUOTES = str.maketrans({"'": "\N{RIGHT SINGLE QUOTATION MARK}"})


def pieces(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield the pieces of a text, each with its kind: text, code, math, strong, em, sup or sub.

    Examples
    --------
    >>> list(pieces(r"*cat*, \<end>: $d_k$"))
    [('em', 'cat'), ('text', ', '), ('text', '<'), ('text', 'end>: '), ('math', 'd_k')]
    >>> list(pieces("e{sup}`2`"))
    [('text', 'e'), ('sup', '2')]
    >>> list(pieces(r"*didn\'t*"))
    [('em', "didn't")]
    """
    end = 0
    for mark in MARKS.finditer(text):
        if mark.start() > end:
            yield "text", text[end : mark.start()]
        kind = str(mark.lastgroup)
        yield kind, ESCAPED.sub(r"\1", mark[kind]) if kind in ("strong", "em") else mark[kind]
        end = mark.end()
    if end < len(text):
        yield "text", text[end:]


def without_marks(text: str) -> str:
    r"""Return a text without its marks.

    Examples
    --------
    >>> without_marks(r"*cat*, \<end>")
    'cat, <end>'
    """
    return "".join(piece for _, piece in pieces(text))


def as_html(text: str) -> str:
    r"""Return a text as HTML.

    Examples
    --------
    >>> as_html(r"*cat*, \<end>")
    '<em>cat</em>, &lt;end&gt;'
    """
    return "".join(_html(kind, piece) for kind, piece in pieces(text))


def _html(kind: str, piece: str) -> str:
    if kind == "math":
        return inline_math(piece)
    if kind == "code":
        words = " ".join(f'<span class="pre">{escape(word)}</span>' for word in piece.split())
        return f'<code class="literal notranslate">{words}</code>'
    text = escape(piece.translate(QUOTES), quote=False)
    return text if kind == "text" else f"<{kind}>{text}</{kind}>"
