"""Every figure in a real browser, on a phone and on a desk: small print, overlaps, edges."""

import page_checks
import pytest
from all_figures import FIGURES
from book_site import ROOT

from mha.views.figures import STYLE, inline_svg

STATIC = ROOT / "book" / "_static"
SHEETS = [STATIC / "fonts.css", STATIC / "tokens.css", STYLE]
TOO_WIDE = "all => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.outerHTML)"
SHOWN = "all => all.map((e) => getComputedStyle(e).display)"


@pytest.mark.browser
def test_on_a_phone_and_a_desk_nothing_is_small_and_no_text_covers_another_or_is_cut(
    browser, tmp_path
):
    links = "".join(f'<link rel="stylesheet" href="{sheet.as_uri()}">' for sheet in SHEETS)
    drawn = {name: draw() for name, draw in FIGURES.items()}
    boxes = "".join(inline_svg(figure.svg, figure.alt, name) for name, figure in drawn.items())
    file = tmp_path / "figures.html"
    file.write_text(
        f'<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">{links}'
        "<style>body { margin: 27px; background: var(--paper); max-width: 652px }</style>"
        f"<title>Figures</title><body>{boxes}",
        encoding="utf-8",
    )
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(file.as_uri())
    page.evaluate("document.fonts.ready")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page_checks.no_word_is_small_or_covered(page)
        assert page.locator(".drawing").evaluate_all(TOO_WIDE) == []
    shown = page.locator(".f-wide").evaluate_all(SHOWN)
    assert set(shown) == {"inline"}  # the wide layout, where a cell of a page has 652 pixels
    page.close()
