"""Exams: an independent solver finds the scheme's numbers, and both forms are equally long."""

import json
import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from exam_solver import faults, marks, masked_row, number, questions, row_without_its_mask
from helpers import raises

from mha.practice.calculations import compute_printed
from mha.practice.effort import effort_of_lines
from mha.practice.exams.cards import CARDS, draw_card, models_of
from mha.practice.exams.exam import (
    KINDS,
    MAX_EFFORT_DIFFERENCE,
    QUESTIONS_PER_HOUR,
    Essay,
    draw_exam,
    pair_essays,
)
from mha.practice.exams.problems import (
    KINDS_BY_CHAPTER,
    KINDS_WITH_MISTAKES,
    PROBLEMS,
    draw_problem,
)
from mha.practice.exams.steps import (
    as_decimal,
    as_printed,
    changed_names,
    largest_errors,
    solve,
)
from mha.practice.exams.text import as_json, write_form, write_scheme
from mha.practice.worksheets.seeds import Seed

MECHANISM = [
    f"mechanism/{name}" for name in ("self-attention", "scaling", "softmax", "multi-head-attention")
]
CHAPTERS = list(KINDS_BY_CHAPTER)
# Forty exams: each chapter alone, and eighteen of several chapters.
EXAMS = [
    *((seed, [chapter]) for seed, chapter in enumerate(CHAPTERS)),
    *((seed, MECHANISM) for seed in range(100, 109)),
    *((seed, CHAPTERS[seed % 7 :: 5]) for seed in range(200, 209)),
]


def essays(chapters):
    """Return four made-up questions in words for each chapter."""
    return [
        Essay(f"{chapter} {i}", chapter, f"Explain {i}.", 5 - 2 * (i > 2), marks)
        for chapter in chapters
        for i in range(1, 5)
        for marks in [((2, "the reason"), (2, "an example")) if i < 3 else ((2, "the reason"),)]
    ]


def drawn(seed, chapters, minutes=60):
    return draw_exam(Seed(seed), chapters, minutes, essays(chapters))


@pytest.mark.parametrize(("seed", "chapters"), EXAMS, ids=str)
def test_a_solver_agrees_with_the_scheme_and_both_forms_are_equally_long(seed, chapters):
    exam = drawn(seed, chapters)
    scheme = write_scheme(exam)
    of_forms = scheme.split("\n# Form ")[1:]
    papers = {form: questions(write_form(exam, form)) for form in exam.forms}
    assert papers.keys() == {"A", "B"}
    for (form, printed), text in zip(papers.items(), of_forms, strict=True):
        assert text.startswith(form)
        keyed = questions(text)
        assert [q.title for q in keyed] == [q.title for q in printed]
        assert [(q.points, q.minutes) for q in keyed] == [(q.points, q.minutes) for q in printed]
        for question, key in zip(printed, keyed, strict=True):
            assert list(faults(question, key)) == [], f"{form} {question.title}"
        assert sum(q.points for q in printed) == exam.points
        assert f" minutes, {exam.points} points. " in write_form(exam, form)
        assert 6 <= len(printed) <= QUESTIONS_PER_HOUR
        assert sum(q.minutes for q in printed) == exam.estimate <= 60
    assert [(q.points, q.minutes) for q in papers["A"]] == [
        (q.points, q.minutes) for q in papers["B"]
    ]
    counted = [operations(text) for text in of_forms]
    assert max(counted) - min(counted) <= 0.1 * max(counted), counted
    lengths = [exam.operations(form) for form in exam.forms]
    assert max(lengths) - min(lengths) <= MAX_EFFORT_DIFFERENCE * max(lengths)
    for first, second in zip(papers["A"], papers["B"], strict=True):
        assert first.title == "Explain" or first.body != second.body
        assert [worth for _, _, worth in first.parts] == [worth for _, _, worth in second.parts]
    redone = [
        [part for q in questions(text) if q.title == "Find the mistake" for part, _, _ in marks(q)]
        for text in of_forms
    ]
    assert redone[0].count("c") == redone[1].count("c") >= 1
    rounded = [
        ["≈" in mark.line for q in questions if q.kind == "card" for mark in q.marks]
        for questions in exam.forms.values()
    ]
    assert rounded[0] == rounded[1]


