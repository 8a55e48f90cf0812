"""Worksheets, their key and their answers as the data that the template `worksheets.typ` sets."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from byhand.press.markup import document, string
from mha.practice.worksheets import Task, Worksheet
from mha.practice.worksheets.of_model import TITLE as MODEL
from mha.practice.worksheets.of_model import ModelSheet
from mha.practice.worksheets.text import calculator, emptied, points, rounding, steps, tolerance
from mha.views.table import Table

TITLE = "Attention by hand"
PAPERS = {"a4": "a4", "letter": "us-letter"}

Part = dict[str, Any]
"""What stands on pages of its own: its `kind`, which the template knows, and what that wants."""


def of_class(sheets: Sequence[Worksheet], asked: argparse.Namespace) -> dict[str, list[Part]]:
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


def source(parts: Sequence[Part], asked: argparse.Namespace) -> str:
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
        "rounding": f"{rounding(made)} {calculator(made)}".replace("eˣ", "e^x"),
        "tolerance": tolerance(made) if made.rounded else "",
        "tasks": [_task(made, task) for task in made.tasks],
        "model": _model(ModelSheet(made.seed, made.student)) if model else None,
    }


def _task(made: Worksheet, task: Task) -> dict[str, Any]:
    """Return a task: what is given, what is to be filled in, and every step to it."""
    return vars(task) | {
        "worth": points(task.points),
        "after": list(map(str, task.after)),
        "empty": list(map(emptied, task.tables)),
        "steps": [list(steps(made, task.stage, head)) for head in range(len(task.tables))],
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
