"""The answers of worksheets for programs: as rows of CSV, and as JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from mha.practice import spreadsheet
from mha.practice.spreadsheet import harmless
from mha.practice.worksheets.sheet import PLACES, Worksheet
from mha.practice.worksheets.text import cell_labels


@dataclass(frozen=True)
class Answer:
    """One number that a sheet asks for.

    Parameters
    ----------
    sheet : int
        The student's number.
    student, id : str
        Empty without a list of the class.
    task : int
    stage : str
    head : int
        Counted from 1; 0 for the output of the whole layer.
    row, column : str
        A token, and a key's token, a component, or "row sum".
    answer : str
        As the key prints it, with a hyphen for a minus; "-inf" for a masked score.
    off_by : str
        The largest error of a right answer; "0" if it is exact.
    """

    sheet: int
    student: str
    id: str
    task: int
    stage: str
    head: int
    row: str
    column: str
    answer: str
    off_by: str


WORDS = ("student", "id", "row", "column")
"""The fields with words of teachers and students, which a spreadsheet might run as formulas."""


def answers(worksheet: Worksheet) -> Iterator[Answer]:
    """Yield every answer of a sheet.

    Parameters
    ----------
    worksheet : Worksheet

    Examples
    --------
    >>> from mha.practice.worksheets import draw_worksheet
    >>> first = next(answers(draw_worksheet(7, 1, stages=["weights"])))
    >>> first.stage, first.row, first.off_by
    ('weights', 'two', '0')
    """
    for task in worksheet.tasks:
        units = worksheet.error_bounds.get(task.stage, 0)
        for head in range(len(task.tables)):
            for place, worked in worksheet.answers(task.stage, head):
                row, column = cell_labels(worksheet.run, place)
                yield Answer(
                    sheet=worksheet.student.number,
                    student=worksheet.student.name,
                    id=worksheet.student.id,
                    task=task.number,
                    stage=task.stage,
                    head=0 if place.head is None else head + 1,
                    row=row,
                    column=column,
                    answer=worked.result.replace("−∞", "-inf").replace("−", "-"),
                    off_by=f"{units * 10.0**-PLACES:.{PLACES}f}" if units else "0",
                )


def as_csv(sheets: Sequence[Worksheet]) -> str:
    """Return the answers of sheets as CSV, one per line, without cells that run as formulas.

    Parameters
    ----------
    sheets : sequence of Worksheet

    Returns
    -------
    str
        CSV as from `mha.practice.spreadsheet.as_csv`.
    """
    rows = [list(Answer.__annotations__)]
    for answer in (answer for worksheet in sheets for answer in answers(worksheet)):
        words = {name: harmless(getattr(answer, name)) for name in WORDS}
        rows.append(list((asdict(answer) | words).values()))
    return spreadsheet.as_csv(rows)


def as_json(sheets: Sequence[Worksheet]) -> str:
    """Return the answers of sheets as JSON: a list of sheets, each with its answers.

    Parameters
    ----------
    sheets : sequence of Worksheet

    Returns
    -------
    str
    """
    about_sheet = ("sheet", "student", "id")
    found = []
    for worksheet in sheets:
        rows = [asdict(answer) for answer in answers(worksheet)]
        found.append(
            {key: rows[0][key] for key in about_sheet}
            | {
                "drawn_from": str(worksheet.seed),
                "difficulty": worksheet.difficulty,
                "points": worksheet.points,
                "operations": worksheet.effort.operations,
                "minutes": worksheet.effort.minutes,
            }
            | {"answers": [{k: v for k, v in r.items() if k not in about_sheet} for r in rows]}
        )
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
