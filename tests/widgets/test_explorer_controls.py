"""Every control of the explorer, driven in a real Chromium: what it changes."""

import re
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

from mha import load_example, shown, trace, with_swapped_tokens

pytestmark = pytest.mark.browser


def a_head_is_switched_off_and_on(seen):
    seen.choose("Head 2 on")
    left = seen.run.head_contributions[0]
    assert seen.texts("output") == [shown(float(x)) for x in left.flat]
    assert seen.status.startswith("No weight of the moves, its output moves by up to")
    amount = shown(float(np.abs(seen.run.head_contributions[1]).max()))
    note = f"Switched off: Head 2. The output loses its share, up to {amount} in size."
    expect(seen.page.get_by_text(note)).to_be_visible()
    seen.choose("Head 2 on")
    seen.holds(seen.run)
    expect(seen.page.get_by_text("Switched off")).not_to_be_visible()


def scale_and_temperature_are_typed(seen, worked):
    other, temperature = (seen.page.get_by_label(name) for name in ("Other scale", "Temperature"))
    seen.page.get_by_label("Other", exact=True).click()
    assert seen.page.evaluate("document.activeElement.type") == "text"
    other.fill("0.3")
    assert seen.page.get_by_label("Other", exact=True).is_checked()
    seen.holds(trace(replace(worked, scale=0.3)))
    temperature.focus()
    seen.press("Control+A")
    seen.page.keyboard.type("2.5")
    seen.holds(trace(replace(worked, scale=0.3 / 2.5)))
    assert "The temperature is now 2.5." in seen.status
    seen.press("ArrowUp")
    assert temperature.input_value() == "2.6"
    seen.press("ArrowDown", "ArrowDown")
    assert temperature.input_value() == "2.4"
    worked = replace(worked, scale=0.3 / 2.4)
    seen.holds(trace(worked))
    return worked


def masks_hide_keys_and_a_row_may_be_empty(seen, worked):
    seen.choose("the is padding")
    padded = replace(worked, mask=np.array([[False, True, True]] * 3))
    seen.holds(trace(padded))
    seen.choose("Causal: no later keys")
    assert "The causal mask is on." in seen.status
    seen.holds(trace(replace(padded, is_causal=True)))
    seen.choose("Scaled scores")
    assert seen.texts("scaled_scores")[:3] == ["−∞"] * 3
    seen.choose("Weights")
    assert seen.texts("output")[:4] == ["0.0000"] * 4
    assert seen.page.get_by_text("the may attend to no key: its weights and its").is_visible()
    seen.choose("the is padding")
    expect(seen.page.get_by_text("may attend to no key")).not_to_be_visible()
    worked = replace(worked, is_causal=True)
    seen.holds(trace(worked))
    return worked


def padding_and_edits_stay_with_their_token(seen, worked):
    seen.choose("cat is padding")
    seen.cell("embeddings", 1, 2).click()
    seen.page.get_by_label("Change to").fill("0.123456789012345")
    embeddings = seen.run.embeddings.copy()
    embeddings[1, 2] = 0.123456789012345
    seen.page.get_by_label("Move sat earlier").click()
    worked = replace(worked, tokens=("the", "sat", "cat"), embeddings=embeddings[[0, 2, 1]],
                     mask=np.array([[True, True, False]] * 3))  # fmt: skip
    seen.holds(trace(worked))
    labels = seen.page.locator('table[data-stage="weights"]').first.locator("th")
    assert labels.all_inner_texts()[1:] == ["the", "sat", "cat", "the", "sat", "cat"]
    assert seen.status == "The order is now the, sat, cat."
    assert seen.focused() == "Move sat earlier"
    for _ in range(2):  # the second time it can go no further
        seen.press("Enter")
        assert seen.status == "The order is now sat, the, cat."
    worked = replace(worked, tokens=("sat", "the", "cat"), embeddings=embeddings[[2, 0, 1]])
    seen.holds(trace(worked))


def the_address_brings_it_back(seen, view):
    address = seen.settled_url().partition("#")[2]
    assert address.startswith("explore=the-cat-sat&")
    assert "embeddings.1.2=0.123456789012345" in address
    again = view("the-cat-sat", address="#" + address).open()
    assert again.tables() == seen.tables()
    assert again.panel == seen.panel
    assert again.control("Head 1").is_checked()
    assert again.page.get_by_label("Temperature").input_value() == "2.4"
    assert again.settled_url().partition("#")[2] == address
    assert again.errors == []


def reset_brings_everything_back(seen, first):
    assert seen.tables() != first
    seen.page.get_by_role("button", name="Reset").click()
    assert seen.tables() == first
    assert seen.status == "Everything is as at first."
    for label in ("Head 1", "Head 1 on", "Head 2 on", "Weights", "1/√2 = 0.7071"):
        assert seen.control(label).is_checked()
    for label in ("Causal: no later keys", "cat is padding"):
        assert not seen.page.get_by_label(label, exact=True).is_checked()
    assert seen.page.get_by_label("Temperature").input_value() == "1"
    assert seen.page.locator(".off, .changed, .selected, .source").count() == 0
    assert "#" not in seen.settled_url()


