"""The boxes of exercises: what they say without a script, in print, and to the script."""

import json

import numpy as np
import pytest
from bs4 import BeautifulSoup
from helpers import QUERIES, example, raises

from mha import arithmetic, load_example, trace
from mha.practice.calculations import HINTS, HINTS_WITH_MORE
from mha.widgets.boxes import one_box, your_turn, your_turns
from mha.widgets.build import build_query
from mha.widgets.rows import ROWS, fill_row

RUN = trace(load_example("the-cat-sat"))


def data_of(made):
    """Return what a box tells the script."""
    page = BeautifulSoup(made._repr_mimebundle_()["text/html"], "html.parser")
    (task,) = json.loads(page.find("script").string)["tasks"]
    return task


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
    data = data_of(made)
    np.testing.assert_allclose(data["givens"], [RUN.scaled_scores[0, 1]], atol=1e-10)
    assert data["column"] == 2
    assert str(RUN.weights[0, 1, 2])[:6] not in page.find("script").string


def test_a_masked_score_is_null_in_the_data():
    run = trace(example(is_causal=True))
    made = your_turn(run, "weights", 1, 0)
    page = BeautifulSoup(made._repr_mimebundle_()["text/html"], "html.parser")
    assert data_of(made)["givens"][0][2:] == [None] * (QUERIES - 2)
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
    assert data["hints"] == list(HINTS_WITH_MORE[kind])
    assert "mask's term: 0.5" in made._repr_mimebundle_()["text/markdown"]


@pytest.mark.parametrize(
    ("cell", "kind", "draw"),
    [
        (("query", 0, 1), "products", ["tenths", "tenths"]),
        (("scores", 0, 1), "products", ["tenths", "tenths"]),
        (("scaled_scores", 0, 1), "root", ["scores", "same"]),
        (("exponentials", 0, 1), "power", ["exponents"]),
        (("row_sums", 0), "sum", ["positive"]),
        (("weights", 0, 1), "share", ["exponents"]),
        (("head_outputs", 0, 1), "products", ["shares", "tenths"]),
        (("output", 0, 1), "products", ["tenths", "tenths"]),
    ],
)
def test_each_kind_says_what_it_is_drawn_from(cell, kind, draw):
    data = data_of(your_turn(RUN, *cell))
    assert (data["kind"], data["draw"], data["hints"]) == (kind, draw, list(HINTS[kind]))
    assert set(data) == {
        *("kind", "givens", "shownPlaces", "column", "places", "percent", "hints", "draw"),
        "elsewhere",
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


# ---- Several fields ----


def page_of(made):
    return BeautifulSoup(made._repr_mimebundle_()["text/html"], "html.parser")


def tasks_of(made):
    return json.loads(page_of(made).find("script").string)["tasks"]


def assert_fields_are_described(page):
    ids = [element["id"] for element in page.find_all(id=True)]
    assert len(ids) == len(set(ids))
    for field in page.find_all("input"):
        assert page.find("label", attrs={"for": field["id"]}).get_text()
        assert set(field["aria-describedby"].split()) <= set(ids)


def test_several_numbers_make_one_box_with_a_field_each():
    made = your_turns(RUN, "key", [(2, 0), (2, 1, 1)])
    page = page_of(made)
    assert len(page.find_all("mha-your-turn")) == len(page.find_all("form")) == 1
    assert len(page.find_all("input")) == len(tasks_of(made)) == 2
    assert_fields_are_described(page)
    assert "in Head 1." in made.exercises[0].question
    assert "in Head 2." in made.exercises[1].question
    assert [p.get_text() for p in page.find("details").find_all("p")] == [
        str(arithmetic(RUN, "key", 2, 0)),
        str(arithmetic(RUN, "key", 2, 1, head=1)),
    ]
    printed = made._repr_mimebundle_()["text/markdown"].split("{only} latex")[1]
    assert printed.count("Answer: " + r"\_" * 20) == 2


def test_each_given_says_which_operand_it_is():
    made = one_box(your_turn(RUN, "key", 2, 0), your_turn(RUN, "weights", 1, 2))
    tasks = tasks_of(made)
    spans = page_of(made).find_all(class_="your-turn-given")
    assert [span["data-at"] for span in spans] == ["0.0", "0.1", "1.0"]
    for span in spans:
        i, j = map(int, span["data-at"].split("."))
        assert len(span.get_text().split(", ")) == len(tasks[i]["givens"][j])


@pytest.mark.parametrize("stage", ROWS)
def test_a_row_has_a_field_for_each_number_and_says_each_given_once(stage):
    made = fill_row(RUN, stage, 1)
    page = page_of(made)
    count = np.asarray(getattr(RUN, stage)).shape[-1]
    assert len(page.find_all("input")) == len(tasks_of(made)) == len(made.cells) == count
    assert_fields_are_described(page)
    givens = [item.get_text() for item in page.find(class_="your-turn-givens").find_all("li")]
    assert len(givens) == len(set(givens))
    assert len({exercise.places for exercise in made.exercises}) == 1
    assert made.variants is (stage in ("weights",))
    assert (
        made._repr_mimebundle_()["text/markdown"].split("{only} latex")[1].count(r"\_" * 8) == count
    )


def test_a_stage_that_is_no_row_is_refused():
    with raises(ValueError, f"stage is 'row_sums'; one of {', '.join(ROWS)} is wanted"):
        fill_row(RUN, "row_sums", 0)


# ---- A goal ----

RIVER = trace(load_example("river-bank"))


def test_a_goal_is_said_and_its_solution_shown():
    made = build_query(RIVER, 2, {1: (0.9, 1), 0: (0, 0.05)}, solution=(1, 1))
    page = page_of(made)
    text = " ".join(page.get_text(" ").split())
    assert "gives river at least 90 % and the at most 5 % of its attention" in text
    assert "(1, 1) gives the 0.2 % , river 98.0 %" in text.replace("%,", "% ,")
    assert_fields_are_described(page)
    data = json.loads(page.find("script").string)
    assert data["key"] == RIVER.key[0].tolist()
    assert data["wanted"] == [[0, 0.05], [0.9, 1], [0, 1]]
    assert "solution" not in data


def test_a_goal_that_the_solution_misses_or_that_is_reached_already_is_refused():
    with raises(ValueError, "solution is (2.0, 0.0), whose weights miss the goal"):
        build_query(RIVER, 2, {1: (0.9, 1)}, solution=(2, 0))
    with raises(ValueError, "the run's own query reaches the goal; a harder one is wanted"):
        build_query(RIVER, 2, {1: (0.1, 1)}, solution=(1, 1))
