"""The command that makes worksheets: one per student, the key and the answers.

The press typesets them from data with the template `book/_ext/byhand/press/worksheets.typ`, which
has the headings and the layout of each printed part.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any

from environment import fail, step
from printing import file_name, refuse_unprintable

from byhand.press.markup import document, string
from byhand.press.pdf import press
from mha.practice.worksheets import Student, Task, Worksheet
from mha.practice.worksheets.command import draw_worksheets, write_texts
from mha.practice.worksheets.files import write_all
from mha.practice.worksheets.model_worksheet import TITLE as MODEL
from mha.practice.worksheets.model_worksheet import ModelSheet
from mha.practice.worksheets.text import (
    answer_lines,
    effort_note,
    empty_table,
    notes,
    points,
    tolerance_note,
)
from mha.views.table import Table

PAPERS = {"a4": "a4", "letter": "us-letter"}
MAX_LINE_LENGTH = 120
"""The most letters of a title, a course or a date, which fill one line of each page."""

BESIDES = " The two tasks from the trained model come on top."
"""The sentence after the estimated minutes of a sheet with these tasks."""

PrintedPart = dict[str, Any]
"""Data of one printed part: its `kind`, such as the key, and the fields that the template uses."""


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the function that makes the worksheets; end with an error if there are none."""
    try:
        sheets = draw_worksheets(arguments)
    except ValueError as error:
        fail(str(error))
    _check_texts(arguments, sheets)
    return lambda: make(arguments, sheets)


def make(arguments: argparse.Namespace, sheets: Sequence[Worksheet]) -> None:
    """Print the worksheets, the key and the answers, and publish all or nothing."""
    with step(f"Printing {len(sheets)} worksheets"):
        written = write_texts(sheets, model=arguments.model)
        files = {name: text.encode() for name, text in written.items()}
        for name, parts in _class_documents(sheets, arguments).items():
            printed = _files(arguments, name, parts, sheets)
            files |= {file: press(_source(some, arguments)) for file, some in printed.items()}
    try:
        write_all(arguments.to, files, force=arguments.force)
    except ValueError as error:
        fail(str(error))
    print(f"Made {len(files)} files of worksheets in {arguments.to}")


def _check_texts(arguments: argparse.Namespace, sheets: Sequence[Worksheet]) -> None:
    """End with a sentence unless the teacher's texts can be printed."""
    texts = lines_of_pages(arguments)
    for worksheet in sheets:
        student = worksheet.student
        texts[f"student {student.number} of --class, {student.name},"] = student.name + student.id
        texts["--sentence"] = texts.get("--sentence", "") + " ".join(worksheet.run.tokens)
    refuse_unprintable(texts)


def lines_of_pages(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the texts of each page by option; end with a sentence unless each is one line."""
    texts = {f"--{name}": getattr(arguments, name) for name in ("title", "course", "date")}
    if not arguments.title.strip():
        fail("--title is empty; a title is wanted")
    for name, text in texts.items():
        if len(text) > MAX_LINE_LENGTH:
            fail(f"{name} has {len(text)} letters; one line of {MAX_LINE_LENGTH} is wanted")
        if hidden := next((letter for letter in text if not letter.isprintable()), ""):
            fail(f"{name} has U+{ord(hidden):04X}, which is not printed; other letters are wanted")
    return texts


def _files(
    arguments: argparse.Namespace, name: str, parts: list[PrintedPart], sheets: Sequence[Worksheet]
) -> dict[str, list[PrintedPart]]:
    """Return the parts of each file of a document of the class."""
    if name != "worksheets" or not arguments.each:
        return {f"{sheets[0].seed.file_stem(name)}.pdf": parts}
    return {
        f"{worksheet.seed.file_stem('worksheet')}-{_student_suffix(worksheet.student)}.pdf": [part]
        for worksheet, part in zip(sheets, parts, strict=True)
    }


def _student_suffix(student: Student) -> str:
    """Return the distinct part of a student's file name: number, name and id."""
    named = file_name(f"{student.name} {student.id}")
    return f"{student.number:03}-{named}".rstrip("-")


# ---- Data for the template ----


def _class_documents(
    sheets: Sequence[Worksheet], arguments: argparse.Namespace
) -> dict[str, list[PrintedPart]]:
    """Return the parts of a class's documents by kind."""
    about = [words for words in (arguments.title, arguments.course, arguments.date) if words]
    students = [_student(worksheet, model=arguments.model) for worksheet in sheets]
    rubric = {key: students[0][key] for key in ("points", "tasks")}  # all ask the same
    return {
        "worksheets": [
            {"kind": "sheet", "about": about, "title": arguments.title, **one} for one in students
        ],
        "key": [
            {"kind": "rubric", "about": about, **rubric},
            *({"kind": "key", "about": about, **one} for one in students),
        ],
        "answers": [{"kind": "answers", "about": about, **rubric, "students": students}],
    }


def _source(parts: Sequence[PrintedPart], arguments: argparse.Namespace) -> str:
    """Return the Typst source of a PDF."""
    data = string(json.dumps(parts, ensure_ascii=False, default=_table))
    return document(
        "worksheets",
        f"#show: worksheets\n#parts(json(bytes({data})))",
        title=string(arguments.title),
        paper=string(PAPERS[arguments.paper]),
        margin="margin",
    )


def _student(worksheet: Worksheet, *, model: bool) -> dict[str, Any]:
    """Return the data of a student's worksheet and of its key.

    With `model` they end with the two tasks from the trained model.
    """
    return {
        "number": worksheet.student.number,
        "name": worksheet.student.name,
        "id": worksheet.student.id,
        "drawn": f"({worksheet.seed}, {worksheet.difficulty})",
        "points": points(worksheet.points),
        "rounding": f"{' '.join(notes(worksheet)).replace('eˣ', 'e^x')}{BESIDES * model}",
        "effort": effort_note(worksheet),
        "tolerance": tolerance_note(worksheet) if worksheet.rounded else "",
        "tasks": [_task(worksheet, task) for task in worksheet.tasks],
        "model": _model(ModelSheet(worksheet.seed, worksheet.student)) if model else None,
    }


def _task(worksheet: Worksheet, task: Task) -> dict[str, Any]:
    """Return the data of a task: the givens, the blanks, and every step."""
    return vars(task) | {
        "worth": points(task.points),
        "after": list(map(str, task.after)),
        "empty": list(map(empty_table, task.tables)),
        "steps": [
            list(answer_lines(worksheet, task.stage, head)) for head in range(len(task.tables))
        ],
    }


def _model(worksheet: ModelSheet) -> dict[str, Any]:
    """Return the two tasks from the trained model, and their answers."""
    return {
        "title": MODEL.capitalize(),
        "story": f"*{' '.join(worksheet.story)}* …",
        "questions": [
            {"text": text, "tables": tables}
            for text, tables in zip(worksheet.questions, worksheet.tables, strict=True)
        ],
        "answers": worksheet.answers,
    }


def _table(table: Table) -> dict[str, Any]:
    """Return the data of a table for the template."""
    return {"caption": table.caption, "header": table.header, "rows": table.rows}
