r"""Formulas as spoken words, such as "softmax of Q K transposed over root d k".

TeX is converted to MathML, as on the pages, and each element is spoken. Brackets are spoken only
where they mean more than a pause. "End of" follows an element with several parts.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

from byhand.mathematics.page import to_mathml

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SIGNS, ACCENTS = WORDS["signs"], WORDS["accents"]
TRANSPOSED = {"⊤", "T", "𝖳", "⊺"}
POWERS = {"2": "squared", "3": "cubed"}
OVER_AN_INDEX = {"∑", "∏", "⨁", "max", "min", "lim", "argmax"}
SILENT = {"mspace", "none"}
NO_SOUND = {"\u2061", "\u2062", "\u2063", "\u200b"}
GROUPS = {"mrow", "mstyle", "mpadded"}


def spoken(tex: str, *, display: bool = False) -> str:
    r"""Return the words of a formula in TeX.

    Examples
    --------
    >>> spoken(r"\operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V")
    'softmax of Q K transposed over root d k, end of softmax, V'
    >>> spoken(r"x = \sum_{i=1}^{n} a_i^2")
    'x equals the sum over i equals 1 up to n of a i squared'
    >>> spoken(r"\frac{a + b}{2}")
    'the fraction a plus b over 2, end of fraction'
    >>> spoken(r"\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}")
    'matrix of 2 rows: 1, 0; 0, 1; end of matrix'
    >>> spoken(r"\mathrm{allowed}")
    'allowed'
    """
    return words_of_formula(fromstring(to_mathml(tex, display=display)))


def words_of_formula(formula: Element) -> str:
    """Return the words of a formula in MathML."""
    words = _say(formula)
    words = re.sub(r"\s*,(?:\s*,)+|\s+,", ",", " ".join(words.split()))
    return re.sub(r",? ?;", ";", words).strip(" ,.")


def _say(element: Element) -> str:
    """Return the words of an element; the elements of a row are spoken in order."""
    kind = _kind(element)
    if kind in SILENT:
        return ""
    return SAYINGS[kind](element) if kind in SAYINGS else _in_order(list(element))


def _in_order(parts: list[Element]) -> str:
    """Return the words of the elements of a row, with the meaning of their brackets."""
    words: list[str] = []
    open_functions: list[str] = []
    inside = (inner for part in parts for inner in _without_groups(part))
    parts = [part for part in inside if _kind(part) not in SILENT]
    for i, part in enumerate(parts):
        sign = _text(part)
        if _kind(part) == "mo" and sign in {"(", ")"} and not _is_fence_of_table(parts, i):
            if sign == "(":
                name = _function_before(parts[:i])
                open_functions.append(name)
                words.append("of" if name else "open bracket")
            else:
                name = open_functions.pop() if open_functions else ""
                words.append(f", end of {name}," if name else "close bracket")
        elif _is_fence_of_table(parts, i):
            words.append("by cases:" if sign == "{" else "")
        elif _is_letter_of_a_word(part) and i and _is_letter_of_a_word(parts[i - 1]):
            words[-1] += _say(part)
        else:
            words.append(_say(part))
    return " ".join(filter(None, words))


def _is_letter_of_a_word(element: Element) -> bool:
    return _kind(element) == "mi" and element.get("mathvariant") == "normal"


def _without_groups(element: Element) -> Iterator[Element]:
    """Yield the elements of a group and of groups inside it; other elements unchanged."""
    if _kind(element) in GROUPS:
        for child in element:
            yield from _without_groups(child)
    else:
        yield element


def _function_before(parts: list[Element]) -> str:
    """Return the name of the function at the end of some elements, or ""."""
    heard = [part for part in parts if _text(part) not in NO_SOUND]
    if not heard or _kind(heard[-1]) not in {"mi", "mo", "mtext", "msub", "munder"}:
        return ""
    name = _text(heard[-1] if len(heard[-1]) == 0 else heard[-1][0])
    return name if len(name) > 1 and name.isalpha() else ""


def _is_fence_of_table(parts: list[Element], i: int) -> bool:
    """Return whether an element is a bracket of a matrix, which is not spoken."""
    sign = _text(parts[i]) if _kind(parts[i]) == "mo" else ""
    beside = {"[": i + 1, "(": i + 1, "{": i + 1, "]": i - 1, ")": i - 1}.get(sign, -1)
    return 0 <= beside < len(parts) and _kind(parts[beside]) == "mtable"


def _say_text(element: Element) -> str:
    text = _text(element)
    return "" if text in NO_SOUND else SIGNS.get(text, _letters(text))


def _letters(text: str) -> str:
    """Return letters by name: Greek letters spelled out, slanted letters as plain ones."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(
        unicodedata.name(c).split()[-1].lower() + " " if "Α" <= c <= "ϖ" else c for c in plain
    ).strip()


