"""Boxes for numbers, quizzes, and the stored answers, in Chromium."""

import re

import pytest
from playwright.sync_api import expect
from reading_book import KEY, RUN, answer, badge, box, choose, read_in_steps

from mha.practice.exercise import numeric_exercise
from mha.runs.rounding import shown

pytestmark = pytest.mark.browser

UNREADABLE = "“x” cannot be read as a number. Write it like 0.25, −1.5, 3/7 or e^1/3.7."
ANSWERS = (
    ("query", "0,80", "Right. The answer is 0.8."),
    ("query", "0.7", "Not yet. Check your calculation, or take a hint."),
    ("query", "0.6",
     "Not yet. That is only one product: compute the others too, and add all of them."),
    ("query", "x", UNREADABLE),
    ("query", "", "Enter a number first."),
    ("percent", "59 %", f"Right. The answer is {shown(100 * RUN.weights[1, 2, 1])}\u00a0%."),
    ("percent", "58",
     "Close: this is a rounding error. Keep all digits until the last step."
     " Answer in percent, with a whole number."),
)  # fmt: skip
SIGNS = "e => [getComputedStyle(e).color, getComputedStyle(e, '::before').content[1]]"


def test_an_answer_is_judged_and_its_verdict_has_sign_word_and_colour(page):
    looks = {}
    for name, text, wanted in ANSWERS:
        answer(page, name, text)
        feedback = box(page, name).get_by_role("status")
        expect(feedback).to_have_text(wanted)
        is_unreadable = str(text in ("", "x")).lower()
        field = box(page, name).get_by_label("Your answer")
        expect(field).to_have_attribute("aria-invalid", is_unreadable)
        looks[text] = feedback.evaluate(SIGNS)
    assert looks["59 %"] == looks["0,80"] != looks["0.7"] == looks["x"]
    assert [looks[text][1] for text in ("0,80", "0.7")] == ["✓", "✗"]
    page.emulate_media(forced_colors="active")
    field = box(page, "query").get_by_label("Your answer")
    field.focus()
    assert field.evaluate("f => getComputedStyle(f).outlineStyle") != "none"


def test_a_box_is_worked_by_keyboard(page):
    turn = box(page, "query")
    turn.get_by_label("Your answer").focus()
    for keys, said in (
        ("1 Enter", "Not yet"),
        ("Tab Tab Enter Space Enter", "no more hints"),
        ("Tab Enter", "new numbers"),
    ):
        for key in keys.split():
            page.keyboard.press(key)
        expect(turn.get_by_role("status")).to_contain_text(said)
        if "hints" in said:
            hints = numeric_exercise(RUN, "query", 0, 1).hints
            expect(turn.locator(".your-turn-hints li")).to_have_text(list(hints))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert turn.locator("details").evaluate("d => d.open")


def test_new_numbers_ask_anew_and_come_back_with_the_page(reader):
    page = (made := reader()).open()
    turn = box(page, "output")
    another = turn.get_by_role("button", name="Another set")
    answer(page, "output", "2")
    turn.get_by_role("button", name="Hint").click()
    seen = []
    for _ in range(3):
        another.click()
        seen.append(turn.locator(".your-turn-givens").inner_text())
        assert turn.get_by_label("Your answer").input_value() == ""
        assert turn.locator(".your-turn-hints li").count() == 0
    assert len(set(seen)) == 3
    turn.get_by_role("button", name="Hint").click()
    expect(turn.locator(".your-turn-hints li")).to_have_text(re.compile("^Multiply pair by pair:"))
    line = turn.locator(".your-turn-worked p").text_content()
    answer(page, "output", re.split(" [=≈] ", line)[-1])
    expect(turn.get_by_role("status")).to_contain_text("Right.")
    done = turn.locator(".reading-done")
    expect(done).to_have_text("answered")
    another.click()
    expect(done).to_be_empty()  # these numbers are not answered yet
    made.again()
    expect(done).to_have_text("answered")
    another.click()
    expect(done).to_be_empty()
    assert turn.locator(".your-turn-givens").inner_text() == seen[0]


