r"""Formulas for print: TeX as Typst, with words for screen readers."""

import functools
import re
from pathlib import Path

from byhand.mathematics.page import ROLES, TemmlError
from byhand.mathematics.scripts import ScriptError, call
from byhand.mathematics.spoken import spoken
from byhand.press.markup import string
from mha.views.colours import PAGE_COLOURS

FOLDER = Path(__file__).parent
TEX2TYPST = (FOLDER / "tex2typst.js", FOLDER / "tex2typst" / "tex2typst.min.js")
PREPARED = (
    (r"\{,\}", r"\\text{,}"),
    (r"\\([lr])Vert(?![A-Za-z])", lambda m: {"l": r"\left", "r": r"\right"}[m[1]] + r"\|"),
    (r"\\([lr])vert(?![A-Za-z])", lambda m: {"l": r"\left", "r": r"\right"}[m[1]] + "|"),
    (r"\\mathrm(\{[A-Za-z]{2,}\})(?=\s*(?:\(|\\left|\\big))", r"\\operatorname\1"),
    (r"\\mathrm(\{[A-Za-z]{2,}\})", r"\\text\1"),  # a word, not letters in a row
    (r"\\emph(\{[^{}]*\})", r"}\\mathit\1\\text{"),
    (r"\\text\{\}", ""),
    (r"(\\textstyle\s*\\[a-z]+)", r"{\1}"),
)
"""What tex2typst reads otherwise than TeX, and what it reads as TeX does."""
ROLE_LETTER = re.compile(r'"[^"]*"|(?<![A-Za-z0-9#.])([QKV])(?![A-Za-z0-9])')
"""A text, which stays as it is, or a letter that has a colour on pages too."""
ITALIC = re.compile(r'(?<=") ?italic\(((?:\w )*\w)\) ?(?=")')  # a word amid a text


class FormulaError(ValueError):
    """Raised if some TeX has no form for print; the message has the TeX and the reason."""

    def __init__(self, tex: str, why: str) -> None:
        super().__init__(f"TeX `{tex}` cannot be turned into Typst: {why}")


def formula(tex: str, *, display: bool = False, number: str = "") -> str:
    r"""Return a formula as Typst code, with its spoken words as alternative text.

    The TeX is the content of an equation: ``aligned``, not ``align``. A displayed formula may have
    a number.

    Raises
    ------
    FormulaError
        If the TeX cannot be converted.
    """
    words, code = _turned(tex, display)
    if not display:
        return f"m({string(words)}, ${code}$)"
    numbered = f", number: {string(number)}" if number else ""
    return f"displayed({string(words)}, ${code}${numbered})"


@functools.cache
def _turned(tex: str, display: bool) -> tuple[str, str]:
    try:
        words = spoken(tex, display=display)
    except TemmlError as error:
        raise FormulaError(tex, str(error)) from None
    try:
        typst = call(TEX2TYPST, "turn", _prepared(tex))
    except ScriptError as error:
        raise FormulaError(tex, str(error).strip().splitlines()[-1]) from None
    code = ITALIC.sub(lambda m: f"#emph[{m[1].replace(' ', '')}]", typst)
    return words or tex, ROLE_LETTER.sub(lambda m: _tinted(m[1]) if m[1] else m[0], code)


def _tinted(letter: str) -> str:
    """Return a letter in the colour of queries, keys or values; the space ends the code."""
    colour, _ = PAGE_COLOURS[ROLES[letter]]
    return f"#text(fill: rgb({string(colour)}), ${letter}$) "


def _prepared(tex: str) -> str:
    r"""Return TeX rewritten where tex2typst reads it differently from TeX.

    Examples
    --------
    >>> print(_prepared(r"1{,}000"))
    1\text{,}000
    >>> print(_prepared(r"\text{row \emph{cat}}, \textstyle\sum_i"))
    \text{row }\mathit{cat}, {\textstyle\sum}_i
    """
    for pattern, turned in PREPARED:
        tex = re.sub(pattern, turned, tex)
    return tex
