"""Worksheets: a seed gives its sheets, short numbers, nothing given away, what each stage needs."""

import re

import pytest
from helpers import raises
from hypothesis import given, settings
from hypothesis import strategies as st

from mha.practice.worksheets import key as key_of
from mha.practice.worksheets import sheet as sheet_of
from mha.practice.worksheets import worksheet
from mha.practice.worksheets.text import ROOM

LEVELS = ("easy", "medium", "hard")
ROW = re.compile(r"^\| (?!---)(.*) \|$", re.MULTILINE)


def cells(markdown):
    """Return the cells below the header of every table, labels left out."""
    tables = re.split(r"\n\n(?=\*\*)", markdown)
    rows = [ROW.findall(table)[1:] for table in tables]
    return [cell.strip() for table in rows for row in table for cell in row.split("|")[1:]]


@settings(max_examples=5)
@given(st.integers(0, 10**6), st.integers(1, 97), st.sampled_from(LEVELS), st.integers(1, 3))
def test_the_same_seed_gives_the_same_sheet(seed, student, difficulty, heads):
    again = [worksheet(seed, student, difficulty=difficulty, num_heads=heads) for _ in range(2)]
    assert sheet_of(again[0]) == sheet_of(again[1])
    assert key_of(again[0]) == key_of(again[1])


def test_students_get_different_numbers():
    sheets = {sheet_of(worksheet(5, student)).partition("\n")[2] for student in range(1, 32)}
    assert len(sheets) == 31
    assert sheet_of(worksheet(5, 1)) != sheet_of(worksheet(7, 1))


@pytest.mark.parametrize("difficulty", LEVELS)
def test_a_sheet_gives_nothing_away(difficulty):
    sheet = sheet_of(worksheet(11, 3, difficulty=difficulty, num_heads=2))
    given_part, your_turn = sheet.split("### Your turn")
    assert all(cells(given_part))
    assert cells(your_turn)
    assert set(cells(your_turn)) == {ROOM}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"student": 0}, "student is 0; a whole number of at least 1 is wanted"),
        ({"seed": -1}, "seed is -1; a number that is not negative is wanted"),
        (
            {"stages": ["output"]},
            "stage is 'output'; one of query, key, value, scores, scaled_scores, mask,"
            " exponentials, weights, head_outputs is wanted",
        ),
        ({"stages": []}, "stages is empty; at least one stage is wanted"),
        ({"difficulty": "odd"}, "difficulty is 'odd'; one of easy, medium, hard is wanted"),
    ],
)
def test_what_cannot_be_a_worksheet(arguments, sentence):
    with raises(ValueError, sentence):
        worksheet(**{"seed": 1, "student": 1, **arguments})
