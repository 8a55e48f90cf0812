"""The steps that students write: what is right, what is wrong, and what is said of it."""

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
    ("function", "part"),
    [
        (lambda scores, d_k: None, "stops with TypeError"),
        (lambda scores, d_k: scores[0], "the shape is (4,), (4, 4) is wanted."),
        (lambda scores, d_k: 1 / 0, "scale stops with ZeroDivisionError: division by zero"),
        (lambda scores: scores, "scale stops with TypeError"),
        (lambda scores, d_k: scores * np.nan, "is nan"),
    ],
)
def test_what_is_no_answer_is_told(function, part):
    said = check(named("scale", function))
    assert said.startswith("Not yet: ")
    assert part in said or "the shape is" in said


def test_a_function_that_changes_what_it_is_given_spoils_nothing():
    def scale(scores, d_k):
        scores /= np.sqrt(d_k)
        return scores

    assert check(scale).startswith("Right")
