"""Reading in steps, in a real Chromium."""

import pytest
from book_site import until
from playwright.sync_api import expect
from reading_book import STEPS, box, read_in_steps

pytestmark = pytest.mark.browser


def test_the_steps_are_the_page_s_sections_and_each_shows_itself_and_nothing_else(page):
    everything = page.locator("article").inner_text()
    read_in_steps(page)
    expect(page.locator("article h1")).to_be_focused()
    labels = [page.locator(".steps-label").inner_text()]
    following = page.get_by_role("button", name="Next step")
    place = following.bounding_box()
    for step in STEPS[1:]:
        following.click()
        assert following.bounding_box() == place
        expect(page.locator(":is(h2, h3):focus")).to_contain_text(step)
        labels.append(page.locator(".steps-label").inner_text())
        for text, at in (
            ("The word aardvark stands here.", ["Head 2"]),
            ("A paragraph before.", ["Scores"]),
            ("Scores", ["Scores", "Head 1", "Head 2"]),  # the section's heading stays
        ):
            shown = page.locator("article :is(p, h2)", has_text=text).first.is_visible()
            assert shown == (step in at), (step, text)
    assert labels == [f"Step {i} of {len(STEPS)}: {title}" for i, title in enumerate(STEPS, 1)]
    page.get_by_role("button", name="Whole page").click()
    expect(page.locator("h2", has_text=STEPS[-1])).to_be_focused()
    assert page.locator(".step-hidden").count() == 0
    assert page.locator("article [hidden]:not(.steps-bar)").count() == 0
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
    page.emulate_media(media="print")
    expect(bar).not_to_be_visible()
    page.emulate_media(media="screen")
    page.keyboard.press("Control+f")
    expect(bar).not_to_be_visible()
    page.get_by_role("button", name="Continue at step 5").click()
    hidden = page.locator(".step-hidden").last
    assert hidden.get_attribute("hidden") == "until-found"
    assert page.evaluate("CSS.supports('content-visibility', 'hidden')")
    # What Chromium does when a search reaches hidden text.
    hidden.evaluate("e => e.dispatchEvent(new Event('beforematch', {bubbles: true}))")
    assert page.locator(".step-hidden").count() == 0
    expect(bar).not_to_be_visible()


def test_an_address_opens_its_step_and_the_back_button_returns(reader):
    made = reader()
    page = made.open(fragment="#step-3")
    expect(page.locator(".steps-label")).to_have_text("Step 3 of 7: Scores")
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("#step-4")
    page.go_back()
    expect(page.locator(".steps-label")).to_contain_text("Step 3 of 7")
    page.get_by_role("button", name="Whole page").click()
    assert page.url.endswith("worked.html")
    page = made.open(fragment="#step-99")
    expect(page.locator(".steps-label")).to_contain_text("Step 7 of 7")
    page = made.again()  # the place is remembered
    expect(page.locator(".steps-bar")).not_to_be_visible()
    page.get_by_role("button", name="Continue at step 7 of 7").click()
    expect(page.locator(".steps-label")).to_contain_text("Step 7 of 7")
    # Words that lead on stay with what they lead to, where any two blocks are too high.
    page.set_viewport_size({"width": 1280, "height": 240})
    page = made.open(fragment="#step-2")
    expect(page.locator(".steps-label")).to_contain_text("Queries")
    assert page.get_by_text("now work this number:").is_visible()
    assert box(page, "query").is_visible()


VISIBLE = """() => Array.from(document.querySelectorAll('article section > :not(section, h1, h2)'))
  .filter(e => !e.closest('.step-hidden') && e.textContent.trim()
    && !e.matches('.steps-start, .steps-bar'))"""
BLOCKS = f"({VISIBLE})().map(e => e.textContent.trim())"
HEIGHT = """() => { const a = document.querySelector('article');
  return a.getBoundingClientRect().height / innerHeight }"""


def test_a_step_is_at_most_one_and_a_half_screens_and_none_is_lost(reader):
    page = reader(width=390).open("long")
    everything = page.evaluate(BLOCKS)
    read_in_steps(page)
    seen = []
    for _ in range(page.evaluate("document.querySelector('progress').max")):
        assert page.evaluate(HEIGHT) <= 1.5
        seen.append(page.evaluate(BLOCKS))
        assert not seen[-1][-1].endswith(":"), "words that lead on stay with what they lead to"
        page.keyboard.press("ArrowRight")
    assert [text for blocks in seen for text in blocks] == everything
    assert len(seen) > 8
    tables = [blocks[-1].startswith("table") for blocks in seen[1:-1]]
    assert all(tables), "cut behind the blocks of numbers"


def test_the_place_is_kept_when_the_window_changes_and_on_the_whole_page(reader):
    page = reader().open("long")
    read_in_steps(page)
    for _ in range(4):
        assert page.evaluate(HEIGHT) <= 1.5
        page.keyboard.press("ArrowRight")
    (first, *_) = page.evaluate(BLOCKS)
    total = page.evaluate("document.querySelector('progress').max")
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, f"document.querySelector('progress').max !== {total}")
    assert first in page.evaluate(BLOCKS)
    assert first.startswith("Paragraph")
    page.get_by_role("button", name="Whole page").click()
    words = page.evaluate(BLOCKS)
    assert first in words
    expect(page.locator("article p", has_text=first[:30])).to_be_in_viewport()
