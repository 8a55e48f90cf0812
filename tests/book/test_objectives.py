"""Objectives, marking schemes and the question bank: their files agree with the chapters."""

import re
import shutil

import pytest
from book_site import ROOT

from byhand.checking import bank, marking_schemes, objectives
from byhand.checking.sources import Project

TEACHING = (ROOT / "book/teaching.md").read_text(encoding="utf-8")
ONE = '[1, "All exponentials are 1."]'
OBJECTIVES = (ROOT / objectives.FILE).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Return a copy of the sources that these checks read."""
    folder = tmp_path_factory.mktemp("sources")
    for path in [*ROOT.glob("book/*.*"), *ROOT.glob("book/*/*.md"), ROOT / marking_schemes.BANK]:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return folder


def found(copied, check, file, before, after):
    """Return the findings after a change of one file, which is undone."""
    path = copied / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    try:
        return [finding.message for finding in check(Project(copied))]
    finally:
        path.write_text(text, encoding="utf-8")


def test_the_book_has_no_fault_and_every_lesson_its_objectives():
    project = Project(ROOT)
    assert [*objectives.check(project), *marking_schemes.check(project), *bank.check(project)] == []
    lessons = re.findall(r"^\* - (\d+)\\\. .*\n  - \{ref\}`([\w-]+)`", TEACHING, re.MULTILINE)
    assert [int(number) for number, _ in lessons] == list(range(1, 13))
    entries = objectives.read_objectives(OBJECTIVES)
    assert [name.partition("/")[2] for name in entries] == [label for _, label in lessons]
    assert sum(map(len, entries.values())) == 36


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('section = "masks"', 'section = "mask"', "section is 'mask'"),
        ('question = "order-which"', 'question = "order"', "question is 'order'"),
        ('exam = "masked row"', 'exam = "layer norm"', "exam is 'layer norm'"),
        ('exam = "ex-zero-query"', 'exam = "ex-range"', "exam is 'ex-range'"),
        ('exercise = "ex-range", ', "", "an objective has no exercise"),
        ('slide = "The ratio rule"', 'slide = "A ratio"', "slide is 'A ratio'"),
        ('"mechanism/scaling"', '"mechanism/scale"', "there is no page mechanism/scale"),
    ],
)
def test_a_faulty_objective_is_found(copied, before, after, message):
    (said,) = found(copied, objectives.check, objectives.FILE, before, after)
    assert said.startswith(message)


def test_a_new_aim_without_an_entry_is_found(copied):
    (said,) = found(copied, objectives.check, "book/mechanism/softmax.md",
                    "- forbid keys", "- fly\n- forbid keys")  # fmt: skip
    assert said.startswith("mechanism/softmax has 3 entries for 4 aims")


@pytest.mark.parametrize(
    ("file", "before", "after", "message"),
    [
        (marking_schemes.FILE, "[ex-zero-query]", "[ex-zero]", "ex-zero is no exercise in words"),
        (marking_schemes.FILE, ONE, '[2, "All."]', "ex-zero-query has 5 points"),
        (marking_schemes.FILE, ONE, '[1, ""]', "a mark of ex-zero-query has no"),
        (marking_schemes.FILE, ONE, "[1, 'It is $0$.']",
         "a mark of ex-zero-query has $, and schemes have"),
        (marking_schemes.FILE, "[ex-cat-sat-bug]", "[ex-cat-sat-bug]\nalone = true",
         "ex-cat-sat-bug has {eval}`…`, so it does not stand alone"),
        ("book/mechanism/softmax.md", ":label: ex-softmax-sigmoid", ":label: ex-softmax-s",
         "ex-softmax-s has no marking scheme"),
    ],
)  # fmt: skip
def test_a_faulty_scheme_is_found(copied, file, before, after, message):
    messages = found(copied, marking_schemes.check, file, before, after)
    assert any(said.startswith(message) for said in messages), messages


@pytest.mark.parametrize(
    ("file", "before", "after", "label"),
    [
        ("book/transformer/serving.md", "{quiz} serving-same", "{quiz} serving-equal",
         "quiz-serving-equal-words"),
        ("book/transformer/serving.md", "{predict} serving-chunk", "{predict} serving-part",
         "quiz-serving-part"),
        (marking_schemes.BANK, "\nquiz-decoding-child =", "\nquiz-x =", "quiz-decoding-child"),
        (marking_schemes.BANK, "\nex-bank-ninety =", "\nex-x =", "ex-bank-ninety"),
        (marking_schemes.BANK, ' "ex-cat-sat-zero",', "", "ex-cat-sat-zero"),
        (marking_schemes.FILE, "[ex-zero-query]\nalone = true", "[ex-zero-query]", "ex-zero-query"),
    ],
)  # fmt: skip
def test_a_question_that_nobody_has_read_by_itself_is_named(copied, file, before, after, label):
    (said,) = found(copied, bank.check, file, before, after)
    assert said.startswith(
        f"{label} is in no list of {marking_schemes.BANK}; the givens that it lacks, in [needs], "
    )


def test_each_lesson_says_where_the_answers_to_the_students_work_are():
    lessons = re.split(r"^### \d+\. ", TEACHING, flags=re.MULTILINE)[1:]
    assert len(lessons) == 12
    for lesson in lessons:
        (answers,) = re.findall(r"^Answers: (?:.+\n)+", lesson.partition("\n## ")[0], re.MULTILINE)
        assert re.search(r"\{(?:ref|numref)\}`", answers)
        assert ("worksheet of lesson" in " ".join(lesson.split())) == ("-key-" in answers)
