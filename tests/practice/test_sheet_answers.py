"""The answers of a sheet are recomputed from the sheet's own text.

By default a sample is tested. `--sheets 1000` tests a thousand sheets with more than ten thousand
answers.
"""

import re
from fractions import Fraction
from functools import partial

import chains
import numpy as np
import pytest
from seeds import SEED
from sheet_reader import ASKED, answers, number, rounded, tables, tasks, wrong

from mha.practice.random_inputs import LEVELS
from mha.practice.worksheets import TASKS, draw_worksheet, write_key, write_sheet
from mha.practice.worksheets.text import ROOM

OFF = re.compile(r"(\d+\.\d+) in task (\d+)")


def sheets(count):
    """Yield sheets of all difficulties and sizes, with one stage, some stages or all."""
    rng = np.random.default_rng(SEED)
    for i in range(count):
        heads = int(rng.integers(1, 4))
        possible = [stage for stage in TASKS if stage != "output" or heads > 1]
        some = rng.choice(possible, size=int(rng.integers(2, 5)), replace=False).tolist()
        stages = [None, some, [possible[i % len(possible)]], some][int(rng.integers(4))]
        size = {"num_heads": heads, "num_tokens": int(rng.integers(2, 6))}
        seed, level = int(rng.integers(10**6)), [*LEVELS][i % len(LEVELS)]
        yield draw_worksheet(seed, i + 1, difficulty=level, stages=stages, **size)


def as_written(names, places, exact, name):
    """Return a number as a pupil writes it: rounded in the tables with these names."""
    return round(exact, places) if name in names else exact


@pytest.fixture(scope="module")
def texts(request):
    """Return the sheets and keys of a sample, as a teacher prints them."""
    count = request.config.getoption("--sheets")
    return [(write_sheet(made), write_key(made)) for made in sheets(count)]


def test_every_answer_follows_from_what_the_sheet_gives(texts):
    total, met = 0, set()
    for sheet, key in texts:
        count, faults = wrong(sheet, key)
        assert not faults, sheet.partition("\n")[0]
        total += count
        asked = set(tasks(sheet).values())
        given, yours = map(tables, sheet.split("### Your turn"))
        assert asked.isdisjoint(name for name, _ in given), "an answer is given away"
        assert {cell for table in yours.values() for row in table for cell in row} == {ROOM}
        met |= asked
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


def test_a_calculator_reaches_each_result_of_120_keys_from_the_printed_operands():
    read = 0
    for student in range(120):
        made = draw_worksheet(student % 7, student + 1, difficulty=[*LEVELS][student % 3])
        found = chains.read(chains.sheet_text(write_key(made)))
        assert [fault for chain in found for fault in chain.faults()] == [], made.title
        read += len(found)
    assert read > 5000


@pytest.mark.parametrize("line", ["0.135 ÷ 0.188 ≈ 0.721", "91×0.055118 ≈ 5.015748"])
def test_the_reader_of_lines_refuses_a_result_that_its_operands_do_not_give(line):
    (chain,) = chains.read(line)
    assert chain.faults()


def test_no_answer_that_is_rounded_lies_on_a_tie():
    for student in range(60):
        stages = [["head_outputs"], ["weights"], None][student % 3]
        made = draw_worksheet(
            student, 1, difficulty=[*LEVELS][student % 3], stages=stages, num_heads=2
        )
        sheet, key = write_sheet(made), write_key(made)
        rough, places = rounded(sheet)
        for task, _, exact in answers(sheet, key):
            if task in rough and exact is not None:
                assert abs(exact * 10**places) % 1 != Fraction(1, 2), made.title


def test_a_pupil_who_goes_on_with_rounded_numbers_is_as_near_as_the_key_says(texts):
    farthest = 0
    for sheet, key in texts:
        rough, places = rounded(sheet)
        names = {name for task, name in tasks(sheet).items() if task in rough}
        allowed = {int(task): Fraction(units) for units, task in OFF.findall(key)}
        assert set(allowed) <= rough
        for task, text, reached in answers(sheet, key, partial(as_written, names, places)):
            if reached is None:
                continue
            off = abs(reached - number(text))
            assert off <= allowed.get(task, 0), (sheet[:40], task)
            farthest = max(farthest, off)
    assert farthest >= Fraction(1, 1000), "rounding never mattered: the pupil does not round"
