"""The pages of reading and exercises as a whole: accessibility, layout, and without scripts."""

import pytest
from accessible import too_small, violations
from playwright.sync_api import expect
from reading_book import SCRIPTS, answer, badge, box, choose, read_in_steps

pytestmark = pytest.mark.browser

CONTROLS = ".bd-article :is(button:not(.copybtn), input, summary), .progress-foot button"


@pytest.mark.parametrize(("theme", "width"), [("dark", 390), ("light", 1280)])
def test_axe_finds_nothing_in_any_state_and_nothing_overflows(reader, theme, width):
    seen = reader(width=width, theme=theme)
    page = seen.open()
    answer(page, "query", "0.8")
    answer(page, "output", "x")
    for _ in range(3):
        box(page, "percent").get_by_role("button", name="Hint").click()
    box(page, "percent").locator("summary").click()
    box(page, "output").get_by_role("button", name="Another set").click()
    choose(page, "one", "Neither")
    choose(page, "several", "This", "Those")
    assert seen.violations() == []
    read_in_steps(page)
    page.get_by_role("button", name="Next step").click()
    assert violations(page, ".steps-bar") == []
    page.get_by_role("button", name="Whole page").click()
    controls = page.locator(CONTROLS).filter(visible=True)
    assert controls.count() > 20
    assert too_small(controls) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page = seen.open("kinds")
    for name, text in (("several", "0.96"), ("row", "7.77"), ("build", "1")):
        for field in box(page, name).locator("input").all():
            field.fill(text)
        box(page, name).get_by_role("button", name="Check").click()
    page.locator("#quiz-doubled").get_by_label("It grows").check()
    page.get_by_role("button", name="See what happens").click()
    assert seen.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


PLACES = """() => { scrollTo(0, 0); return Array.from(document.querySelectorAll(
  '.bd-article :is(h1, h2, h3, p, li, section, form, label, button, input, summary, .steps-start,'
  + ' mha-your-turn, mha-quiz), nav.bd-links :is(li, a)'))
  .filter(e => !e.closest('.steps-start > *, .steps-bar, .progress-badge'))
  .map(e => [e.tagName, e.getBoundingClientRect()])
  .map(([name, box]) => [name, box.x, box.y, box.width, box.height]); }
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_moves_when_the_scripts_start(reader, width):
    without, with_ours = reader(width=width), reader(width=width)
    for name in SCRIPTS:
        without.page.route(f"**/{name}*", lambda route: route.fulfill(body=""))
    before = without.open().evaluate(PLACES)
    assert without.page.locator(".steps-start button").count() == 0
    page = with_ours.open()
    assert page.evaluate(PLACES) == before
    # Nor when there is progress to show: its places are kept free.
    answer(page, "query", "0.8")
    read_in_steps(page)
    page.get_by_role("button", name="Next step").click()
    after = with_ours.again().evaluate(PLACES)
    expect(page.get_by_role("button", name="Continue at step 2")).to_be_visible()
    expect(badge(page, "A worked page")).to_have_count(1)
    assert after == before


def test_without_a_script_all_of_it_reads_and_nothing_is_dead(reader):
    made = reader(java_script_enabled=False)
    page = made.open()
    expect(page.get_by_text("The word aardvark stands here.")).to_be_visible()
    for kind in ("your-turn-field", "your-turn-controls", "quiz-controls", "quiz-option input",
                 "steps-start"):  # fmt: skip
        expect(page.locator(f".{kind}").first).not_to_be_visible()
    page.locator(".your-turn-worked summary").first.click()
    expect(page.get_by_text("0.2 + 0 + 0.6 + 0 = 0.8")).to_be_visible()
    page.locator(".quiz-answer summary").first.click()
    expect(page.get_by_text("(b) Right.").first).to_be_visible()
    assert page.locator(".quiz-option label").first.bounding_box()["width"] > 300
    # The content behind a prediction can be opened, and is open in print.
    page = made.open("kinds")
    sentence = page.get_by_text("The revealed sentence stands here.")
    expect(sentence).not_to_be_visible()
    page.emulate_media(media="print")
    expect(sentence).to_be_visible()
    page.emulate_media(media="screen")
    page.locator(".quiz-revealed summary").click()
    expect(sentence).to_be_visible()
