"""The steps that students write: what is right, what is wrong, and what a notebook answers."""

import re

import numpy as np
import pytest

from mha.practice.steps import BY_NAME, STEPS, check
from mha.practice.answers import Answer, call_function


def checked(name, function, seed=0):
    def written(*given):
        return function(*given)

    written.__name__ = name
    return check(written, seed)


@pytest.mark.parametrize("step", STEPS, ids=BY_NAME)
def test_the_right_function_is_right_on_any_numbers_and_a_known_mistake_is_named(step):
    for seed in range(40):
        assert checked(step.name, step.right, seed).startswith("Right: ")
    for said, mistake in step.mistakes.items():
        told = [checked(step.name, mistake, seed) for seed in range(5)]
        assert all(text.startswith("Not yet: ") for text in told)
        has_no_shape = all("the shape is" in text or "stops with" in text for text in told)
        assert has_no_shape or any(text.endswith(said) for text in told), said


def scales_in_place(scores, d_k):
    scores /= np.sqrt(d_k)
    return scores


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda scores, d_k: None, "scale returns nothing"),
        (lambda scores, d_k: scores[0], "the shape is (3,), (3, 3) is wanted."),
        (lambda scores, d_k: 1 / 0, "scale stops with ZeroDivisionError: division by zero"),
        (lambda scores, d_k: scores * np.nan, "row 1, column 1 is nan, "),
        (lambda scores, d_k: np.ones(10_001), "scale gives an array of shape (10001,)"),
        (lambda scores, d_k: scores / np.sqrt(d_k) + 3e-8, "rounded on the way?"),
        (scales_in_place, "scale changes scores, which is not its own: work on a copy."),
    ],
)
def test_what_is_no_answer_is_told(function, said):
    told = checked("scale", function)
    assert told.startswith("Not yet: ")
    assert said in told
    compared = re.search(r"is (\S+), (\S+) is wanted", told)
    assert compared is None or compared[1] != compared[2]


def test_there_is_no_other_step():
    with pytest.raises(ValueError, match="function is other; one of project, dot_products"):
        checked("other", len)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"fault": "", "numbers": None, "shape": None},
        {"fault": "", "numbers": [1.0, 2.0], "shape": [3]},
        {"fault": "", "numbers": [1.0], "shape": [1], "given": 3},
        {"fault": "", "numbers": [10**400], "shape": [1]},
        {"fault": "", "numbers": [1.0], "shape": [1], "given": [[1, [2, 3]]]},
    ],
)
def test_what_is_no_answer_is_a_fault_whoever_wrote_it(data):
    assert Answer.of_data(data).fault == "gives no array"


def test_an_answer_travels_to_its_last_digit():
    given = (np.array([[0.1, -np.inf]]), np.array([[True, False]]), 3)
    came = Answer.of_data(called(lambda a, b, c: a / c, given).as_data())
    np.testing.assert_array_equal(came.value, given[0] / 3)
    for before, after in zip(given, came.given, strict=True):
        np.testing.assert_array_equal(before, after)
    assert came.given[1].dtype == bool


@pytest.mark.parametrize(
    ("cell", "left"),
    [
        ("!pip install mha\nx = 1", "pass\nx = 1"),
        ("x = (3\n%x)", "x = (3\n%x)"),
        ("np.exp?\n?np.exp\nx = 1", "pass\npass\nx = 1"),
        ("%%bash\nls", ""),
        ("%%capture out\nx = 1", "x = 1"),
    ],
)
def test_without_ipython_magics_are_left_out(cell, left):
    assert without_magics(cell) == left