def test_each_field_of_a_box_is_judged_by_itself(kinds):
    several = box(kinds, "several")
    status, marks = several.get_by_role("status"), several.locator(".your-turn-mark")
    second = several.get_by_label("Your answer 2")
    several.get_by_label("Your answer 1").fill("0.96")
    kinds.keyboard.press("Enter")
    expect(marks).to_have_text(["Right", ""])
    expect(status).to_have_text("1 of 2 right.")
    second.fill("0.84")
    kinds.keyboard.press("Enter")
    expect(marks).to_have_text(["Right", "Not yet"])
    expect(status).to_contain_text("Your answer 2: Not yet. That is only one product")
    several.get_by_role("button", name="Hint").click()
    expect(several.locator(".your-turn-hints li")).to_contain_text(["Your answer 2: Multiply"])
    expect(several.locator(".reading-done")).to_be_empty()
    second.fill("1.8")
    expect(marks).to_have_text(["Right", ""])
    kinds.keyboard.press("Enter")
    expect(status).to_have_text("Right: all of them.")
    expect(several.locator(".reading-done")).to_have_text("answered")


GOALS = (
    (("2", "0"), "Not yet. With these numbers: the 0.2\u00a0%, river 87.9\u00a0%"),
    (("", ""), "Enter a number first."),
    (("1", "x"), "“x” is not a number. Type one such as 0.5, −2 or 1/3."),
    (("1", ""), "Type a number, such as 0.5, −2 or 1/3."),
    (("9^99", "1"), "“9^99” is out of range. Type a number from −1000 to 1000."),
    (("1", "1"), "Right: the 0.2\u00a0%, river 98.0\u00a0%, bank 1.8\u00a0%."),
)


def test_a_query_is_computed_with(kinds):
    goal = box(kinds, "build")
    for numbers, said in GOALS:
        for field, number in zip(goal.locator("input").all(), numbers, strict=True):
            field.fill(number)
        goal.get_by_role("button", name="Check").click()
        expect(goal.get_by_role("status")).to_contain_text(said)
        done = goal.locator(".reading-done").inner_text()
        assert (done == "answered") is said.startswith("Right")


# ---- Quizzes ----


def status(page, name):
    return page.locator(f"#quiz-{name} .quiz-status")


def without_keys(page):
    """Remove the answers of the page's quizzes, as in a book without solutions."""
    page.evaluate("""() => document.querySelectorAll("mha-quiz").forEach((quiz) => {
      quiz.querySelector(".quiz-answer").remove();
      quiz.replaceWith(quiz.cloneNode(true));
    })""")


def test_a_wrong_option_says_why_and_the_right_one_ends_it(page):
    quiz, says = page.locator("#quiz-one"), status(page, "one")
    notes = quiz.locator(".quiz-note")
    choose(page, "one")
    expect(says).to_have_text("Choose an option first.")
    choose(page, "one", "The first")
    expect(says).to_contain_text("Not yet.")
    assert says.evaluate(SIGNS)[1] == "✗"
    expect(notes.first).to_contain_text("this is the first note")
    described = quiz.locator("input").first.get_attribute("aria-describedby")
    assert described == notes.first.get_attribute("id")
    page.keyboard.press("Tab")
    quiz.get_by_label("The second").check()
    expect(notes.first).to_be_empty()
    expect(says).to_be_empty()
    page.keyboard.press("Enter")
    expect(says).to_have_text("Right.")
    assert says.evaluate(SIGNS)[1] == "✓"
    expect(notes.nth(1)).to_contain_text("Yes, it is.")
    expect(quiz.locator(".reading-done")).to_have_text("answered")
    # Several options are judged together.
    page.locator("#quiz-several input").first.focus()
    for key, said in (("Space", "not complete"), ("Tab Space", "a part of your choice"),
                      ("Space Tab Space", "Right.")):  # fmt: skip
        for one in key.split():
            page.keyboard.press(one)
        page.keyboard.press("Enter")
        expect(status(page, "several")).to_contain_text(said)
    without_keys(page)
    expect(quiz.locator("button")).to_be_hidden()
    quiz.locator("input").first.check()
    page.keyboard.press("Enter")
    expect(says).to_be_empty()


