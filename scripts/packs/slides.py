"""A deck of slides for each chapter on the mechanism and on the trained model."""

import re
from collections.abc import Iterator
from copy import copy
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from bs4.element import PageElement

from byhand.press import markup
from byhand.press.pdf import press
from byhand.press.tables import Cell
from packs import figures
from packs.mathematics import as_typst
from packs.pages import DROPPED, Page, Question, one, questions

PARTS = ("mechanism/", "transformer/small-model")
"""How the names of those chapters begin that have a deck."""

OMITTED = ("Deeper: ", "All numbers", "In PyTorch", "Exercises", "Summary", "Read next")
"""How the headings of sections begin that get no slides of their own."""

HALVES = ("thead", "tbody")
MOST_ROWS, MOST_COLUMNS = 8, 8
"""The largest table that can be read from the last row."""


def decks(pages: list[Page], folder: Path) -> list[Path]:
    """Print a deck for each chapter that has one, and return the files."""
    made = []
    for page in pages:
        if page.name.startswith(PARTS):
            pdf = folder / f"{page.name.rpartition('/')[2]}.pdf"
            pdf.write_bytes(press(deck(page)))
            made.append(pdf)
    return made


def deck(page: Page) -> str:
    """Return a chapter's slides as Typst's source."""
    title = markup.string(page.title)
    return "\n".join(
        [
            '#import "/slides.typ": *',
            f"#show: sheet.with(title: {title})",
            f"#show: slides.with({title})",
            *(f"#slide({slide})" for slide in of_page(page)),
        ]
    )


def of_page(page: Page) -> Iterator[str]:
    """Yield the slides of a chapter: title, aims, what each section shows and asks, summary."""
    drawn = {f"fig-{figure.name}": figure for figure in figures.of_page(page)}
    asked = {question.name: question for question in questions(page)}
    lead = one(page.article, ".lead")
    yield f"[{markup.text(page.title)}], [{_said(lead)}], level: 1, size: 24pt"
    yield f"[After this lesson you can], [{_said(one(page.article, '.aims ul'))}]"
    opening = next(iter(drawn), None)
    if opening is not None:
        yield _picture(page.title, drawn[opening])
    seen = {opening}
    for heading in page.article.select("h2"):
        title, section = _title(heading), heading.parent
        if section is None or title.startswith(OMITTED):
            continue
        for element in section.select("figure[id], .math.notranslate, table[id^=tbl-], mha-quiz"):
            name = str(element.get("id", ""))
            if name in drawn and name not in seen:
                seen.add(name)
                yield _picture(title, drawn[name])
            elif element.name == "table" and _is_small(element):
                yield f"[{markup.text(title)}], {_table(element)}"
            elif element.name == "div" and element.find("math"):
                yield _formula(title, element)
            elif element.name == "mha-quiz":
                yield _question(asked[name])
                yield _answer(asked[name])
    summary = page.article.select_one("#summary ul, #summary ol, #summary p")
    if summary is not None:
        yield f"[Summary], [{_said(summary)}]"


def _title(heading: Tag) -> str:
    """Return a heading without its number and its link."""
    return re.sub(r"^[\d.]+\s*", "", " ".join(heading.get_text().split())).removesuffix("#")


def _picture(title: str, figure: figures.Figure) -> str:
    words = figures.caption(figure)
    drawing = markup.drawing(figure.svg).removeprefix("drawing(")
    said = _said(words) if words else ""
    return f"[{markup.text(title)}], picture([{said}], {drawing}, fits: true"


def _formula(title: str, element: Tag) -> str:
    """Return a slide with a formula, below the words that lead to it."""
    before = element.find_previous_sibling("p")
    words = _said(before) if before else ""
    formula = as_typst(one(element, "math"), display=True)
    return f"[{markup.text(title)}], [{words}#centred({formula})]"


def _is_small(table: Tag) -> bool:
    rows = table.find_all("tr")
    widest = max(len(row.find_all(["th", "td"])) for row in rows)
    return len(rows) <= MOST_ROWS and widest <= MOST_COLUMNS


def _table(table: Tag) -> str:
    """Return a small table as code."""
    caption = table.find("caption")
    for extra in table.select(".caption-number"):
        extra.decompose()
    head, body = ([_cell(cell) for cell in table.select(f"{part} > tr > *")] for part in HALVES)
    columns = sum(_span(cell, "colspan") for cell in one(table, "tr").find_all(["th", "td"]))
    listed = [markup.array(cell.code for cell in head), *(cell.code for cell in body)]
    words = _said(caption) if caption else ""
    return f"listing([{words}], {columns}, {', '.join(listed)})"


def _cell(cell: Tag) -> Cell:
    return Cell(_said(cell), _span(cell, "colspan"), _span(cell, "rowspan"))


def _span(cell: Tag, of: str) -> int:
    return int(str(cell.get(of, "1")))


def _question(question: Question) -> str:
    options = ", ".join(f"[{_said(option.text)}]" for option in question.options)
    return f"[Question], [{_said(question.text)}\n\n#enum({options})]"


def _answer(question: Question) -> str:
    """Return the slide after a question: the right option, and why."""
    options = ", ".join(
        f"{'strong' if option.is_right else 'text.with(fill: luma(110))'}([{_said(option.text)}])"
        for option in question.options
    )
    said = "\n\n".join(_said(option.feedback) for option in question.options if option.is_right)
    return f"[Answer], [#enum({options})\n\n{said}]"


# ---- What stands alone, as Typst's markup ----

AROUND = {
    "em": "emph",
    "i": "emph",
    "strong": "strong",
    "b": "strong",
    "sub": "sub",
    "sup": "super",
}


def _said(found: Tag | str) -> str:
    """Return an element of a page, or HTML that stands alone, as markup."""
    element = BeautifulSoup(found, "html.parser") if isinstance(found, str) else copy(found)
    for node in element.select(DROPPED):
        node.decompose()
    return _markup(element).strip()


def _markup(node: PageElement) -> str:
    if not isinstance(node, Tag):
        return markup.text(str(node))
    if node.name == "math":
        return f"#{as_typst(node)}"
    if node.name in ("code", "pre"):
        return f"#raw({markup.string(node.get_text())})"
    if node.name in ("ul", "ol"):
        items = ", ".join(f"[{_markup(item)}]" for item in node.find_all("li", recursive=False))
        return f"#{'list' if node.name == 'ul' else 'numbered'}({items})\n\n"
    inner = "".join(map(_markup, node.children))
    if node.name in AROUND:
        return f"#{AROUND[node.name]}[{inner}]"
    return f"{inner}\n\n" if node.name == "p" else inner
