"""The boxes of exercises: their contents without a script, in print, and for the script."""

import json

import pytest
from bs4 import BeautifulSoup
from helpers import example

from mha import load_example, trace
from mha.widgets.boxes import your_turn
from mha.widgets.build import build_query
from mha.widgets.rows import ROWS, fill_row

RUN = trace(load_example("the-cat-sat"))


def page_of(made):
    return BeautifulSoup(made._repr_mimebundle_()["text/html"], "html.parser")


def printed(made):
    return forms_of(made)[0]


def forms_of(made):
    """Return the printed forms of a box and of its answer."""
    both = made._repr_mimebundle_()["text/markdown"].split("~~~~{only} typst")[1]
    return both.split("~~~{admonition} Worked answer\n:class: your-turn-answer\n")


def test_a_box_prints_its_answer_apart():
    river = trace(load_example("river-bank"))
    boxes = {
        "1×1.4 + 1.2×1.2 = 1.4 + 1.44 = 2.84": your_turn(RUN, "scores", 1, 2),
        "(1, 1) gives *the* 0.2\xa0%, *river* 98.0\xa0%, *bank* 1.8\xa0%": build_query(
            river, 2, {1: (0.9, 1), 0: (0, 0.05)}, solution=(1, 1)
        ),
    }
    for line, made in boxes.items():
        question, answer = forms_of(made)
        assert line not in question
        assert answer == f"\n{line}\n~~~\n~~~~"


def test_a_box_holds_and_prints_its_question_and_no_answer():
    made = your_turn(RUN, "scores", 1, 2)
    assert "Compute the score of *cat* with *sat* in Head 1." in printed(made)
    assert "- query of *cat*: (1, 1.2)" in printed(made)
    assert "Answer to 2 decimals. Answer: " + r"\_" * 20 in printed(made)
    assert "2.84" not in printed(made) + page_of(made).find("script").string


def test_text_is_escaped_in_both_forms():
    made = your_turn(trace(example(tokens=["<end>", "a&b", "</script>", "d", "e"])), "scores", 0, 2)
    assert "score of <end> with </script>" in page_of(made).get_text()
    assert len(page_of(made).find_all("script")) == 1
    assert r"*\<end>* with *\</script>*" in printed(made)


@pytest.mark.parametrize("stage", ROWS)
def test_a_row_has_a_field_for_each_number_and_says_each_given_once(stage):
    made = fill_row(RUN, stage, 1)
    page, count = page_of(made), getattr(RUN, stage).shape[-1]
    assert len(page.find_all("input")) == len(made.cells) == count
    assert printed(made).count(r"\_" * 8) == count
    givens = [item.get_text() for item in page.find(class_="your-turn-givens").find_all("li")]
    assert len(givens) == len(set(givens))


def test_a_goal_is_stated_and_its_solution_shown():
    river = trace(load_example("river-bank"))
    page = page_of(build_query(river, 2, {1: (0.9, 1), 0: (0, 0.05)}, solution=(1, 1)))
    text = " ".join(page.get_text(" ").split())
    assert "gives river at least 90 % and the at most 5 % of its attention" in text
    assert "(1, 1) gives the 0.2 % , river 98.0 %" in text.replace("%,", "% ,")
    assert "solution" not in json.loads(page.find("script").string)
