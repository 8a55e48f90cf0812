"""Quizzes in a real Chromium."""

import pytest
from playwright.sync_api import expect
from reading_book import choose

pytestmark = pytest.mark.browser


def status(page, name):
    return page.locator(f"#quiz-{name} .quiz-status")


SIGNS = "s => [getComputedStyle(s).color, getComputedStyle(s, '::before').content]"


def test_a_wrong_option_says_why_and_the_right_one_ends_it(page):
    quiz, says = page.locator("#quiz-one"), status(page, "one")
    choose(page, "one")
    expect(says).to_have_text("Choose an option first.")
    choose(page, "one", "The first")
    notes = quiz.locator(".quiz-note")
    expect(says).to_contain_text("Not yet.")
    wrong, sign = says.evaluate(SIGNS)
    assert sign.startswith('"✗')
    expect(notes.nth(0)).to_contain_text("this is the first note")
    assert notes.nth(0).locator("strong").count() == 1
    described = quiz.locator("input").first.get_attribute("aria-describedby")
    assert described == notes.nth(0).get_attribute("id")
    quiz.get_by_label("The second").check()
    expect(notes.nth(0)).to_be_empty()
    expect(says).to_be_empty()
    choose(page, "one", "The second")
    expect(says).to_have_text("Right.")
    right, sign = says.evaluate(SIGNS)
    assert sign.startswith('"✓')
    assert right != wrong
    expect(notes.nth(1)).to_contain_text("Yes, it is.")
    expect(quiz.locator(".reading-done")).to_have_text("answered")


def test_a_quiz_is_worked_by_keyboard(page):
    page.locator("#quiz-one input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(status(page, "one")).to_have_text("Right.")
    # Several options are judged together.
    page.locator("#quiz-several input").first.focus()
    for key, said in (("Space", "it is not all"), ("Tab Space", "not everything"),
                      ("Space Tab Space", "Right.")):  # fmt: skip
        for one in key.split():
            page.keyboard.press(one)
        page.keyboard.press("Enter")
        expect(status(page, "several")).to_contain_text(said)
    assert page.locator("#quiz-several .quiz-note:not(:empty)").count() == 2


def test_a_prediction_opens_what_follows_whatever_was_chosen(kinds):
    sentence = kinds.get_by_text("The revealed sentence stands here.")
    quiz = kinds.locator("#quiz-doubled")
    expect(sentence).not_to_be_visible()
    quiz.get_by_role("button", name="See what happens").click()
    expect(status(kinds, "doubled")).to_have_text("Choose an option first.")
    expect(sentence).not_to_be_visible()
    for option, said in (("It grows", "Not so."), ("It sleeps", "Right.")):
        quiz.get_by_label(option).check()
        quiz.get_by_role("button", name="See what happens").click()
        expect(status(kinds, "doubled")).to_have_text(f"{said} What happens stands below.")
        expect(sentence).to_be_visible()
        expect(quiz.locator(".reading-done")).to_have_text("answered")
        expect(quiz.locator(".quiz-note:not(:empty)")).to_have_count(1)


WITHOUT_KEYS = """() => document.querySelectorAll("mha-quiz").forEach((quiz) => {
  quiz.querySelector(".quiz-answer").remove();
  quiz.replaceWith(quiz.cloneNode(true));
})"""


def test_a_quiz_without_a_key_has_no_button_and_a_prediction_opens_what_follows(page, kinds):
    page.evaluate(WITHOUT_KEYS)
    expect(page.locator("#quiz-one button")).to_be_hidden()
    page.locator("#quiz-one input").first.check()
    page.keyboard.press("Enter")
    expect(status(page, "one")).to_be_empty()
    kinds.evaluate(WITHOUT_KEYS)
    kinds.get_by_label("It grows").check()
    kinds.get_by_role("button", name="See what happens").click()
    expect(kinds.locator(".quiz-revealed p").first).to_be_visible()
    expect(status(kinds, "doubled")).to_be_empty()
