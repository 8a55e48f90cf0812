"""The exam command: forms, scheme and formula sheet as PDF, the same for the same seed."""

import contextlib
import io
import json
import re
import sys
from dataclasses import replace

import building
import numpy as np
import printed_book
import pytest
from packs import exams

from mha.practice.exams.exam import KINDS, Exam, draw_exam, pair_essays
from mha.practice.exams.problems import KINDS_BY_CHAPTER
from mha.practice.worksheets.seeds import Seed

pytestmark = pytest.mark.pdf

CHAPTERS = "self-attention,softmax,order"
NAMES = sorted(
    [f"exam-{what}-5.{kind}" for what in ("a", "b", "scheme", "formulas") for kind in ("md", "pdf")]
    + ["exam-5.json"]
)


def make(folder, *arguments):
    """Run the command for a folder; return its exit status, None if it succeeded, and its error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["build.py", "exam", "--to", str(folder), *arguments])
        error = io.StringIO()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(error):
                building.main()
        except SystemExit as stopped:
            return stopped.code, error.getvalue()
    return None, ""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exam")
    told = make(folder, "--chapters", CHAPTERS, "--seed", "5", "--course", "Algebra <b>&*")
    assert told == (None, "")
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    return folder


def test_the_same_seed_gives_the_same_bytes(made, tmp_path):
    assert make(tmp_path, "--chapters", CHAPTERS, "--seed", "5", "--course", "Algebra <b>&*") == (
        None,
        "",
    )
    for name in NAMES:
        assert (made / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_each_form_on_paper_has_its_questions_points_and_parts(made):
    data = json.loads((made / "exam-5.json").read_text(encoding="utf-8"))
    for form in "ab":
        pages = printed_book.text_of(made / f"exam-{form}-5.pdf")
        text = printed_book.squeezed("".join(pages))
        assert f"of{data['points']}" in text
        assert "60minutes." in text
        questions = data["forms"][form.upper()]["questions"]
        assert 6 <= len(questions) <= 8
        assert {question["kind"] for question in questions} == set(KINDS)
        for question in questions:
            assert printed_book.squeezed(f"{question['number']}. {question['title']}") in text
            for part in question["parts"]:
                assert printed_book.squeezed(part.replace("*", "")) in text
            for line in question["lines"]:
                said = line.replace("*", "").replace("e^", "e")
                assert printed_book.squeezed(said) in text, line
        assert all("Algebra <b>&*" in page for page in pages)


def test_the_scheme_on_paper_has_every_line_and_no_form_has_an_answer(made):
    scheme = printed_book.squeezed("".join(printed_book.text_of(made / "exam-scheme-5.pdf")))
    data = json.loads((made / "exam-5.json").read_text(encoding="utf-8"))
    for form in "AB":
        paper = "".join(printed_book.text_of(made / f"exam-{form.lower()}-5.pdf"))
        for question in data["forms"][form]["questions"]:
            for mark in question["marks"]:
                line = printed_book.squeezed(mark["line"].replace("e^", "e"))
                assert line in scheme, line
                if question["kind"] == "compute":
                    assert line not in printed_book.squeezed(paper)
    assert "Errorcarriedforward" in scheme


def test_the_formula_sheet_has_the_formulas_of_its_chapters(made):
    text = (made / "exam-formulas-5.md").read_text(encoding="utf-8")
    assert r"\cos\theta" in text
    assert "sink" not in text
    named = {name for entry in exams.FORMULAS["formulas"] for name in entry.get("chapters", ())}
    assert named <= set(KINDS_BY_CHAPTER)


def test_every_chapter_with_questions_in_words_gives_an_exam():
    essays = exams.essays()
    chapters = [name for name in KINDS_BY_CHAPTER if name in {essay.chapter for essay in essays}]
    assert len(chapters) >= 10
    for chapter in chapters:
        exam = draw_exam(Seed(1), [chapter], 60, essays)
        assert 6 <= len(exam.forms["A"]) <= 8, chapter
        assert exam.estimate <= 60
        for question in exam.forms["A"]:
            assert "{" not in question.text or "$" in question.text or "`" in question.text


def test_essays_in_both_forms_have_equal_points_and_differ_where_there_is_a_choice():
    exam = draw_exam(Seed(1), ["mechanism/softmax", "mechanism/scaling"], 60, exams.essays())
    pairs = [
        (a, b) for a, b in zip(exam.forms["A"], exam.forms["B"], strict=True) if a.kind == "explain"
    ]
    assert len(pairs) >= 2
    assert all((a.points, a.minutes) == (b.points, b.minutes) for a, b in pairs)
    assert all(a.subject != b.subject for a, b in pairs[:2])
    assert all(re.fullmatch("ex-[a-z-]+", a.subject) for a, _ in pairs)


def test_essays_of_the_book_are_paired_within_one_chapter():
    essays = exams.essays()
    for seed in range(120):
        for a, b in pair_essays(np.random.default_rng(seed), essays):
            assert (a.chapter, a.demand, a.minutes) == (b.chapter, b.demand, b.minutes)


def test_each_box_has_room_for_the_lines_of_its_answer():
    essays = exams.essays()
    kinds = set()
    for seed, chapter in enumerate(("softmax", "multi-head-attention", "self-attention")):
        exam = draw_exam(Seed(seed), [f"mechanism/{chapter}"], 60, essays)
        for question in exam.forms["A"]:
            parts = {mark.part for mark in question.marks}
            for part in parts:
                marks = [mark for mark in question.marks if mark.part == part]
                room = exams.room_for(marks)
                written = [mark.line or mark.answer or mark.label for mark in marks]
                assert room >= 7 * sum(len(line) / 50 for line in written)
                assert room >= 7 * len(marks)
                assert room < exams.MAX_ROOM
                kinds.add((question.kind, part))
    assert {("mistake", 2), ("explain", 0), ("card", 3)} <= kinds


def test_every_formula_of_the_sheet_can_be_printed():
    essays = exams.essays()
    chapters = [name for name in KINDS_BY_CHAPTER if name in {essay.chapter for essay in essays}]
    exam = draw_exam(Seed(1), chapters, 60, essays)
    every = Exam(exam.seed, tuple(KINDS_BY_CHAPTER), exam.minutes, exam.forms)
    assert len(exams.formulas(every)) == len(exams.FORMULAS["formulas"])
    exams.check_questions(every)


@pytest.mark.parametrize(
    ("words", "says", "message"),
    [
        (r"Why is $a \odot b$ so?", "", r"book/transformer/order.md:\d+: the press says: "),
        (r"Why is $\nosuch$ so?", "", r"book/transformer/order.md:\d+: TeX `\\nosuch` cannot"),
        ("Why is \ue000 so?", "", r"book/transformer/order.md:\d+: no font has the character"),
        ("", r"It is $a \odot b$.", r"book/marking.toml:\d+: a mark of ex-order-\w+ has \$, and"),
        ("", r"It is \odot.", r"book/marking.toml:\d+: a mark of ex-order-\w+ has \\odot, and"),
        ("", "It is \ue000.", r"book/marking.toml:\d+: no font has the character"),
    ],
)
def test_a_question_that_cannot_be_printed_is_refused_with_its_place(
    monkeypatch, tmp_path, words, says, message
):
    exercises_in_words, schemes_of = exams.exercises_in_words, exams.schemes_of

    def changed_texts(page):
        for label, level, block, text in exercises_in_words(page):
            yield label, level, block, words if words and "ex-order" in label else text

    def changed_schemes(project):
        return {
            label: replace(scheme, marks=tuple((points, says) for points, _ in scheme.marks))
            if says and "ex-order" in label
            else scheme
            for label, scheme in schemes_of(project).items()
        }

    monkeypatch.setattr(exams, "exercises_in_words", changed_texts)
    monkeypatch.setattr(exams, "schemes_of", changed_schemes)
    code, _ = make(tmp_path, "--chapters", "order", "--seed", "1")
    assert re.match(f"error: {message}", code), code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--chapters odd --seed 1", "there is no chapter odd; the chapters are: "),
        ("--chapters , --seed 1", "--chapters names no chapter; the chapters are: "),
        ("--chapters notation --seed 1", "notation has no calculation for an exam; "),
        (
            "--chapters learning --seed 1",
            "learning has no question in words that stands alone; one of ",
        ),
        ("--chapters softmax --seed 1 --minutes 5", "--minutes is 5; 30 to 180 is wanted"),
        ("--chapters softmax --seed 1 --title=", "--title is empty; a title is wanted"),
        ("--chapters softmax --seed -1", "--seed is -1; 0 to 1,000,000,000 is wanted"),
        ("--chapters softmax --secret none", "none cannot be read: No such file or directory; "),
        (f"--chapters softmax --seed 1 --title {'a' * 121}", "--title has 121 letters; one line"),
        (
            "--chapters softmax --seed 1 --title \U0001f393",
            "--title has \U0001f393 (U+1F393), and no",
        ),
        ("--chapters softmax --seed 1 --course \ue000", "--course has U+E000, which is not"),
        ("--chapters softmax --seed 1 --date 1\ufe0f\u20e3", "--date has \ufe0f (U+FE0F), and no"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_sentence(words, sentence, tmp_path):
    code, _ = make(tmp_path, *words.split())
    assert str(code).startswith(f"error: {sentence}"), code
    assert "\n" not in code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ["--chapters softmax", "--seed 1", "--chapters softmax --seed x"])
def test_a_missing_option_ends_with_the_usage(words, tmp_path):
    code, said = make(tmp_path, *words.split())
    assert code == 2
    assert said.startswith("build.py exam: ")


def test_files_with_other_contents_are_kept_without_force(made, tmp_path):
    (tmp_path / "exam-a-5.md").write_text("Mine.", encoding="utf-8")
    arguments = ("--chapters", CHAPTERS, "--seed", "5")
    code, _ = make(tmp_path, *arguments)
    assert code == (
        f"error: {tmp_path / 'exam-a-5.md'} has other contents; another --to is wanted,"
        " which keeps both exams, another --seed, which also draws other numbers, or --force, which"
        " replaces these files"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["exam-a-5.md"]
    assert make(tmp_path, *arguments, "--force") == (None, "")
    assert len(list(tmp_path.iterdir())) == len(NAMES)


def test_a_second_exam_of_one_secret_is_refused_with_the_options_that_help(tmp_path):
    secret, folder = tmp_path / "secret.txt", tmp_path / "made"
    secret.write_text("a" * 32, encoding="utf-8")
    arguments = ("--chapters", "softmax", "--secret", str(secret))
    assert make(folder, *arguments) == (None, "")
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, _ = make(folder, *arguments, "--minutes", "45")
    assert re.search(r" other contents, and so are \d more files; another --to is wanted", code)
    assert "another file of a --secret, which also draws other numbers, or --force" in code
    assert "--seed" not in code
    assert kept == {path.name: path.read_bytes() for path in folder.iterdir()}
