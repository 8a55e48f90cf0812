"""An address and its text are the same thing, and lead to the number that an array has there."""

import re

import numpy as np
import pytest
from helpers import MASK, QUERIES, example, projected, raises
from hypothesis import given
from hypothesis import strategies as st

from mha import Place, load_example, trace
from mha.runs.origins import origin
from mha.runs.places import places
from mha.runs.stages import AXES, STAGES

INDEX = st.integers(0, 10**6)
RUN = trace(load_example("the-cat-sat"))


@st.composite
def any_place(draw):
    """Draw the address of a number of any stage, or of a term of one."""
    stage = draw(st.sampled_from(list(STAGES)))
    index = {axis: draw(INDEX) for axis in STAGES[stage].axes}
    return Place(stage, **index, term=draw(st.none() | INDEX))


# Text


@given(any_place())
def test_str_and_parse_are_inverse(place):
    assert Place.parse(str(place)) == place
    assert str(Place.parse(str(place))) == str(place)


@given(any_place(), any_place())
def test_different_places_have_different_texts(first, second):
    assert (str(first) == str(second)) == (first == second)
    assert (hash(first) == hash(second)) or first != second


@given(any_place())
def test_a_text_is_safe_in_addresses_of_pages(place):
    assert re.fullmatch(r"[a-z_]+(\.[0-9]+)*(:[0-9]+)?", str(place))


@given(any_place())
def test_the_index_builds_the_place_again(place):
    assert Place.at(place.stage, *place.index, term=place.term) == place
    assert place.whole == Place.at(place.stage, *place.index)
    assert place.kind is STAGES[place.stage]
    given = [getattr(place, axis) for axis in AXES]
    assert [i for i in given if i is not None] == list(place.index)
    head, row, column = (i or 0 for i in given)
    assert Place.of(place.stage, head, row, column) == place.whole


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "scores.", "scores.0.1.", "scores..0.1", "scores.00.1.2", "scores.0.1.2:",
        "scores.0.1.2:01", "scores.0.1.2:-1", "scores.-1.0.0", "scores.0.1.2 ", " scores.0.1.2",
        "scores.0.1.2\n", "Scores.0.1.2", "scores 0 1 2", "scores.0.1.2:1:2", "scores.0.1.²",
        "scores.٣.1.2", "1.2.3",
    ],
)  # fmt: skip
def test_a_text_that_is_no_address_is_refused(text):
    with raises(ValueError, f"place is {text!r}; an address such as scores.0.1.2 is wanted"):
        Place.parse(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("scores.0.1", "scores has head, row, column; 2 came"),
        ("scores.0.1.2.3", "scores has head, row, column; 4 came"),
        ("root.0", "root has no index; 1 came"),
        ("output.0.1.2", "output has row, column; 3 came"),
        ("nonsense.0", f"stage is 'nonsense'; one of {', '.join(STAGES)} is wanted"),
    ],
)
def test_an_address_that_does_not_fit_its_stage_is_refused(text, sentence):
    with raises(ValueError, sentence):
        Place.parse(text)


# Indices


def test_numpy_s_whole_numbers_become_plain_ones():
    place = Place("scores", np.int64(1), np.uint8(2), np.int32(3), np.int16(4))
    assert place == Place("scores", 1, 2, 3, 4)
    assert {type(i) for i in (*place.index, place.term)} == {int}


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ({"row": 1, "column": 2}, "scores has head, row, column; head is missing"),
        ({"head": 1, "column": 2}, "scores has head, row, column; row is missing"),
        ({"head": 1, "row": 2}, "scores has head, row, column; column is missing"),
        ({}, "scores has head, row, column; head is missing"),
    ],
)
def test_a_missing_index_is_refused(index, sentence):
    with raises(ValueError, sentence):
        Place("scores", **index)


