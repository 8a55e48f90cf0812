"""The red pencil where it stands: the landing's door, the sheet on its page, without scripts."""

import book_site as site
import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGE = "sources/what-the-sources-print"

HIGHEST = 20_000
"""Pixels at 1,280 pixels wide."""


@pytest.mark.parametrize("width", [1280, 390])
def test_the_slip_of_the_landing_is_the_door_to_its_sheet(opened, width):
    page = opened("index", width=width)
    page.locator(".front-sum .slip a").click()
    page.wait_for_selector("mha-instrument.live")
    expect(page.locator(".pencil-row .n.at")).to_have_text("0.81")
    expect(page.locator(".pencil-row .n.at")).to_be_in_viewport()
    expect(page.locator(".pencil-line")).to_have_text("0.48 + 0.04 + 0.6 + 0.06 = 0.81 1.18")
    expect(page.locator(".pencil-line")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_sheet_takes_the_room_that_was_kept_and_the_page_is_short(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(site.path(PAGE).as_uri())
    before = page.locator("#how-a-number-is-judged").bounding_box()["y"]
    page.wait_for_selector("mha-instrument.live")
    page.evaluate("document.fonts.ready.then(() => true)")
    after = page.locator("#how-a-number-is-judged").bounding_box()["y"]
    assert abs(after - before) < 24
    assert page.evaluate("document.documentElement.scrollHeight") < HIGHEST
    page.get_by_role("link", name="0.33").first.click()
    expect(page.locator(".pencil-row .n.at")).to_have_text("0.33")
    page.close()


def test_without_scripts_the_figure_and_every_number_stand_there(opened):
    page = opened(PAGE, java_script_enabled=False)
    expect(page.locator("mha-instrument .drawing")).to_be_visible()
    page.locator("details.all-numbers > summary").click(position={"x": 30, "y": 20})
    expect(page.locator("#tbl-audit-slips-apple-1")).to_be_visible()
    expect(page.locator("#tbl-audit-spoiled-apple")).to_be_visible()
