"""The cost calculator in Chromium: each line is the package's, and its controls work."""

import re
from functools import partial
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from pointer import swipe
from worked_runs import GPT3

from mha.core.costs import ModelSizes, layer_sizes
from mha.widgets.cost import _SIZES, LINES, cost_calculator, cost_values, format_line
from mha.widgets.instrument import WIDTHS

pytestmark = pytest.mark.browser

LLAMA = ModelSizes(80, layer_sizes(8192, 64, num_groups=8), 28672, 3)
MODELS = {"GPT-3": GPT3, "Llama 3 70B": LLAMA}


@pytest.fixture
def opened(open_instrument):
    """Return a function that opens the calculator, at an address and in a window."""
    return partial(open_instrument, cost_calculator(MODELS, tokens=2048).html, width=1000)


def lines_of(page):
    return page.locator(".cost-lines tr").evaluate_all(
        "all => all.map((row) => [...row.cells].slice(2).map((cell) => cell.textContent))"
    )


def as_written(model, tokens, texts, itemsize):
    values = cost_values(model, tokens, texts, itemsize)
    return [list(format_line(line, values)) for line in LINES]


def test_every_line_is_the_package_s_for_random_sizes_in_an_address(opened, rng):
    for _ in range(6):
        groups, shared, head, width, inner = (int(x) for x in rng.integers(1, 300, size=5))
        sizes = layer_sizes(width, groups * shared, d_k=head, num_groups=groups)
        model = ModelSizes(int(rng.integers(1, 200)), sizes, inner, int(rng.integers(2, 4)))
        given = int(2 ** rng.uniform(0, 29)), int(rng.integers(1, 5000)), int(rng.integers(1, 5))
        values = cost_values(model, *given)
        names = (*_SIZES, "bytes", "tokens", "texts")
        page = opened("#cost=model&" + urlencode({name: values[name] for name in names}))
        assert lines_of(page) == as_written(model, *given)


def test_a_reader_chooses_a_model_sets_a_size_and_shares_it(opened):
    page = opened()
    assert lines_of(page) == as_written(GPT3, 2048, 1, 2)
    model, field = page.get_by_label("Model"), page.get_by_label("g, key-value heads")
    model.select_option("Llama 3 70B")
    for typed, groups in (("1", 1), ("10", 8), ("100", 8), ("16", 16)):  # of 64 heads
        field.fill("")
        field.press_sequentially(typed)  # what is refused leaves the sizes before it was typed
        shared = ModelSizes(80, layer_sizes(8192, 64, num_groups=groups), 28672, 3)
        assert lines_of(page) == as_written(shared, 2048, 1, 2), typed
    model.select_option("GPT-3")
    model.select_option("Llama 3 70B")
    page.get_by_label("n, drag: a text of").press("ArrowRight")
    tokens = round(2**11.25)
    expect(page.get_by_label("n, tokens per text")).to_have_value(str(tokens))
    page.get_by_label("t, texts at once").fill("64")
    assert lines_of(page) == as_written(LLAMA, tokens, 64, 2)
    expect(page.get_by_role("img").last).to_have_accessible_name(
        f"Bytes read per step: matrices {2 * LLAMA.parameters:,}, caches of all texts "
        f"{64 * LLAMA.cache_bytes(tokens, itemsize=2):,} at {tokens:,} tokens; "
        f"equal at {int(LLAMA.equal_bytes(64)):,}."
    )
    error, lines = page.locator(".cost-error"), page.locator(".cost-lines")
    refused = page.locator(".cost-sizes [aria-invalid=true]")
    field.fill("7")
    page.get_by_label("b, bytes per number").fill("0")
    page.get_by_label("N, layers").fill("")
    expect(error).to_contain_text("N, layers: Type a whole number from 1 to 1,000,000,000.")
    expect(error).to_contain_text("b, bytes per number: “0” is out of range.")
    expect(error).to_contain_text("7 key-value heads cannot be shared evenly")
    expect(error).to_contain_text("Grey below: the cost of the previous sizes.")
    expect(refused).to_have_count(3)
    assert lines_of(page) == as_written(LLAMA, tokens, 64, 2)
    expect(lines).to_have_css("opacity", "0.45")
    page.get_by_label("N, layers").fill("80")
    page.get_by_label("b, bytes per number").fill("2")
    expect(refused).to_have_count(1)
    page.get_by_label("h, heads").fill("63")  # as seven key-value heads can share
    expect(refused).to_have_count(0)
    expect(lines).to_have_css("opacity", "1")
    expect(model).to_have_value("")
    page.get_by_role("button", name="Share").click()
    shared = lines_of(page)
    assert lines_of(opened(page.evaluate("location.hash"))) == shared


def test_on_a_phone_the_point_is_dragged_along_its_axis_and_a_page_still_scrolls(opened):
    page = opened(width=390, height=844, has_touch=True)
    slider = page.get_by_label("n, drag: a text of")
    chart = page.get_by_role("img").first
    page.get_by_role("img").last.scroll_into_view_if_needed()
    expect(slider).to_be_in_viewport()  # and both curves that follow it
    box = chart.bounding_box()
    y, half = box["y"] + box["height"] / 2, box["width"] / 2
    swipe(page, box["x"] + half, y, 0.4 * box["width"])
    assert abs(chart.locator(".marker").bounding_box()["x"] - box["x"] - 0.9 * box["width"]) < 5
    said = slider.get_attribute("aria-valuetext")
    swipe(page, box["x"] + half, y, 3, -120)  # moves the page
    assert chart.bounding_box()["y"] < box["y"]
    assert slider.get_attribute("aria-valuetext") == said
    page.get_by_label("n, tokens per text").fill("100000000")
    expect(chart.locator(".marker")).to_be_hidden()
    expect(chart).to_contain_text("n is beyond this axis")


def test_its_place_is_kept_at_each_width(opened):
    element = opened().locator("mha-instrument")
    kept = "e => { e.classList.remove('whole'); return parseFloat(getComputedStyle(e).minHeight); }"
    for width in WIDTHS:
        element.page.set_viewport_size({"width": width, "height": 900})
        room = re.search(rf"--at-{width}: ([\d.]+)rem", element.get_attribute("style"))
        assert element.evaluate(kept) == pytest.approx(16 * float(room[1]))