def test_settings_are_followed_together_shared_and_reset(view):
    seen = view("the-cat-sat").open()
    first = seen.tables()
    a_head_is_switched_off_and_on(seen)
    worked = scale_and_temperature_are_typed(seen, seen.run.example)
    worked = masks_hide_keys_and_a_row_may_be_empty(seen, worked)
    padding_and_edits_stay_with_their_token(seen, worked)
    for label in ("Head 1", "Head 2 on", "Scaled scores"):
        seen.choose(label)
    seen.cell("scaled_scores", 1, 2, 0).click()
    the_address_brings_it_back(seen, view)
    reset_brings_everything_back(seen, first)


REFUSED = [
    ("Temperature", "0", "0 is not a temperature; a number above 0 is wanted."),
    ("Temperature", "warm", "warm is not a number; a number such as 0.5 is wanted."),
    ("Other scale", "", "“” is not a number; a number such as 0.5 is wanted."),
    ("Other scale", "1e308", "1e308 makes a result too large to compute; a smaller number is"
     " wanted."),
]  # fmt: skip


def test_what_is_no_good_number_is_refused_beside_its_field(view):
    seen = view("cat-sat").open()
    before = seen.tables()
    for field, text, message in REFUSED:
        box = seen.page.get_by_label(field)
        first = box.input_value()
        box.fill(text)
        expect(seen.page.get_by_text(message, exact=True)).to_be_visible()
        assert box.get_attribute("aria-invalid") == "true"
        described = box.get_attribute("aria-describedby")
        assert seen.page.locator(f"#{described}").inner_text() == message
        assert seen.tables() == before
        box.fill(first)
        assert box.get_attribute("aria-invalid") is None
        expect(seen.page.get_by_text(message, exact=True)).not_to_be_visible()
    seen.cell("query", 0, 0, 0).click()
    field = seen.page.get_by_label("Change to")
    for text in ("", "two", "1e309"):
        field.fill(text)
        assert "is not a number; a number such as 0.5 is wanted." in seen.panel
    seen.holds(seen.run)
    field.fill("1e308")
    seen.cell("key", 0, 0, 0).click()
    field.fill("1e308")
    assert "1e308 makes a result too large to compute" in seen.panel
    assert seen.cell("key", 0, 0, 0).inner_text() == "1"


def test_the_mask_of_a_causal_run_is_switched_in_the_bar_without_the_settings(view):
    causal = trace(replace(load_example("apple"), is_causal=True))
    seen = view(causal)
    mask = seen.page.get_by_label("Causal: no later keys")
    expect(mask).to_be_checked()
    label = seen.page.locator(".key .at-scaled_scores").last
    # As a phone reads it, where no column has a head.
    expect(label).to_have_attribute("data-label", "hidden")
    mask.uncheck()
    expect(label).to_have_attribute("data-label", re.compile("÷"))
    weights = seen.page.evaluate("document.querySelector('mha-explorer').explorer.numbers.weights")
    assert np.allclose(weights, trace(replace(causal.example, is_causal=False)).weights)
    seen.page.locator("details.settings > summary").click()
    expect(seen.page.get_by_label("Temperature")).to_be_visible()
    expect(mask).to_have_count(1)


def test_positions_and_angles_stay_where_they_are(view):
    places = {
        "positions": np.array([[0, 1, 0, 1], [1, 0, 0, 1], [1, 0, 1, 0.5]]),
        "angles": np.array([[0.0], [0.5], [1.0]]),
    }
    given = replace(load_example("the-cat-sat"), **places)
    seen = view(trace(given)).open()
    assert seen.texts("angles") == ["0", "0.5", "1"]
    assert len(seen.texts("positions")) == 12
    computed = ("placed", "turned_query", "turned_key", "weights", "output")
    seen.holds(seen.run, computed)
    seen.page.get_by_label("Move sat earlier").click()
    swapped = trace(with_swapped_tokens(given, 1, 2))
    assert np.abs(swapped.output - seen.run.output[[0, 2, 1]]).max() > 0.01
    seen.holds(swapped, computed)
    assert seen.texts("angles") == ["0", "0.5", "1"]
    assert seen.errors == []


def test_the_strip_shows_a_turned_vector_below_the_one_that_can_be_changed(view):
    quarter = np.pi / 2 * np.array([[0, 0], [1, 1]])
    seen = view(trace(replace(load_example("cat-sat"), angles=quarter))).live()
    texts = [
        seen.number(f"{name}₁").evaluate("e => e.value || e.textContent")
        for name in ("Key of sat, k", "−1, Turned key of sat, k′")
    ]
    assert texts == ["0", "−1"]
