"""Where a number of the explorer comes from, in a real Chromium."""

import re
from dataclasses import replace

import chains
import numpy as np
import pytest
from helpers import D_K, MASK, example
from playwright.sync_api import expect

from mha import short, shown, trace
from mha.audit.judging import Prints
from mha.runs.places import Place
from mha.views.arithmetic import factor
from mha.views.signs import sign

pytestmark = pytest.mark.browser


def lit(seen):
    """Return the texts and tables of the outlined cells."""
    return seen.page.locator(".cell.source").evaluate_all(
        "all => all.map(e => [e.closest('table').dataset.stage,"
        " e.closest('tr').rowIndex, e.closest('td').cellIndex])"
    )


def test_a_score_is_traced_down_to_the_inputs(view):
    seen = view("the-cat-sat").open()
    seen.choose("Scores")
    seen.cell("scores", 0, 1, 2).click()
    score = shown(float(seen.run.scores[0, 1, 2]))
    assert f"Score of query cat with key sat, Head 1: {score}" in seen.panel
    assert lit(seen) == [["query", 2, 1], ["query", 2, 2], ["key", 3, 1], ["key", 3, 2]]
    terms = seen.page.locator(".panel .sum li").all_inner_texts()
    products = [seen.run.query[0, 1, k] * seen.run.key[0, 2, k] for k in range(2)]
    for k, (term, product) in enumerate(zip(terms, products, strict=False)):
        q, key = short(float(seen.run.query[0, 1, k])), short(float(seen.run.key[0, 2, k]))
        assert term.split() == [q, "×", key, "=", short(float(product))]
    assert terms[-1] == f"= {shown(float(seen.run.scores[0, 1, 2]))}"
    seen.page.locator(".panel .operand").first.click()
    assert "Query of cat, q₁, Head 1" in seen.panel
    assert seen.focused().endswith("Query of cat, q₁, Head 1")
    assert [place[0] for place in lit(seen)] == ["embeddings"] * 4 + ["w_q"] * 4
    seen.page.locator(".panel .operand").nth(1).click()
    assert "Query projection, x₁ to q₁, Head 1" in seen.panel
    expect(seen.cell("w_q", 0, 0, 0)).to_be_visible()
    assert "An input: you can change it." in seen.panel
    seen.press("Escape")
    assert "Query of cat, q₁, Head 1" in seen.panel
    seen.press("Escape")
    assert "Score of query cat with key sat" in seen.panel
    seen.press("Escape")
    assert "Select a number" in seen.panel
    assert lit(seen) == []
    seen.cell("output", 2, 3).click()  # names the share of each head
    for head in range(2):
        share = short(float(seen.run.head_contributions[head, 2, 3]))
        assert f"Head {head + 1}: {share}" in " ".join(seen.panel.split())
    seen.page.locator(".panel .operand").last.click()
    assert "Share of the output of sat, y₄, Head 2" in seen.panel


def test_tables_and_panel_are_worked_by_keyboard_alone(view):
    seen = view("the-cat-sat").open()
    from_the_output_to_an_embedding(seen)
    arrow_keys_stay_in_the_table_which_is_one_tab_stop(seen)
    an_embedding_is_changed(seen)


def from_the_output_to_an_embedding(seen):
    seen.cell("output", 0, 0).focus()
    path = ["Output of the, y₁"]
    seen.press("ArrowDown", "Enter")
    for stage in ("Concatenation of cat", "Mixture for cat", "Weight that cat gives",
                  "Exponential of query cat", "Scaled score of query cat", "Score of query cat",
                  "Query of cat", "Embedding of cat"):  # fmt: skip
        seen.press("Enter", "Enter")
        path.append(seen.focused())
        assert stage in path[-1], path
    assert "Embedding of cat, x₁: 0" in seen.panel
    for _ in range(8):
        seen.press("Escape")
    assert "Output of cat, y₁" in seen.focused()
    seen.press("Escape")
    assert "Select a number" in seen.panel


def an_embedding_is_changed(seen):
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