def test_a_prediction_opens_what_follows_whatever_was_chosen(kinds):
    sentence = kinds.get_by_text("The revealed sentence stands here.")
    quiz = kinds.locator("#quiz-doubled")
    see = quiz.get_by_role("button", name="See what happens")
    see.click()
    expect(status(kinds, "doubled")).to_have_text("Choose an option first.")
    expect(sentence).not_to_be_visible()
    for option, said in (("It grows", "Not so."), ("It sleeps", "Right.")):
        quiz.get_by_label(option).check()
        see.click()
        expect(status(kinds, "doubled")).to_have_text(f"{said} The result is below.")
        expect(sentence).to_be_visible()
        expect(quiz.locator(".reading-done")).to_have_text("answered")
    kinds.reload()
    without_keys(kinds)
    quiz.get_by_label("It grows").check()
    see.click()
    expect(sentence).to_be_visible()


# ---- Progress ----


def test_progress_is_kept_on_the_device_shown_in_the_contents_and_cleared(reader):
    page = (made := reader()).open()
    assert page.locator(".progress-badge").count() == 0
    expect(page.locator(".progress-foot")).not_to_be_visible()
    answer(page, "query", "0.8")
    choose(page, "one", "The second")
    read_in_steps(page)
    page = made.open("other")
    worked = badge(page, "A worked page")
    expect(worked.locator(".progress-line")).to_have_text(["2 of 6", "1/7 steps"])
    expect(worked.locator(".reading-unseen")).to_have_text(
        "2 of 6 questions answered, 1 of 7 steps read"
    )
    choose(page, "two", "A")
    expect(badge(page, "Another page").locator(".progress-line")).to_have_text("1 of 1")
    page = made.open()
    expect(box(page, "query").locator(".reading-done")).to_have_text("answered")
    expect(box(page, "output").locator(".reading-done")).to_be_empty()
    # It is cleared only after a question.
    clear = page.get_by_role("button", name="Clear my progress")
    clear.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(clear).to_be_focused()
    assert worked.count() == 1
    clear.click()
    page.get_by_role("button", name="Clear it").click()
    says = page.locator(".progress-foot [role=status]")
    expect(says).to_have_text("Your progress is cleared.")
    expect(says).to_be_focused()
    expect(box(page, "query").locator(".reading-done")).to_be_empty()
    page = made.open("other")
    assert page.locator(".progress-badge").count() == 0
    expect(page.locator(".progress-foot")).not_to_be_visible()


STRANGE = (
    "nonsense",
    '{"version": 2, "pages": {"worked.html": {"total": 6, "right": ["a", "b"]}}}',
    '{"version": 1, "pages": {"other.html": 3,'
    ' "worked.html": {"total": -1, "right": "x", "read": 7}}}',
)


def test_a_strange_record_is_no_obstacle(reader):
    page = (made := reader()).open()
    for stored in STRANGE:
        page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, stored])
        page = made.again()
        answer(page, "query", "0.8")
        expect(badge(page, "A worked page").locator(".progress-line")).to_have_text("1 of 6")


def test_without_storage_all_works_until_the_page_is_left(reader):
    made = reader()
    made.context.add_init_script(
        "Object.defineProperty(window, 'localStorage',"
        " {get() { throw new DOMException('no storage'); }})"
    )
    page = made.open()
    answer(page, "query", "0.8")
    choose(page, "one", "The second")
    expect(badge(page, "A worked page").locator(".progress-line")).to_have_text("2 of 6")
    # The theme's own scripts complain of the missing storage; ours do not.
    theirs = ("no storage", "theme mode")
    made.errors[:] = [e for e in made.errors if not any(part in e for part in theirs)]
