"""Where a number of the explorer comes from, in a real Chromium."""

import re
from collections import Counter
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


BY_HEAD = ("query", "key", "value", "scores", "scaled_scores", "exponentials", "weights",
           "head_outputs", "head_contributions")  # fmt: skip


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
    for term, q, k in zip(terms, seen.run.query[0, 1], seen.run.key[0, 2], strict=False):
        wanted = [short(float(q)), "×", short(float(k)), "=", short(float(q * k))]
        assert term.split() == wanted
    assert terms[-1] == f"= {score}"
    seen.page.locator(".panel .operand").first.click()
    assert "Query of cat, q₁, Head 1" in seen.panel
    assert seen.focused().endswith("Query of cat, q₁, Head 1")
    assert [place[0] for place in lit(seen)] == ["embeddings"] * 4 + ["w_q"] * 4
    seen.page.locator(".panel .operand").nth(1).click()
    assert "Query projection, x₁ to q₁, Head 1" in seen.panel
    expect(seen.cell("w_q", 0, 0, 0)).to_be_visible()
    for _ in range(3):
        seen.press("Escape")
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


# Every number is selected: what it is, its rule, and the lines of its sum.
SELECTED = """() => [...document.querySelectorAll("table .cell")].map((button) => {
  button.click();
  const text = (selector) => document.querySelector(selector)?.textContent ?? "";
  const [sum] = document.querySelectorAll(".panel .sum");
  const lines = sum ? [...sum.querySelectorAll("li")].map((li) => li.textContent) : [];
  return [button.closest("table").dataset.stage, text(".panel .value"),
    text(".panel p:nth-of-type(2)"), lines];
})"""


def printed_chains(lines):
    """Return the chains that a sum in the panel prints, products and total; each must hold."""
    *items, total = (" ".join(re.sub(r"[^\W\d_]{2,}", " ", line).split()) for line in lines)
    steps = [re.split(" [=≈] ", item)[-1] for item in items]
    found = chains.read(" ; ".join([*items, f"{' + '.join(steps)} {total}"]))
    assert [fault for chain in found for fault in chain.faults()] == []
    assert len(found) == 1 + sum("=" in item or "≈" in item for item in items), lines
    return found


@pytest.mark.parametrize("name", ["cat-sat", "the-cat-sat"])
def test_every_sum_in_the_panel_holds_and_comes_to_its_number(view, name):
    seen = view(name).open()
    worked = Counter()
    for stage, value, rule, lines in seen.page.evaluate(SELECTED):
        if rule == "An input: you can change it.":
            assert not lines
            continue
        assert printed_chains(lines), value
        assert lines[-1].split()[-1] == value.split()[0], (stage, lines)
        worked[stage] += 1
    run = seen.run
    given = ("query", "key", "value") if run.embeddings is None else ("embeddings",)
    computed = {
        stage: getattr(run, stage).size
        for stage in (*BY_HEAD, "concat", "output")
        if stage not in given and getattr(run, stage) is not None
    }
    computed["exponentials"] += run.row_sums.size
    assert worked == computed


def test_a_mask_has_its_term_in_the_sum_forbids_in_words_and_stays_in_its_place(view):
    mask = np.where(MASK, np.linspace(-0.75, 0.5, MASK.size).reshape(MASK.shape), -np.inf)
    given = example(mask=mask)
    seen = view(trace(given)).open()
    seen.holds(seen.run)
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
    for stage in ("Scaled scores", "Exponentials", "Weights"):
        seen.choose(stage)
        name = stage.lower().replace(" ", "_")
        seen.cell(name, 0, 3, 1).click()
        assert "Masked: the query may not attend to this key." in seen.panel
        seen.cell(name, 0, 2, 1).click()
        assert "Masked: the query may attend to no key" in seen.panel
        assert seen.page.locator(".panel .sum").count() == 0
    seen.page.get_by_label("Move token0 later").click()
    order = [1, 0, 2, 3, 4]
    moved = {name: getattr(given, name)[:, order] for name in ("query", "key", "value")}
    tokens = [given.tokens[i] for i in order]
    seen.holds(trace(replace(given, tokens=tokens, **moved)))


def test_the_panel_follows_temperature_scale_and_the_largest_numbers(view):
    seen = view("cat-sat", width=390).open()
    seen.page.get_by_label("Temperature").fill("0.5")
    seen.choose("Scaled scores")
    seen.cell("scaled_scores", 0, 0, 0).click()
    assert "2 × (0.5 ÷ temperature 0.5)" in " ".join(seen.panel.split())
    seen.page.get_by_label("Other scale").fill("50")
    seen.choose("Exponentials")
    seen.cell("exponentials", 0, 0, 0).click()
    assert "less 200.0000, the largest score of its row" in seen.panel
    assert "e ^ ( 200 − 200.0000)" in " ".join(seen.panel.split())
    seen.page.get_by_role("button", name="Reset").click()
    what_is_selected_follows_a_change_and_selecting_again_goes_to_the_sum(seen)
    the_largest_numbers_are_written_out_and_stay_on_the_page(seen)


def the_largest_numbers_are_written_out_and_stay_on_the_page(seen):
    seen.cell("value", 0, 0, 0).click()
    seen.page.get_by_label("Change to").fill("1234567.891")
    assert seen.cell("value", 0, 0, 0).text_content() == "1234567.891"
    assert "Value of cat, v₁: 1234567.8910" in seen.panel
    seen.page.get_by_label("Change to").fill("1e300")
    assert seen.cell("value", 0, 0, 0).text_content() == "1e300"
    assert f"Value of cat, v₁: {shown(1e300)}" in seen.panel
    seen.cell("head_outputs", 0, 0, 0).click()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def what_is_selected_follows_a_change_and_selecting_again_goes_to_the_sum(seen):
    seen.choose("Weights")
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
    assert "the source prints" not in seen.panel
    paused = seen.page.get_by_label("Show what the source prints (reset first)")
    assert paused.is_disabled()
    seen.choose("Causal: no later keys")
    assert seen.page.locator(".source-print").count() > 50
    seen.choose("Show what the source prints")
    assert seen.page.locator(".source-print").count() == 0
