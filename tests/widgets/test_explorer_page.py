"""The explorer as it comes and as it starts, in a real Chromium."""

import pytest
from accessible import violations
from book_site import rest
from playwright.sync_api import expect

from mha import shown

pytestmark = pytest.mark.browser


def test_opening_from_the_address_moves_nothing_in_sight(view):
    seen = view("apple", address="#explore=apple&focus=1")
    seen.live()
    assert seen.page.evaluate("window.shift") == 0
    later = view("apple")
    rest(later.page, 200)
    later.page.evaluate("location.hash = '#explore=apple&focus=1'")
    later.live()
    rest(later.page, 200)
    # Digits may begin elsewhere in their own field.
    assert later.page.evaluate("window.shift") < 1e-4
    expect(later.page.locator("#after")).to_be_visible()


def test_every_number_can_be_opened_without_javascript(view):
    seen = view("the-cat-sat", java_script_enabled=False)
    seen.page.locator(".all > summary").click()
    for fold in seen.page.locator(".body .fold > summary").all():
        fold.click()
    for stage in ("query", "key", "value", "scores", "weights", "head_outputs", "concat", "output"):
        cells = seen.page.locator(f'table[data-stage="{stage}"] td')
        assert cells.count() == getattr(seen.run, stage).size
        assert all(cell.is_visible() for cell in cells.all()[:3])
    query = seen.page.locator(".before tbody tr").all_inner_texts()
    row = seen.run.example.focus or 0
    for line, token, weight in zip(query, seen.run.tokens, seen.run.weights[0, row], strict=True):
        assert token in line
        assert shown(float(weight)) in line


TARGETS = """all => all.map(e => { const b = e.getBoundingClientRect();
  return [e.outerHTML.slice(0, 80), b.width, b.height]; })"""


@pytest.mark.parametrize(("name", "theme", "width"), [("the-cat-sat", "dark", 1280),
                                                      ("apple", "light", 390)])  # fmt: skip
def test_axe_finds_nothing_whatever_is_changed_and_targets_are_large(view, name, theme, width):
    seen = view(name, theme=theme, width=width).open()
    seen.page.locator(".body .fold > summary").evaluate_all("all => all.forEach(s => s.click())")
    seen.cell("weights", 0, 0, 1).click()
    targets = seen.page.locator("mha-explorer :is(button, input):visible")
    sizes = targets.evaluate_all(TARGETS)
    assert len(sizes) > 100
    assert [size for size in sizes if min(size[1:]) < 24] == []
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
