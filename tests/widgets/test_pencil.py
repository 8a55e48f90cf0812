"""The red pencil in Chromium: its corrections agree with the audit, and its controls work."""

from functools import partial

import pytest
from correction_oracle import judge_corrected
from playwright.sync_api import expect

from mha.audit.document_data import SLIP, SPOILED, verdict
from mha.audit.judging import judgements
from mha.audit.sources import TITLES, load_source
from mha.widgets.pencil import red_pencil

pytestmark = pytest.mark.browser

AT_81 = "#pencil=sources&document=apple-walkthrough&at=110:query.0.2.0"


@pytest.fixture
def opened(open_instrument, static):
    """Return a function that opens the pencil, at an address and in a window."""
    boxes = f'<link rel="stylesheet" href="{static.as_uri()}/boxes.css">'
    html = boxes + red_pencil("apple-walkthrough").html
    return partial(open_instrument, html, width=1100, reduced_motion="reduce")


CORRECTED = """([source, sets]) => {
  const { correct, read } = modules.corrections;
  const sheet = modules.pencilSheets.find(({ name }) => name === source);
  const numbers = read(sheet);
  const spots = sheet.blocks.flatMap(({ rows }) => rows.flatMap(({ at }) => at));
  return sets.map((which) => {
    const { states, values, changed } = correct(numbers, new Set(which.map((i) => spots[i])));
    return spots.map((spot) => [states[spot], changed[spot], changed[spot] ? values[spot] : null]);
  });
}"""


def test_the_consequences_of_corrections_agree_with_the_audit(arithmetic_page, rng):
    page = arithmetic_page
    for source in TITLES:
        numbers = load_source(source)
        derived = [i for i, number in enumerate(numbers) if number.kind == "derived"]
        slips = [i for i, j in enumerate(judgements(source)) if verdict(j) == SLIP]
        shares = (0, 0.02, 0.1, 0.5, 0.9, 1) if slips else (0,)
        sets = [[i for i in slips if rng.random() < share] for share in shares]
        sets += [slips[:n] for n in (1, len(slips) // 2)]
        found = page.evaluate(CORRECTED, [source, sets])
        for which, browser_says in zip(sets, found, strict=True):
            wanted = judge_corrected(numbers, {derived[i] for i in which})
            states = [min(said[0], SPOILED) for said in browser_says]
            assert states == [verdict(j) for j in wanted], source
            for (_, is_changed, value), judgement in zip(browser_says, wanted, strict=True):
                if is_changed:
                    assert value == pytest.approx(judgement.local, rel=1e-12, abs=1e-12), source


def counts(page):
    """Return the numbers of correct, wrong and dependent numbers in the text and by colour."""
    page.wait_for_function(
        "document.querySelector('mha-instrument, mha-explorer').isSettled"
    )  # what is below the screen too
    said = [int(text) for text in page.locator(".pencil-key b").all_inner_texts()]
    looks = [
        page.locator(f".pencil-row .n.{look}").count()
        for look in ("right", "slip", "spoiled", "inexact")
    ]
    assert said == looks
    return said


def test_a_slip_shows_its_sum_and_what_follows_and_can_be_corrected(opened):
    page = opened()
    said, lit = page.locator(".pencil-said"), page.locator(".pencil-row .n.lit")
    assert counts(page) == [80, 349, 200, 0]
    page.get_by_label("0.81. Query of apple, q₁, Head 1, line 110. Slip: 1.18 follows").click()
    expect(said.locator(".pencil-line")).to_have_text("0.48 + 0.04 + 0.6 + 0.06 = 0.81 1.18")
    expect(said).to_contain_text("24 numbers were computed from it")
    expect(said).to_contain_text("Claims that are wrong: ★ apple scores highest with itself")
    expect(said).to_contain_text("★ apple attends most to eat in Head 1 (line 224)")
    assert lit.count() == 24
    assert page.locator(".pencil-row .n.end").count() > 5
    said.get_by_role("button", name="Correct it").click()
    assert counts(page) == [83, 348, 198, 0]
    expect(
        page.get_by_label("1.18. Query of apple, q₁, Head 1, line 110. Now right")
    ).to_have_count(1)
    expect(lit.filter(has_text="1.440")).to_have_count(1)
    page.wait_for_function("location.hash.endsWith('&corrected=2')")
    said.get_by_role("button", name="Put it back").click()
    assert counts(page) == [80, 349, 200, 0]
    # The slider goes through the slips; each time that it is moved is one step.
    slider = page.get_by_label("Correct the slips, first to last")
    slider.fill("1")
    page.wait_for_function("location.hash.endsWith('&corrected=1')")
    slider.fill("100")
    slider.press("End")
    assert counts(page) == [629, 0, 0, 0]
    assert slider.get_attribute("aria-valuetext") == "349 of 349 slips corrected"
    page.get_by_role("button", name="Reset").click()
    assert counts(page) == [80, 349, 200, 0]
    before = [225, 249, 155, 0], [81, 348, 200, 0], [80, 349, 200, 0]
    for found in ([629, 0, 0, 0], *before):
        page.get_by_role("button", name="Undo").click()
        assert counts(page) == found


def test_a_spoiled_number_leads_to_the_slips_behind_it(opened):
    cats = "#pencil=sources&document=back-to-cats-slides&at=203:head_outputs.0.0.0"
    page = opened(cats, reduced_motion="no-preference")
    said = page.locator(".pencil-said")
    expect(said).to_contain_text("Spoiled: computed correctly from wrong numbers.")
    said.get_by_role("button", name="0.33. Key of <end>").first.click()
    expect(said.locator(".pencil-line")).to_have_text(
        "0.1 × 0 + 0.1 × 0 + 0.1 × 1 + 1 × 0.3 = 0.33 0.4"
    )
    page.get_by_label("0.865. Scaled score of query The with key cat").click()
    expect(said).to_contain_text("Off by rounding: no slip caused it")
    page.get_by_label("Correct the slips, first to last").press("End")
    assert counts(page) == [130, 0, 0, 3]


# As soon as a document is chosen, and as it is to be printed: its numbers, and those with a name.
PRINTED = """() => {
  const numbers = (named = "") => document.querySelectorAll(`.pencil-row .n${named}`).length;
  document.querySelector(".pencil-tab[aria-pressed=true]").click();
  const first = numbers();
  dispatchEvent(new Event("beforeprint"));
  return [first < 629, numbers(), numbers("[aria-label]")];
}"""


def test_the_keyboard_goes_from_number_to_number_and_print_has_all_of_them(opened):
    page = opened()
    stop = page.locator(".pencil-row [tabindex='0']")
    expect(stop).to_have_count(1)
    stop.focus()
    for key, wanted in (("ArrowRight", "0.04"), ("ArrowDown", "0.04"), ("End", "0.81"),
                        ("ArrowDown", "0.67"), ("Home", "0.12")):  # fmt: skip
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_have_text(wanted)
    expect(stop).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".pencil-line")).to_have_text("0.6 × 0.2 = 0.12")
    page.keyboard.press("Escape")
    expect(page.locator(".pencil-line")).to_have_count(0)
    assert page.evaluate(PRINTED) == [True, 629, 629]


