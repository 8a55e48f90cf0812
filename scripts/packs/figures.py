"""The pack of figures: every figure and table of the book as a file with its label as name."""

import re
from collections.abc import Iterator
from copy import copy

from bs4 import Tag
from docutils import nodes
from sphinx_runs import doctree_of

from byhand.press import drawings, markup
from byhand.press.embedding import with_fonts
from byhand.press.pdf import press
from packs.mathematics import as_tex
from packs.pages import Page


def of_page(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the names, without "fig-", and the drawings of a page's figures in their printed form.

    The drawings are SVG with colours in attributes and need no style sheet. A file made from one
    needs `byhand.press.embedding.with_fonts`.
    """
    for figure in doctree_of(page.name).findall(nodes.figure):
        drawn = next((node for node in figure.findall(nodes.raw) if "drawing" in node), None)
        name = next((one for one in figure["ids"] if one.startswith("fig-")), "")
        if drawn and name:
            html = drawn.astext()
            svg = html[html.index("<svg") : html.rindex("</svg>") + len("</svg>")]
            yield name.removeprefix("fig-"), drawings.in_attributes(svg)


def tables(page: Page) -> Iterator[tuple[str, Tag]]:
    """Yield the labels and the elements of a page's tables."""
    for table in page.article.select("table"):
        holder = table if str(table.get("id", "")).startswith("tbl-") else None
        holder = holder or table.find_parent(id=re.compile("^tbl-"))
        if holder is None:
            continue
        name, inside = str(holder["id"]).removeprefix("tbl-"), holder.find_all("table")
        number = f"-{inside.index(table) + 1}" if len(inside) > 1 else ""
        yield name + number, table


def in_tex(table: Tag) -> str:
    """Return a table as TeX, for the package booktabs."""
    bare = copy(table)
    for printed in bare.select(".printed, .reading-unseen"):
        printed.decompose()
    rows = [
        [" ".join(as_tex(cell).split()) for cell in row.find_all(["th", "td"])]
        for row in bare.find_all("tr")
    ]
    heads = len(table.select("thead tr"))
    width = max(map(len, rows))
    lines = [" & ".join(row + [""] * (width - len(row))) + r" \\" for row in rows]
    body = ["\\toprule", *lines[:heads], "\\midrule", *lines[heads:], "\\bottomrule"]
    return "\n".join([f"\\begin{{tabular}}{{l{'r' * (width - 1)}}}", *body, "\\end{tabular}", ""])


def files(pages: list[Page]) -> dict[str, bytes]:
    """Return every figure as SVG and PDF and every table as TeX, in one folder per page."""
    made = {}
    for page in pages:
        folder = page.name.rpartition("/")[2]
        for name, drawing in of_page(page):
            made[f"{folder}/{name}.svg"] = f"{with_fonts(drawing)}\n".encode()
            made[f"{folder}/{name}.pdf"] = press(_as_page(name, drawing))
        for name, table in tables(page):
            made[f"{folder}/{name}.tex"] = in_tex(table).encode()
    return made


def _as_page(name: str, drawing: str) -> str:
    """Return Typst source of a page with the size of a drawing."""
    width, height = drawings.size(drawing)
    return markup.document(
        "style",
        f"#{markup.drawing(drawing)}",
        title=markup.string(name),
        width=f"{width:g} * pixel",
        height=f"{height:g} * pixel",
        margin="0pt",
    )