def printed_chains(lines):
    """Return the chains that a sum in the panel prints, products and total; each must hold."""
    *items, total = (" ".join(re.sub(r"[^\W\d_]{2,}", " ", line).split()) for line in lines)
    steps = [re.split(" [=≈] ", item)[-1] for item in items]
    found = chains.read(" ; ".join([*items, f"{' + '.join(steps)} {total}"]))
    assert [fault for chain in found for fault in chain.faults()] == []
    assert len(found) == 1 + sum("=" in item or "≈" in item for item in items), lines
    return found


@pytest.mark.parametrize("name", ["cat-sat", "the-cat-sat", "cat-sat-on-it-wide"])
def test_every_sum_in_the_panel_adds_up_to_its_cell(view, name):
    """Every number of the example is selected; its terms, recomputed here, give it."""
    seen = view(name).open()
    found = seen.page.evaluate(
        """() => [...document.querySelectorAll("table .cell")].map((button) => {
          button.click();
          const read = (text) => Number(text.replaceAll("−", "-").replace(/[()]/g, ""));
          const terms = [...document.querySelectorAll(".panel .sum")].slice(0, 1)
            .flatMap((list) => [...list.querySelectorAll("li:not(.total)")])
            .map((li) => [...li.querySelectorAll(".operand")].map((b) => read(b.textContent)));
          const lines = [...document.querySelectorAll(".panel .sum")].slice(0, 1)
            .flatMap((list) => [...list.querySelectorAll("li")].map((li) => li.textContent));
          const rule = document.querySelector(".panel p:nth-of-type(2)")?.textContent ?? "";
          return [button.closest("table").dataset.stage, button.textContent, rule, terms, lines];
        })"""
    )
    sums = 0
    assert all(printed_chains(lines) for *_, lines in found if lines)
    for stage, text, rule, terms, _ in found:
        value = float(text.replace("−", "-").rstrip("*"))
        if stage in ("scores", "query", "key", "value", "head_outputs", "output",
                     "head_contributions") and terms:  # fmt: skip
            # Operands are shown to four places, and so is their sum.
            size = sum(abs(a) + abs(b) for a, b in terms)
            tolerance = 0.006 if stage == "scores" else 1e-4
            assert abs(sum(a * b for a, b in terms) - value) < tolerance + 1e-4 * size
            sums += 1
        elif not terms:
            assert rule == "An input: you can change it."
        elif stage == "weights":
            assert abs(terms[0][0] / terms[0][1] - value) < 0.0051
        elif stage == "exponentials":
            assert abs(sum(x for (x,) in terms) - value) < 0.02 or "power" in rule
    run = seen.run
    computed = ("scores", "head_outputs", "output", "head_contributions")
    computed += () if run.embeddings is None else ("query", "key", "value")
    arrays = [getattr(run, stage) for stage in computed]
    assert sums == sum(array.size for array in arrays if array is not None)


def test_an_additive_mask_has_its_term_in_the_sum(view):
    mask = np.where(MASK, np.linspace(-0.75, 0.5, MASK.size).reshape(MASK.shape), -np.inf)
    seen = view(trace(example(mask=mask))).open()
    seen.choose("Scaled scores")
    for row, column, is_negative in ((0, 1, True), (4, 3, False)):
        seen.cell("scaled_scores", 0, row, column).click()
        score, scaled = (
            float(array[0, row, column]) for array in (seen.run.scores, seen.run.scaled_scores)
        )
        line = " ".join([factor(score), "×", short(D_K**-0.5), "+", factor(mask[row, column])])
        items = seen.page.locator(".panel .sum li").all_inner_texts()
        total = f"{sign(line, shown(scaled))} {shown(scaled)}"
        assert [" ".join(item.split()) for item in items] == [line, total]
        assert "The score times the scale, plus what the mask adds." in seen.panel
        assert (mask[row, column] < 0) == is_negative


def test_what_a_mask_forbids_is_said_in_place_of_a_sum(view):
    seen = view(trace(example(mask=np.where(MASK, 0.5, -np.inf)))).open()
    for stage in ("Scaled scores", "Exponentials", "Weights"):
        seen.choose(stage)
        name = {"Scaled scores": "scaled_scores"}.get(stage, stage.lower())
        seen.cell(name, 0, 3, 1).click()
        assert "Masked: the query may not attend to this key." in seen.panel
        seen.cell(name, 0, 2, 1).click()
        assert "Masked: the query may attend to no key" in seen.panel
        assert seen.page.locator(".panel .sum").count() == 0


