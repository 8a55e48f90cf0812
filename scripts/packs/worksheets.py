"""The command that makes worksheets: a sheet a student, the key and the answers.

The template `worksheets.typ` of the press sets them from data.
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
    calculator_note,
    empty_table,
    points,
    rounding_note,
    tolerance_note,
)
from mha.views.table import Table

PAPERS = {"a4": "a4", "letter": "us-letter"}
LONGEST = 120
"""Letters that a title, a course or a date may have: it stands in one line of each page."""

Part = dict[str, Any]
"""What stands on pages of its own: its `kind`, which the template knows, and what that wants."""


def plan(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return what makes the sheets that are asked for; end with a sentence if there are none."""
    try:
        sheets = draw_worksheets(arguments)
    except ValueError as error:
        fail(str(error))
    _check_texts(arguments, sheets)
    return lambda: make(arguments, sheets)


def make(arguments: argparse.Namespace, sheets: Sequence[Worksheet]) -> None:
    """Print and publish the sheets, the key and the answers, all or nothing."""
    with step(f"Printing {len(sheets)} worksheets"):
        written = write_texts(sheets, model=arguments.model)
        files = {name: text.encode() for name, text in written.items()}
        for what, parts in _of_class(sheets, arguments).items():
            printed = _files(arguments, what, parts, sheets)
            files |= {name: press(_source(some, arguments)) for name, some in printed.items()}
    try:
        write_all(arguments.to, files, force=arguments.force)
    except ValueError as error:
        fail(str(error))
    print(f"Made {len(files)} files of worksheets in {arguments.to}")


def _check_texts(arguments: argparse.Namespace, sheets: Sequence[Worksheet]) -> None:
    """End with a sentence unless what a teacher wrote can be printed."""
    said = {}
    for name in ("title", "course", "date"):
        text = getattr(arguments, name)
        if len(text) > LONGEST or not text.isprintable():
            fail(f"--{name} has {len(text)} letters; one line of {LONGEST} is wanted")
        said[f"--{name}"] = text
    for made in sheets:
        student = made.student
        said[f"student {student.number} of --class, {student.name},"] = student.name + student.id
        said["--sentence"] = said.get("--sentence", "") + " ".join(made.run.tokens)
    refuse_unprintable(said)


def _files(
    arguments: argparse.Namespace, what: str, parts: list[Part], sheets: Sequence[Worksheet]
) -> dict[str, list[Part]]:
    """Return which parts go into which file."""
    if what != "worksheets" or not arguments.each:
        return {f"{sheets[0].seed.file_stem(what)}.pdf": parts}
    return {
        f"{made.seed.file_stem('worksheet')}-{_whose(made.student)}.pdf": [part]
        for made, part in zip(sheets, parts, strict=True)
    }


def _whose(student: Student) -> str:
    """Return how a student's file is told from others: the number first, then name and id."""
    named = file_name(f"{student.name} {student.id}")
    return f"{student.number:03}-{named}".rstrip("-")


# ---- What the press is told ----


def _of_class(sheets: Sequence[Worksheet], asked: argparse.Namespace) -> dict[str, list[Part]]:
    """Return the parts of what is printed for a class, by what they are."""
    about = [words for words in (asked.title, asked.course, asked.date) if words]
    students = [_student(made, model=asked.model) for made in sheets]
    rubric = {key: students[0][key] for key in ("points", "tasks")}  # all ask the same
    return {
        "worksheets": [
            {"kind": "sheet", "about": about, "title": asked.title, **one} for one in students
        ],
        "key": [
            {"kind": "rubric", "about": about, **rubric},
            *({"kind": "key", "about": about, **one} for one in students),
        ],
        "answers": [{"kind": "answers", "about": about, **rubric, "students": students}],
    }


def _source(parts: Sequence[Part], asked: argparse.Namespace) -> str:
    """Return what the press makes a PDF of."""
    data = string(json.dumps(parts, ensure_ascii=False, default=_table))
    return document(
        "worksheets",
        f"#show: worksheets\n#parts(json(bytes({data})))",
        title=string(asked.title),
        paper=string(PAPERS[asked.paper]),
        margin="margin",
    )


def _student(made: Worksheet, *, model: bool) -> dict[str, Any]:
    """Return all that is printed of one student's sheet, and of its key.

    With `model` they end with the two tasks from the trained model.
    """
    return {
        "number": made.student.number,
        "name": made.student.name,
        "id": made.student.id,
        "drawn": f"({made.seed}, {made.difficulty})",
        "points": points(made.points),
        "rounding": f"{rounding_note(made)} {calculator_note(made)}".replace("eˣ", "e^x"),
        "tolerance": tolerance_note(made) if made.rounded else "",
        "tasks": [_task(made, task) for task in made.tasks],
        "model": _model(ModelSheet(made.seed, made.student)) if model else None,
    }


def _task(made: Worksheet, task: Task) -> dict[str, Any]:
    """Return a task: what is given, what is to be filled in, and every step to it."""
    return vars(task) | {
        "worth": points(task.points),
        "after": list(map(str, task.after)),
        "empty": list(map(empty_table, task.tables)),
        "steps": [list(answer_lines(made, task.stage, head)) for head in range(len(task.tables))],
    }


def _model(made: ModelSheet) -> dict[str, Any]:
    """Return the two tasks from the trained model, and their answers."""
    return {
        "title": MODEL.capitalize(),
        "story": f"*{' '.join(made.story)}* …",
        "questions": [
            {"text": text, "tables": tables}
            for text, tables in zip(made.questions, made.tables, strict=True)
        ],
        "answers": made.answers,
    }


def _table(table: Table) -> dict[str, Any]:
    """Return what the template sets of a table."""
    return {"caption": table.caption, "header": table.header, "rows": table.rows}
