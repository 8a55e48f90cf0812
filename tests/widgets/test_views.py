"""The drawings above the strip, and the slider over widths, in a real Chromium."""

import numpy as np
import pytest
from playwright.sync_api import expect
from seeds import SEED

from mha import load_example, shown, trace
from mha.widgets.explorer import explorer
from mha.widgets.width import WIDTHS, at_width, drawn, largest_weight, width_explorer

pytestmark = pytest.mark.browser


def test_the_bars_stand_under_temperature_and_mask(put):
    run = trace(load_example("the-cat-sat"))
    seen = put(explorer(run, view="temperature").html)
    slider = seen.page.get_by_label("Temperature").and_(seen.page.locator("[type=range]"))
    lists = seen.page.locator(".temperature-bars ul")
    lists.first.wait_for()
    assert [one.is_visible() for one in lists.all()] == [True, False, False]  # nothing twice
    slider.focus()
    for _ in range(15):
        seen.press("ArrowRight")
    assert [one.is_visible() for one in lists.all()] == [True, True, False]
    seen.page.locator(".temperature").get_by_label("sat is padding").click()
    heat = float(seen.page.locator(".temperature output").inner_text())
    assert heat == 2
    values = "(list) => [...list.querySelectorAll('li > span:last-child')].map(e => e.textContent)"
    rows = [list(filter(None, one.evaluate(values))) for one in lists.all()]
    scaled = run.scaled_scores[0, 0]

    def softmax(scores):
        return [shown(float(x)) for x in np.exp(scores) / np.exp(scores).sum()]

    assert rows[0] == softmax(scaled)
    assert rows[1] == softmax(scaled / heat)
    assert rows[2] == [*softmax(scaled[:2] / heat), "0.0000"]  # of the last word's row too
    expect(lists.nth(2)).to_be_visible()


def test_the_width_moves_spread_and_weights_as_in_the_package(put):
    seen = put(width_explorer(np.random.default_rng(SEED)).html)
    slider = seen.page.get_by_label("Width of queries and keys")
    assert seen.page.locator("output").inner_text() == "64"
    slider.focus()
    seen.press("End")
    assert seen.page.locator("output").inner_text() == "512"
    tenths = drawn(np.random.default_rng(SEED), 8)
    heads = seen.page.locator(".width-bars div > p:first-child").all_inner_texts()
    for (spread, _), text in zip(at_width(tenths, 512), heads, strict=True):
        assert f"by {shown(spread, 2)}" in text
    found = seen.page.evaluate(
        "() => { const { data } = document.querySelector('mha-explorer');"
        " return data.widths.map((w) => window.mhaExplorer.atWidth(data.tenths, w)); }"
    )
    for width, both in zip(WIDTHS, found, strict=True):
        for one, (spread, exact) in zip(both, at_width(tenths, width), strict=True):
            np.testing.assert_allclose(one["spread"], spread, rtol=1e-12)
            np.testing.assert_allclose(one["weights"], exact, rtol=1e-11, atol=1e-300)


def test_a_task_of_widths_is_reached_where_the_package_says(put):
    tenths = drawn(np.random.default_rng(SEED), keys=8)
    largest = {width: at_width(tenths, width)[1][1].max() for width in WIDTHS}
    low = sorted(largest.values())[-3]
    assert largest[64] < low
    task = largest_weight("Find *three* widths.", scaled=True, low=float(low))
    seen = put(width_explorer(np.random.default_rng(SEED), tasks=(task,)).html)
    slider = seen.page.locator(".with-width input")
    mark = seen.page.locator(".with-width .tasks li")
    wide = WIDTHS.index(max(largest, key=largest.__getitem__))
    assert mark.inner_text() == "○ Find three widths."
    slider.fill(str(WIDTHS[wide]))
    assert mark.inner_text() == "✓ Reached: Find three widths."
    assert "Find three widths." in seen.page.locator(".with-width [role=status]").inner_text()
