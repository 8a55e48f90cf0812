"""A sheet's answers follow from what the sheet gives: each is recomputed from the sheet's own text.

`--sheets 1000` works a thousand sheets, with more than ten thousand answers; a sample is the rule.
"""

import re
from fractions import Fraction
from functools import partial

import chains
import numpy as np
import pytest
from seeds import SEED
from sheet_reader import ASKED, Worked, answers, number, rounded, tasks, wrong

from mha.practice.drawing import SENTENCES
from mha.practice.worksheets import TASKS, worksheet
from mha.practice.worksheets import key as key_of
from mha.practice.worksheets import sheet as sheet_of

LEVELS = ("easy", "medium", "hard")
OFF = re.compile(r"(\d+\.\d+) in task (\d+)")


def sheets(count):
    """Yield sheets of all difficulties and sizes: each stage alone, any set of them, or all."""
    rng = np.random.default_rng(SEED)
    for i in range(count):
        heads = int(rng.integers(1, 4))
        possible = [stage for stage in TASKS if stage != "output" or heads > 1]
        some = rng.choice(possible, size=int(rng.integers(2, 5)), replace=False).tolist()
        stages = [None, some, [possible[i % len(possible)]], some][int(rng.integers(4))]
        size = {"num_heads": heads, "num_tokens": int(rng.integers(2, 6))}
        difficulty = LEVELS[i % len(LEVELS)]
        yield worksheet(
            int(rng.integers(10**6)), i + 1, difficulty=difficulty, stages=stages, **size
        )


def as_written(names, places, exact, name):
    """Return a number as a pupil writes it down: rounded in the tables of these names."""
    return round(exact, places) if name in names else exact


@pytest.fixture(scope="module")
def texts(request):
    """Return the sheets and keys of a sample, as a teacher prints them."""
    count = request.config.getoption("--sheets")
    return [(sheet_of(made), key_of(made)) for made in sheets(count)]


def test_every_answer_follows_from_what_the_sheet_gives(texts):
    total, met = 0, set()
    for sheet, key in texts:
        count, faults = wrong(sheet, key)
        assert not faults, sheet.partition("\n")[0]
        total += count
        met |= set(tasks(sheet).values())
    assert total > 10 * len(texts)
    assert met == set(ASKED)


def test_every_line_of_every_key_holds_as_it_is_printed(texts):
    read = 0
    for sheet, key in texts:
        found = chains.read(chains.sheet_text(key))
        read += len(found)
        assert len(found) == key.count("\n- ")
        assert [fault for chain in found for fault in chain.faults()] == [], sheet[:40]
    assert read > 10 * len(texts)


def test_a_pupil_who_goes_on_with_rounded_numbers_is_as_near_as_the_key_says(texts):
    farthest = 0
    for sheet, key in texts:
        rough, places = rounded(sheet)
        names = {name for task, name in tasks(sheet).items() if task in rough}
        pupil = Worked(sheet, partial(as_written, names, places))
        allowed = {int(task): Fraction(units) for units, task in OFF.findall(key)}
        assert set(allowed) <= rough
        keyed = {(task, i): number(text) for i, (task, text, _) in enumerate(answers(sheet, key))}
        reached = [exact for _, _, exact in answers(sheet, key, pupil)]
        for (task, i), wanted in keyed.items():
            if wanted is None:
                continue
            off = abs(reached[i] - wanted)
            assert off <= allowed.get(task, 0), (sheet[:40], task)
            farthest = max(farthest, off)
    assert farthest >= Fraction(1, 1000), "rounding never mattered: the pupil does not round"


def test_the_sheet_that_once_had_a_wrong_key():
    made = worksheet(9, 4, difficulty="easy", stages=["head_outputs"], sentence=SENTENCES[0])
    assert "| red | 0.506 | 0.307 | 0.186 | 0.999 |" in sheet_of(made)
    line = "red, z₁: 0.506×4 + 0.307×2 + 0.186×2 = 2.024 + 0.614 + 0.372 = 3.01"
    assert f"- {line}\n" in key_of(made)
    assert "| red | 3.010 | 3.010 |" in key_of(made)


def test_exact_answers_are_not_rounded():
    alone = worksheet(3, 1, stages=["head_outputs"])
    assert "All answers are short: do not round." in sheet_of(alone)
    assert "≈" not in key_of(alone)
    both = worksheet(3, 1, stages=["scores", "weights", "head_outputs"])
    assert "Round in tasks 2 and 3 alone: write down 3 decimals there" in sheet_of(both)
    assert "may be off by at most" in key_of(both)
