"""The effect of every control of the explorer in Chromium, by touch and by keyboard."""

from dataclasses import replace

import numpy as np
import pytest
from accessible import too_small, violations
from playwright.sync_api import expect

from mha import Place, load_example, trace
from mha.runs.changed_examples import with_swapped_tokens
from mha.runs.rounding import shown

pytestmark = pytest.mark.browser

# The place of each control of "The cat sat", its key, and its change of the state.
CONTROLS = {  # prints first: they are shown beside unchanged numbers only
    "prints": (".all .choice:has-text('what the source prints')", "Space", {"prints": True}),
    "query": (".chip:nth-of-type(2)", "Space", {"query": 1}),
    "head": (".one-head:nth-child(2) .choice:first-child", "Space", {"focus": 1}),
    "switch": (".one-head:nth-child(1) .choice:last-child", "Space", {"off": [True, False]}),
    "component": (".sums .result >> nth=1", "Enter", {"component": 1}),
    "outcome": (".outcome .result >> nth=2", "Enter", {"outcome": 2}),
    "scale": (".settings .choice:has-text('1') >> nth=1", "Space", {"scale": 1}),
    "causal": (".settings .choice:has-text('Causal')", "Space", {"causal": True}),
    "order": (".settings [aria-label='Move cat earlier']", "Enter", {"order": [1, 0, 2]}),
    "padding": (
        ".settings .choice:has-text('cat is padding')", "Space", {"padding": [False, True, False]},
    ),
    "map": (".all .choice:has-text('Scaled scores')", "Space", {"map": "scaled_scores"}),
}  # fmt: skip
SAID = {
    "switch": "No weight of cat changes; its output changes by up to",
    "causal": "The causal mask is on.",
    "order": "The order is now cat, the, sat.",
}


def operate(seen, control, way, key="Enter"):
    """Operate a control. A labelled control is operated through its input."""
    if way == "touch":
        control.tap()
        return
    inner = control.locator("input")
    field = inner if inner.count() else control
    field.focus()
    field.press(key)


def state_and_run(seen):
    """Return the page's state and the package's run for it, which the page must show."""
    state, start = seen.state, seen.run.example
    order, embeddings = state["order"], start.embeddings.copy()
    for address, value in state["edits"].items():
        place = Place.parse(address)
        embeddings[place.index] = value
    scale = start.layer.d_k**-0.5 if state["scale"] is None else state["scale"]
    run = trace(
        replace(
            start,
            tokens=[start.tokens[i] for i in order],
            embeddings=embeddings[order],
            mask=np.tile(~np.array(state["padding"])[order], (len(order), 1)),
            is_causal=state["causal"],
            scale=scale / state["temperature"],
        )
    )
    # A map that is not chosen is painted when it is.
    seen.assert_shows(run, ("head_outputs", *(["weights"] if state["map"] == "weights" else [])))
    output = run.head_contributions[~np.array(state["off"])].sum(axis=0)
    assert seen.texts("output") == [shown(float(x)) for x in output.flat]
    return state, run


