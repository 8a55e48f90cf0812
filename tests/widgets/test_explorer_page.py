"""The explorer without a script, and by everyone, in a real Chromium."""

import re

import pytest
from accessible import violations
from playwright.sync_api import expect

from mha import shown

pytestmark = pytest.mark.browser


def test_every_number_can_be_opened_without_javascript(view):
    seen = view("the-cat-sat", java_script_enabled=False)
    seen.page.locator(".all > summary").click()
    for fold in seen.page.locator(".body .fold > summary").all():
        fold.click()
    for table in seen.page.locator("table[data-stage]").all():
        expect(table.locator("td").first).to_be_visible()
    row = seen.run.example.focus or 0
    keys = zip(seen.run.tokens, seen.run.weights[0, row], strict=True)
    wanted = [re.compile(f"^{token}.*{shown(float(weight))}") for token, weight in keys]
    expect(seen.page.locator(".before tbody tr")).to_have_text(wanted)


SMALL = """all => all.filter(e => { const { width, height } = e.getBoundingClientRect();
  return Math.min(width, height) < 24; }).map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize(
    ("name", "theme", "width"), [("the-cat-sat", "dark", 1280), ("apple", "light", 390)]
)
def test_axe_finds_nothing_whatever_is_changed_and_targets_are_large(view, name, theme, width):
    seen = view(name, theme=theme, width=width).open()
    seen.page.locator(".body .fold > summary").evaluate_all("all => all.forEach(s => s.click())")
    seen.cell("weights", 0, 0, 1).click()
    targets = seen.page.locator("mha-explorer :is(button, input):visible")
    assert targets.count() > 100
    assert targets.evaluate_all(SMALL) == []
    if name == "the-cat-sat":
        seen.choose("Show what the source prints")
        assert violations(seen.page) == []
    seen.choose(seen.run.head_names[1])
    seen.choose("Causal: no later keys")
    if name == "the-cat-sat":
        seen.choose("Head 1 on")
    seen.page.get_by_label("Temperature").fill("nothing")
    seen.cell("embeddings", 0, 0).click()
    seen.page.get_by_label("Change to").fill("0.25")
    assert violations(seen.page) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
