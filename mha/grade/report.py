"""The written results: a table with a row per student, and a report for each."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from mha.command_line import in_one_line
from mha.grade.grading import Graded
from mha.practice.answers import MAX_TEXT_LENGTH, Remark
from mha.practice.notebook_steps import STEPS
from mha.practice.spreadsheet import as_csv, harmless

TABLE = "grades.csv"
MAX_REMARKS = 20


def report_name(number: int, graded: Graded) -> str:
    """Return the file name of the report for a row of the table; rows count from 1."""
    letters = re.sub(r"\W+", "-", graded.submission.student).strip("-")[:40]
    return f"{number:03d}-{letters}.md"


def as_code(text: str, mark: str = "`") -> str:
    r"""Return a student's text in one line between two marks, shortened and free of that mark.

    Examples
    --------
    >>> print(as_code("no `axis`\n- `scale`: Right"))
    `no 'axis'\n- 'scale': Right`
    """
    line = in_one_line(text[: MAX_TEXT_LENGTH + 1].replace(mark, "'"))
    short = line if len(line) <= MAX_TEXT_LENGTH else f"{line[: MAX_TEXT_LENGTH - 1]}…"
    return f"{mark}{short or ' '}{mark}"


def as_sentences(remarks: Iterable[Remark], mark: str = "`") -> list[str]:
    """Return the first `MAX_REMARKS` remarks as text, the student's words between two marks."""
    return [
        f"{remark.sentence} {as_code(remark.quoted, mark)}" if remark.quoted else remark.sentence
        for remark in islice(remarks, MAX_REMARKS)
    ]


def as_table(grades: Sequence[Graded], ran: str) -> str:
    """Return the table as CSV, in which no cell is a formula.

    Parameters
    ----------
    grades : sequence of Graded
    ran : str
        How the notebooks ran, such as "in a sandbox".

    Returns
    -------
    str
        A row per submission. Columns: student, id, points, highest possible points; per step its
        points and a remark; faults of the notebook, matters that a person decides, the file names
        of the submission and of the report, and how the notebook ran (both empty for a student
        without a notebook). The student's words are between quotation marks.
    """
    steps = [cell for step in STEPS for cell in (step.name, f"{step.name}, in words")]
    rows: list[list[str | int]] = [
        ["student", "id", "points", "of", *steps, "notebook", "look", "file", "report", "ran"]
    ]
    for number, graded in enumerate(grades, 1):
        submission = graded.submission
        row: list[str | int] = [submission.student, submission.id, graded.points, len(STEPS)]
        for step in STEPS:
            remark = [graded.remarks[step.name]] if graded.remarks else []
            row += [graded.points_of(step.name), *(as_sentences(remark, '"') or [""])]
        imports = [Remark("It imports", ", ".join(graded.imports))] if graded.imports else []
        for remarks in (graded.faults, [*submission.notes, *imports]):
            row.append(" ".join(as_sentences(remarks, '"')))
        report = report_name(number, graded)
        row += [submission.path.name, report, ran] if submission.path else ["", report, ""]
        rows.append([harmless(in_one_line(x)) if isinstance(x, str) else x for x in row])
    return as_csv(rows)


def as_text(graded: Graded, ran: str) -> str:
    """Return the report for a student, as Markdown, with the student's words as code."""
    lines = [f"# {as_code(graded.submission.student)}", ""]
    circumstances = ran if graded.submission.path else "no notebook"
    lines += [f"{graded.points} of {len(STEPS)} points, {circumstances}.", ""]
    sentences = as_sentences(graded.remarks.values())
    lines += [
        f"- `{step}`: {sentence}" for step, sentence in zip(graded.remarks, sentences, strict=True)
    ]
    if graded.faults:
        lines += [
            "",
            "The notebook:",
            "",
            *(f"- {sentence}" for sentence in as_sentences(graded.faults)),
        ]
    return "\n".join(lines) + "\n"
