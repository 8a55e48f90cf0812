"""What is written: a table with a row a student, and a report for each."""

import re
from collections.abc import Sequence

from mha.command_line import in_one_line
from mha.grade.grading import Graded
from mha.practice.spreadsheet import as_csv, harmless
from mha.practice.steps import STEPS

TABLE = "grades.csv"
"""The name of the table."""


def name_of(number: int, one: Graded) -> str:
    """Return the name of a student's report; the number is that of the row, from 1.

    Examples
    --------
    >>> from mha.grade.submissions import Submission
    >>> name_of(3, Graded(Submission("../Emmy Noether", "e17", None)))
    '003-Emmy-Noether.md'
    """
    letters = re.sub(r"\W+", "-", one.submission.student).strip("-")[:40]
    return f"{number:03d}-{letters}.md"


def as_table(all_of_them: Sequence[Graded]) -> str:
    """Return the table as CSV, in which no cell is a formula.

    Parameters
    ----------
    all_of_them : sequence of Graded

    Returns
    -------
    str
        Columns: student, id, points, of, for each step its points and what is said of it, what is
        wrong with the notebook, what to look at, and the names of file and report.
    """
    steps = [cell for step in STEPS for cell in (step.name, f"{step.name}, in words")]
    rows: list[list[str | int]] = [
        ["student", "id", "points", "of", *steps, "notebook", "look", "file", "report"]
    ]
    for number, one in enumerate(all_of_them, 1):
        row: list[str | int] = [one.submission.student, one.submission.id, one.points, len(STEPS)]
        for step in STEPS:
            row += [one.points_of(step.name), one.words.get(step.name, "")]
        path = one.submission.path
        row += ["; ".join(one.faults), "; ".join(one.look), path.name if path else ""]
        row.append(name_of(number, one))
        rows.append([harmless(in_one_line(x)) if isinstance(x, str) else x for x in row])
    return as_csv(rows)


def as_text(one: Graded) -> str:
    """Return the report for a student, as Markdown.

    Parameters
    ----------
    one : Graded

    Returns
    -------
    str
    """
    student = in_one_line(one.submission.student)
    lines = [f"# {student}", "", f"{one.points} of {len(STEPS)} points.", ""]
    lines += [f"- `{step}`: {words}" for step, words in one.words.items()]
    if one.faults:
        lines += ["", "The notebook:", "", *(f"- {fault}" for fault in one.faults)]
    return "\n".join(lines) + "\n"
