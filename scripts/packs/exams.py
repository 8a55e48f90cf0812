"""The command that makes an exam: two parallel forms, a marking scheme and a formula sheet.

The press typesets them from data with the template `book/_ext/byhand/press/exams.typ`. The
questions in words are exercises of the chapters whose schemes in ``book/marking.toml`` say that
they stand alone.
"""

import argparse
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from environment import ROOT, fail, step
from printing import chosen_chapters, refuse_unprintable

from byhand.chapter.lead_and_aims import MINUTES_AN_EXERCISE, MINUTES_BY_DIFFICULTY
from byhand.checking.marking_schemes import FILE as MARKING
from byhand.checking.marking_schemes import (
    exercises_in_words,
    line_of,
    plain_text,
    schemes_of,
    tex_faults,
)
from byhand.checking.sources import Project
from byhand.mathematics.paper import FormulaError, formula
from byhand.press import markup
from byhand.press.pdf import press
from mha.practice.exams.exam import Essay, Exam, Mark, Question, draw_exam
from mha.practice.exams.text import (
    HOW_TO_MARK,
    RULES,
    as_json,
    estimate_note,
    part_letter,
    write_form,
    write_formulas,
    write_scheme,
)
from mha.practice.worksheets.files import write_all
from mha.practice.worksheets.seeds import Seed, read_secret
from mha.views.table import Table
from packs.worksheets import PAPERS, lines_of_pages

SHEET = Path(__file__).with_name("formulas.toml")
FORMULAS = tomllib.loads(SHEET.read_text(encoding="utf-8"))

MAX_SEED = 10**9

LINE, MARGIN, MAX_ROOM = 7, 5, 180
"""Millimetres of a handwritten line, of the space around the lines of a part, and of the largest
box."""

LETTERS = 50
"""Letters of a handwritten line."""

LINES_PER_POINT = 2
"""The fewest lines of room for each point of a question in words."""

INLINE = re.compile(r"(`+)(?P<code>.+?)\1|\$(?P<tex>[^$]+)\$|\*(?P<emphasised>[^*]+)\*")

Data = dict[str, Any]


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the function that makes the exam; end with an error if there is none."""
    if arguments.seed is not None and not 0 <= arguments.seed <= MAX_SEED:
        fail(f"--seed is {arguments.seed}; 0 to {MAX_SEED:,} is wanted")
    refuse_unprintable(lines_of_pages(arguments))
    chapters = chosen_chapters(arguments.chapters)
    try:
        secret = read_secret(arguments.secret) if arguments.secret else b""
        seed = Seed(arguments.seed or 0, secret=secret)
        exam = draw_exam(seed, chapters, arguments.minutes, essays())
    except ValueError as error:
        fail(str(error))
    check_questions(exam)
    return lambda: make(arguments, exam)


def make(arguments: argparse.Namespace, exam: Exam) -> None:
    """Print the exam, and publish all files or none."""
    with step("Printing the exam"):
        files = {name: text.encode() for name, text in texts(exam, arguments.title).items()}
        for name, parts in _documents(exam, arguments).items():
            files[name] = press(_source(parts, arguments))
    try:
        write_all(arguments.to, files, force=arguments.force, choices=_choices(arguments))
    except ValueError as error:
        fail(str(error))
    print(f"Made {len(files)} files of an exam in {arguments.to}")


def _choices(arguments: argparse.Namespace) -> str:
    """Return how to keep the exam in the folder: its files are named after the seed or secret."""
    source = "file of a --secret" if arguments.secret else "--seed"
    return (
        "another --to is wanted, which keeps both exams, another"
        f" {source}, which also draws other numbers"
    )


def essays() -> list[Essay]:
    """Return the exercises in words that stand alone, with their marking schemes."""
    project = Project(ROOT)
    schemes = schemes_of(project)
    return [
        Essay(
            label,
            page.name,
            plain_text(text),
            MINUTES_BY_DIFFICULTY.get(level, MINUTES_AN_EXERCISE),
            schemes[label].marks,
        )
        for page in project.pages
        for label, level, _, text in exercises_in_words(page)
        if label in schemes and schemes[label].stands_alone
    ]


def texts(exam: Exam, title: str) -> dict[str, str]:
    """Return the exam as Markdown and JSON, by file name."""
    stem = exam.seed.file_stem
    forms = {
        f"{stem(f'exam-{form.lower()}')}.md": write_form(exam, form, title) for form in exam.forms
    }
    return forms | {
        f"{stem('exam-scheme')}.md": write_scheme(exam, title),
        f"{stem('exam-formulas')}.md": write_formulas(formulas(exam), title),
        f"{stem('exam')}.json": as_json(exam),
    }


def formulas(exam: Exam) -> list[tuple[str, str]]:
    """Return the formulas of an exam's sheet: what each gives, and its TeX."""
    return [
        (entry["says"], entry["tex"])
        for entry in FORMULAS["formulas"]
        if not entry.get("chapters") or set(entry["chapters"]) & set(exam.chapters)
    ]


def check_questions(exam: Exam) -> None:
    """End with the file and line of a question in words or a formula that cannot be printed."""
    project = Project(ROOT)
    schemes = schemes_of(project)
    labels = {q.subject for form in exam.forms.values() for q in form if q.kind == "explain"}
    pieces: list[tuple[str, Callable[[], str]]] = []
    for page in project.pages:
        for label, _, block, text in exercises_in_words(page):
            if label in labels:
                at = f"{page.file}:{block.line}"
                pieces.append((at, partial(as_typst, plain_text(text))))
    for _, text in project.files(MARKING):
        for label in labels:
            at = f"{MARKING}:{line_of(label, text)}"
            for fault in tex_faults(schemes[label]):
                fail(f"{at}: {fault}")
            pieces += [(at, partial(as_typst, says)) for _, says in schemes[label].marks]
    for says, tex in formulas(exam):
        at = f"{SHEET.relative_to(ROOT)}:{_line_of(says)}"
        pieces += [(at, partial(as_typst, says)), (at, partial(_displayed, tex))]
    lines = []
    for at, convert in pieces:
        try:
            lines += [f"// at {at}", convert(), ""]
        except FormulaError as error:
            fail(f"{at}: {error}")
    press(markup.document("exams", "#show: worksheets", *lines, title=markup.string("Exam")))


