"""The steps that students write: right answers, wrong answers, and the notebook's messages."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest

from mha.practice.answers import Answer, call_function
from mha.practice.notebook_steps import STEPS, STEPS_BY_NAME, check, judge_step


def checked(name, function, seed=0):
    def written(*given):
        return function(*given)

    written.__name__ = name
    return check(written, seed)


@pytest.mark.parametrize("step", STEPS, ids=STEPS_BY_NAME)
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
        (lambda scores, d_k: 1 / 0, "scale stops with an error: ZeroDivisionError: division by"),
        (lambda scores, d_k: scores * np.nan, "row 1, column 1 is nan, "),
        (lambda scores, d_k: np.ones(10_001), "scale gives more than 10,000 numbers."),
        (lambda scores, d_k: 1e308 * np.ones_like(scores), "column 1 is 1.0000e+308, "),
        (lambda scores, d_k: -1e7 + scores, "column 1 is −1.0000e+07, "),
        (lambda scores, d_k: scores / np.sqrt(d_k) + 3e-8, "Keep all digits."),
        (scales_in_place, "scale changes its argument scores: work on a copy."),
    ],
)
def test_an_invalid_answer_is_reported(function, said):
    told = checked("scale", function)
    assert told.startswith("Not yet: ")
    assert said in told
    assert len(told) < 200
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
        {"fault": "", "numbers": [1.0, 2.0], "shape": [3], "given": []},
        {"fault": "", "numbers": [1.0], "shape": [1], "given": 3},
        {"fault": "", "numbers": [10**400], "shape": [1], "given": []},
        {"fault": "", "numbers": [1.0], "shape": [1], "given": [[1, [2, 3]]]},
        {"fault": "", "numbers": ["1.0"], "shape": [1], "given": []},
        {"fault": "", "numbers": [None], "shape": [1], "given": []},
        {"fault": "", "numbers": [True], "shape": [1], "given": []},
        {"fault": "", "numbers": [1.0], "shape": [-1], "given": []},
        {"fault": "", "numbers": [], "shape": [0, 10**400], "given": []},
        {"fault": "", "numbers": [1.0], "shape": [1] * 9, "given": []},
        {"fault": "", "numbers": [0.0] * 10_001, "shape": [10_001], "given": []},
        {"fault": "Right: 8 of 8 points", "quoted": ""},
        {"fault": ["stopped"], "quoted": ""},
        {"fault": None, "numbers": [1.0], "shape": [1], "given": []},
    ],
)
def test_data_that_is_no_answer_is_refused(data):
    with pytest.raises(ValueError, match="the data is not an answer"):
        Answer.from_json({"quoted": ""} | data)


@pytest.mark.parametrize("data", [None, 1, "fault", [], [[]], {"fault": "stopped"}])
def test_data_without_the_parts_of_an_answer_is_refused(data):
    with pytest.raises(ValueError, match="the data is not an answer"):
        Answer.from_json(data)


@pytest.mark.parametrize(
    "result",
    [
        np.array([[1j]]),
        np.array([["1.0"]]),
        [["1.0"]],
        np.array([[b"1.0"]]),
        np.array([[1]], "m8[s]"),
        np.array([["2020"]], "M8[Y]"),
        np.ma.array([[1.0]], mask=True),
        np.zeros((1, 1), [("a", float)]),
        [[1.0], [2.0, 3.0]],
        {"weights": 1.0},
        (x for x in [1.0]),
        [[10**400]],
    ],
    ids=lambda result: type(result).__name__,
)
def test_only_real_numbers_are_an_answer(result):
    answer = call_function(lambda: result, ())
    assert (answer.value, answer.fault_text) == (None, "gives no array of numbers")


@pytest.mark.parametrize(
    "result",
    [[[1]], np.array([[True]]), np.array([[1]], "u1"), [[Fraction(1)]], np.ma.ones((1, 1))],
)
def test_numbers_of_any_real_kind_are_an_answer(result):
    np.testing.assert_array_equal(call_function(lambda: result, ()).value, [[1.0]])


def test_a_large_array_is_refused_before_it_is_copied():
    large = np.broadcast_to(0.0, (10**9, 10**9))
    assert call_function(lambda: large, ()).fault_text == "gives more than 10,000 numbers"


def test_no_step_is_tried_on_the_numbers_of_another():
    seen = []
    for step in STEPS:

        def ask(given, step=step):
            result = np.asarray(step.right(*given), dtype=float)
            arrays = [each for each in given if isinstance(each, np.ndarray)]
            seen.extend(
                (step.name, each.tobytes())
                for each in [*arrays, result]
                if not np.isin(each, [0, 1]).all()
            )  # masks may be alike
            return Answer(result, given)

        assert judge_step(step, ask, [1]).is_right
    steps = {}
    for name, numbers in seen:
        steps.setdefault(numbers, set()).add(name)
    assert len(steps) > 100
    assert [names for names in steps.values() if len(names) > 1] == []


def test_a_mistake_is_not_named_where_it_shows_nothing():
    told = checked("masked", lambda scores, mask: np.where(mask, np.round(scores, 3), -np.inf))
    assert "Keep all digits" in told
    assert "A score of zero" not in told


def test_a_student_s_texts_are_cut_and_marked_in_the_messages():
    answer = Answer.from_json({"fault": "stopped", "quoted": "Right: " * 1000})
    assert (answer.fault_text, len(answer.quoted)) == ("stops with an error", 300)
    remark = judge_step(STEPS_BY_NAME["scale"], lambda given: answer, [1])
    assert remark.sentence == "Not yet: for 3 tokens and d_k = 2, scale stops with an error:"
    assert (remark.quoted, remark.is_right) == (answer.quoted, False)


def test_an_answer_is_transferred_without_loss():
    given = (np.array([[0.1, -np.inf]]), np.array([[True, False]]), 3)
    sent = json.dumps(call_function(lambda a, b, c: a / c, given).as_json())
    came = Answer.from_json(json.loads(sent))
    np.testing.assert_array_equal(came.value, given[0] / 3)
    for before, after in zip(given, came.given, strict=True):
        np.testing.assert_array_equal(before, after)
