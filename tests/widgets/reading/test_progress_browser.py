"""What a reader has done is kept on the device and shown in the contents, in a real Chromium."""

import pytest
from playwright.sync_api import expect
from reading_book import KEY, answer, badge, box, choose, read_in_steps

pytestmark = pytest.mark.browser


def test_progress_is_kept_on_the_device_shown_in_the_contents_and_cleared(reader):
    page = (made := reader()).open()
    assert page.locator(".progress-badge").count() == 0
    expect(page.locator(".progress-foot")).not_to_be_visible()
    answer(page, "query", "0.8")
    choose(page, "one", "The second")
    worked = badge(page, "A worked page")
    expect(worked.locator(".progress-line")).to_have_text("2 of 6")
    read_in_steps(page)
    page = made.open("other")
    expect(worked.locator(".progress-line")).to_have_text(["2 of 6", "1/7 steps"])
    expect(worked.locator(".reading-unseen")).to_have_text(
        "2 of 6 questions answered, 1 of 7 steps read"
    )
    assert badge(page, "Another page").count() == 0
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
    assert page.locator(".progress-badge").count() == 0
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
    made = reader()
    page = made.open()
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
    read_in_steps(page)
    page.get_by_role("button", name="Next step").click()
    expect(page.locator(".steps-label")).to_have_text("Step 2 of 7: Queries")
    page.get_by_role("button", name="Clear my progress").click()
    page.get_by_role("button", name="Clear it").click()
    assert page.locator(".progress-badge").count() == 0
    # The theme's own scripts complain of the missing storage; ours do not.
    theirs = ("no storage", "theme mode")
    made.errors[:] = [e for e in made.errors if not any(part in e for part in theirs)]