def test_a_temperature_divides_the_scale_and_large_scores_are_shifted(view):
    seen = view("cat-sat").open()
    seen.page.get_by_label("Temperature").fill("0.5")
    seen.choose("Scaled scores")
    seen.cell("scaled_scores", 0, 0, 0).click()
    assert "2 × (0.5 ÷ temperature 0.5)" in " ".join(seen.panel.split())
    seen.page.get_by_label("Other scale").fill("50")
    seen.choose("Exponentials")
    seen.cell("exponentials", 0, 0, 0).click()
    assert "less 200.0000, the largest score of its row" in seen.panel
    assert "e ^ ( 200 − 200.0000)" in " ".join(seen.panel.split())


def test_the_largest_numbers_are_written_out_and_stay_on_the_page(view):
    seen = view("cat-sat", width=390).open()
    seen.cell("value", 0, 0, 0).click()
    seen.page.get_by_label("Change to").fill("1234567.891")
    assert seen.cell("value", 0, 0, 0).text_content() == "1234567.891"
    assert "Value of cat, v₁: 1234567.8910" in seen.panel
    seen.page.get_by_label("Change to").fill("1e300")
    assert seen.cell("value", 0, 0, 0).text_content() == "1e300"
    assert f"Value of cat, v₁: {shown(1e300)}" in seen.panel
    seen.cell("head_outputs", 0, 0, 0).click()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_is_selected_follows_a_change_and_selecting_again_goes_to_the_sum(view):
    seen = view("cat-sat").open()
    seen.cell("weights", 0, 0, 0).click()
    seen.choose("1")
    wanted = trace(replace(seen.run.example, scale=1.0)).weights[0, 0, 0]
    assert shown(float(wanted)) in seen.panel
    seen.page.get_by_role("button", name="Undo").click()
    seen.cell("weights", 0, 0, 0).click()
    assert seen.focused().startswith("2.7183, Exponential of query cat with key cat")


def arrow_keys_stay_in_the_table_which_is_one_tab_stop(seen):
    stops = seen.page.locator("table").evaluate_all(
        "all => all.map(t => t.querySelectorAll('.cell[tabindex=\"0\"]').length)"
    )
    assert set(stops) == {1}
    seen.cell("embeddings", 0, 0).focus()
    seen.press("ArrowUp", "ArrowLeft")
    assert seen.focused() == "1, Embedding of the, x₁"
    seen.press("End")
    assert seen.focused() == "0, Embedding of the, x₄"
    seen.press("ArrowDown", "ArrowDown", "ArrowDown", "Home")
    assert seen.focused() == "1, Embedding of sat, x₁"
    seen.press("Tab", "Shift+Tab")
    assert seen.focused() == "1, Embedding of sat, x₁"
    seen.press("Space")
    assert seen.page.locator(".cell[aria-current=true]").count() == 1
    assert seen.status == "Embedding of sat, x₁: 1.0000."


# ---- What the source prints ----


def test_the_source_prints_stand_beside_the_numbers_while_nothing_is_changed(view):
    seen = view("the-cat-sat").open()
    prints = Prints("the-cat-sat")
    seen.choose("Show what the source prints")
    marks = seen.page.locator('table[data-stage="output"] .source-print').all_text_contents()
    wanted = [prints(Place("output", row=i, column=j)) for i in range(3) for j in range(4)]
    signs = {True: "≈", False: "≠"}
    assert marks == [
        ", ".join(f"{signs[agrees]} {text.replace('-', '−')}" for text, agrees in found)
        for found in wanted
    ]
    assert all(wanted)
    seen.cell("query", 0, 0, 0).click()
    assert "the source prints ≈ 0.1" in seen.panel
    seen.choose("Causal: no later keys")
    assert seen.page.locator(".source-print").count() == 0
    paused = seen.page.get_by_label("Show what the source prints (reset first)")
    assert paused.is_disabled()
    seen.choose("Causal: no later keys")
    assert seen.page.locator(".source-print").count() > 50
    seen.choose("Show what the source prints")
    assert seen.page.locator(".source-print").count() == 0
