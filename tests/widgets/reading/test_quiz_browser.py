"""Quizzes in a real Chromium."""

import pytest
from playwright.sync_api import expect
from reading_book import choose

pytestmark = pytest.mark.browser

# ---- Quizzes ----


def status(page, name):
    return page.locator(f"#quiz-{name} .quiz-status")


def test_a_wrong_option_says_why_and_the_right_one_ends_it(page):
    choose(page, "one")
    expect(status(page, "one")).to_have_text("Choose an option first.")
    choose(page, "one", "The first")
    notes = page.locator("#quiz-one .quiz-note")
    expect(status(page, "one")).to_contain_text("Not yet.")
    expect(notes.nth(0)).to_contain_text("this is the first note")
    assert notes.nth(0).locator("strong").count() == 1
    described = page.locator("#quiz-one input").first.get_attribute("aria-describedby")
    assert described == notes.nth(0).get_attribute("id")
    page.locator("#quiz-one").get_by_label("The second").check()
    expect(notes.nth(0)).to_be_empty()
    expect(status(page, "one")).to_be_empty()
    choose(page, "one", "The second")
    expect(status(page, "one")).to_have_text("Right.")
    expect(notes.nth(1)).to_contain_text("Yes, it is.")
    expect(page.locator("#quiz-one .reading-done")).to_have_text("answered")


def test_several_options_are_judged_together(page):
    choose(page, "several", "This")
    expect(status(page, "several")).to_contain_text("it is not all")
    choose(page, "several", "That")
    expect(status(page, "several")).to_contain_text("not everything")
    assert page.locator("#quiz-several .quiz-note:not(:empty)").count() == 2
    page.locator("#quiz-several").get_by_label("That").uncheck()
    choose(page, "several", "Those")
    expect(status(page, "several")).to_have_text("Right.")


def test_a_quiz_is_worked_by_keyboard(page):
    page.locator("#quiz-one input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(status(page, "one")).to_have_text("Right.")
    page.locator("#quiz-several input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(status(page, "several")).to_have_text("Right.")
