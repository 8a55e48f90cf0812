"""Two tasks from the trained model: what they ask has one answer, and the key has it."""

import re

import numpy as np
import pytest

from mha.practice.worksheets.of_model import LETTERS, ModelSheet
from mha.practice.worksheets.seeds import Seed
from mha.practice.worksheets.students import Student


@pytest.mark.parametrize("number", range(1, 21))
def test_the_tables_show_which_head_is_which_and_what_comes_next(number):
    made = ModelSheet(Seed(7), Student(number))
    rows = np.arange(1, 6)
    back = [weights[rows, rows - 1].mean() for weights in made.maps[:2]]
    assert LETTERS[int(np.argmax(back))] == made.letter(0)
    finds = [weights[-1, 1] for weights in made.maps]
    assert LETTERS[int(np.argmax(finds))] == made.letter(3)
    likeliest = made.runs[-1].logits[-1].argmax()
    assert made.runs[-1].example.vocabulary[likeliest] == made.story[1]
    key = made.key()
    assert f"The word before: {made.letter(0)}. Behind the same word: {made.letter(3)}." in key
    sums = re.findall(r": (.+) = (.+)$", key, re.MULTILINE)
    assert len(sums) == 2
    logits = dict(zip(made.runs[-1].example.vocabulary, made.runs[-1].logits[-1], strict=True))
    for (terms, total), word in zip(sums, (made.story[1], made.story[4]), strict=True):
        numbers = [float(t.strip("()").replace("−", "-")) for t in terms.split(" + ")]
        assert sum(numbers) == pytest.approx(float(total.replace("−", "-")))
        assert sum(numbers) == pytest.approx(logits[word], abs=0.005 * len(numbers))
