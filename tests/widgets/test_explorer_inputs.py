"""Inputs changed in the explorer, in a real Chromium, against the package."""

from dataclasses import replace

import numpy as np
import pytest

from mha import shown, trace

pytestmark = pytest.mark.browser


def test_an_embedding_can_be_changed_by_keyboard_alone(view):
    seen = view("the-cat-sat").open()
    seen.cell("embeddings", 0, 0).focus()
    seen.press("ArrowRight", "ArrowDown", "Enter", "Enter")
    assert seen.page.evaluate("document.activeElement.value") == "1"
    seen.press("Control+A")
    seen.page.keyboard.insert_text("−0.75")
    embeddings = seen.run.embeddings.copy()
    embeddings[1, 1] = -0.75
    changed = trace(replace(seen.run.example, embeddings=embeddings))
    seen.holds(changed, ("query", "key", "value", "weights", "head_outputs", "concat", "output"))
    assert seen.cell("embeddings", 1, 1).text_content() == "−0.75"
    moves = np.abs(changed.weights - seen.run.weights)[:, 0].max(axis=1)
    moved = f"{shown(float(moves.max()))} in Head {moves.argmax() + 1}"
    ended = shown(float(np.abs(changed.output - seen.run.output)[0].max()))
    assert seen.status == (
        f"The weights of the move by up to {moved}, its output by up to {ended}."
        " Embedding of cat, x₂ is now −0.75."
    )
    assert "changed" in seen.cell("embeddings", 1, 1).get_attribute("class")
    assert "It was 1 at first." in seen.panel
    seen.press("Escape")
    assert seen.focused().startswith("−0.75, Embedding of cat, x₂")


def test_a_bad_input_changes_nothing(view):
    seen = view("cat-sat").open()
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


def test_reset_brings_everything_back(view):
    seen = view("the-cat-sat").open()
    before = seen.tables()
    for label in ("Head 2", "Head 1 on", "Causal: no later keys", "sat is padding", "Scores"):
        seen.choose(label)
    seen.page.get_by_label("Move cat earlier").click()
    seen.page.get_by_label("Other scale").fill("7")
    seen.page.get_by_label("Temperature").fill("3")
    seen.cell("embeddings", 0, 0).click()
    seen.page.get_by_label("Change to").fill("9")
    assert seen.tables() != before
    seen.page.get_by_role("button", name="Reset").click()
    assert seen.tables() == before
    assert seen.status == "Everything is as at first."
    for label in ("Head 1", "Head 1 on", "Head 2 on", "Weights", "1/√2 = 0.7071"):
        assert seen.control(label).is_checked()
    for label in ("Causal: no later keys", "sat is padding"):
        assert not seen.page.get_by_label(label, exact=True).is_checked()
    assert seen.page.get_by_label("Temperature").input_value() == "1"
    assert seen.page.locator(".off, .changed, .selected, .source").count() == 0
    assert "#" not in seen.settled_url()
