"""Every figure in a real browser, on a phone and on a desk: small print, overlaps, edges."""

import pytest
from all_figures import FIGURES
from book_site import ROOT

from mha.views.figures import STYLE, inline_svg

STATIC = ROOT / "book" / "_static"

TOO_WIDE = """
[...document.querySelectorAll(".drawing")].filter(d => d.scrollWidth > d.clientWidth).map(d => d.id)
"""
OUTSIDE = """
[...document.querySelectorAll(".drawing svg")].flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter(t => {
    const b = t.getBoundingClientRect();
    return b.width && (b.left < box.left - 1 || b.right > box.right + 1 ||
      b.top < box.top - 3 || b.bottom > box.bottom + 3);
  }).map(t => [svg.parentNode.id, t.textContent]);
})
"""
# Pairs of texts of one drawing whose letters cover each other: boxes are higher than letters.
OVERLAPS = """
[...document.querySelectorAll(".drawing svg")].flatMap(svg => {
  const boxes = [...svg.querySelectorAll("text")]
    .map(t => [t.textContent, t.getBoundingClientRect(), t.getAttribute("transform")])
    .filter(([, b, turned]) => b.width && !turned);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 9
  ).map(([other]) => [svg.parentNode.id, one, other]));
})
"""


def written(drawn):
    """Return a page of figures, each named in its box."""
    sheets = [STATIC / "fonts.css", STATIC / "tokens.css", STYLE]
    links = "".join(f'<link rel="stylesheet" href="{sheet.as_uri()}">' for sheet in sheets)
    boxes = "".join(
        inline_svg(figure.svg, figure.alt, name).replace('"drawing"', f'"drawing" id="{name}"', 1)
        for name, figure in drawn.items()
    )
    return (
        f'<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">{links}'
        "<style>body { margin: 27px; background: var(--paper); max-width: 652px }</style>"
        f"<title>Figures</title><body>{boxes}"
    )


@pytest.mark.browser
def test_on_a_phone_nothing_is_small_and_no_text_covers_another_or_is_cut(browser, tmp_path):
    file = tmp_path / "figures.html"
    file.write_text(written({name: draw() for name, draw in FIGURES.items()}), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(file.as_uri())
    page.evaluate("document.fonts.ready")
    assert page.evaluate(
        "[...document.querySelectorAll('.drawing text, .drawing tspan')].filter("
        "e => parseFloat(getComputedStyle(e).fontSize) < 12).length"
    ) == 0  # fmt: skip
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        for what in (TOO_WIDE, OUTSIDE, OVERLAPS):
            assert page.evaluate(what) == [], width
    shown = page.locator(".f-wide").evaluate_all("all => all.map(e => getComputedStyle(e).display)")
    assert set(shown) == {"inline"}  # the wide layout, where a cell of a page has 652 pixels
    page.close()