def _line_of(says: str) -> int:
    """Return the line of a formula in the file of formulas, counted from 1."""
    text = SHEET.read_text(encoding="utf-8")
    return text[: text.index(json.dumps(says, ensure_ascii=False))].count("\n") + 1


def _displayed(tex: str) -> str:
    return f"#{formula(tex, display=True)}"


# ---- Data for the template ----


def _documents(exam: Exam, arguments: argparse.Namespace) -> dict[str, list[Data]]:
    """Return the parts of each PDF, by file name."""
    about = [words for words in (arguments.title, arguments.course, arguments.date) if words]
    common: Data = {"about": about, "title": arguments.title, "seed": str(exam.seed)}
    stem = exam.seed.file_stem
    found: dict[str, list[Data]] = {}
    for form, questions in exam.forms.items():
        made = common | {
            "kind": "form",
            "form": form,
            "points": exam.points,
            "minutes": exam.minutes,
            "rules": RULES,
            "questions": [_question(question) for question in questions],
        }
        found[f"{stem(f'exam-{form.lower()}')}.pdf"] = [made]
    scheme = common | {
        "kind": "scheme",
        "note": estimate_note(exam),
        "rules": HOW_TO_MARK,
        "forms": [
            {"form": form, "questions": [_scheme(question) for question in questions]}
            for form, questions in exam.forms.items()
        ],
    }
    sheet = common | {
        "kind": "formulas",
        "formulas": [{"says": says, "code": _displayed(tex)} for says, tex in formulas(exam)],
    }
    return found | {
        f"{stem('exam-scheme')}.pdf": [scheme],
        f"{stem('exam-formulas')}.pdf": [sheet],
    }


def _question(question: Question) -> Data:
    """Return the data of a question: its text, its tables, and room for each part."""
    return {
        "title": question.title,
        "points": question.points,
        "text": question.text,
        "code": as_typst(question.text) if question.kind == "explain" else "",
        "tables": question.tables,
        "lines": question.lines,
        "room": room_for(question.marks),
        "parts": [
            {
                "letter": part_letter(i),
                "text": text,
                "points": question.points_of(i),
                "room": room_for([mark for mark in question.marks if mark.part == i]),
            }
            for i, text in enumerate(question.parts)
        ],
    }


def room_for(marks: Sequence[Mark]) -> int:
    """Return the millimetres that the answer for some marks needs in handwriting."""
    return min(MARGIN + LINE * sum(map(_lines, marks)), MAX_ROOM)


def _lines(mark: Mark) -> int:
    """Return the handwritten lines that the answer for a mark needs."""
    lines = math.ceil(len(mark.line or mark.answer or mark.label) / LETTERS)
    return lines if mark.answer else max(lines, LINES_PER_POINT * mark.points)


def _scheme(question: Question) -> Data:
    return {
        "title": question.title,
        "points": question.points,
        "minutes": question.minutes,
        "code": as_typst(question.text) if question.kind == "explain" else "",
        "marks": [
            {
                "part": f"({part_letter(mark.part)})" if question.parts else "",
                "points": mark.points,
                "text": f"{mark.label}: {mark.line}" if mark.line else mark.label,
                "off-by": mark.off_by,
            }
            for mark in question.marks
        ],
        "follow": question.follow,
        "sources": question.sources,
    }


def _source(parts: Sequence[Data], arguments: argparse.Namespace) -> str:
    """Return the Typst source of a PDF."""
    data = markup.string(json.dumps(parts, ensure_ascii=False, default=_table))
    return markup.document(
        "exams",
        f"#show: worksheets\n#parts(json(bytes({data})))",
        title=markup.string(arguments.title),
        paper=markup.string(PAPERS[arguments.paper]),
        margin="margin",
    )


def _table(table: Table) -> Data:
    return {
        "caption": table.caption, "header": table.header, "rows": table.rows, "words": table.words,
    }  # fmt: skip


# ---- Questions in words ----


def as_typst(text: str) -> str:
    r"""Return the Markdown of an exercise as Typst: paragraphs, code, formulas and emphasis.

    Examples
    --------
    >>> as_typst("Why is *cat* `x`?")
    'Why is #emph[cat] #raw("x")\\?'
    """
    return "\n\n".join(map(_paragraph, re.split(r"\n\s*\n", text)))


def _paragraph(paragraph: str) -> str:
    lines = paragraph.split("\n")
    if all(line.startswith("    ") for line in lines):
        code = "\n".join(line[4:] for line in lines)
        return f"#raw({json.dumps(code, ensure_ascii=False)}, block: true)"
    return "".join(_pieces(" ".join(line.strip() for line in lines)))


def _pieces(text: str) -> Iterator[str]:
    end = 0
    for found in INLINE.finditer(text):
        yield markup.text(text[end : found.start()])
        if code := found["code"]:
            yield f"#raw({json.dumps(code, ensure_ascii=False)})"
        elif tex := found["tex"]:
            yield f"#{formula(tex)}"
        else:
            yield f"#emph[{markup.text(found['emphasised'])}]"
        end = found.end()
    yield markup.text(text[end:])
