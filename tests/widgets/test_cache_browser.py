"""The growing cache in Chromium: its numbers are the package's, and its controls work."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from book_site import advance_clock
from playwright.sync_api import expect
from ports import CLOSE
from worked_runs import CAUSAL

from mha import trace
from mha.widgets.cache import count_multiplications, growing_cache

pytestmark = pytest.mark.browser


@pytest.fixture
def cache(open_instrument):
    """Return a function that opens the cache, at an address and in a window."""
    return partial(open_instrument, growing_cache(CAUSAL).html)


NUMBERS = """async (texts) => {
  const view = await document.querySelector("mha-instrument").coming;
  return texts.map((text) => {
    view.state.change({ text });
    const { key, value, weights, head_outputs } = view.numbers;
    const sizes = view.sizes(text.length);
    return [key[0], value[0], weights[0], head_outputs[0], [sizes.with, sizes.sum, sizes.sumAgain]];
  });
}"""


def test_for_any_text_each_step_is_the_package_s(cache, rng):
    texts = [rng.integers(4, size=n).tolist() for n in range(1, 9) for _ in range(5)]
    for text, found in zip(texts, cache().evaluate(NUMBERS, texts), strict=True):
        *arrays, counted = found
        whole = trace(replace(
            CAUSAL.example, tokens=[str(i) for i in range(len(text))],
            embeddings=CAUSAL.embeddings[text], focus=None,
        ))  # fmt: skip
        for numbers, stage in zip(arrays, ("key", "value", "weights", "head_outputs"), strict=True):
            wanted = getattr(whole, stage)[0]
            np.testing.assert_allclose(numbers, wanted, rtol=CLOSE, atol=CLOSE)
        steps = [count_multiplications(CAUSAL, n) for n in range(1, len(text) + 1)]
        again = sum(n * count for n, count in enumerate(steps, start=1))
        assert counted == [steps[-1], sum(steps), again]


def test_a_token_is_written_cached_and_undone(cache):
    page = cache()
    says, slots = page.locator(".time-says"), page.locator(".slot:not(.free)")
    expect(slots).to_have_count(2)
    slider = page.get_by_role("slider")
    places = page.locator(".cache-line").evaluate_all("all => all.map((e) => e.offsetTop)")
    for phase, words in enumerate(
        ("sat is written", "holds 3 · (4 + 4) = 24", "is multiplied by all 3 keys")
    ):
        slider.press("ArrowRight")
        expect(says).to_contain_text(words)
        expect(slots).to_have_count(2 if phase == 0 else 3)
    expect(page.locator(".cache-kept")).to_contain_text("24 numbers, 48 bytes")
    expect(page.locator(".slot .cache-number").nth(2)).to_have_text("0.4020")
    expect(page.locator(".cache-counts")).to_contain_text("3 · 72 = 216")
    page.get_by_role("button", name="Write cat").click()
    slider.press("End")
    written = page.locator(".slot:not(.free) > .of-token")
    expect(written).to_have_text(["The", "cat", "sat", "cat"])  # behind what is shown
    page.get_by_label("without a cache").check()
    expect(says).to_contain_text("Only the output of cat is new")
    expect(page.locator(".slot.again")).to_have_count(3)
    advance_clock(page, 350)
    again = cache("#" + page.url.partition("#")[2], width=390)
    expect(again.locator(".time-says")).to_have_text(says.text_content())
    now = page.locator(".cache-line").evaluate_all("all => all.map((e) => e.offsetTop)")
    assert now == places
    for _ in range(2):
        page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("without a cache")).not_to_be_checked()
    expect(slots).to_have_count(3)