def test_an_address_opens_a_number_with_its_corrections_and_a_phone_has_room(opened):
    page = opened(f"{AT_81}&corrected=2.9-10", width=390, has_touch=True, is_mobile=True)
    corrected, chosen = page.locator(".pencil-scrub output"), page.locator(".pencil-row .n.at")
    expect(corrected).to_have_text("3 of 349 slips corrected")
    expect(chosen).to_have_text("1.18")
    expect(chosen).to_be_in_viewport()
    small = page.locator(".pencil-row .n, .pencil button").evaluate_all(
        "all => all.filter((e) => e.getBoundingClientRect().height < 24).length"
    )
    assert small == 0
    page.locator(".pencil-tab").last.tap()
    expect(page.get_by_role("button", name="Tutorial")).to_be_in_viewport(ratio=0.9)
    page.get_by_role("button", name="Lecture notes").tap()
    page.wait_for_function("location.hash === '#pencil=sources&document=attention-notes'")
    page.get_by_role("button", name="Walkthrough").tap()
    expect(corrected).to_have_text("3 of 349 slips corrected")
    page.wait_for_function("document.querySelector('mha-instrument, mha-explorer').isSettled")
    said, last = page.locator(".pencil-said"), page.locator(".pencil-row .n").last
    place = "(e) => e.getBoundingClientRect().top + scrollY"
    before = last.evaluate(place)
    page.locator(".pencil-row .n.slip").first.tap()
    assert said.bounding_box()["height"] < 0.35 * 900
    assert chosen.bounding_box()["y"] + 20 < said.bounding_box()["y"]
    last.scroll_into_view_if_needed()
    expect(chosen).not_to_be_in_viewport()
    page.locator(".pencil-name").tap()
    expect(chosen).to_be_in_viewport()
    page.get_by_role("button", name="Correct it").tap()
    assert last.evaluate(place) == before