@pytest.mark.parametrize(
    ("way", "width", "theme"), [("touch", 390, "light"), ("keyboard", 1280, "dark")]
)
def test_every_control_is_worked_followed_shared_and_reset(view, way, width, theme):
    seen = view("the-cat-sat", has_touch=True, width=width, theme=theme).wait_until_live()
    for fold in ("settings", "all"):
        operate(seen, seen.page.locator(f"details.{fold} > summary").first, way)
        seen.page.locator(f"details.{fold}[open]").first.wait_for()
    seen.page.locator(".panel").wait_for()
    first = seen.tables()
    seen.number("Embedding of cat, x₁").fill("0.5")
    for name, edits in (("Undo", {}), ("Redo", {"embeddings.1.0": 0.5}), ("Reset", {})):
        operate(seen, seen.page.get_by_role("button", name=name, exact=True), way)
        assert state_and_run(seen)[0]["edits"] == edits
    operate(seen, seen.cell("weights", 0, 0, 1), way)
    assert "Weight that the gives to cat" in seen.panel
    operate(seen, seen.page.locator(".at-scores .number").first, way)
    assert "Score of query the" in seen.page.locator(".how").inner_text()
    seen.choose("Weights")
    before = seen.state
    for name, (where, key, wanted) in CONTROLS.items():
        control = seen.page.locator(f"mha-explorer {where}").first
        control.scroll_into_view_if_needed()
        operate(seen, control, way, key)
        after, run = state_and_run(seen)
        assert {**after, "selected": None} == {**before, "selected": None} | wanted, name
        assert {field: before[field] for field in wanted} != wanted, name
        assert SAID.get(name, "") in seen.status, name
        before = after
    seen.number("Embedding of cat, x₁").fill("0.123456789012345")
    state, run = state_and_run(seen)
    assert state["edits"] == {"embeddings.1.0": 0.123456789012345}  # as it stood at first
    labels = seen.page.locator('table[data-stage="weights"]').first.locator("th")
    assert labels.all_inner_texts()[1:] == 2 * ["cat", "the", "sat"]
    assert seen.texts("scaled_scores")[:3] == ["−∞"] * 3
    lost = shown(float(np.abs(run.head_contributions[0]).max()))
    notes = [
        seen.page.get_by_text(f"Switched off: Head 1. The output loses its share, up to {lost} in"),
        seen.page.get_by_text("cat may attend to no key: its weights and its"),
    ]
    for note in notes:
        expect(note).to_be_visible()
    the_address_brings_it_back(seen, view)
    all_can_work_it(seen, width)
    seen.page.get_by_role("button", name="Reset").click()
    assert seen.tables() == first
    assert seen.status == "Everything is reset."
    for note in notes:
        expect(note).not_to_be_visible()
    for label in ("Head 1", "Head 1 on", "Head 2 on", "Weights", "1/√2 = 0.7071"):
        assert seen.control(label).is_checked()
    assert seen.page.locator(".off, .changed, .selected, .source").count() == 0
    assert "#" not in seen.settled_url()


def the_address_brings_it_back(seen, view):
    address = seen.settled_url().partition("#")[2]
    assert address.startswith("explore=the-cat-sat&")
    again = view("the-cat-sat", address="#" + address).open()
    assert again.state == seen.state
    assert again.tables() == seen.tables()
    assert again.panel == seen.panel
    assert again.control("Head 2").is_checked()
    assert again.settled_url().partition("#")[2] == address


def all_can_work_it(seen, width):
    seen.page.locator(".body .fold > summary").evaluate_all("all => all.forEach(s => s.click())")
    targets = seen.page.locator("mha-explorer :is(button, input):visible")
    assert targets.count() > 100
    assert too_small(targets) == []
    seen.page.get_by_label("Temperature").fill("nothing")
    seen.cell("embeddings", 0, 0).click()
    seen.page.get_by_label("Change to").fill("0.25")
    assert violations(seen.page) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_scale_and_temperature_are_typed_and_an_order_goes_to_its_end(view):
    seen = view("the-cat-sat").open()
    other, temperature = (seen.page.get_by_label(name) for name in ("Other scale", "Temperature"))
    seen.page.get_by_label("Other", exact=True).click()
    assert seen.page.evaluate("document.activeElement.type") == "text"
    other.fill("0.3")
    temperature.fill("2.5")
    assert "The temperature is now 2.5." in seen.status
    seen.press("ArrowUp", "ArrowDown", "ArrowDown")
    state, _ = state_and_run(seen)
    assert (state["scale"], state["temperature"]) == (0.3, 2.4)
    seen.page.get_by_label("Move sat earlier").focus()
    for order in ("the, sat, cat", "sat, the, cat", "sat, the, cat"):  # at last no further
        seen.press("Enter")
        assert seen.status == f"The order is now {order}."
        assert seen.focused() == "Move sat earlier"
    address = seen.settled_url().partition("#")[2]
    again = view("the-cat-sat", address="#" + address).open()
    assert again.page.get_by_label("Temperature").input_value() == "2.4"
    assert again.page.get_by_label("Other", exact=True).is_checked()
    seen.page.get_by_role("button", name="Reset").click()
    assert seen.control("1/√2 = 0.7071").is_checked()
    assert temperature.input_value() == "1"


