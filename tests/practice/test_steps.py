"""The steps that students write: what is right, what is wrong, and what is said of it."""

import re

import numpy as np
import pytest

from mha.practice.steps import BY_NAME, STEPS, check


def named(name, function):
    def written(*given):
        return function(*given)

    written.__name__ = name
    return written


@pytest.mark.parametrize("step", STEPS, ids=BY_NAME)
def test_the_right_function_is_right_on_any_numbers(step):
    for seed in range(40):
        assert check(named(step.name, step.right), seed).startswith("Right: ")


MISTAKES = [(step, said) for step in STEPS for said in step.mistakes]


@pytest.mark.parametrize(("step", "said"), MISTAKES)
def test_a_known_mistake_is_wrong_and_named_where_its_shape_is_right(step, said):
    told = [check(named(step.name, step.mistakes[said]), seed) for seed in range(5)]
    assert all(text.startswith("Not yet: ") for text in told)
    wrong_shape = all("the shape is" in text or "stops with" in text for text in told)
    assert wrong_shape or any(text.endswith(said) for text in told)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda scores, d_k: None, "scale returns nothing"),
        (lambda scores, d_k: scores[0], "the shape is (3,), (3, 3) is wanted."),
        (lambda scores, d_k: 1 / 0, "scale stops with ZeroDivisionError: division by zero"),
        (lambda scores: scores, "scale stops with TypeError"),
        (lambda scores, d_k: scores * np.nan, "row 1, column 1 is nan, "),
        (lambda scores, d_k: np.ones(10_001), "scale gives an array of shape (10001,)"),
    ],
)
def test_what_is_no_answer_is_told(function, said):
    told = check(named("scale", function))
    assert told.startswith("Not yet: ")
    assert said in told


def test_numbers_that_differ_are_told_apart():
    said = check(named("scale", lambda scores, d_k: scores / np.sqrt(d_k) + 3e-8))
    found, wanted = re.search(r"is (\S+), (\S+) is wanted", said).groups()
    assert found != wanted
    assert "rounded on the way?" in said


def test_what_a_function_is_given_is_not_its_own():
    def scale(scores, d_k):
        scores /= np.sqrt(d_k)
        return scores

    assert check(scale).endswith("scale changes scores, which is not its own: work on a copy.")


def test_there_is_no_other_step():
    with pytest.raises(ValueError, match="function is other; one of project, dot_products"):
        check(named("other", len))
