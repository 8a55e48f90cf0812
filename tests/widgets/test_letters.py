"""Two layers on letters: what they start from. In the browser, tests/book/test_tied_browser.py."""

import numpy as np
import pytest
from accessible import violations
from explorer_pages import come_back
from playwright.sync_api import expect

from mha import Block, MultiHeadWeights, WorkedExample, trace_blocks
from mha.widgets.letters import two_layers

EYE = np.eye(7)
WHAT, BEFORE, FOLLOWING = slice(0, 2), slice(3, 5), slice(5, 7)
TEXT = WorkedExample(
    name="b-a", title="B A", source="This book", tokens=("first B", "last A"),
    head_names=("Head 1",),
    embeddings=EYE[[1, 0]], is_causal=True,
    layer=MultiHeadWeights([EYE[:, :1]], [EYE[:, :1]], [EYE[:, WHAT]], EYE[BEFORE]),
)  # fmt: skip
SECOND = MultiHeadWeights([EYE[:, WHAT]], [EYE[:, BEFORE]], [EYE[:, WHAT]], EYE[FOLLOWING])
PARTS = {"letters": "AB", "what": WHAT, "before": BEFORE, "following": FOLLOWING, "name": "b-a"}


def layers():
    return trace_blocks(TEXT, [Block(layer, norm="nowhere") for layer in (TEXT.layer, SECOND)])


def test_layers_that_do_not_follow_each_other_are_refused():
    first, second = layers()
    with pytest.raises(ValueError, match="second reads other numbers than first leaves"):
        two_layers(second, first, **PARTS)
    with pytest.raises(TypeError, match="first"):
        two_layers("first", second, **PARTS)


@pytest.mark.browser
def test_a_text_is_changed_and_shared(alone):
    page = alone(two_layers(*layers(), **PARTS).html, width=390, height=844)
    letters = page.locator("select")
    text = "all => all.map((e) => e.value)"
    assert letters.evaluate_all(text) == ["B", "A"]
    page.get_by_label("Letter 0").select_option("A")
    page.get_by_label("the first layer is there").uncheck()
    # What is said agrees with the bars, which are of all that is given.
    expect(page.get_by_role("status").first).to_contain_text("only its share of the text")
    assert page.locator(".guess .share").all_inner_texts() == ["100\u00a0%", "0\u00a0%", "0\u00a0%"]
    expect(page.locator(".guess").last).to_contain_text("no letter")
    lines = page.locator(".flow").first.locator("line")
    opacities = lines.evaluate_all("all => all.map((e) => Number(getComputedStyle(e).opacity))")
    assert max(opacities) < 0.2  # a layer that is not there is drawn so
    page.get_by_role("button", name="Share").click()
    come_back(page, page.evaluate("location.hash"))
    assert letters.evaluate_all(text) == ["A", "A"]
    expect(page.get_by_label("the first layer is there")).not_to_be_checked()
    assert violations(page, "mha-instrument") == []  # the first layer not there
