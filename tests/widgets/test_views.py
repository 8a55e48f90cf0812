"""The drawings above the strip, and the slider over widths, in a real Chromium."""

import re

import numpy as np
import pytest
from accessible import violations
from explorer_pages import written
from playwright.sync_api import expect
from seeds import SEED

from mha import load_example, shown, trace
from mha.runs.record import WorkedExample
from mha.widgets.explorer import explorer
from mha.widgets.width import WIDTHS, at_width, drawn, largest_weight, width_explorer

pytestmark = pytest.mark.browser


def flat():
    """Return a run that starts from queries, keys and values of two components."""
    return trace(
        WorkedExample(
            name="plane", title="Plane", source="",
            head_names=("Head 1",), tokens=("river", "bank", "money"),
            query=[[1.0, 0.5], [0.4, 0.9], [-0.6, 1.0]],
            key=[[1.2, 0.2], [0.3, 1.1], [-1.0, 0.6]],
            value=[[1.0, 0.0], [0.2, 1.0], [-0.8, -0.4]],
        )
    )  # fmt: skip


@pytest.fixture
def put(view, static):
    """Return a function that puts an element on a page."""

    def on_page(html, **options):
        seen = view("cat-sat", **options)
        theme = options.get("theme", "light")
        seen.file.write_text(written(html, static.as_uri(), theme), encoding="utf-8")
        seen.page.reload()
        return seen.live()

    return on_page


def weights(seen):
    return [float(text) for text in seen.numbers("weights")]


def test_the_query_is_dragged_in_the_plane_and_everything_follows(put):
    seen = put(explorer(flat(), view="plane").html)
    handle = seen.page.locator(".handle")
    handle.wait_for()
    before = weights(seen)
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    seen.page.mouse.move(x, y)
    seen.page.mouse.down()
    seen.page.mouse.move(x - 40, y - 30, steps=4)
    seen.page.mouse.up()
    query = [float(seen.number(f"Query of river, q{i}").input_value()) for i in "₁₂"]
    assert query[0] < 1.0
    assert query[1] > 0.5
    run = flat()
    scores = np.array(query) @ run.key[0].T / np.sqrt(2)
    wanted = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(weights(seen), wanted, atol=1e-4)
    assert weights(seen) != before
    seen.page.get_by_role("button", name="Undo").click()
    assert weights(seen) == before


def test_a_finger_on_the_query_drags_it_and_anywhere_else_scrolls_the_page(put):
    seen = put(explorer(flat(), view="plane").html, width=390, has_touch=True, is_mobile=True)
    page, handle = seen.page, seen.page.locator(".handle")
    handle.scroll_into_view_if_needed()
    hand = page.context.new_cdp_session(page)

    def swipe(x, y, across, up):
        points = [(x + across * step / 8, y - up * step / 8) for step in range(9)]
        for kind, (left, top) in zip(["touchStart"] + ["touchMove"] * 8, points, strict=True):
            hand.send(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": left, "y": top}]}
            )
        hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    box, scrolled = handle.bounding_box(), page.evaluate("scrollY")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    swipe(x, y, -20, 60)
    after = handle.bounding_box()
    assert after["x"] - box["x"] == pytest.approx(-20, abs=2)
    assert after["y"] - box["y"] == pytest.approx(-60, abs=2)
    assert page.evaluate("scrollY") == scrolled
    svg = page.locator(".panel-plane").first.bounding_box()
    swipe(svg["x"] + 12, svg["y"] + svg["height"] - 12, 0, 120)
    page.wait_for_function("from => scrollY > from + 50", arg=scrolled)


def test_the_query_is_moved_by_the_keyboard_and_the_output_stays_in_the_polygon(put):
    seen = put(explorer(flat(), view="plane").html)
    handle = seen.page.locator(".handle")
    handle.focus()
    seen.press("ArrowLeft", "ArrowUp")
    assert handle.get_attribute("aria-label").startswith("Query of river, 0.9, 0.6: drag it")
    for _ in range(30):
        seen.press("ArrowLeft")
        inside = seen.page.evaluate(
            "() => { const dot = document.querySelector('.output-point');"
            " const point = dot.ownerSVGElement.createSVGPoint();"
            " point.x = dot.cx.baseVal.value; point.y = dot.cy.baseVal.value;"
            " return document.querySelector('.hull').isPointInFill(point); }"
        )
        assert inside


def test_feet_stand_where_the_projections_are(put):
    seen = put(explorer(flat(), view="plane").html)
    run = flat()
    query, key = run.query[0, 0], run.key[0]
    tip = seen.page.locator(".handle")
    tip.wait_for()
    place = seen.page.evaluate(
        "() => [...document.querySelectorAll('.foot, .handle')].map((e) =>"
        " [Number(e.getAttribute('cx')), Number(e.getAttribute('cy'))])"
    )
    feet, end = np.array(place[:-1]), np.array(place[-1])
    along = run.scores[0, 0] / (query @ query)
    # The feet are as far along from zero to the query's point as the scores say.
    zero = (feet[0] - along[0] * end) / (1 - along[0])
    np.testing.assert_allclose(feet, zero + along[:, None] * (end - zero), atol=1e-6)
    assert len(feet) == len(key)


def test_the_bars_stand_under_temperature_and_mask(put):
    seen = put(explorer(trace(load_example("the-cat-sat")), view="temperature").html)
    run = trace(load_example("the-cat-sat"))
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
    bars = seen.page.locator(".temperature-bars ul").evaluate_all(
        "all => all.map((list) =>"
        " [...list.querySelectorAll('li > span:last-child')].map((e) => e.textContent))"
    )
    rows = [[text for text in texts if text] for texts in bars]
    scaled = run.scaled_scores[0, 0]

    def softmax(scores):
        return [shown(float(x)) for x in np.exp(scores) / np.exp(scores).sum()]

    assert rows[0] == softmax(scaled)
    assert rows[1] == softmax(scaled / heat)
    assert rows[2] == [*softmax(scaled[:2] / heat), "0.0000"]  # of the last word's row too
    assert lists.nth(2).is_visible()


def test_the_width_moves_spread_and_weights_as_in_the_package(put):
    html = width_explorer(np.random.default_rng(SEED)).html
    seen = put(html)
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
    slider.fill(str(wide))
    assert mark.inner_text() == "✓ Reached: Find three widths."
    assert "Find three widths." in seen.page.locator(".with-width [role=status]").inner_text()


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_nothing(put, theme, width):
    flat_html = explorer(flat(), view="plane").html
    warm = explorer(trace(load_example("the-cat-sat")), view="temperature").html
    seen = put(flat_html + warm + width_explorer(np.random.default_rng(SEED)).html,
               theme=theme, width=width)  # fmt: skip
    for summary in ("mha-explorer",):
        for element in seen.page.locator(summary).all():
            element.scroll_into_view_if_needed()
    expect(seen.page.locator("mha-explorer.live")).to_have_count(3)
    seen.page.locator(".width-bars").wait_for()
    assert violations(seen.page) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert not re.search("error", " ".join(seen.errors), re.IGNORECASE)
