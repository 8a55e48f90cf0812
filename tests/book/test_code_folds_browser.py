"""Folded code in a real Chromium: what is open, the switch in the top bar, keyboard and paper."""

import book_site as site
import pytest
from page_checks import LINES
from playwright.sync_api import expect

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGE = "mechanism/self-attention"


def switch(page):
    return page.get_by_role("button", name="Code", exact=True)


def are_open(page):
    """Return whether all folds are open, or none; anything else is an error."""
    states = set(page.locator("details.code-fold").evaluate_all("all => all.map(e => e.open)"))
    assert len(states) == 1
    return states.pop()


def test_the_switch_works_by_mouse_and_keyboard_looks_pressed_and_is_remembered(opened):
    page = opened(PAGE, forced_colors="active")
    ground = "e => getComputedStyle(e).backgroundColor"
    before = switch(page).evaluate(ground)
    assert switch(page).get_attribute("aria-pressed") == "false"
    assert not are_open(page)
    switch(page).click()
    assert switch(page).get_attribute("aria-pressed") == "true"
    assert switch(page).evaluate(ground) != before
    assert are_open(page)
    expect(page.locator("details:not(.fold *) > summary", has_text="check").first).to_be_visible()
    assert any(line.startswith("assert ") for line in page.evaluate(LINES))
    site.carry_over(page)
    page.reload()
    assert switch(page).get_attribute("aria-pressed") == "true"
    assert are_open(page)
    switch(page).focus()
    page.keyboard.press("Enter")
    assert switch(page).get_attribute("aria-pressed") == "false"
    assert not are_open(page)
    site.carry_over(page)
    page.reload()
    assert not are_open(page)
    the_reader_s_place_stays_where_it_is_when_code_opens_above_it(page)


def the_reader_s_place_stays_where_it_is_when_code_opens_above_it(page):
    heading = page.locator("#reading-a-weight-matrix > h2")
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    heading.evaluate("e => scrollTo(0, e.getBoundingClientRect().top + scrollY - 80)")
    for _ in range(2):
        before = heading.bounding_box()["y"]
        box = switch(page).bounding_box()  # a locator's click would scroll to the sticky bar
        page.mouse.click(box["x"] + 5, box["y"] + 5)
        site.rest(page, 100)
        assert heading.bounding_box()["y"] == pytest.approx(before, abs=3)


def test_the_switch_works_where_nothing_can_be_stored(browser):
    page = browser.new_page()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('none'); } })"
    )
    page.goto(site.path(PAGE).as_uri())
    switch(page).click()
    assert are_open(page)
    page.close()
