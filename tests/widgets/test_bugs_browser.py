"""The museum as a game: the programs compute the package's numbers, and readers find the bug."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from book_site import source
from explorer_pages import reopen
from playwright.sync_api import expect
from ports import in_browser

from mha import load_example, trace
from mha.practice.attention_parts import RIGHT_NAN_ROWS
from mha.practice.bug_runs import RunInputs, run_attention
from mha.practice.bugs import BUGS, TABLE
from mha.runs.random_numbers import Draws
from mha.runs.rounding import shown
from mha.widgets.bugs import EXHIBITS, bugs_game

pytestmark = pytest.mark.browser

LINES = {bug.name: bug.line for bug in TABLE if bug.name in BUGS}


@pytest.fixture
def opened(open_instrument):
    """Return a function that opens the game, at an address and in a window."""
    return partial(open_instrument, bugs_game().html, width=1100, height=1000)


class PageDraws:
    """A random generator with NumPy's interface, and with the draws of the page."""

    def __init__(self, seed):
        self.draws = Draws(seed)

    def random(self, shape):
        found = [self.draws.uniform() for _ in range(int(np.prod(shape)))]
        return np.reshape(found, shape)


TRIED = """([bug, given, seed]) => {
  const draws = new modules.draws.Draws(seed);
  try {
    const found = modules.bugs.tried(bug, given, () => draws.share() >= modules.bugs.RATE);
    return [found.weights ?? [], found.output].flat(Infinity).map(String);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}"""


def test_every_program_gives_what_the_package_s_does_on_random_numbers(arithmetic_page, rng):
    cases, wanted = [], []
    for bug in ("", *BUGS):
        for _ in range(40):
            n, heads, half = (int(x) for x in rng.integers(1, [6, 4, 3]))
            query, key = rng.choice([1.0, 30.0]) * rng.normal(size=(2, n, 2 * heads * half))
            value = rng.normal(size=(n, heads * 2 * rng.integers(1, 3)))
            told = [bool(x) for x in rng.random(4) < 0.4]
            if bug == "dropout left on":  # with a cache, heads draw in another order
                told[3] = False
            given = RunInputs(query, key, value, heads, [None, 7][rng.integers(2)], *told)
            names = ("isCausal", "isBiased", "isTurned", "inSteps")
            wide = [x.tolist() for x in (query, key, value)]
            data = dict(zip(names, told, strict=True)) | {"wide": wide, "heads": heads}
            cases.append([bug, data | {"dModel": given.d_model}, seed := int(rng.integers(2**32))])
            try:
                parts = run_attention(BUGS.get(bug, RIGHT_NAN_ROWS), given, PageDraws(seed))
                wanted.append(np.concatenate([x.ravel() for x in parts if x is not None]))
            except ValueError:
                wanted.append(None)
    found = in_browser(arithmetic_page, TRIED, cases)
    for got, right in zip(found, wanted, strict=True):
        assert (got is None) == (right is None)
        if got is not None:
            np.testing.assert_allclose(np.array(got, float), right, rtol=1e-12, atol=1e-12)


def numbers_of(program, given):
    return [shown(x) for part in run_attention(program, given) for x in part.flat]


def cells(page):
    return page.locator(".bugs-table td span").all_inner_texts()


def place_of(page, node):
    """Return the distance in pixels of an element from the top of the game."""
    return node.bounding_box()["y"] - page.locator(".strip-title").bounding_box()["y"]


