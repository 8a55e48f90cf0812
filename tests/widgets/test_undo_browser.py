"""Undo and redo of the interactive figures in Chromium: each edit is one step."""

import pytest
from playwright.sync_api import expect
from pointer import drag, middle
from worked_runs import CAUSAL, ON_A_SHEET, TIRED

from mha import load_example, trace
from mha.examples.recorded import recorded_sentences
from mha.widgets.cache import growing_cache
from mha.widgets.heads import decoder_heads
from mha.widgets.latent import latent_widths
from mha.widgets.learning import learning_layer
from mha.widgets.model import language_model
from mha.widgets.pencil import red_pencil
from mha.widgets.tiles import moving_tile
from mha.widgets.variants_explorer import variants_explorer

pytestmark = pytest.mark.browser


def history(page):
    """Return the undo button and the redo button."""
    return (page.get_by_role("button", name=name, exact=True) for name in ("Undo", "Redo"))


def goes_back_and_forth(page, value, seen):
    """Assert that undo and redo restore the values of a history one by one."""
    undo, redo = history(page)
    assert value() == seen[-1]
    for wanted in reversed(seen[:-1]):
        undo.click()
        assert value() == wanted
    expect(undo).to_be_disabled()
    for wanted in seen[1:]:
        redo.click()
        assert value() == wanted
    expect(redo).to_be_disabled()


def edit_field(page, field):
    """Type into a field, drag it and press its keys, and return its value after each edit."""
    seen = [field.input_value()]
    for text in ("3", "1/4"):
        field.fill(text)
        field.press("Enter")
        seen.append(field.input_value())
    field.blur()
    for _ in range(2):
        drag(page, *middle(field), 40, steps=5)
        seen.append(field.input_value())
    field.focus()
    for _ in range(2):
        field.press("ArrowUp")
        field.evaluate("e => e.blur()")
        seen.append(field.input_value())
        field.focus()
    field.evaluate("e => e.blur()")
    assert len(set(seen)) == len(seen)
    return seen


def test_each_edit_of_a_score_in_tiles_is_one_step(open_instrument):
    page = open_instrument(moving_tile(trace(load_example("cat-sat-on-it"))).html)
    field = page.get_by_label("Score of cat with sat")
    field.scroll_into_view_if_needed()
    goes_back_and_forth(page, field.input_value, edit_field(page, field))


def test_each_drag_of_the_block_size_is_one_step(open_instrument):
    page = open_instrument(moving_tile(trace(load_example("cat-sat-on-it"))).html)
    size = page.get_by_label("block").first
    seen = [size.input_value()]
    for _ in range(2):
        size.press("ArrowRight")
        seen.append(size.input_value())
    goes_back_and_forth(page, size.input_value, seen)


def test_each_edit_of_a_number_of_a_sheet_is_one_step(open_instrument):
    page = open_instrument(variants_explorer(TIRED.tokens, ON_A_SHEET, focus=3).html)
    field = page.get_by_label("Keys: row cat, column 1")
    field.scroll_into_view_if_needed()
    goes_back_and_forth(page, field.input_value, edit_field(page, field))


def test_each_step_of_a_latent_width_is_one_step(open_instrument):
    page = open_instrument(latent_widths(TIRED, [0, 1, 3, 2], width=2).html)
    slider = page.get_by_role("slider")
    seen = [slider.input_value()]
    for key in ("ArrowRight", "End", "Home"):
        slider.press(key)
        seen.append(slider.input_value())
    assert seen == ["2", "3", "4", "1"]
    goes_back_and_forth(page, slider.input_value, seen)


def test_a_token_that_is_written_comes_back(open_instrument):
    page = open_instrument(growing_cache(CAUSAL).html)
    count = page.locator(".slot:not(.free)").count
    seen = [count()]
    for _ in range(2):
        page.get_by_role("button", name="Write cat").click()
        page.get_by_role("slider").press("End")
        seen.append(count())
    undo, redo = history(page)
    undo.click()
    undo.click()
    expect(undo).to_be_disabled()
    redo.click()
    redo.click()
    page.get_by_role("slider").press("End")
    assert count() == seen[-1]


def test_each_choice_of_a_recorded_head_is_one_step(open_instrument):
    first = recorded_sentences()[0]
    page = open_instrument(
        decoder_heads(first, " it", " animal", heads=((14, 9), (19, 9))).html, height=1000
    )
    title = page.locator(".strip-title").inner_text
    seen = [title()]
    page.get_by_role("radio", checked=True).focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
        seen.append(title())
    goes_back_and_forth(page, title, seen)


def test_each_drag_of_a_model_s_temperature_is_one_step(open_instrument):
    page = open_instrument(language_model("ba ke saw mo nu . ba").html, width=1000, height=1200)
    slider = page.locator(".model-temperature input")
    slider.scroll_into_view_if_needed()
    seen = [slider.input_value()]
    for way in (40, -60):
        box = slider.bounding_box()
        at = (float(seen[-1]) - 0.2) / 2.8
        drag(page, box["x"] + 8 + at * (box["width"] - 16), box["y"] + box["height"] / 2, way)
        seen.append(slider.input_value())
    slider.press("ArrowRight")
    seen.append(slider.input_value())
    assert len(set(seen)) == len(seen)
    goes_back_and_forth(page, slider.input_value, seen)


def test_each_setting_of_a_training_is_one_step(open_instrument):
    page = open_instrument(learning_layer().html, width=1100, height=1000)
    seed = page.get_by_label("Seed")
    seen = [seed.input_value()]
    for text in ("7", "8"):
        seed.fill(text)
        seed.press("Enter")
        seen.append(text)
    goes_back_and_forth(page, seed.input_value, seen)


def test_each_drag_through_the_slips_is_one_step(open_instrument, static):
    boxes = f'<link rel="stylesheet" href="{static.as_uri()}/boxes.css">'
    page = open_instrument(
        boxes + red_pencil("apple-walkthrough").html, width=1100, reduced_motion="reduce"
    )
    slider = page.get_by_label("Correct the slips, first to last")
    seen = [slider.input_value()]
    for key in ("End", "ArrowLeft", "ArrowLeft"):
        slider.press(key)
        seen.append(slider.input_value())
    goes_back_and_forth(page, slider.input_value, seen)