def _say_fraction(element: Element) -> str:
    """Return "a over b", with an end if a part of it is a calculation."""
    above, below = element
    words = f"{_say(above)} over {_say(below)}"
    is_long = _has_sign(above) or _has_sign(below)
    return f"the fraction {words}, end of fraction," if is_long else words


def _has_sign(element: Element) -> bool:
    """Return whether an element contains a sum or a relation."""
    signs = {_text(e) for e in element.iter() if _kind(e) == "mo"}
    return bool(signs & {"+", "−", "-", "=", "≈", "/"})


def _say_root(element: Element) -> str:
    words = _in_order(list(element))
    return f"root of {words}, end of root," if _has_sign(element) else f"root {words}"


def _say_scripts(element: Element) -> str:
    """Return the words of a base with its index and power; a sum's index is its range."""
    base, *others = element
    below = others[0] if _kind(element) != "msup" else None
    above = others[-1] if below is None or len(others) == 2 else None
    if below is not None and _text(base) in OVER_AN_INDEX:
        end = "" if above is None else f" up to {_say(above)}"
        return f"{_say(base)} over {_say(below)}{end} of"
    words = [] if below is None else [_say(below)]
    if above is not None:  # a name belongs to the letter
        words.insert(0 if _is_name(above) else len(words), _raised(above))
    return " ".join([_say(base), *words])


def _say_accent(element: Element) -> str:
    base, above = element
    accent = ACCENTS.get(_text(above).strip(), _say(above))
    return f"{_say(base)} {accent}"


def _raised(above: Element) -> str:
    """Return the words of a superscript: a power, unless it is a name or a sign."""
    sign = _text(above)
    if sign in TRANSPOSED:
        return "transposed"
    if sign in POWERS:
        return POWERS[sign]
    named = _is_name(above) or sign in SIGNS
    return _say(above) if named else f"to the power {_say(above)}"


def _is_name(element: Element) -> bool:
    """Return whether a superscript is a name, such as Q in W^Q."""
    sign = _text(element)
    return sign.isalpha() and sign not in TRANSPOSED and _letters(sign)[:1].isupper()


def _say_table(element: Element) -> str:
    """Return the words of a matrix row by row, or of the lines of an equation."""
    rows = [[_say(cell) for cell in row] for row in element]
    if element.get("displaystyle") == "true" or "aligned" in element.get("class", ""):
        return "; ".join(" ".join(filter(None, row)) for row in rows)
    counted = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    words = "; ".join(", ".join(row) for row in rows)
    return f"matrix of {counted}: {words}; end of matrix"


def _kind(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _text(element: Element) -> str:
    return unicodedata.normalize("NFKC", "".join(element.itertext()).strip())


SAYINGS = {
    "mo": _say_text,
    "mi": _say_text,
    "mn": _say_text,
    "mtext": _say_text,
    "mfrac": _say_fraction,
    "msqrt": _say_root,
    "msub": _say_scripts,
    "munder": _say_scripts,
    "msup": _say_scripts,
    "mover": _say_accent,
    "msubsup": _say_scripts,
    "munderover": _say_scripts,
    "mtable": _say_table,
}