@pytest.mark.parametrize(
    ("stage", "index", "sentence"),
    [
        ("output", {"head": 0, "row": 1, "column": 2}, "output has row, column; head is given"),
        ("row_sums", {"head": 0, "row": 1, "column": 2}, "row_sums has head, row; column is given"),
        ("root", {"row": 0}, "root has no index; row is given"),
    ],
)
def test_an_index_too_many_is_refused(stage, index, sentence):
    with raises(ValueError, sentence):
        Place(stage, **index)


@pytest.mark.parametrize("name", ["head", "row", "column", "term"])
@pytest.mark.parametrize("index", [True, 1.0, "1", np.float64(1)])
def test_an_index_that_is_no_whole_number_is_refused(name, index):
    given = {"head": 0, "row": 0, "column": 0} | {name: index}
    with raises(TypeError, f"{name} is {index!r}; a whole number is wanted"):
        Place("scores", **given)


@pytest.mark.parametrize("name", ["head", "row", "column", "term"])
def test_a_negative_index_is_refused(name):
    with raises(ValueError, f"{name} is -1; a number of at least 0 is wanted"):
        Place("scores", **({"head": 0, "row": 0, "column": 0} | {name: -1}))


@pytest.mark.parametrize(
    "build", [Place, lambda s: Place.at(s, 0), lambda s: Place.of(s, 0, 0, 0), Place.parse]
)
def test_an_unknown_stage_is_refused(build):
    with raises(ValueError, f"stage is 'mask'; one of {', '.join(STAGES)} is wanted"):
        build("mask")


# Numbers


def test_the_places_of_a_stage_are_its_numbers_in_order(rng):
    run = trace(projected(rng, mask=MASK))
    for name, kind in STAGES.items():
        array = kind.array(run)
        if array is None:
            continue
        found = list(places(run, name))
        assert found == sorted(found)
        assert [place.value(run) for place in found] == array.ravel().tolist(), name
        assert {type(place.value(run)) for place in found} == {float}


@pytest.mark.parametrize("name", ["root", "percentages", "output"])
def test_a_stage_without_numbers_has_no_places(name):
    with raises(ValueError, f"made-up has no {name}; another stage is wanted"):
        list(places(trace(example()), name))


def test_a_term_has_no_value_of_its_own():
    sentence = "scores.0.0.0:1 is a term of a sum; a number that a run keeps is wanted"
    with raises(ValueError, sentence):
        Place("scores", 0, 0, 0, 1).value(RUN)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("scores.2.0.0", "scores has shape (2, 3, 3); index (2, 0, 0) is outside it"),
        ("scores.0.3.0", "scores has shape (2, 3, 3); index (0, 3, 0) is outside it"),
        ("query.0.0.2", "query has shape (2, 3, 2); index (0, 0, 2) is outside it"),
        ("row_sums.0.3", "row_sums has shape (2, 3); index (0, 3) is outside it"),
        ("output.0.4", "output has shape (3, 4); index (0, 4) is outside it"),
        ("w_o.4.0", "w_o has shape (4, 4); index (4, 0) is outside it"),
    ],
)
def test_a_place_outside_its_array_is_refused(text, sentence):
    with raises(ValueError, sentence):
        Place.parse(text).value(RUN)


def test_a_stage_that_the_run_lacks_has_no_number():
    with raises(ValueError, "made-up has no embeddings; another stage is wanted"):
        Place("embeddings", row=QUERIES, column=0).value(trace(example()))


def test_an_index_of_numpy_is_kept_as_a_plain_one():
    place = Place("scores", head=np.int64(0), row=np.int64(2), column=np.int64(0))
    assert [type(index) for index in place.index] == [int] * 3
    assert place == Place("scores", head=0, row=2, column=0)


def test_what_is_no_address_or_run_is_refused():
    with raises(TypeError, "place is 3; a string is wanted"):
        Place.parse(3)
    place = Place.parse("weights.0.0.0")
    for use in (place.value, lambda run: origin(run, place)):
        with raises(TypeError, "run is a int; a Trace is wanted"):
            use(3)
    with raises(TypeError, "place is a str; a Place is wanted"):
        origin(RUN, "weights.0.0.0")
