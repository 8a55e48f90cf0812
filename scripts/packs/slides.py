"""A deck of slides for each chapter on the mechanism and on the trained model."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from byhand.print_book import drawings
from packs import figures
from packs.mathematics import as_html
from packs.pages import Page, Question, one, questions, standing_alone
from packs.paper import print_pages

STYLE = Path(__file__).with_suffix(".css")
PARTS = ("mechanism/", "transformer/small-model")
"""How the names of those chapters begin that have a deck."""

OMITTED = ("Deeper: ", "All numbers", "Exercises", "Summary", "Read next")
"""How the headings of sections begin that get no slides of their own."""

WIDE, HIGH = 220, 76
"""Millimetres that a drawing has on a slide."""

MOST_ROWS, MOST_COLUMNS = 8, 8
"""The largest table that can be read from the last row."""


def decks(pages: list[Page], folder: Path) -> list[Path]:
    """Print a deck for each chapter that has one, and return the files."""
    made = []
    for page in pages:
        if page.name.startswith(PARTS):
            pdf = folder / f"{page.name.rpartition('/')[2]}.pdf"
            print_pages([deck(page)], STYLE, pdf)
            made.append(pdf)
    return made


def deck(page: Page) -> str:
    """Return a chapter's slides as HTML."""
    slides = "".join(f'<section class="slide">{slide}</section>' for slide in of_page(page))
    title = escape(page.title)
    return (
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f'<body><div class="foot">Attention by Hand · {title}</div>{slides}</body></html>'
    )


def of_page(page: Page) -> Iterator[str]:
    """Yield the slides of a chapter: title, aims, what each section shows and asks, summary."""
    drawn = {f"fig-{figure.name}": figure for figure in figures.of_page(page)}
    asked = {question.name: question for question in questions(page)}
    lead = standing_alone(one(page.article, ".lead"))
    yield f'<h1>{escape(page.title)}</h1><div class="lead">{_plain(lead)}</div>'
    aims = standing_alone(one(page.article, ".aims ul"))
    yield f"<h2>After this lesson you can</h2>{_plain(aims)}"
    opening = next(iter(drawn.values()), None)
    if opening is not None:
        yield _picture(page.title, opening)
    seen = {f"fig-{opening.name}"} if opening else set()
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
                yield f"<h2>{escape(title)}</h2>{_plain(_table(element))}"
            elif element.name == "div" and element.find("math"):
                yield _formula(title, element)
            elif element.name == "mha-quiz":
                yield _question(asked[name])
                yield _answer(asked[name])
    summary = page.article.select_one("#summary ul, #summary ol, #summary p")
    if summary is not None:
        words = _plain(standing_alone(summary))
        yield f'<h2>Summary</h2><div class="summary">{words}</div>'


def _title(heading: Tag) -> str:
    """Return a heading without its number and its link."""
    return re.sub(r"^[\d.]+\s*", "", " ".join(heading.get_text().split())).removesuffix("#")


def _picture(title: str, figure: figures.Figure) -> str:
    words = figures.caption(figure)
    svg = _enlarged(figure.svg)
    said = f'<p class="caption">{_plain(standing_alone(words))}</p>' if words else ""
    return f'<h2>{escape(title)}</h2><div class="picture">{svg}</div>{said}'


def _enlarged(svg: str) -> str:
    """Return a drawing as large as a slide holds it."""
    width, height = drawings.size(svg)
    scale = min(WIDE / width, HIGH / height)
    for side, length in (("width", width), ("height", height)):
        svg = re.sub(rf'\b{side}="[\d.]+"', f'{side}="{length * scale:.2f}mm"', svg, count=1)
    if "viewBox" not in svg[: svg.index(">")]:
        svg = svg.replace("<svg", f'<svg viewBox="0 0 {width:g} {height:g}"', 1)
    return svg


def _formula(title: str, element: Tag) -> str:
    """Return a slide with a formula, below the words that lead to it."""
    before = element.find_previous_sibling("p")
    words = _plain(standing_alone(before)) if before else ""
    return (
        f'<h2>{escape(title)}</h2>{words}<div class="formula">{as_html(one(element, "math"))}</div>'
    )


def _is_small(table: Tag) -> bool:
    rows = table.find_all("tr")
    widest = max(len(row.find_all(["th", "td"])) for row in rows)
    return len(rows) <= MOST_ROWS and widest <= MOST_COLUMNS


def _table(table: Tag) -> str:
    for extra in table.select(".caption-number, .headerlink"):
        extra.decompose()
    return f"<table>{standing_alone(table)}</table>"


def _question(question: Question) -> str:
    items = "".join(f"<li>{option.text}</li>" for option in question.options)
    asked = f"<p>{question.text}</p>" if "<p" not in question.text else question.text
    return _plain(f'<h2>Question</h2>{asked}<ol class="options">{items}</ol>')


def _answer(question: Question) -> str:
    """Return the slide after a question: the right option, and why."""
    items = "".join(
        f'<li class="{"right" if option.is_right else "other"}">{option.text}</li>'
        for option in question.options
    )
    said = "".join(option.feedback for option in question.options if option.is_right)
    return _plain(f'<h2>Answer</h2><ol class="options">{items}</ol>{said}')


def _plain(text: str) -> str:
    """Return HTML whose formulas are plain elements."""
    soup = BeautifulSoup(text, "html.parser")
    for math in soup.find_all("math"):
        math.replace_with(BeautifulSoup(as_html(math), "html.parser"))
    return soup.decode(formatter="minimal")
