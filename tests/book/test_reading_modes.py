"""Pages without scripts and in print ask for no action that is impossible there."""

import re

import pytest
from book_site import toc_pages
from page_checks import (
    BEGIN,
    EMPTY_BARS,
    HALOS,
    ON_PAPER,
    build_explorers,
    open_every_fold,
)

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGES = toc_pages()

# Visible controls that need a script. The switch of printed numbers works by its style sheet alone,
# and a fold opens without a script.
CONTROLS = """() => [...document.querySelectorAll(
    "article :is(button, input, select, textarea, [role=button], [role=slider], [role=spinbutton])"
  )]
  .filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((e) => e.getBoundingClientRect().width > 1 && !e.closest(".printed-switch"))
  .map((e) => e.outerHTML.slice(0, 90))"""

# Words that ask the reader to operate something.
REQUESTS = re.compile(
    r"\b(Drag (an|any|the|a)|drag (it|any)|Press Play|press \w+ (first|beside)|[Uu]ntick"
    r"|Type a|[Tt]ap (it|any)|pull (the bar|one arrow)|Move the (slope|temperature)"
    r"|Play before you read)\b"
)

# Neighbouring numbers in a row of a table whose texts are less than a space apart.
TOUCHING = """() => [...document.querySelectorAll("article tr")].filter((e) => e.checkVisibility())
  .flatMap((row) => {
    const boxes = [...row.cells].map((cell) => {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      const rects = [];
      for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        if (!text.data.trim() || !text.parentElement.checkVisibility()) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        rects.push(...range.getClientRects());
      }
      const [left, top] = ["left", "top"].map((side) => Math.min(...rects.map((r) => r[side])));
      const [right, bottom] = ["right", "bottom"].map((side) =>
        Math.max(...rects.map((r) => r[side])));
      return [cell.textContent, { left, top, right, bottom }];
    }).filter(([text, box]) => /\\d/.test(text) && box.right > box.left);
    return boxes.slice(1).filter(([, box], i) => {
      const before = boxes[i][1];
      return box.top < before.bottom && before.top < box.bottom && box.left - before.right < 4;
    }).map(([text], i) => `${boxes[i][0]} | ${text}`);
  })"""


def requests(page):
    """Return the words on a page that ask the reader to operate a control."""
    return [found[0] for found in REQUESTS.finditer(page.locator("article").inner_text())]


@pytest.mark.parametrize("name", PAGES)
def test_without_a_script_no_control_is_idle_and_numbers_are_apart(opened, name):
    page = opened(name, java_script_enabled=False)
    assert page.evaluate(CONTROLS) == []
    assert requests(page) == []
    assert page.evaluate(TOUCHING) == []
    # Copied text has a tab between two cells.
    rows = page.locator("article .before tr").all_inner_texts()
    assert not [row for row in rows if re.search(r"\d\.\d+\.\d", row)]


@pytest.mark.parametrize("name", PAGES)
def test_print_has_filled_bars_whole_labels_and_no_controls(opened, name):
    page = opened(name)
    open_every_fold(page)
    page.evaluate(BEGIN)
    build_explorers(page)
    page.emulate_media(media="print")
    assert page.evaluate(ON_PAPER) == []
    assert page.evaluate(EMPTY_BARS) == []
    assert page.evaluate(HALOS) == []
    assert requests(page) == []
