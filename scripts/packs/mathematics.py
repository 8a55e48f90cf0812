"""Formulas of the pages as TeX, for tables of papers."""

import tomllib
from pathlib import Path

from bs4 import Tag
from bs4.element import NavigableString

SIGNS = tomllib.loads(Path(__file__).with_name("signs.toml").read_text(encoding="utf-8"))
FUNCTIONS = frozenset({"cos", "exp", "lim", "ln", "log", "max", "min", "sin"})
"""Functions for which TeX has a command, which puts space around their names."""

IN_FORMULA = str.maketrans(SIGNS["formula"])
IN_TEXT = str.maketrans(
    {sign: f"${tex}$" for sign, tex in SIGNS["formula"].items()} | SIGNS["text"]
)


def as_tex(node: Tag | NavigableString) -> str:
    """Return a table's cell, or a formula in it, as TeX."""
    if not isinstance(node, Tag):
        return str(node).translate(IN_TEXT)
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


def _formula(node: Tag) -> str:
    """Return the TeX of a formula without its dollar signs."""
    inner = [_formula(part) for part in node.find_all(True, recursive=False)]
    match node.name:
        case "mi" | "mn" | "mo" | "mtext" | "ms":
            text = node.get_text().translate(IN_FORMULA)
            if text.startswith("\\"):
                return text + " "
            if node.name == "mi" and text in FUNCTIONS:
                return f"\\{text} "
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
