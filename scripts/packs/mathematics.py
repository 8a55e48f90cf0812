"""Formulas of the pages as TeX, for tables that go into a paper."""

import tomllib
from pathlib import Path

from bs4 import Tag
from bs4.element import NavigableString

LOWERED = "₀₁₂₃₄₅₆₇₈₉"
TEX = tomllib.loads(Path(__file__).with_name("signs.toml").read_text(encoding="utf-8"))


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
    inner = [_formula(part) for part in node.find_all(True, recursive=False)]
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
