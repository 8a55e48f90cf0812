"""Folded sections and folded code of a built page: opening them, and building their contents.

`page_checks.py` tests for every page that the code is folded at first.
"""

import re

import book_site as site
import pytest
from accessible import violations
from page_checks import LINES
from playwright.sync_api import expect
from windows import resize, turn, unfold

pytestmark = [pytest.mark.book, pytest.mark.browser]

NAME = "examples/the-cat-sat"
TABLE = "tbl-the-cat-sat-readings"
"""A table inside the fold of all numbers, to which another page refers."""
BOX = "turn-the-cat-sat-scores-1-1-3"
DEEPER = "deeper-every-row-is-nearer-to-equal-weights-than-to-a-single-key"


def fold(page, kind):
    return page.locator(f"details.fold.{kind}")


def is_open(page, kind):
    return fold(page, kind).evaluate("e => e.open")


def test_all_numbers_are_built_on_opening_and_work_and_answers_are_remembered(opened, with_modules):
    page = with_modules(opened(NAME))
    elements = "document.querySelector('article').querySelectorAll('*').length"
    before = page.evaluate(elements)
    assert page.locator(f"#{TABLE}").count() == 0
    unfold(page)
    page.locator(f"#{TABLE}").wait_for()
    assert page.evaluate(elements) > before + 1000
    unfold(page)
    unfold(page)
    assert page.locator(f"#{TABLE}").count() == 1
    late = page.locator("details.all-numbers details.code-fold")
    assert not late.first.evaluate("e => e.open")
    page.get_by_role("button", name="Code", exact=True).click()
    assert set(late.evaluate_all("all => all.map(e => e.open)")) == {True}
    codes = page.locator("div.highlight pre")
    assert len(set(codes.evaluate_all("all => all.map(e => e.id)"))) == codes.count()
    assert page.locator(".copybtn").count() == codes.count()
    late.first.locator(".copybtn").first.evaluate("e => e.click()")
    expect(late.first.locator(".copybtn").first).to_have_class(re.compile("success"))
    box = page.locator(f"#{BOX}")
    box.get_by_label("Your answer").fill("1")
    box.get_by_role("button", name="Check").click()
    expect(box.locator(".your-turn-feedback")).not_to_be_empty()
    page.evaluate(f"modules.progress.setRight('{BOX}')")
    total = page.evaluate("modules.progress.entryAt(location.href).total")
    site.copy_storage(page)
    page.reload()
    with_modules(page)
    site.until(page, f"modules.progress.isRight('{BOX}')")
    unfold(page)
    box.wait_for()
    assert page.evaluate("modules.progress.entryAt(location.href).total") == total


@pytest.mark.parametrize(("target", "kind"), [(TABLE, "all-numbers"), (DEEPER, "deeper")])
def test_an_address_opens_what_it_leads_into(opened, target, kind):
    page = opened(NAME, f"#{target}")
    for each in ("all-numbers", "deeper"):
        assert is_open(page, each) == (each == kind)
    expect(page.locator(f"#{target}")).to_be_in_viewport()
    assert violations(page, f"details.fold.{kind}") == []
    turn(page, "dark")
    resize(page, 390)
    assert violations(page, f"details.fold.{kind}", runOnly=["color-contrast"]) == []


def test_a_page_with_folds_reads_in_steps_and_an_address_leads_to_its_step(opened):
    page = opened(NAME)
    page.get_by_role("button", name="Read in steps").click()
    label = page.locator(".steps-label")
    following, titles = page.get_by_role("button", name="Next step"), []
    while following.get_attribute("aria-disabled") != "true":
        titles.append(label.inner_text().split(": ", 1)[1])
        following.click()
    assert any(title.endswith("than to a single key") for title in titles)
    assert any(title.endswith("All numbers of The cat sat") for title in titles)
    page.evaluate(f"location.hash = '#{TABLE}'")
    page.locator(f"#{TABLE}").wait_for()
    expect(label).to_contain_text("All numbers of The cat sat")
    page.evaluate("location.hash = '#explore=the-cat-sat&causal=1'")
    expect(page.locator("mha-explorer.live .strip")).to_be_in_viewport()
    assert page.evaluate("document.querySelector('mha-explorer').explorer.state.causal")
    assert page.locator("mha-explorer details[open]").count() == 0  # it opens none of its own


def test_a_fold_opens_by_keyboard(opened):
    page = opened(NAME)
    for kind in ("deeper", "all-numbers"):
        assert not is_open(page, kind)
        summary = fold(page, kind).locator("> summary")
        summary.focus()
        page.keyboard.press("Enter")
        assert is_open(page, kind)
        assert summary.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"


# ---- Code ----

PAGE = "mechanism/self-attention"


def switch(page):
    return page.get_by_role("button", name="Code", exact=True)


def all_code_is(page, is_shown):
    """Assert that the switch and every fold show the same state."""
    assert switch(page).get_attribute("aria-pressed") == str(is_shown).lower()
    folds = page.locator("details.code-fold").evaluate_all("all => all.map(e => e.open)")
    assert {*folds} == {is_shown}


def test_the_switch_works_by_mouse_and_keyboard_looks_pressed_and_is_remembered(opened):
    page = opened(PAGE, forced_colors="active")
    ground = "e => getComputedStyle(e).backgroundColor"
    before = switch(page).evaluate(ground)
    all_code_is(page, False)
    switch(page).click()
    assert switch(page).evaluate(ground) != before
    all_code_is(page, True)
    expect(page.locator("details:not(.fold *) > summary", has_text="check").first).to_be_visible()
    assert any(line.startswith("assert ") for line in page.evaluate(LINES))
    site.copy_storage(page)
    page.reload()
    all_code_is(page, True)
    switch(page).focus()
    page.keyboard.press("Enter")
    all_code_is(page, False)
    site.copy_storage(page)
    page.reload()
    all_code_is(page, False)
    # The reader's place stays where it is when code opens above it.
    heading = page.locator("#reading-a-weight-matrix > h2")
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    heading.evaluate("e => scrollTo(0, e.getBoundingClientRect().top + scrollY - 80)")
    for _ in range(2):
        before = heading.bounding_box()["y"]
        box = switch(page).bounding_box()  # a locator's click would scroll to the sticky bar
        page.mouse.click(box["x"] + 5, box["y"] + 5)
        site.advance_clock(page, 100)
        assert heading.bounding_box()["y"] == pytest.approx(before, abs=3)


def test_the_switch_works_where_nothing_can_be_stored(browser):
    page = browser.new_page()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('none'); } })"
    )
    page.goto(site.path(PAGE).as_uri())
    switch(page).click()
    all_code_is(page, True)
    page.close()
