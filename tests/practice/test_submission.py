"""What a notebook's process answers is data, whoever wrote it; cells are read without IPython."""

import numpy as np
import pytest

from mha.practice.submission import Answer, called, without_magics


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"fault": "", "numbers": None, "shape": None},
        {"fault": "", "numbers": [1.0, 2.0], "shape": [3]},
        {"fault": "", "numbers": ["1e", {}], "shape": [2]},
        {"fault": "", "numbers": [1.0], "shape": [1], "given": 3},
        {"fault": "", "numbers": [1.0], "shape": {"a": 1}},
        {"fault": "", "numbers": [10**400], "shape": [1]},
        {"fault": "", "numbers": [1.0], "shape": [1], "given": [[1, [2, 3]]]},
    ],
)
def test_what_is_no_answer_is_a_fault(data):
    assert Answer.of_data(data).fault == "gives no array"


def test_an_answer_travels_to_its_last_digit():
    given = (np.array([[0.1, -np.inf]]), np.array([[True, False]]), 3)
    sent = called(lambda a, b, c: a / c, given)
    came = Answer.of_data(sent.as_data())
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
