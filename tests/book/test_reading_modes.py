"""Every page without a script, and as a browser prints it: nothing asks for what cannot be done."""

import re

import pytest
from book_site import toc_pages
from page_checks import EMPTY_BARS, HALOS, ON_PAPER, build_explorers, open_every_fold

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGES = toc_pages()

# Controls that a reader sees. The switch of printed numbers works by its style sheet alone; a fold
# opens without a script.
CONTROLS = """() => [...document.querySelectorAll(
    "article :is(button, input, select, textarea, [role=button], [role=slider], [role=spinbutton])"
  )]
  .filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((e) => e.getBoundingClientRect().width > 1 && !e.closest(".printed-switch"))
  .map((e) => e.outerHTML.slice(0, 90))"""

# Words that ask for a hand. Figures and formulas have none.
ASKS = re.compile(
    r"\b(Drag (an|any|the|a)|drag (it|any)|Press Play|press \w+ (first|beside)|[Uu]ntick"
    r"|Type a|[Tt]ap (it|any)|pull (the bar|one arrow)|Move the (slope|temperature)"
    r"|Play before you read)\b"
)

# Neighbours in a row of a table between which there is less room than a space.
TOUCHING = """() => [...document.querySelectorAll("article tr")].filter((e) => e.checkVisibility())
  .flatMap((row) => {
    const boxes = [...row.cells].map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell.querySelector(".heat") ?? cell);  // which has its own padding
      return [cell.textContent, range.getBoundingClientRect()];
    }).filter(([text, box]) => /\\d/.test(text) && box.width > 0);
    return boxes.slice(1).filter(([, box], i) => {
      const before = boxes[i][1];
      return box.top < before.bottom && before.top < box.bottom && box.left - before.right < 4;
    }).map(([text], i) => `${boxes[i][0]} | ${text}`);
  })"""


def asked(page):
    """Return the words of a page that ask for a hand."""
    return [found[0] for found in ASKS.finditer(page.locator("article").inner_text())]


@pytest.mark.parametrize("name", PAGES)
def test_without_a_script_no_control_is_idle_and_numbers_are_apart(opened, name):
    page = opened(name, java_script_enabled=False)
    assert page.evaluate(CONTROLS) == []
    assert asked(page) == []
    assert page.evaluate(TOUCHING) == []
    # Copied text has a tab between two cells.
    rows = page.locator("article .before tr").all_inner_texts()
    assert not [row for row in rows if re.search(r"\d\.\d+\.\d", row)]


@pytest.mark.parametrize("name", PAGES)
def test_print_has_filled_bars_whole_labels_and_no_controls(opened, name):
    page = opened(name)
    open_every_fold(page)
    build_explorers(page)
    page.emulate_media(media="print")
    assert page.evaluate(ON_PAPER) == []
    assert page.evaluate(EMPTY_BARS) == []
    assert page.evaluate(HALOS) == []
    assert asked(page) == []
