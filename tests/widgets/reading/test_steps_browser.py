"""Reading in steps, in Chromium."""

import pytest
from book_site import until
from playwright.sync_api import expect
from reading_book import STEPS, box, read_in_steps

pytestmark = pytest.mark.browser


def test_the_steps_are_the_page_s_sections_and_each_shows_itself_and_nothing_else(page):
    everything = page.locator("article").inner_text()
    label = page.locator(".steps-label")
    read_in_steps(page)
    expect(page.locator("article h1")).to_be_focused()
    following = page.get_by_role("button", name="Next step")
    place = following.bounding_box()
    for i, step in enumerate(STEPS[1:], start=2):
        following.click()
        assert following.bounding_box() == place
        expect(page.locator(":is(h2, h3):focus")).to_contain_text(step)
        expect(label).to_have_text(f"Step {i} of {len(STEPS)}: {step}")
        for text, at in (
            ("The word aardvark stands here.", ["Head 2"]),
            ("A paragraph before.", ["Scores"]),
            ("Scores", ["Scores", "Head 1", "Head 2"]),  # the section's heading stays
        ):
            shown = page.locator("article :is(p, h2)", has_text=text).first.is_visible()
            assert shown == (step in at), (step, text)
    page.get_by_role("button", name="Whole page").click()
    expect(page.locator("h2", has_text=STEPS[-1])).to_be_focused()
    expect(page.get_by_text("The whole page is shown.")).to_have_attribute("role", "status")
    again = page.locator("article").inner_text().replace("The whole page is shown.\n\n", "")
    assert again.replace("Continue at step 7 of 7", "Read in steps") == everything


def test_keys_and_links_turn_steps_and_print_and_search_have_the_whole_page(page):
    label, bar = page.locator(".steps-label"), page.locator(".steps-bar")
    page.keyboard.press("ArrowRight")
    assert not bar.is_visible(), "not before steps are asked for"
    read_in_steps(page)
    page.keyboard.press("ArrowRight")
    expect(label).to_contain_text("Step 2 of 7")
    box(page, "query").get_by_label("Your answer").fill("12")
    page.keyboard.press("ArrowLeft")
    expect(label).to_contain_text("Step 2 of 7")
    page.locator("h2", has_text="Queries").focus()
    page.keyboard.press("Shift+ArrowLeft")
    expect(label).to_contain_text("Step 2 of 7")
    page.keyboard.press("ArrowLeft")
    expect(label).to_contain_text("Step 1 of 7")
    page.keyboard.press("ArrowRight")
    page.get_by_role("link", name="Head 2").first.click()  # into a hidden step
    expect(label).to_have_text("Step 5 of 7: Head 2")
    expect(page.get_by_text("The word aardvark stands here.")).to_be_in_viewport()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".step-hidden").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(label).to_contain_text("Step 5 of 7")
    page.keyboard.press("Control+f")
    expect(bar).not_to_be_visible()
    page.get_by_role("button", name="Continue at step 5").click()
    hidden = page.locator(".step-hidden").last
    assert hidden.get_attribute("hidden") == "until-found"
    # Chromium fires this event when a search reaches hidden text.
    hidden.evaluate("e => e.dispatchEvent(new Event('beforematch', {bubbles: true}))")
    assert page.locator(".step-hidden").count() == 0
    expect(bar).not_to_be_visible()


def test_an_address_opens_its_step_and_the_back_button_returns(reader):
    made = reader()
    page = made.open(fragment="#step-3")
    label = page.locator(".steps-label")
    expect(label).to_have_text("Step 3 of 7: Scores")
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("#step-4")
    page.go_back()
    expect(label).to_contain_text("Step 3 of 7")
    page.get_by_role("button", name="Whole page").click()
    assert page.url.endswith("worked.html")
    page = made.open(fragment="#step-99")
    expect(label).to_contain_text("Step 7 of 7")
    page = made.again()  # the place is remembered
    expect(page.locator(".steps-bar")).not_to_be_visible()
    page.get_by_role("button", name="Continue at step 7 of 7").click()
    expect(label).to_contain_text("Step 7 of 7")
    # A paragraph that introduces a block stays with it, even if both are too high for a screen.
    page.set_viewport_size({"width": 1280, "height": 240})
    page = made.open(fragment="#step-2")
    assert page.get_by_text("now work this number:").is_visible()
    assert box(page, "query").is_visible()


BLOCKS = """() => Array.from(document.querySelectorAll('article section > :not(section, h1, h2)'))
  .filter(e => !e.closest('.step-hidden') && e.textContent.trim()
    && !e.matches('.steps-start, .steps-bar')).map(e => e.textContent.trim())"""
HEIGHT = "document.querySelector('article').getBoundingClientRect().height / innerHeight"


def test_a_step_is_at_most_one_and_a_half_screens_and_none_is_lost(reader):
    page = reader(width=390).open("long")
    everything = page.evaluate(BLOCKS)
    read_in_steps(page)
    steps = "document.querySelector('progress').max"
    seen = []
    for _ in range(page.evaluate(steps)):
        assert page.evaluate(HEIGHT) <= 1.5
        seen.append(page.evaluate(BLOCKS))
        assert not seen[-1][-1].endswith(":"), "words that lead on stay with what they lead to"
        page.keyboard.press("ArrowRight")
    assert [text for blocks in seen for text in blocks] == everything
    tables = [blocks[-1].startswith("table") for blocks in seen[1:-1]]
    assert all(tables), "cut behind the blocks of numbers"
    # The place is kept when the window changes, and on the whole page.
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    first, total = page.evaluate(BLOCKS)[0], page.evaluate(steps)
    page.set_viewport_size({"width": 1280, "height": 900})
    until(page, f"{steps} !== {total}")
    assert first in page.evaluate(BLOCKS)
    page.get_by_role("button", name="Whole page").click()
    expect(page.locator("article p", has_text=first[:30])).to_be_in_viewport()
