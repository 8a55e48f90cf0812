"""The written results: a table with a row per student, and a report for each."""

import re
from collections.abc import Iterable, Sequence

from mha.command_line import in_one_line
from mha.grade.grading import Graded
from mha.practice.answers import MOST_LETTERS, Remark
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


def quoted(text: str, mark: str) -> str:
    r"""Return a student's text between two marks, in one line, short, and without the mark in it.

    Parameters
    ----------
    text : str
    mark : str
        One character, which the text cannot end early.

    Returns
    -------
    str

    Examples
    --------
    >>> print(quoted("no `axis`\n- `scale`: Right", "`"))
    `no 'axis'\n- 'scale': Right`
    """
    line = in_one_line(text[: MOST_LETTERS + 1].replace(mark, "'"))
    short = line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS - 1]}…"
    return f"{mark}{short or ' '}{mark}"


def as_sentence(remark: Remark, mark: str) -> str:
    """Return a remark with the student's words between two marks."""
    return f"{remark.said} {quoted(remark.quoted, mark)}" if remark.quoted else remark.said


def as_table(all_of_them: Sequence[Graded], ran: str) -> str:
    """Return the table as CSV, in which no cell is a formula.

    Parameters
    ----------
    all_of_them : sequence of Graded
    ran : str
        Where the notebooks ran.

    Returns
    -------
    str
        Columns: student, id, points, of, per step its points and a remark, faults of the notebook,
        things for a person to look at, the names of file and report, and where it ran. The
        student's words are between quotation marks.
    """
    steps = [cell for step in STEPS for cell in (step.name, f"{step.name}, in words")]
    rows: list[list[str | int]] = [
        ["student", "id", "points", "of", *steps, "notebook", "look", "file", "report", "ran"]
    ]
    for number, one in enumerate(all_of_them, 1):
        of = one.submission
        row: list[str | int] = [of.student, of.id, one.points, len(STEPS)]
        for step in STEPS:
            remark = one.remarks.get(step.name)
            row += [one.points_of(step.name), as_sentence(remark, '"') if remark else ""]
        imports = [Remark("It imports", ", ".join(one.imports))] if one.imports else []
        row += [_joined(one.faults), _joined([*of.notes, *imports])]
        row += [of.path.name if of.path else "", name_of(number, one), ran]
        rows.append([harmless(in_one_line(x)) if isinstance(x, str) else x for x in row])
    return as_csv(rows)


def _joined(remarks: Iterable[Remark]) -> str:
    return " ".join(as_sentence(remark, '"') for remark in list(remarks)[:MOST_REMARKS])


MOST_REMARKS = 20
"""The longest list of faults that is written."""


def as_text(one: Graded, ran: str) -> str:
    """Return the report for a student, as Markdown, with the student's words as code.

    Parameters
    ----------
    one : Graded
    ran : str
        Where the notebook ran.

    Returns
    -------
    str
    """
    lines = [f"# {quoted(one.submission.student, '`')}", ""]
    lines += [f"{one.points} of {len(STEPS)} points, {ran}.", ""]
    lines += [f"- `{step}`: {as_sentence(remark, '`')}" for step, remark in one.remarks.items()]
    if one.faults:
        faults = [f"- {as_sentence(fault, '`')}" for fault in one.faults[:MOST_REMARKS]]
        lines += ["", "The notebook:", "", *faults]
    return "\n".join(lines) + "\n"
