"""Each control of the explorer by touch and by keyboard, and in forced colours.

By mouse the other files work them.
"""

import pytest
from hand import middle, swipe
from test_strip import changed, holds

pytestmark = pytest.mark.browser

# What each control changes in the state of "The cat sat", where it stands, and which key works it.
CONTROLS = {  # prints first: they stand beside numbers that nobody has changed
    "prints": (".all .choice:has-text('what the source prints')", "Space", {"prints": True}),
    "query": (".chip:nth-of-type(2)", "Space", {"query": 1}),
    "head": (".one-head:nth-child(2) .choice:first-child", "Space", {"focus": 1}),
    "switch": (".one-head:nth-child(1) .choice:last-child", "Space", {"off": [True, False]}),
    "component": (".sums .result >> nth=1", "Enter", {"component": 1}),
    "outcome": (".outcome .result >> nth=2", "Enter", {"outcome": 2}),
    "scale": (".settings .choice:has-text('1') >> nth=1", "Space", {"scale": 1}),
    "causal": (".settings .choice:has-text('Causal')", "Space", {"causal": True}),
    "padding": (
        ".settings .choice:has-text('sat is padding')", "Space", {"padding": [False, False, True]},
    ),
    "order": (".settings [aria-label='Move cat earlier']", "Enter", {"order": [1, 0, 2]}),
    "map": (".all .choice:has-text('Scaled scores')", "Space", {"map": "scaled_scores"}),
}  # fmt: skip

STATE = "() => document.querySelector('mha-explorer').explorer.state"


def work(seen, control, way, key="Enter"):
    """Work a control, a label's by its input."""
    if way == "touch":
        control.tap()
        return
    inner = control.locator("input")
    field = inner if inner.count() else control
    field.focus()
    field.press(key)


@pytest.mark.parametrize("way", ["touch", "keyboard"])
def test_every_fold_control_and_number_is_worked(view, way):
    seen = view("the-cat-sat", has_touch=True).live()
    for fold in ("settings", "all"):
        work(seen, seen.page.locator(f"details.{fold} > summary").first, way)
        seen.page.locator(f"details.{fold}[open]").first.wait_for()
    field = seen.number("Embedding of cat, x₁")
    field.fill("0.5")
    moved = changed(seen.run, 1, 0, 0.5)
    holds(seen, moved, 0)
    for name, run in (("Undo", seen.run), ("Redo", moved), ("Reset", seen.run)):
        work(seen, seen.page.get_by_role("button", name=name, exact=True), way)
        holds(seen, run, 0)
    seen.page.locator(".panel").wait_for()
    work(seen, seen.cell("weights", 0, 0, 1), way)
    assert "Weight that the gives to cat" in seen.panel
    work(seen, seen.page.locator(".at-scores .number").first, way)
    assert "Score of query the" in seen.page.locator(".how").inner_text()
    for name, (where, key, wanted) in CONTROLS.items():
        before = seen.page.evaluate(STATE)
        control = seen.page.locator(f"mha-explorer {where}").first
        control.scroll_into_view_if_needed()
        work(seen, control, way, key)
        after = seen.page.evaluate(STATE)
        assert {field: after[field] for field in wanted} == wanted, name
        assert {field: before[field] for field in wanted} != wanted, name
    assert seen.errors == []


def test_a_finger_scrubs_a_number_sideways_and_scrolls_up_and_down(view):
    seen = view("the-cat-sat", has_touch=True).live()
    swipe(seen.page, *middle(seen.number("Embedding of cat, x₁")), 24, steps=8)
    holds(seen, changed(seen.run, 1, 0, 0.3), 0)
    seen.page.get_by_role("button", name="Undo").tap()
    seen.page.set_viewport_size({"width": 1280, "height": 500})
    swipe(seen.page, *middle(seen.number("Embedding of the, x₁")), 0, -80, steps=8)
    seen.page.wait_for_function("scrollY > 20")
    holds(seen, seen.run, 0)


# ---- Forced colours ----

OUTLINE = "e => { const s = getComputedStyle(e); return [s.outlineStyle, s.outlineWidth]; }"


def test_in_forced_colours_what_is_chosen_lit_and_drawn_can_be_seen(view):
    seen = view("the-cat-sat", forced_colors="active", theme="dark").open()
    weight = seen.page.locator(".at-weights .number").first
    weight.hover()
    assert weight.evaluate(OUTLINE) == ["solid", "2px"]
    assert seen.page.locator(".at-exponentials .number").first.evaluate(OUTLINE) == [
        "dashed", "1px",
    ]  # fmt: skip
    seen.page.mouse.move(2, 2)
    assert weight.evaluate(OUTLINE)[0] == "none"
    seen.page.locator(".chip input").first.focus()
    seen.press("ArrowRight", "ArrowLeft")
    chip = seen.page.locator(".chip span").first
    assert chip.evaluate(OUTLINE) == ["double", "4px"]
    stop = seen.page.locator('.strip .number[tabindex="0"]')
    stop.focus()
    seen.press("ArrowRight")
    focused = seen.page.locator(".strip .number:focus")
    assert focused.evaluate(OUTLINE) == ["solid", "3px"]
    assert chip.evaluate(OUTLINE) == ["solid", "2px"]
    seen.cell("weights", 0, 0, 1).click()
    stop.focus()
    assert seen.cell("weights", 0, 0, 1).evaluate(OUTLINE) == ["solid", "2px"]
    drawn = "e => { const s = getComputedStyle(e); return s.backgroundImage + s.stroke + s.fill; }"
    for what in (".bar > span", ".mini > span", ".ribbon", ".part", ".way"):
        colours = seen.page.locator(what).first.evaluate(drawn)
        assert "rgb(11, 110, 168)" in colours or "rgb(109, 182, 227)" in colours, what