def test_a_reader_runs_a_program_guesses_and_gets_a_verdict(opened):
    page = opened("#bugs=museum&seed=7&case=3", width=390, height=844)
    said, first = page.locator(".bugs-said"), page.locator(".bugs-choice").first
    expect(said).to_have_text("All numbers are right. Change the inputs.")
    sentence, mask = page.get_by_label("Sentence"), page.get_by_label("Causal mask")
    sentence.select_option("The cat sat <end>")
    mask.check()
    given = RunInputs.from_trace(trace(load_example("the-cat-sat-end")), is_causal=True)
    got, right = (numbers_of(program, given) for program in (BUGS["wrong axis"], RIGHT_NAN_ROWS))
    assert cells(page) == got
    meant = [wanted for number, wanted in zip(got, right, strict=True) if number != wanted]
    assert page.locator(".bugs-table .differs small").all_inner_texts() == meant
    expect(said).to_have_text("26 of 32 numbers are wrong.")
    boxes = [page.locator(name).bounding_box() for name in (".bugs-said", ".bugs-tables")]
    boxes += [choice.bounding_box() for choice in page.locator(".bugs-choice").all()]
    ends = [box["y"] + box["height"] for box in boxes]
    assert max(ends) - boxes[0]["y"] < 844 - 48  # what it gives and the lines, on one screen

    def chosen(name):
        """Choose a line. Its verdict must become visible, and nothing above it may move."""
        choice = page.get_by_role("button", name=LINES[name])
        choice.scroll_into_view_if_needed()
        places = place_of(page, first), place_of(page, choice)
        choice.focus()
        page.keyboard.press("Enter")
        verdict = page.locator(":focus + .bugs-verdict")
        expect(verdict).to_be_in_viewport(ratio=1)
        assert (place_of(page, first), place_of(page, choice)) == places
        return verdict

    verdict = chosen("wrong root")
    expect(verdict).to_contain_text("Not this line. It would give other numbers")
    verdict = page.locator(".bugs-verdict:not(:empty)")
    # The results are computed again from the new inputs.
    sentence.select_option("cat sat")
    expect(verdict).not_to_contain_text("“The”")
    sentence.select_option("The cat sat <end>")
    expect(verdict).to_contain_text("in the row of “The”")
    page.get_by_role("button", name="Test the properties of a right program").click()
    fails = page.locator(".bugs-properties .fails")
    assert "".join(fails.locator("b").all_inner_texts()) == "ACDG"
    page.get_by_role("button", name="Share").click()
    hash_ = page.evaluate("location.hash")
    verdict = chosen("wrong axis")
    expect(verdict).to_contain_text(
        "The line is softmax(scores, axis=-2) instead of softmax(scores"
    )
    assert verdict.get_by_role("link").get_attribute("href") == "#bug-axis"
    expect(page.get_by_text("0 of 1 found at the first guess.")).to_be_visible()
    page.get_by_role("button", name="Next program").click()
    expect(page.get_by_text("Program 4 of 12")).to_be_visible()
    expect(fails).to_have_count(0)
    page.get_by_role("button", name="Previous program").click()
    expect(page.locator(".bugs-choice.right + .bugs-verdict")).to_contain_text("Yes. The line is")
    reopen(page, hash_)
    expect(said).to_have_text("26 of 32 numbers are wrong.")
    # Properties without effect have no tick.
    page.get_by_label("One token at a time").check()
    expect(mask).to_be_disabled()
    expect(mask).not_to_be_checked()
    page.get_by_label("One token at a time").uncheck()
    expect(mask).to_be_checked()
    page.get_by_role("button", name="Run it again").click()
    expect(said).to_contain_text("The numbers are the same again.")


def test_numbers_of_one_s_own_are_tried_and_stand_in_the_address(opened):
    page = opened("#bugs=museum&seed=7&case=3&query.0.0=1e999&key.0.1=2", width=390)
    page.get_by_text("Numbers of your own").click()
    field = page.get_by_label("keys of cat, 2")
    expect(field).to_have_value("2")
    cat_sat = trace(load_example("cat-sat"))
    given = replace(RunInputs.from_trace(cat_sat), key=np.array([[1, 2, 1, 0], [0, 1, 0, 1]]))
    assert cells(page) == numbers_of(BUGS["wrong axis"], given)
    field.fill("-12.75")
    assert field.evaluate("e => e.scrollWidth <= e.clientWidth")  # all of what is typed
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    field.fill("0")
    expect(page.locator(".bugs-said")).to_contain_text("All numbers are right.")
    page.get_by_label("Queries and keys").select_option(label="27 times as large")
    assert cells(page) == numbers_of(BUGS["wrong axis"], RunInputs.from_trace(cat_sat, 27))
    page.get_by_role("button", name=LINES["wrong axis"]).click()
    expect(page.get_by_text("1 of 1 found at the first guess.")).to_be_visible()


def test_each_program_comes_once_in_an_order_that_can_be_told(opened):
    page = opened("#bugs=museum&seed=7&case=3")
    order = page.get_by_label("Order", exact=True)
    for typed, holds in (("11", "11"), ("99999", "11")):
        order.fill(typed)
        order.press("Enter")
        expect(order).to_have_value(holds)
    expect(page.locator(".model-controls .error")).to_contain_text(
        "“99999” is out of range. Type a number from 0 to"
    )
    found = []
    for i in range(len(BUGS)):
        expect(page.get_by_text(f"Program {i + 1} of {len(BUGS)}")).to_be_visible()
        page.get_by_role("button", name="Show the line").click()
        found.append(page.locator(".bugs-guess > .bugs-verdict code").first.inner_text())
        if i < len(BUGS) - 1:
            page.get_by_role("button", name="Next program").click()
    assert sorted(found) == sorted(LINES[name] for name in BUGS)


def test_each_exhibit_has_its_label_in_the_chapter():
    text = source("transformer/bugs")
    assert set(EXHIBITS) == set(BUGS)
    assert [label for label in EXHIBITS.values() if f"({label})=" not in text] == []


def test_without_a_script_a_table_says_what_each_program_does(opened):
    page = opened(java_script_enabled=False)
    rows = [row.inner_text() for row in page.locator("mha-instrument tbody tr").all()]
    assert len(rows) == len(BUGS)
    assert all("wrong" in row or "stops" in row for row in rows)