def operations(scheme):
    """Return the number of operation signs in the lines of a scheme, counted without `effort`."""
    lines = [
        text.split(" = ")[0].split(" ≈ ")[0]
        for question in questions(scheme)
        for _, _, text in marks(question)
        if " = " in text or " ≈ " in text
    ]
    return sum(line.count(sign) for line in lines for sign in ("×", "÷", " + ", "e^", "√"))


def test_there_are_forty_exams():
    assert len(EXAMS) == 40


def test_the_same_seed_draws_the_same_exam_and_another_seed_another():
    texts = [
        [write_form(exam, form) for form in exam.forms] + [write_scheme(exam), as_json(exam)]
        for exam in (drawn(seed, MECHANISM) for seed in (7, 7, 8))
    ]
    assert texts[0] == texts[1]
    assert not set(texts[0]) & set(texts[2])
    assert texts[0][0] != texts[0][1]


@pytest.mark.parametrize("minutes", [45, 60, 90, 180])
def test_an_exam_fits_its_minutes_and_has_each_kind(minutes):
    exam = drawn(3, MECHANISM, minutes)
    kinds = Counter(question.kind for question in exam.forms["A"])
    assert set(kinds) == set(KINDS)
    assert exam.estimate <= minutes
    assert kinds["mistake"] == kinds["card"] == 1
    assert sum(kinds.values()) <= QUESTIONS_PER_HOUR * minutes / 60
    assert minutes - exam.estimate < 15 or sum(kinds.values()) == QUESTIONS_PER_HOUR * minutes // 60


def test_parallel_essays_are_of_one_chapter_and_demand_the_same():
    openings = ("Find the bug in this.", "An open question. Why?", "Why is this so?")
    given = [
        Essay(f"{chapter} {i}", chapter, openings[i % 3], minutes, ((points, "so"),))
        for chapter in CHAPTERS[:6]
        for i, (minutes, points) in enumerate([(5, 4)] * 7 + [(3, 2)] * 2 + [(15, 6)] * 3)
    ]
    for seed in range(200):
        rng = np.random.default_rng(seed)
        some = [given[i] for i in rng.permutation(len(given))[: rng.integers(1, 40)]]
        pairs = pair_essays(rng, some)
        assert {a.label for pair in pairs for a in pair} == {essay.label for essay in some}
        alike = [[(e.chapter, e.demand, e.points, e.minutes) for e in pair] for pair in pairs]
        assert all(a == b for a, b in alike)
        alone = [pair for pair, (a, b) in zip(alike, pairs, strict=True) if a is b]
        assert all(alone.count(pair) == 1 for pair in alone)  # a second one would be its partner
        assert sum(a is not b for a, b in pairs) == (len(some) - len(alone)) / 2
        short = [a.chapter for a, _ in pairs if a.minutes < 15]
        assert [a.chapter for a, _ in pairs][: len(short)] == short  # long ones come last
        asked = set(short)
        assert set(short[: len(asked)]) == asked  # each chapter has its turn before any has two


@pytest.mark.parametrize("kind", PROBLEMS)
def test_answers_with_rounded_numbers_and_with_all_digits_are_within_the_bounds(kind):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        right = solve(draw_problem(kind, rng).steps)
        errors = largest_errors(right)
        for share in (0, 0.5, 0.5, 0.5, 1):
            carried = {}
            for step in right.steps:
                operands = [[carried.get(name, name) for name in group] for group in step.operands]
                exact = compute_printed(step.kind, operands, 0)
                written = as_decimal(as_printed(exact))
                off = max(abs(x - as_decimal(right.values[step.name])) for x in (written, exact))
                assert off <= errors[step.name] or off < Decimal("1e-30"), (step.label, share)
                carried[step.name] = str(written if rng.random() < share else exact)


