"""The box in which a reader computes one number, in a real Chromium."""

import re

import pytest
from playwright.sync_api import expect
from reading_book import RUN, answer, box

from mha import short, shown

pytestmark = pytest.mark.browser

# ---- Your turn ----


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("query", "0.8", "Right. The answer is 0.8."),
        ("query", "0,80", "Right. The answer is 0.8."),
        ("query", "4/5", "Right. The answer is 0.8."),
        ("query", "0.7", "Not yet. Check your sum, or take a hint."),
        ("query", "", "Enter a number first."),
        ("query", "eight", "This cannot be read as a number. Write it like 0.25, −1.5 or 3/7."),
        ("percent", "59 %", f"Right. The answer is {shown(100 * RUN.weights[1, 2, 1])} %."),
        (
            "percent",
            "58",
            "Close: this is a slip of rounding. Keep all digits until the last step."
            " Answer in percent, with a whole number.",
        ),
    ],
)
def test_an_answer_is_judged(page, name, text, wanted):
    answer(page, name, text)
    feedback = box(page, name).get_by_role("status")
    expect(feedback).to_have_text(wanted.replace(" %.", "\u00a0%."))
    readable = text not in ("", "eight")
    wrongly = box(page, name).get_by_label("Your answer").get_attribute("aria-invalid")
    assert wrongly == str(not readable).lower()


def test_a_box_is_worked_by_keyboard(page):
    box(page, "query").get_by_label("Your answer").focus()
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(box(page, "query").get_by_role("status")).to_contain_text("Not yet")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    hints = box(page, "query").locator(".your-turn-hints li")
    expect(hints).to_have_text(
        [
            "Multiply pair by pair: 1×0.2 + 0×0.4 + 1×0.6 + 0×0.8",
            "Add the products: 0.2 + 0 + 0.6 + 0",
        ]
    )
    page.keyboard.press("Enter")
    expect(box(page, "query").get_by_role("status")).to_contain_text("no more hints")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(box(page, "query").get_by_role("status")).to_contain_text("set 1")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert box(page, "query").locator("details").evaluate("d => d.open")


def test_exponents_are_raised(page):
    raised = box(page, "power").locator(".your-turn-worked sup")
    assert raised.text_content() == short(float(RUN.scaled_scores[0, 1, 1]))
    box(page, "power").get_by_role("button", name="Hint").click()
    assert box(page, "power").locator(".your-turn-hints sup").text_content() == "0"
    box(page, "power").get_by_role("button", name="New numbers").click()
    given = box(page, "power").locator(".your-turn-given").text_content()
    assert raised.text_content() == given != short(float(RUN.scaled_scores[0, 1, 1]))


def test_new_numbers_ask_anew_and_come_back_with_the_page(reader):
    page = (made := reader()).open()
    name = "output"
    answer(page, name, "2")
    box(page, name).get_by_role("button", name="Hint").click()
    seen = []
    for _ in range(3):
        box(page, name).get_by_role("button", name="New numbers").click()
        seen.append(box(page, name).locator(".your-turn-givens").inner_text())
        assert box(page, name).get_by_label("Your answer").input_value() == ""
        assert box(page, name).locator(".your-turn-hints li").count() == 0
    assert len(set(seen)) == 3
    line = box(page, name).locator(".your-turn-worked p").text_content()
    answer(page, name, re.split(" [=≈] ", line)[-1])
    expect(box(page, name).get_by_role("status")).to_contain_text("Right.")
    page = made.again()
    box(page, name).get_by_role("button", name="New numbers").click()
    assert box(page, name).locator(".your-turn-givens").inner_text() == seen[0]
