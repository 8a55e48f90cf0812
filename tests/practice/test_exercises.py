"""Numeric exercises: what is asked, what counts as right, and the numbers that are drawn."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from bs4 import BeautifulSoup
from helpers import D_K, D_MODEL, D_V, HEADS, QUERIES, example, projected, raises
from hypothesis import given
from hypothesis import strategies as st

from mha import load_example, short, shown, trace
from mha.views.arithmetic import STAGES, arithmetic
from mha.practice.exercises import (
    FORMULAS,
    HINTS,
    LEVELS,
    WORDINGS,
    WORDS,
    draw_example,
    is_right,
    numeric_exercise,
    verdict,
    your_turn,
)

RUN = trace(load_example("the-cat-sat"))
SIZES = {"query": D_K, "key": D_K, "value": D_V, "head_outputs": D_V}


def exercise(answer=0.0, places=2, is_percent=False):
    """Return an exercise whose answer is given, to check answers against."""
    made = numeric_exercise(RUN, "weights", 0, 0)
    return replace(made, answer=answer, places=places, percent=is_percent)


def decimals(array):
    """Return how many decimals the longest number of an array has, as the book shows it."""
    texts = [short(float(x), 12) for x in np.ravel(array)]
    return max(len(text.partition(".")[2]) for text in texts)


# ---- What is asked ----


@pytest.mark.parametrize("stage", STAGES)
def test_every_cell_of_every_stage_is_an_exercise_with_the_trace_s_answer(rng, stage):
    run = trace(projected(rng))
    array = getattr(run, stage)
    for index in np.ndindex(array.shape):
        head, row, column = {2: (0, *index), 3: index}[len(index)]
        if stage == "row_sums":
            head, row, column = index[0], index[1], 0
        made = numeric_exercise(run, stage, row, column, head)
        assert made.answer == array[index]
        assert str(made.worked) == str(arithmetic(run, stage, row, column, head=head))
        assert is_right(made, shown(made.answer, made.places))


@pytest.mark.parametrize("stage", STAGES)
def test_who_computes_with_the_operands_as_they_are_shown_is_right(rng, stage):
    for _ in range(29):
        run = trace(projected(rng))
        for places in (0, 2, 3):
            made = numeric_exercise(run, stage, 4, 1, 2 % run.num_heads, places=places)
            texts = [
                given.numbers.strip("()").replace("−", "-").split(", ") for given in made.givens
            ]
            operands = [[float(text) for text in row] for row in texts]
            reached = FORMULAS[made.kind](operands, made.column)
            assert is_right(made, shown(reached, places)), str(made)


def test_the_formulas_agree_with_the_trace(rng):
    run = trace(projected(rng))
    for stage in STAGES:
        made = numeric_exercise(run, stage, 3, 2, 1)
        operands = [operand.values for operand in made.givens]
        assert FORMULAS[made.kind](operands, 2) == pytest.approx(made.answer, rel=1e-12)


def test_a_given_scale_multiplies():
    run = trace(example(scale=0.7))
    made = numeric_exercise(run, "scaled_scores", 1, 3)
    assert made.kind == "times"
    assert [given.label for given in made.givens] == ["score", "scale"]
    assert made.answer == pytest.approx(made.givens[0].values[0] * 0.7)


def test_the_question_names_token_head_and_component():
    made = numeric_exercise(RUN, "value", 1, 1, 1)
    assert str(made) == (
        "Compute v₂, component 2 of the value of *cat* in Head 2."
        f" Given: embedding of *cat*: (0, 1, 0, 1); column 2 of the value projection:"
        f" {made.givens[1].numbers}. Answer to 2 decimals."
    )


def test_one_head_is_not_named():
    made = numeric_exercise(trace(load_example("cat-sat")), "weights", 0, 1)
    assert made.question == "Compute the weight that *cat* gives to *sat*."


def test_every_stage_has_words_and_every_kind_hints():
    assert set(WORDINGS) == set(STAGES)
    assert set(HINTS) == set(FORMULAS)


@pytest.mark.parametrize("stage", STAGES)
def test_hints_are_filled_and_end_before_the_result(rng, stage):
    made = numeric_exercise(trace(projected(rng)), stage, 1, 2, 1)
    assert len(made.hints) == 2
    for hint in made.hints:
        assert "{" not in hint
        assert made.worked.result not in re.findall(r"[−\d.]+", hint)


def test_hints_give_the_products_and_then_the_sum():
    made = numeric_exercise(RUN, "scores", 1, 2)
    assert made.hints == (
        "Multiply pair by pair: 1×1.4 + 1.2×1.2",
        "Add the products: 1.4 + 1.44",
    )


def test_hints_give_the_exponentials_and_then_their_sum():
    made = numeric_exercise(RUN, "weights", 1, 2)
    powers = [math.exp(x) for x in RUN.scaled_scores[0, 1]]
    assert made.hints == (
        "The exponentials are " + ", ".join(map(shown, powers)),
        f"Their sum is {shown(sum(powers))}. Divide {shown(powers[2])} by it.",
    )


@pytest.mark.parametrize(
    ("places", "is_percent", "wanted"),
    [
        (None, False, "Answer to 2 decimals."),
        (None, True, "Answer in percent, with a whole number."),
        (1, True, "Answer in percent, to one decimal."),
        (2, True, "Answer in percent, to 2 decimals."),
        (0, False, "Answer with a whole number."),
        (1, False, "Answer to one decimal."),
    ],
)
def test_the_rounding_is_asked_for_in_words(places, is_percent, wanted):
    made = numeric_exercise(RUN, "weights", 0, 0, places=places, percent=is_percent)
    assert made.rounding == wanted


def test_an_exact_answer_is_asked_for_with_its_decimals():
    run = trace(example(query=np.full((QUERIES, 1), 0.25), key=np.full((QUERIES, 1), 0.5)))
    assert numeric_exercise(run, "scores", 0, 0).places == 3


def test_the_worked_line_ends_in_percent_where_asked():
    made = numeric_exercise(RUN, "weights", 0, 0, percent=True)
    assert made.worked_line == f"{made.worked} = {shown(100 * made.answer, 0)}\u00a0%"
    assert numeric_exercise(RUN, "weights", 0, 0).worked_line == str(made.worked)


# ---- What is refused ----


def test_a_masked_cell_is_refused():
    run = trace(example(is_causal=True))
    sentence = "weights is masked at row 1; a cell that may attend is wanted"
    with raises(ValueError, sentence):
        numeric_exercise(run, "weights", 1, 2)
    assert is_right(numeric_exercise(run, "weights", 0, 0), "1")


def test_a_row_without_any_key_is_refused():
    mask = np.ones((QUERIES, QUERIES), bool)
    mask[2] = False
    with raises(ValueError, "row_sums is masked at row 2; a cell that may attend is wanted"):
        numeric_exercise(trace(example(mask=mask)), "row_sums", 2)


def test_scores_beyond_80_are_refused():
    run = trace(example(scale=100.0))
    sentence = "row 4 of head 0 has scores beyond 80; scores that can be worked by hand are wanted"
    with raises(ValueError, sentence):
        numeric_exercise(run, "weights", 4, 0)


def test_a_stage_that_the_run_lacks_is_refused():
    run = trace(load_example("cat-sat"))
    with raises(ValueError, "cat-sat has no output; another stage is wanted"):
        numeric_exercise(run, "output", 0, 0)


@pytest.mark.parametrize("places", [-1, 7, 1.5, True, "2"])
def test_strange_places_are_refused(places):
    with raises(ValueError, f"places is {places!r}; a whole number from 0 to 6 is wanted"):
        numeric_exercise(RUN, "weights", 0, 0, places=places)


def test_a_name_that_is_no_id_is_refused():
    with raises(ValueError, "name is 'My box'; lower-case words joined by hyphens are wanted"):
        your_turn(RUN, "weights", 0, 0, name="My box")


# ---- What counts as right ----


@pytest.mark.parametrize(
    ("answer", "text", "wanted"),
    [
        (0.7310585786, "0.73", "right"),
        (0.7310585786, "0,7311", "right"),
        (0.7310585786, " .73 ", "right"),
        (0.7310585786, "+0.73", "right"),
        (0.7310585786, "73 %", "right"),
        (0.7310585786, "73", "wrong"),
        (0.7310585786, "0.74", "near"),
        (0.7310585786, "0.7", "near"),
        (0.7310585786, "0.76", "wrong"),
        (0.7310585786, "1", "wrong"),
        (-1.5, "-1.5", "right"),
        (-1.5, "−1.5", "right"),
        (-1.5, "− 1,50", "right"),
        (-1.5, "1.5", "wrong"),
        (-1.5, "-1.51", "wrong"),
        (3 / 7, "3/7", "right"),
        (3 / 7, "-3/-7", "right"),
        (3 / 7, "3 / 7", "right"),
        (3 / 7, "1,5/3,5", "right"),
        (0.125, "0.12", "right"),
        (0.125, "0.13", "right"),
        (0.125, "0.14", "near"),
        (0.0, "-0", "right"),
        (1.0, "1.", "right"),
    ],
)
def test_answers_are_checked_at_the_book_s_rounding(answer, text, wanted):
    assert verdict(exercise(answer), text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "x", "1e3", "1.2.3", "1,234.5", "--1", "3/0", "3/", "/3", ".", "%", "NaN"),
        *("inf", "9" * 400, "1 000 x", "٣"),
    ],
)
def test_what_is_no_number_is_said_to_be_none(text):
    assert verdict(exercise(1.0), text) == "unreadable"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("73", "right"), ("73%", "right"), ("73,1 %", "right"), ("74", "near"), ("0.73", "wrong")],
)
def test_percentages_are_checked_in_percent(text, wanted):
    assert verdict(exercise(0.7310585786, 0, is_percent=True), text) == wanted


answers = st.floats(-1000, 1000, allow_subnormal=False)
places = st.integers(0, 6)


@given(answers, places)
def test_the_answer_as_the_book_shows_it_is_right(answer, places):
    for text in (shown(answer, places), shown(answer, places).replace(".", ","), repr(answer)):
        if "e" not in text:
            assert is_right(exercise(answer, places), text)


@given(answers, places)
def test_a_number_one_unit_off_the_rounded_answer_is_not_right_unless_it_is_a_tie(answer, places):
    rounded = round(answer, places)
    for off in (rounded - 10.0**-places, rounded + 10.0**-places):
        tie = abs(abs(off - answer) - 0.5 * 10.0**-places) < 1e-8 * 10.0**-places
        assert tie or not is_right(exercise(answer, places), f"{off:.12f}")


@given(st.text(max_size=12))
def test_any_text_gets_a_verdict(text):
    assert verdict(exercise(0.5), text) in ("right", "near", "wrong", "unreadable")


@given(st.integers(-99, 99), st.integers(1, 99))
def test_fractions_are_numbers(top, bottom):
    assert is_right(exercise(top / bottom, 6), f"{top}/{bottom}".replace("-", "−"))


# ---- Fresh numbers ----


@pytest.mark.parametrize("difficulty", LEVELS)
@given(
    seed=st.integers(0, 2**32),
    num_tokens=st.integers(2, 5),
    d_model=st.sampled_from([2, 3, 5]),
    d_k=st.sampled_from([1, 4]),
    num_heads=st.integers(1, 3),
)
def test_drawn_numbers_are_short(difficulty, seed, num_tokens, d_model, d_k, num_heads):
    if d_k == 1:
        num_tokens = min(num_tokens, 3)  # there are few whole numbers to tell tokens apart by
    run = trace(
        draw_example(
            np.random.default_rng(seed),
            num_tokens=num_tokens,
            d_model=d_model,
            d_k=d_k,
            d_v=3,
            num_heads=num_heads,
            with_output=True,
            difficulty=difficulty,
        )
    )
    whole = 0 if difficulty == "easy" else 1
    assert run.query.shape == (num_heads, num_tokens, d_k)
    assert run.output.shape == (num_tokens, d_model)
    for array in (run.embeddings, run.query, run.key, run.value, run.example.layer.w_o):
        assert decimals(array) <= whole
    for matrix in ("w_q", "w_k", "w_v"):
        assert decimals(getattr(run.example.layer, matrix)) == 0
    products = run.query[:, :, None] * run.key[:, None]
    assert decimals(products) <= 2 * whole
    assert decimals(run.scores) <= 2 * whole
    assert decimals(run.scaled_scores) <= 2 * whole + (d_k == 4)
    assert np.abs(run.scaled_scores).max() <= 6 + 1e-9
    assert (np.diff(np.sort(run.scores), axis=-1) > 1e-9).all()
    for array in (run.embeddings, run.query, run.key, run.value):
        assert (np.abs(array) > 1e-9).any(axis=-1).all()
    assert (run.shifts == 0).all()


def test_the_same_seed_draws_the_same_numbers_and_another_seed_others():
    first, again, other = (
        trace(draw_example(np.random.default_rng(seed), with_output=True)) for seed in (7, 7, 11)
    )
    np.testing.assert_array_equal(first.output, again.output)
    assert not np.array_equal(first.output, other.output)


def test_difficulties_differ_in_sign_and_decimals():
    easy, medium, hard = (
        [draw_example(np.random.default_rng(s), difficulty=name).embeddings for s in range(31)]
        for name in ("easy", "medium", "hard")
    )
    assert decimals(easy) == 0
    assert decimals(medium) == decimals(hard) == 1
    assert np.min(medium) >= 0 > np.min(hard)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"difficulty": "hopeless"},
            "difficulty is 'hopeless'; one of easy, medium, hard is wanted",
        ),
        ({"d_k": 2}, "d_k is 2; 1 or 4 is wanted, whose roots are whole numbers"),
        ({"num_tokens": 1}, f"num_tokens is 1; 2 to {len(WORDS)} are wanted"),
        ({"num_tokens": 11}, f"num_tokens is 11; 2 to {len(WORDS)} are wanted"),
        (
            {"num_tokens": 7, "d_model": 1, "d_k": 1, "difficulty": "easy"},
            "no short numbers were found for num_tokens=7, d_model=1, d_k=1; fewer tokens, a larger"
            " d_model or a higher difficulty is wanted",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(rng, options, sentence):
    with raises(ValueError, sentence):
        draw_example(rng, **options)


@pytest.mark.parametrize("name", ["d_model", "d_v", "num_heads"])
def test_counts_are_checked(rng, name):
    with pytest.raises(ValueError, match=f"^{name} is 0"):
        draw_example(rng, **{name: 0})


# ---- The box ----


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


def test_the_sizes_of_a_projected_example_are_what_this_file_counts_on(rng):
    run = trace(projected(rng))
    assert run.num_heads == HEADS
    assert run.embeddings.shape == (QUERIES, D_MODEL)
    for stage, size in SIZES.items():
        assert getattr(run, stage).shape[-1] == size
