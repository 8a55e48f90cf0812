"""A page that holds figures and the book's style sheets, as a browser shows them."""

import tempfile
from pathlib import Path

from book_site import ROOT

from mha.views.figures import STYLE, inline_svg

STATIC = ROOT / "book" / "_static"


def written(drawn, folder):
    """Write a page of figures, each named in its box, and return its address."""
    sheets = [STATIC / "fonts.css", STATIC / "tokens.css", STYLE]
    links = "".join(f'<link rel="stylesheet" href="{sheet.as_uri()}">' for sheet in sheets)
    boxes = "".join(
        inline_svg(figure.svg, figure.alt, name).replace('"drawing"', f'"drawing" id="{name}"', 1)
        for name, figure in drawn.items()
    )
    page = Path(folder) / "figures.html"
    page.write_text(
        f'<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">{links}'
        "<style>body { margin: 27px; background: var(--paper); max-width: 652px }</style>"
        f"<title>Figures</title><body>{boxes}",
        encoding="utf-8",
    )
    return page.as_uri()


def opened(browser, drawn, *, width, theme="light"):
    """Open a page of figures in a browser, its fonts loaded."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    with tempfile.TemporaryDirectory() as folder:
        page.goto(written(drawn, folder))
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        page.evaluate("document.fonts.ready")
    return page
