"""Formulas as one line of text, for excerpts and headings of search results.

Indices and exponents stay marked, as `d₍k₎` and `W⁽O⁾`: `search.ts` sets them lower and higher, and
`search-engine.ts` finds `d₍k₎` by "d_k".
"""

import re
import unicodedata
from collections.abc import Iterator

from lxml import html

INDEX = "₍{}₎"
EXPONENT = "⁽{}⁾"
MAX_FORMULA_LENGTH = 48  # characters; a longer formula is not readable in one line
OMITTED = "…"
ACCENTS = {"^": "\u0302", "~": "\u0303"}  # others are combining characters already
INVISIBLE = re.compile("[\u2061-\u2064\u200b]")
RELATIONS = frozenset("=≈≠<>≤≥→←↦∈∼≪≫∝≡⇒")
SUMS = frozenset("+−±")
COMPOUND = re.compile(r"[\s+−±/⋅×·=]")
GROUPS = {"math", "mrow", "mstyle", "mpadded", "mphantom", "menclose", "mtd", "semantics"}
SPACES = {"mspace", "mtext"}


def in_one_line(math: html.HtmlElement) -> str:
    """Return the text of a formula, empty for a displayed one and "…" for a long one.

    Examples
    --------
    >>> def line(tex):
    ...     return in_one_line(html.fragment_fromstring(f"<math>{tex}</math>"))
    >>> line("<msup><mi>W</mi><mi>O</mi></msup>")
    'W⁽O⁾'
    >>> line("<mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac>")
    '1/(a + b)'
    """
    if math.get("display") == "block":
        return ""
    text = " ".join(_text(math).split())
    return text if len(text) <= MAX_FORMULA_LENGTH else OMITTED


def _text(element: html.HtmlElement) -> str:
    """Return the text of an element of MathML."""
    if element.tag in GROUPS:
        return _row(element)
    parts = [_text(child) for child in element]
    if element.tag in ("msub", "munder", "msup", "mover", "msubsup", "munderover"):
        return _with_indices(element.tag, parts)
    if element.tag == "mfrac":
        return "/".join(map(_bracketed, parts))
    if element.tag == "msqrt":
        return f"√{_bracketed(_row(element))}"
    if element.tag == "mroot":
        return f"{EXPONENT.format(_without_spaces(parts[1]))}√{_bracketed(parts[0])}"
    if element.tag in ("mtr", "mlabeledtr"):
        return ", ".join(parts)
    if element.tag == "mtable":
        return "; ".join(parts)
    text = unicodedata.normalize("NFKC", element.text or "")
    return text if element.tag in SPACES else INVISIBLE.sub("", text).strip()


def _with_indices(tag: str, parts: list[str]) -> str:
    """Return a base with its index, its exponent or its accent."""
    base, *scripts = parts
    accent = ACCENTS.get(scripts[0], scripts[0])
    if len(accent) == 1 and unicodedata.combining(accent):
        return base + accent
    forms = {"msub": (INDEX,), "munder": (INDEX,), "msup": (EXPONENT,), "mover": (EXPONENT,)}
    texts = map(_without_spaces, scripts)
    for form, script in zip(forms.get(tag, (INDEX, EXPONENT)), texts, strict=True):
        base += script if set(script) == {"′"} else form.format(script) if script else ""
    return base


def _row(element: html.HtmlElement) -> str:
    """Return elements side by side, with spaces around relations, sums and names of functions."""
    shown = [(child.tag, part) for child in _without_groups(element) if (part := _text(child))]
    text, is_after_name = "", False
    for i, (tag, part) in enumerate(shown):
        is_after_operand = bool(re.search(r"[\w)\]₎⁾…]$", text))
        is_before_operand = i + 1 < len(shown) and bool(re.match(r"[\w(√∑]", shown[i + 1][1]))
        is_name = tag == "mi" and bool(re.fullmatch(r"[^\W\d_]{2,}", part))
        if part in RELATIONS or (part in SUMS and is_after_operand):
            text += f" {part} "
        elif part in {",", ";"}:
            text += f"{part} "
        elif tag == "mfrac" and (is_after_name or is_before_operand):
            text += f"({part})"
        elif (is_name and is_after_operand) or (is_after_name and part[0].isalnum()):
            text += f" {part}"
        else:
            text += part
        is_after_name = is_name
    return text


def _without_groups(element: html.HtmlElement) -> Iterator[html.HtmlElement]:
    """Yield the children of a row, and those of the groups in it."""
    for child in element:
        if child.tag in GROUPS:
            yield from _without_groups(child)
        else:
            yield child


def _bracketed(text: str) -> str:
    """Return text in brackets if it would not be read as one operand without them."""
    return f"({text})" if COMPOUND.search(text.strip()) or _is_product(text) else text


def _is_product(text: str) -> bool:
    """Tell whether text has several factors side by side, outside of indices and exponents."""
    outside = re.sub(r"[₍⁽][^₎⁾]*[₎⁾]", "", text)
    return bool(re.search(r"(?<![^\W\d_])(?:[\d.]+[^\W\d_]|[^\W\d_]{2,3}$|.+[∑√].+)", outside))


def _without_spaces(text: str) -> str:
    """Return text without spaces, so that an excerpt is not cut within it."""
    return re.sub(r"\s+", "", text)
