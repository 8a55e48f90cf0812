"""Make the accessible edition: a tagged PDF from the book's pages, with WeasyPrint.

Run by `typesetting`: edition.py FOLDER, which holds the pages with formulas as TeX
(`byhand.print_book.tex_in_pages` writes them) and gets the PDF.
"""

import base64
import re
import sys
from collections.abc import Mapping
from functools import partial
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

import tags
import weasyprint
from bs4 import BeautifulSoup, Tag
from formulas import draw
from weasyprint.text.fonts import FontConfiguration

from byhand.contents import Contents, read_contents
from byhand.document import Document
from byhand.print_book import drawings
from byhand.print_book.spoken import spoken

SCREEN_ONLY = (
    "script, style, link, template, button, .headerlink, .printed, .screen-only, .sd-btn,"
    " .prev-next-footer, .toggle-hint, nav"
)
# SVG's names with capitals, which the HTML parser takes away.
CAMEL_NAMES = "viewBox clipPath clipPathUnits preserveAspectRatio patternUnits patternTransform"
CAMEL_CASE = {name.lower(): name for name in CAMEL_NAMES.split()}
CAMEL = re.compile(rf"(?<=[</ ])(?:{'|'.join(CAMEL_CASE)})(?=[ =>])")
OPTIONS: dict[str, Any] = {"pdf_variant": "pdf/ua-1", "pdf_identifier": b"attention-by-hand"}
LONG = 34  # rows; a longer table may break between pages
SCALE = 1.2  # brings a formula's letters to the size of the text's
WIDE = 9  # columns from which a table is set in smaller type


def main() -> None:
    """Read the pages, make one document of them, and write it as PDF/UA-1."""
    folder, document, contents = Path(sys.argv[1]), Document.load(), read_contents()
    book = read(folder, document, contents)
    set_formulas(book, folder / "formulas")
    for change in (number_tables, move_solutions, level_headings):
        change(book)
    lay_out = Layout(document, folder)
    text = lay_out(book)
    pages = {name: str(i) for i, page in enumerate(text.pages, 1) for name in page.anchors}
    front = lay_out(front_matter(book, document, contents, pages))
    text.copy([*front.pages, *text.pages]).write_pdf(
        folder / f"{document.name}.pdf",
        finisher=partial(tags.finish, front=len(front.pages)),
        **OPTIONS,
    )


class Layout:
    """Turns a document of HTML into pages, once: nothing in it waits for the number of a page."""

    def __init__(self, document: Document, folder: Path) -> None:
        self.fonts = FontConfiguration()
        self.folder = folder
        self.styles = [
            drawings.faces(self.fonts),
            weasyprint.CSS(Path(__file__).with_name("style.css")),
            weasyprint.CSS(string=f"@page {{ size: {document.paper} }}"),
        ]

    def __call__(self, book: BeautifulSoup) -> weasyprint.Document:
        """Return the pages."""
        html = weasyprint.HTML(string=str(book), base_url=str(self.folder))
        return html.render(font_config=self.fonts, stylesheets=self.styles, **OPTIONS)


