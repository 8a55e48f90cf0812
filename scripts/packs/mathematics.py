"""Formulas of the pages where MathML is not read: for the press, and as TeX."""

from xml.etree.ElementTree import fromstring

from bs4 import Tag
from bs4.element import NavigableString

from byhand.mathematics.spoken import in_words
from byhand.press.markup import string
from byhand.press.markup import text as _escaped

LOWERED = "₀₁₂₃₄₅₆₇₈₉"
TEX = {
    "≈": r"\approx",
    "×": r"\times",
    "÷": r"\div",
    "−": "-",
    "∞": r"\infty",
    "√": r"\surd",
    "α": r"\alpha",
    "∑": r"\sum",
    "≤": r"\le",
    "≥": r"\ge",
    "·": r"\cdot",
    "⋅": r"\cdot",
    "′": "'",
    "±": r"\pm",
    "…": r"\dots",
    "→": r"\to",
    "←": r"\leftarrow",
    "★": r"\star",
    "⟨": r"\langle",
    "⟩": r"\rangle",
    "θ": r"\theta",
    "σ": r"\sigma",
    "Σ": r"\Sigma",
    "²": "^2",
    "\u2061": "",
}


LOWER = ("msub", "munder")


def parts(node: Tag) -> list[Tag]:
    """Return the elements of a formula's element, without what only programs read."""
    return [
        child for child in node.children if isinstance(child, Tag) and child.name != "annotation"
    ]


def as_typst(math: Tag, *, display: bool = False) -> str:
    """Return a formula as Typst's code, with the words that say it aloud."""
    words = in_words(fromstring(str(math)))
    formula = _typst(math).replace('") upright("', "")  # the letters of one upright word
    return f"{'displayed' if display else 'm'}({string(words)}, ${formula}$)"


def _typst(node: Tag) -> str:
    """Return an element of a formula as Typst's mathematics."""
    inner = [_typst(part) for part in parts(node)]
    match node.name:
        case "mi" | "mn" | "mo" | "mtext" | "ms":
            text = node.get_text().strip("\u2061")
            if node.get("mathvariant") == "normal":
                return f"upright({string(text)})"
            if node.name == "mi" and len(text) > 1:
                return f"op({string(text)})"
            return string(text) if node.name in ("mn", "mtext") else _escaped(text)
        case "mspace":
            return "thin" if node.get("width") else ""
        case "msub" | "munder" | "msup" | "mover" | "msubsup" | "munderover":
            places = ("b", "t") if len(inner) == 3 else "b" if node.name in LOWER else "t"
            base = f"limits({inner[0]})" if node.name.startswith("mu") else inner[0]
            attached = ", ".join(
                f"{at}: {part}" for at, part in zip(places, inner[1:], strict=True)
            )
            return f"attach({base or string('')}, {attached})"
        case "mfrac":
            return f"frac({', '.join(inner)})"
        case "msqrt":
            return f"sqrt({' '.join(inner)})"
        case "mtable":
            rows = [[_typst(cell) for cell in parts(row)] for row in parts(node)]
            if "tml-jot" in node.get_attribute_list("class"):
                return " \\ ".join(" & ".join(row) for row in rows)
            return f"mat(delim: #none, {'; '.join(', '.join(row) for row in rows)})"
    row = " ".join(filter(None, inner))
    return f"lr({row})" if inner and parts(node)[0].get("fence") else row


def as_tex(node: Tag | NavigableString) -> str:
    """Return a table's cell, or a formula in it, as TeX."""
    if not isinstance(node, Tag):
        return "".join(_character(character) for character in str(node))
    if node.name == "math":
        return f"${_formula(node)}$"
    inner = "".join(as_tex(child) for child in node.children if isinstance(child, Tag | str))
    match node.name:
        case "sub":
            return f"$_{{{inner.replace('$', '')}}}$"
        case "sup":
            return f"$^{{{inner.replace('$', '')}}}$"
        case "em" | "i":
            return f"\\emph{{{inner}}}"
        case "strong" | "b":
            return f"\\textbf{{{inner}}}"
    return inner


def _character(character: str) -> str:
    """Return a character of text as TeX has it."""
    if character in TEX:
        return f"${TEX[character]}$" if TEX[character] else ""
    if character in LOWERED:
        return f"$_{{{LOWERED.index(character)}}}$"
    if character == "[":
        return "{[}"  # after the end of a row it would begin an option
    if character in "&%$#_{}":
        return "\\" + character
    return {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}.get(
        character, character
    )


def _formula(node: Tag) -> str:
    """Return what stands between the dollars."""
    inner = [_formula(part) for part in parts(node)]
    match node.name:
        case "mi" | "mn" | "mo" | "mtext" | "ms":
            text = "".join(TEX.get(c, c) for c in node.get_text())
            if text.startswith("\\"):
                return text + " "
            return rf"\mathrm{{{text}}}" if node.name == "mi" and len(text) > 1 else text
        case "msub" | "munder":
            return f"{inner[0]}_{{{inner[1]}}}"
        case "msup" | "mover":
            return f"{inner[0]}^{{{inner[1]}}}"
        case "msubsup" | "munderover":
            return f"{inner[0]}_{{{inner[1]}}}^{{{inner[2]}}}"
        case "mfrac":
            return rf"\frac{{{inner[0]}}}{{{inner[1]}}}"
        case "msqrt":
            return rf"\sqrt{{{''.join(inner)}}}"
    return "".join(inner)
