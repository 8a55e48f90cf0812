"""The boxes of exercises: what they say without a script, in print, and to the script."""

import json

import numpy as np
import pytest
from bs4 import BeautifulSoup
from helpers import QUERIES, example, raises

from mha import arithmetic, load_example, trace
from mha.practice.calculations import HINTS, HINTS_WITH_MASK
from mha.widgets.boxes import your_turn

RUN = trace(load_example("the-cat-sat"))


def data_of(made):
    """Return what a box tells the script."""
    page = BeautifulSoup(made._repr_mimebundle_()["text/html"], "html.parser")
    return json.loads(page.find("script").string)


def box(*cell, **options):
    return your_turn(RUN, *cell, **options)._repr_mimebundle_()


def test_the_box_reads_without_a_script():
    page = BeautifulSoup(box("scores", 1, 2)["text/html"], "html.parser")
    text = " ".join(page.get_text(" ").split())
    assert "Compute the score of cat with sat in Head 1." in text
    assert "(1, 1.2)" in text
    assert page.find("details").find("p").get_text() == str(arithmetic(RUN, "scores", 1, 2))
    field = page.find("input")
    assert page.find("label")["for"] == field["id"]
    for reference in field["aria-describedby"].split():
        assert page.find(id=reference) is not None
    assert page.find(id=page.find("mha-your-turn")["aria-labelledby"]) is not None


def test_the_data_for_the_script_hold_operands_and_no_answer():
    made = your_turn(RUN, "weights", 1, 2, percent=True)
    page = BeautifulSoup(made._repr_mimebundle_()["text/html"], "html.parser")
    data = json.loads(page.find("script").string)
    assert data["givens"] == [list(RUN.scaled_scores[0, 1])]
    assert data["column"] == 2
    assert str(RUN.weights[0, 1, 2])[:6] not in page.find("script").string


def test_a_masked_score_is_null_in_the_data():
    run = trace(example(is_causal=True))
    page = BeautifulSoup(
        your_turn(run, "weights", 1, 0)._repr_mimebundle_()["text/html"], "html.parser"
    )
    assert json.loads(page.find("script").string)["givens"][0][2:] == [None] * (QUERIES - 2)
    assert "−∞" in page.find("ul").get_text()


def test_whole_scores_with_a_masked_one_make_a_box():
    start = dict.fromkeys(("query", "key", "value"), 2 * np.eye(2))
    run = trace(example(tokens=["a", "b"], is_causal=True, scale=1.0, **start))
    data = data_of(your_turn(run, "weights", 0, 0))
    assert data["givens"] == [[4, None]]
    assert data["draw"] == ["exponents"]


@pytest.mark.parametrize(("scale", "kind"), [(None, "root"), (0.5, "times")])
def test_a_mask_s_term_is_a_third_operand_in_the_data(scale, kind):
    start = dict.fromkeys(("query", "key", "value"), np.eye(2))
    run = trace(example(tokens=["a", "b"], mask=np.full((2, 2), 0.5), scale=scale, **start))
    made = your_turn(run, "scaled_scores", 0, 0)
    data = data_of(made)
    assert data["kind"] == kind
    assert data["givens"] == [[1], [scale or 2], [0.5]]
    assert data["draw"] == ["scores", "same", "same"]
    assert data["hints"] == list(HINTS_WITH_MASK[kind])
    assert "mask's term: 0.5" in made._repr_mimebundle_()["text/markdown"]


@pytest.mark.parametrize(
    ("cell", "kind", "draw"),
    [
        (("query", 0, 1), "products", ["tenths", "tenths"]),
        (("scores", 0, 1), "products", ["tenths", "tenths"]),
        (("scaled_scores", 0, 1), "root", ["scores", "same"]),
        (("exponentials", 0, 1), "power", ["exponents"]),
        (("row_sums", 0), "sum", ["exponentials"]),
        (("weights", 0, 1), "share", ["exponents"]),
        (("head_outputs", 0, 1), "products", ["shares", "tenths"]),
        (("output", 0, 1), "products", ["tenths", "tenths"]),
    ],
)
def test_each_kind_says_what_it_is_drawn_from(cell, kind, draw):
    data = data_of(your_turn(RUN, *cell))
    assert (data["kind"], data["draw"], data["hints"]) == (kind, draw, list(HINTS[kind]))
    assert set(data) == {
        *("kind", "givens", "shownPlaces", "column", "places", "percent", "hints", "draw")
    }


def test_whole_numbers_are_drawn_anew_as_whole_numbers():
    assert data_of(your_turn(trace(load_example("cat-sat")), "scores", 0, 1))["draw"] == [
        *("whole", "whole")
    ]


def test_text_is_escaped_in_both_forms():
    tokens = ["<end>", "a&b", "</script>", "d", "e"]
    made = your_turn(trace(example(tokens=tokens)), "scores", 0, 2)._repr_mimebundle_()
    page = BeautifulSoup(made["text/html"], "html.parser")
    assert "score of <end> with </script>" in page.get_text()
    assert len(page.find_all("script")) == 1
    assert r"*\<end>* with *\</script>*" in made["text/markdown"]


def test_print_has_the_question_and_a_line_but_no_answer():
    markdown = box("scores", 1, 2)["text/markdown"]
    screen, printed = markdown.split("~~~~{only} latex")
    assert screen.startswith("~~~~{raw} html\n<mha-your-turn")
    assert "Compute the score of *cat* with *sat* in Head 1." in printed
    assert "- query of *cat*: (1, 1.2)" in printed
    assert "Answer to 2 decimals. Answer: " + r"\_" * 20 in printed
    assert "2.84" not in printed


def test_new_numbers_can_be_left_out():
    assert "your-turn-fresh" in box("scores", 1, 2)["text/html"]
    assert "your-turn-fresh" not in box("scores", 1, 2, variants=False)["text/html"]


def test_a_name_that_is_no_id_is_refused():
    with raises(ValueError, "name is 'My box'; lower-case words joined by hyphens are wanted"):
        your_turn(RUN, "weights", 0, 0, name="My box")
