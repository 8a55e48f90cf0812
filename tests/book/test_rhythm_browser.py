"""The rhythm of a page in Chromium: what owns the full measure, what each box looks like."""

import pytest
from book_site import rest

pytestmark = [pytest.mark.book, pytest.mark.browser]

MECHANISM = (
    "what-attention-does",
    "self-attention",
    "scaling",
    "softmax",
    "multi-head-attention",
)
# The figures and explorers of the full measure that stand open: how far they reach beyond the text.
WIDE = """() => {
  const text = document.querySelector(".bd-article h1").getBoundingClientRect().right;
  return [...document.querySelectorAll(".cell.tag_full-width figure:has(> .drawing), mha-explorer")]
    .filter((e) => e.checkVisibility())
    .map((e) => e.getBoundingClientRect().right - text);
}"""


@pytest.mark.parametrize("name", MECHANISM)
def test_two_or_three_figures_own_the_full_measure(opened, name):
    page = opened(f"mechanism/{name}")
    beyond = page.evaluate(WIDE)
    assert 2 <= len(beyond) <= 3
    assert min(beyond) > 200


CUT = """() => [...document.querySelectorAll(
    ".bd-article :is(.pst-scrollable-table-container, div.highlight pre)")]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .filter((e) => !e.closest(".admonition"))
  .map((e) => e.textContent.trim().slice(0, 40))"""


@pytest.mark.parametrize("name", ["examples/apple", "examples/overview", "transformer/depth"])
def test_wide_tables_and_code_use_the_margin(opened, name):
    page = opened(name)
    page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    rest(page, 300)
    assert page.evaluate(CUT) == []
    switch = page.locator(".printed-switch input")
    if switch.count():
        switch.check()
        assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