@pytest.mark.parametrize("seed", range(8))
def test_the_scheme_of_a_masked_row_has_the_numbers_without_the_mask(seed):
    exam = drawn(seed, ["mechanism/softmax"])
    schemes = [questions(text) for text in write_scheme(exam).split("\n# Form ")[1:]]
    rows = 0
    for form, scheme in zip(exam.forms, schemes, strict=True):
        for question, key in zip(questions(write_form(exam, form)), scheme, strict=True):
            if question.title == "A row under a causal mask":
                (note,) = re.findall("Note: The mask is forgotten: .*", key.body)
                told = [number(text) for text in re.findall(r": (−?[\d.]*\d)(?=[;.])", note)]
                forgotten, right = row_without_its_mask(question), masked_row(question)
                assert told == [a for a, b in zip(forgotten, right, strict=True) if a != b]
                rows += 1
    assert rows >= 2


@pytest.mark.parametrize("kind", PROBLEMS)
def test_every_known_mistake_changes_the_last_result(kind):
    for seed in range(20):
        problem = draw_problem(kind, np.random.default_rng(seed))
        right = solve(problem.steps)
        assert not right.has_tie
        assert bool(problem.slips) or kind not in KINDS_WITH_MISTAKES
        for slip in problem.slips:
            wrong = solve(problem.steps, slip)
            changed = changed_names(right, wrong)
            assert changed[0] == slip.changed[0].name
            assert wrong.values[problem.steps[-1].name] != right.values[problem.steps[-1].name]
        assert {step.part for step in problem.steps} == set(range(len(problem.parts)))


def test_a_secret_draws_other_numbers_than_a_seed():
    secret = Seed(secret=b"x" * 40)
    exam = draw_exam(secret, MECHANISM, 60, essays(MECHANISM))
    assert write_form(exam, "A") != write_form(drawn(0, MECHANISM), "A")
    assert "x" * 40 not in as_json(exam)


def test_the_json_has_what_the_scheme_has():
    exam = drawn(5, MECHANISM)
    made = json.loads(as_json(exam))
    for form, questions_ in exam.forms.items():
        entries = made["forms"][form]["questions"]
        assert [entry["points"] for entry in entries] == [q.points for q in questions_]
        for entry in entries:
            assert sum(mark["points"] for mark in entry["marks"]) == entry["points"]
            lines = [mark["line"] for mark in entry["marks"] if mark["line"]]
            if entry["kind"] in ("compute", "card"):
                assert effort_of_lines(lines).operations == entry["operations"]


def test_each_kind_of_card_has_two_models():
    assert all(len(models_of(kind)) >= 2 for kind in CARDS)


@pytest.mark.parametrize("kind", CARDS)
def test_a_card_is_printed_without_marks_of_code(kind):
    for model in models_of(kind):
        (table,) = draw_card(kind, model, np.random.default_rng(1)).tables
        assert not [cell for row in table.rows for cell in row if "`" in cell]


def test_what_no_exam_can_have_is_refused():
    with raises(ValueError, "--minutes is 20; 30 to 180 is wanted"):
        drawn(1, MECHANISM, 20)
    names = ", ".join(chapter.partition("/")[2] for chapter in CHAPTERS)
    with raises(ValueError, f"notation has no calculation for an exam; {names} have"):
        drawn(1, ["notation"])
    missing = (
        "depth has no question in words that stands alone; one of softmax is wanted among the"
        " chapters"
    )
    with raises(ValueError, missing):
        draw_exam(Seed(1), ["transformer/depth"], 60, essays(["mechanism/softmax"]))
    long = [Essay("long", "transformer/cost", "Explain.", 15, ((6, "all"),))]
    with pytest.raises(ValueError, match=r"^--minutes is 30; one question of each kind takes (\d+)"
                       r" minutes here, so \1 or more are wanted$"):  # fmt: skip
        draw_exam(Seed(1), ["transformer/cost"], 30, long)


def test_the_solver_sees_a_wrong_number():
    exam = drawn(2, ["mechanism/self-attention"])
    form, scheme = write_form(exam, "A"), write_scheme(exam).split("\n# Form ")[1]
    question, key = questions(form)[0], questions(scheme)[0]
    assert list(faults(question, key)) == []
    last = marks(key)[-1][2]
    for wrong in (last.replace("=", "≈ 9 ="), re.sub(r"[=≈] (−?[\d.]+)(?= \(off|$)", "≈ 77", last)):
        assert wrong != last
        assert list(faults(question, replace(key, body=key.body.replace(last, wrong)))) != []
    assert (
        list(faults(question, replace(key, body=key.body.replace("1 point", "2 points", 1)))) != []
    )
