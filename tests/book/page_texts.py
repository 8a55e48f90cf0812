"""The text of a built page in the form that `chains` reads, and phrases that no page may have."""

import re

from bs4 import NavigableString, Tag

BLOCKS = [
    "p", "li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "figcaption", "caption",
    "summary", "div", "section", "pre", "tr", "br", "option", "button",
]  # fmt: skip

LEAKS = (
    *(r"0x[0-9a-f]{6}", r"<mha\.", "<IPython", r"\\(frac|mathrm|sqrt|begin)", r"\?\?"),
    r"np\.float64\(",
)
"""Program texts that must not appear on the screen or on paper."""


def page_text(soup):
    """Return the text of a built page: exponents after ^, formulas on one line, no code.

    Formulas with letters are omitted, because the text has no values for the letters.
    """
    return "".join(_text_pieces(soup.find("main") or soup))


def _text_pieces(node):
    """Yield the pieces of an element's text, with semicolons around each block."""
    if not isinstance(node, Tag):
        yield node if type(node) is NavigableString else ""
    elif node.name == "math":
        letters = set(re.findall(r"[^\W\d_]+", node.get_text()))
        yield " ; " if letters - {"e"} else f" {_mathematics(node)} "
    elif not (
        node.name in ("script", "style", "nav")
        or {"printed", "source-print"} & {*node.get("class", ())}
        or ("highlight" in node.get("class", ()) and node.find_parent(class_="cell_input"))
    ):
        edge = "\n;\n" if node.name in BLOCKS else "^" if node.name == "sup" and node.text else ""
        yield edge
        for child in node:
            yield from _text_pieces(child)
        yield edge.replace("^", "")


def _mathematics(node):
    """Return a MathML formula on one line."""
    parts = [child for child in node.children if getattr(child, "name", None)]
    texts = [_mathematics(part) for part in parts]
    if node.name == "mfrac":
        return f"({texts[0]}) ÷ ({texts[1]})"
    if node.name == "msqrt":
        return f"√({' '.join(texts)})"
    if node.name == "msup":
        return f"{texts[0]}^({texts[1]})"
    if node.name in ("mtr", "mtable"):
        return " ; ".join(texts)
    if node.name == "annotation":
        return ""
    return " ".join(texts) if parts else node.get_text()
