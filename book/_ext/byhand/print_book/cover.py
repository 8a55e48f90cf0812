"""The cover: title, a figure of the book, and which edition it is, as one page of PDF.

WeasyPrint sets it, so that a course or a name may be in any script that a font of the system has.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.config import Config

from byhand.document import Document
from byhand.print_book import drawings

FILE = "cover.pdf"
CITATION = Path(__file__).resolve().parents[4] / "CITATION.cff"
STYLE = """
@page { size: %s; margin: 32mm 25mm 26mm }
html { font-family: "STIX Two Text Book", serif; color: black }
body { margin: 0; position: relative; height: %s }
h1 { font-size: 40pt; line-height: 1.08; font-weight: 400; margin: 0 0 8mm; hyphens: manual }
h1.long { font-size: 20pt; line-height: 1.2 }
.subtitle { font-size: 16pt; line-height: 1.35; font-style: italic; margin: 0; max-width: 120mm }
.figure { margin: 22mm 0 0 }
.figure svg { max-width: 160mm }
.people { font-size: 14pt; line-height: 1.5; margin: 22mm 0 0 }
p, h1 { unicode-bidi: plaintext; overflow-wrap: anywhere }
.people p { margin: 0 }
.edition { position: absolute; bottom: 0; width: 100%%; border-top: 1pt solid; padding-top: 4mm }
.edition p { font: 10.5pt/1.5 "Source Sans 3 Book", sans-serif; margin: 0 }
"""
HEIGHTS = {"a4": "239mm", "letter": "221mm"}
LONG = 60  # letters; a longer title is set smaller


def write(folder: Path, document: Document, config: Config, book: nodes.document) -> None:
    """Put the cover of a document into a folder; its figure is the first of the book."""
    import weasyprint  # wants libraries of the system, which the pages do without
    from weasyprint.text.fonts import FontConfiguration

    fonts = FontConfiguration()
    styles = STYLE % (document.paper, HEIGHTS[document.paper])
    page = weasyprint.HTML(string=html(document, config, book))
    pdf = page.write_pdf(
        stylesheets=[drawings.faces(fonts), weasyprint.CSS(string=styles)],
        font_config=fonts,
        pdf_identifier=b"cover",
    )
    (folder / FILE).write_bytes(pdf)


def html(document: Document, config: Config, book: nodes.document) -> str:
    """Return the page as HTML."""
    figure = next((node["drawing"] for node in book.findall(nodes.raw) if "drawing" in node), "")
    people = [document.course, document.instructor, document.date]
    if not document.is_reader:
        people = [config.author]
    long = " class=long" if len(document.title) > LONG else ""
    parts = [
        f"<h1{long}>{escape(document.title)}</h1>",
        f"<p class=subtitle>{escape(document.subtitle)}</p>",
        f"<div class=figure>{drawings.in_attributes(figure) if figure else ''}</div>",
        f"<div class=people>{paragraphs(people)}</div>",
        f"<div class=edition>{paragraphs(edition(config))}</div>",
    ]
    return f'<meta charset="utf-8"><body>{"".join(parts)}'


def paragraphs(texts: list[str]) -> str:
    """Return texts as paragraphs; empty ones are left out."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts if text)


def edition(config: Config) -> list[str]:
    """Return which edition this is, by version and date, and where the book is, if that is known.

    `CITATION.cff` has version and date; `html: baseurl:` in `_config.yml` has the address.
    """
    return list(_edition(config))


def _edition(config: Config) -> Iterator[str]:
    cited = yaml.safe_load(CITATION.read_text(encoding="utf-8")) if CITATION.is_file() else {}
    if cited:
        yield f"Edition of {cited['date-released']:%-d %B %Y}, version {cited['version']}"
    if config.html_baseurl:
        yield config.html_baseurl
