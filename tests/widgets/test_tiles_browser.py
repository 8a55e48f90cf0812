"""Attention block by block in Chromium: its numbers, its lines and its controls."""

from functools import partial

import chains
import numpy as np
import pytest
from book_site import advance_clock
from playwright.sync_api import expect
from ports import CLOSE

from mha import load_example, trace
from mha.core.online_softmax import online_softmax
from mha.widgets.tiles import moving_tile

pytestmark = pytest.mark.browser

RUN = trace(load_example("cat-sat-on-it"))


@pytest.fixture
def tiles(open_instrument):
    """Return a function that opens the tiles, at an address and in a window."""
    return partial(open_instrument, moving_tile(RUN).html)


STEPS = """async ([size, scores]) => {
  const view = await document.querySelector("mha-instrument").coming;
  view.state.change({ size, edits: scores.map((score, place) => [place, score]) });
  const labels = view.frames.map((_, i) => { view.bar.go(i); return view.label(i); });
  const { kept, outputs } = view.frames[view.frames.length - 1];
  return [labels, outputs, kept.map(({ total }) => total), view.difference()];
}"""


@pytest.mark.parametrize("size", [1, 2, 5])
def test_every_line_holds_and_the_end_is_the_softmax_at_once(tiles, rng, size):
    page = tiles()
    blocks = -(-5 // size)
    for largest in (0, 1, 30, 700):
        scores = RUN.scaled_scores[0] if largest == 0 else largest * rng.normal(size=(5, 5))
        asked = [size, scores.ravel().tolist()]
        labels, outputs, totals, difference = page.evaluate(STEPS, asked)
        kept = [online_softmax(row, RUN.value[0]) for row in scores]
        wanted = [one.mixture / one.total for one in kept]
        np.testing.assert_allclose(outputs, wanted, rtol=CLOSE, atol=CLOSE)
        np.testing.assert_allclose(totals, [one.total for one in kept], rtol=CLOSE)
        assert difference < CLOSE
        assert "differs by more than 10⁻¹²" in labels[-1]
        assert len(labels) == 1 + blocks * (2 * blocks + 1)
        if largest == 700:  # a line's exponentials are no numbers with so many digits
            continue
        for line in (line for label in labels for line in label.split(", and ")):
            chains.hold(line.split(": ")[-1].rstrip("."))


def test_a_score_is_changed_followed_shared_and_taken_back(tiles):
    page = tiles()
    says, slider = page.locator(".time-says"), page.get_by_role("slider").last
    undo, reset = (page.get_by_role("button", name=name) for name in ("Undo", "Reset"))
    for _ in range(3):
        slider.press("ArrowRight")
    expect(says).to_contain_text("The largest score of “cat” was 11.7960 and is 12.3422")
    expect(page.locator(".tiles-held")).to_have_text(
        "In memory: 4 scores of 25, and for each of 2 queries 2 + 3 numbers."
    )
    places = page.locator(".tiles td").evaluate_all("all => all.map((e) => e.offsetLeft)")
    score = page.get_by_label("Score of cat with sat")
    score.fill("800")
    expect(says).to_contain_text("is 800: α = e ^ (11.7960 − 800)")
    now = page.locator(".tiles td").evaluate_all("all => all.map((e) => e.offsetLeft)")
    assert now == places
    page.get_by_label("subtract nothing").check()
    slider.press("End")
    expect(says).to_contain_text("e^800 is larger than any float64 number")
    advance_clock(page, 350)
    again = tiles("#" + page.url.partition("#")[2], width=390)
    expect(again.locator(".time-says")).to_have_text(says.text_content())
    small = again.locator(".tiles small")  # what it has to come to, on a phone too
    expect(small.first).to_be_visible()
    assert small.all_inner_texts()[:4] == ["−0.11", "1.54", "0.09", "at once"]
    undo.click()
    slider.press("End")
    expect(says).to_contain_text("differs by more than 10⁻¹²")
    undo.click()
    expect(score).to_have_value("12.34")
    for key in RUN.tokens:  # too small for any exponential, with nothing subtracted
        page.get_by_label(f"Score of it with {key}").fill("-800")
    page.get_by_label("subtract nothing").check()
    slider.press("End")
    expect(says).to_contain_text("Every exponential of “it” is 0")
    expect(says).to_contain_text("One softmax over all scores gives another output")
    score.fill("x")
    expect(page.get_by_role("alert")).to_have_text(
        "“x” is not a number. Type one such as 0.5, −2 or 1/3."
    )
    assert score.get_attribute("aria-invalid") == "true"
    reset.click()
    expect(score).to_have_value("12.34")
    expect(page.get_by_role("alert")).to_have_text("")


@pytest.mark.parametrize(
    ("typed", "at_rest", "focused"),
    [
        ("0.125", "0.125", "0.125"),
        ("-1,5", "−1.5", "−1.5"),
        ("1/3", "0.33", "0.3333333333"),
        ("1000", "1000", "1000"),
    ],
)
def test_a_typed_score_is_shown_as_typed(tiles, typed, at_rest, focused):
    page = tiles()
    score = page.get_by_label("Score of cat with sat")
    score.fill(typed)
    score.blur()
    expect(score).to_have_value(at_rest)
    score.focus()
    expect(score).to_have_value(focused)
    score.blur()
    expect(score).to_have_value(at_rest)
    assert page.get_by_role("button", name="Redo").get_attribute("aria-disabled") == "true"
    page.get_by_role("button", name="Undo").click()
    expect(score).to_have_value("12.34")