REFUSED = [
    ("Temperature", "0", "“0” is not positive. Type a number above 0, up to 1000."),
    ("Temperature", "1/10^320", "“1/10^320” is not a number. Type one such as 0.5, −2 or 1/3."),
    (
        "Temperature",
        "1e-320",
        "“1e-320” makes a result too large to compute. Type a smaller number.",
    ),
    ("Other scale", "", "Type a number, such as 0.5, −2 or 1/3."),
    ("Other scale", "1e308", "“1e308” is out of range. Type a number from −1000 to 1000."),
]


def test_an_invalid_number_is_refused_beside_its_field(view):
    seen = view("cat-sat").open()
    before = seen.tables()
    for field, text, message in REFUSED:
        box = seen.page.get_by_label(field)
        first = box.input_value()
        box.fill(text)
        assert box.get_attribute("aria-invalid") == "true"
        described = box.get_attribute("aria-describedby")
        expect(seen.page.locator(f"#{described}")).to_have_text(message)
        assert seen.tables() == before
        box.fill(first)
        assert box.get_attribute("aria-invalid") is None
        expect(seen.page.get_by_text(message, exact=True)).not_to_be_visible()


def test_positions_and_angles_stay_where_they_are(view):
    places = {
        "positions": np.array([[0, 1, 0, 1], [1, 0, 0, 1], [1, 0, 1, 0.5]]),
        "angles": np.array([[0.0], [0.5], [1.0]]),
    }
    given = replace(load_example("the-cat-sat"), **places)
    seen = view(trace(given)).open()
    computed = ("placed", "turned_query", "turned_key", "weights", "output")
    seen.assert_shows(seen.run, computed)
    # The strip shows the factors, moves the word, and rotates the vectors below.
    expect(seen.page.locator(".strip .query .letter").first).to_have_text("x+p")
    turned = seen.page.locator(".strip [aria-label*='Rotated key of sat, k′₁']").first
    assert turned.inner_text() == shown(float(seen.run.turned_key[0, 2, 0]), 2)
    seen.page.locator(".strip .query input").nth(1).fill("3")
    assert seen.state["edits"] == {"embeddings.0.1": 2}
    seen.page.get_by_role("button", name="Undo").click()
    seen.page.get_by_label("Move sat earlier").click()
    seen.assert_shows(trace(with_swapped_tokens(given, 1, 2)), computed)
    assert seen.texts("angles") == ["0", "0.5", "1"]


OUTLINE = "e => { const s = getComputedStyle(e); return [s.outlineStyle, s.outlineWidth]; }"


def test_in_forced_colours_what_is_chosen_lit_and_drawn_can_be_seen(view):
    seen = view("the-cat-sat", forced_colors="active", theme="dark").open()
    weight = seen.page.locator(".at-weights .number").first
    source = seen.page.locator(".at-exponentials .number").first
    weight.hover()
    assert [one.evaluate(OUTLINE)[0] for one in (weight, source)] == ["solid", "dashed"]
    seen.page.mouse.move(2, 2)
    assert weight.evaluate(OUTLINE)[0] == "none"
    chip = seen.page.locator(".chip span").first
    assert chip.evaluate(OUTLINE) == ["solid", "2px"]
    seen.page.locator(".chip input").first.focus()
    seen.press("ArrowRight", "ArrowLeft")
    assert chip.evaluate(OUTLINE) == ["double", "4px"]
    seen.page.locator('.strip .number[tabindex="0"]').focus()
    seen.press("ArrowRight")
    assert seen.page.locator(".strip .number:focus").evaluate(OUTLINE) == ["solid", "3px"]
    drawn = "e => { const s = getComputedStyle(e); return s.backgroundImage + s.stroke + s.fill; }"
    for what in (".bar > span", ".mini > span", ".ribbon", ".part", ".way"):
        colours = seen.page.locator(what).first.evaluate(drawn)
        assert "rgb(11, 110, 168)" in colours or "rgb(109, 182, 227)" in colours, what
