"""The box in which a reader computes one number, in a real Chromium."""

import re

import pytest
from playwright.sync_api import expect
from reading_book import RUN, answer, box

from mha import shown
from mha.practice.exercise import numeric_exercise

pytestmark = pytest.mark.browser

UNREADABLE = "This cannot be read as a number. Write it like 0.25, −1.5, 3/7 or e^1/3.7."

ANSWERS = (
    ("query", "0,80", "Right. The answer is 0.8."),
    ("query", "0.7", "Not yet. Check your sum, or take a hint."),
    ("query", "-0.8", "Not yet. The size is right, but look at the sign again."),
    ("query", "0.6",
     "Not yet. That is one product alone: work out the others too, and add all of them."),
    ("query", "x", UNREADABLE),
    ("query", "", "Enter a number first."),
    ("percent", "59 %", f"Right. The answer is {shown(100 * RUN.weights[1, 2, 1])} %."),
    ("percent", "58",
     "Close: this is a slip of rounding. Keep all digits until the last step."
     " Answer in percent, with a whole number."),
)  # fmt: skip


SIGNS = """box => ["color", "content"].map((what, i) =>
  getComputedStyle(box, i ? "::before" : null).getPropertyValue(what))"""


def test_an_answer_is_judged_and_its_verdict_has_sign_word_and_colour(page):
    colours = {}
    for name, text, wanted in ANSWERS:
        answer(page, name, text)
        feedback = box(page, name).get_by_role("status")
        expect(feedback).to_have_text(wanted.replace(" %.", "\u00a0%."))
        field = box(page, name).get_by_label("Your answer")
        is_unreadable = str(text in ("", "x")).lower()
        expect(field).to_have_attribute("aria-invalid", is_unreadable)
        colours[text], sign = feedback.evaluate(SIGNS)
        assert text == "" or sign[:3] == ('"✓ ' if wanted.startswith("Right") else '"✗ '), text
    assert colours["0,80"] != colours["0.7"] == colours["x"]
    page.emulate_media(forced_colors="active")
    answer(page, "query", "0.7")
    feedback = box(page, "query").get_by_role("status")
    assert feedback.evaluate(SIGNS)[1].startswith('"✗ ')
    field = box(page, "query").get_by_label("Your answer")
    field.focus()
    assert field.evaluate("f => getComputedStyle(f).outlineStyle") != "none"
    box(page, "query").get_by_role("button", name="Another set").click()
    assert feedback.evaluate(SIGNS)[1] == "none"


def press(page, keys):
    for key in keys.split():
        page.keyboard.press(key)


def test_a_box_is_worked_by_keyboard(page):
    turn = box(page, "query")
    turn.get_by_label("Your answer").focus()
    for keys, said in (
        ("1 Enter", "Not yet"),
        ("Tab Tab Enter Space Enter", "no more hints"),
    ):
        press(page, keys)
        expect(turn.get_by_role("status")).to_contain_text(said)
    hints = numeric_exercise(RUN, "query", 0, 1).hints
    expect(turn.locator(".your-turn-hints li")).to_have_text(list(hints))
    press(page, "Tab Enter")
    expect(turn.get_by_role("status")).to_contain_text("other numbers")
    press(page, "Tab Enter")
    assert turn.locator("details").evaluate("d => d.open")


def test_new_numbers_ask_anew_and_come_back_with_the_page(reader):
    page = (made := reader()).open()
    turn = box(page, "output")
    answer(page, "output", "2")
    turn.get_by_role("button", name="Hint").click()
    seen = []
    for _ in range(3):
        turn.get_by_role("button", name="Another set").click()
        seen.append(turn.locator(".your-turn-givens").inner_text())
        assert turn.get_by_label("Your answer").input_value() == ""
        assert turn.locator(".your-turn-hints li").count() == 0
    assert len(set(seen)) == 3
    turn.get_by_role("button", name="Hint").click()
    expect(turn.locator(".your-turn-hints li")).to_have_text(re.compile("^Multiply pair by pair:"))
    line = turn.locator(".your-turn-worked p").text_content()
    answer(page, "output", re.split(" [=≈] ", line)[-1])
    expect(turn.get_by_role("status")).to_contain_text("Right.")
    made.again()
    turn.get_by_role("button", name="Another set").click()
    assert turn.locator(".your-turn-givens").inner_text() == seen[0]


def test_each_field_of_a_box_is_judged_by_itself(kinds):
    several = box(kinds, "several")
    status, marks = several.get_by_role("status"), several.locator(".your-turn-mark")
    several.get_by_label("Your answer 1").fill("0.96")
    several.get_by_role("button", name="Check").click()
    expect(marks).to_have_text(["Right", ""])
    expect(status).to_have_text("1 of 2 right.")
    several.get_by_label("Your answer 2").fill("0.84")
    several.get_by_role("button", name="Check").click()
    expect(marks).to_have_text(["Right", "Not yet"])
    expect(status).to_contain_text(
        "1 of 2 right. Your answer 2: Not yet. That is one product alone"
    )
    several.get_by_role("button", name="Hint").click()
    expect(several.locator(".your-turn-hints li")).to_contain_text(["Your answer 2: Multiply"])
    assert several.locator(".reading-done").inner_text() == ""
    several.get_by_label("Your answer 2").fill("1.8")
    expect(marks).to_have_text(["Right", ""])
    kinds.keyboard.press("Enter")
    expect(status).to_have_text("Right: all of them.")
    expect(several.locator(".reading-done")).to_have_text("answered")


GOALS = (
    (("2", "0"), "Not yet. With these numbers: the 0.2\u00a0%, river 87.9\u00a0%"),
    (("", ""), "Enter a number first."),
    (("1", "x"), UNREADABLE),
    (("9^323", "9^323"), "too large"),
    (("1", "1"), "Right, that does it: the 0.2\u00a0%, river 98.0\u00a0%, bank 1.8\u00a0%."),
    (("9^99", "1"), "Right, that does it: the 0.0\u00a0%, river 100.0\u00a0%"),
)


def test_a_query_is_computed_with(kinds):
    goal = box(kinds, "build")
    for numbers, said in GOALS:
        for i, number in enumerate(numbers):
            goal.locator("input").nth(i).fill(number)
        goal.get_by_role("button", name="Check").click()
        expect(goal.get_by_role("status")).to_contain_text(said)
        done = goal.locator(".reading-done").inner_text()
        assert (done == "answered") is said.startswith("Right")
