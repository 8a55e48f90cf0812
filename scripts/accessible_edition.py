"""Make the accessible edition: a tagged PDF from the book's pages, with WeasyPrint.

Run by the environment's Python: accessible_edition.py PAGES FOLDER TARGET PAPER, where PAGES holds
pages with formulas as TeX (the tex_in_pages module of `book/_ext/print_book` writes them).
"""

import base64
import os
import re
import sys
from pathlib import Path
from posixpath import dirname, join, normpath

import weasyprint
import yaml
from bs4 import BeautifulSoup, Tag
from formulas import draw

ROOT = Path(__file__).resolve().parent.parent
TITLE = "Attention by Hand"
SCREEN_ONLY = (
    "script, style, link, template, button, .headerlink, .printed, .screen-only, .sd-btn,"
    " .prev-next-footer, .toggle-hint, nav"
)
# SVG's names with capitals, which the HTML parser takes away.
CAMEL_NAMES = "viewBox clipPath clipPathUnits preserveAspectRatio patternUnits patternTransform"
CAMEL_CASE = {name.lower(): name for name in CAMEL_NAMES.split()}
CAMEL = re.compile(rf"(?<=[</ ])(?:{'|'.join(CAMEL_CASE)})(?=[ =>])")
SCALE = 1.2  # brings a formula's letters to the size of the text's
WIDE = 9  # columns from which a table is set in smaller type


def main() -> None:
    """Read the pages, make one document of them, and write it as PDF/UA-1."""
    pages, folder, target = map(Path, sys.argv[1:4])
    paper = sys.argv[4]
    book, parts = read(pages)
    set_formulas(book, folder)
    for change in (number_tables, move_solutions, level_headings):
        change(book)
    add_front(book, parts)
    document = weasyprint.HTML(string=str(book), base_url=str(pages))
    document.write_pdf(
        target,
        stylesheets=[
            weasyprint.CSS(Path(__file__).with_name("accessible.css")),
            weasyprint.CSS(string=f"@page {{ size: {paper} }}"),
        ],
        pdf_variant="pdf/ua-1",
        pdf_identifier=b"attention-by-hand",
    )


def read(pages: Path) -> tuple[BeautifulSoup, list[tuple[str, list[str]]]]:
    """Return all pages as one document, and the parts with the names of their pages."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [(part["caption"], [c["file"] for c in part["chapters"]]) for part in toc["parts"]]
    names = [toc["root"], *(name for _, chapters in parts for name in chapters)]
    book = BeautifulSoup(
        f'<html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title>'
        '<meta name="author" content="The Attention by Hand authors"></head><body></body></html>',
        "html.parser",
    )
    for name in names:
        page = BeautifulSoup((pages / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        article = page.find("article")
        article.attrs = {"id": anchor(name)}
        for element in article.select(SCREEN_ONLY):
            element.decompose()
        describe_drawings(book, article)  # first, for a drawing has names and links of its own
        keep_links_inside(article, name, set(names))
        book.body.append(article)
    return book, parts


def anchor(page: str, identifier: str = "") -> str:
    """Return a name for a place that is unique in the whole document."""
    return "--".join(filter(None, ["page", page.replace("/", "-"), identifier]))


def keep_links_inside(article: Tag, page: str, names: set[str]) -> None:
    """Make names and links of a page those of the whole document."""
    for element in article.find_all(id=True):
        element["id"] = anchor(page, element["id"])
    for link in article.find_all("a", href=True):
        path, _, identifier = link["href"].partition("#")
        if re.match(r"\w+:", path):
            continue
        to = normpath(join(dirname(page), path.removesuffix(".html"))) if path else page
        if to in names:
            link["href"] = "#" + anchor(to, identifier)
        else:
            link.unwrap()


def set_formulas(book: BeautifulSoup, folder: Path) -> None:
    """Put a drawing in the place of each formula, with its TeX as what is read aloud."""
    found = book.select(".tex")
    formulas = list(dict.fromkeys((e.get_text(), "display" in e["class"]) for e in found))
    drawings = dict(zip(formulas, draw(formulas, folder), strict=True))
    for element in found:
        tex, is_display = element.get_text(), "display" in element["class"]
        drawing = drawings[tex, is_display]
        style = f"width: {drawing.width * SCALE:.2f}pt; height: {drawing.height * SCALE:.2f}pt"
        if not is_display:
            style += f"; vertical-align: -{drawing.depth * SCALE:.2f}pt"
        alt = " ".join(tex.split())
        image = book.new_tag("img", src=data(drawing.svg), alt=alt, style=style)
        element.replace_with(image)


def data(svg: str) -> str:
    """Return a drawing as an address that holds it."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def describe_drawings(book: BeautifulSoup, article: Tag) -> None:
    """Turn inline drawings into images with their alternative text."""
    for drawing in article.select(".drawing"):
        svg = drawing.find("svg")
        text = str(svg).replace("currentColor", "black")
        text = CAMEL.sub(lambda m: CAMEL_CASE[m.group().lower()], text)
        drawing.replace_with(book.new_tag("img", src=data(text), alt=svg["aria-label"]))


def number_tables(book: BeautifulSoup) -> None:
    """Say of each heading cell whether it heads a column or a row; shrink wide tables."""
    for table in book.find_all("table"):
        for cell in table.find_all("th"):
            cell["scope"] = "col" if cell.find_parent("thead") else "row"
        if len(table.find("tr").find_all(["th", "td"])) >= WIDE:
            table["class"] = [*table.get("class", []), "wide"]


def move_solutions(book: BeautifulSoup) -> None:
    """Put the solutions into a chapter at the end, so that listening does not give them away."""
    chapter = book.new_tag("article", id="page--solutions")
    heading = book.new_tag("h1")
    heading.string = "Solutions"
    chapter.append(heading)
    for article in book.find_all("article"):
        solutions = article.select(".solution")
        if solutions:
            title = book.new_tag("h2")
            title.string = article.find("h1").get_text(" ", strip=True)
            chapter.append(title)
            for solution in solutions:
                chapter.append(solution.extract())
    book.body.append(chapter)


def level_headings(book: BeautifulSoup) -> None:
    """Let no heading skip a level."""
    for article in book.find_all("article"):
        above = 0
        for heading in article.find_all(re.compile("^h[1-6]$")):
            above = min(int(heading.name[1]), above + 1)
            heading.name = f"h{above}"


def add_front(book: BeautifulSoup, parts: list[tuple[str, list[str]]]) -> None:
    """Put the title and the contents before the pages."""
    title = book.new_tag("p", attrs={"class": "title"})
    title.string = TITLE
    nav = book.new_tag("nav")
    heading = book.new_tag("h1")
    heading.string = "Contents"
    nav.append(heading)
    for caption, chapters in [*parts, ("", ["solutions"])]:
        if caption:
            part = book.new_tag("p", attrs={"class": "part"})
            part.string = caption
            nav.append(part)
        entries = book.new_tag("ul")
        for name in chapters:
            link = book.new_tag("a", href="#" + anchor(name))
            link.string = book.find(id=anchor(name)).find("h1").get_text(" ", strip=True)
            entry = book.new_tag("li")
            entry.append(link)
            entries.append(entry)
        nav.append(entries)
    book.body.insert(0, title)
    book.body.insert(1, nav)


if __name__ == "__main__":
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    main()