def read(folder: Path, document: Document, contents: Contents) -> BeautifulSoup:
    """Return all pages as one document of HTML."""
    book = empty(document)
    for name in contents.printed:
        page = BeautifulSoup((folder / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        article = one(page, "article")
        article.attrs = {"id": anchor(name)}
        for element in article.select(SCREEN_ONLY):
            element.decompose()
        describe_drawings(book, article)  # first, for a drawing has names and links of its own
        keep_links_inside(article, name, set(contents.printed))
        one(book, "body").append(article)
    return book


def empty(document: Document) -> BeautifulSoup:
    """Return a document without content."""
    return BeautifulSoup(
        '<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(document.title)}</title>"
        '<meta name="author" content="The Attention by Hand authors"></head><body></body></html>',
        "html.parser",
    )


def one(parent: Tag, selector: str) -> Tag:
    """Return the first element that a selector finds; without any, the pages are not ours."""
    found = parent.select_one(selector)
    if found is None:
        raise LookupError(f"nothing below <{parent.name}> is {selector}")
    return found


def plain(element: Tag) -> str:
    """Return what an element says, in one line."""
    return element.get_text(" ", strip=True)


def anchor(page: str, identifier: str = "") -> str:
    """Return a name for a place that is unique in the whole document."""
    return "--".join(filter(None, ["page", page.replace("/", "-"), identifier]))


def keep_links_inside(article: Tag, page: str, names: set[str]) -> None:
    """Make names and links of a page those of the whole document."""
    for element in article.find_all(id=True):
        element["id"] = anchor(page, str(element["id"]))
    for link in article.find_all("a", href=True):
        path, _, identifier = str(link["href"]).partition("#")
        if re.match(r"\w+:", path):
            continue
        to = normpath(join(dirname(page), path.removesuffix(".html"))) if path else page
        if to in names:
            link["href"] = "#" + anchor(to, identifier)
        else:
            link.unwrap()


def set_formulas(book: BeautifulSoup, folder: Path) -> None:
    """Put a drawing in the place of each formula, with words for what it says."""
    found = book.select(".tex")
    formulas = list(dict.fromkeys((e.get_text(), "display" in e["class"]) for e in found))
    drawings = dict(zip(formulas, draw(formulas, folder), strict=True))
    for element in found:
        tex, is_display = element.get_text(), "display" in element["class"]
        drawing = drawings[tex, is_display]
        style = f"width: {drawing.width * SCALE:.2f}pt; height: {drawing.height * SCALE:.2f}pt"
        if not is_display:
            style += f"; vertical-align: -{drawing.depth * SCALE:.2f}pt"
        alt = spoken(tex, display=is_display)
        image = book.new_tag("img", src=data(drawing.svg), alt=alt, style=style)
        element.replace_with(image)


def data(svg: str) -> str:
    """Return a drawing as an address that holds it."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def describe_drawings(book: BeautifulSoup, article: Tag) -> None:
    """Turn inline drawings into images with their alternative text."""
    for drawing in article.select(".drawing"):
        svg = one(drawing, "svg")
        text = CAMEL.sub(lambda m: CAMEL_CASE[m.group().lower()], str(svg))
        drawing.replace_with(
            book.new_tag("img", src=data(drawings.in_attributes(text)), alt=str(svg["aria-label"]))
        )


def number_tables(book: BeautifulSoup) -> None:
    """Say of each heading cell whether it heads a column or a row; keep tables in one piece."""
    for table in book.find_all("table"):
        for cell in table.find_all("th"):
            cell["scope"] = "col" if cell.find_parent("thead") else "row"
        if len(one(table, "tr").find_all(["th", "td"])) >= WIDE:
            table["class"] = " ".join([*table.get_attribute_list("class"), "wide"])
        if len(table.find_all("tr")) > LONG:
            table["class"] = " ".join([*table.get_attribute_list("class"), "long"])


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
            title.string = plain(one(article, "h1"))
            chapter.append(title)
            for solution in solutions:
                chapter.append(solution.extract())
    one(book, "body").append(chapter)


def level_headings(book: BeautifulSoup) -> None:
    """Let no heading skip a level."""
    for article in book.find_all("article"):
        above = 0
        for heading in article.find_all(re.compile("^h[1-6]$")):
            above = min(int(heading.name[1]), above + 1)
            heading.name = f"h{above}"


def front_matter(
    book: BeautifulSoup, document: Document, contents: Contents, pages: Mapping[str, str]
) -> BeautifulSoup:
    """Return title and contents, with the pages on which chapters and sections stand."""
    front = empty(document)
    body = one(front, "body")
    title = front.new_tag("p", attrs={"class": "title"})
    title.string = document.title
    nav = front.new_tag("nav")
    heading = front.new_tag("h1")
    heading.string = "Contents"
    nav.append(heading)
    for part in contents.printed_parts:
        caption = front.new_tag("p", attrs={"class": "part"})
        caption.string = part.caption
        nav.append(caption)
        nav.append(entries(book, part.pages, pages))
    nav.append(entries(book, ("solutions",), pages))
    body.append(title)
    body.append(nav)
    return front


def entries(book: BeautifulSoup, names: tuple[str, ...], pages: Mapping[str, str]) -> Tag:
    """Return a list of links to chapters, each with a list of links to its sections."""
    listed = book.new_tag("ul")
    for name in names:
        article = one(book, f"#{anchor(name)}")
        chapter = entry(book, anchor(name), one(article, "h1"), pages)
        sections = book.new_tag("ul")
        for heading in article.find_all("h2"):
            section = heading.find_parent(id=True)
            if section is not None and section is not article:
                sections.append(entry(book, str(section["id"]), heading, pages))
        if sections.contents:
            chapter.append(sections)
        listed.append(chapter)
    return listed


def entry(book: BeautifulSoup, to: str, heading: Tag, pages: Mapping[str, str]) -> Tag:
    """Return an entry of the contents."""
    link = book.new_tag("a", href=f"#{to}", attrs={"data-page": pages[to]})
    link.string = plain(heading)
    listed = book.new_tag("li")
    listed.append(link)
    return listed


if __name__ == "__main__":
    main()
